"""Pairs as a matrix: who sent to whom, and the share that arrived; by switch where nodes are many. Pure."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from benchconsole.console.tui.queries.matrix import MOST_NODES, Matrix, Place, order_names
from benchconsole.console.tui.queries.node_columns import under_of
from benchconsole.console.tui.queries.pair_causes import WELL
from benchconsole.console.tui.queries.result_areas import is_pair
from benchconsole.console.view.result_rows import ResultRow, list_current_rows
from benchconsole.console.view.run_view import RunView, State, worst
from benchconsole.topology.grouping import group_by_key

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class PairCell:
    """The pairs from one sender to one receiver, or all of one of them.

    ``low`` and ``mean`` are shares of what was expected; None where none of the pairs has one. ``tests`` are those of
    the pairs that are not well.
    """

    state: State
    pairs: int
    low: float | None
    mean: float | None
    tests: frozenset[str] = frozenset()


PairMatrix = Matrix[PairCell]


def make_pair_matrix(view: RunView, pairs: Sequence[ResultRow], within: Place | None = None) -> PairMatrix:
    """The matrix of ``pairs``, which ``list_pair_rows`` gives; ``within`` as there."""
    under = under_of(view.fabric)
    nodes = {node for row in pairs for node in row.nodes}
    is_grouped = within is None and len(nodes) > MOST_NODES
    placed = [(_name(row, under if is_grouped else {}), row) for row in pairs]
    return PairMatrix(
        order_names(source for (source, _), _ in placed),
        order_names(sink for (_, sink), _ in placed),
        _sum_up(placed),
        _sum_up((source, row) for (source, _), row in placed),
        _sum_up((sink, row) for (_, sink), row in placed),
        is_grouped,
    )


def list_pair_rows(view: RunView, within: Place | None = None) -> list[ResultRow]:
    """The judged pairs of a session; ``within``: those from the nodes under one switch to those under another."""
    pairs = [row for row in list_current_rows(view) if is_pair(view, row.verdict)]
    if within is None:
        return pairs
    under = under_of(view.fabric)
    return [row for row in pairs if _name(row, under) == within]


def _name(row: ResultRow, under: Mapping[str, str]) -> Place:
    source, sink = row.nodes
    return under.get(source) or source, under.get(sink) or sink


def _sum_up(placed: Iterable[tuple[_Key, ResultRow]]) -> dict[_Key, PairCell]:
    return {place: _make_cell(rows) for place, rows in group_by_key(placed).items()}


def _make_cell(rows: Sequence[ResultRow]) -> PairCell:
    shares = [row.verdict.share for row in rows if row.verdict is not None and row.verdict.share is not None]
    low, mean = (min(shares), fmean(shares)) if shares else (None, None)
    low_tests = frozenset(row.test for row in rows if row.state not in WELL)
    return PairCell(worst(row.state for row in rows), len(rows), low, mean, low_tests)
