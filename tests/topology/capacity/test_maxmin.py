"""Max-min fair rates: the certificate, linear programs as referee, textbook filling as a second opinion."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from benchconsole.topology.arrays import Floats
from benchconsole.topology.capacity.maxmin import (
    Usage,
    certify,
    compute_fairness,
    compute_load,
    fill,
    fill_whole,
    find_binding,
    max_min,
    weigh_usage,
)

Case = tuple[Usage, Floats, Floats]


@st.composite
def cases(draw: st.DrawFn, most_flows: int = 30) -> Case:
    links = draw(st.integers(1, 8))
    flows = draw(st.integers(1, most_flows))
    capacity = np.array(draw(st.lists(st.integers(1, 100), min_size=links, max_size=links)), float)
    rows, columns, shares = [], [], []
    for index in range(flows):
        for link in sorted(draw(st.sets(st.integers(0, links - 1), min_size=1, max_size=4))):
            rows.append(index)
            columns.append(link)
            shares.append(draw(st.sampled_from([1.0, 0.5, 0.25])))
    demand = np.array(draw(st.lists(st.sampled_from([math.inf, 1.0, 7.0, 30.0]), min_size=flows, max_size=flows)))
    return Usage(np.array(rows, np.intp), np.array(columns, np.intp), np.array(shares)), capacity, demand


def matrix(used: Usage, links: int, flows: int) -> Floats:
    """Links by flows."""
    found = np.zeros((links, flows))
    np.add.at(found, (used.link, used.flow), used.share)
    return found


def one_level_at_a_time(used: Usage, capacity: Floats, demand: Floats) -> Floats:
    """Progressive filling as textbooks have it: raise all, stop whoever meets a full link or its demand."""
    crossed = matrix(used, len(capacity), len(demand))
    rate, active, residual = np.zeros(len(demand)), np.ones(len(demand), bool), capacity.copy()
    while active.any():
        weight = crossed @ active
        busy = weight > 1e-12
        step = min((residual[busy] / weight[busy]).min(initial=math.inf), (demand - rate)[active].min())
        rate[active] += step
        residual -= weight * step
        full = busy & (residual <= 1e-9 * capacity)
        active &= ~((crossed[full] > 0).any(axis=0) | (rate >= demand - 1e-12))
    return rate


def by_linear_programs(used: Usage, capacity: Floats, demand: Floats) -> Floats:
    """The lexicographic optimum: maximise the lowest rate, fix whom it binds, and again."""
    flows = len(demand)
    crossed = matrix(used, len(capacity), flows)
    fixed: dict[int, float] = {}
    while len(fixed) < flows:
        free = [index for index in range(flows) if index not in fixed]
        bounds = [(fixed.get(i, 0.0), fixed.get(i, None if math.isinf(demand[i]) else demand[i])) for i in range(flows)]
        floor = np.zeros((len(free), flows + 1))
        floor[np.arange(len(free)), free] = -1.0
        floor[:, -1] = 1.0
        lowest = linprog(
            [*([0.0] * flows), -1.0],
            A_ub=np.vstack([np.hstack([crossed, np.zeros((len(capacity), 1))]), floor]),
            b_ub=[*capacity, *([0.0] * len(free))],
            bounds=[*bounds, (0, None)],
        ).x[-1]
        at_least = [(lowest if i in free else low, high) for i, (low, high) in enumerate(bounds)]
        for index in free:
            most = linprog(-np.eye(flows)[index], A_ub=crossed, b_ub=capacity * (1 + 1e-9), bounds=at_least).x[index]
            if most <= lowest * (1 + 1e-6) + 1e-9:
                fixed[index] = lowest
    return np.array([fixed[index] for index in range(flows)])


@given(cases())
@settings(max_examples=150, deadline=None)
def test_rates_hold_their_certificate_and_agree_with_the_textbook(case: Case) -> None:
    used, capacity, demand = case
    rate = max_min(used, capacity, demand)
    assert certify(used, capacity, demand, rate)
    assert rate == pytest.approx(one_level_at_a_time(used, capacity, demand), rel=1e-9)


@given(cases(most_flows=12))
@settings(max_examples=25, deadline=None)
def test_rates_agree_with_linear_programs(case: Case) -> None:
    assert max_min(*case) == pytest.approx(by_linear_programs(*case), rel=1e-5)


def test_thirty_flows_agree_with_linear_programs() -> None:
    chance = np.random.default_rng(7)
    flow = np.repeat(np.arange(30), 3)
    used = Usage(flow, chance.integers(0, 12, 90), np.ones(90))
    case = used, chance.integers(5, 60, 12).astype(float), np.full(30, math.inf)
    assert max_min(*case) == pytest.approx(by_linear_programs(*case), rel=1e-5)


@given(cases(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_uses_and_the_unit_do_not_matter(case: Case, chance: object) -> None:
    used, capacity, demand = case
    order = np.random.default_rng(len(used.flow)).permutation(len(used.flow))
    shuffled = Usage(used.flow[order], used.link[order], used.share[order])
    rate = max_min(used, capacity, demand)
    assert max_min(shuffled, capacity, demand) == pytest.approx(rate, rel=1e-9)
    assert max_min(used, capacity * 1e9, demand * 1e9) == pytest.approx(rate * 1e9, rel=1e-9)


@given(cases(most_flows=10), st.lists(st.integers(1, 4), min_size=10, max_size=10))
@settings(max_examples=60, deadline=None)
def test_a_weight_counts_as_so_many_streams(case: Case, weights: list[int]) -> None:
    used, capacity, demand = case
    weight = np.array(weights[: len(demand)], float)
    streams = np.repeat(np.arange(len(demand)), weight.astype(int))
    uses = [np.flatnonzero(used.flow == index) for index in streams]
    apart = Usage(
        np.repeat(np.arange(len(streams)), [len(each) for each in uses]),
        used.link[np.concatenate(uses)],
        used.share[np.concatenate(uses)],
    )
    each = max_min(apart, capacity, (demand / weight)[streams])
    together = max_min(used, capacity, demand, weight)
    assert together == pytest.approx(np.bincount(streams, each), rel=1e-9)
    assert certify(weigh_usage(used, weight), capacity, demand / weight, together / weight)


def test_rounds_are_levels_of_dependence_not_of_rates() -> None:
    """A hundred links apart, each with its own rate, take one round."""
    index = np.arange(100)
    rate, rounds = fill(Usage(index, index, np.ones(100)), np.arange(1.0, 101.0), np.full(100, math.inf))
    assert (rate.tolist(), rounds) == (list(range(1, 101)), 1)


TWO = Usage(np.array([0, 1, 1]), np.array([0, 0, 1]), np.ones(3))


@pytest.mark.parametrize(
    ("rate", "fair"),
    [
        ([6.0, 4.0], True),
        ([5.0, 5.0], False),  # the second link is over its capacity
        ([6.0, 3.0], False),  # nothing holds the second
        ([7.0, 4.0], False),  # the first link is over its capacity
        ([6.0, 5.0], False),
    ],
)
def test_the_certificate_tells_fair_from_unfair(rate: list[float], fair: bool) -> None:
    assert certify(TWO, np.array([10.0, 4.0]), np.full(2, math.inf), np.array(rate)) is fair


def test_nobody_gets_more_than_it_asks_for() -> None:
    capacity, demand = np.array([10.0, 4.0]), np.array([3.0, math.inf])
    rate = max_min(TWO, capacity, demand)
    assert rate.tolist() == [3.0, 4.0]
    assert not certify(TWO, capacity, demand, np.array([6.0, 4.0]))


def test_what_binds_is_full_and_the_fastest_on_it() -> None:
    capacity = np.array([10.0, 4.0])
    rate = max_min(TWO, capacity, np.full(2, math.inf))
    assert find_binding(TWO, capacity, rate).tolist() == [True, False, True]
    assert compute_load(TWO, rate, 2).tolist() == [10.0, 4.0]


def test_dead_links_carry_nothing_and_flows_without_links_take_their_demand() -> None:
    used = Usage(np.array([0]), np.array([0]), np.ones(1))
    assert max_min(used, np.zeros(1), np.array([math.inf, 5.0])).tolist() == [0.0, 5.0]


def test_fairness_is_jains_index() -> None:
    assert compute_fairness(np.array([3.0, 3.0])) == 1.0
    assert compute_fairness(np.array([1.0, 0.0, 0.0, 0.0])) == 0.25
    assert math.isnan(compute_fairness(np.zeros(3)))


@given(cases(60))
@settings(max_examples=100, deadline=None)
def test_flows_that_cross_the_same_full_links_are_filled_as_one(case: Case) -> None:
    used, capacity, demand = case
    whole = Usage(used.flow, used.link, np.ones(len(used.share)))
    found = fill_whole(whole.flow, whole.link, capacity, demand)
    np.testing.assert_allclose(found, max_min(whole, capacity, demand), rtol=1e-9)
    assert certify(whole, capacity, demand, found)
