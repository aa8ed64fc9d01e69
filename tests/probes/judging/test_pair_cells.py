"""The matrix of pairs, kept as rounds come, is that of the newest flow of each pair."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.judging.pair_cells import PairCells, PairShares

FLOWS = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("vwxyz"), st.floats(0.1, 2.0)), max_size=6)
BLOCKS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(("m", "n")), FLOWS, FLOWS), max_size=6)


def as_shares(flows: Sequence[tuple[str, str, float]]) -> PairShares:
    return [(source, sink) for source, sink, _ in flows], np.array([share for *_, share in flows])


def as_cells(cells: PairCells) -> dict[tuple[str, str], float]:
    matrix = cells.make_matrix()
    assert list(matrix.names) == sorted(matrix.names)
    ends = zip(matrix.sources.tolist(), matrix.sinks.tolist(), strict=True)
    pairs = [(matrix.names[source], matrix.names[sink]) for source, sink in ends]
    assert len(set(pairs)) == len(pairs)
    return dict(zip(pairs, matrix.shares.tolist(), strict=True))


@given(BLOCKS)
def test_the_newest_flow_of_each_pair_counts_and_datagrams_where_there_is_no_other(
    blocks: list[tuple[int, str, list[tuple[str, str, float]], list[tuple[str, str, float]]]],
) -> None:
    cells, streams, datagrams = PairCells(), {}, {}
    for number, metric, streamed, sent in blocks:
        cells.add((number, metric), as_shares(streamed), as_shares(sent))
        streams[number, metric], datagrams[number, metric] = streamed, sent
        wanted: dict[tuple[str, str], float] = {}
        for own in (datagrams, streams):
            for key in sorted(own):
                wanted |= {(source, sink): share for source, sink, share in own[key]}
        assert as_cells(cells) == wanted


def test_a_round_that_is_taken_in_again_counts_instead() -> None:
    cells = PairCells()
    cells.add((1, "m"), as_shares([("a", "b", 0.5), ("c", "d", 0.6)]))
    cells.add((1, "m"), as_shares([("a", "b", 0.9)]))
    assert as_cells(cells) == {("a", "b"): 0.9}


def test_nothing_is_left_of_what_was_forgotten() -> None:
    cells = PairCells()
    cells.add((1, "m"), as_shares([("x", "y", 0.5)]), as_shares([("y", "z", 0.5)]))
    assert set(as_cells(cells)) == {("x", "y"), ("y", "z")}
    cells.clear()
    assert as_cells(cells) == {}
    cells.add((2, "m"), as_shares([("a", "b", 0.7), ("b", "c", 0.8)]))
    assert cells.make_matrix().names == ("a", "b", "c")
