from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.wire.swaps import find_exchanges


def test_pairs_are_told_apart() -> None:
    moves = {"a": (1, 2), "b": (2, 1), "c": (1, 3), "d": (3, 1), "e": (4, 4)}
    assert find_exchanges(moves) == [("a", "b"), ("c", "d")]


def test_several_between_two_places_are_one_group() -> None:
    assert find_exchanges({"a": (1, 2), "b": (1, 2), "c": (2, 1), "d": (2, 1)}) == [("a", "b", "c", "d")]


def test_a_move_without_a_counterpart_is_no_exchange() -> None:
    assert find_exchanges({"a": (1, 2)}) == []
    assert find_exchanges({"a": (1, 2), "b": (1, 2), "c": (2, 1)}) == []
    assert find_exchanges({"a": (1, 2), "b": (2, 3)}) == []


def test_a_ring_is_one_group_and_separate_rings_are_two() -> None:
    ring = {"a": (1, 2), "b": (2, 3), "c": (3, 1)}
    other = {"d": (4, 5), "e": (5, 6), "f": (6, 4)}
    assert [set(group) for group in find_exchanges(ring | other)] == [set(ring), set(other)]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14))
@settings(max_examples=200)
def test_in_every_group_as_many_come_to_each_place_as_go(ways: list[tuple[int, int]]) -> None:
    moves = dict(enumerate(ways))
    groups = find_exchanges(moves)
    movers = [mover for group in groups for mover in group]
    assert len(movers) == len(set(movers))
    for group in groups:
        assert sorted(moves[mover][0] for mover in group) == sorted(moves[mover][1] for mover in group)
        assert all(moves[mover][0] != moves[mover][1] for mover in group)


@given(st.permutations(range(12)))
@settings(max_examples=100)
def test_of_a_permutation_every_ring_is_found(order: list[int]) -> None:
    moves = dict(enumerate(zip(range(12), order, strict=True)))
    movers = {mover for group in find_exchanges(moves) for mover in group}
    assert movers == {mover for mover, (home, here) in moves.items() if home != here}
