"""Everything that one node told of itself, to be searched: what was declared otherwise carries its sign."""

from collections.abc import Mapping, Sequence

from textual.widget import Widget

from console.tui.actions import MOVES
from console.tui.drawing import KEY, MUTED, Piece, Row
from console.tui.filtering import Filter
from console.tui.messages import Copy
from console.tui.scales import Scale
from console.tui.screens.filtered import FilteredScreen
from console.tui.widgets.fact_table import COLUMNS, FactTable, fact_rows
from console.tui.widgets.listing import Listing
from console.view import RunView
from console.wording import count, plain
from store.errors import StoreError
from topology.model import NodeId


class FactsScreen(FilteredScreen):
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
        self.table = FactTable()
        self.told: tuple[object, ...] | None = None

    def parts(self) -> Sequence[Widget]:
        """Filter row, facts."""
        return (self.prompt, self.table)

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
        self.annotate()

    @property
    def listing(self) -> Listing:
        """The facts, wherever the focus is."""
        return self.table

    @property
    def sifted(self) -> FactTable:
        """The facts."""
        return self.table

    @property
    def filter_columns(self) -> Mapping[str, Scale | None]:
        """Words all of them."""
        return COLUMNS

    def sift(self, chosen: Filter) -> None:
        """Show the facts that ``chosen`` keeps."""
        self.table.filter = chosen
        self.table.sift()

    def annotate(self) -> None:
        """How many facts are shown."""
        total, shown = len(self.table.facts), self.table.count
        note: Row = (Piece("text, !text, fact~word, joined by &", MUTED),) if self.prompt.has_focus else ()
        if self.table.filter.text:
            note = (Piece(f"{shown:,} of {total:,} shown   ", MUTED), Piece("esc", KEY), Piece(" clears", MUTED))
        elif not self.prompt.has_focus:
            note = (Piece(count(total, "fact"), MUTED),)
        self.prompt.show(note=note)

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
