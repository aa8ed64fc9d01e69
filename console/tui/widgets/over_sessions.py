"""The column of the node table that tells one metric over sessions, as a sparkline for each node."""

import math
from collections.abc import Mapping, Sequence

from benchconsole.console.tui.queries.node_columns import MetricColumn, NodeRow, key_of
from benchconsole.console.tui.rows.sparkline import draw_sparkline

OVER = "over.sessions"
"""The key of the column."""

_HEADING = len(OVER) + 2


class OverSessions:
    """What is known of ``metric`` over ``number`` sessions, of which ``read`` were read so far.

    ``values`` are by node, one for each session, the oldest first; None where it has none. ``shown`` is the place of
    the session on the screen: its value is that of the table, which is newer while it runs.
    """

    def __init__(self, metric: MetricColumn) -> None:
        self.metric = metric
        self.number: int | None = None
        self.read = 0
        self.shown: int | None = None
        self.values: Mapping[str, Sequence[float | None]] = {}
        self.failed = ""
        """Why nothing could be read."""

    @property
    def width(self) -> int:
        return max(_HEADING, self.number or 0)

    @property
    def is_read(self) -> bool:
        return self.read == self.number

    def insert(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """The columns with this one after that of its metric; without it where the metric has gone."""
        key = key_of(self.metric)
        place = columns.index(key) + 1 if key in columns else len(columns)
        return (*columns[:place], *((OVER,) if key in columns else ()), *columns[place:])

    def tell(self) -> str:
        """How far it is read."""
        if self.failed or self.number is None:
            return self.failed or "being read"
        return f"of {self.number:,}" if self.is_read else f"{self.read:,} of {self.number:,}"

    def list_values(self, row: NodeRow) -> Sequence[float | None]:
        """The values of a node; none before all sessions are read."""
        if not self.is_read:
            return ()
        known = list(self.values.get(row.view.node.id, (None,) * self.read))
        verdict = row.worst.get(self.metric.id)
        if self.shown is not None and verdict is not None:
            known[self.shown] = verdict.value
        return known

    def draw(self, row: NodeRow) -> str:
        return draw_sparkline(self.list_values(row))

    def order(self, row: NodeRow) -> tuple[object, ...]:
        """What rows are sorted by: the change from the first value to the last, what fell most first."""
        known = [value for value in self.list_values(row) if value is not None and math.isfinite(value)]
        return (0, known[-1] / known[0] - 1) if len(known) > 1 and known[0] else (1, 0.0)


def find_width(widths: Mapping[str, int], over: OverSessions | None, column: str) -> int:
    """The cells of a column of the node table."""
    return over.width if over is not None and column == OVER else widths[column]
