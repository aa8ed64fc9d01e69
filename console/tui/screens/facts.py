"""Everything that one node told of itself, to be searched: what was declared otherwise carries its sign."""

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES
from benchconsole.console.tui.messages import Copy
from benchconsole.console.tui.queries.node_facts import list_node_facts
from benchconsole.console.tui.screens.base.filtered_page import FilteredPage
from benchconsole.console.tui.widgets.fact_table import FactTable
from benchconsole.console.view.run_view import RunView
from benchconsole.store.errors import StoreError
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import counted as count


class FactsScreen(FilteredPage):
    """``/`` filters. The facts are read when the screen opens and when the node has told more."""

    VALID = (*MOVES, "filter", "copy", "copy_all", "next_fault", "previous_fault")
    KEYS = (("back", "back"), "filter", "next_fault", "copy", "copy_all", "command", "help")
    filter_area = "facts"
    NOUN = "fact"
    HINT = "text, !text, fact~word, joined by &"

    def __init__(self, node: NodeId, *, tab: str = "Nodes") -> None:
        self.table = FactTable()
        super().__init__(self.table, tab=tab, subject=node)
        self.node = node
        self.told: tuple[object, ...] | None = None
        self.parts = (self.prompt, self.table)

    def paint(self, view: RunView) -> None:
        """Read what is new, and say how much there is."""
        seen = view.nodes.get(self.node)
        if seen is None:
            return
        told = (*(result.test.id for result in seen.results if result.facts), *seen.verdicts)
        if told != self.told:
            self.told = told
            try:
                self.table.show(list_node_facts(seen), f"{sanitize(self.node)} has told nothing of itself yet")
            except StoreError as error:
                self.table.show((), f"what it told cannot be read now: {sanitize(str(error))}")
        self.crumb.show((sanitize(view.fabric.name), sanitize(self.node), "facts"))
        self.annotate()

    def action_walk(self, step: int) -> None:
        """To the next fact that is not as declared, or the one before."""
        if not self.table.walk(step, lambda row: row.is_fault):
            self.say("Everything that was declared is as declared.")

    def action_copy(self) -> None:
        row = self.table.chosen
        if row is not None:
            self.post_message(Copy(self.table.as_text([row]), f"{row.fact} of {sanitize(self.node)}"))

    def action_copy_all(self) -> None:
        self.post_message(Copy(self.table.as_text(self.table.items), count(self.table.count, "fact")))
