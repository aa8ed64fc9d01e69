"""Yardsticks of a round that still runs: what each of its tests should reach, as it is judged by when it has ended.

Nothing is judged with it: it stands beside numbers of intervals on the screen. Flows are expected to reach what they
should if all tests of the round run at once, as they are meant to.
"""

from collections.abc import Mapping, Sequence

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.criterion_match import speaks_of_labels, speaks_of_test
from benchconsole.probes.judging.round_flows import RoundFlows
from benchconsole.probes.judging.round_ways import RoundWays, join_ways
from benchconsole.probes.model.interval import Interval
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import INWARD, Against, Reading, Result, Round, Test
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion
from benchconsole.topology.units import Unit


class RunningRound:
    """The yardsticks of ``planned``: ``prepare`` takes long, afterwards ``find_expected`` answers at once.

    ``ways`` are the links that its flows cross, None before they are known and where it has no flows.
    """

    def __init__(self, context: JudgingContext, planned: Round) -> None:
        self._context = context
        self._round = planned
        self._tests = {test.id: test for test in planned.tests}
        self._flows: dict[str, Mapping[tuple[str, bool], float]] = {}
        self._bounds: Sequence[Criterion] = ()
        self.ways: RoundWays | None = None

    def prepare(self) -> None:
        """Compute what every flow should reach. RoutingError where one of them has no path."""
        self._bounds = [
            each
            for each in self._context.criteria
            if each.basis is Basis.ABSOLUTE and each.comparator is Comparator.AT_LEAST and not each.is_of_session
        ]
        read: dict[str, RoundFlows] = {}
        for name in self._context.metrics:
            if self._is_of_flows(name) and name.partition(".")[0] in self._round.probes:
                read[name] = self._read_flows(name)
                self._flows[name] = _list_expected(read[name])
        self.ways = join_ways(self._context.routes.graph, read)

    def find_expected(self, test: str, interval: Interval) -> float | None:
        """The value that a number of a test should reach, in its base unit; None where nothing says so beforehand."""
        if self._is_of_flows(interval.metric) and self._tests[test].flows:
            return self._flows.get(interval.metric, {}).get((test, INWARD in interval.labels))
        return self._find_bound(self._tests[test], interval)

    def _is_of_flows(self, metric: str) -> bool:
        known = self._context.metrics.get(metric)
        return known is not None and known.against is Against.FABRIC

    def _read_flows(self, metric: str) -> RoundFlows:
        """The flows of the tests that give ``metric``."""
        probe = metric.partition(".")[0]
        results = tuple(_assume_numbers(test, metric) for test in self._round.tests if test.probe == probe)
        assumed = ClosedRound(self._round, results, CloseReason.COMPLETE, 0.0, 0.0)
        return RoundFlows(self._context.flows, assumed, metric)

    def _find_bound(self, test: Test, interval: Interval) -> float | None:
        """The highest number that a criterion asks of what this test measures."""
        bounds = (
            each.required
            for each in self._bounds
            if each.metric == interval.metric
            and speaks_of_test(each, test)
            and speaks_of_labels(each, interval.labels, len(test.target.nodes))
        )
        return max(bounds, default=None)


def _list_expected(flows: RoundFlows) -> Mapping[tuple[str, bool], float]:
    """byte/s of each flow, by its test and whether the peer sends it."""
    pairs = zip(flows.measurements, flows.results, flows.expectations, flows.least.rates.tolist(), strict=True)
    return {
        (result.test.id, INWARD in told[0].labels): min(expected.value, least)
        for told, result, expected, least in pairs
    }


def _assume_numbers(test: Test, metric: str) -> Result:
    """A result with a number for each flow of ``test``. The expectations of flows do not depend on the numbers."""
    inward = [flow.source != test.target.node.id for flow in test.flows]
    readings = (Reading(metric, 1.0, Unit.BYTE_RATE, (INWARD,) if each else ()) for each in inward)
    return Result(test, measurements=tuple(readings))
