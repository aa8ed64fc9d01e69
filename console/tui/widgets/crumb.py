"""The second row: the path to this page at the left, the tally at the right."""

from collections.abc import Mapping, Sequence

from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width, sign_tone
from benchconsole.console.tui.rows.themes import FAIL, FAINT, MUTED, PASS, STRONG
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.wording import SIGNS
from benchconsole.topology.units import counted


class Crumb(CellWidget):
    """``jetstream › nodes › c12n05`` and what the screen counts; its cheap parts go first when it narrows."""

    DEFAULT_CSS = "Crumb { height: 1; }"

    parts: Sequence[str] = ()
    tallies: Sequence[Row] = ()

    def show(self, parts: Sequence[str], *tallies: Row) -> None:
        """Empty ``parts`` are left out. ``tallies`` say the same at falling length; the first that fits is drawn."""
        self.parts, self.tallies = tuple(filter(None, parts)), tallies
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        tally = next((t for t in self.tallies if row_width(t) <= max(width - 14, width // 2)), ())
        line = CellLine(max(width - row_width(tally) - 3, 0)).to(1)
        parts = list(self.parts)
        while len(parts) > 2 and sum(len(part) + 3 for part in parts) > line.room:
            parts.pop()
        for index, part in enumerate(parts):
            if index:
                line.put(" › ", FAINT)
            line.put(part, STRONG if index == len(parts) - 1 else MUTED)
        whole = CellLine(width).extend(line.row())
        return [whole.right(tally).row()]


def tally_row(counts: Mapping[State, int], total: int, noun: str = " nodes", *, brief: bool = False) -> Row:
    """``✗ 3  ▲ 2  · 323  of 347 nodes``: worst first, what is zero is left out, pass and total never."""
    made: list[CellText] = []
    for state in State:
        number = counts.get(state, 0)
        if not number or (brief and state.rank > State.HELD.rank and state is not State.PASS):
            continue
        bold = state in (State.FAIL, State.WATCH, State.UNREACHABLE)
        tone = PASS if state is State.PASS else FAIL if state is State.FAIL else sign_tone(state)
        made.append(CellText(f"{SIGNS[state].glyph} {number:,}", tone._replace(bold=bold)))
        made.append(CellText("  "))
    made.append(CellText(f"of {total:,}{noun}", MUTED))
    return tuple(made)


def progress_row(view: RunView) -> Row:
    """``▸ 6 of 13`` while rounds are run, nothing else."""
    if view.current is None:
        return ()
    words = f" {len(view.closed) + 1:,} of {len(view.plan):,}   "
    return (CellText(SIGNS[State.RUNNING].glyph, sign_tone(State.RUNNING)), CellText(words, sign_tone(State.RUNNING)))


def tallies(view: RunView, counts: Mapping[State, int], part: int | None = None) -> tuple[Row, ...]:
    """Progress and tally at falling length; ``part`` is how many nodes were counted where that is not all."""
    total, progress = len(view.nodes) if part is None else part, progress_row(view)
    if view.reading is not None:  # how they stand is not known yet
        return ((CellText(counted(total, "node"), MUTED),),)
    return (
        (*progress, *tally_row(counts, total)),
        (*progress, *tally_row(counts, total, "")),
        tally_row(counts, total, ""),
        tally_row(counts, total, "", brief=True),
    )
