"""Owns the finding of probes: built-ins and plugins through one hook, each kept from harming the others.

A plugin is loaded, registered and asked inside its own guard and in a thread of its own, because one that raises
would end a common hook call for all, and one that sleeps would end the start. Refuses to run a probe, to let
a plugin stand in for another, and to use one that was made for a later interface than this.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import TypeVar

import pluggy

from probes import hookspecs
from probes.api import Probe
from probes.declaration import refuse_malformed
from probes.errors import ProbeError
from probes.guards.foreign import words

GROUP = "benchconsole.probes"
"""The entry-point group that plugins are found under."""

API = 1
"""The version of ``probes.api``. A plugin module may say ``BENCHCONSOLE_API = 2`` to be refused by what is older."""

PATIENCE = 10.0
"""Seconds that a plugin may take to be imported and to name its probes."""

OWN = "benchconsole"
_BUILTIN = "probes.builtin"
_UNKNOWN = "unknown"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """A plugin, or one probe of it, that was left out, and why in one line."""

    name: str
    distribution: str
    reason: str


@dataclass(frozen=True, slots=True)
class Installed:
    """A plugin as its metadata names it; nothing of it has been imported."""

    name: str
    distribution: str
    version: str
    module: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The probes that can be used, by name; ``origin`` tells which distribution brought each."""

    probes: Mapping[str, Probe]
    broken: tuple[BrokenPlugin, ...]
    origin: Mapping[str, str]


def installed() -> tuple[Installed, ...]:
    """The plugins that are installed, sorted, without importing any."""
    return tuple(
        Installed(entry.name, _distribution(entry), entry.dist.version if entry.dist else _UNKNOWN, entry.value)
        for entry in _entries()
    )


def load(*, safe_mode: bool = False, patience: float = PATIENCE) -> Catalogue:
    """Import every plugin and collect its probes; with ``safe_mode`` only the built-in ones.

    Raises nothing for a broken plugin: it is in ``broken`` and costs its own probes only.
    """
    shelf = _Shelf()
    import probes.builtin

    shelf.take(OWN, OWN, _answers(probes.builtin))
    for entry in () if safe_mode else _entries():
        name, distribution = entry.name, _distribution(entry)
        try:
            plugin = _within(patience, "import", entry.load)
            shelf.refuse_known(plugin)
            shelf.take(name, distribution, _within(patience, "registration", partial(_answers, plugin)))
        except _BrokenError as error:
            shelf.broken.append(BrokenPlugin(name, distribution, str(error)))
    return Catalogue(MappingProxyType(shelf.probes), tuple(shelf.broken), MappingProxyType(shelf.origin))


def _entries() -> Sequence[EntryPoint]:
    """The plugins' entry points in a fixed order; our own would only name the built-ins again."""
    found = (entry for entry in entry_points(group=GROUP) if entry.value != _BUILTIN)
    return sorted(found, key=lambda entry: (_distribution(entry), entry.name, entry.value))


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else _UNKNOWN


class _BrokenError(Exception):
    """Why a plugin is left out, in one line that begins with what was being done."""


_Answer = tuple[object, str]
"""A probe, or what was taken for one, and what is wrong with it; empty when nothing is."""


def _within(seconds: float, during: str, do: Callable[[], _T]) -> _T:
    """What ``do`` gives, called in a thread that is left behind when it does not come back."""
    found: list[_T] = []
    wrong: list[BaseException] = []

    def work() -> None:
        try:
            found.append(do())
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=work, name=f"plugin {during}", daemon=True)
    thread.start()
    thread.join(seconds)
    if wrong:
        raise _BrokenError(f"{during}: {words(wrong[0])}")
    if not found:
        raise _BrokenError(f"{during}: no end after {seconds:g} s")
    return found[0]


def _answers(plugin: object) -> list[_Answer]:
    """The probes that ``plugin`` brings, asked alone, each with what is wrong with it."""
    wanted = getattr(plugin, "BENCHCONSOLE_API", API)
    if not isinstance(wanted, int) or wanted > API:
        raise ProbeError(f"made for version {str(wanted)[:20]} of the interface, expected at most {API}")
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(plugin)
    manager.check_pending()
    answers = manager.hook.bench_probes()
    if not answers:
        raise ProbeError("no function marked as the hook bench_probes")
    return [(probe, _fault(probe)) for answer in answers for probe in answer]


def _fault(probe: object) -> str:
    try:
        if not isinstance(probe, Probe):
            what = "a class" if isinstance(probe, type) else type(probe).__name__
            raise ProbeError(f"found {what}, expected an instance of Probe")
        refuse_malformed(probe)
    except BaseException as error:
        return words(error)
    return ""


class _Shelf:
    """What has been collected so far."""

    def __init__(self) -> None:
        self.probes: dict[str, Probe] = {}
        self.origin: dict[str, str] = {}
        self.broken: list[BrokenPlugin] = []
        self._known: list[object] = []

    def refuse_known(self, plugin: object) -> None:
        """One module under two names is asked once."""
        if any(plugin is known for known in self._known):
            raise _BrokenError("registration: already registered under another name")
        self._known.append(plugin)

    def take(self, name: str, distribution: str, answers: Sequence[_Answer]) -> None:
        """Keep what is well formed of one plugin's answers."""
        for probe, fault in answers:
            if not isinstance(probe, Probe) or fault:
                self._refuse(name, distribution, probe, fault)
            elif probe.name in self.probes:
                self._refuse(name, distribution, probe, f"name {probe.name} is taken by {self.origin[probe.name]}")
            else:
                self.probes[probe.name] = probe
                self.origin[probe.name] = distribution

    def _refuse(self, name: str, distribution: str, probe: object, fault: str) -> None:
        kind = probe if isinstance(probe, type) else type(probe)
        self.broken.append(BrokenPlugin(name, distribution, f"probe {kind.__name__}: {fault}"))
