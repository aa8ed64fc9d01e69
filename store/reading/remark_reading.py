"""Remarks as they are stored with a session."""

from benchconsole.probes.model.remark import About, Remark, RemarkKind
from benchconsole.store.reading.session_list import asking_session
from benchconsole.store.reading.session_reading import SessionReader


def read_remarks(session: SessionReader) -> tuple[Remark, ...]:
    """What people said of a session, in the order in which it was recorded; withdrawn remarks and withdrawals as well.

    UnknownSessionError where there is no such session.
    """
    with asking_session(session.database, session.id) as (connection, number):
        rows = connection.execute(
            """SELECT kind, about, subject, text, who, at, written, withdraws, number FROM remark
            WHERE session_id = ? ORDER BY number""",
            (number,),
        )
        return tuple(Remark(RemarkKind(kind), About(about), *rest) for kind, about, *rest in rows)
