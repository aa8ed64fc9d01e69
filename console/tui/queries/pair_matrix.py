"""Pairs as a matrix: who sent to whom, and the share that arrived; by switch where nodes are many. Pure."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from benchconsole.console.tui.queries.node_columns import under_of
from benchconsole.console.tui.queries.result_areas import is_pair
from benchconsole.console.view.result_rows import ResultRow, list_current_rows
from benchconsole.console.view.run_view import RunView, State, worst
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.natural_order import make_natural_key

MOST_NODES = 32
"""Nodes up to which each has a row and a column of its own."""

_Key = TypeVar("_Key", bound=Hashable)
Place = tuple[str, str]
"""A sender and a receiver, each a node or the switch that nodes are under."""


@dataclass(frozen=True, slots=True)
class PairCell:
    """The pairs from one sender to one receiver, or all of one of them.

    ``low`` and ``mean`` are shares of what was expected; None where none of the pairs has one.
    """

    state: State
    pairs: int
    low: float | None
    mean: float | None


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """``cells`` by sender and receiver, in the order of ``sources`` and ``sinks``; each of these has a sum of its own.

    ``is_grouped``: they are switches, and a cell holds the pairs from the nodes under one to those under the other.
    """

    sources: tuple[str, ...]
    sinks: tuple[str, ...]
    cells: Mapping[Place, PairCell]
    by_source: Mapping[str, PairCell]
    by_sink: Mapping[str, PairCell]
    is_grouped: bool


def make_pair_matrix(view: RunView, within: Place | None = None) -> PairMatrix:
    """The matrix of a session; ``within``: of the pairs from the nodes under one switch to those under another."""
    under = under_of(view.fabric)
    pairs = [row for row in list_current_rows(view) if is_pair(view, row)]
    if within is not None:
        pairs = [row for row in pairs if _name(row, under) == within]
    nodes = {node for row in pairs for node in row.nodes}
    is_grouped = within is None and len(nodes) > MOST_NODES
    placed = [(_name(row, under if is_grouped else {}), row) for row in pairs]
    return PairMatrix(
        _order(source for (source, _), _ in placed),
        _order(sink for (_, sink), _ in placed),
        _sum_up(placed),
        _sum_up((source, row) for (source, _), row in placed),
        _sum_up((sink, row) for (_, sink), row in placed),
        is_grouped,
    )


def _name(row: ResultRow, under: Mapping[str, str]) -> Place:
    source, sink = row.nodes
    return under.get(source) or source, under.get(sink) or sink


def _order(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*names}, key=make_natural_key))


def _sum_up(placed: Iterable[tuple[_Key, ResultRow]]) -> dict[_Key, PairCell]:
    return {place: _make_cell(rows) for place, rows in group_by_key(placed).items()}


def _make_cell(rows: Sequence[ResultRow]) -> PairCell:
    shares = [row.verdict.share for row in rows if row.verdict is not None and row.verdict.share is not None]
    low, mean = (min(shares), fmean(shares)) if shares else (None, None)
    return PairCell(worst(row.state for row in rows), len(rows), low, mean)
