"""Two sessions, or two parts of one, compared metric by metric. Pure.

Compared is what is alike: the same metric with the same labels and the same options of its probe, of the same nodes.
Where any of these differs, the reason is told and no number is given.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import NamedTuple

from benchconsole.console.conclusions.metric_samples import MetricSample, Naming, list_samples
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.measuring import Labels
from benchconsole.probes.statistics.comparison import (
    SAME,
    Comparison,
    Difference,
    Sample,
    StatedMean,
    average_sample,
    compare_means,
    compare_samples,
    join_means,
    judge_subjects,
)
from benchconsole.probes.statistics.consistency import SpreadComparison, compare_spread
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Comparator

Senses = Mapping[str, Comparator | None]
"""Which bound means something, by the name of a metric; None where either may be meant."""


class Outcome(StrEnum):
    """How B stands to A. HIGHER and LOWER are of metrics of which nobody knows which way is better."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    LOWER = "lower"
    MIXED = "mixed"
    SAME = "same"
    NO_EFFECT = "no effect"
    NOT_COMPARABLE = "not comparable"


class Side(NamedTuple):
    """One of both, with its samples."""

    name: str
    samples: Sequence[MetricSample]


@dataclass(frozen=True, slots=True)
class ComparisonChoice:
    """How sides are compared.

    ``varied`` are labels and options that were meant to differ, ``unpaired``: nodes were. Two samples are the same
    within the share ``same``. ``metric`` selects one, or those of a probe. ``spread`` is the standard deviation of
    single values, as a share, that is assumed where nothing tells one.
    """

    senses: Senses
    varied: frozenset[str] = frozenset()
    unpaired: bool = False
    same: float = SAME
    metric: str = ""
    spread: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ComparedMetric:
    """One metric of both sides. ``like`` is a sample of it, ``labels`` are what both have in common.

    ``means`` are those of the means of subjects, in the unit of ``like``; ``left_out`` counts the subjects that only A,
    and only B has. ``why`` says why nothing is compared. ``spread`` is None where too little tells it. ``samples`` are
    those of A and of B where their numbers were compared, else empty. ``sense``: which bound means something.
    ``same`` is the share within which nothing changed.
    """

    like: MetricSample
    labels: Labels
    outcome: Outcome
    means: tuple[float | None, float | None] = (None, None)
    comparison: Comparison | None = None
    left_out: tuple[int, int] = (0, 0)
    why: str = ""
    spread: SpreadComparison | None = None
    samples: tuple[MetricSample, ...] = ()
    sense: Comparator | None = None
    same: float = SAME


def part_session(view: RunView, name: Naming, parts: tuple[str, str]) -> tuple[Side, Side]:
    """Two parts of one session as sides."""
    found = [sample.part(name) for sample in list_samples(view)]
    one, other = (Side(part, [each[part] for each in found if part in each]) for part in parts)
    return one, other


def compare_sides(one: Side, other: Side, choice: ComparisonChoice) -> tuple[ComparedMetric, ...]:
    """Every metric of both sides: what can be compared in the order of A, then what cannot."""
    before, after = _index(one, choice), _index(other, choice)
    places = {key: place for place, key in enumerate(before)}
    pairs = sorted(_match(before, after, choice.varied), key=lambda keys: places[keys[0]])
    found = [_compare(before[mine], after[theirs], _find_common(mine, theirs), choice) for mine, theirs in pairs]
    alone = [
        _explain_alone(key, own[key], against, name, choice.varied)
        for side, own, against, name in ((0, before, after, one.name), (1, after, before, other.name))
        for key in own
        if key not in {keys[side] for keys in pairs}
    ]
    told: set[tuple[str, str]] = set()
    for each in alone:  # both sides of one pair of unlike labels say the same
        if (each.like.key.metric, each.why) not in told:
            told.add((each.like.key.metric, each.why))
            found.append(each)
    return tuple(found)


# -- what belongs together


class _Key(NamedTuple):
    stage: str
    metric: str
    labels: Labels


def _index(side: Side, choice: ComparisonChoice) -> dict[_Key, MetricSample]:
    """The samples of a side that are asked for, by what they are held against each other by."""
    return {
        _Key(sample.key.stage, sample.key.metric, sample.key.labels): sample
        for sample in side.samples
        if choice.metric in ("", sample.key.metric, sample.key.probe)
    }


def _find_common(one: _Key, other: _Key) -> Labels:
    return tuple(pair for pair in one.labels if pair in other.labels)


def _drop(labels: Labels, varied: Set[str]) -> Labels:
    return tuple(pair for pair in labels if pair[0] not in varied)


def _match(before: Iterable[_Key], after: Iterable[_Key], varied: Set[str]) -> Iterator[tuple[_Key, _Key]]:
    """Keys of A and B that belong together.

    Those that are alike come first; then those that have only one counterpart whatever its stage is called; then
    whatever is said of what was varied.
    """
    left = [list(before), list(after)]
    ways: tuple[Callable[[_Key], _Key], ...] = (
        lambda key: key,
        lambda key: key._replace(stage=""),
        lambda key: key._replace(labels=_drop(key.labels, varied)),
        lambda key: key._replace(stage="", labels=_drop(key.labels, varied)),
    )
    for alike in ways:
        one, other = (group_by_key((alike(key), key) for key in own) for own in left)
        found = [(keys[0], other[name][0]) for name, keys in one.items() if len(keys) == len(other.get(name, ())) == 1]
        yield from found
        matched = [{keys[side] for keys in found} for side in (0, 1)]
        left = [[key for key in own if key not in done] for own, done in zip(left, matched, strict=True)]


def _explain_alone(
    key: _Key, sample: MetricSample, against: Iterable[_Key], name: str, varied: Set[str]
) -> ComparedMetric:
    """A sample without a counterpart: unlike labels of the nearest one of its metric, or that there is none."""
    candidates = [each for each in against if each.metric == key.metric]
    if not candidates:
        why = f"only {name} measured it"
    else:
        nearest = min(candidates, key=lambda each: len(set(each.labels) ^ set(key.labels)))
        why = _describe_unlike(key.labels, nearest.labels) or f"{key.stage} against {nearest.stage}"
        if _drop(key.labels, varied) == _drop(nearest.labels, varied):
            why = f"{why}: several may be meant"
    return ComparedMetric(sample, key.labels, Outcome.NOT_COMPARABLE, why=why)


def _describe_unlike(one: Labels, other: Labels) -> str:
    """``threads 16 against 24``; the smaller text first, so that both sides say the same."""
    mine, theirs = dict(one), dict(other)
    names = sorted(name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name))
    parts = []
    for name in names:
        values = sorted((mine.get(name, "none"), theirs.get(name, "none")))
        parts.append(f"{name} {values[0]} against {values[1]}")
    return ", ".join(parts)


# -- one metric


def _compare(one: MetricSample, other: MetricSample, labels: Labels, choice: ComparisonChoice) -> ComparedMetric:
    unlike = _find_unlike_options(one, other, choice.varied)
    if unlike:
        return ComparedMetric(one, labels, Outcome.NOT_COMPARABLE, why=unlike)
    before, after = one.group(), other.group()
    left_out = (0, 0)
    if choice.unpaired:
        after = {f"{name} ": values for name, values in after.items()}  # the same name, and another machine
    else:
        common = [name for name in before if name in after]
        if not common:
            why = f"of other nodes: {_fold(one)} against {_fold(other)}"
            return ComparedMetric(one, labels, Outcome.NOT_COMPARABLE, why=why)
        left_out = len(before) - len(common), len(after) - len(common)
        before, after = ({name: own[name] for name in common} for own in (before, after))
    if one.statistic or other.statistic:
        return replace(_compare_typed(labels, (one, other), (before, after), choice), left_out=left_out)
    found = compare_samples(before, after, choice.same, choice.spread)
    sense = choice.senses.get(one.key.metric)
    outcome = _judge(found.difference, sense)
    means, spread = (_average(before), _average(after)), compare_spread(before, after)
    samples = (one, other)
    return ComparedMetric(one, labels, outcome, means, found, left_out, found.why, spread, samples, sense, choice.same)


def _compare_typed(
    labels: Labels, samples: tuple[MetricSample, MetricSample], groups: tuple[Sample, Sample], choice: ComparisonChoice
) -> ComparedMetric:
    """Typed means against each other, or against the mean of what was measured."""
    other = next((each.statistic for each in samples if each.statistic not in ("", "mean")), "")
    if other:
        why = f"a typed {other} has no error: nothing tells how far such numbers spread"
        means = _average(groups[0]), _average(groups[1])
        return ComparedMetric(samples[0], labels, Outcome.NOT_COMPARABLE, means, why=why)
    one, two = (_state_mean(sample, group) for sample, group in zip(samples, groups, strict=True))
    found = compare_means(one, two, choice.same, choice.spread)
    outcome = _judge(found.difference, choice.senses.get(samples[0].key.metric))
    return ComparedMetric(samples[0], labels, outcome, (one.mean, two.mean), found, why=found.why)


def _state_mean(sample: MetricSample, group: Sample) -> StatedMean:
    """The mean of the subjects of ``group``, with the error that was typed, or that their spread gives."""
    if not sample.statistic:
        return average_sample(group)
    wanted = {name.strip() for name in group}
    unit = sample.key.unit
    typed = zip(sample.subjects, sample.list_typed(), strict=True)
    return join_means([StatedMean(mean, each.find_error(unit), each.number)
                       for subject, (mean, each) in typed if subject in wanted])  # fmt: skip


def _find_unlike_options(one: MetricSample, other: MetricSample, varied: Set[str]) -> str:
    """The options of the probe that differ, in words; only those that all tests of a session have alike."""
    mine, theirs = _read_options(one), _read_options(other)
    unlike = [name for name in mine if name in theirs and mine[name] != theirs[name] and name not in varied]
    return ", ".join(f"{name} {mine[name]} against {theirs[name]}" for name in unlike)


def _read_options(sample: MetricSample) -> dict[str, str | int | float]:
    """The options that all tests of a sample have in common."""
    distinct = {id(test.target.options): test.target.options for test in sample.tests}
    counts = Counter(pair for options in distinct.values() for pair in options.items())
    return {name: value for (name, value), number in counts.items() if number == len(distinct)}


def _fold(sample: MetricSample) -> str:
    return fold_names(sorted({node.id for test in sample.tests for node in test.target.nodes}))


def _average(sample: Sample) -> float:
    return fmean(fmean(values) for values in sample.values())


def _judge(difference: Difference, sense: Comparator | None) -> Outcome:
    if difference not in (Difference.HIGHER, Difference.LOWER):
        return Outcome(difference.value)
    if sense is None:
        return Outcome(difference.value)
    good = Difference.HIGHER if sense is Comparator.AT_LEAST else Difference.LOWER
    return Outcome.BETTER if difference is good else Outcome.WORSE


def judge_each(each: ComparedMetric) -> dict[str, Outcome]:
    """The outcome of each node, pair or set that both sides of a metric have, by the comparison of all of them."""
    if each.comparison is None or not each.samples:
        return {}
    before, after = (sample.group() for sample in each.samples)
    found = judge_subjects(each.comparison, before, after, each.same)
    return {name: _judge(difference, each.sense) for name, difference in found.items()}


def sum_up(compared: Sequence[ComparedMetric]) -> Outcome:
    """The outcome over all metrics: better or worse where all that differ go one way, mixed where they do not."""
    found = {each.outcome for each in compared}
    if Outcome.MIXED in found or {Outcome.BETTER, Outcome.WORSE} <= found:
        return Outcome.MIXED
    order = (Outcome.BETTER, Outcome.WORSE, Outcome.HIGHER, Outcome.LOWER, Outcome.NO_EFFECT, Outcome.SAME)
    return next((each for each in order if each in found), Outcome.NOT_COMPARABLE)
