"""One line of the list of sessions: state, counts, verdict, baseline. All frozen, and light to import."""

from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct


class SessionState(StrEnum):
    """The state of a session. Interrupted: not run to its end, and no process drives it."""

    RUNNING = "running"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"


class SessionCounts(NamedTuple):
    """The counts of a verdict on a session, each test by its newest result.

    ``planned`` counts tests without those that were planned again, ``tested``, ``failed``, ``unreachable`` and
    ``skipped`` what became of them, ``fails`` and ``watches`` results that are low.
    """

    planned: int = 0
    tested: int = 0
    failed: int = 0
    unreachable: int = 0
    skipped: int = 0
    fails: int = 0
    watches: int = 0


class StoredVerdict(Struct, frozen=True):
    """The verdict on a whole session, as whoever judged it words it: in a word, in a sentence, and what is missing.

    ``rules`` is the number of the rules by which it was made. ``counts`` is None where an older program stored it.
    """

    rules: int
    outcome: str
    sentence: str
    missing: tuple[str, ...] = ()
    counts: SessionCounts | None = None


class SessionSummary(Struct, frozen=True):
    """One line of the list of sessions.

    ``planned`` counts tests; ``tested``, ``failed``, ``unreachable`` and ``skipped`` (cancelled, or of a closed round
    without a result) count them by the last attempt at their round, and what is missing to ``planned`` is still to
    come. ``ended`` is None while running and when the console died; ``because`` says why it ended. ``verdict`` is None
    where none was stored since something of the session was run, judged, planned or checked. Where it has counts, all
    counts are those: a test that was planned again counts once. ``fails`` and ``watches`` are known from it alone.
    ``is_baseline``: later sessions of its fabric are held against it.
    """

    id: str
    label: str
    fabric: str
    suite: str
    simulated: bool
    started: float
    ended: float | None
    state: SessionState
    because: str
    rounds: int
    rounds_closed: int
    planned: int
    tested: int
    failed: int
    unreachable: int
    skipped: int
    fails: int | None = None
    watches: int | None = None
    verdict: StoredVerdict | None = None
    is_baseline: bool = False


class Baseline(Struct, frozen=True):
    """The ``session`` (its id) that later ones of its fabric are held against, who named it and when (UTC seconds)."""

    session: str
    by: str
    at: float
