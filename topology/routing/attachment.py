"""Where flows enter and leave the graph: the legs of nodes, and the legs that a flow uses.

Legs to one switch, or to both of an MLAG pair, are one LAG; a node with several LAGs uses those from which its partner
is nearest.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.cable import Channel
from benchconsole.topology.model.fabric import Flow, Link, NodeId
from benchconsole.topology.model.forwarding import name_destination
from benchconsole.topology.model.network import DATA
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.graph import Graph, NextHop


@dataclass(frozen=True, slots=True, eq=False)
class NodeCabling:
    """How a node is cabled, leg by leg; nodes cabled alike have one together and share their routes.

    ``landing`` is where data has to arrive for a pinned last leg, when the node has another leg
    at the twin of that switch: what arrives there would take that one. ``destinations`` is what forwarding tables call
    each leg, where there are any: such a node is cabled like no other.
    """

    devices: tuple[str, ...]
    cables: tuple[int, ...]
    networks: tuple[str, ...]
    landing: str | None = None
    destinations: tuple[tuple[str, ...], ...] = ()

    def by_cables(self, positions: Collection[int]) -> Iterator[tuple[int, float]]:
        """Each of these legs with its part of what they carry together."""
        cables = sum(self.cables[position] for position in positions)
        return ((position, self.cables[position] / cables) for position in positions)


@dataclass(frozen=True, slots=True)
class Legs:
    """The links that a node sends and receives over; ``ways`` numbers them (``Graph.way``) as it sends.

    ``device`` is where they are plugged in: the node, or the host of a virtual machine.
    """

    device: str
    links: tuple[Link, ...]
    ways: tuple[int, ...]
    attachment: NodeCabling

    def out(self, positions: Iterable[int]) -> tuple[int, ...]:
        """The numbers of these legs as the node sends over them."""
        return tuple([self.ways[position] for position in positions])

    def into(self, positions: Iterable[int]) -> tuple[int, ...]:
        """The numbers of these legs as the node receives over them."""
        return tuple([self.ways[position] ^ 1 for position in positions])


@dataclass(frozen=True, slots=True)
class LagPair:
    """A LAG of the source and one of the sink (positions of legs) that are nearest; ``egress`` is the sink's vertex."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    egress: str


class Attachments:
    """Legs and ends of one fabric, found once for each node and each pair of attachments."""

    def __init__(self, graph: Graph, way: str = "") -> None:
        """``way`` names the networks that ``graph`` is limited to; empty for all."""
        self.graph = graph
        self.fabric = graph.fabric
        self._way = way
        self._alike: dict[object, NodeCabling] = {}
        self._legs: dict[tuple[str, str | None], Legs] = {}
        self._ends: dict[tuple[NodeCabling, NodeCabling], tuple[LagPair, ...]] = {}
        self._by_lag: dict[NodeCabling, Mapping[tuple[str, str], tuple[int, ...]]] = {}

    def of(self, flow: Flow) -> tuple[Legs, Legs]:
        """The legs at both ends. RoutingError where a flow leaves no machine, or an end is not in its VLAN."""
        source, sink = self.legs(flow.source, flow.leg), self.legs(flow.sink, flow.last_leg)
        if flow.source == flow.sink:
            raise RoutingError(f"a flow from {flow.source} to itself")
        if source.device == sink.device:
            both = f"{flow.source} and {flow.sink} are on one machine, {source.device}"
            raise RoutingError(f"{both}: there is no link between them")
        if flow.vlan is not None:
            self.vlan(flow)
        return source, sink

    def legs(self, node: NodeId, pinned: str | None = None) -> Legs:
        """The legs of ``node`` that carry data, or the ``pinned`` one of them, by its id or the name of its port."""
        key = (node, pinned)
        known = self._legs.get(key)
        if known is None:
            links = self.graph.active_legs(node)
            if not links:
                down = self._way and self.fabric.described.legs(node)
                way = f"has no way into {self._way}: no cable of it there is up"
                raise RoutingError(f"{node} {way if down else 'is not cabled to anything'}")
            chosen = links if pinned is None else self._find_pinned(node, links, pinned)
            known = self._legs[key] = self._plugged(node, links, chosen)
        return known

    def _find_pinned(self, node: NodeId, links: tuple[Link, ...], pinned: str) -> tuple[Link]:
        """The one of ``links`` that ``pinned`` names. RoutingError where it carries nothing."""
        meant = self.fabric.described.find_leg(node, pinned)
        if meant is None:
            raise RoutingError(f"a flow of {node} cannot take {pinned}: it is no leg of {node}")
        found = next((link for link in links if link.id == meant.id), None)
        if found is None:
            if meant.id not in self.fabric.links:
                why = "its cable is down"
            elif self._way and meant.network not in (networks := {link.network for link in links}):
                why = f"it is in the network {meant.network}, and the flow takes {' and '.join(sorted(networks))}"
            else:
                why = "it stands by while another leg of its bond is up"
            raise RoutingError(f"a flow of {node} cannot take {pinned}: {why}")
        return (found,)

    def _plugged(self, node: NodeId, links: tuple[Link, ...], chosen: tuple[Link, ...]) -> Legs:
        device = self.fabric.nodes[node].host or node
        ends = tuple(link.other(device) for link in chosen)
        pair = self.fabric.mlag_of.get(ends[0])
        twinned = pair is not None and pair.other(ends[0]) in {link.other(device) for link in links} - set(ends)
        cabled = tuple((link.count, link.network) for link in chosen)
        named = self._name_legs(device, chosen)
        key = (ends, cabled, twinned, named)
        attachment = self._alike.get(key)
        if attachment is None:
            attachment = self._alike[key] = NodeCabling(
                devices=ends,
                cables=tuple(link.count for link in chosen),
                networks=tuple(link.network for link in chosen),
                landing=ends[0] if twinned else None,
                destinations=named,
            )
        return Legs(device, chosen, tuple(self.graph.way(link, device) for link in chosen), attachment)

    def _name_legs(self, device: str, legs: Sequence[Link]) -> tuple[tuple[str, ...], ...]:
        if all(self.fabric.routing_of(link) is not RoutingRule.TABLES for link in legs):
            return ()
        ports = (link.ports_a if link.a == device else link.ports_b for link in legs)
        return tuple(name_destination(device, own) for own in ports)

    def direct(self, source: Legs, sink: Legs) -> NextHop | None:
        """The cables between two nodes, which carry their data only where one of them forwards."""
        if sink.device not in source.attachment.devices:
            return None
        if not any(legs.device in self.graph.vertex for legs in (source, sink)):
            raise RoutingError(f"{source.device} and {sink.device} are cabled to each other without a switch")
        return self.graph.hop(
            source.device, [link for link in source.links if link.other(source.device) == sink.device]
        )

    def vlan(self, flow: Flow) -> int | None:
        """The VLAN of a flow, else the first that both ends share, or None. RoutingError where an end is not in its
        VLAN.
        """
        known = self.fabric.vlans_of
        if flow.vlan is None:
            return next((vlan for vlan in known.get(flow.source, ()) if vlan in known.get(flow.sink, ())), None)
        for node in (flow.source, flow.sink):
            if flow.vlan not in known.get(node, ()):
                raise RoutingError(f"{node} is not in VLAN {flow.vlan} of the flow from {flow.source} to {flow.sink}")
        return flow.vlan

    def channels(self, flow: Flow, link: Link) -> tuple[Channel, ...]:
        """The channels of ``link`` that a flow may use: its VLAN's, or all for a flow without a VLAN.

        A flow between two VLANs is routed somewhere on its way, which no file says: it may use the channels of both.
        RoutingError where the link has none for the VLANs of the flow.
        """
        vlans = self._list_vlans(flow)
        found = tuple(channel for channel in link.channels if not vlans or channel.vlan in vlans)
        if not found and link.channels:
            ends = f"the flow from {flow.source} to {flow.sink} is in VLAN {' and '.join(map(str, vlans))}"
            raise RoutingError(f"{ends}, for which {link.id} has no channel")
        return found

    def _list_vlans(self, flow: Flow) -> tuple[int, ...]:
        """The VLANs in which a flow may be: its own, or those of both of its ends; none where an end is in none."""
        own = self.vlan(flow)
        if own is not None:
            return (own,)
        ends = [self.fabric.vlans_of.get(node, ()) for node in (flow.source, flow.sink)]
        return tuple(dict.fromkeys(itertools.chain(*ends))) if all(ends) else ()

    def ends(self, flow: Flow, source: Legs, sink: Legs) -> tuple[LagPair, ...]:
        """The LAGs at both ends between which the path is shortest; in the data network where there is one."""
        key = (source.attachment, sink.attachment)
        found = self._ends.get(key)
        if found is None:
            found = self._ends[key] = self._nearest(*key)
        if not found:
            way = f" over {self._way}" if self._way else ""
            raise RoutingError(f"no path from {flow.source} to {flow.sink}{way}{self._explain_apart(flow)}")
        return found

    def _explain_apart(self, flow: Flow) -> str:
        """Why two nodes that reach each other do not do so between the legs that a flow names; else nothing."""
        if flow.leg is None or flow.last_leg is None:
            return ""
        source, sink = self.legs(flow.source).attachment, self.legs(flow.sink).attachment
        if not self._nearest(source, sink):
            return ""
        return (
            f" between the ports {flow.leg} and {flow.last_leg}: no cable joins their rails, "
            "so such data crosses rails inside a node, or changes the port"
        )

    def _nearest(self, source: NodeCabling, sink: NodeCabling) -> tuple[LagPair, ...]:
        found: dict[tuple[bool, bool, int], list[LagPair]] = {}
        for (egress, other), last in self.lags(sink).items():
            distances = self.graph.distances(egress)
            for (ingress, network), first in self.lags(source).items():
                if ingress in distances:
                    rank = (not network == other == DATA, network != other, distances[ingress])
                    found.setdefault(rank, []).append(LagPair(first, last, egress))
        return tuple(found[min(found)]) if found else ()

    def lags(self, attachment: NodeCabling) -> Mapping[tuple[str, str], tuple[int, ...]]:
        """Vertex and network to the positions of the legs there."""
        if attachment not in self._by_lag:
            vertex, found = self.graph.vertex, dict[tuple[str, str], tuple[int, ...]]()
            for position, (end, network) in enumerate(zip(attachment.devices, attachment.networks, strict=True)):
                if end in vertex:
                    key = vertex[end], network
                    found[key] = (*found.get(key, ()), position)
            self._by_lag[attachment] = found
        return self._by_lag[attachment]

    def leaving(self, ends: LagPair, source: NodeCabling, sink: NodeCabling) -> tuple[int, ...]:
        """The legs of the source that share the flow: those at the landing only, where it has one there."""
        there = tuple(position for position in ends.first if source.devices[position] == sink.landing)
        return there or ends.first

    def arriving(self, ends: LagPair, sink: NodeCabling, device: str) -> tuple[NextHop | None, tuple[int, ...]]:
        """From ``device`` of the last vertex to the sink: the peer links, where it has no leg there, and the legs."""
        own = tuple(position for position in ends.last if sink.devices[position] == device)
        return (None, own) if own else (self.graph.peer(device), ends.last)
