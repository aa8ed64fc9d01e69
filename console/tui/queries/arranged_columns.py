"""The columns of the node table from left to right: those that are wanted, as far as they are there, and a history."""

from collections.abc import Iterable, Mapping

from benchconsole.console.tui.queries.node_columns import ColumnCache
from benchconsole.console.tui.queries.node_row import (
    DEFAULT,
    NO_COLUMNS,
    Choice,
    ColumnSet,
    FollowingColumn,
    NodeColumn,
    expand_default,
)
from benchconsole.console.tui.queries.over_sessions import OverSessions
from benchconsole.console.view.run_view import RunView


class ArrangedColumns:
    """``columns`` are those of ``wanted`` that there are; ``over``, once asked for, is the history of one of them.

    ``shown`` are all from left to right, the history among them.
    """

    def __init__(self) -> None:
        self.wanted: tuple[Choice, ...] = (DEFAULT,)
        self.over: OverSessions | None = None
        self.columns = NO_COLUMNS
        self.shown: tuple[NodeColumn, ...] = NO_COLUMNS.shown
        self._cache = ColumnCache()
        self._metrics: Mapping[Choice, NodeColumn] = {}
        self._made: Mapping[Choice, NodeColumn] = {}
        self._held = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Every column by its key."""
        return tuple(column.key for column in self.shown)

    def read(self, view: RunView) -> None:
        """Take the metrics that every table of ``view`` has."""
        self._metrics = {column.choice: column for column in self._cache.list_columns(view)}
        self._choose()

    def take(self, wanted: tuple[Choice, ...], made: Iterable[NodeColumn]) -> None:
        """Other ``wanted`` columns; those that are no metric of every table were ``made`` for it."""
        self.wanted = wanted
        self._made = {column.choice: column for column in made}
        self._choose()

    def show_over(self, over: OverSessions | None) -> None:
        """Show the history of a column beside it, or none."""
        self.over = over
        self.shown = self.columns.shown if over is None else over.insert(self.columns.shown)

    def follow(self, picked: NodeColumn) -> FollowingColumn | None:
        """Hold the column that was ``picked`` last, of those of numbers, against peers.

        The column that does so, where it is about another one from now on; else None.
        """
        share = self.columns.following
        if picked.scale is not None and picked is not share:
            self._held = picked.key
        of = next((column for column in self.columns.chosen if column.key == self._held), None)
        if share is None or of is None or of is share.of:
            return None
        share.follow(of)
        return share

    def _choose(self) -> None:
        every = expand_default(self.wanted, tuple(self._metrics))
        found = (self._metrics.get(choice) or self._made.get(choice) for choice in every)
        self.columns = ColumnSet([column for column in found if column is not None])
        self.show_over(self.over)
