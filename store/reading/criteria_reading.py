"""The criteria that a stored session is judged with."""

from benchconsole.store.codec.rows import parse_criteria
from benchconsole.store.model import ChosenCriteria
from benchconsole.store.reading.session_list import asking_session
from benchconsole.store.reading.session_reading import SessionReader


def read_criteria(session: SessionReader) -> ChosenCriteria | None:
    """The criteria of ``session`` since it was last judged by hand; None where it never was.

    UnknownSessionError where there is no such session.
    """
    with asking_session(session.database, session.id) as (connection, number):
        row = connection.execute(
            "SELECT content, source, at FROM criteria WHERE session_id = ? ORDER BY id DESC LIMIT 1", (number,)
        ).fetchone()
        if row is None:
            return None
        content, source, at = row
        return ChosenCriteria(None if content is None else parse_criteria(content), source, at)
