"""The design ``steered``: one stream a test, on member cables that its source port was chosen for.

Where the file says ``hash: steered`` for every fork on the way, no member cable is given more than it carries. Else
no two tests of a round share a link on which a hash decides, so that each has its member to itself, whichever it is.
"""

from collections import Counter
from collections.abc import Hashable, Sequence

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.designs.pairs import choose_pairs
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout, FlowLoad, Pair
from benchconsole.probes.planning.packing import FULL_AT, find_shortest
from benchconsole.probes.planning.resource_use import ResourceUse
from benchconsole.probes.planning.stream_placement import FIRST_PORT, LAST_PORT, PortForks, StreamPaths, make_port
from benchconsole.topology.model.fabric import Flow
from benchconsole.topology.routing.graph import NextHop
from benchconsole.topology.routing.hashed_paths import CableStep, HashChoice

TRIES = 64
"""Source ports that are tried for one flow in one round, beside the one that looks best at each fork."""

_STRIDE = 6151
"""Ports of neighbouring tests are this far apart where nothing is known of the hash; no divisor of their number."""

Cable = tuple[int, int]
"""A directed link by number and a member of it."""


def lay_out(request: DesignRequest) -> list[FlowLayout]:
    """Every node sends to ``partners`` others, spread evenly by ``seed``, one stream each."""
    partners = request.options.whole("partners", 1, 1024)
    seed = request.options.whole("seed", 0, 2**31)
    names = request.sending
    if not names.source_port:
        raise PlanError("design steered needs a probe with an option for its source port, as iperf3 has source_port")
    if names.streams and request.written.get(names.streams, 1) != 1:
        found = f"{names.streams} {request.written[names.streams]}"
        raise PlanError(f"design steered sends one stream for each test, found {found}")
    pairs, _ = choose_pairs(request, partners * len(request.nodes), seed)
    if not pairs:
        return []
    one_of_each = {id(request.flow_classes.find_class(*pair)): Flow(*pair) for pair in pairs}
    walks = StreamPaths(request.flow_classes.routes)
    is_described = all(walks.ports(flow) for flow in one_of_each.values())
    if is_described:
        return _steered(request, pairs)
    # Ports as different as can be; what a hash makes of them is not known, so nothing rests on it.
    count = LAST_PORT - FIRST_PORT + 1
    loads = [FlowLoad((Flow(*pair),), port=FIRST_PORT + index * _STRIDE % count) for index, pair in enumerate(pairs)]
    because = "one stream each over many source ports; hashes are not described as steered, so none shares a fork"
    return [FlowLayout(because, loads=loads, any_order=True, apart=True)]


def _steered(request: DesignRequest, pairs: Sequence[Pair]) -> list[FlowLayout]:
    """One layout for each round: links first, then a member for each flow; who finds none waits for the next."""
    classes = request.flow_classes.sending(1)
    ledger = ResourceUse(classes, most=len(pairs))
    ledger.pairs(pairs)
    places = find_shortest(ledger.closed())
    rounds: list[list[Pair]] = [[] for _ in range(max(places) + 1)]
    for pair, place in zip(pairs, places, strict=True):
        rounds[place].append(pair)
    cables = _Cables(classes)
    layouts: list[FlowLayout] = []
    waiting: list[Pair] = []
    while rounds or waiting:
        loads, waiting = cables.steer([*waiting, *(rounds.pop(0) if rounds else [])])
        because = f"one stream each, members chosen by source port; {cables.crossed} by now"
        layouts.append(FlowLayout(because, loads=loads))
    return layouts


class _Cables:
    """The member cables of a fabric: what each carries in the round that is being made, and how often it was used."""

    def __init__(self, classes: FlowClasses) -> None:
        self.flow_classes = classes
        self.walks = StreamPaths(classes.routes)
        self.graph = classes.routes.graph
        self._taken: dict[Cable, float] = {}
        self._used: Counter[Hashable] = Counter()
        self._next = 0

    @property
    def crossed(self) -> str:
        """How many of the directed cables any flow has crossed so far, in words."""
        every = sum(2 * link.count for link in self.graph.links if not link.standby)
        return f"{sum(isinstance(each, tuple) for each in self._used):,} of {every:,} directed cables are crossed"

    def steer(self, pairs: Sequence[Pair]) -> tuple[list[FlowLoad], list[Pair]]:
        """A round of as many of ``pairs`` as find free members, in order, and those that do not."""
        self._taken = {}
        loads: list[FlowLoad] = []
        waiting: list[Pair] = []
        busy: set[tuple[str, str]] = set()
        for pair in pairs:
            one, other = map(self.flow_classes.find_side, pair)
            # Each machine sends once and receives once in a round.
            ends = {("out", one.device if one else pair[0]), ("in", other.device if other else pair[1])}
            flow = Flow(*pair)
            port = self._port(flow) if busy.isdisjoint(ends) else None
            if port is None:
                waiting.append(pair)
            else:
                busy |= ends
                loads.append(FlowLoad((flow,), port=port))
        return loads, waiting

    def _port(self, flow: Flow) -> int | None:
        """The source port that puts ``flow`` on free members; None where none of those tried does."""
        flow_class = self.flow_classes.find_class(flow.source, flow.sink)
        rate = flow_class.nominal if flow_class is not None else 0.0
        least = _LeastUsed(self)
        path = self.walks.path(flow, least)
        if self._take(path, rate):
            return make_port(iter(least.digits))
        ways = self.walks.ports(flow)
        self._next += 1
        for offset in range(min(ways, TRIES)):
            port = FIRST_PORT + (self._next + offset) % ways
            if self._take(self.walks.path(flow, PortForks(port)), rate):
                return port
        return None

    def _take(self, path: Sequence[CableStep], rate: float) -> bool:
        cables = [(step.way, step.member) for step in path]
        if any(self._taken.get(cable, 0.0) + rate > FULL_AT * self._room(cable) for cable in cables):
            return False
        for cable in cables:
            self._taken[cable] = self._taken.get(cable, 0.0) + rate
            self._used[cable] += 1
        return True

    def _room(self, cable: Cable) -> float:
        """What a member may carry, as its part of what its link may."""
        link = self.graph.links[cable[0] >> 1]
        return float(self.flow_classes.capacity[cable[0]]) * link.members[cable[1]] / sum(link.members)

    def rank(self, among: Hashable) -> tuple[float, int]:
        """What speaks against a choice: how much is on it in this round, and how often it was used before."""
        if isinstance(among, NextHop):
            return min(map(self.rank, self.graph.cables(among.ways)))
        taken = self._taken.get(among, 0.0) if isinstance(among, tuple) else 0.0
        return taken, self._used[among]


class _LeastUsed(PortForks):
    """Takes at each fork what is used least; ``digits`` are its choices."""

    def __init__(self, cables: _Cables) -> None:
        super().__init__()
        self._cables = cables
        self.digits: list[tuple[int, int]] = []

    def __call__(self, choice: HashChoice) -> int:
        ranks = [self._cables.rank(each) for each in choice.among]
        position = ranks.index(min(ranks))
        self.digits.append((position, len(ranks)))
        return position
