"""Resolves ``tables`` of networks: by which cable each switch sends to which nodes, without holes and loops."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.description.names import DeviceNames
from benchconsole.topology.errors import find_near
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import ForwardingTables, Link, LinkId, NodeId
from benchconsole.topology.model.forwarding import follow_tables, name_destination
from benchconsole.topology.model.network import DATA
from benchconsole.topology.model.routing_rule import RoutingRule

_REMEDY = "tables that lead everywhere: let the subnet manager route again, and save them anew"
_MOST_TOLD = 20


def resolve_tables(
    written: raw.RawTopology, names: DeviceNames, links: Mapping[LinkId, Link], report: ProblemReport
) -> ForwardingTables:
    """The tables of all networks, by switch and destination: a node, or one of its ports (``n01:mlx5_0/1``)."""
    found: dict[str, dict[str, LinkId]] = {}
    for name, network, here in _list_networks(written):
        is_asked = network.routing == RoutingRule.TABLES.value
        if is_asked and not network.tables:
            report.add((*here, "routing"), "routing: tables without tables", "tables, as init --from ib writes them")
        elif network.tables and not is_asked:
            report.add_key((*here, "tables"), f"tables with routing {network.routing or 'not said'}", "routing: tables")
        elif is_asked:
            before = len(report.problems)
            own = _Reader(names, {key: link for key, link in links.items() if link.network == name}, report)
            for switch, ports in network.tables.items():
                own.read(switch, ports, (*here, "tables", switch))
            if len(report.problems) == before:
                own.check((*here, "tables"))
            found.update(own.tables)
    return MappingProxyType({switch: MappingProxyType(table) for switch, table in found.items()})


def _list_networks(written: raw.RawTopology) -> Iterator[tuple[str, raw.RawNetwork, Location]]:
    if written.network is not None:
        yield DATA, written.network, ("network",)
    for name, network in written.networks.items():
        yield name, network, ("networks", name)


class _Reader:
    """Reads the tables of one network."""

    def __init__(self, names: DeviceNames, links: Mapping[LinkId, Link], report: ProblemReport) -> None:
        self._names = names
        self._links = links
        self._report = report
        self._ports = {
            (device, port): link
            for link in links.values()
            for device, ports in ((link.a, link.ports_a), (link.b, link.ports_b))
            for port in ports
        }
        self.tables: dict[str, dict[str, LinkId]] = {}

    def read(self, switch: str, ports: Mapping[str, str], here: Location) -> None:
        """The table of one switch: its ports, each with the nodes that it leads to."""
        if switch not in self._names.switches:
            hint = find_near(switch, self._names.switches)
            self._report.add_key(here, f"unknown switch {switch!r}", "a switch of this file", hint)
            return
        table = self.tables.setdefault(switch, {})
        for port, nodes in ports.items():
            link = self._ports.get((switch, port))
            if link is None:
                own = [name for device, name in self._ports if device == switch]
                found = f"the port {port} of {switch}, which no link of this network names"
                self._report.add_key((*here, port), found, "a port that links have", find_near(port, own))
                continue
            if link.count > 1:
                found = f"the port {port} of {switch}, one of {link.count} cables of a LAG"
                self._report.add_key((*here, port), found, "each cable as a link of its own (lag: NAME), as tables do")
                continue
            for name in self._list_destinations(nodes, (*here, port)):
                if table.setdefault(name, link.id) != link.id:
                    self._report.add((*here, port), f"{name} at a second port of {switch}", "each node at one port")

    def _list_destinations(self, text: str, here: Location) -> Iterator[str]:
        """``n[01-04]``, or ports of one node behind it: ``n01:mlx5_0/1``; several behind each other with blanks."""
        for word in text.split():
            devices, _, port = word.partition(":")
            for node in self._names.node_ids(devices, here):
                yield f"{node}:{port}" if port else node

    def check(self, here: Location) -> None:
        """A problem for each switch that nodes are at and whose table does not lead to another node."""
        legs = group_by_key(
            (link.b, (link.a, link.ports_a)) for link in self._links.values() if NodeId(link.a) in self._names.nodes
        )
        told: dict[str, Location] = {}
        for sink, ends in legs.items():
            for names in (name_destination(*end) for end in ends):
                led = {sink}
                for source in legs:
                    if not self._leads(source, names, led) and len(told) < _MOST_TOLD:
                        _, problem = follow_tables(self.tables, self._links, source, names, sink)
                        told.setdefault(problem, (*here, source) if source in self.tables else here)
        for problem, place in told.items():
            self._report.add_key(place, problem, _REMEDY)

    def _leads(self, source: str, names: Sequence[str], led: set[str]) -> bool:
        """Whether the tables lead from a switch to one of ``led``, which those on the way then join."""
        here, passed = source, list[str]()
        while here not in led:
            table = self.tables.get(here, {})
            taken = next((table[name] for name in names if name in table), None)
            passed.append(here)
            if taken is None or len(passed) > len(self.tables):
                return False
            here = self._links[taken].other(here)
        led.update(passed)
        return True
