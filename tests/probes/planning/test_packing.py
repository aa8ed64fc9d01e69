"""First-fit held against the textbook's, colouring against König's theorem, bounds against counting by hand."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.planning.packing import FULL_AT, Uses, find_coloured_rounds, find_shortest, first_fit


def uses(jobs: list[list[tuple[str, float]]]) -> Uses:
    """Jobs by the names of what they take, and how much."""
    made = Uses()
    slots: dict[tuple[str, float], int] = {}
    resources: dict[str, int] = {}
    for job in jobs:
        numbers = []
        for key, weight in job:
            if (key, weight) not in slots:
                resources.setdefault(key, len(resources))
                if resources[key] == len(made.keys):
                    made.keys.append(key)
                slots[key, weight] = len(made.weight)
                made.resource.append(resources[key])
                made.weight.append(weight)
            numbers.append(slots[key, weight])
        made.jobs.append(tuple(numbers))
    return made


def textbook(jobs: list[list[tuple[str, float]]], order: list[int]) -> list[int]:
    """Each job into the first round with room, by looking at one round after the other."""
    rounds: list[dict[str, float]] = []
    found = [0] * len(jobs)
    for job in order:
        at = 0
        while at < len(rounds) and any(rounds[at].get(key, 0.0) + weight > FULL_AT for key, weight in jobs[job]):
            at += 1
        if at == len(rounds):
            rounds.append({})
        for key, weight in jobs[job]:
            rounds[at][key] = rounds[at].get(key, 0.0) + weight
        found[job] = at
    return found


def loads(made: Uses, rounds: list[int]) -> dict[tuple[int, int], float]:
    taken: dict[tuple[int, int], float] = {}
    for job, at in zip(made.jobs, rounds, strict=True):
        for slot in job:
            key = (at, made.resource[slot])
            taken[key] = taken.get(key, 0.0) + made.weight[slot]
    return taken


weights = st.sampled_from([1.0, 0.5, 0.25, 0.2, 0.125])
job = st.dictionaries(st.sampled_from("abcdef"), weights, min_size=0, max_size=4).map(lambda found: list(found.items()))


@given(st.lists(job, max_size=40), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_bits_give_what_the_textbook_gives(jobs: list[list[tuple[str, float]]], chance: random.Random) -> None:
    made, order = uses(jobs), list(range(len(jobs)))
    chance.shuffle(order)
    found = first_fit(made, order)
    assert found == textbook(jobs, order)
    assert all(load <= FULL_AT for load in loads(made, found).values())


@given(st.lists(job, min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_no_schedule_needs_fewer_rounds_than_the_bound(jobs: list[list[tuple[str, float]]]) -> None:
    made = uses(jobs)
    bound, _ = made.bound()
    found = find_shortest(made)
    assert all(load <= FULL_AT for load in loads(made, found).values())
    assert bound <= max(found) + 1
    assert set(found) == set(range(max(found) + 1)), "no round is empty"


def test_the_bound_counts_what_fits_and_not_only_how_much() -> None:
    assert uses([[("link", 0.4)]] * 6).bound() == (3, "link")
    assert uses([[("link", 0.4)]] * 10).bound() == (5, "link")  # two fit at once, though all are only 4 links full
    assert uses([[("link", 0.6)], [("link", 0.6)], [("link", 0.1)]]).bound() == (2, "link")
    assert uses([[("link", 0.25)]] * 8 + [[("node", 1.0)]] * 3).bound() == (3, "node")
    assert uses([[("link", weight)] for weight in (0.51, 0.52, 0.53)]).bound() == (3, "link")  # no two of them fit
    assert uses([[("link", weight)] for weight in (0.48, 0.49, 0.5)]).bound() == (2, "link")
    assert uses([]).bound() == (0, None)
    assert uses([[]]).bound() == (1, None)


@given(st.integers(2, 6), st.integers(1, 40), st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_one_level_is_coloured_with_as_many_rounds_as_its_largest_degree(
    leaves: int, flows: int, units: int, seed: int
) -> None:
    chance = random.Random(seed)
    jobs: list[list[tuple[str, float]]] = []
    for _ in range(flows):
        one, other = chance.randrange(leaves), chance.randrange(leaves)
        jobs.append([(f"{one} up", 1 / units), (f"{other} down", 1 / units)] if one != other else [])
    made = uses(jobs)
    bound, _ = made.bound()
    found = find_coloured_rounds(made, bound)
    assert found is not None
    assert max(found) + 1 <= bound
    assert all(load <= FULL_AT for load in loads(made, found).values())


def test_greedy_alone_would_need_more() -> None:
    """Three leaves, whose flows in this order leave first-fit one round behind."""
    ends = [(2, 1), (2, 1), (0, 1), (0, 2), (0, 1), (1, 0), (1, 2), (0, 2)]
    jobs = [[(f"{one} up", 1.0), (f"{other} down", 1.0)] for one, other in ends]
    made = uses(jobs)
    bound, _ = made.bound()
    greedy = max(first_fit(made, range(len(jobs)))) + 1
    assert (bound, greedy, max(find_coloured_rounds(made, bound) or [0]) + 1) == (4, 5, 4)


@pytest.mark.parametrize(
    "jobs",
    [
        pytest.param([[("a", 1.0), ("b", 1.0)], [("b", 1.0), ("c", 1.0)], [("c", 1.0), ("a", 1.0)]], id="odd circle"),
        pytest.param([[("a", 1.0), ("b", 1.0), ("c", 1.0)]] * 2, id="three at once"),
        pytest.param([[("a", 0.5), ("b", 1.0)], [("a", 1.0), ("b", 1.0)]], id="unequal parts"),
    ],
)
def test_what_is_no_bipartite_graph_is_left_to_first_fit(jobs: list[list[tuple[str, float]]]) -> None:
    made = uses(jobs)
    assert find_coloured_rounds(made, 3) is None
    assert max(find_shortest(made)) + 1 == max(textbook(jobs, list(range(len(jobs))))) + 1
