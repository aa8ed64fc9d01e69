"""Cuts: bounds of what flows can reach, which hold for every routing, each with the links that make it.

Flows from one side of a fabric to the other get no more than the links in that direction carry. Tried are the
ports of single nodes, single switches and groups with what is below them, least cuts between all senders and all
receivers (Ford and Fulkerson), and the balls around senders that the prices of an optimum suggest (Leighton and Rao,
J. ACM 46, 1999); every cut is a bound, and the least of them is told.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra, maximum_flow

from benchconsole.topology.arrays import Flags, Floats
from benchconsole.topology.capacity.arcs import Arcs
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, NodeId
from benchconsole.topology.port_selection import fold_ports
from benchconsole.topology.selection import fold

_SAME = 1e-9
_MOST_BALLS = 32
"""Senders around which balls are drawn."""
_ROUNDS = 20
_LARGEST = 2**31 - 2


@dataclass(frozen=True, slots=True)
class Cut:
    """``capacity`` byte/s of payload over ``links``, which ``flows`` flows cross.

    ``alike`` are the nodes that have the same cut each, where it is the ports of one node.
    """

    capacity: float
    links: tuple[Direction, ...]
    flows: int
    alike: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """byte/s of payload of each flow, where all get the same."""
        return self.capacity / self.flows


def name_cut(fabric: Fabric, cut: Cut) -> str:
    """``leaf1 to spine1``, ``4 links, leaf[1-2] to spine[1-2]``, ``the ports into each of st[01-20]``."""
    ways = cut.links
    heads = [fabric.links[way.link].other(way.source) for way in ways]
    if cut.alike:
        direction = "out of" if ways[0].source in {name.partition(":")[0] for name in cut.alike} else "into"
        return f"the ports {direction} {'each of ' if len(cut.alike) > 1 else ''}{fold(cut.alike)}"
    if len(ways) == 1:
        return direction_name(fabric, ways[0])
    if all(NodeId(head) in fabric.nodes for head in heads):
        return f"all ports into {_fold_ports(fabric, ways, heads)}"
    if all(NodeId(way.source) in fabric.nodes for way in ways):
        return f"all ports out of {_fold_ports(fabric, ways, [way.source for way in ways])}"
    return f"{len(ways)} links, {fold(way.source for way in ways)} to {fold(heads)}"


def _fold_ports(fabric: Fabric, ways: Sequence[Direction], nodes: Sequence[str]) -> str:
    """The nodes at one end of some legs; their ports where they have others beside them."""
    if all(len(fabric.links_at[node]) == count for node, count in Counter(nodes).items()):
        return fold(nodes)
    links = (fabric.links[way.link] for way in ways)
    return fold_ports((link.port_at(node) or None, (node,)) for link, node in zip(links, nodes, strict=True))


class Cuts:
    """The cuts of some flows over arcs."""

    def __init__(self, arcs: Arcs, flows: Sequence[Flow]) -> None:
        self._arcs = arcs
        ends = [(arcs.source(flow), arcs.sink(flow)) for flow in flows]
        pairs, self._count = np.unique(np.array(ends, np.intp), axis=0, return_counts=True)
        self._sources, self._sinks = pairs[:, 0], pairs[:, 1]
        vertices = len(arcs.devices)
        self._sent = np.bincount(self._sources, self._count, vertices).astype(np.float64)
        self._received = np.bincount(self._sinks, self._count, vertices).astype(np.float64)

    def find_share(self, lengths: Floats | None = None) -> Cut:
        """The least cut for what every flow gets, where all get the same. ``lengths``: the prices of an optimum."""
        best = self._choose([*self._list_ports(), *self._measure(self._list_sides())])
        for _ in range(_ROUNDS):
            side = self._separate(best.share * self._sent, best.share * self._received)
            better = self._choose([best, *self._measure([side])])
            if better.share >= best.share * (1 - _SAME):
                break
            best = better
        # Prices are not unique, so a cut of theirs is told only where it is below those that are.
        balls = [] if lengths is None else list(self._measure(self._list_balls(lengths)))
        return min([best, *balls], key=lambda cut: float(f"{cut.share:.9g}"))

    def find_total(self) -> Cut:
        """The least cut for the sum of all flows: a cut between senders and receivers, or all ports of one kind."""
        flows = int(self._count.sum())
        senders, receivers = (np.isin(ends, which) for ends, which in (
            (self._arcs.tail, self._sources), (self._arcs.head, self._sinks),
        ))  # fmt: skip
        found = [self._make(senders, flows), self._make(receivers, flows)]
        if not (self._sent * self._received).any():  # no device is both, so one side can hold all senders
            without_end = 2 * math.fsum(self._arcs.capacity)
            side = self._separate(without_end * self._sent, without_end * self._received)
            found.append(self._make(side[self._arcs.tail] & ~side[self._arcs.head], flows))
        return min(found, key=lambda cut: (float(f"{cut.capacity:.9g}"), len(cut.links), cut.links))

    # -- candidates

    def _list_ports(self) -> Iterator[Cut]:
        """The ports of each node: those which bind most, one cut for all that are alike."""
        arcs = self._arcs
        for ends, flows in ((arcs.tail, self._sent), (arcs.head, self._received)):
            carried = np.bincount(ends, weights=self._cap_channels(np.ones(len(arcs), bool)), minlength=len(flows))
            asked = np.flatnonzero(flows)
            share = carried[asked] / flows[asked]
            least = asked[share <= share.min() * (1 + _SAME)]
            names = sorted(arcs.devices[vertex] for vertex in least.tolist())
            first = next(vertex for vertex in least.tolist() if arcs.devices[vertex] == names[0])
            cut = self._make(ends == first, int(flows[first]))
            yield Cut(cut.capacity, cut.links, cut.flows, tuple(names))

    def _list_sides(self) -> Iterator[Flags]:
        """Each switch with the nodes that hang on it alone, each group, and what is not in them."""
        arcs, fabric = self._arcs, self._arcs.graph.fabric
        below: dict[str, set[str]] = {switch: {switch} for switch in fabric.switches}
        for node in fabric.nodes:
            ends = {link.other(node) for link in fabric.links_at[node]}
            if len(ends) == 1:
                below.setdefault(ends.pop(), set()).add(node)
        for members in (*below.values(), *(group.members for group in fabric.groups)):
            inside = [each[device] for device in members for each in (arcs.sends, arcs.receives) if device in each]
            inside += [
                vertex
                for (device, link), ends in arcs.ports.items()
                if device in members or fabric.links[link].other(device) in members
                for vertex in ends
            ]
            if inside:
                side = np.zeros(len(arcs.devices), bool)
                side[inside] = True
                yield side
                yield ~side

    def _list_balls(self, lengths: Floats) -> Iterator[Flags]:
        """The vertices nearer to a sender than each of the distances that occur."""
        arcs = self._arcs
        size = len(arcs.devices)
        graph = csr_array(coo_array((lengths + 1e-12, (arcs.tail, arcs.head)), shape=(size, size)))
        names = sorted((arcs.devices[vertex], vertex) for vertex in set(self._sources.tolist()))
        chosen = names[:: max(1, len(names) // _MOST_BALLS)]
        for distance in np.atleast_2d(dijkstra(graph, indices=[vertex for _, vertex in chosen])):
            reached = np.unique(np.round(distance[np.isfinite(distance)], 9))
            for radius in reached[:-1][:_MOST_BALLS]:
                yield distance <= radius + 5e-10

    def _separate(self, supply: Floats, wanted: Floats) -> Flags:
        """The side of the senders of a least cut, where each vertex sends and receives no more than these byte/s."""
        arcs = self._arcs
        size = len(arcs.devices)
        out = np.bincount(arcs.tail, weights=arcs.capacity, minlength=size)
        into = np.bincount(arcs.head, weights=arcs.capacity, minlength=size)
        senders, receivers = np.flatnonzero(supply), np.flatnonzero(wanted)
        ends = np.concatenate((arcs.tail, np.full(len(senders), size), receivers))
        heads = np.concatenate((arcs.head, senders, np.full(len(receivers), size + 1)))
        rates = (arcs.capacity, np.minimum(supply, 2 * out)[senders], np.minimum(wanted, 2 * into)[receivers])
        room = np.concatenate(rates)
        units = np.floor(room / math.fsum(room) * _LARGEST).astype(np.int32)
        graph = csr_array(coo_array((units, (ends, heads)), shape=(size + 2, size + 2)))
        left = graph - maximum_flow(graph, size, size + 1).flow
        left.data[left.data < 0] = 0
        left.eliminate_zeros()
        side = np.zeros(size + 2, bool)
        side[breadth_first_order(left, size, return_predecessors=False)] = True
        return side[:size]

    # -- their numbers

    def _measure(self, sides: Iterator[Flags] | list[Flags]) -> Iterator[Cut]:
        """The cut of each side that flows leave."""
        for side in sides:
            flows = int(self._count[side[self._sources] & ~side[self._sinks]].sum())
            if flows:
                yield self._make(side[self._arcs.tail] & ~side[self._arcs.head], flows)

    def _make(self, crossing: Flags, flows: int) -> Cut:
        graph = self._arcs.graph
        ways = np.unique(self._arcs.ways[crossing])
        capacity = float(self._cap_channels(crossing).sum())
        return Cut(capacity, tuple(sorted(graph.direction(way) for way in ways.tolist())), flows)

    def _cap_channels(self, crossing: Flags) -> Floats:
        """byte/s of each arc that crosses; those of one link no more than the link has."""
        found = np.where(crossing, self._arcs.capacity, 0.0)
        together = np.bincount(self._arcs.ways, weights=found)[self._arcs.ways]
        return np.where(together > self._arcs.payload, found * self._arcs.payload / np.maximum(together, 1e-300), found)

    @staticmethod
    def _choose(cuts: Sequence[Cut]) -> Cut:
        """The least, the same whatever the order: of equal ones the one with fewer links."""
        return min(cuts, key=lambda cut: (float(f"{cut.share:.9g}"), not cut.alike, len(cut.links), cut.links))
