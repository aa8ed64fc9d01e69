"""The verdict on a session, kept with it: lists show it without reading the session."""

from typing import TYPE_CHECKING

from benchconsole.console.session.judged_fabric import load_judged_fabric
from benchconsole.console.view.events import SessionEnded, SessionOpened
from benchconsole.console.view.reducer import read_judged
from benchconsole.console.view.session_verdict import SessionVerdict, decide
from benchconsole.console.view.stored_verdict import RULES
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.store.session_summary import SessionCounts, SessionState, StoredVerdict
from benchconsole.topology.copying import replace

if TYPE_CHECKING:
    from benchconsole.store.session_store import SessionStore
    from benchconsole.store.store import Store


def make_stored_verdict(verdict: SessionVerdict) -> StoredVerdict:
    """The verdict as the store keeps it."""
    covered = verdict.covered
    counts = SessionCounts(
        *(covered.planned, covered.tested, covered.failed, covered.unreachable, covered.skipped),
        fails=verdict.fails,
        watches=verdict.watches,
    )
    return StoredVerdict(RULES, verdict.outcome.value, verdict.sentence, verdict.missing, counts)


async def keep_verdict(store: "Store", key: str, verdict: SessionVerdict) -> None:
    """Store the verdict on a session that is over; it holds until something of the session changes."""
    await store.append_verdict(key, make_stored_verdict(verdict))


def decide_sampled(session: "SessionStore") -> SessionVerdict:
    """The verdict on a watch that is over; of its samples, which may be a million, only what counts is kept."""
    fabric, stored = load_judged_fabric(session), session.describe()
    new, complete = stored.new, stored.state is SessionState.COMPLETE
    plan, kept = session.read_plan(fabric), session.read_checklists()
    opened = SessionOpened(session.id, new.label, fabric, new.suite, plan, new.started, False, kept, True)
    ended = SessionEnded(stored.ended or new.started, complete, stored.because)
    rounds = (_drop_outputs(closed) for closed in session.read_rounds(fabric))
    return decide(read_judged(opened, rounds, session.read_findings() or (), ended))


def _drop_outputs(closed: ClosedRound) -> ClosedRound:
    return replace(closed, results=tuple(replace(result, outputs=(), facts=()) for result in closed.results))
