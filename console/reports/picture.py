"""Owns the picture of the fabric in printed reports: rows of cells as numbers and SVG paths.

One row for the nodes that hang on the same switches, one cell per node, the worst state wins; a
large fabric folds the rows in which nothing is wrong. Only digits and fixed letters go into a
path, so nothing that a node said can. Refuses colours: the template has them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from console.reports.content import folded
from console.reports.tables import tally_words
from console.view import LinkView, RunView, State, worst
from console.wording import SIGNS, count, plain, quantity
from topology.elements import link_name
from topology.model import Link
from topology.units import Shown, Unit

PITCH = 15
GROUP_GAP = 4
PER_GROUP = 4
PER_LINE = 32
MOST_ROWS = 48
"""Rows drawn before healthy ones fold; a page of A4 holds about as many."""
MOST_LINKS = 60

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
"""What is drawn in a cell for each state, from its upper left corner."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Every cell of one state in one row: ``frames`` are squares, ``strokes`` the signs in them."""

    state: State
    frames: str
    strokes: str


@dataclass(frozen=True, slots=True)
class LeafRow:
    """Nodes on the same switches. Folded rows have no marks, only words."""

    label: str
    words: str
    state: State
    width: int
    height: int
    marks: tuple[Marks, ...]


@dataclass(frozen=True, slots=True)
class Wire:
    """A link between switches that is not as built."""

    name: str
    sign: str
    words: str
    state: State
    members: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """The fabric as it stands; ``legend`` names the states that occur."""

    rows: tuple[LeafRow, ...]
    wires: tuple[Wire, ...]
    more_wires: int
    legend: tuple[State, ...]
    width: int


def draw(view: RunView) -> Picture:
    """The picture of a session."""
    grouped = _grouped(view)
    states: dict[str, State] = {node: seen.state for node, seen in view.nodes.items()}
    drawn = [(switches, [(node, states.get(node, State.SKIPPED)) for node in names]) for switches, names in grouped]
    few = len(drawn) <= MOST_ROWS
    rows = tuple(_row(switches, cells) for switches, cells in drawn) if few else tuple(_folding(drawn))
    wires = sorted(_wires(view), key=lambda wire: wire.state.rank)
    seen = {state for _, cells in drawn for _, state in cells}
    return Picture(
        rows=rows,
        wires=tuple(wires[:MOST_LINKS]),
        more_wires=max(len(wires) - MOST_LINKS, 0),
        legend=tuple(state for state in State if state in seen),
        width=max((row.width for row in rows), default=0),
    )


def _grouped(view: RunView) -> list[tuple[tuple[str, ...], list[str]]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for node in view.fabric.nodes:
        groups.setdefault(view.fabric.switch_of(node), []).append(node)
    return list(groups.items())


Cells = list[tuple[str, State]]


def _place(index: int) -> tuple[int, int]:
    column, line = index % PER_LINE, index // PER_LINE
    return column * PITCH + column // PER_GROUP * GROUP_GAP, line * PITCH


def _row(switches: tuple[str, ...], cells: Cells) -> LeafRow:
    frames: dict[State, list[str]] = {}
    for index, (_, state) in enumerate(cells):
        across, down = _place(index)
        frames.setdefault(state, []).append(f"M{across} {down}")
    marks = tuple(
        Marks(
            state,
            "".join(f"{at}h13v13h-13z" for at in frames[state]),
            "".join(f"{at}{STROKES[state]}" for at in frames[state]),
        )
        for state in State
        if state in frames
    )
    wide, _ = _place(min(len(cells), PER_LINE) - 1)
    _, deep = _place(len(cells) - 1)
    return LeafRow(
        label=_label(switches),
        words=_words(cells),
        state=worst(state for _, state in cells),
        width=wide + PITCH,
        height=deep + PITCH,
        marks=marks,
    )


def _label(switches: tuple[str, ...]) -> str:
    return " ".join(plain(switch) for switch in dict.fromkeys(switches)) or "no switch"


def _words(cells: Cells) -> str:
    """What stands beside a row: only what is not well, by name; or that all is alike."""
    wrong: dict[State, list[str]] = {}
    for node, state in cells:
        if state not in (State.PASS, State.SKIPPED):
            wrong.setdefault(state, []).append(node)
    if not wrong:
        return f"{count(len(cells), 'node')}, {tally_words(state for _, state in cells)}"
    return "; ".join(f"{SIGNS[state].word} {folded(wrong[state])}" for state in State if state in wrong)


def _folding(drawn: Iterable[tuple[tuple[str, ...], Cells]]) -> Iterator[LeafRow]:
    """Rows with trouble as they are; healthy neighbours as one line of words."""
    quiet: list[tuple[tuple[str, ...], Cells]] = []
    shown = 0
    for switches, cells in drawn:
        calm = all(state in (State.PASS, State.SKIPPED) for _, state in cells)
        # A fabric in which everything is wrong must not become hundreds of pages.
        if calm or shown >= 2 * MOST_ROWS:
            quiet.append((switches, cells))
            continue
        if quiet:
            yield _folded_row(quiet)
            quiet = []
        shown += 1
        yield _row(switches, cells)
    if quiet:
        yield _folded_row(quiet)


def _folded_row(quiet: list[tuple[tuple[str, ...], Cells]]) -> LeafRow:
    switches = folded(name for names, _ in quiet for name in names) or "no switch"
    states = [state for _, cells in quiet for _, state in cells]
    words = f"{count(len(states), 'node')}, {tally_words(states)}"
    return LeafRow(switches, words, worst(states), 0, 0, ())


def _wires(view: RunView) -> Iterator[Wire]:
    for link_id, seen in view.links.items():
        link = view.fabric.links.get(link_id)
        if link is not None and seen.state in (State.FAIL, State.WATCH, State.UNKNOWN, State.UNREACHABLE):
            yield _wire(view, link, seen)


def _wire(view: RunView, link: Link, seen: LinkView) -> Wire:
    up = link.count if seen.members_up is None else max(min(seen.members_up, link.count), 0)
    lag = f"{up} of {link.count} members up" if link.is_lag and seen.members_up is not None else ""
    numbers = ""
    if seen.measured is not None and seen.expected is not None:
        rate = [quantity(value, Unit.BYTE_RATE, Shown.NETWORK) for value in (seen.measured, seen.expected)]
        numbers = f"{rate[0]} of {rate[1]}"
    return Wire(
        name=plain(link_name(view.fabric, link)),
        sign=SIGNS[seen.state].glyph,
        words=", ".join(part for part in (lag, numbers) if part),
        state=seen.state,
        members=tuple(index < up for index in range(link.count)) if link.is_lag else (),
    )
