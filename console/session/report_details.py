"""What reports say of a session besides its results: how it was started, what was noted, what it could have shown."""

from benchconsole.console.reports.content import SessionDetails
from benchconsole.console.session.followed_session import FollowedSession
from benchconsole.console.session.session import Session
from benchconsole.console.view.plan_text import format_left_out
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_verdict import SessionVerdict, decide
from benchconsole.probes.planning.plan_summary import find_coverage


def read_details(
    session: Session | FollowedSession, view: RunView, verdict: SessionVerdict | None = None
) -> SessionDetails:
    """The record of a session, and the ``verdict`` on what ``view`` shows of it, where it is known already."""
    uncovered = tuple(format_left_out(view.fabric, find_coverage(view.fabric, view.plan))) if view.plan else ()
    losses, verdict = session.list_detectable_losses(), verdict or decide(view)
    if isinstance(session, FollowedSession):
        return SessionDetails(*session.read_record(), uncovered, losses, verdict)
    if not session.id:
        return SessionDetails(uncovered=uncovered, losses=losses, verdict=verdict)
    stored = session.store.session(session.id)
    return SessionDetails(stored.describe().new.options, stored.read_notes(), uncovered, losses, verdict)
