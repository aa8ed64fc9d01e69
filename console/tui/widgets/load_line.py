"""The line under the map that tells the load of the place under the cursor while a round runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.fabric_map.map_cells import MapSpot
from benchconsole.console.tui.queries.load_words import LoadWords, describe_load, find_load_place
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import RunView

if TYPE_CHECKING:
    from benchconsole.console.view.link_loads import LinkLoads

_NAME = "load now"
_GUTTER = 10
_ONE_ROW = 160
"""Columns from which on one row has room for all."""


class LoadLine(CellWidget):
    """One row, or two where that is too narrow for all; nothing while no run goes on."""

    DEFAULT_CSS = "LoadLine { height: 0; }"

    words = LoadWords(("",))

    def show(self, view: RunView, loads: "LinkLoads | None", spot: MapSpot | None) -> None:
        """The load of what the cursor stands on at ``spot``, of the fullest link without one."""
        if _goes_on(view):
            place = find_load_place(view.fabric, spot.nodes, spot.links, spot.switches) if spot is not None else None
            self.words = describe_load(view, loads, place)
            self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        words, room = self.words, width - _GUTTER - 1
        further = [_join(words.limit, told) for told in words.told]
        if height > 1:
            return [self._row(width, _NAME, _choose(words.numbers, room)), self._row(width, "", _choose(further, room))]
        whole = [_join(numbers, rest) for numbers in words.numbers for rest in further]
        return [self._row(width, _NAME, _choose(whole, room))]

    def _row(self, width: int, name: str, text: str) -> Row:
        return CellLine(width).to(1).put(name, MUTED).to(_GUTTER).put(text, TEXT).row()


def count_load_rows(view: RunView, width: int) -> int:
    """Rows that the line wants on a screen so wide."""
    return 0 if not _goes_on(view) else 2 if width < _ONE_ROW else 1


def _goes_on(view: RunView) -> bool:
    """Whether a run goes on, which may put a load on links."""
    return view.live and view.ended is None and bool(view.plan)


def _join(*parts: str) -> str:
    return "   ".join(filter(None, parts))


def _choose(texts: Sequence[str], room: int) -> str:
    """The first that fits; the last one cut where none does."""
    return next((each for each in texts if measure_width(each) <= room), clip_text(texts[-1], room))
