"""Comparisons: intervals against scipy, the borders between outcomes, and what must not change them."""

import math
from collections.abc import Mapping
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchconsole.probes.statistics.comparison import (
    SAME,
    Difference,
    Pairing,
    StatedMean,
    average_sample,
    compare_means,
    compare_samples,
    join_means,
    judge_subjects,
)
from benchconsole.probes.statistics.summary import CONFIDENCE
from benchconsole.topology.copying import replace


def draw(nodes: int, repeats: int, effect: float, seed: int, name: str = "n") -> dict[str, list[float]]:
    """Numbers of nodes that differ by 5 %, each repeat by 2 %; nodes of one name are the same at every seed."""
    own = 100 * np.random.default_rng(7).lognormal(0, 0.05, 1000)
    noise = np.random.default_rng(seed).lognormal(0, 0.02, (nodes, repeats))
    return {f"{name}{node}": [float(own[node] * (1 + effect) * each) for each in noise[node]] for node in range(nodes)}


def logs(sample: Mapping[str, list[float]]) -> list[float]:
    return [float(np.mean(np.log(values))) for values in sample.values()]


def test_pairs_have_the_interval_of_the_paired_test() -> None:
    before, after = draw(12, 3, 0, 1), draw(12, 3, 0.05, 2)
    found = compare_samples(before, after)
    low, high = stats.ttest_rel(logs(after), logs(before)).confidence_interval(CONFIDENCE)
    assert found.pairing is Pairing.PAIRED
    assert found.number == (12, 12)
    assert [found.low, found.high] == pytest.approx([math.expm1(low), math.expm1(high)])
    assert found.difference is Difference.HIGHER


def test_other_subjects_have_the_interval_of_welch() -> None:
    before, after = draw(12, 3, 0, 1), draw(30, 2, 0.1, 2, "vm")
    found = compare_samples(before, after)
    test = stats.ttest_ind(logs(after), logs(before), equal_var=False)
    low, high = test.confidence_interval(CONFIDENCE)
    assert found.pairing is Pairing.UNPAIRED
    assert [found.low, found.high] == pytest.approx([math.expm1(low), math.expm1(high)])


def test_repeats_of_one_subject_are_compared_with_each_other() -> None:
    before, after = {"n1": [100.0, 101, 102]}, {"n1": [120.0, 119, 121]}
    found = compare_samples(before, after)
    test = stats.ttest_ind(np.log(after["n1"]), np.log(before["n1"]), equal_var=False)
    assert found.pairing is Pairing.REPEATS
    assert found.low == pytest.approx(math.expm1(test.confidence_interval(CONFIDENCE).low))


def test_repeats_on_few_nodes_do_not_stand_for_many() -> None:
    """A thousand repeats on two unlike nodes leave the difference of other nodes as uncertain as two nodes do."""
    few = {"a": [100.0] * 1000, "b": [110.0] * 1000}
    other = {"c": [104.0] * 1000, "d": [115.0] * 1000}
    assert compare_samples(few, other).difference is Difference.NO_EFFECT
    assert compare_samples(few, other).low == pytest.approx(
        compare_samples({"a": [100.0], "b": [110.0]}, {"c": [104.0], "d": [115.0]}).low
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"n1": [1.0]}),
        ({"n1": [1.0]}, {"n1": [2.0, 3.0]}),
        ({"n1": [1.0, 2.0]}, {"n2": [1.0, 2.0]}),
    ],
)
def test_what_tells_no_spread_is_not_comparable(before: dict[str, list[float]], after: dict[str, list[float]]) -> None:
    found = compare_samples(before, after)
    assert found.difference is Difference.NOT_COMPARABLE
    assert found.low is found.high is found.smallest is None
    assert found.why


@pytest.mark.parametrize(
    ("one", "other"),
    [((12.55, 0.06, 21), (12.27, 0.08, 21)), ((7.9, 0.1, 21), (8.1, 0.1, 49)), ((100.0, 0.2, 3), (100.3, 0.1, 300))],
)
def test_stated_means_have_the_interval_of_welch(
    one: tuple[float, float, int], other: tuple[float, float, int]
) -> None:
    """To the first order of small errors the ratio has the interval of the difference."""
    found = compare_means(StatedMean(*one), StatedMean(*other))
    (mean, error, number), (mean2, error2, number2) = one, other
    test = stats.ttest_ind_from_stats(
        mean2, error2 * number2**0.5, number2, mean, error * number**0.5, number, equal_var=False
    )
    assert (found.pairing, found.number) == (Pairing.STATED, (number, number2))
    freedom = (error**2 + error2**2) ** 2 / (error**4 / (number - 1) + error2**4 / (number2 - 1))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * math.hypot(error, error2)
    assert found.effect == pytest.approx(mean2 / mean - 1)
    assert [found.low, found.high] == pytest.approx(
        [(mean2 - mean - half) / mean, (mean2 - mean + half) / mean], abs=3e-3
    )
    assert (found.difference in (Difference.HIGHER, Difference.LOWER)) == (test.pvalue < 1 - CONFIDENCE)


def test_a_mean_without_its_error_is_not_comparable_unless_a_spread_is_assumed() -> None:
    one, other = StatedMean(100.0, None, 4), StatedMean(110.0, 0.5, 4)
    assert compare_means(one, other).difference is Difference.NOT_COMPARABLE
    assert compare_means(one, other).effect == pytest.approx(0.1)
    found = compare_means(one, other, spread=0.04)
    assert (found.difference, found.assumed) == (Difference.HIGHER, 0.04)
    assert compare_means(one, other, spread=0.2).difference is Difference.NO_EFFECT
    assert compare_means(StatedMean(100.0, 0.5, 4), other, spread=0.2).assumed is None


def test_values_of_one_subject_and_the_mean_of_the_same_values_are_compared_alike() -> None:
    before, after = {f"n{i}": [100.0 + i] for i in range(9)}, {f"m{i}": [104.0 + i] for i in range(9)}
    told = compare_means(average_sample(before), average_sample(after))
    seen = compare_samples(before, after)
    assert [told.low, told.high] == pytest.approx([seen.low, seen.high], abs=2e-3)


def test_parts_join_to_the_mean_of_all_values() -> None:
    values = np.random.default_rng(1).normal(100, 2, 30)
    parts = [average_sample({str(i): [float(v)] for i, v in enumerate(own)}) for own in (values[:10], values[10:])]
    joined = join_means(parts)
    assert joined.mean == pytest.approx(values.mean())
    assert joined.number == 30
    assert joined.error == pytest.approx(values.std(ddof=1) / 30**0.5, rel=0.05)
    assert join_means([parts[0], StatedMean(1.0, None, 3)]).error is None


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ({"n1": [239.0]}, {"n1": [95.0]}, Difference.LOWER),
        ({"n1": [14611.0]}, {"n1": [14217.0]}, Difference.NO_EFFECT),
        ({"n1": [100.0]}, {"n1": [113.0]}, Difference.NO_EFFECT),  # 5 % x √2 x 1.96 are 14.9 % on logarithms
        ({"n1": [100.0]}, {"n1": [116.0]}, Difference.HIGHER),
        ({"n1": [100.0]}, {"n2": [116.0]}, Difference.HIGHER),
    ],
)
def test_single_values_are_compared_by_a_spread_that_is_assumed(
    before: dict[str, list[float]], after: dict[str, list[float]], difference: Difference
) -> None:
    assert compare_samples(before, after).difference is Difference.NOT_COMPARABLE
    found = compare_samples(before, after, spread=0.05)
    assert (found.difference, found.assumed, found.number) == (difference, 0.05, (1, 1))


def test_what_was_measured_several_times_needs_no_assumption() -> None:
    before, after = {"n1": [100.0, 101, 102]}, {"n1": [120.0, 119, 121]}
    assert compare_samples(before, after, spread=0.5) == compare_samples(before, after)
    assert compare_samples(draw(3, 1, 0, 1), draw(3, 1, 0.1, 2), spread=0.5).assumed is None


CHANGE = 0.1 * SAME
"""The deviation of the changes of the boundary table, as a share."""


@pytest.mark.parametrize(
    ("effect", "difference"),
    [
        (0.0, Difference.SAME),
        (0.5 * SAME, Difference.SAME),
        (-0.5 * SAME, Difference.SAME),
        (1.5 * SAME, Difference.HIGHER),
        (-1.5 * SAME, Difference.LOWER),
    ],
)
def test_borders_of_the_same(effect: float, difference: Difference) -> None:
    before = {f"n{number}": [100.0] for number in range(4)}
    spread = (1 - CHANGE, 1 - CHANGE / 2, 1 + CHANGE / 2, 1 + CHANGE)
    after = {f"n{number}": [100 * (1 + effect) * each] for number, each in enumerate(spread)}
    assert compare_samples(before, after).difference is difference


def test_no_effect_tells_what_would_have_shown() -> None:
    """Of effects of that size the stated share is found, of half that size far fewer."""
    rng = np.random.default_rng(5)

    def play(effect: float) -> tuple[bool, float]:
        before = {f"n{number}": [100.0] for number in range(8)}
        after = {name: [100 * math.exp(math.log1p(effect) + rng.normal(0, 0.05))] for name in before}
        found = compare_samples(before, after)
        return found.difference is Difference.HIGHER, found.smallest or 0.0

    smallest = float(np.median([play(0.0)[1] for _ in range(200)]))
    assert 0.7 < np.mean([play(smallest)[0] for _ in range(300)]) < 0.9
    assert np.mean([play(smallest / 2)[0] for _ in range(300)]) < 0.5


def test_subjects_that_change_in_opposite_ways_are_mixed() -> None:
    before = {f"n{number:02}": [100.0 + number % 3] for number in range(20)}
    after = {name: [value[0] * (1.2 if name < "n10" else 0.85)] for name, value in before.items()}
    found = compare_samples(before, after)
    assert found.difference is Difference.MIXED
    assert found.why == "2 groups of subjects changed unlike"


def test_a_subject_that_changed_otherwise_is_named() -> None:
    before, after = draw(30, 5, 0, 1), draw(30, 5, 0.0, 2)
    after["n7"] = [value * 0.6 for value in after["n7"]]
    assert compare_samples(before, after).apart == ("n7",)
    assert compare_samples(before, draw(30, 5, 0.0, 2)).apart == ()


def test_values_of_zero_are_compared_by_differences() -> None:
    before = {f"n{number}": [0.0] for number in range(6)}
    after = {f"n{number}": [0.01 + 0.001 * number] for number in range(6)}
    found = compare_samples(before, after)
    assert not found.is_ratio
    assert found.effect == pytest.approx(0.0125)
    assert found.difference is Difference.HIGHER
    assert compare_samples(before, before).difference is Difference.SAME


@given(st.integers(0, 1000), st.floats(-0.2, 0.2), st.randoms())
def test_order_and_scale_change_nothing_and_turning_round_turns_the_sign(
    seed: int, effect: float, random: Random
) -> None:
    before, after = draw(8, 3, 0, seed), draw(8, 3, effect, seed + 1)
    found = compare_samples(before, after)
    names = list(before)
    random.shuffle(names)
    shuffled = compare_samples({name: before[name] for name in names}, after)
    assert shuffled.difference is found.difference
    assert shuffled.low == pytest.approx(found.low)
    bits = [{name: [8 * value for value in own] for name, own in each.items()} for each in (before, after)]
    scaled = compare_samples(bits[0], bits[1])
    assert scaled.difference is found.difference
    assert scaled.effect == pytest.approx(found.effect)
    back = compare_samples(after, before)
    assert back.effect is not None
    assert found.effect is not None
    assert (1 + back.effect) * (1 + found.effect) == pytest.approx(1)
    turned = {Difference.HIGHER: Difference.LOWER, Difference.LOWER: Difference.HIGHER}
    assert back.difference is turned.get(found.difference, found.difference)


def test_chance_alone_is_called_different_in_a_twentieth_at_most() -> None:
    names = [f"n{number}" for number in range(10)]
    rng = np.random.default_rng(11)
    claims = 0
    for _ in range(1000):
        one, other = ({name: [100 * float(rng.lognormal(0, 0.1))] for name in names} for _ in range(2))
        claims += compare_samples(one, other).difference in (Difference.HIGHER, Difference.LOWER)
    assert claims <= 65  # 5 % of 1,000 and two deviations


def test_subjects_are_judged_by_what_all_of_them_bear_out() -> None:
    one = {str(place): [100.0, 100.0] for place in range(9)}
    other = {name: [90.0 + place / 10] * 2 for place, name in enumerate(one)} | {"8": [103.0, 103.0]}
    found = compare_samples(one, other)
    assert (found.difference, found.apart) == (Difference.LOWER, ("8",))
    assert judge_subjects(found, one, other) == {**dict.fromkeys("01234567", Difference.LOWER), "8": Difference.HIGHER}
    assert judge_subjects(replace(found, apart=()), one, other)["8"] is Difference.NO_EFFECT
    assert judge_subjects(found, one, other, same=0.5) == dict.fromkeys(one, Difference.SAME)


def test_an_assumed_spread_judges_values_that_have_no_ratio() -> None:
    one, other = {"n": [1.0]}, {"n": [-1.0, 5.0]}
    found = compare_samples(one, other, spread=0.01)
    assert found.is_ratio
    with np.errstate(all="raise"):
        assert judge_subjects(found, one, other) == {"n": Difference.NO_EFFECT}
