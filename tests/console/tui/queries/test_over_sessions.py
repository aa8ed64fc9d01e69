"""The history beside a column: it says how far it is read until its values are there."""

from benchconsole.console.tui.queries.measured_columns import MeasuredColumn
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, NodeRow
from benchconsole.console.tui.queries.over_sessions import OverSessions
from benchconsole.console.tui.queries.told_readings import MeasuredKind
from benchconsole.topology.units import Shown, Unit
from tests.console.tui.looking import healthy


def test_it_is_read_when_its_values_are_there_and_not_when_the_last_session_was_asked() -> None:
    row = NodeRow(next(iter(healthy().view().nodes.values())), "", NO_COLUMNS)
    over = OverSessions(NO_COLUMNS.shown[0])
    over.sessions = over.read = 2
    assert (over.is_read, over.symbol, over.list_values(row)) == (False, "2 of 2", ())
    over.values = {}
    assert (over.is_read, over.symbol, over.list_values(row)) == (True, "of 2", [None, None])


def test_of_what_nothing_judges_all_sessions_have_the_number_of_a_history() -> None:
    """The table has the median of the node's own tests, a history the middle of all: in one row that were a change."""
    row = NodeRow(next(iter(healthy().view().nodes.values())), "", NO_COLUMNS)
    node = row.view.node.id
    kind = MeasuredKind(("m", "s"), "p", Unit.SECOND, {node: 2.0}, {node: 3})
    over = OverSessions(MeasuredColumn(kind, "m", Shown.PLAIN))
    over.shown, over.values = 1, {node: (9.0, 8.0)}
    assert over.list_values(row) == [9.0, 8.0]
