"""The parts of a run that are held back: one row each, with its reason and what releases it. Enter shows it in full."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.queries.held_back import HeldBack
from benchconsole.console.tui.queries.view_queries import format_names
from benchconsole.console.tui.rows.text_rows import CellLine, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.listing import Listing, find_again
from benchconsole.console.view.run_view import State

_GUTTER = 15


class HeldBackList(Listing[HeldBack]):
    """Has a cursor while it has the keys; rows that are not in sight are counted at the end of the last one."""

    DEFAULT_CSS = "HeldBackList { height: 0; }"

    def show(self, items: Sequence[HeldBack]) -> None:
        if items != self.items:
            here, self.items = self.chosen, items
            self.cursor = find_again(here, items, lambda each: (each.what, each.why), otherwise=0)
            self.redraw()

    @property
    def wanted(self) -> int:
        return len(self.items)

    def row(self, index: int, width: int) -> Row:
        each = self.items[index]
        line = CellLine(width).to(1).extend((sign(State.HELD),)).put(" ")
        line.put("held back" if index == self.top else "", MUTED).to(_GUTTER)
        who = format_names(each.names) if each.names else ""
        line.put(clip_text(" ".join(filter(None, (each.what, who, each.counted))), max(width // 3, 22)), TEXT)
        last = min(self.top + self.size.height, self.count) - 1
        hidden = self.count - self.size.height if index == last else 0
        more = f"   and {hidden} more" if hidden > 0 else ""
        release = f"   {each.release}"
        room = line.room - measure_width(more) - 1
        why = f"   {each.why}"
        short = clip_text(why, max(room - min(measure_width(release), room // 2), 8))
        line.put(short, MUTED)
        line.put(clip_text(release, max(line.room - measure_width(more) - 1, 0)), TEXT)
        return line.put(more, MUTED).row()

    def _drawn_row(self, index: int, width: int) -> Row:
        return super()._drawn_row(index, width) if self.has_focus else self.row(index, width)
