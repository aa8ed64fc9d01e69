"""Names of one file while it is being resolved: node sets, the place of each name, the device of each name."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.errors import Position, SelectionError, find_near
from benchconsole.topology.model.fabric import Node, NodeId, Switch, SwitchId
from benchconsole.topology.selection import expand, expand_addresses, find_padded, fold

MOST_HINTS = 20


class DeviceNames:
    """The devices of one file. ``nodes`` and ``switches`` fill up while the file is read."""

    def __init__(self, report: ProblemReport) -> None:
        self.report = report
        self.nodes: dict[NodeId, Node] = {}
        self.switches: dict[SwitchId, Switch] = {}
        self.places: dict[str, Position] = {}
        self._claimed: dict[str, Location] = {}

    def expanded(self, text: str, location: Location, *, key: bool = False) -> list[str]:
        """Expand a node set of the file; a problem and no names when it is malformed."""
        try:
            return expand(text)
        except SelectionError as error:
            add = self.report.add_key if key else self.report.add
            add(location, str(error), "names such as n[01-16]")
            return []

    def expand_addresses(self, text: str, location: Location) -> list[str]:
        """Expand a set of addresses of the file; a problem and no addresses when it is malformed."""
        try:
            return expand_addresses(text)
        except SelectionError as error:
            self.report.add(location, str(error), "addresses such as 10.0.0.[1-16] or fd00::[1-9], or names")
            return []

    @staticmethod
    def quietly(text: str) -> list[NodeId]:
        """Expand a node set that was expanded before: its problems are known."""
        try:
            return [NodeId(name) for name in expand(text)]
        except SelectionError:
            return []

    def claim(self, name: str, location: Location) -> bool:
        """Whether ``name`` is new; else a problem that tells where it was first used."""
        if name in self._claimed:
            line = self.report.document.key_at(self._claimed[name]).line
            found = f"the name {name!r} a second time (first in line {line})"
            self.report.add_key(location, found, "each name once")
            return False
        self._claimed[name] = location
        self.places[name] = self.report.document.key_at(location)
        return True

    def claim_all(self, names: Sequence[str], location: Location) -> bool:
        """Claim different names at once; False, and nothing is claimed, where one of them is not new."""
        if not self._claimed.keys().isdisjoint(names):
            return False
        self._claimed.update(dict.fromkeys(names, location))
        self.places.update(dict.fromkeys(names, self.report.document.key_at(location)))
        return True

    def known(self, name: str) -> bool:
        return name in self.nodes or name in self.switches

    def devices(self, text: str, location: Location) -> list[str]:
        return self._those(text, location, (self.nodes, self.switches), "device", "a node or switch of this file")

    def node_ids(self, text: str, location: Location) -> list[NodeId]:
        return [NodeId(name) for name in self._those(text, location, (self.nodes,), "node", "a node of this file")]

    def switch_ids(self, text: str, location: Location) -> list[SwitchId]:
        found = self._those(text, location, (self.switches,), "switch", "a switch of this file")
        return [SwitchId(name) for name in found]

    def _those(
        self, text: str, location: Location, kinds: tuple[Mapping[Any, object], ...], what: str, expected: str
    ) -> list[str]:
        names = self.expanded(text, location)
        if any(all(map(kind.__contains__, names)) for kind in kinds):
            return names
        found = []
        unknown = []
        for name in names:
            if any(name in kind for kind in kinds):
                found.append(name)
            elif self.known(name):
                self.report.add(location, f"{name!r}, which is no {what}", expected)
            elif name not in self._claimed:
                unknown.append(name)
        if unknown:
            self._report_unknown(unknown, location, [each for kind in kinds for each in kind], (what, expected))
        return found

    def _report_unknown(self, unknown: list[str], location: Location, known: list[str], words: tuple[str, str]) -> None:
        what, expected = words
        padded = find_padded(unknown, known) if len(unknown) > 1 else None
        if padded is not None:
            self.report.add(location, f"unknown {what} {fold(unknown)!r}", expected, padded)
            return
        for place, name in enumerate(unknown):
            # A hint is sought among all names, so only the first get one.
            hint = find_near(name, known) if place < MOST_HINTS else None
            self.report.add(location, f"unknown {what} {name!r}", expected, hint)
