"""Details in reports besides the results of a session: how it was started, its notes, what it could have shown."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.console.reports.content import SessionDetails, TimedNote
from benchconsole.console.session.followed_session import FollowedSession
from benchconsole.console.session.session import Session
from benchconsole.console.view.plan_text import format_left_out
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_verdict import SessionVerdict, decide
from benchconsole.probes.model.remark import Remark
from benchconsole.probes.planning.plan_summary import find_coverage
from benchconsole.store.reading.remark_reading import read_remarks

Record = tuple[Mapping[str, str | int | float], Sequence[TimedNote], tuple[Remark, ...]]
"""The options that a session was started with, what was noted since, and what people said of it."""


def read_details(session: Session | FollowedSession, view: RunView) -> SessionDetails:
    """The details of a session in reports beside what ``view`` shows of it."""
    return make_details(session, view, read_record(session), decide(view))


def read_record(session: Session | FollowedSession) -> Record:
    """The stored record of how a session was conducted; nothing where it is not stored."""
    if isinstance(session, FollowedSession):
        return session.read_record()
    if not session.id:
        return MappingProxyType({}), (), ()
    stored = session.store.session(session.id)
    return stored.describe().new.options, stored.read_notes(), read_remarks(stored)


def make_details(
    session: Session | FollowedSession, view: RunView, record: Record, verdict: SessionVerdict
) -> SessionDetails:
    """The same with a ``record`` that was read before, and the ``verdict`` on what ``view`` shows. Reads nothing."""
    uncovered = tuple(format_left_out(view.fabric, find_coverage(view.fabric, view.plan))) if view.plan else ()
    options, notes, remarks = record
    return SessionDetails(options, notes, uncovered, session.list_detectable_losses(), verdict, remarks)
