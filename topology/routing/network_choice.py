"""The networks that a flow may take: the one that it names, or the one of its role that both of its ends are in.

Which one is never a matter of what is shorter, nor of what is down: it follows from the fabric as described. A flow
that names none takes a network of its role. Where its ends have none of any such role in common, it goes over what
joins theirs (a switch with cables of two kinds, a gateway), but never over a network for management.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property

from benchconsole.topology.errors import RoutingError, find_near
from benchconsole.topology.model.fabric import Fabric, Flow, Link, NodeId
from benchconsole.topology.model.network import DATA, NetworkRole

Networks = frozenset[str]

_ROLES: Mapping[NetworkRole, tuple[NetworkRole, ...]] = {
    NetworkRole.DATA: (NetworkRole.DATA, NetworkRole.STORAGE),
    NetworkRole.STORAGE: (NetworkRole.STORAGE, NetworkRole.DATA),
    NetworkRole.MANAGEMENT: (NetworkRole.MANAGEMENT,),
}
"""Roles of the networks that a flow of a role takes, the first that its ends have in common."""

_Place = tuple[str, str]
"""A network, and the device that stands for all that it joins there."""


def say_networks(networks: Iterable[str]) -> str:
    """``the network ib``, ``the networks ddr and qdr``."""
    names = sorted(networks)
    if len(names) == 1:
        return f"the network {names[0]}"
    return f"the networks {', '.join(names[:-1])} and {names[-1]}"


class NetworkChoice:
    """Chooses the networks of flows on one fabric; ``used`` are those that any cable is of."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric.described
        self.used: Networks = self._fabric.used_networks
        self._open = frozenset(name for name in self.used if self._role(name) is not NetworkRole.MANAGEMENT)
        self._chosen: dict[object, Networks] = {}
        self._places: dict[str, frozenset[_Place]] = {}

    def choose(self, flow: Flow) -> Networks:
        """The networks whose cables ``flow`` may take. RoutingError where it names one that an end is not in, or may
        take one of several.
        """
        if not flow.network and len(self.used) < 2:
            return self.used
        pinned = (flow.leg, flow.last_leg)
        key = (self.list_places(flow.source), self.list_places(flow.sink), flow.network, flow.role, pinned)
        if key not in self._chosen:
            self._chosen[key] = self._find_named(flow) if flow.network else self._find_unnamed(flow)
        return self._chosen[key]

    def list_networks(self, node: NodeId) -> tuple[str, ...]:
        """The networks that ``node`` is cabled to, as described, in the order of the file."""
        return tuple(dict.fromkeys(link.network for link in self._fabric.legs(node)))

    def list_common(self, source: NodeId, sink: NodeId) -> tuple[str, ...]:
        """The networks over which the two reach each other as described, in the order of the file."""
        both = {network for network, _ in self.list_places(source) & self.list_places(sink)}
        return tuple(name for name in self.list_networks(source) if name in both)

    def list_places(self, node: NodeId) -> frozenset[_Place]:
        """Where ``node`` is plugged in: each network with what stands for the part of it that is joined there."""
        if node not in self._places:
            device = self._fabric.nodes[node].host or node
            legs = self._fabric.legs(node)
            self._places[node] = frozenset((link.network, self.find_part(link, device)) for link in legs)
        return self._places[node]

    def _role(self, name: str) -> NetworkRole:
        return self._fabric.networks[name].role if name in self._fabric.networks else NetworkRole.DATA

    def _find_named(self, flow: Flow) -> Networks:
        name = flow.network
        if name not in self._fabric.networks:
            near = find_near(name, self._fabric.networks)
            hint = f"; did you mean {near}?" if near else ""
            raise RoutingError(f"unknown network {name!r}, expected one of {', '.join(self._fabric.networks)}{hint}")
        for node in (flow.source, flow.sink):
            own = self.list_networks(node)
            if name not in own:
                others = f"it is in {say_networks(own)}" if own else "it is not cabled to anything"
                raise RoutingError(f"{node} is not in the network {name}: {others}")
        return frozenset((name,))

    def _find_unnamed(self, flow: Flow) -> Networks:
        ends = ((flow.source, flow.leg), (flow.sink, flow.last_leg))
        legs = [self._fabric.find_leg(node, leg) for node, leg in ends if leg is not None]
        pinned = {link.network for link in legs if link is not None}
        common = self.list_common(flow.source, flow.sink)
        if pinned:
            return frozenset(pinned) if pinned.issubset(common) else self._open | pinned
        for role in _ROLES[flow.role]:
            found = [name for name in common if self._role(name) is role]
            if len(found) > 1 and DATA not in found:
                which = say_networks(found).replace("networks", f"{role} networks")
                raise RoutingError(
                    f"{flow.source} and {flow.sink} have {which} in common: say which one (the option network), "
                    "or give the others another role"
                )
            if found:
                return frozenset((DATA if DATA in found else found[0],))
        self._refuse_apart(flow, common)
        return self._open

    def _refuse_apart(self, flow: Flow, common: tuple[str, ...]) -> None:
        """RoutingError where nothing but a network for management joins the two ends."""
        ends = (flow.source, flow.sink)
        parts = [{self._joined.get(end, end) for _, end in self._list_open(node)} for node in ends]
        if all(self.list_networks(node) for node in ends) and not set.intersection(*parts):
            if common:
                only = say_networks(common).replace("network", "management network", 1)
                raise RoutingError(f"{ends[0]} and {ends[1]} have only {only} in common: name it to send over it")
            own = "; ".join(f"{node} is in {say_networks(self.list_networks(node))}" for node in ends)
            why = f"they have no network in common, and nothing joins theirs ({own})"
            raise RoutingError(f"no path from {ends[0]} to {ends[1]}: {why}")

    def _list_open(self, node: NodeId) -> Iterable[_Place]:
        return (place for place in self.list_places(node) if place[0] in self._open)

    # -- what is joined, as described

    @cached_property
    def _vertices(self) -> Mapping[str, str]:
        """Each forwarding device, to the one that stands for it: of a pair of switches the first."""
        fabric = self._fabric
        forwarding = (node.id for node in fabric.nodes.values() if node.forwards and node.host is None)
        return {
            device: fabric.mlag_of[device].switches[0] if device in fabric.mlag_of else device
            for device in (*fabric.switches, *forwarding)
        }

    @cached_property
    def _parts(self) -> Mapping[str, Mapping[str, str]]:
        """Network to device to what stands for the part of the network that it is in."""
        return {name: self._join([link for link in self._fabric.links.values() if link.network == name])
                for name in self.used}  # fmt: skip

    @cached_property
    def _joined(self) -> Mapping[str, str]:
        """Device to what stands for everything that it is joined with, whatever the network but for management."""
        return self._join([link for link in self._fabric.links.values() if link.network in self._open])

    def _join(self, links: Iterable[Link]) -> dict[str, str]:
        above: dict[str, str] = {vertex: vertex for vertex in self._vertices.values()}

        def find(vertex: str) -> str:
            while above[vertex] != vertex:
                above[vertex] = above[above[vertex]]
                vertex = above[vertex]
            return vertex

        for link in links:
            if link.a in self._vertices and link.b in self._vertices:
                above[find(self._vertices[link.a])] = find(self._vertices[link.b])
        return {device: find(vertex) for device, vertex in self._vertices.items()}

    def find_part(self, link: Link, device: str) -> str:
        """The name of the part of its network that a leg of ``device`` leads to."""
        for end in (link.other(device), device):
            if end in self._vertices:
                return self._parts[link.network][end]
        return link.id
