"""The column of the node table that tells one metric over sessions, as a sparkline for each node."""

import math
from collections.abc import Mapping, Sequence

from benchconsole.console.tui.queries.node_columns import MetricColumn
from benchconsole.console.tui.queries.node_row import Choice, NodeColumn, NodeRow
from benchconsole.console.tui.rows.sparkline import draw_sparkline
from benchconsole.console.tui.rows.text_rows import CellLine
from benchconsole.console.tui.rows.themes import TEXT

OVER = "over.sessions"
"""The key of the column."""

_HEADING = len(OVER) + 2


class OverSessions(NodeColumn):
    """The numbers of ``of``, a column of a metric, over so many ``sessions``, of which ``read`` were read so far.

    ``values`` are by node, one for each session, the oldest first, None where it has none. They come all at once, after
    the last session was read: until then the column is not read. ``shown`` is the place of the session on the screen:
    what is judged of it is that of the table, which is newer while it runs. Of what nothing judges the table has
    another number: the median of a node's own tests.
    """

    choice = Choice("over", OVER)
    key = OVER
    heading = OVER.replace(".", " ")

    def __init__(self, of: NodeColumn) -> None:
        self.of = of
        self.sessions: int | None = None
        self.read = 0
        self.shown: int | None = None
        self.values: Mapping[str, Sequence[float | None]] | None = None
        self.failed = ""
        """Why nothing could be read."""

    @property
    def symbol(self) -> str:
        """How far it is read."""
        if self.failed or self.sessions is None:
            return self.failed or "being read"
        return f"of {self.sessions:,}" if self.is_read else f"{self.read:,} of {self.sessions:,}"

    @property
    def width(self) -> int:
        return max(_HEADING, self.sessions or 0)

    @property
    def is_read(self) -> bool:
        return self.values is not None

    def insert(self, columns: tuple[NodeColumn, ...]) -> tuple[NodeColumn, ...]:
        """The columns with this one after the one that it is of, as that is among them; without it where that is gone.

        Columns are made again as rounds are judged, and then it is of the one that took the place.
        """
        place = next((place for place, column in enumerate(columns) if column.choice == self.of.choice), None)
        if place is None:
            return columns
        self.of = columns[place]
        return (*columns[: place + 1], self, *columns[place + 1 :])

    def list_values(self, row: NodeRow) -> Sequence[float | None]:
        """The values of a node; none before all sessions are read."""
        if self.values is None:
            return ()
        known = list(self.values.get(row.view.node.id, (None,) * self.read))
        value = self.of.number(row) if isinstance(self.of, MetricColumn) else None
        if self.shown is not None and value is not None:
            known[self.shown] = value
        return known

    def words(self, row: NodeRow) -> str:
        return draw_sparkline(self.list_values(row))

    def draw(self, line: CellLine, row: NodeRow, wide: int, *, quiet: bool) -> None:
        line.put(self.words(row), TEXT, wide)

    def sort_key(self, row: NodeRow) -> tuple[object, ...]:
        """The change from the first value to the last, what fell most first."""
        known = [value for value in self.list_values(row) if value is not None and math.isfinite(value)]
        return (0, known[-1] / known[0] - 1) if len(known) > 1 and known[0] else (1, 0.0)
