"""The design ``steered``: one stream a test, on member cables that its source port was chosen for.

Where the file says ``hash: steered`` for every fork on the way, no member cable is given more than it carries. Else
no two tests of a round share a link on which a hash decides, so that each has its member to itself, whichever it is.

With ``share`` only the members of the named elements are sent over, each nearly as far as it carries and three times
by other nodes. Little else is busy then: a stream that takes another way than its port means slows nobody.
"""

import random
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from functools import cached_property

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.designs.crossing import Crossing, Element, Group, find_elements
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

TIMES = 3
"""How often each element of ``share`` is filled, by other nodes if there are any."""

SPARSE = 0.125
"""Share of the cables between switches that streams over elements of ``share`` may cross in one round."""

LOADED = 0.7
"""Share of its capacity that a member is given at least, so that it shows when it is slow."""

SHOWN = 1.15
"""Times what the others of a LAG carry that all are given at least, so that it shows when one is lost."""

PAIRS = 24
"""Pairs of nodes that are tried for one stream over a member of an element of ``share``."""

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
    share = request.options.text("share")
    if share:
        elements = [find_elements(request.fabric, name.strip()) for name in share.split(",")]
        return _fill(request, elements, random.Random(seed))  # noqa: S311 - to be drawn again alike
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


def _fill(request: DesignRequest, elements: Sequence[Sequence[Element]], chance: random.Random) -> list[FlowLayout]:
    """One layout for each round: elements that share no cable, each both ways, until enough of the fabric is busy.

    PlanError where no hash steers a stream over any of them.
    """
    cables = _Cables(request.flow_classes.sending(1))
    layouts: list[FlowLayout] = []
    for _ in range(TIMES):
        waiting = list(elements)
        while waiting:
            own = _Filling(request, cables, chance)
            left = [each for each in waiting if not own.add(each)]
            if not own.loads:
                break
            layouts.append(FlowLayout("one stream each, members filled one by one by source port", loads=own.loads))
            waiting = left
    if not layouts:
        names = ", ".join(each.name for ways in elements for each in ways)
        raise PlanError(f"option share: no port steers a flow between the selected nodes over {names}")
    return layouts


class _Filling:
    """One round that fills the members of elements, one stream after the other: ``loads``."""

    def __init__(self, request: DesignRequest, cables: "_Cables", chance: random.Random) -> None:
        self._request = request
        self._cables = cables
        self._chance = chance
        self.loads: list[FlowLoad] = []
        cables.clear()

    def add(self, ways: Sequence[Element]) -> bool:
        """Whether streams over the members of an element, each way, found room beside those that are there."""
        if self._cables.compute_busy() > SPARSE:
            return False
        before, foreign = len(self.loads), self._cables.list_taken()
        for each in ways:
            self._fill(each, foreign)
        return len(self.loads) > before

    def _fill(self, element: Element, foreign: Collection[Cable]) -> None:
        groups = Crossing(self._request, element).list_pairs()
        graph = self._cables.graph
        for direction in element.ways if groups else ():
            way = graph.way(self._request.fabric.links[direction.link], direction.source)
            members = len(graph.links[way >> 1].members)
            for cable in ((way, member) for member in range(members)):
                if self._send(cable, groups, foreign):
                    further = self._cables.count_streams(cable, members) - 1
                    all(self._send(cable, groups, foreign) for _ in range(further))

    def _send(self, wanted: Cable, groups: Sequence[tuple[Group, Group]], foreign: Collection[Cable]) -> bool:
        """Send one more stream over a member, if it has room and nodes that are free have a port that means it."""
        for _ in range(PAIRS):
            one, other = self._chance.choice(groups)
            flow = Flow(self._chance.choice(one.nodes), self._chance.choice(other.nodes))
            if flow.source == flow.sink or not self._cables.is_free(flow):
                continue
            port = self._cables.find_port(flow, wanted, foreign, self._chance)
            if port is not None:
                self.loads.append(FlowLoad((flow,), port=port))
                return True
        return False


class _Cables:
    """The member cables of a fabric: what each carries in the round that is being made, and how often it was used.

    Each machine sends once and receives once in a round.
    """

    def __init__(self, classes: FlowClasses) -> None:
        self.flow_classes = classes
        self.walks = StreamPaths(classes.routes)
        self.graph = classes.routes.graph
        self._taken: dict[Cable, float] = {}
        self._ends: set[tuple[str, str]] = set()
        self._used: Counter[Hashable] = Counter()
        self._next = 0

    @property
    def crossed(self) -> str:
        """How many of the directed cables any flow has crossed so far, in words."""
        every = sum(2 * link.count for link in self.graph.links if not link.standby)
        return f"{sum(isinstance(each, tuple) for each in self._used):,} of {every:,} directed cables are crossed"

    def clear(self) -> None:
        """Begin another round."""
        self._taken = {}
        self._ends = set()

    def steer(self, pairs: Sequence[Pair]) -> tuple[list[FlowLoad], list[Pair]]:
        """A round of as many of ``pairs`` as find free members, in order, and those that do not."""
        self.clear()
        loads: list[FlowLoad] = []
        waiting: list[Pair] = []
        for pair in pairs:
            flow = Flow(*pair)
            port = self._port(flow) if self.is_free(flow) else None
            if port is None:
                waiting.append(pair)
            else:
                loads.append(FlowLoad((flow,), port=port))
        return loads, waiting

    def is_free(self, flow: Flow) -> bool:
        """Whether the machine that sends does not yet send in this round, nor the one that receives receive."""
        return self._ends.isdisjoint(self._list_ends(flow))

    def _list_ends(self, flow: Flow) -> set[tuple[str, str]]:
        one, other = self.flow_classes.find_sides(flow.source, flow.sink)
        return {("out", one.device if one else flow.source), ("in", other.device if other else flow.sink)}

    def compute_busy(self) -> float:
        """The share of the directed cables between switches that anything crosses in this round."""
        every = sum(2 * len(self.graph.links[number].members) for number in self._inner)
        return sum(way >> 1 in self._inner for way, _ in self._taken) / every if every else 0.0

    @cached_property
    def _inner(self) -> frozenset[int]:
        """The numbers of the links between switches."""
        switches = self.flow_classes.routes.fabric.switches
        links = enumerate(self.graph.links)
        return frozenset(number for number, link in links if link.a in switches and link.b in switches)

    def count_streams(self, cable: Cable, members: int) -> int:
        """Streams for a member with one on it: all that it carries, or one less if that shows a slow or lost member.

        Then one that takes another way within the LAG slows nobody.
        """
        rate, room = self._taken[cable], FULL_AT * self._room(cable)
        most = max(int(room / rate), 1)
        enough = max(LOADED, SHOWN * (members - 1) / members) * room
        return most - 1 if (most - 1) * rate >= enough else most

    def list_taken(self) -> frozenset[Cable]:
        """The cables that anything crosses in this round."""
        return frozenset(self._taken)

    def find_port(self, flow: Flow, wanted: Cable, foreign: Collection[Cable], chance: random.Random) -> int | None:
        """A source port that puts ``flow`` on a member, on no ``foreign`` cable and where there is room; else None."""
        flow_class = self.flow_classes.find_class(flow.source, flow.sink)
        ways = self.walks.ports(flow)
        if flow_class is None or not ways:
            return None
        for offset in chance.sample(range(ways), min(ways, TRIES)):
            path = self.walks.path(flow, PortForks(FIRST_PORT + offset))
            cables = {(step.way, step.member) for step in path}
            if wanted in cables and cables.isdisjoint(foreign) and self._take(flow, path, flow_class.nominal):
                return FIRST_PORT + offset
        return None

    def _port(self, flow: Flow) -> int | None:
        """The source port that puts ``flow`` on free members; None where none of those tried does."""
        flow_class = self.flow_classes.find_class(flow.source, flow.sink)
        rate = flow_class.nominal if flow_class is not None else 0.0
        least = _LeastUsed(self)
        path = self.walks.path(flow, least)
        if self._take(flow, path, rate):
            return make_port(iter(least.digits))
        ways = self.walks.ports(flow)
        self._next += 1
        for offset in range(min(ways, TRIES)):
            port = FIRST_PORT + (self._next + offset) % ways
            if self._take(flow, self.walks.path(flow, PortForks(port)), rate):
                return port
        return None

    def _take(self, flow: Flow, path: Sequence[CableStep], rate: float) -> bool:
        """Put ``flow`` on a path; False where that has no room for it."""
        cables = [(step.way, step.member) for step in path]
        if any(self._taken.get(cable, 0.0) + rate > FULL_AT * self._room(cable) for cable in cables):
            return False
        for cable in cables:
            self._taken[cable] = self._taken.get(cable, 0.0) + rate
            self._used[cable] += 1
        self._ends |= self._list_ends(flow)
        return True

    def _room(self, cable: Cable) -> float:
        """The load that a member may carry, as its part of the load of its link."""
        link = self.graph.links[cable[0] >> 1]
        return float(self.flow_classes.capacity[cable[0]]) * link.members[cable[1]] / sum(link.members)

    def rank(self, among: Hashable) -> tuple[float, int]:
        """The cost of a choice: how much is on it in this round, and how often it was used before."""
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
