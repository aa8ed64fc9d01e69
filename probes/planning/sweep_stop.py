"""The early end of a sweep, decided by its closed rounds alone: a resumed session ends where the first would have.

A rule looks along the last axis, with the others held. A point counts once all its rounds are closed; a point with a
test that gave no number is no evidence for either side and is passed over.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchconsole.probes.api import Probe
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import FailedAt, Failure, Labels, Result, Round, Swept, TestOutcome
from benchconsole.probes.planning.sweep_points import REPETITION
from benchconsole.topology.model.sweep import Ending
from benchconsole.topology.units import Unit, counted, percent

_THROUGHPUTS = (Unit.BYTE_RATE, Unit.FLOP_RATE, Unit.PER_SECOND)

Line = tuple[int, Labels]
"""A sweep, and a point without its last axis."""

Totals = Mapping[Labels, float]
"""A metric at one point, by labels."""


def find_throughput_metric(probe: Probe) -> str:
    """The first metric of ``probe`` that is a throughput: bytes, else operations, in a second; empty without one."""
    found = [metric for metric in probe.metrics if metric.unit in _THROUGHPUTS]
    return min(found, key=lambda metric: _THROUGHPUTS.index(metric.unit)).name if found else ""


def make_skipped_results(each: Round, why: str) -> tuple[Result, ...]:
    """The results of a round that is not run."""
    return tuple(Result(test, failure=Failure(FailedAt.SKIPPED, why, test.target.node.id)) for test in each.tests)


def was_skipped(result: Result) -> bool:
    """Whether a rule spared this test."""
    return result.failure is not None and result.failure.stage is FailedAt.SKIPPED


@dataclass(slots=True)
class SweepEndings:
    """The sweeps of one plan with what is known of them. ``add_round`` every closed round, then ask ``find_reason``."""

    plan: Sequence[Round]
    probes: Mapping[str, Probe]
    _closed: dict[int, ClosedRound] = field(default_factory=dict)
    _lines: defaultdict[Line, list[Round]] = field(default_factory=lambda: defaultdict(list))
    _needless: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in self.plan:
            if each.swept is not None and each.swept.ending is not None:
                self._lines[_line(each.swept)].append(each)

    def add_round(self, closed: ClosedRound) -> str:
        """Take in a closed round; what has ended with it, in words, empty where nothing has."""
        self._closed[closed.round.number] = closed
        swept = closed.round.swept
        line = self._lines.get(_line(swept), []) if swept is not None else []
        if swept is None or swept.ending is None or not self._needless.keys().isdisjoint(each.number for each in line):
            return ""
        by_point: defaultdict[str, list[Round]] = defaultdict(list)  # in the order in which these are first run
        for each in line:
            by_point[_point(each)].append(each)
        points = list(by_point.values())
        place, because = self._failed(closed.round, swept.ending, points) or self._flat(points, swept.ending)
        later = [each for point in points[place:] for each in point if each.number not in self._closed]
        self._needless.update((each.number, because) for each in later)
        return f"{closed.round.stage}: {because}; {counted(len(later), 'round')} not needed any more" if later else ""

    def find_reason(self, each: Round) -> str:
        """Why a round need not be run any more; empty where it must."""
        return self._needless.get(each.number, "")

    def _failed(self, each: Round, ending: Ending, points: Sequence[Sequence[Round]]) -> tuple[int, str] | None:
        """From which point on nothing is needed because of a failure in this round, and why; None without one."""
        for result in self._closed[each.number].results if ending.on_failure and each.swept is not None else ():
            failure = result.failure
            if failure is not None and failure.stage.outcome is TestOutcome.FAILED:
                place = next(index for index, point in enumerate(points) if _point(point[0]) == _point(each))
                return place, f"ended by a failure at {_point(each)}: {failure.stage} on {failure.node}"
        return None

    def _flat(self, points: Sequence[Sequence[Round]], ending: Ending) -> tuple[int, str]:
        """The same because nothing is gained any more; the number of all points where that is not so."""
        best: Totals = {}
        at, without = "", 0
        for place, point in enumerate(points if ending.gain is not None else ()):
            if any(each.number not in self._closed for each in point):
                break
            metric = ending.metric or find_throughput_metric(self.probes[point[0].probe])
            found = self._totals(point, metric)
            if found and (not best or _gained(best, found, ending.gain or 0.0)):
                best, at, without = found, _point(point[0]), 0
            elif found:
                without += 1
            if without >= ending.after:
                lack = f"{metric} gained less than {percent(ending.gain or 0.0)} since {at}"
                return place + 1, f"ended at {_point(point[0])}: {lack}"
        return len(points), ""

    def _totals(self, point: Sequence[Round], metric: str) -> Totals:
        """The metric at a point by labels: summed over tests, the median of repetitions; empty where one lacks it."""
        sums: defaultdict[Labels, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
        for each in point:
            turn = each.swept.repetition if each.swept is not None else 1
            for result in self._closed[each.number].results:
                if result.failure is not None:
                    return {}
                for found in result.measurements:
                    if found.metric == metric:
                        sums[found.labels][turn] += found.value
        repetitions: defaultdict[Labels, list[float]] = defaultdict(list)
        for labels, times in sums.items():
            for turn, value in times.items():
                same = tuple(pair for pair in labels if pair != (REPETITION, str(turn)))
                repetitions[same].append(value)
        return {labels: median(values) for labels, values in repetitions.items()}


def _gained(best: Totals, found: Totals, gain: float) -> bool:
    """Whether anything grew by that share, of what both have: labels whose values differ throughout are summed over."""
    before_values, values = _values(best), _values(found)
    alike = [name for name in values if before_values.get(name) == values[name]]
    before, now = _over(best, alike), _over(found, alike)
    return any(value >= before[key] * (1 + gain) and value > before[key] for key, value in now.items() if key in before)


def _values(found: Totals) -> dict[str, set[str]]:
    """The values of each label that occur."""
    values: defaultdict[str, set[str]] = defaultdict(set)
    for labels in found:
        for name, value in labels:
            values[name].add(value)
    return values


def _over(found: Totals, names: Sequence[str]) -> Totals:
    """``found`` by the labels ``names`` only, summed over all others."""
    sums: defaultdict[Labels, float] = defaultdict(float)
    for labels, value in found.items():
        sums[tuple(pair for pair in labels if pair[0] in names)] += value
    return sums


def _line(found: Swept) -> Line:
    return found.sweep, found.point[:-1]


def _point(each: Round) -> str:
    return " ".join(f"{name}={value}" for name, value in each.swept.point) if each.swept is not None else ""
