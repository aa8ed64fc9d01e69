"""Remarks as they are stored with a session."""

from collections.abc import Sequence
from typing import Any

from benchconsole.probes.model.remark import About, Remark, RemarkKind
from benchconsole.store.files.database import Database
from benchconsole.store.reading.session_list import asking_session
from benchconsole.store.reading.session_reading import SessionReader
from benchconsole.store.sqlite import Connection
from benchconsole.topology.grouping import group_by_key

_REMARKS = """SELECT key, kind, about, subject, text, who, at, written, withdraws, number
    FROM remark JOIN session ON session.id = session_id"""


def read_remarks(session: SessionReader) -> tuple[Remark, ...]:
    """Remarks on a session, in the order in which they were recorded; withdrawn remarks and withdrawals as well.

    UnknownSessionError where there is no such session.
    """
    with asking_session(session.database, session.id) as (connection, number):
        return list_remarks(connection, number)


def list_remarks(connection: Connection, session: int) -> tuple[Remark, ...]:
    """The same of the session with this number in the file, also within a transaction."""
    rows = connection.execute(f"{_REMARKS} WHERE session_id = ? ORDER BY number", (session,))
    return tuple(_make_remark(row) for _, *row in rows)


def read_all_remarks(database: Database) -> dict[str, tuple[Remark, ...]]:
    """The same of every session that has any, by the id of the session."""
    with database.reading() as connection:
        rows = connection.execute(f"{_REMARKS} ORDER BY session_id, number").fetchall()
    found = group_by_key((row[0], _make_remark(row[1:])) for row in rows)
    return {key: tuple(remarks) for key, remarks in found.items()}


def _make_remark(row: Sequence[Any]) -> Remark:
    kind, about, *rest = row
    return Remark(RemarkKind(kind), About(about), *rest)
