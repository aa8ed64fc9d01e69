"""Glyphs of links, LAGs, switches and values: numbers in, toned cells of one row out."""

from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import (
    BRIGHT,
    FAIL,
    FAIL_CELL,
    FAINT,
    LOAD,
    MUTED,
    RAMP,
    SLOT,
    TEXT,
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


BOTH_LEAST = 14
"""Columns from which on ``both_ways`` fits: two numbers, the mark, and two cells a side."""
_NUMBERS = 9


def both_ways(
    width: int, inward: float | None, outward: float | None, *, lost: float = 0.0, partial: tuple[bool, bool]
) -> Row:
    """A link with its load in both directions: `` 12 ─╼│━━ 98``, in per cent of its capacity as built.

    In grows to the left of the mark, out to the right; a load that nobody tells is None. ``partial`` marks numbers that
    some test is missing from: ``98+``.
    """
    side = max((width - _NUMBERS - 1) // 2, 0)
    dead = min(max(round(lost * side), 1), side) if lost > 0 else 0
    pieces = [_format_load(inward, is_partial=partial[0]), CellText("×" * dead, FAIL)]
    halves = _load_halves(side, inward or 0.0, side - dead)
    loaded = "╼" * (halves % 2) + "━" * (halves // 2)
    pieces += [CellText("─" * (side - dead - len(loaded)), TRACK), CellText(loaded, LOAD), CellText("│", MUTED)]
    halves = _load_halves(side, outward or 0.0, side - dead)
    loaded = "━" * (halves // 2) + "╾" * (halves % 2)
    pieces += [CellText(loaded, LOAD), CellText("─" * (side - dead - len(loaded)), TRACK), CellText("×" * dead, FAIL)]
    pieces += [CellText(" "), _format_load(outward, is_partial=partial[1])]
    return tuple(piece for piece in pieces if piece.text)


def _format_load(share: float | None, *, is_partial: bool) -> CellText:
    """Four columns: per cent, and a sign where it is the least."""
    if share is None:
        return CellText("  – ", MUTED)
    text = "<1" if 0 < share < 0.005 else str(min(round(100 * share), 999))
    return CellText(f"{text:>3}{'+' if is_partial else ' '}", TEXT if share else MUTED)


def tenths(share: float | None) -> CellText:
    """A load in one cell: tenths of capacity, ``F`` from where a wire is full; ``–`` where nobody tells it."""
    if share is None:
        return CellText("–", FAINT)
    if share >= _KEEPS_A_FREE_END:
        return CellText("F", BRIGHT)
    return CellText(str(int(10 * share + 1e-9)), TEXT if share >= 0.1 else MUTED)


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


def slots(count: int, up: int, state: State, most: int = MOST_SLOTS) -> Row:
    """The members of a LAG: up, down, or up but slow; a number when there are more than ``most``."""
    fault = {State.FAIL: FAIL_CELL, State.WATCH: WATCH}.get(state, WATCH)
    if count > most:
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
