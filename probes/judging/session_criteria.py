"""Judges criteria that ask all numbers of a session together: a statistic, or shares of other numbers. Pure.

A statistic is one judgement. Shares of another metric are one for each node, pair or set, of the median of its numbers;
those of peers and of a baseline are one for each set of its labels as well.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from benchconsole.probes.judging.criterion_match import speaks_of_labels, speaks_of_test
from benchconsole.probes.judging.grading import grade, rounded
from benchconsole.probes.judging.summed_rates import sum_rates
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.labels import read_typed
from benchconsole.probes.model.measuring import Labels, Reading, Result, Test
from benchconsole.probes.model.plausible_numbers import describe_implausible
from benchconsole.probes.planning.sweeps import REPETITION
from benchconsole.probes.statistics.peers import FEWEST
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.baseline import BaselineNumbers, BaselineValue
from benchconsole.topology.model.conditions import accept_labels
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, OtherMetric
from benchconsole.topology.model.statistic import compute_statistic
from benchconsole.topology.units import RATES, Shown, counted, percent, show

NO_BASELINE = "no session is named as baseline"
Shows = Callable[[str], Shown]
"""How values of a metric are written."""

FindExcess = Callable[[Test, Reading], str]
"""Why a number is more than the described machine gives; empty where it is not."""

_PARTS = ("client", "device", "disk", "nic", "stream")
"""Labels that tell the parts of a load from each other, whose numbers add up; ``all`` names no part."""


class Number(NamedTuple):
    """One measurement with its result; ``wrong`` says why it cannot be right, empty where it may be."""

    reading: Reading
    result: Result
    wrong: str

    @property
    def test(self) -> Test:
        return self.result.test


@dataclass(frozen=True, slots=True)
class SessionJudgement:
    """One statistic, or one subject, held against a criterion of the session.

    ``value`` and ``required`` are in the unit of the metric, or shares where ``is_share``; None where they are not
    known, and ``because`` says why. ``number`` counts the measurements behind the value; ``nodes`` and ``tests`` are
    empty of a statistic, which is no node's.
    """

    criterion: Criterion
    subject: str
    level: Level
    because: str
    value: float | None
    required: float | None
    number: int
    is_share: bool = False
    nodes: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


def make_number(reading: Reading, result: Result, find_excess: FindExcess, shown: Shown = Shown.PLAIN) -> Number:
    """The measurement with its result, and why it cannot be right."""
    wrong = describe_implausible(reading, shown) or find_excess(result.test, reading)
    return Number(reading, result, wrong)


def judge_session(
    criteria: Iterable[Criterion],
    results: Iterable[Result],
    shows: Shows,
    find_excess: FindExcess,
    baseline: BaselineNumbers | None = None,
) -> Iterator[SessionJudgement]:
    """Every judgement on the results that count; nothing of a criterion of which nothing was measured.

    Of what rests on a number that cannot be right nothing is known. ``baseline`` are the numbers of an earlier session,
    for criteria that ask for shares of them.
    """
    asked = [each for each in criteria if each.is_of_session]
    if not asked:
        return
    wanted = {each.metric for each in asked} | {each.other.metric for each in asked if each.other is not None}
    by_metric = group_by_key(
        (reading.metric, make_number(reading, result, find_excess, shows(reading.metric)))
        for result in results
        for reading in result.measurements
        if reading.metric in wanted
    )
    for criterion in asked:
        numbers = [each for each in by_metric.get(criterion.metric, ()) if _is_meant(criterion, each)]
        if not numbers:
            continue
        if criterion.statistic:
            yield _judge_statistic(criterion, numbers, shows(criterion.metric))
        elif criterion.other is not None:
            yield from _judge_shares(criterion, numbers, by_metric.get(criterion.other.metric, ()), criterion.other)
        elif criterion.basis is Basis.PEERS:
            yield from _judge_peers(criterion, numbers)
        else:
            yield from _judge_against_baseline(criterion, numbers, baseline or BaselineNumbers(why=NO_BASELINE))


def _is_meant(criterion: Criterion, each: Number) -> bool:
    return speaks_of_test(criterion, each.test) and speaks_of_labels(
        criterion, each.reading.labels, len(each.test.target.nodes)
    )


def find_wrong(numbers: Iterable[Number]) -> str:
    """Why one of ``numbers`` cannot be right, with the place where it was measured; empty where all may be."""
    return next((f"{each.test.target.key}: {each.wrong}" for each in numbers if each.wrong), "")


# -- a statistic


def _judge_statistic(criterion: Criterion, numbers: Sequence[Number], shown: Shown) -> SessionJudgement:
    weights = [_count_values(each) for each in numbers]
    subject = f"{criterion.statistic} of {counted(sum(weights), 'value')}"
    scales = _list_scales(criterion, numbers)
    why = find_wrong(numbers) or _find_obstacle(criterion, numbers, scales, weights)
    if why:
        return SessionJudgement(criterion, subject, Level.UNKNOWN, why, None, None, len(numbers))
    is_share = criterion.basis is not Basis.ABSOLUTE
    step = _find_step(criterion, scales[0] if is_share else None)
    values = [each.reading.value / scale for each, scale in zip(numbers, scales, strict=True)]
    value = _pool(criterion.statistic, values, weights)
    unit = numbers[0].reading.unit

    def write(amount: float) -> str:
        return f"{amount * 100:.1f} %" if is_share else show(amount, unit, shown)

    level, words = _grade(criterion, value, step, write)
    if criterion.statistic == "sum" and unit in RATES:
        level, words = _weigh_times(criterion, numbers, values, step, write)
    told = f"{write(value)}{_name_base(criterion)}, {words}"
    return SessionJudgement(criterion, subject, level, told, value, criterion.required, len(numbers), is_share)


def _find_obstacle(
    criterion: Criterion, numbers: Sequence[Number], scales: Sequence[float], weights: Sequence[int]
) -> str:
    """Why the statistic of ``numbers`` is not known, or cannot be held against its bound; empty where it can."""
    if not all(scales):
        return "no peak is declared of some of its nodes"
    if criterion.basis is Basis.PEAK and criterion.rounding and not criterion.rounds_share and len({*scales}) > 1:
        return "its nodes have unlike peaks: a step of rounding is no one share of them, expected one in percent"
    if criterion.statistic == "sum":
        return _find_no_sum(numbers)
    if criterion.statistic not in _POOLED and len(numbers) > 1 and any(weight > 1 for weight in weights):
        return f"a typed {criterion.statistic} cannot be joined with other numbers"
    return ""


def _find_no_sum(numbers: Sequence[Number]) -> str:
    """Why ``numbers`` do not add up; empty where they do."""
    if len({each.test.round for each in numbers}) > 1:
        return "its tests ran in several rounds, not at once: their sum is no rate"
    for own in group_by_key((each.test.id, each.reading.labels) for each in numbers).values():
        if len(own) > 1 and not _are_parts(own):
            return f"a test has {len(own)} numbers, of which none is a part of another load: name one of them (where)"
    return ""


def _are_parts(several: Sequence[Labels]) -> bool:
    """Whether numbers with these labels are those of the parts of one load."""
    parts = [tuple(pair for pair in labels if pair[0] in _PARTS) for labels in several]
    others = {tuple(pair for pair in labels if pair[0] not in _PARTS) for labels in several}
    is_part = all(own and all(value != "all" for _, value in own) for own in parts)
    return is_part and len(others) == 1 and len({*parts}) == len(parts)


def _weigh_times(
    criterion: Criterion,
    numbers: Sequence[Number],
    values: Sequence[float],
    step: float,
    write: Callable[[float], str],
) -> tuple[Level, str]:
    """The level of a sum of rates, by the time in which its tests ran; ``values`` are those added, maybe shares."""
    summed = sum_rates(
        (each.result, replace(each.reading, value=value)) for each, value in zip(numbers, values, strict=True)
    )
    level, amount = summed.grade(lambda each: _grade(criterion, each, step, write)[0])
    asked = (
        f"{'at least' if criterion.comparator is Comparator.AT_LEAST else 'at most'} {write(criterion.required)} asked"
    )
    words = asked if level is Level.UNKNOWN else _grade(criterion, amount, step, write)[1]
    return level, f"{words}{summed.describe(write)}"


_POOLED = ("mean", "lowest", "highest", "sum")
"""Statistics of parts that give that of the whole."""


def _count_values(each: Number) -> int:
    """How many values a number stands for: one, or those of a typed statistic."""
    typed = read_typed(each.reading.labels)
    return 1 if typed is None else typed.number


def _pool(statistic: str, values: Sequence[float], weights: Sequence[int]) -> float:
    """The statistic over values of which some are typed statistics of several."""
    if statistic == "mean":
        return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)
    return compute_statistic(statistic, values)


def _list_scales(criterion: Criterion, numbers: Sequence[Number]) -> list[float]:
    """The divisor of each number of a statistic; 0 where it is not known. A sum is a share of the sum of the peaks."""
    found = [_find_scale(criterion, each.test) for each in numbers]
    is_whole = criterion.statistic == "sum" and criterion.basis is Basis.PEAK and all(found)
    return [math.fsum(found)] * len(found) if is_whole else found


def _find_scale(criterion: Criterion, test: Test) -> float:
    if criterion.basis is Basis.REFERENCE:
        return criterion.reference
    if criterion.basis is not Basis.PEAK:
        return 1.0
    peaks = [node.hardware.peak for node in test.target.nodes]
    return math.fsum(peak or 0.0 for peak in peaks) if all(peaks) else 0.0


def _name_base(criterion: Criterion) -> str:
    return "" if criterion.basis is Basis.ABSOLUTE else f" of {criterion.basis.value}"


def _find_step(criterion: Criterion, base: float | None) -> float:
    """The step of rounding, of a share of ``base`` as a share; 0 for none."""
    is_unit = base is None or criterion.rounds_share
    return criterion.rounding if is_unit else criterion.rounding / (base or math.inf)


def _grade(criterion: Criterion, value: float, step: float, write: Callable[[float], str]) -> tuple[Level, str]:
    """The level, and which bound it is told by."""
    level = grade(value, criterion.required, comparator=criterion.comparator, target=criterion.target, step=step)
    least = criterion.comparator is Comparator.AT_LEAST
    bound = criterion.target if level is Level.WATCH and criterion.target is not None else criterion.required
    note = f", rounded to {write(rounded(value, step))}" if step else ""
    if level is Level.PASS:
        return level, f"{'at least' if least else 'at most'} {write(bound)}{note}"
    which = "target" if level is Level.WATCH else "required"
    return level, f"{'below' if least else 'above'} the {which} {write(bound)}{note}"


# -- shares of subjects


class _Subject(NamedTuple):
    """The subject of a share: a node, a pair or a set, with its numbers."""

    name: str
    numbers: Sequence[Number]

    @property
    def value(self) -> float:
        return median(each.reading.value for each in self.numbers)

    @property
    def wrong(self) -> str:
        """Why one of its numbers cannot be right; empty where all may be."""
        return find_wrong(self.numbers)


def _list_subjects(numbers: Iterable[Number]) -> Iterator[_Subject]:
    for name, own in group_by_key((each.test.target.key, each) for each in numbers).items():
        yield _Subject(name, own)


def _judge_shares(
    criterion: Criterion, numbers: Sequence[Number], others: Iterable[Number], other: OtherMetric
) -> Iterator[SessionJudgement]:
    """Shares of another metric of the same subject."""
    meant = (each for each in others if _carries(other.where, each))
    bases = {each.name: each for each in _list_subjects(meant)}
    named = " ".join((other.metric, *(value for _, value in other.where)))
    for subject in _list_subjects(numbers):
        base = bases.get(subject.name)
        why = f"no value of {named} was measured there"
        if base is not None:
            why = base.wrong or f"{named} is not above 0 there"
        value = None if base is None or base.wrong else base.value
        yield _judge_share(criterion, subject, value, f"of {named}", why)


def _carries(where: Labels, each: Number) -> bool:
    labels = {"nodes": str(len(each.test.target.nodes)), **dict(each.reading.labels)}
    return not where or accept_labels(where, labels)


def _judge_peers(criterion: Criterion, numbers: Sequence[Number]) -> Iterator[SessionJudgement]:
    """Shares of the median of those of the same classes, cohorts and labels; itself is among them."""
    subjects = [_Subject(name, own) for name, own in _list_places(numbers)]
    kinds = group_by_key((_name_kind(each), each) for each in subjects if not each.wrong)
    medians: Mapping[tuple[object, ...], float] = {
        kind: median(each.value for each in own) for kind, own in kinds.items() if len(own) >= FEWEST
    }
    for subject in subjects:
        base = medians.get(_name_kind(subject))
        few = f"it has fewer than {FEWEST - 1} peers of its class and cohorts"
        why = few if base is None else "the median of its peers is not above 0"
        yield _judge_share(criterion, subject, base, "of the median of its peers", why)


def _name_kind(subject: _Subject) -> tuple[object, ...]:
    target = subject.numbers[0].test.target
    kinds = tuple(sorted((node.hardware.name, node.cohorts) for node in target.nodes))
    return (kinds, make_place_labels(subject.numbers[0].reading.labels))


def _judge_against_baseline(
    criterion: Criterion, numbers: Sequence[Number], baseline: BaselineNumbers
) -> Iterator[SessionJudgement]:
    """Shares of what the same place gave in an earlier session."""
    for name, own in _list_places(numbers):
        key, labels = own[0].test.target.key, make_place_labels(own[0].reading.labels)
        base, why = _find_base(baseline, baseline.values.get((criterion.metric, key, labels)), own)
        yield _judge_share(criterion, _Subject(name, own), base, f"of the baseline {baseline.name}", why)


def _list_places(numbers: Iterable[Number]) -> Iterator[tuple[str, Sequence[Number]]]:
    """The numbers of each place, with its name: the target, and its labels where it has several sets of them."""
    places = group_by_key(((each.test.target.key, make_place_labels(each.reading.labels)), each) for each in numbers)
    several = Counter(key for key, _ in places)
    for (key, labels), own in places.items():
        told = labels if several[key] > 1 else ()
        yield " ".join((key, *(f"{label} {value}" for label, value in told))), own


def _find_base(
    baseline: BaselineNumbers, value: BaselineValue | None, numbers: Sequence[Number]
) -> tuple[float | None, str]:
    """The number that a place is held against, or why there is none: unlike options give unlike numbers."""
    if value is None:
        return None, baseline.why or f"the baseline {baseline.name} has no value of it there"
    if value.wrong:
        return None, f"the baseline {baseline.name} has a wrong number of it there: {value.wrong}"
    unlike = next(filter(None, (value.find_unlike(each.test.target.options) for each in numbers)), "")
    if unlike:
        return None, f"the baseline {baseline.name} measured it otherwise: {unlike}"
    return value.median, f"the baseline {baseline.name} has no value above 0 there"


def make_place_labels(labels: Labels) -> Labels:
    """The labels that tell one measured place from another: without the number of a repetition."""
    return tuple(pair for pair in labels if pair[0] != REPETITION)


def _judge_share(criterion: Criterion, subject: _Subject, base: float | None, words: str, why: str) -> SessionJudgement:
    target = subject.numbers[0].test.target
    nodes = tuple(str(node.id) for node in target.nodes)
    tests = tuple(dict.fromkeys(each.test.id for each in subject.numbers))
    number = len(subject.numbers)
    why = subject.wrong or why
    if not base or base <= 0 or subject.wrong:
        return SessionJudgement(criterion, subject.name, Level.UNKNOWN, why, None, None, number, True, nodes, tests)
    value = subject.value / base
    level, bound = _grade(criterion, value, _find_step(criterion, base), percent)
    because = f"{value * 100:.1f} % {words}, {bound}"
    return SessionJudgement(
        criterion, subject.name, level, because, value, criterion.required, number, True, nodes, tests
    )
