"""The comparison of two samples: how much they differ, with an interval that respects repeats and pairs of subjects.

A subject (a node, a pair, a set) counts once, with the mean of its repeats: repeats on one node tell nothing of others.
Where both samples have the same subjects, each is held against itself. Of a mean that was only stated, its stated error
is taken. Values above 0 are compared as ratios, by their logarithms; others by differences. Intervals are Student's, of
unlike samples Welch's (Biometrika 34, 1947).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from benchconsole.probes.statistics.peers import find_deviants, find_groups
from benchconsole.probes.statistics.summary import CONFIDENCE, find_student
from benchconsole.topology.arrays import Floats
from benchconsole.topology.copying import replace

Sample = Mapping[str, Sequence[float]]
"""The finite values of each subject: one for each of its repeats."""

SAME = 0.02
"""Two samples are the same where the whole interval lies within this share."""

POWER = 0.8
"""The smallest effect that data could have shown is found in this share of all experiments."""


class Difference(StrEnum):
    """How sample B stands to sample A."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    NO_EFFECT = "no effect"
    MIXED = "mixed"
    NOT_COMPARABLE = "not comparable"


class Pairing(StrEnum):
    """The numbers that the interval rests on."""

    PAIRED = "paired"
    UNPAIRED = "unpaired"
    REPEATS = "repeats of one subject"
    STATED = "stated means"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Sample B against sample A. ``effect`` is B / A - 1 where ``is_ratio``, else B - A in their unit.

    ``low`` and ``high`` bound the effect with ``CONFIDENCE``; ``smallest`` is the smallest effect that such data show
    in ``POWER`` of all experiments. All three are None where nothing tells the spread, and ``why`` says so.
    ``number`` counts the subjects of A and of B, of stated means their values. ``apart`` are subjects of pairs that
    changed otherwise than the rest.
    ``assumed`` is the spread of single values, as a share, that was taken for want of a measured one; else None.
    """

    difference: Difference
    pairing: Pairing | None
    number: tuple[int, int]
    is_ratio: bool = True
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    smallest: float | None = None
    why: str = ""
    apart: tuple[str, ...] = ()
    assumed: float | None = None


@dataclass(frozen=True, slots=True)
class StatedMean:
    """The mean of ``number`` values of which only the mean is known, and its standard error, None where unknown."""

    mean: float
    error: float | None
    number: int


def join_means(stated: Sequence[StatedMean]) -> StatedMean:
    """The mean of all values of several parts, each weighted by its number."""
    number = sum(each.number for each in stated)
    mean = math.fsum(each.mean * each.number for each in stated) / number
    errors = [each.error * each.number for each in stated if each.error is not None]
    return StatedMean(mean, math.hypot(*errors) / number if len(errors) == len(stated) else None, number)


def average_sample(sample: Sample) -> StatedMean:
    """The mean of the means of subjects, which may be held against a stated one."""
    means = _average(sample, np.asarray)
    return StatedMean(float(means.mean()), _find_error(means) if len(means) > 1 else None, len(means))


def compare_means(one: StatedMean, other: StatedMean, same: float = SAME, spread: float | None = None) -> Comparison:
    """Mean B against mean A, by Welch's interval of their errors; as ratios to the first order of the errors.

    ``spread`` as in ``compare_samples``: it gives a mean of n values without an error the error spread / √n.
    """
    counts = one.number, other.number
    is_ratio = one.mean > 0 and other.mean > 0
    parts = [_find_relative_error(each, is_ratio, spread) for each in (one, other)]
    estimate = math.log(other.mean / one.mean) if is_ratio else other.mean - one.mean
    errors = [error for error, _ in parts if error is not None]
    if len(errors) < 2:
        effect = math.expm1(estimate) if is_ratio else estimate
        why = "a mean was stated without its error: nothing tells how far such numbers spread"
        return Comparison(Difference.NOT_COMPARABLE, Pairing.STATED, counts, is_ratio, effect, why=why)
    shares = [error**4 / freedom for error, (_, freedom) in zip(errors, parts, strict=True)]
    freedom = math.hypot(*errors) ** 4 / sum(shares) if sum(shares) else math.inf
    before = np.array([one.mean])
    made = _make_comparison(Pairing.STATED, counts, estimate, math.hypot(*errors), freedom, same, before, is_ratio)
    assumed = spread if any(math.isinf(freedom) for _, freedom in parts) else None
    return replace(made, assumed=assumed)


def _find_relative_error(stated: StatedMean, is_ratio: bool, spread: float | None) -> tuple[float | None, float]:
    """The error on the scale of the comparison, None where unknown; its degrees of freedom, infinite where assumed."""
    if stated.error is not None and stated.number > 1:
        return stated.error / (stated.mean if is_ratio else 1.0), stated.number - 1
    if spread is None:
        return None, math.inf
    return spread * (1.0 if is_ratio else abs(stated.mean)) / math.sqrt(stated.number), math.inf


def compare_samples(one: Sample, other: Sample, same: float = SAME, spread: float | None = None) -> Comparison:
    """B (``other``) against A (``one``), in pairs where both are of the same subjects; ``same`` as ``SAME``.

    ``spread`` is the standard deviation of single values, as a share, that is taken where the data tell none.
    """
    counts = len(one), len(other)
    if not one or not other:
        return Comparison(Difference.NOT_COMPARABLE, None, counts, why="there is no value to compare with")
    is_ratio = _are_ratios(one, other)
    scale: Callable[[Floats], Floats] = np.log if is_ratio else np.asarray
    if spread is not None and _tell_no_spread(one, other):
        pairing = Pairing.REPEATS if one.keys() == other.keys() else Pairing.UNPAIRED
        return replace(compare_means(_state(one), _state(other), same, spread), pairing=pairing, number=counts)
    if one.keys() != other.keys():
        return _compare_unpaired(Pairing.UNPAIRED, counts, _average(one, scale), _average(other, scale), same, is_ratio)
    if len(one) == 1:
        before, after = (scale(np.array(next(iter(each.values())), np.float64)) for each in (one, other))
        return _compare_unpaired(Pairing.REPEATS, counts, before, after, same, is_ratio)
    before = _average(one, scale)
    changes = _average({name: other[name] for name in one}, scale) - before
    found = _make_comparison(
        Pairing.PAIRED, counts, changes.mean(), _find_error(changes), len(changes) - 1, same, before, is_ratio
    )
    return _weigh_subjects(found, tuple(one), np.exp(changes), same) if is_ratio else found


def _are_ratios(*samples: Sample) -> bool:
    return all(value > 0 for sample in samples for values in sample.values() for value in values)


def _tell_no_spread(one: Sample, other: Sample) -> bool:
    """Whether one of both is a single number that is not paired with its own in several subjects."""
    if one.keys() != other.keys():
        return min(len(one), len(other)) < 2
    return len(one) == 1 and any(len(values) < 2 for each in (one, other) for values in each.values())


def _state(sample: Sample) -> StatedMean:
    """The mean of subjects, of one subject that of its repeats."""
    if len(sample) > 1:
        return average_sample(sample)
    (values,) = sample.values()
    return average_sample({str(place): [value] for place, value in enumerate(values)})


def _average(sample: Sample, scale: Callable[[Floats], Floats]) -> Floats:
    """One number for each subject."""
    return np.array([scale(np.array(values, np.float64)).mean() for values in sample.values()])


def _compare_unpaired(
    pairing: Pairing, counts: tuple[int, int], before: Floats, after: Floats, same: float, is_ratio: bool
) -> Comparison:
    estimate = float(after.mean() - before.mean())
    if min(len(before), len(after)) < 2:
        effect = math.expm1(estimate) if is_ratio else estimate
        what = "one value" if pairing is Pairing.REPEATS else "one subject"
        why = f"of one of both there is {what}: nothing tells how far such numbers spread"
        return Comparison(Difference.NOT_COMPARABLE, pairing, counts, is_ratio, effect, why=why)
    squares = [_find_error(values) ** 2 for values in (before, after)]
    total = sum(squares)
    parts = sum(square**2 / (len(values) - 1) for square, values in zip(squares, (before, after), strict=True))
    freedom = total**2 / parts if parts else float(len(before) + len(after) - 2)
    return _make_comparison(pairing, counts, estimate, math.sqrt(total), freedom, same, before, is_ratio)


def _find_error(values: Floats) -> float:
    """The standard error of the mean of two numbers or more."""
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def _make_comparison(
    pairing: Pairing,
    counts: tuple[int, int],
    estimate: float,
    error: float,
    freedom: float,
    same: float,
    before: Floats,
    is_ratio: bool,
) -> Comparison:
    half = error * find_student(freedom, CONFIDENCE)
    smallest = error * (find_student(freedom, CONFIDENCE) + find_student(freedom, 2 * POWER - 1))
    near = math.log1p(same) if is_ratio else same * abs(float(before.mean()))
    difference = _decide(estimate - half, estimate + half, near)
    give = math.expm1 if is_ratio else float
    effect, low, high, least = (give(each) for each in (estimate, estimate - half, estimate + half, smallest))
    return Comparison(difference, pairing, counts, is_ratio, effect, low, high, least)


def _decide(low: float, high: float, near: float) -> Difference:
    if -near <= low and high <= near:
        return Difference.SAME
    if low > 0:
        return Difference.HIGHER
    return Difference.LOWER if high < 0 else Difference.NO_EFFECT


def _weigh_subjects(found: Comparison, subjects: Sequence[str], ratios: Floats, same: float) -> Comparison:
    """``found``, mixed where groups of subjects changed in opposite ways; else with the subjects that stand apart.

    Those are all but the largest group, or in one group its deviants.
    """
    found_groups = find_groups(ratios)
    groups = [float(np.median(ratios[group])) for group in found_groups]
    if groups[0] < 1 - same and groups[-1] > 1 + same:
        return replace(found, difference=Difference.MIXED, why=f"{len(groups)} groups of subjects changed unlike")
    if len(groups) > 1:
        others = np.concatenate([each for each in found_groups if each is not max(found_groups, key=len)])
        return replace(found, apart=tuple(subjects[place] for place in others.tolist()))
    deviants = find_deviants(ratios)
    places = np.concatenate((deviants.low, deviants.high)).tolist()
    return replace(found, apart=tuple(subjects[place] for place in places))


def judge_subjects(found: Comparison, one: Sample, other: Sample, same: float = SAME) -> dict[str, Difference]:
    """How each subject of both samples changed, as far as ``found``, their comparison, bears it out.

    HIGHER or LOWER by more than ``same`` is a subject that is apart, and one that went the way of ``found``; where that
    is MIXED, the way of its group of subjects. Other changes are not told from chance: NO_EFFECT.
    """
    names = [name for name in one if name in other]
    if found.difference is Difference.NOT_COMPARABLE or not names:
        return dict.fromkeys(names, Difference.NOT_COMPARABLE)
    pairs = [{name: each[name] for name in names} for each in (one, other)]
    is_ratio = found.is_ratio and _are_ratios(*pairs)  # an assumed spread takes ratios of means, of any values
    before, after = (_average(each, np.log if is_ratio else np.asarray) for each in pairs)
    changes = after - before
    near = math.log1p(same) if is_ratio else same * abs(float(before.mean()))
    own = [_decide(change, change, near) for change in changes.tolist()]
    borne_out: list[Difference] = [found.difference] * len(names)
    if found.difference is Difference.MIXED:
        for group in find_groups(np.exp(changes)):
            median = float(np.median(changes[group]))
            for place in group.tolist():
                borne_out[place] = _decide(median, median, near)
    return {
        name: each if each is Difference.SAME or each is way or name in found.apart else Difference.NO_EFFECT
        for name, each, way in zip(names, own, borne_out, strict=True)
    }
