"""The flows of a closed round: which measurement is of which flow, the links it crosses, what it should have reached.

A round is read and routed once for each metric; the capacity yardstick, the link loads and the findings share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf

import numpy as np

from benchconsole.probes.judging.criterion_match import matching
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import INWARD, Reading, Result, Test
from benchconsole.probes.model.plausible_numbers import describe_implausible
from benchconsole.probes.model.sending import Directions
from benchconsole.probes.planning.stream_placement import PortForks, StreamPaths, compute_most
from benchconsole.probes.readers.numbers import parse_decimal
from benchconsole.topology.arrays import Flags, Floats, Indices, sum_at
from benchconsole.topology.capacity.expect import MODEL, Expectation, expect
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.open_routing import LeastRates, OpenRouting
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Criterion, Direction, Flow
from benchconsole.topology.routing.graph import Graph
from benchconsole.topology.routing.hashed_paths import CableStep
from benchconsole.topology.routing.routes import Route, Routes
from benchconsole.topology.routing.spraying import is_any_sprayed, is_sprayed
from benchconsole.topology.units import Shown

FAIR = 0.75
"""A flow that is slower than this share of another one over a part is clearly slower."""

DATAGRAMS = ("protocol", "udp")
"""The label of flows of datagrams."""

SLOW = 0.85
"""A flow that gave less than this share of what was expected is slow, be it judged or not."""

WHOLE = 1 - 1e-9
"""A share from which a flow crosses a part whole."""

_SHARED = 1024
"""Arrays of which each is kept once for all flows: most have few parts, cross them whole, and met nobody there."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredFlow:
    """One flow that gave a number, in byte/s of payload, with its links and what ``model`` expects of it.

    ``route`` are the links that it crosses, ``parts`` these and the known members of LAGs among them (``Parts``), with
    the ``shares`` of the flow there. Of a flow that ``is_free`` (``OpenRouting``) these are only those that it crosses
    for certain. ``least`` is byte/s that it gets by any routing, infinite where its routing is known. ``loads``
    is byte/s that each of the parts carried while the round ran. ``outpaced`` tells where most of the other flows over
    a part were clearly faster, ``spared`` where others crossed a part whole and none of them was slow.
    """

    result: Result
    measurement: Reading
    flow: Flow
    route: Route
    parts: Indices
    shares: Floats
    loads: Floats
    outpaced: Flags
    spared: Flags
    expected: Expectation
    model: str = MODEL
    least: float = inf
    is_free: bool = False

    @property
    def is_open(self) -> bool:
        """Whether what it gets depends on a routing that is not said."""
        return self.least < inf

    @property
    def value(self) -> float:
        """byte/s that arrived."""
        return self.measurement.value

    @property
    def missing(self) -> float:
        """byte/s that were expected and did not arrive."""
        return max(self.expected.value - self.value, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Crossings:
    """Every part that a flow crosses (``Parts``): the place of the flow, the part, the share of the flow."""

    owner: Indices
    part: Indices
    share: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RefusedFlow:
    """One direction of a test of which not every number can have been measured, and ``because`` of which."""

    result: Result
    measurements: Sequence[Reading]
    because: str


class RoundFlows:
    """The flows of one round that gave a number of one metric; one for each direction of a test.

    Of several measurements of one direction the first tells what the flow reached: those that follow speak of parts.
    Where one of them is no measurement (``refused``) nothing is known of the flow, as if its test had failed.
    """

    def __init__(self, reader: "FlowReader", closed: ClosedRound, metric: str) -> None:
        self._routes = routes = reader.routes
        self._walks = reader.walks
        self._open = reader.open_routing
        self._parts = reader.parts
        self.results: list[Result] = []
        self.measurements: list[Sequence[Reading]] = []
        self.refused: list[RefusedFlow] = []
        sent: list[Flow] = []
        for result in closed.results:
            readings = (each for each in result.measurements if each.metric == metric)
            for measurements in group_by_key((INWARD in each.labels, each) for each in readings).values():
                flow = find_flow(result.test, measurements[0])
                if flow is not None and (because := _describe_refusal(measurements)):
                    self.refused.append(RefusedFlow(result, measurements, because))
                elif flow is not None:
                    self.results.append(result)
                    self.measurements.append(measurements)
                    sent.append(flow)
        self._sent = sent
        self._divided = [routes.route(flow) for flow in sent]
        streams = [result.test.sending.streams for result in self.results]
        limited = limit_flows(routes.graph, sent, self._divided, streams)
        if is_any_sprayed(routes.fabric):  # packets of one stream take every way
            limited = [own if is_sprayed(routes, own) else each for own, each in zip(sent, limited, strict=True)]
        self.flows: Sequence[Flow] = limited

    @cached_property
    def least(self) -> LeastRates:
        """Which flows are open, for their routing is not said, and byte/s that each of these gets at least."""
        found = self._open.bound(self._sent, self._divided)
        none = np.zeros(len(self.flows), bool)
        return LeastRates(none, none, np.full(len(self.flows), inf)) if found is None else found

    @cached_property
    def _sure(self) -> Floats:
        """byte/s that each flow should have reached by whatever routing."""
        return np.minimum([each.value for each in self.expectations], self.least.rates)

    @cached_property
    def _paths(self) -> Mapping[int, list[CableStep]]:
        """The paths of steered flows, by the place of the flow."""
        return {
            place: path
            for place, (result, flow) in enumerate(zip(self.results, self.flows, strict=True))
            if INWARD not in self.measurements[place][0].labels
            and not self.least.is_free[place]
            and (path := find_steered_path(self._walks, result.test, flow))
        }

    @cached_property
    def routes(self) -> list[Route]:
        """The links that each flow crosses: those that it was steered over, or all when it divides ideally."""
        return [
            divided if (path := self._paths.get(place)) is None else _make_route(path)
            for place, divided in enumerate(self._divided)
        ]

    @cached_property
    def crossings(self) -> Crossings:
        rows = [self._list_crossed(place, route) for place, route in enumerate(self.routes)]
        counts = [len(parts) for parts, _ in rows]
        return Crossings(
            np.repeat(np.arange(len(counts)), counts),
            np.concatenate([parts for parts, _ in rows]),
            np.concatenate([shares for _, shares in rows]),
        )

    def _list_crossed(self, place: int, route: Route) -> tuple[Indices, Floats]:
        """The parts that a flow crosses for certain, and its share there."""
        path = self._paths.get(place)
        if path is not None:
            parts = self._parts.on_path(path)
            return parts, np.ones(len(parts))
        if self.least.is_free[place]:
            is_certain = self._open.find_certain(route)
            return route.ways[is_certain], route.shares[is_certain]
        return route.ways, route.shares

    @cached_property
    def _starts(self) -> Indices:
        """Where the crossings of each flow begin, and the last ones end."""
        return np.searchsorted(self.crossings.owner, np.arange(len(self.flows) + 1))

    def find_own_crossings(self, place: int) -> slice:
        """The positions among ``crossings`` that are of the flow at ``place``."""
        return slice(int(self._starts[place]), int(self._starts[place + 1]))

    @cached_property
    def values(self) -> Floats:
        """byte/s that each flow reached."""
        return np.array([measurements[0].value for measurements in self.measurements])

    @cached_property
    def loads(self) -> Floats:
        """byte/s over every part, by its number, while these flows ran."""
        return self._sum_at_parts(self.values)

    @cached_property
    def offered(self) -> Floats:
        """byte/s that every part should have carried."""
        return self._sum_at_parts(self._sure)

    def _sum_at_parts(self, values: Floats) -> Floats:
        crossed = self.crossings
        return sum_at(crossed.share * values[crossed.owner], crossed.part, self._parts.size)

    @cached_property
    def outpaced(self) -> Flags:
        """Per crossing whether more than half of the other flows that crossed the part whole were clearly faster."""
        crossed = self.crossings
        found = np.zeros(len(crossed.part), bool)
        whole = np.flatnonzero(crossed.share > WHOLE)
        part, value = crossed.part[whole], self.values[crossed.owner[whole]]
        # One sorted key for part and rate: rates are brought below 1, parts are whole numbers.
        scale = 2 * float(value.max(initial=1.0)) / FAIR
        keys = np.sort(part + value / scale)
        last = np.searchsorted(keys, part + 1.0, side="left")
        others = last - np.searchsorted(keys, part.astype(float), side="left") - 1
        faster = last - np.searchsorted(keys, part + value / FAIR / scale, side="right")
        found[whole] = 2 * faster > others
        return found

    @cached_property
    def assumed(self) -> Flags:
        """Per flow whether its path is only assumed, by its source port."""
        found = np.zeros(len(self.flows), bool)
        found[list(self._paths)] = True
        return found

    @cached_property
    def alone(self) -> Flags:
        """Per flow whether its path is only assumed, and little else was busy: others hardly met it by chance."""
        named = [bool(result.test.target.options.get("share")) for result in self.results]
        return np.asarray(self.assumed & np.array(named, bool), bool)

    @cached_property
    def slow(self) -> Flags:
        """Per flow whether it gave clearly less than it should have."""
        return np.asarray(self.values < SLOW * self._sure, bool)

    def find_shares(self, *, datagrams: bool) -> tuple[Sequence[tuple[str, str]], Floats]:
        """The ends of each flow whose path and routing are known, and what it gave as a share of what was expected.

        Those of ``datagrams``, or all others: a sender of datagrams holds back for nobody.
        """
        alike = np.array([(DATAGRAMS in measured[0].labels) == datagrams for measured in self.measurements], bool)
        chosen = np.flatnonzero(~(self.assumed | self.least.is_open) & alike)
        ends = [(str(self.flows[place].source), str(self.flows[place].sink)) for place in chosen.tolist()]
        expected = np.array([each.value for each in self.expectations])
        return ends, self.values[chosen] / expected[chosen]

    @cached_property
    def spared(self) -> Flags:
        """Per part whether several flows crossed it whole, and not more than one of them gave clearly less."""
        crossed, size = self.crossings, self._parts.size
        whole = crossed.share > WHOLE
        owner, part = crossed.owner[whole], crossed.part[whole]
        slow = np.bincount(part, self.slow[owner], minlength=size)
        return np.asarray((np.bincount(part, minlength=size) > 1) & (slow <= 1), bool)

    @cached_property
    def _members(self) -> Mapping[int, Mapping[Direction, int]]:
        """The members of links that steered flows were put on, by the place of the flow."""
        graph = self._routes.graph
        return {place: {graph.direction(step.way): step.member for step in path} for place, path in self._paths.items()}

    @cached_property
    def expectations(self) -> tuple[Expectation, ...]:
        """The rate that each flow should have reached beside all others of the round; steered ones on their members."""
        return expect(self._routes.fabric, self.flows, routes=self._routes, members=self._members)

    def measured(self, criterion: Criterion) -> tuple[MeasuredFlow, ...]:
        """The flows that ``criterion`` speaks of, each with the first measurement that it means."""
        chosen: list[MeasuredFlow] = []
        meant_result, meant = None, frozenset[str]()
        for place, result in enumerate(self.results):
            if result is not meant_result:
                meant_result, meant = result, frozenset(each.id for each in matching(criterion, result))
            measurement = next((each for each in self.measurements[place] if each.id in meant), None)
            if measurement is not None:
                chosen.append(self._measured(place, measurement))
        return tuple(chosen)

    def find_measured(self, ids: Sequence[str]) -> tuple[MeasuredFlow, ...]:
        """The flows that these measurements are of, in their order; ids of others are left out."""
        known = (self._places[name] for name in ids if name in self._places)
        return tuple(self._measured(place, measurement) for place, measurement in known)

    @cached_property
    def _places(self) -> Mapping[str, tuple[int, Reading]]:
        return {each.id: (place, each) for place, group in enumerate(self.measurements) for each in group}

    def _measured(self, place: int, measurement: Reading) -> MeasuredFlow:
        is_spread = self.expectations[place].model == Model.SPRAYED
        model = Model.STEERED.value if place in self._paths else Model.SPRAYED.value if is_spread else MODEL
        own = self.find_own_crossings(place)
        parts = self.crossings.part[own]
        return MeasuredFlow(
            self.results[place], measurement, self.flows[place], self.routes[place], parts,
            _share_floats(self.crossings.share[own].tobytes()), self.loads[parts],
            _share_flags(self.outpaced[own].tobytes()), _share_flags(self.spared[parts].tobytes()),
            self.expectations[place], model, float(self.least.rates[place]), bool(self.least.is_free[place]),
        )  # fmt: skip


@lru_cache(maxsize=_SHARED)
def _share_floats(values: bytes) -> Floats:
    """The numbers of an array, as the same one for all flows that have the same; nobody can write to it."""
    return np.frombuffer(values)


@lru_cache(maxsize=_SHARED)
def _share_flags(values: bytes) -> Flags:
    """``_share_floats`` for truth values."""
    return np.frombuffer(values, bool)


class FlowReader:
    """Reads the flows of closed rounds over one fabric. Those of the newest round are kept, for it is asked again."""

    def __init__(self, routes: Routes, parts: Parts) -> None:
        self.routes = routes
        self.parts = parts
        self.walks = StreamPaths(routes)
        self.open_routing = OpenRouting(routes)
        self._results: Sequence[Result] | None = None
        self._flows: dict[str, RoundFlows] = {}

    def read(self, closed: ClosedRound, metric: str) -> RoundFlows:
        """The flows of a round that gave a number of ``metric``."""
        if closed.results is not self._results:
            self._results, self._flows = closed.results, {}
        if metric not in self._flows:
            self._flows[metric] = RoundFlows(self, closed, metric)
        return self._flows[metric]


def find_flow(test: Test, measurement: Reading) -> Flow | None:
    """The flow of a test between two nodes that ``measurement`` is of; None for other tests.

    Its demand is the rate that it is held to.
    """
    if not test.flows:
        return None
    flow = test.flows[0]
    if INWARD in measurement.labels:
        _, peer = test.target.nodes
        flow = flow if flow.source == peer.id else flow.turned()
    return flow


def _describe_refusal(measurements: Sequence[Reading]) -> str:
    """Why measurements of a flow cannot all have been made; empty where they can."""
    return next(filter(None, (describe_implausible(each, Shown.NETWORK) for each in measurements)), "")


def find_margin(reading: Reading) -> float:
    """Seconds that a test sent both before those that count and after them; tests that far apart are told together."""
    told = dict(reading.labels)
    return min(parse_decimal(told.get(name, "")) or 0.0 for name in ("omit", "tail"))


def limit_flows(graph: Graph, flows: Sequence[Flow], routes: Sequence[Route], streams: Sequence[int]) -> list[Flow]:
    """``flows`` with the demand that they can have: also no more than their ``streams`` can reach on these routes.

    Each stream is on one member of every LAG on its way, and all on the same where the hash sees addresses only.
    """
    if not flows:
        return []
    found = []
    for flow, route, most in zip(flows, routes, compute_most(graph, routes, streams).tolist(), strict=True):
        least = float((graph.payload[route.ways] / route.shares).min())
        demands = [] if flow.demand is None else [flow.demand]
        if most < least * (1 - 1e-9):
            demands.append(most)
        found.append(replace(flow, demand=min(demands)) if demands else flow)
    return found


def find_steered_path(walks: StreamPaths, test: Test, flow: Flow) -> list[CableStep]:
    """The cables that a steered test was put on by its source port; empty where that is not known."""
    port, forward = test.sending.source_port, test.sending.directions is Directions.FORWARD
    if test.target.options.get("design") != "steered" or port is None or test.sending.streams != 1 or not forward:
        return []
    return walks.path(flow, PortForks(port)) if walks.ports(flow) > 1 else []


def _make_route(path: Sequence[CableStep]) -> Route:
    ways = np.array([step.way for step in path], np.intp)
    return Route(ways, np.ones(len(ways)))
