"""The filter of a map: nodes that match it are drawn, and the places of the others stay empty."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on

from benchconsole.console.tui.actions import TypedCommand
from benchconsole.console.tui.queries.filtering import EVERYTHING, FilterError, compile_filter
from benchconsole.console.tui.rows.text_rows import CellText
from benchconsole.console.tui.rows.themes import KEY, MUTED
from benchconsole.console.tui.screens.base.map_page import MapPage
from benchconsole.console.tui.screens.base.saved_filter import complete_saved, find_saved
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.console.tui.widgets.node_table import NodeTable

_STEPS = {"up": -1, "down": 1}
_HINT = "text, !text, n[1-4], ~expression, column>value, @saved: a filter of Nodes"


class FilterLine(LineInput):
    """The line that a filter of a map is typed in; what happens in it is told to ``hear``."""

    DEFAULT_CSS = "FilterLine { display: none; }"

    def __init__(self, hear: "Callable[[Heard], None]") -> None:
        super().__init__("/")
        self._hear = hear

    @on(LineInput.Changed)
    @on(LineInput.Entered)
    @on(LineInput.Asked)
    @on(LineInput.Left)
    def _heard(self, event: "Heard") -> None:
        event.stop()
        self._hear(event)


Heard = LineInput.Changed | LineInput.Entered | LineInput.Asked | LineInput.Left


class MapFilter:
    """A filter of ``page.map``, as Nodes takes it, typed in ``line``, which has no row before somebody types one.

    ``changed`` is called where the line got its row, or lost it.
    """

    def __init__(self, page: MapPage, changed: Callable[[], None]) -> None:
        self.line = FilterLine(self._hear)
        self._page = page
        self._changed = changed
        self._table: NodeTable | None = None
        """The table that Nodes would show; it is never drawn."""
        page.commands["filter"] = TypedCommand(self.take, tuple)

    def begin(self) -> None:
        """Take what is typed from now on."""
        self._show_line(is_shown=True)
        self._page.set_focus(self.line)  # now: what is typed next is for it
        self._tell()

    def take(self, text: str) -> None:
        """Filter by ``text``; leave the filter where that is nothing."""
        if not text.strip():
            self.leave()
            return
        self.line.fill(text)
        self._show_line(is_shown=True)
        self._apply(self._page.run_view)

    def leave(self) -> None:
        """Draw every node again."""
        self.line.fill("")
        if self._table is not None:
            self._table.filter = EVERYTHING
        self._match(None)
        self._page.map.focus()
        self._show_line(is_shown=False)

    def follow(self, view: RunView) -> None:
        """Match the nodes of a new view, where somebody filters."""
        if self.line.text.strip():
            self._apply(view)

    def go_on_from(self, other: "MapFilter") -> None:
        """Filter as another page does."""
        self.line.fill(other.line.text)
        self.line.display = other.line.display

    def _show_line(self, *, is_shown: bool) -> None:
        if self.line.display is not is_shown:
            self.line.display = is_shown
            self._changed()

    def _apply(self, view: RunView | None) -> None:
        """Match the nodes; a word that is not understood is named, and the last valid filter stays in force."""
        # Not before the first frame.
        from benchconsole.console.tui.screens.base.filtered_page import tell_refused
        from benchconsole.console.tui.widgets.node_table import NodeTable

        self._table = self._table or NodeTable()
        if view is not None:
            self._table.show(view)
        try:
            saved = find_saved(self._page, self.line.text)
            is_typed = bool(self.line.text.strip())
            chosen = compile_filter(self.line.text, self._table.filter_columns, saved) if is_typed else EVERYTHING
        except FilterError as error:
            tell_refused(self.line, error)
            return
        self._table.filter = chosen
        self._table.apply_filter()
        is_whole = not chosen.text or self._table.kept.refused is not None
        self._match(None if is_whole else frozenset(row.view.node.id for row in self._table.items))
        self._tell()

    def _match(self, nodes: frozenset[NodeId] | None) -> None:
        """Have these nodes drawn alone, all of them with None."""
        shown = self._page.map
        if nodes != shown.matched:
            shown.matched = nodes
            shown.redraw()

    def _tell(self) -> None:
        """Say how many nodes match, or what a filter is."""
        matched = self._page.map.matched
        if self._table is not None and self._table.kept.refused is not None:
            from benchconsole.console.tui.screens.base.filtered_page import tell_slow  # not before the first frame

            tell_slow(self.line, self._table.kept.refused[1])
        elif matched is None or self._table is None:
            self.line.show(note=(CellText(_HINT, MUTED),))
        else:
            words = f"{len(matched):,} of {counted(len(self._table.every), 'node')} shown   "
            self.line.show(note=(CellText(words, MUTED), CellText("esc", KEY), CellText(" clears", MUTED)))

    def _hear(self, event: Heard) -> None:
        """Do what a key of the line asks for."""
        if isinstance(event, LineInput.Changed):
            self._apply(self._page.run_view)
        elif isinstance(event, LineInput.Asked):
            if event.key in _STEPS:
                self._page.map.move(0, _STEPS[event.key])
            elif event.key == "tab" and complete_saved(self._page, self.line):
                self._apply(self._page.run_view)
        elif isinstance(event, LineInput.Entered) and self.line.text.strip():
            self._page.map.focus()
        else:
            self.leave()
