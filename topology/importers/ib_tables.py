"""Turns forwarding tables of a subnet into ``tables`` of our file: each switch, its ports, and the nodes that they lead
to. The tables are kept only if they lead from every host to every other one.
"""

from collections.abc import Iterator, Mapping

from benchconsole.topology.errors import Position, Problem
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.importers.draft import Draft
from benchconsole.topology.infiniband.device_names import SubnetDevices
from benchconsole.topology.infiniband.forwarding_dumps import ForwardingDump, SwitchTable, find_destinations
from benchconsole.topology.infiniband.subnet import NodeKind, PortEnd, Subnet
from benchconsole.topology.selection import fold

_ROUTE_AGAIN = "tables that lead to every host: let the subnet manager route again, and save them anew"
_MOST_TOLD = 20


def add_tables(draft: Draft, dump: ForwardingDump, subnet: Subnet, devices: SubnetDevices, network: str) -> None:
    """Add the tables to the network of the draft, or every problem that they have."""
    fabric = _TableWalk(dump, subnet, devices)
    problems = [*fabric.list_problems()]
    for each in problems[:_MOST_TOLD]:
        draft.problem(each.where, each.found, each.expected)
    if problems:
        return
    tables = {
        name: {draft.port(str(port)): nodes for port, nodes in ports}
        for name, ports in group_by_key((name, (port, nodes)) for name, port, nodes in fabric.list_entries()).items()
    }
    draft.section("networks", network, {"routing": "tables", "tables": tables}, draft.start)
    further = {guid for guid in dump.tables if guid not in devices.of}
    if further:
        draft.remark(f"tables of switches that the dump of the subnet does not have are left out: {len(further):,}")


class _TableWalk:
    """The tables of a subnet, and where they lead."""

    def __init__(self, dump: ForwardingDump, subnet: Subnet, devices: SubnetDevices) -> None:
        self._tables = {guid: table for guid, table in dump.tables.items() if guid in devices.of}
        self._devices = devices
        self._beside: Mapping[PortEnd, PortEnd] = {
            end: other for cable in subnet.cables for end, other in ((cable.a, cable.b), (cable.b, cable.a))
        }
        self._switches = {guid for guid, node in subnet.nodes.items() if node.kind is NodeKind.SWITCH}
        self._where = {guid: node.where for guid, node in subnet.nodes.items()}
        self._destinations = {
            lid: end
            for lid, end in find_destinations(dump, subnet).items()
            if end.guid in devices.of and end.guid not in self._switches and end in self._beside
        }
        self._leaves = {self._beside[end].guid for end in self._destinations.values()} & self._switches

    def _call(self, guid: str) -> str:
        return self._devices.of[guid].name if guid in self._devices.of else guid

    def _next(self, table: SwitchTable | None, lid: int) -> PortEnd | None:
        """Where a switch sends what goes to ``lid``: the far end of a cable; None where nowhere."""
        return None if table is None else self._beside.get(PortEnd(table.guid, table.ports.get(lid, 0)))

    def list_problems(self) -> Iterator[Problem]:
        """A hole, a loop or a wrong host, each once for the switch that has it."""
        told: set[tuple[str, str]] = set()
        for lid, end in self._destinations.items():
            led = {self._beside[end].guid}
            for source in sorted(self._leaves):
                here, passed = source, list[str]()
                while here not in led:
                    found = self._describe(here, lid, passed)
                    if found and (here, found.partition(" for ")[0]) not in told:
                        told.add((here, found.partition(" for ")[0]))
                        yield Problem(self._place(here), found, _ROUTE_AGAIN)
                    if found:
                        break
                    passed.append(here)
                    far = self._next(self._tables.get(here), lid)
                    here = here if far is None else far.guid
                else:
                    led.update(passed)

    def _place(self, guid: str) -> Position:
        return self._tables[guid].where if guid in self._tables else self._where[guid]

    def _describe(self, here: str, lid: int, passed: list[str]) -> str:
        """The fault at a device on the way to a LID; empty where it leads on."""
        to = f"{self._call(self._destinations[lid].guid)} (LID {lid})"
        if here in passed:
            around = ", ".join(map(self._call, [*passed[passed.index(here) :], here]))
            return f"a loop of forwarding tables for {to}: {around}"
        if here not in self._switches:
            return f"a way that ends at {self._call(here)} for {to}"
        if here not in self._tables:
            return f"no forwarding table of {self._call(here)}"
        if self._next(self._tables[here], lid) is None:
            return f"a hole in the forwarding table of {self._call(here)} for {to}"
        return ""

    def list_entries(self) -> Iterator[tuple[str, int, str]]:
        """Each switch, each of its ports and the node set that it leads to; no port that leads to the host itself."""
        cabled = group_by_key((self._call(end.guid), end) for end in self._beside if end.guid not in self._switches)
        order = sorted((self._call(guid), table) for guid, table in self._tables.items())
        for name, table in order:
            found: dict[int, list[PortEnd]] = {}
            for lid, end in self._destinations.items():
                if (far := self._next(table, lid)) is not None and far != end:
                    found.setdefault(table.ports[lid], []).append(end)
            for port, ends in sorted(found.items()):
                single = [self._call(end.guid) for end in ends if len(cabled[self._call(end.guid)]) == 1]
                several = [end for end in ends if len(cabled[self._call(end.guid)]) > 1]
                words = [fold(single)] if single else []
                words += [f"{self._call(end.guid)}:{self._devices.port(end)}" for end in several]
                yield name, port, " ".join(words)
