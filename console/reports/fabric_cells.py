"""The picture of the fabric in printed reports: rows of cells as numbers and SVG paths.

One row for the nodes on the same switches; a large fabric folds the rows in which nothing is wrong. Only digits and
fixed letters go into a path, so nothing that a node said can. The template has the colours.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchconsole.console.reports.tables import format_tally
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import RunView, State, worst
from benchconsole.console.view.wording import SIGNS, format_quantity
from benchconsole.topology.element_names import link_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import Shown, Unit
from benchconsole.topology.units import counted as count

PITCH = 15
GROUP_GAP = 4
PER_GROUP = 4
PER_LINE = 32
MOST_ROWS = 48
"""Rows drawn before healthy ones fold; a page of A4 holds about as many."""
MOST_LINKS = 60
QUIET = (State.PASS, State.SKIPPED)

STROKES: dict[State, str] = {
    State.FAIL: "m3.5 3.5l6 6m0-6l-6 6",
    State.UNREACHABLE: "m10.5 6.5a4 4 0 1 1-8 0a4 4 0 1 1 8 0zm-7.5 4.5l7-9",
    State.WATCH: "m6.5 2.5l4.5 8h-9z",
    State.UNKNOWN: "m4.2 4.6c0-3 4.8-3 4.8 0c0 1.8-2.5 1.6-2.5 3.4m0 1.8v1",
    State.AFFECTED: "m6.5 3l4 7h-8z",
    State.HELD: "m3 5h7m-7 3h7",
    State.RUNNING: "m4 2.5l6 4l-6 4z",
    State.MEASURED: "m9.5 6.5a3 3 0 1 1-6 0a3 3 0 1 1 6 0z",
    State.SKIPPED: "m4 6.5h5",
    State.PASS: "m5.5 6.5h2",
}
"""The drawing in a cell for each state, from its upper left corner."""


class LeafRow(NamedTuple):
    """Nodes on the same switches; ``marks`` are the squares and signs of each state, none where the row is folded."""

    label: str
    words: str
    state: State
    width: int = 0
    height: int = 0
    marks: tuple[tuple[State, str, str], ...] = ()


class ImpairedLink(NamedTuple):
    """A link between switches that is not as built."""

    name: str
    words: str
    state: State
    members: tuple[bool, ...]


class FabricCells(NamedTuple):
    """The fabric as it stands; ``wires`` worst first, ``legend`` names the states that occur."""

    rows: tuple[LeafRow, ...]
    wires: tuple[ImpairedLink, ...]
    legend: tuple[State, ...]
    width: int


Cells = Sequence[tuple[str, State]]


def draw_fabric(view: RunView) -> FabricCells:
    """The picture of a session."""
    states = {node: view.nodes[node].state if node in view.nodes else State.SKIPPED for node in view.fabric.nodes}
    drawn = list(group_by_key((view.fabric.switch_of(node), (node, state)) for node, state in states.items()).items())
    few = len(drawn) <= MOST_ROWS
    rows = tuple(_make_row(switches, cells) for switches, cells in drawn) if few else tuple(_fold_rows(drawn))
    return FabricCells(
        rows=rows,
        wires=tuple(sorted(_list_wires(view), key=lambda wire: wire.state.rank)),
        legend=tuple(state for state in State if state in states.values()),
        width=max((row.width for row in rows), default=0),
    )


def _place_cell(index: int) -> tuple[int, int]:
    column, line = index % PER_LINE, index // PER_LINE
    return column * PITCH + column // PER_GROUP * GROUP_GAP, line * PITCH


def _make_row(switches: tuple[str, ...], cells: Cells) -> LeafRow:
    corners = group_by_key((state, "M{} {}".format(*_place_cell(index))) for index, (_, state) in enumerate(cells))
    marks = tuple(
        (
            state,
            "".join(f"{at}h13v13h-13z" for at in corners[state]),
            "".join(f"{at}{STROKES[state]}" for at in corners[state]),
        )
        for state in State
        if state in corners
    )
    wide, deep = _place_cell(min(len(cells), PER_LINE) - 1)[0], _place_cell(len(cells) - 1)[1]
    return LeafRow(
        label=" ".join(map(sanitize, dict.fromkeys(switches))) or "no switch",
        words=_describe_row(cells),
        state=worst(state for _, state in cells),
        width=wide + PITCH,
        height=deep + PITCH,
        marks=marks,
    )


def _describe_row(cells: Cells) -> str:
    """The words beside a row: only nodes that are not well, by name; or that all are alike."""
    wrong = group_by_key((state, node) for node, state in cells if state not in QUIET)
    if not wrong:
        return f"{count(len(cells), 'node')}, {format_tally(state for _, state in cells)}"
    return "; ".join(f"{SIGNS[state].word} {fold_names(wrong[state])}" for state in State if state in wrong)


def _fold_rows(drawn: Iterable[tuple[tuple[str, ...], Cells]]) -> Iterator[LeafRow]:
    """Rows with trouble as they are; healthy neighbours as one line of words."""
    quiet: list[tuple[tuple[str, ...], Cells]] = []
    shown = 0
    for switches, cells in drawn:
        calm = all(state in QUIET for _, state in cells)
        # A fabric in which everything is wrong must not become hundreds of pages.
        if calm or shown >= 2 * MOST_ROWS:
            quiet.append((switches, cells))
            continue
        if quiet:
            yield _make_folded_row(quiet)
            quiet = []
        shown += 1
        yield _make_row(switches, cells)
    if quiet:
        yield _make_folded_row(quiet)


def _make_folded_row(quiet: list[tuple[tuple[str, ...], Cells]]) -> LeafRow:
    switches = fold_names(name for names, _ in quiet for name in names) or "no switch"
    states = [state for _, cells in quiet for _, state in cells]
    return LeafRow(switches, f"{count(len(states), 'node')}, {format_tally(states)}", worst(states))


def _list_wires(view: RunView) -> Iterator[ImpairedLink]:
    for link_id, seen in view.links.items():
        link = view.fabric.links.get(link_id)
        if link is None or seen.state not in (State.FAIL, State.WATCH, State.UNKNOWN, State.UNREACHABLE):
            continue
        up = link.count if seen.members_up is None else max(min(seen.members_up, link.count), 0)
        words = [f"{up} of {link.count} members up"] if link.is_lag and seen.members_up is not None else []
        if seen.measured is not None and seen.expected is not None:
            rates = (format_quantity(rate, Unit.BYTE_RATE, Shown.NETWORK) for rate in (seen.measured, seen.expected))
            words.append(" of ".join(rates))
        yield ImpairedLink(
            name=sanitize(link_name(view.fabric, link)),
            words=", ".join(words),
            state=seen.state,
            members=tuple(index < up for index in range(link.count)) if link.is_lag else (),
        )
