"""Columns of metrics that were measured and that nothing judges: of each node the median of its numbers. Pure."""

from benchconsole.console.tui.queries.area import take_finite
from benchconsole.console.tui.queries.node_columns import METRIC, key_of
from benchconsole.console.tui.queries.node_row import Choice, NodeColumn, NodeRow
from benchconsole.console.tui.queries.told_readings import MeasuredKind
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.tui.rows.text_rows import CellLine
from benchconsole.console.tui.rows.themes import FAINT, MUTED, TEXT
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.topology.units import Shown, counted

NOT_JUDGED = "not judged"


class MeasuredColumn(NodeColumn):
    """One metric of one stage. ``shown`` is how people read its unit."""

    scale: Scale
    bound = NOT_JUDGED

    def __init__(self, kind: MeasuredKind, heading: str, shown: Shown) -> None:
        self.choice = Choice(METRIC, *kind.id)
        self.heading, self.key = heading, key_of(heading)
        self.kind = kind
        self.scale = scale_for(kind.unit, shown, kind.values.values())

    @property
    def width(self) -> int:
        return max(super().width, len(NOT_JUDGED))

    def number(self, row: NodeRow) -> float | None:
        return self.kind.values.get(row.view.node.id)

    def words(self, row: NodeRow) -> str:
        return self.scale.shown(self.number(row))

    def draw(self, line: CellLine, row: NodeRow, wide: int, *, quiet: bool) -> None:
        words = self.words(row)
        tone = FAINT if words == NOT_MEASURED else MUTED if quiet else TEXT
        line.put(words, tone, wide, ">")

    def record(self, row: NodeRow) -> object:
        """The same fields as a judged metric, without a verdict."""
        metric, stage = self.kind.id
        return {
            "metric": metric, "stage": stage, "unit": self.kind.unit.value, "value": take_finite(self.number(row)),
            "expected": None, "state": None,
        }  # fmt: skip

    def tell(self, row: NodeRow) -> str:
        count = self.kind.counts.get(row.view.node.id, 0)
        return f"{self.heading}: not judged, the median of {counted(count, 'number')}" if count > 1 else ""
