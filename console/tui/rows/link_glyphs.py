"""Glyphs of links, LAGs, switches and values: numbers in, toned cells of one row out."""

from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import (
    FAIL,
    FAIL_CELL,
    FAINT,
    LOAD,
    MUTED,
    RAMP,
    SLOT,
    TRACK,
    WATCH,
    Tone,
)
from benchconsole.console.view.run_view import State

_KEEPS_A_FREE_END = 0.975
MOST_SLOTS = 8

RAMP_GLYPHS = "·▁▂▃▄▅▆▇█"
_RAMP_EDGES = (0.97, 0.94, 0.90, 0.85, 0.75, 0.60, 0.40, 0.0)


def wire(width: int, load: float, *, lost: float = 0.0) -> Row:
    """A link: ``load`` and ``lost`` are shares of its capacity as built."""
    if width < 1:
        return ()
    dead = min(max(round(lost * width), 1), width) if lost > 0 else 0
    halves = _load_halves(width, load, width - dead)
    loaded = "━" * (halves // 2) + "╾" * (halves % 2)
    pieces = (CellText(loaded, LOAD), CellText("─" * (width - dead - len(loaded)), TRACK), CellText("×" * dead, FAIL))
    return tuple(piece for piece in pieces if piece.text)


def _load_halves(width: int, load: float, room: int) -> int:
    """Half cells that are filled; a trace of load shows, and a wire that is not full keeps a free end."""
    load = min(max(load, 0.0), 1.0)
    halves = min(round(load * width * 2), room * 2)
    if load < _KEEPS_A_FREE_END and room == width:
        halves = min(halves, room * 2 - 1)
    return max(halves, 1 if load > 0 and room else 0)


def funnel(width: int, down: float, up: float, built: float) -> Row:
    """A switch: what its ports below can offer against what goes up now, of ``built`` as described."""
    if width < 1 or down <= 0:
        return ()
    whole = min(built / down, 1.0)
    now = min(up / down, 1.0)
    solid = max(round(width * now), 1 if up > 0 else 0)
    lost = max(round(width * whole) - solid, 1) if whole - now > 1e-9 and solid < width else 0
    rest = width - solid - lost
    return tuple(
        piece
        for piece in (CellText("━" * solid, LOAD), CellText("×" * lost, FAIL), CellText("┄" * rest, FAINT))
        if piece.text
    )


def slots(count: int, up: int, state: State) -> Row:
    """The members of a LAG: up, down, or up but slow; a number when there are more than eight."""
    fault = {State.FAIL: FAIL_CELL, State.WATCH: WATCH}.get(state, WATCH)
    if count > MOST_SLOTS:
        return (CellText(f"{up}/{count}", SLOT if up == count and state is not State.FAIL else fault),)
    if up < count:
        return tuple(p for p in (CellText("▮" * up, SLOT), CellText("▯" * (count - up), fault)) if p.text)
    if state in (State.FAIL, State.WATCH):
        return tuple(p for p in (CellText("▮" * (count - 1), SLOT), CellText("◧", fault)) if p.text)
    return (CellText("▮" * count, SLOT),)


def slots_width(count: int) -> int:
    """Cells that ``slots`` takes."""
    return count if count <= MOST_SLOTS else 2 * len(str(count)) + 1


def ratio(down: float, up: float) -> str:
    """``2.67:1``; ``cut off`` when nothing goes up."""
    return f"{down / up:.2f}:1" if up > 0 else "cut off"


_RAMP_CELLS = tuple(
    CellText(glyph, MUTED if index == 0 else Tone(RAMP[index])) for index, glyph in enumerate(RAMP_GLYPHS)
)


def step(share: float) -> int:
    """Which of the nine steps of the ramp a share of the expected value falls on; 0 is all of it."""
    return next((index for index, edge in enumerate(_RAMP_EDGES) if share >= edge), len(_RAMP_EDGES))


def ramp(share: float | None) -> CellText:
    """A value as a glyph whose height is what is missing; ``–`` is drawn where nothing was measured."""
    if share is None:
        return CellText("–", FAINT)
    return _RAMP_CELLS[step(share)]
