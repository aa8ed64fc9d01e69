"""Owns the pane of raw output: the command as a head, the lines, the text that a value was read from marked."""

from dataclasses import dataclass

from console.tui.drawing import ACCENT, ACTIVE, BRIGHT, FAINT, MUTED, TEXT, Line, Piece, Row, clip, on, width_of
from console.tui.themes import Ground, Ink, Tone
from console.tui.widgets.listing import Listing

_MARK = Tone(Ink.BRIGHT, Ground.SEL, bold=True)


@dataclass(frozen=True, slots=True)
class Marked:
    """A place in the text: line, column, and how many characters."""

    line: int
    column: int
    length: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One output of one test as safe lines. ``marked`` is where the value was read, None when it is not found."""

    command: str
    ending: str
    lines: tuple[str, ...]
    marked: Marked | None = None
    place: int = 0
    of: int = 0


class RawPane(Listing):
    """Scrolls; the marked line is brought into sight."""

    CURSOR = False

    def __init__(self) -> None:
        super().__init__()
        self.evidence: Evidence | None = None
        self.shift = 0
        self.follows = True

    def show(self, evidence: Evidence | None) -> None:
        """Show another output, at the place where the value was read."""
        if evidence == self.evidence:
            return
        self.evidence = evidence
        self.shift = 0
        self.top = 0
        self.follows = True
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        """The marked line is in sight until one scrolls."""
        mark = self.evidence.marked if self.evidence else None
        if self.follows and mark is not None:
            self.top = max(mark.line - max(height - 3, 0), 0)
        return super().draw(width, height)

    def go(self, index: int) -> None:
        """Scroll."""
        self.follows = False
        super().go(index)

    @property
    def count(self) -> int:
        """Lines of the output."""
        return len(self.evidence.lines) if self.evidence else 0

    def heading(self, width: int) -> list[Row]:
        """The command and how it ended."""
        line = Line(width).to(1).put("raw", ACTIVE if self.has_focus else MUTED).to(6)
        if self.evidence is None:
            return [on(line.put("nothing was run for this row", MUTED).to(width).row(), Ground.PANEL)]
        ending = self.evidence.ending
        if self.evidence.of > 1:
            ending += f", {self.evidence.place + 1} of {self.evidence.of} outputs"
        room = line.room - width_of(ending) - 3
        line.put(clip(self.evidence.command, max(room, 10)), TEXT)
        return [on(line.right((Piece(ending, MUTED),)).to(width).row(), Ground.PANEL)]

    def row(self, index: int, width: int) -> Row:
        """One line; the marked text stands out."""
        if self.evidence is None:
            return ()
        text, mark = self.evidence.lines[index], self.evidence.marked
        line = Line(width).to(1)
        if mark is None or mark.line != index:
            return line.put(text[self.shift :], MUTED if not mark or abs(mark.line - index) > 12 else TEXT).row()
        start = max(mark.column - self.shift, 0)
        visible = text[self.shift :]
        line.put(visible[:start], TEXT).put(visible[start : start + mark.length], _MARK)
        line.put(clip(visible[start + mark.length :], max(line.room - 1, 0)), BRIGHT)
        if line.room > 30:
            line.put("   ").put("◂", ACCENT).put(" the value was read here", MUTED)
        return line.row()

    def empty(self, width: int) -> list[Row]:
        """An output without a line."""
        return [Line(width).to(1).put("the command said nothing", FAINT).row()] if self.evidence else []

    def sideways(self, step: int) -> None:
        """Shift long lines."""
        self.shift = max(0, self.shift + step)
        self.redraw()

    def on_focus(self) -> None:
        """Mark the pane."""
        self.redraw()

    def on_blur(self) -> None:
        """Unmark the pane."""
        self.redraw()
