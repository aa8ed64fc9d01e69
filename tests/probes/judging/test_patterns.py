"""Patterns in a matrix of pairs: what is called one, what is none, and that noise is none."""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import numpy as np
import pytest

from benchconsole.probes.judging.pair_cells import NO_SHARES, PairCells, PairShares
from benchconsole.probes.judging.patterns import PairMatrix, Pattern, PatternKind, find_patterns

ROW, COLUMN, BOTH, BLOCK = PatternKind.ROW, PatternKind.COLUMN, PatternKind.BOTH, PatternKind.BLOCK
EVERYTHING, CHECKERBOARD = PatternKind.EVERYTHING, PatternKind.CHECKERBOARD
HOSTS = tuple(f"n{number}" for number in range(1, 9))
RACKS = {name: "left" if name < "n5" else "right" for name in HOSTS}
THREE = {name: f"r{number // 3}" for number, name in enumerate(HOSTS)}
Told = tuple[PatternKind, tuple[str, ...]]


def read_matrix(rounds: Sequence[PairShares], datagrams: Sequence[PairShares] = ()) -> PairMatrix:
    """The matrix of these rounds, one after the other."""
    cells = PairCells()
    for number, shares in enumerate(datagrams):
        cells.add((number, "udp"), NO_SHARES, shares)
    for number, shares in enumerate(rounds, len(datagrams)):
        cells.add((number, "tcp"), shares)
    return cells.make_matrix()


def matrix(share: Callable[[str, str], float], hosts: tuple[str, ...] = HOSTS) -> PairMatrix:
    """Every host to every other one."""
    pairs = list(permutations(hosts, 2))
    return read_matrix([(pairs, np.array([share(*pair) for pair in pairs]))])


def tell(found: list[Pattern]) -> list[Told]:
    return [(each.kind, each.places) for each in found]


def find(share: Callable[[str, str], float], groupings: Mapping[str, Mapping[str, str]] | None = None) -> list[Told]:
    return tell(find_patterns(matrix(share), groupings or {}))


def slow_where(condition: Callable[[str, str], bool], slow: float = 0.5) -> Callable[[str, str], float]:
    return lambda source, sink: slow if condition(source, sink) else 0.95


def odd(name: str) -> bool:
    return int(name[1:]) % 2 == 1


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (lambda _source, _sink: False, []),
        (lambda source, _sink: source == "n3", [(ROW, ("n3",))]),
        (lambda _source, sink: sink == "n3", [(COLUMN, ("n3",))]),
        (lambda source, sink: "n3" in (source, sink), [(BOTH, ("n3",))]),
        (lambda source, sink: source == "n3" or sink == "n5", [(ROW, ("n3",)), (COLUMN, ("n5",))]),
        (lambda source, sink: (source, sink) == ("n1", "n2"), []),
        (lambda source, sink: odd(source) is not odd(sink), [(CHECKERBOARD, ("n[1,3,5,7]", "n[2,4,6,8]"))]),
        (lambda source, sink: odd(source) is odd(sink), [(CHECKERBOARD, ("n[1,3,5,7]", "n[2,4,6,8]"))]),
        (lambda _source, _sink: True, [(EVERYTHING, HOSTS)]),
    ],
)
def test_named_patterns(condition: Callable[[str, str], bool], found: list[Told]) -> None:
    assert find(slow_where(condition)) == found


@pytest.mark.parametrize(
    ("condition", "places", "within", "both_ways"),
    [
        (lambda source, sink: (source, sink) == ("r0", "r1"), ("r0", "r1"), False, False),
        (lambda source, sink: {source, sink} == {"r0", "r1"}, ("r0", "r1"), False, True),
        (lambda source, sink: source == sink == "r1", ("r1",), True, False),
        (lambda source, sink: source != sink and source == "r1", ("r1", ""), False, False),
        (lambda source, sink: source != sink and sink == "r1", ("", "r1"), False, False),
    ],
)
def test_blocks(condition: Callable[[str, str], bool], places: tuple[str, ...], within: bool, both_ways: bool) -> None:
    share = slow_where(lambda source, sink: condition(THREE[source], THREE[sink]))
    (found,) = find_patterns(matrix(share), {"rack": THREE})
    assert (found.kind, found.places, found.grouping) == (BLOCK, places, "rack")
    assert (found.within, found.both_ways) == (within, both_ways)
    assert found.slow == found.cells == len(found.pairs)
    assert (found.level, found.rest) == (0.5, 0.95)


def test_what_two_racks_have_between_them_is_a_block_and_no_checkerboard() -> None:
    across = slow_where(lambda source, sink: RACKS[source] != RACKS[sink])
    assert find(across, {"rack": RACKS}) == [(BLOCK, ("left", "right"))]
    assert find(across) == [(CHECKERBOARD, ("n[1-4]", "n[5-8]"))]


@pytest.mark.parametrize(
    ("slow", "found"), [(6, [(ROW, ("n3",))]), (5, [])]  # 6 of 7 are 86 %, 5 of 7 are 71 %
)  # fmt: skip
def test_a_row_is_slow_in_three_of_four_cells(slow: int, found: list[Told]) -> None:
    chosen = [name for name in HOSTS if name != "n3"][:slow]
    assert find(slow_where(lambda source, sink: source == "n3" and sink in chosen)) == found


@pytest.mark.parametrize(("share", "found"), [(0.807, [(ROW, ("n3",))]), (0.808, [])])
def test_slow_is_less_than_85_per_cent_of_what_others_give(share: float, found: list[Told]) -> None:
    assert find(slow_where(lambda source, _: source == "n3", share)) == found


@pytest.mark.parametrize(("partners", "found"), [(3, [(ROW, ("n3",))]), (2, [])])
def test_a_row_has_three_cells(partners: int, found: list[Told]) -> None:
    pairs = [("n3", name) for name in ("n1", "n2", "n4")[:partners]]
    good = [("n5", "n6"), ("n6", "n7"), ("n7", "n8")]
    made = read_matrix([(pairs + good, np.array([0.5] * partners + [0.95] * 3))])
    assert tell(find_patterns(made, {})) == found


@pytest.mark.parametrize(("good", "found"), [(3, [(ROW, ("n3",))]), (2, [])])
def test_a_row_stands_out_from_three_good_cells(good: int, found: list[Told]) -> None:
    pairs = [("n3", "n1"), ("n3", "n2"), ("n3", "n4"), *[("n5", "n6"), ("n6", "n7"), ("n7", "n8")][:good]]
    made = read_matrix([(pairs, np.array([0.5] * 3 + [0.95] * good))])
    assert tell(find_patterns(made, {})) == found


@pytest.mark.parametrize(
    ("hosts", "good", "found"),
    [
        (("n1", "n2"), 0, []),
        (("n1", "n2", "n3"), 0, [EVERYTHING]),
        (("n1", "n2", "n3", "n4"), 1, []),
        (("n1", "n2", "n3", "n4", "n5"), 1, [EVERYTHING]),  # 1 of 20 is good
        (("n1", "n2", "n3", "n4", "n5"), 2, []),
    ],
)
def test_everything_leaves_one_in_20_and_needs_three_hosts(
    hosts: tuple[str, ...], good: int, found: list[PatternKind]
) -> None:
    pairs = list(permutations(hosts, 2))
    shares = np.array([0.95] * good + [0.4] * (len(pairs) - good))
    assert [each.kind for each in find_patterns(read_matrix([(pairs, shares)]), {})][:1] == found


def test_everything_counts_the_pairs_that_are_slow() -> None:
    pairs = list(permutations(("n1", "n2", "n3", "n4", "n5"), 2))
    (found,) = find_patterns(read_matrix([(pairs, np.array([0.95] + [0.4] * 19))]), {})
    assert (found.slow, found.cells, found.level) == (19, 20, 0.4)
    assert found.pairs == frozenset(pairs[1:])


@pytest.mark.parametrize(("other", "found"), [(0.38, [EVERYTHING]), (0.36, [])])  # 25 % below 0.5 is 0.375
def test_everything_is_slow_alike(other: float, found: list[PatternKind]) -> None:
    share = slow_where(lambda source, sink: int(source[1:]) + int(sink[1:]) > 10, other)
    made = find_patterns(matrix(lambda source, sink: 0.5 if share(source, sink) > 0.9 else other), {})
    assert [each.kind for each in made if each.kind is EVERYTHING] == found


def test_beside_everything_a_node_that_is_slower_still_stands_out() -> None:
    found = find_patterns(matrix(lambda source, _: 0.2 if source == "n3" else 0.5), {})
    assert [(each.kind, each.level) for each in found] == [(EVERYTHING, 0.5), (ROW, 0.2)]


def test_the_newest_flow_of_a_pair_counts() -> None:
    pairs = [("n3", name) for name in HOSTS if name != "n3"] + [("n1", "n2"), ("n2", "n4"), ("n4", "n5")]
    low, good = np.array([0.5] * 7 + [0.95] * 3), np.full(10, 0.95)
    assert tell(find_patterns(read_matrix([(pairs, good), (pairs, low)]), {})) == [(ROW, ("n3",))]
    assert find_patterns(read_matrix([(pairs, low), (pairs, good)]), {}) == []


def test_a_ring_is_too_thin_for_a_checkerboard() -> None:
    pairs = list(zip(HOSTS, (*HOSTS[1:], HOSTS[0]), strict=True))
    assert find_patterns(read_matrix([(pairs, np.array([0.5, 0.95] * 4))]), {}) == []


@pytest.mark.parametrize(("hosts", "partners"), [(4, 3), (16, 2), (34, 3), (60, 12), (200, 4)])
def test_noise_is_no_pattern(hosts: int, partners: int) -> None:
    """4 % for each flow and 3 % for each host: 99 of 100 healthy matrices have none."""
    chance = np.random.default_rng(hosts)
    names = [f"n{number}" for number in range(hosts)]
    groupings = {"rack": {name: f"r{number // 8}" for number, name in enumerate(names)}}
    pairs = [(a, (a + step) % hosts) for a in range(hosts) for step in range(1, partners + 1)]
    found = 0
    for _ in range(200):
        speed = 1 - np.abs(chance.normal(0, 0.03, hosts))
        shares = np.array([min(speed[a], speed[b]) for a, b in pairs]) * (1 + chance.normal(0, 0.04, len(pairs)))
        made = read_matrix([([(names[a], names[b]) for a, b in pairs], shares)])
        found += bool(find_patterns(made, groupings))
    assert found <= 2


def test_nothing_measured_is_nothing_found() -> None:
    assert find_patterns(read_matrix([]), {"rack": RACKS}) == []


def test_datagrams_fill_only_pairs_that_nothing_else_was_sent_between() -> None:
    pairs = [(f"a{i}", f"b{i}") for i in range(8)]
    slow, full = np.full(8, 0.3), np.full(8, 0.97)
    (found,) = find_patterns(read_matrix([(pairs, slow)], [(pairs, full)]), {})
    assert (found.kind, found.slow, found.cells) == (PatternKind.EVERYTHING, 8, 8)
    assert find_patterns(read_matrix([(pairs[:1], slow[:1])], [(pairs[1:], full[1:])]), {}) == []
