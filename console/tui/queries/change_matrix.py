"""One compared metric as a matrix of changes: sender by receiver, or the nodes under each switch. Pure."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import TypeVar

from benchconsole.console.conclusions.session_comparison import ComparedMetric, Outcome
from benchconsole.console.tui.queries.area import Row
from benchconsole.console.tui.queries.comparison_area import A_ALONE, B_ALONE, list_subjects
from benchconsole.console.tui.queries.matrix import MOST_NODES, Matrix, Place, order_names
from benchconsole.probes.model.measuring import Target
from benchconsole.topology.grouping import group_by_key

_Key = TypeVar("_Key", bound=Hashable)


class Turn(StrEnum):
    """How one node or pair of B stands to that of A, the worst first: its outcome, or which side alone measured it."""

    WORSE = Outcome.WORSE.value
    A_ALONE = A_ALONE
    B_ALONE = B_ALONE
    HIGHER = Outcome.HIGHER.value
    LOWER = Outcome.LOWER.value
    BETTER = Outcome.BETTER.value
    UNJUDGED = Outcome.NOT_COMPARABLE.value
    NO_EFFECT = Outcome.NO_EFFECT.value
    SAME = Outcome.SAME.value


MARKS = {
    Turn.WORSE: "▾", Turn.A_ALONE: "A", Turn.B_ALONE: "B", Turn.HIGHER: "", Turn.LOWER: "", Turn.BETTER: "▴",
    Turn.UNJUDGED: "?", Turn.NO_EFFECT: "·", Turn.SAME: "·",
}  # fmt: skip
"""The sign of each turn; where nobody knows which way is better the sign of the number is all."""

_MOST = 9.995


@dataclass(frozen=True, slots=True)
class ChangeCell:
    """The nodes or pairs of one cell; ``row`` is the worst of them, as ``list_subjects`` gives it.

    ``change`` is that of the worst and ``mean`` that of all, shares of A; None where nothing gives a share.
    """

    turn: Turn
    counts: Mapping[Turn, int]
    row: Row
    change: float | None
    mean: float | None


def has_map(each: ComparedMetric) -> bool:
    """Whether a metric was compared, and measured on nodes alone or on pairs alone."""
    targets = [test.target for sample in each.samples for test in sample.tests]
    is_pair = {target.peer is not None for target in targets}
    return len(is_pair) == 1 and not any(len(target.members) > 1 for target in targets)


def make_change_matrix(
    each: ComparedMetric, under: Mapping[str, str], within: Place | None = None
) -> Matrix[ChangeCell]:
    """The matrix of a metric that ``has_map``; ``under`` gives the switch of a node.

    Pairs stand by sender and receiver, by switch where nodes are many; ``within``: those from the nodes under one
    switch to those under another. A node stands in the row of its switch, and columns number the nodes of a row.
    """
    targets = {test.target.key: test.target for sample in each.samples for test in sample.tests}
    rows = {str(row.record["of"]): row for row in list_subjects(each).rows}
    if any(target.peer is not None for target in targets.values()):
        return _place_pairs(rows, targets, under, within)
    return _place_nodes(rows, under)


def _place_nodes(rows: Mapping[str, Row], under: Mapping[str, str]) -> Matrix[ChangeCell]:
    cells, places = {}, Counter[str]()
    for name in order_names(rows):
        switch = under.get(name) or name
        places[switch] += 1
        cells[switch, str(places[switch])] = _make_cell([rows[name]])
    by_switch = group_by_key((switch, cell.row) for (switch, _), cell in cells.items())
    return Matrix(
        order_names(by_switch), order_names(place for _, place in cells), cells, _sum_up(by_switch), {}, False
    )


def _place_pairs(
    rows: Mapping[str, Row], targets: Mapping[str, Target], under: Mapping[str, str], within: Place | None
) -> Matrix[ChangeCell]:
    ends: dict[str, Place] = {
        key: (target.node.id, target.peer.id) for key, target in targets.items() if target.peer is not None
    }
    switches = {key: (under.get(one) or one, under.get(other) or other) for key, (one, other) in ends.items()}
    kept = [key for key in rows if within is None or switches[key] == within]
    is_grouped = within is None and len({node for key in kept for node in ends[key]}) > MOST_NODES
    placed = [((switches if is_grouped else ends)[key], rows[key]) for key in kept]
    return Matrix(
        order_names(source for (source, _), _ in placed),
        order_names(sink for (_, sink), _ in placed),
        _sum_up(group_by_key(placed)),
        _sum_up(group_by_key((source, row) for (source, _), row in placed)),
        _sum_up(group_by_key((sink, row) for (_, sink), row in placed)),
        is_grouped,
    )


def _sum_up(rows: Mapping[_Key, Sequence[Row]]) -> dict[_Key, ChangeCell]:
    return {key: _make_cell(own) for key, own in rows.items()}


_RANKS = {turn: rank for rank, turn in enumerate(Turn)}


def _make_cell(rows: Sequence[Row]) -> ChangeCell:
    turns = [Turn(str(row.record["outcome"])) for row in rows]
    worst = min(range(len(rows)), key=lambda at: (_RANKS[turns[at]], -abs(rows[at].number("change") or 0.0)))
    changes = [change for row in rows if (change := row.number("change")) is not None]
    mean = fmean(changes) if changes else None
    return ChangeCell(turns[worst], Counter(turns), rows[worst], rows[worst].number("change"), mean)


def format_cell(cell: ChangeCell) -> str:
    """``▾-12``, ``▴+3``, ``·-5`` (no effect), ``·`` (the same): the worst of a cell in six columns at most."""
    has_number = cell.change is not None and cell.turn is not Turn.SAME
    return f"{MARKS[cell.turn]}{format_change(cell.change)}" if has_number else MARKS[cell.turn] or cell.turn[:4]


def format_change(change: float | None) -> str:
    """``-12``, ``+3``, ``0``; nothing without a share, and ``>999`` beyond ten times as much."""
    if change is None:
        return ""
    shown = round(change * 100)
    return ">999" if change >= _MOST else f"{shown:+d}" if shown else "0"


def tell_counts(counts: Mapping[Turn, int]) -> str:
    """``2 worse, 1 in A alone, 9 same``."""
    return ", ".join(f"{counts[turn]:,} {turn}" for turn in Turn if counts.get(turn))
