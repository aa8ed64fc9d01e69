"""The history beside a column: it says how far it is read until its values are there."""

from benchconsole.console.tui.queries.node_row import NO_COLUMNS, NodeRow
from benchconsole.console.tui.queries.over_sessions import OverSessions
from tests.console.tui.looking import healthy


def test_it_is_read_when_its_values_are_there_and_not_when_the_last_session_was_asked() -> None:
    row = NodeRow(next(iter(healthy().view().nodes.values())), "", NO_COLUMNS)
    over = OverSessions(NO_COLUMNS.shown[0])
    over.sessions = over.read = 2
    assert (over.is_read, over.symbol, over.list_values(row)) == (False, "2 of 2", ())
    over.values = {}
    assert (over.is_read, over.symbol, over.list_values(row)) == (True, "of 2", [None, None])
