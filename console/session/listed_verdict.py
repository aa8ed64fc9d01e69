"""The verdict on a session as lists show it, from what is stored of it. Light to import."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchconsole.console.view.stored_verdict import NOT_KNOWN, RULES, ListedVerdict, Outcome, shorten_gap

if TYPE_CHECKING:
    from benchconsole.store.session_summary import SessionSummary


def list_verdict(session: "SessionSummary") -> ListedVerdict:
    """The verdict of a session in a list: one that was stored by these rules and still holds, or that it is unknown.

    Low results are counted where the verdict counted them. Results that could not be judged are counted among the gaps.
    """
    if session.state.value == "running":
        return ListedVerdict(Outcome.RUNNING, Outcome.RUNNING)
    stored = session.verdict
    if stored is None or stored.rules != RULES:
        return ListedVerdict(None, NOT_KNOWN)
    outcome = Outcome(stored.outcome)
    low = ((session.fails, "below"), (session.watches, "to watch"))
    words = [outcome.value, *(f"{number:,} {name}" for number, name in low if number)]
    return ListedVerdict(outcome, ", ".join(words) + _format_gaps(stored.missing))


def _format_gaps(missing: Sequence[str]) -> str:
    """``; missing: 3 tests not run: n[1-3], and 2 more``."""
    more = f", and {len(missing) - 1:,} more" if len(missing) > 1 else ""
    return f"; missing: {shorten_gap(missing[0])}{more}" if missing else ""
