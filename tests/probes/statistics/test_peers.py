"""Deviants and groups: how much chance names, what is planted and found, and the rules for small groups."""

import numpy as np
import pytest

from benchconsole.probes.statistics.peers import FEWEST, LEAST, count_as_deviants, find_deviants, find_groups
from benchconsole.topology.arrays import Floats


def normal(number: int, seed: int, deviation: float = 0.02) -> Floats:
    return np.asarray(100 * np.exp(np.random.default_rng(seed).normal(0, deviation, number)))


@pytest.mark.parametrize("number", [5, 8, 20, 49, 320])
def test_healthy_groups_are_silent(number: int) -> None:
    named = [seed for seed in range(300) if _name(normal(number, seed, 0.05))]
    assert len(named) <= 9  # 1 % of 300 and three deviations


def _name(values: Floats) -> bool:
    found = find_deviants(values)
    return bool(len(found.low) + len(found.high))


def test_samples_that_are_looked_at_together_are_as_silent_as_one() -> None:
    named = sum(any(len(find_deviants(normal(49, 1000 * seed + each, 0.05), 20).low) for each in range(20))
                for seed in range(100))  # fmt: skip
    assert named <= 4


def test_three_of_49_clients_at_a_third_are_named_furthest_first() -> None:
    values = normal(49, 1)
    values[[4, 11, 40]] = 36, 35, 37
    found = find_deviants(values)
    assert found.low.tolist() == [11, 4, 40]
    assert found.high.tolist() == []
    assert found.median == pytest.approx(float(np.median(values)))


def test_one_far_above_is_named_apart_from_those_below() -> None:
    values = normal(30, 2)
    values[3], values[9] = 150, 60
    found = find_deviants(values)
    assert (found.low.tolist(), found.high.tolist()) == ([9], [3])


@pytest.mark.parametrize(("share", "named"), [(1 - LEAST - 0.01, True), (1 - LEAST + 0.01, False)])
def test_the_least_deviation_that_is_told(share: float, named: bool) -> None:
    values = np.full(50, 100.0)
    values[7] = 100 * share
    assert _name(values) is named


def test_of_fewer_than_five_nobody_knows_who_is_usual() -> None:
    values = np.array([100.0] * (FEWEST - 2) + [10.0])
    assert not _name(values)
    assert _name(np.append(values, 100.0))


def test_small_groups_ask_for_more() -> None:
    """Of six, a node at 85 % of peers that spread by 2 % may be chance; of fifty it is not."""
    few, many = normal(6, 3), normal(50, 3)
    few[0] = many[0] = 85.0
    assert not _name(few)
    assert _name(many)


def test_nothing_is_told_of_numbers_around_zero() -> None:
    assert not _name(np.array([0.0] * 9 + [5.0]))
    assert not _name(np.zeros(0))


def test_two_groups_are_parted_where_they_are() -> None:
    values = np.concatenate((normal(160, 1, 0.01) * 0.98, normal(160, 2, 0.01) * 1.12))
    order = np.random.default_rng(3).permutation(320)
    low, high = find_groups(values[order])
    assert set(order[low].tolist()) == set(range(160))
    assert len(high) == 160


def test_three_groups_are_three() -> None:
    values = np.concatenate([normal(40, seed, 0.01) * factor for seed, factor in ((1, 0.5), (2, 1.0), (3, 2.0))])
    assert [len(each) for each in find_groups(values)] == [40, 40, 40]


@pytest.mark.parametrize("draw", ["normal", "uniform", "lognormal"])
def test_one_group_is_one(draw: str) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = {
            "normal": lambda rng: 100 * np.exp(rng.normal(0, 0.05, 100)),
            "uniform": lambda rng: rng.uniform(80, 100, 100),
            "lognormal": lambda rng: 100 * rng.lognormal(0, 0.3, 100),
        }[draw](rng)
        assert len(find_groups(values)) == 1


def test_a_few_far_away_are_deviants_and_no_group() -> None:
    values = normal(49, 1)
    values[:3] = 36
    assert len(find_groups(values)) == 1


def test_groups_that_are_less_than_a_twentieth_apart_are_one() -> None:
    values = np.array([100.0] * 50 + [100 * (1 + LEAST / 2)] * 50)
    assert len(find_groups(values)) == 1


@pytest.mark.parametrize("number", [16, 20, 30])
def test_small_healthy_groups_are_hardly_ever_parted(number: int) -> None:
    """Even where numbers are spread evenly, which looks most like two groups."""
    parted = sum(len(find_groups(np.random.default_rng(seed).uniform(80, 100, number))) > 1 for seed in range(500))
    assert parted <= 9


def test_deviants_and_some_usual_nodes_are_no_group() -> None:
    values = np.concatenate((np.full(5, 50.0), np.sort(normal(45, 1, 0.01))))
    assert len(find_groups(values)) == 1
    assert set(find_deviants(values).low.tolist()) == set(range(5))


@pytest.mark.parametrize(
    ("low", "usual", "told"),
    [
        ([36.0] * 3, np.linspace(98, 102, 18), True),  # 3 of 21
        ([36.0] * 2, np.linspace(98, 102, 18), True),  # a tenth
        ([79.0], np.linspace(100, 104, 4), True),  # one of five
        ([80.5], np.linspace(100, 104, 4), False),  # nearer than a fifth
        ([60.0] * 5, np.linspace(98, 102, 15), True),  # a quarter
        ([60.0] * 6, np.linspace(98, 102, 15), False),
        ([60.0] * 3, np.linspace(80, 140, 18), False),  # all others spread further than these are away
        ([-1.0] * 3, np.linspace(98, 102, 18), False),
    ],
)
def test_up_to_a_quarter_far_from_all_others_are_deviants(low: list[float], usual: Floats, told: bool) -> None:
    values = np.concatenate((usual, low))
    assert count_as_deviants(values, np.arange(len(usual), len(values))) is told
    if values.min() > 0:
        assert count_as_deviants(1e4 / values, np.arange(len(usual), len(values))) is told
