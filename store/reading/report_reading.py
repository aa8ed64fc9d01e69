"""Reports as they are kept with a session: made once, and valid until something that they rest on changes."""

import zlib

from benchconsole.store.reading.session_list import asking_session
from benchconsole.store.reading.session_reading import SessionReader
from benchconsole.store.schema.tables import REPORT_BASIS
from benchconsole.store.sqlite import Connection


def read_report_basis(session: SessionReader) -> str:
    """The basis of a report on ``session`` now; another text as soon as anything of it changes.

    UnknownSessionError where there is no such session.
    """
    with asking_session(session.database, session.id) as (connection, number):
        return find_basis(connection, number)


def find_basis(connection: Connection, session: int) -> str:
    """``read_report_basis`` of the session with this number in the file."""
    statement = f"SELECT {REPORT_BASIS} FROM session WHERE id = ?"  # noqa: S608 - an expression of ours
    return str(connection.execute(statement, (session,)).fetchone()[0])


def read_kept_report(session: SessionReader, name: str) -> str | None:
    """The report that was kept under ``name``; None where there is none, or something changed since it was made.

    UnknownSessionError where there is no such session.
    """
    with asking_session(session.database, session.id) as (connection, number):
        row = connection.execute(
            f"""SELECT content FROM kept_report JOIN session ON session.id = session_id
            WHERE session_id = ? AND name = ? AND basis = {REPORT_BASIS}""",  # noqa: S608 - an expression of ours
            (number, name),
        ).fetchone()
        return None if row is None else zlib.decompress(row[0]).decode()
