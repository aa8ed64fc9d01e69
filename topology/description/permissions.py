"""Resolves what tests may load and overwrite: the section ``caps``, and ``blank_disks`` of nodes.

A wrong guess here would do harm, so whatever could be meant two ways is reported.
"""

import re
from collections.abc import Sequence
from types import MappingProxyType

from benchconsole.topology.description import raw
from benchconsole.topology.description.caps import parse_link_cap, parse_storage_cap
from benchconsole.topology.description.document import Location
from benchconsole.topology.description.names import DeviceNames
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.access import Caps

_SERIAL = re.compile(r"[A-Za-z0-9._:-]{4,64}")
_SERIAL_WORDS = "a serial number of 4 to 64 letters, digits, '.', '_', ':' and '-'"


class Allowances:
    """Reads what one file allows; ``names`` knows its nodes."""

    def __init__(self, names: DeviceNames) -> None:
        self.report = names.report
        self._disk_of: dict[str, tuple[str, Location]] = {}

    def caps(self, written: raw.RawCaps | None, systems: Sequence[str]) -> Caps:
        """The section ``caps``, where there is one; ``systems`` are the described storage systems."""
        if written is None:
            return Caps()
        link = self.report.quantity(written.link, ("caps", "link"), parse_link_cap)
        storage: dict[str, float] = {}
        for name, text in written.storage.items():
            here: Location = ("caps", "storage", name)
            if name not in systems:
                expected = f"one of {', '.join(systems)}" if systems else "a file with a section storage"
                self.report.add_key(here, f"unknown storage system {name!r}", expected, find_near(name, systems))
                continue
            rate = self.report.quantity(text, here, parse_storage_cap)
            if rate is not None:
                storage[name] = rate
        return Caps(link, MappingProxyType(storage))

    def blank_disks(self, written: raw.RawNode, names: Sequence[str], here: Location) -> tuple[str, ...]:
        """The serial numbers of one entry of ``nodes``; a disk is in one machine, so the entry must be one node."""
        found = []
        for index, serial in enumerate(written.blank_disks):
            where: Location = (*here, "blank_disks", index)
            if serial is None:
                continue
            if not _SERIAL.fullmatch(serial):
                self.report.add(where, repr(serial), _SERIAL_WORDS)
            elif self._unshared(serial, names, where):
                found.append(serial)
        return tuple(found)

    def _unshared(self, serial: str, names: Sequence[str], where: Location) -> bool:
        """Whether this is the only place, and the only node, that names the disk."""
        for name in names:
            other, first = self._disk_of.setdefault(serial, (name, where))
            if (other, first) != (name, where):
                line = self.report.document.at(first).line
                found = f"the disk {serial} of {other} again for {name} (first in line {line})"
                self.report.add(where, found, "each disk once, in the entry of its node")
                return False
        return True
