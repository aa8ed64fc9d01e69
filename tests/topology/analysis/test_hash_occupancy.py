"""Balls in bins: the published table, a simulation, and what two stages of one hash reach."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis import hash_occupancy as module
from benchconsole.topology.analysis.hash_occupancy import (
    EXACT,
    EXACT_FLOWS,
    MONTE_CARLO,
    compute_member_load,
    count_busy,
    count_flows,
    count_reachable,
)

TABLE = [
    # flows, members, E[max], over the mean, P50, P95, P(even), E[busy]
    (30, 12, 5.351, 2.140, 5, 7, 2.09e-3, 11.118),
    (12, 12, 2.876, 2.876, 3, 4, 5.37e-5, 7.776),
    (16, 12, 3.481, 2.611, 3, 5, 5.48e-2, 9.018),
    (60, 12, 8.932, 1.786, 9, 11, 1.66e-8, 11.935),
    (8, 2, 5.094, 1.273, 5, 7, 0.2734, 1.992),
    (30, 2, 17.167, 1.144, 17, 20, 0.1445, 2.000),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} over {row[1]}")
def test_the_table(row: tuple[float, ...]) -> None:
    flows, members, fullest, over, p50, p95, even, busy = row
    found = compute_member_load(int(flows), int(members))
    assert found.model == EXACT
    assert found.fullest == pytest.approx(fullest, abs=5e-4)
    assert found.imbalance == pytest.approx(over, abs=6e-4)
    assert np.searchsorted(found.at_most, (0.50, 0.95)).tolist() == [p50, p95]
    assert found.at_most[-(-int(flows) // int(members))] == pytest.approx(even, rel=5e-3)
    assert found.busy == pytest.approx(busy, abs=5e-4)


def test_many_flows_are_drawn_and_say_so() -> None:
    found = compute_member_load(480, 12)
    assert found.model == MONTE_CARLO
    assert found.fullest == pytest.approx(50.6, abs=0.15)
    assert found.imbalance == pytest.approx(1.265, abs=4e-3)
    assert found.busy == pytest.approx(12.0)


def test_thirty_over_twelve_takes_less_than_a_second() -> None:
    compute_member_load.cache_clear()
    start = time.perf_counter()
    compute_member_load(30, 12)
    assert time.perf_counter() - start < 1.0


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 16))
def test_a_distribution_sums_to_one_and_starts_at_the_mean(flows: int, members: int) -> None:
    found = compute_member_load(flows, members)
    assert found.at_most[-1] == 1.0
    assert all(low <= high for low, high in zip(found.at_most, found.at_most[1:], strict=False))
    least = math.ceil(flows / members)
    assert all(share == 0.0 for share in found.at_most[:least])
    assert found.at_most[least] > 0.0
    assert max(flows / members, 1.0) - 1e-9 <= found.fullest <= flows


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 60), st.integers(1, 16))
def test_a_simulation_agrees(flows: int, members: int) -> None:
    runs = 4000
    member = np.random.default_rng(flows * 100 + members).integers(0, members, (runs, flows))
    cells = (member + members * np.arange(runs)[:, None]).ravel()
    loads = np.bincount(cells, minlength=runs * members).reshape(runs, members)
    found = compute_member_load(flows, members)
    for seen, expected in ((loads.max(axis=1), found.fullest), ((loads > 0).sum(axis=1), found.busy)):
        unseen = 10 / runs  # what is rarer may not have happened once
        assert seen.mean() == pytest.approx(expected, abs=5 * seen.std() / math.sqrt(runs) + unseen)


def test_counted_and_drawn_agree_where_they_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = compute_member_load(EXACT_FLOWS, 12)
    monkeypatch.setattr(module, "EXACT_FLOWS", 0)
    drawn = compute_member_load.__wrapped__(EXACT_FLOWS, 12)
    assert (counted.model, drawn.model) == (EXACT, MONTE_CARLO)
    assert drawn.fullest == pytest.approx(counted.fullest, abs=0.08)


@pytest.mark.parametrize(("flows", "members"), [(0, 4), (4, 0), (-1, 2)])
def test_nothing_to_spread_is_refused(flows: int, members: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        compute_member_load(flows, members)


@settings(max_examples=60)
@given(st.sampled_from([0.5, 0.9, 0.95]), st.integers(1, 128))
def test_the_flows_needed_are_the_least_that_suffice(share: float, members: int) -> None:
    needed = count_flows(share, members)
    assert count_busy(needed, members) >= share * members * (1 - 1e-9)
    assert needed == 1 or count_busy(needed - 1, members) < share * members


@pytest.mark.parametrize(
    ("first", "second", "left"), [(2, 2, 1), (2, 3, 3), (4, 2, 1), (2, 4, 2), (3, 2, 2), (1, 8, 8)]
)
def test_a_repeated_hash_reaches_a_part(first: int, second: int, left: int) -> None:
    assert count_reachable(first, second) == left
    reached = {hash_ % second for hash_ in range(first * second * 6) if hash_ % first == 0}
    assert len(reached) == left
