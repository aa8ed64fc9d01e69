"""Everything that one node told of itself, to be searched: what was declared otherwise carries its sign."""

from collections.abc import Sequence

from textual import on
from textual.widget import Widget

from console.tui.actions import MOVES
from console.tui.drawing import FAIL, KEY, MUTED, Piece, Row
from console.tui.filtering import EVERYTHING, FilterError, compile_filter
from console.tui.messages import Copy
from console.tui.screens.frame import Frame
from console.tui.widgets.fact_table import COLUMNS, FactTable, fact_rows
from console.tui.widgets.listing import Listing
from console.tui.widgets.prompt import Prompt
from console.view import RunView
from console.wording import count, plain
from store.errors import StoreError
from topology.model import NodeId


class FactsScreen(Frame):
    """``/`` filters. The facts are read when the screen opens and when the node has told more."""

    VALID = (*MOVES, "filter", "copy", "copy_all", "next_fault", "previous_fault")
    KEYS = (("back", "back"), "filter", "next_fault", "copy", "copy_all", "command", "help")
    DEFAULT_CSS = """
    FactsScreen Prompt { margin-top: 1; margin-bottom: 1; }
    FactsScreen.-low Prompt { margin-bottom: 0; margin-top: 0; }
    """

    def __init__(self, node: NodeId, *, tab: str = "Nodes") -> None:
        self.TAB = tab  # type: ignore[misc]  # the tab is where one came from
        super().__init__()
        self.node = node
        self.prompt = Prompt("/")
        self.table = FactTable()
        self.told: tuple[object, ...] | None = None

    def parts(self) -> Sequence[Widget]:
        """Filter row, facts."""
        return (self.prompt, self.table)

    def on_mount(self) -> None:
        """The facts have the keys."""
        super().on_mount()
        self.table.focus()

    def paint(self, view: RunView) -> None:
        """Read what is new, and say how much there is."""
        seen = view.nodes.get(self.node)
        if seen is None:
            return
        told = (*(result.test.id for result in seen.results if result.facts), *seen.verdicts)
        if told != self.told:
            self.told = told
            try:
                self.table.show(fact_rows(seen), f"{plain(self.node)} has told nothing of itself yet")
            except StoreError as error:
                self.table.show((), f"what it told cannot be read now: {plain(str(error))}")
        self.crumb.show((plain(view.fabric.name), plain(self.node), "facts"))
        self._annotate()

    @property
    def listing(self) -> Listing:
        """The facts, wherever the focus is."""
        return self.table

    def _annotate(self) -> None:
        total, shown = len(self.table.facts), self.table.count
        note: Row = (Piece("text, !text, fact~word, joined by &", MUTED),) if self.prompt.has_focus else ()
        if self.table.filter.text:
            note = (Piece(f"{shown:,} of {total:,} shown   ", MUTED), Piece("esc", KEY), Piece(" clears", MUTED))
        elif not self.prompt.has_focus:
            note = (Piece(count(total, "fact"), MUTED),)
        self.prompt.show(note=note)

    def filter_by(self, text: str) -> None:
        """Apply ``text``; what is not understood is named, and the last valid filter stays in force."""
        try:
            self.table.filter = compile_filter(text, COLUMNS) if text.strip() else EVERYTHING
        except FilterError as error:
            self.prompt.show(note=(Piece(error.expected, FAIL),), wrong=error.word)
            return
        self.table.sift()
        self._annotate()

    def action_filter(self) -> None:
        """Type a filter."""
        self.prompt.focus()
        self.call_after_refresh(self._annotate)

    def command_filter(self, text: str) -> None:
        """A filter from the command line."""
        self.prompt.fill(text)
        self.filter_by(text)

    @on(Prompt.Changed)
    def _typed(self, event: Prompt.Changed) -> None:
        event.stop()
        self.filter_by(event.text)

    @on(Prompt.Entered)
    def _entered(self) -> None:
        self.table.focus()
        self.call_after_refresh(self._annotate)

    @on(Prompt.Asked)
    def _asked(self, event: Prompt.Asked) -> None:
        self.step({"up": -1, "down": 1}.get(event.key, 0))

    @on(Prompt.Left)
    def _left(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.prompt.fill("")
        self.table.focus()
        self.call_after_refresh(self.filter_by, "")

    def action_back(self) -> None:
        """Clear the filter first."""
        if self.prompt.text:
            self._clear()
        else:
            super().action_back()

    def action_next_fault(self) -> None:
        """The next fact that is not as declared."""
        self._walk(1)

    def action_previous_fault(self) -> None:
        """The fact before that is not as declared."""
        self._walk(-1)

    def _walk(self, step: int) -> None:
        rows, here = self.table.kept, self.table.cursor
        for away in range(1, len(rows) + 1):
            index = (here + step * away) % len(rows)
            if rows[index].is_fault:
                self.table.go(index)
                return
        self.say("Everything that was declared is as declared.")

    def action_copy(self) -> None:
        """Copy the fact."""
        if self.table.count:
            row = self.table.kept[self.table.cursor]
            self.post_message(Copy(self.table.as_text([row]), f"{row.fact} of {plain(self.node)}"))

    def action_copy_all(self) -> None:
        """Copy what is shown."""
        self.post_message(Copy(self.table.as_text(self.table.kept), count(self.table.count, "fact")))
