"""The list of facts of a node: each with its part, its value, and the declared value."""

from collections.abc import Iterable

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.queries.node_facts import NodeFact
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign, value_tone
from benchconsole.console.tui.rows.themes import BRIGHT, MUTED, TEXT
from benchconsole.console.tui.widgets.listing import FilteredListing
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import format_expected

_LOW = 22


class FactTable(FilteredListing[NodeFact]):
    """Rows that pass the filter."""

    filter_columns = dict.fromkeys(("fact", "of", "value", "state"))
    nothing = ""

    def show(self, rows: Iterable[NodeFact], nothing: str) -> None:
        """Take ``rows``; ``nothing`` says why there are none."""
        self.every, self.nothing = tuple(rows), nothing
        self.apply_filter()

    def empty(self, width: int) -> list[Row]:
        why = self.nothing if not self.every else "no fact passes the filter"
        return [CellLine(width).to(1).put(clip_text(why, width - 2), MUTED).row()]

    def heading(self, width: int) -> list[Row]:
        of, value = self._places(width)
        line = CellLine(width).to(3).put("fact", MUTED).to(of).put("of", MUTED).to(value).put("value", MUTED)
        return [line.row()]

    def row(self, index: int, width: int) -> Row:
        """One fact; where something else was declared, that stands behind the value."""
        each = self.items[index]
        of, value = self._places(width)
        line = CellLine(width).to(1)
        if each.state is not None:
            line.extend((sign(each.state),))
        line.to(3).put(clip_text(each.fact, of - 4), BRIGHT).to(of).put(clip_text(each.of, value - of - 1), TEXT).to(
            value
        )
        declared = ""
        if each.verdict is not None and each.state is not State.PASS:
            declared = f"   declared {format_expected(each.verdict)}"
        value_words = clip_text(each.value, max(line.room - measure_width(declared) - 1, 8))
        tone = TEXT if each.state is None else value_tone(each.state)
        return line.extend((CellText(value_words, tone), CellText(declared, MUTED))).row()

    def _places(self, width: int) -> tuple[int, int]:
        """Where ``of`` and ``value`` begin: as the longest texts want, within a third of the width each."""
        third = max(width // 3, _LOW)
        fact = min(max((measure_width(row.fact) for row in self.every), default=0), third - 4)
        of = min(max((measure_width(row.of) for row in self.every), default=0), third - 2)
        return 5 + fact, 7 + fact + max(of, 2)

    def as_text(self, rows: Iterable[NodeFact]) -> str:
        """``rows``, tab-separated."""
        lines = [("fact", "of", "value"), *((row.fact, row.of, row.value) for row in rows)]
        return "".join("\t".join(cells) + "\n" for cells in lines)
