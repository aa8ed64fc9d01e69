"""Rates of many clients and many servers that exchange data at once, and the limit that each kind of link sets.

Every client exchanges data with every server under the rules of ``topology.capacity.expect`` (model ``fluid``).
Equal clients and equal servers are computed once: max-min rates are unique, so what is alike gets the same, and
the sums stay exact for any number of them. Data lie evenly on the servers: what a client has on its own machine
costs no cable and comes on top, in proportion. Raises RoutingError for a flow without a path.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.capacity.ceiling_loads import sum_legs
from benchconsole.topology.capacity.expect import compute_capacities
from benchconsole.topology.capacity.flow_groups import describe_legs, describe_passed
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.flow_streams import trace_flows
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.capacity.maxmin import Usage, max_min
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Flow, Link, NodeId, SwitchId
from benchconsole.topology.model.network import NetworkRole
from benchconsole.topology.routing.routes import Routes

CLIENT_PORTS, GATEWAYS, SERVER_PORTS, ALL_LINKS = "client ports", "gateways", "server ports", "all links together"
"""Names of layers; those between switches are called after the roles of their ends."""


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Clients, or servers, that are cabled alike: ``node`` is one of them, on ``machine`` (its host, or itself).

    ``total`` counts all of the kind, ``together`` those that share the cables of one machine;
    ``machines`` are the same for kinds that share them.
    """

    node: str
    machine: str
    total: int
    together: int
    machines: tuple[str, ...]

    def reached_from(self, other: "NodeKind") -> int:
        """How many of these one of the ``other`` kind reaches by cable."""
        return self.total - (self.together if self.machines == other.machines else 0)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Who exchanges data with whom, and how.

    Flows from the ``clients`` to the ``servers`` when ``writing``, else back. ``striped`` makes the
    data of one client go to all servers at one pace, else each of its flows has its own.
    ``copies`` is how many servers each byte that is written enters.
    """

    clients: tuple[str, ...]
    servers: tuple[str, ...]
    writing: bool
    striped: bool = False
    copies: int = 1


Sorts = tuple[list[NodeKind], list[NodeKind]]
"""Kinds of clients, kinds of servers."""


def group_nodes(fabric: Fabric, clients: Sequence[str], servers: Sequence[str]) -> Sorts:
    """``clients`` and ``servers`` by kind. Of equal machines that are both, the first and the last stand for them."""
    on: dict[str, tuple[list[str], list[str]]] = {}
    for role, nodes in enumerate((clients, servers)):
        for node in nodes:
            on.setdefault(machine_of(fabric, node), ([], []))[role].append(node)
    # Guests of a machine by their VLANs, clients and servers apart.
    guests = {
        machine: [group_by_key((fabric.vlans_of.get(NodeId(node), ()), node) for node in each) for each in both]
        for machine, both in on.items()
    }
    alike = group_by_key((_make_key(fabric, machine, kinds), machine) for machine, kinds in guests.items())
    found: tuple[list[NodeKind], list[NodeKind]] = ([], [])
    for machines in alike.values():
        both = all(guests[machines[0]])
        for role, machine in enumerate((machines[0], machines[-1] if both else machines[0])):
            for same in guests[machine][role].values():
                total = len(same) * len(machines)
                found[role].append(NodeKind(same[0], machine, total, len(same), tuple(machines)))
    return found


def _make_key(fabric: Fabric, machine: str, kinds: Sequence[Mapping[tuple[int, ...], Sequence[str]]]) -> Hashable:
    """The key of a machine's paths and rates: where each cable goes, and what it is, with the ceilings that it passes;
    the VLANs of its guests.
    """
    guests = tuple(tuple((vlans, len(same)) for vlans, same in each.items()) for each in kinds)
    return describe_legs(fabric, machine), describe_passed(fabric, machine), guests


def machine_of(fabric: Fabric, node: str) -> str:
    """The machine that has the cables of ``node``: its host, or itself."""
    return fabric.nodes[NodeId(node)].host or node


def machines_of(fabric: Fabric, nodes: Iterable[str]) -> set[str]:
    """The machines that ``nodes`` are or run on."""
    return {machine_of(fabric, node) for node in nodes}


class FanIn:
    """All flows between clients and servers in one direction, equal ones once. Raises RoutingError without a path."""

    def __init__(self, fabric: Fabric, routes: Routes, pattern: Pattern, sorts: Sorts | None = None) -> None:
        self._fabric, self._pattern = fabric, pattern
        self._asking = machines_of(fabric, pattern.clients)
        self._serving = machines_of(fabric, pattern.servers)
        self._clients, servers = sorts or group_nodes(fabric, pattern.clients, pattern.servers)
        pairs = [(client, server) for client in self._clients for server in servers if server.reached_from(client)]
        self._flows = np.array([client.total * server.reached_from(client) for client, server in pairs])
        self.parts: Sequence[LinkPart] = ()
        if not pairs:
            return
        ends = (
            (client.node, server.node) if pattern.writing else (server.node, client.node) for client, server in pairs
        )
        flows = [Flow(NodeId(source), NodeId(target), role=NetworkRole.STORAGE) for source, target in ends]
        crossed = trace_flows(routes, flows, Model.FLUID)
        self.parts, self._owner, self._weight = crossed.parts, crossed.owner, crossed.weight
        of_use = [pairs[owner] for owner in crossed.owner[crossed.used.flow].tolist()]
        times = [
            self._times(client, server, self.parts[part])
            for (client, server), part in zip(of_use, crossed.used.link.tolist(), strict=True)
        ]
        self._used = Usage(crossed.used.flow, crossed.used.link, crossed.used.share * np.array(times, float))
        # A server takes in every copy of what is written.
        into = [self._find_ends(part)[1] in self._serving for part in self.parts]
        copies = pattern.copies if pattern.writing else 1
        self._limits = compute_capacities(fabric, self.parts, {}) / np.where(into, copies, 1)
        number = {client: index for index, client in enumerate(self._clients)}
        self._client = np.array([number[client] for client, _ in of_use], np.intp)

    def _find_ends(self, part: LinkPart) -> tuple[str, str]:
        """The devices that a part leads from and to; a ceiling leads into its device, or out of it."""
        if part.ceiling is not None:
            return ("", part.ceiling.device) if part.ceiling.inward else (part.ceiling.device, "")
        return part.way.source, self._fabric.links[part.way.link].other(part.way.source)

    def _times(self, client: NodeKind, server: NodeKind, part: LinkPart) -> int:
        """How many flows of one kind to another are on a part that one of them crosses."""
        ends = self._find_ends(part)
        if client.machine in ends:
            return client.together * server.reached_from(client)
        if server.machine in ends:
            return server.together * client.reached_from(server)
        return client.total * server.reached_from(client)

    def total(self, limiting: Callable[[LinkPart], bool] = lambda _: True) -> float:
        """byte/s of all flows together when only the ``limiting`` parts limit; infinite where they do not."""
        if not self.parts:
            return math.inf
        chosen = np.array([limiting(part) for part in self.parts], bool)[self._used.link]
        stream, part, share = self._used.flow[chosen], self._used.link[chosen], self._used.share[chosen]
        if self._pattern.striped:
            share = share * self._weight[stream] / len(self._pattern.servers)
            unbounded = np.full(len(self._clients), np.inf)
            rate = max_min(Usage(self._client[chosen], part, share), self._limits, unbounded)
            return float(np.dot(rate, [client.total for client in self._clients]))
        unbounded = np.full(len(self._owner), np.inf)
        rate = max_min(Usage(stream, part, share), self._limits, unbounded, self._weight)
        cabled = self._flows.sum() / (len(self._pattern.clients) * len(self._pattern.servers))
        return float(np.dot(rate, self._flows[self._owner]) / cabled)

    def layers(self, gateways: Collection[str] = ()) -> Iterator[tuple[str, float]]:
        """Each kind of link, from the clients to the servers, with what all flows would get if it alone limited.

        A kind that only some flows cross is left out: it has no limit of its own. Last, all links
        together, where that is less than each kind by itself. It is never more: max-min totals can
        fall when a limit goes away (flows that divide over unequal legs then hold each other up),
        and a link that carries so much with the others allows it alone.
        """
        together = self.total()
        found = group_by_key((self._kind(part, gateways), part) for part in self.parts)
        lowest = math.inf
        for (_, name), parts in sorted(found.items()):
            rate = max(self.total(set(parts).__contains__), together)
            if math.isfinite(rate):
                lowest = min(lowest, rate)
                yield name, rate
        if together < lowest * (1.0 - 1e-9):
            yield ALL_LINKS, together

    def _kind(self, part: LinkPart, gateways: Collection[str]) -> tuple[int, str]:
        """The layer of a part, with its place on the way; ceilings inside a node belong to its ports."""
        ends = {end for end in self._find_ends(part) if end}
        for place, name, machines in (
            (9, SERVER_PORTS, self._serving),
            (0, CLIENT_PORTS, self._asking),
            (1, GATEWAYS, gateways),
        ):
            if not ends.isdisjoint(machines):
                return place, name
        switches = self._fabric.switches
        roles = {end: switches[SwitchId(end)].role.value if end in switches else "forwarding node" for end in ends}
        if part.ceiling is not None:
            device = part.ceiling.device
            return 2 + self._fabric.tier(device), f"{roles[device]} ceilings"
        lower, upper = sorted((self._fabric.tier(end), roles[end]) for end in ends)
        return 2 + lower[0], f"{lower[1]} to {upper[1]} links"


def list_port_rates(fabric: Fabric, nodes: Sequence[str]) -> list[float]:
    """byte/s of payload of the ports of each of ``nodes`` that carry traffic; those of one machine share.

    Those of a network for management carry none.
    """

    def carries(link: Link) -> bool:
        network = fabric.networks.get(link.network)
        return not link.standby and (network is None or network.role is not NetworkRole.MANAGEMENT)

    sharing = Counter(machine_of(fabric, node) for node in nodes)
    return [
        sum_legs(fabric, machine, [link for link in fabric.legs(node) if carries(link)]) / sharing[machine]
        for node in nodes
        for machine in (machine_of(fabric, node),)
    ]
