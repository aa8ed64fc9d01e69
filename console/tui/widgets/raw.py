"""The pane of raw output: the command as a head, the lines, and the text that a value was read from, marked."""

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple, overload

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.queries.evidence import OutputText
from benchconsole.console.tui.queries.filtering import EVERYTHING, Filter, KeptOrder
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, set_ground
from benchconsole.console.tui.rows.themes import ACCENT, ACTIVE, BRIGHT, FAINT, MUTED, TEXT, Ground, Ink, Tone
from benchconsole.console.tui.widgets.listing import Listing

_MARK = Tone(Ink.BRIGHT, Ground.SEL, bold=True)


class OutputLine(NamedTuple):
    """One line of an output with its place, from 0 on."""

    place: int
    text: str

    def words(self, _column: str) -> str:
        return self.text

    def number(self, _column: str) -> float | None:
        return None

    @property
    def everything(self) -> str:
        return self.text.lower()


class OutputLines(Sequence[OutputLine]):
    """Lines of an output, made when they are looked at: a tool that flooded wrote millions of them."""

    def __init__(self, lines: Sequence[str], places: Sequence[int]) -> None:
        self.lines = lines
        self.places = places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> OutputLine: ...

    @overload
    def __getitem__(self, index: slice) -> "OutputLines": ...

    def __getitem__(self, index: int | slice) -> "OutputLine | OutputLines":
        if isinstance(index, slice):
            return OutputLines(self.lines, self.places[index])
        place = self.places[index]
        return OutputLine(place, self.lines[place])


class RawPane(Listing[OutputLine]):
    """Scrolls; the marked line is brought into sight. ``filter`` says which lines are shown."""

    CURSOR = False

    evidence: OutputText | None = None
    shift = 0
    follows = True
    filter = EVERYTHING
    every: Sequence[OutputLine] = ()
    kept = KeptOrder[OutputLine]()
    """Another one for each output."""

    def show(self, evidence: OutputText | None, chosen: Filter = EVERYTHING) -> None:
        """Show another output, or other lines of it, at the place where the value was read."""
        if evidence == self.evidence and chosen.text == self.filter.text:
            return
        if evidence != self.evidence:
            lines = evidence.lines if evidence is not None else ()
            self.shift, self.every, self.kept = 0, OutputLines(lines, range(len(lines))), KeptOrder()
        self.evidence, self.filter = evidence, chosen
        self.items = self.kept.select(chosen, self.every) if chosen.text else self.every
        self.top = 0
        self.follows = True
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        """The marked line is in sight until one scrolls."""
        mark = self.evidence.marked if self.evidence else None
        if self.follows and mark is not None:
            before = bisect_left(self.items, mark.line, key=attrgetter("place"))
            self.top = max(before - max(height - 3, 0), 0)
        return super().draw(width, height)

    def go(self, index: int) -> None:
        self.follows = False
        super().go(index)

    def heading(self, width: int) -> list[Row]:
        line = CellLine(width).to(1).put("raw", ACTIVE if self.has_focus else MUTED).to(6)
        if self.evidence is None:
            return [set_ground(line.put("nothing was run for this row", MUTED).to(width).row(), Ground.PANEL)]
        ending = self.evidence.ending
        if self.evidence.of > 1:
            ending += f", {self.evidence.place + 1} of {self.evidence.of} outputs"
        room = line.room - measure_width(ending) - 3
        line.put(clip_text(self.evidence.command, max(room, 10)), TEXT)
        return [set_ground(line.right((CellText(ending, MUTED),)).to(width).row(), Ground.PANEL)]

    def row(self, index: int, width: int) -> Row:
        if self.evidence is None:
            return ()
        (place, text), mark = self.items[index], self.evidence.marked
        line = CellLine(width).to(1)
        if mark is None or mark.line != place:
            return line.put(text[self.shift :], MUTED if not mark or abs(mark.line - place) > 12 else TEXT).row()
        start = max(mark.column - self.shift, 0)
        visible = text[self.shift :]
        line.put(visible[:start], TEXT).put(visible[start : start + mark.length], _MARK)
        line.put(clip_text(visible[start + mark.length :], max(line.room - 1, 0)), BRIGHT)
        if line.room > 30:
            where = "from what follows" if mark.is_heading else "here"
            line.put("   ").put("◂", ACCENT).put(f" the value was read {where}", MUTED)
        return line.row()

    def empty(self, width: int) -> list[Row]:
        if self.evidence is None:
            return []
        lines = "no line of what is kept" if self.evidence.is_cut else "no line"
        why = f"{lines} matches this filter, esc clears it" if self.evidence.lines else "the command said nothing"
        return [CellLine(width).to(1).put(why, FAINT).row()]

    def sideways(self, step: int) -> None:
        """Shift long lines."""
        self.shift = max(0, self.shift + step)
        self.redraw()
