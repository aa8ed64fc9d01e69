"""Rates over placements, against every placement written out, and the distributions that books give."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.hashing import count_busy
from benchconsole.topology.capacity import placements
from benchconsole.topology.capacity.maxmin import Usage, max_min
from benchconsole.topology.capacity.placements import (
    MOST_COUNTED,
    Fork,
    Paths,
    RateRange,
    Spread,
    compute_paths,
    compute_spread,
)

Outcomes = list[tuple[float, float]]
"""Chance and rate of every placement."""


def one_of(ways: int, *, after: int, capacity: float = 10.0, by_stream: bool = True) -> Fork:
    return Fork((capacity,) * ways, (1 / ways,) * ways, (after,) * ways, by_stream)


def summarise(outcomes: Outcomes) -> RateRange:
    """Least, mean and most as they are defined: the first rate that more than 1 % of the chance is at or below."""
    reached = 0.0
    ordered = sorted(outcomes, key=lambda each: each[1])
    least = ordered[-1][1]
    for chance, rate in ordered:
        reached += chance
        if reached > 0.01 + 1e-12:
            least = rate
            break
    return RateRange(least, sum(chance * rate for chance, rate in outcomes), ordered[-1][1])


def list_walks(forks: Sequence[Fork], picks: Sequence[Sequence[int]]) -> Iterator[list[tuple[int, int]]]:
    """The ways of each stream (fork, way) when it takes ``picks`` at the forks that it comes to."""
    for pick in picks:
        place, walk = 0, []
        while place < len(forks):
            walk.append((place, pick[place]))
            place = forks[place].after[pick[place]]
        yield walk


def rate_of(paths: Paths, walks: Sequence[Sequence[tuple[int, int]]]) -> float:
    """The sum of max-min fair rates of these walks, filled step by step: all rise until a way is full."""
    left = {
        (place, way): capacity for place, fork in enumerate(paths.forks) for way, capacity in enumerate(fork.capacity)
    }
    rates, rising, room = [0.0] * len(walks), set(range(len(walks))), paths.most
    while rising:
        users = {each: sum(each in walks[stream] for stream in rising) for each in left}
        rise = min([left[each] / used for each, used in users.items() if used] + [room / len(rising)])
        for stream in rising:
            rates[stream] += rise
        left = {each: value - rise * users[each] for each, value in left.items()}
        room -= rise * len(rising)
        full = {each for each, value in left.items() if value < 1e-9 and users[each]}
        rising = set() if room < 1e-9 else {stream for stream in rising if not full & set(walks[stream])}
    return sum(rates)


def list_paths(paths: Paths) -> Outcomes:
    """Every combination of choices, one after the other."""
    streams = range(paths.streams)
    keys = [
        (place, stream) for place, fork in enumerate(paths.forks) for stream in (streams if fork.by_stream else [0])
    ]
    found = []
    for chosen in product(*(range(len(paths.forks[place].chance)) for place, _ in keys)):
        picked = dict(zip(keys, chosen, strict=True))
        chance = math.prod(paths.forks[place].chance[way] for (place, _), way in picked.items())
        picks = [
            [picked[place, stream if fork.by_stream else 0] for place, fork in enumerate(paths.forks)]
            for stream in streams
        ]
        found.append((chance, rate_of(paths, list(list_walks(paths.forks, picks)))))
    return found


CHANCES = [(1.0,), (0.5, 0.5), (0.25, 0.75), (1 / 3, 1 / 3, 1 / 3)]


@st.composite
def forks(draw: st.DrawFn, place: int, count: int) -> Fork:
    chance = draw(st.sampled_from(CHANCES))
    capacity = tuple(draw(st.sampled_from([5.0, 10.0, 40.0, math.inf])) for _ in chance)
    after = tuple(draw(st.integers(place + 1, count)) for _ in chance)
    return Fork(capacity, chance, after, draw(st.booleans()))


@st.composite
def small_paths(draw: st.DrawFn) -> Paths:
    count = draw(st.integers(1, 3))
    return Paths(draw(st.integers(1, 3)), draw(st.sampled_from([8.0, 20.0, 45.0])),
                 tuple(draw(forks(place, count)) for place in range(count)))  # fmt: skip


def count_placements(paths: Paths) -> int:
    return math.prod(len(fork.chance) ** (paths.streams if fork.by_stream else 1) for fork in paths.forks)


@settings(max_examples=60, deadline=None)
@given(paths=small_paths())
def test_rates_over_paths_are_those_of_all_placements_written_out(paths: Paths) -> None:
    assume(count_placements(paths) <= MOST_COUNTED)  # of more of them some are drawn
    found = compute_paths(paths)
    if all(max(fork.chance) == 1.0 for fork in paths.forks):
        assert found == RateRange(paths.most, paths.most, paths.most)
        return
    expected = summarise(list_paths(paths))
    assert (found.least, found.mean, found.most) == pytest.approx((expected.least, expected.mean, expected.most))


@pytest.mark.parametrize(("streams", "least"), [(1, 10), (2, 10), (7, 10), (8, 20), (9, 20), (16, 20), (64, 20)])
def test_one_fork_of_two_legs(streams: int, least: float) -> None:
    """All on one leg: 2 in 2^streams, which is 1.6 % of 7 streams and 0.8 % of 8."""
    found = compute_paths(Paths(streams, 20.0, (one_of(2, after=1),)))
    assert (found.least, found.mean) == pytest.approx((least, 10 * count_busy(streams, 2)), rel=1e-3)


def test_a_bond_at_both_ends_needs_more_streams() -> None:
    both = one_of(2, after=1), one_of(2, after=2)
    least = {streams: compute_paths(Paths(streams, 20.0, both)).least for streams in (4, 8, 16, 32)}
    assert least[4] == least[8] == pytest.approx(10)
    assert 10 < least[16] < 20
    assert least[32] == pytest.approx(20)


def test_a_hash_of_addresses_keeps_all_streams_together() -> None:
    found = compute_paths(Paths(64, 20.0, (one_of(2, after=1, by_stream=False),)))
    assert (found.least, found.mean, found.most) == pytest.approx((10, 10, 10))


def test_of_unequal_ways_each_gets_the_same_number_of_streams() -> None:
    """A way of 40 and one of 10: fluid says 20, with many streams both are full."""
    unequal = Fork((40.0, 10.0), (0.5, 0.5), (1, 1))
    found = compute_paths(Paths(16, 50.0, (unequal,)))
    assert (found.least, found.most) == pytest.approx((50, 50))
    one = compute_paths(Paths(1, 40.0, (unequal,)))
    assert (one.least, one.mean, one.most) == pytest.approx((10, 25, 40))


@pytest.mark.parametrize("streams", [11, 12])
def test_drawn_placements_agree_with_counted_ones(streams: int, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = Paths(streams, 20.0, (Fork((10.0, 10.0), (0.25, 0.75), (1, 1)),))
    counted = compute_paths.__wrapped__(paths)
    monkeypatch.setattr(placements, "MOST_COUNTED", 0)
    drawn = compute_paths.__wrapped__(paths)
    assert drawn.mean == pytest.approx(counted.mean, rel=0.02)
    assert drawn.least == pytest.approx(counted.least, rel=0.05)
    assert drawn == compute_paths.__wrapped__(paths)


# -- balls into bins


def list_spread(spread: Spread) -> Outcomes:
    found = []
    for chosen in product(range(len(spread.chance)), repeat=spread.streams):
        carried = (min(spread.capacity[way], chosen.count(way) * spread.offered) for way in range(len(spread.chance)))
        found.append((math.prod(spread.chance[way] for way in chosen), sum(carried)))
    return found


@settings(max_examples=60, deadline=None)
@given(
    streams=st.integers(1, 6), offered=st.sampled_from([1.0, 2.5, 10.0]), chance=st.sampled_from(CHANCES),
    data=st.data(),
)  # fmt: skip
def test_a_spread_is_that_of_all_placements_written_out(
    streams: int, offered: float, chance: tuple[float, ...], data: st.DataObject
) -> None:
    capacity = tuple(data.draw(st.sampled_from([4.0, 10.0, 40.0])) for _ in chance)
    spread = Spread(streams, offered, capacity, chance)
    found, expected = compute_spread(spread), summarise(list_spread(spread))
    assert (found.least, found.mean, found.most) == pytest.approx((expected.least, expected.mean, expected.most))


@pytest.mark.parametrize(("streams", "members"), [(3, 2), (5, 3), (30, 12), (64, 4)])
def test_flows_that_fill_a_member_keep_as_many_busy_as_balls_do(streams: int, members: int) -> None:
    """E = M (1 - (1 - 1/M)^N): the mean of what busy members carry."""
    found = compute_spread(Spread(streams, 10.0, (10.0,) * members, (1 / members,) * members))
    assert found.mean == pytest.approx(10 * count_busy(streams, members), rel=0.01)


def test_more_streams_of_the_same_sum_lose_less() -> None:
    least = [
        compute_spread(Spread(streams, 160.0 / streams, (40.0,) * 4, (0.25,) * 4)).least
        for streams in (32, 64, 128, 256, 512)
    ]
    assert least == sorted(least)
    assert 0.70 < least[0] / 160 < 0.80 < least[2] / 160 < 0.90 < least[3] / 160


def test_a_rarer_placement_is_no_better() -> None:
    spread = {unlucky: Spread(64, 2.5, (40.0,) * 4, (0.25,) * 4, unlucky) for unlucky in (0.1, 0.01, 0.001)}
    least = [compute_spread(each).least for each in spread.values()]
    assert least == sorted(least, reverse=True)


@pytest.mark.parametrize(
    "ask", [lambda: compute_paths(Paths(0, 1.0, ())), lambda: compute_spread(Spread(0, 1.0, (1.0,), (1.0,)))]
)
def test_without_streams_there_is_nothing_to_place(ask: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="expected at least one"):
        ask()


def test_the_filling_of_this_test_is_the_max_min_of_the_product() -> None:
    """The two ways to fill are written apart: here they meet on one placement of five streams."""
    forks_ = (Fork((10.0, 40.0), (0.5, 0.5), (1, 1)), Fork((10.0, 10.0), (0.5, 0.5), (2, 2)))
    walks = [[(0, 0), (1, 0)], [(0, 0), (1, 1)], [(0, 1), (1, 1)], [(0, 1), (1, 1)], [(0, 1), (1, 0)]]
    number = {(0, 0): 0, (0, 1): 1, (1, 0): 2, (1, 1): 3}
    used = Usage(np.repeat(np.arange(5), 2), np.array([number[way] for walk in walks for way in walk]), np.ones(10))
    rates = max_min(used, np.array([10.0, 40.0, 10.0, 10.0]), np.full(5, np.inf))
    assert rate_of(Paths(5, 100.0, forks_), walks) == pytest.approx(float(rates.sum()))
