"""The sources that can be read alone, and the exit statuses of theirs that are answers all the same."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Protocol

from benchconsole.probes.api import Fact, ProbeOutputError
from benchconsole.probes.readers.lines import strip_colours
from benchconsole.probes.tools.inventory.facts import keep_first
from benchconsole.probes.tools.inventory.readers import smartctl
from benchconsole.probes.tools.inventory.readers.line_tables import LINE_TABLES

Read = Callable[[str], Sequence[Fact]]


class FactReader(Protocol):
    """A module of ``readers``, or a table of lines: how the text of one source becomes facts."""

    @property
    def EXPECTED(self) -> str:  # noqa: N802 - a constant of a module
        """What the text should hold, as an error says it."""

    def find_facts(self, text: str, /) -> Iterable[Fact]:
        """The facts in ``text``, which has no colour codes; of the same fact the first counts."""


_MODULES = (
    "bonding", "cmdline", "cpuinfo", "df", "dmidecode", "ethtool", "ibstat", "interrupts", "ip", "ipmitool", "lldpctl",
    "lsblk", "lscpu", "lshw", "mounts", "omreport", "os-release", "perfquery", "smartctl", "softirqs", "storcli",
    "sysctl", "sysfs", "virt",
)  # fmt: skip
"""The sources that have a module in ``readers``."""

_ANSWERED: Mapping[str, Callable[[int], bool]] = {
    "df": lambda status: status == 1,  # one file system could not be asked
    "smartctl": lambda status: not status & smartctl.NOT_READ,
    "sysctl": lambda status: status in (1, 255),  # one key is not known
    "virt": lambda status: status == 1,  # what systemd-detect-virt says on bare metal
}


def is_answer(source: str, status: int) -> bool:
    """Whether ``source`` gave an answer although it ended with ``status``; for some tools that is no failure."""
    return status == 0 or (source in _ANSWERED and _ANSWERED[source](status))


def _make_read(reader: FactReader) -> Read:
    def read(text: str) -> Sequence[Fact]:
        facts = keep_first(reader.find_facts(strip_colours(text.removeprefix("\ufeff"))))
        if not facts:
            raise ProbeOutputError("nothing that could be read", reader.EXPECTED)
        return facts

    return read


def _import_reader(source: str) -> FactReader:
    return import_module(f"{__package__}.readers.{source.replace('-', '_')}")


_READERS: Mapping[str, FactReader] = {**{source: _import_reader(source) for source in _MODULES}, **LINE_TABLES}

SOURCES: Mapping[str, Read] = MappingProxyType({name: _make_read(reader) for name, reader in sorted(_READERS.items())})
"""Source name to its parser: text in, facts out, ProbeOutputError when there are none."""
