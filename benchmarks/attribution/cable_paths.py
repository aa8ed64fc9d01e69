"""The single cables of a described fabric and the paths of streams over them, found anew for the referee.

A path is a list of directed cables. It takes the fewest links; the two switches of an MLAG pair are one vertex. At a
fork one of several equal ways is taken: a leg of the sender, a next hop, a cable of a LAG, a leg of the receiver.
Parallel cables to one next hop, or to both switches of a pair, are one LAG. A switch of a pair leaves by its own cables
where it has some, else over the peer link; where the file describes none, it crosses to its twin as if over a free one.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from benchconsole.topology.model.fabric import Fabric, HashPolicy, Link, LinkId, NodeId, SwitchId

MOST_PATHS = 4096
"""Paths of one pair that are listed before it is refused."""


class Cable(NamedTuple):
    """One member (from 0) of a link, in the direction away from ``source``."""

    link: LinkId
    member: int
    source: str
    end: str


class Fork(NamedTuple):
    """Equal ways on: ``ways`` are the directed cables of each, by number, in the order of the file.

    ``stage`` is ``hop`` (each way is a next hop with all its cables) or ``cable`` (each way is one cable).
    """

    device: str
    stage: str
    ways: tuple[tuple[int, ...], ...]
    policy: HashPolicy


Choose = Callable[[Fork], int]
"""The position of the way that a stream takes at a fork of at least two."""


class NoWayError(Exception):
    """Every cable on from some device is lost."""


class Cabling:
    """The directed cables of a fabric by number, even from the lower end of their link, odd back, and paths over them.

    ValueError for a fabric with something that the referee does not know how to route.
    """

    def __init__(self, fabric: Fabric) -> None:
        _refuse_unknown(fabric)
        self.fabric = fabric
        self.cables: list[Cable] = []
        self._of_link: dict[str, range] = {}
        for link in fabric.links.values():
            first = len(self.cables)
            for member in range(link.count):
                self.cables += [Cable(link.id, member, link.a, link.b), Cable(link.id, member, link.b, link.a)]
            self._of_link[link.id] = range(first, len(self.cables))
        self._vertex = {
            switch: fabric.mlag_of[switch].switches[0] if switch in fabric.mlag_of else switch
            for switch in fabric.switches
        }
        self._distances: dict[str, dict[str, int]] = {}
        self._hops: dict[tuple[str, str], Fork | None] = {}
        self._leaving = {node: self._find_legs(node) for node in fabric.nodes}
        self._members: dict[tuple[int, ...], Fork] = {}

    def cables_of(self, link: str) -> range:
        """Both directions of every member of a link: member ``m`` is at positions ``2 m`` and ``2 m + 1``."""
        return self._of_link[link]

    def cables_at(self, device: str) -> list[int]:
        """Both directions of every cable at a device."""
        return [number for link in self.fabric.links_at[device] for number in self._of_link[link.id]]

    def legs(self, node: str) -> tuple[int, ...]:
        """The cables that a node sends over."""
        return tuple(way[0] for way in self._leaving[NodeId(node)].ways)

    def path(self, source: str, sink: str, choose: Choose, lost: Collection[int] = ()) -> list[int]:
        """The directed cables that a stream crosses when ``choose`` decides at its forks.

        A node whose leg at a switch is ``lost`` is reached over the other switch of the pair. NoWayError where nothing
        is left.
        """
        egress = self._egress(sink)
        found = [self._take(self._leaving[NodeId(source)], choose, lost)[0]]
        here = self.cables[found[-1]].end
        while self._vertex[SwitchId(here)] != egress:
            hops = self._onward(here, egress)
            if hops is None:
                here = self._twin(here)
                continue
            found.append(self._take(self._cable_fork(here, self._take(hops, choose, lost)), choose, lost)[0])
            here = self.cables[found[-1]].end
        legs = self._landing(here, sink)
        if not legs or all(each in lost for each in legs):
            here, over = self._cross(here, choose, lost)
            found += over
            legs = self._landing(here, sink)
        found.append(self._take(self._cable_fork(here, legs), choose, lost)[0])
        return found

    def list_paths(self, source: str, sink: str, lost: Collection[int] = ()) -> Iterator[tuple[float, list[int]]]:
        """Every path, with the part of a flow that takes it when each fork divides what comes evenly."""
        turns: list[int] = []
        for _ in range(MOST_PATHS):
            options: list[int] = []
            path = self.path(source, sink, _Scripted(turns, options, lost), lost)
            part = 1.0
            for ways in options:
                part /= ways
            yield part, path
            turns += [0] * (len(options) - len(turns))
            while turns and turns[-1] == options[len(turns) - 1] - 1:
                turns.pop()
            if not turns:
                return
            turns[-1] += 1
        raise ValueError(f"more than {MOST_PATHS} paths from {source} to {sink}")

    # -- the parts of a path

    def _take(self, fork: Fork, choose: Choose, lost: Collection[int]) -> tuple[int, ...]:
        way = fork.ways[0] if len(fork.ways) == 1 else fork.ways[choose(fork)]
        if lost and all(each in lost for each in way):
            raise NoWayError(f"every cable on from {fork.device} is lost")
        return way

    def _find_legs(self, node: NodeId) -> Fork:
        links = self.fabric.links_at[node]
        ends = {self._vertex[SwitchId(link.other(node))] for link in links}
        if len(ends) != 1:
            raise ValueError(f"{node} is cabled to {len(ends)} switches that are no pair, expected 1")
        return _make_cable_fork(self, node, [each for link in links for each in self._directed(link, node)])

    def _directed(self, link: Link, source: str) -> list[int]:
        return [each for each in self._of_link[link.id] if self.cables[each].source == source]

    def _egress(self, sink: str) -> str:
        return self._vertex[SwitchId(self.cables[self.legs(sink)[0]].end)]

    def _cable_fork(self, device: str, cables: tuple[int, ...]) -> Fork:
        if cables not in self._members:
            self._members[cables] = _make_cable_fork(self, device, cables)
        return self._members[cables]

    def _find_distances(self, egress: str) -> dict[str, int]:
        """Every vertex to its links to ``egress``; peer links lie inside a vertex."""
        if egress not in self._distances:
            found, waiting = {egress: 0}, deque([egress])
            beside: dict[str, set[str]] = {}
            for link in self.fabric.links.values():
                if link.a in self._vertex and link.b in self._vertex:
                    a, b = self._vertex[SwitchId(link.a)], self._vertex[SwitchId(link.b)]
                    beside.setdefault(a, set()).add(b)
                    beside.setdefault(b, set()).add(a)
            while waiting:
                here = waiting.popleft()
                for each in beside.get(here, set()) - found.keys():
                    found[each] = found[here] + 1
                    waiting.append(each)
            self._distances[egress] = found
        return self._distances[egress]

    def _onward(self, here: str, egress: str) -> Fork | None:
        """The next hops of a switch toward ``egress``; None where only its twin has any, and no peer link is told."""
        if (here, egress) not in self._hops:
            distances = self._find_distances(egress)
            left = distances[self._vertex[SwitchId(here)]] - 1
            hops: dict[str, list[int]] = {vertex: [] for vertex in dict.fromkeys(self._vertex.values())}
            for link in self.fabric.links_at[here]:
                there = self._vertex.get(SwitchId(link.other(here)))
                if there is not None and distances.get(there) == left:
                    hops[there] += self._directed(link, here)
            ways = tuple(tuple(cables) for cables in hops.values() if cables) or self._peer_ways(here)
            policy = self.fabric.links[self.cables[ways[0][0]].link].hash if ways else HashPolicy.UNKNOWN
            self._hops[here, egress] = Fork(here, "hop", ways, policy) if ways else None
        return self._hops[here, egress]

    def _peer_ways(self, here: str) -> tuple[tuple[int, ...], ...]:
        links = (self.fabric.links[each] for each in self.fabric.mlag_of[here].peer)
        cables = tuple(each for link in links for each in self._directed(link, here))
        return (cables,) if cables else ()

    def _twin(self, switch: str) -> str:
        return self.fabric.mlag_of[switch].other(switch)

    def _landing(self, here: str, sink: str) -> tuple[int, ...]:
        """The cables from a switch into a node."""
        return tuple(each ^ 1 for each in self.legs(sink) if self.cables[each].end == here)

    def _cross(self, here: str, choose: Choose, lost: Collection[int]) -> tuple[str, list[int]]:
        """The other switch of a pair, and the peer cable that leads there, where one is described."""
        if here not in self.fabric.mlag_of:
            raise NoWayError(f"every cable on from {here} is lost")
        over = [self._take(self._cable_fork(here, each), choose, lost)[0] for each in self._peer_ways(here)]
        return self._twin(here), over


class _Scripted:
    """Takes at each fork the way of a script, or the first; notes how many ways there were that are not lost."""

    def __init__(self, turns: list[int], options: list[int], lost: Collection[int]) -> None:
        self._turns, self._options, self._lost = turns, options, lost

    def __call__(self, fork: Fork) -> int:
        whole = list_whole(fork, self._lost)
        place = len(self._options)
        self._options.append(len(whole))
        return whole[self._turns[place] if place < len(self._turns) else 0]


def list_whole(fork: Fork, lost: Collection[int]) -> list[int]:
    """Positions of the ways of a fork that have a cable left. NoWayError where there is none."""
    whole = [place for place, way in enumerate(fork.ways) if not lost or any(each not in lost for each in way)]
    if not whole:
        raise NoWayError(f"every cable on from {fork.device} is lost")
    return whole


def _make_cable_fork(cabling: Cabling, device: str, cables: Iterable[int]) -> Fork:
    ways = tuple((each,) for each in cables)
    return Fork(device, "cable", ways, cabling.fabric.links[cabling.cables[ways[0][0]].link].hash)


def _refuse_unknown(fabric: Fabric) -> None:
    for node in fabric.nodes.values():
        if node.forwards or node.host is not None:
            raise ValueError(f"{node.id} forwards or is a virtual machine: the referee does not route that")
    for link in fabric.links.values():
        if link.channels or link.standby or link.wan is not None or link.mixed:
            raise ValueError(
                f"{link.id} has channels, stands by, is a WAN or is mixed: the referee does not route that"
            )
