"""The base of every widget: it draws rows, and only the cells that changed are sent again."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from textual.app import App
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from benchconsole.console.tui.rows.strips import Painter, differing
from benchconsole.console.tui.rows.text_rows import BLANK, Row, put_over
from benchconsole.console.tui.rows.themes import JUMP, Ground


class Letter(NamedTuple):
    """Something to type, over the cells of a widget."""

    x: int
    y: int
    text: str


class CellWidget(Widget):
    """A widget made of rows. Subclasses give ``draw``; after any change they call ``redraw``."""

    DEFAULT_CSS = "CellWidget { height: 1fr; width: 1fr; }"
    GROUND = Ground.BG

    letters: Sequence[Letter] = ()
    """The letters over the rows while somebody jumps."""

    _rows: list[Row] | None = None

    def draw(self, width: int, height: int) -> list[Row]:
        """The rows as they should be now; missing ones are blank."""
        raise NotImplementedError  # no ABC: query(Canvas) has to take the class itself

    @property
    def painter(self) -> Painter:
        return painter_of(self.app)

    @property
    def rows(self) -> list[Row]:
        """The rows as they are painted."""
        if self._rows is None:
            width, height = self.size
            rows = self.draw(width, height)[:height] if width and height else []
            self._rows = _put_letters(rows + [BLANK] * (height - len(rows)), self.letters, width)
        return self._rows

    def redraw(self) -> None:
        """Draw anew and send what differs from the last time."""
        if self._rows is None or not self.is_attached:
            return
        old, self._rows = self._rows, None
        if len(old) != len(self.rows):
            self.refresh()
            return
        regions = []
        for y, (before, after) in enumerate(zip(old, self.rows, strict=True)):
            span = differing(before, after)
            if span is not None:
                regions.append(Region(span[0], y, span[1] - span[0], 1))
        if regions:
            self.refresh(*regions)

    def repaint(self) -> None:
        """Forget everything that was painted: another size, theme or terminal."""
        self._rows = None
        self.refresh()

    def on_resize(self) -> None:
        self.repaint()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.redraw()

    def render_line(self, y: int) -> Strip:
        rows = self.rows
        row = rows[y] if y < len(rows) else BLANK
        return self.painter.strip(row, self.size.width, self.GROUND)


def _put_letters(rows: list[Row], letters: Iterable[Letter], width: int) -> list[Row]:
    for x, y, text in letters:
        if y < len(rows):
            rows[y] = put_over(rows[y], x, text, JUMP, width)
    return rows


def painter_of(app: "App[object]") -> Painter:
    """The painter that the application carries."""
    painter = getattr(app, "painter", None)
    return painter if isinstance(painter, Painter) else Painter()
