"""The verdict on a session, kept with it: lists show it without reading the session."""

from typing import TYPE_CHECKING

from benchconsole.console.view.session_verdict import SessionVerdict
from benchconsole.console.view.stored_verdict import RULES
from benchconsole.store.model import StoredVerdict

if TYPE_CHECKING:
    from benchconsole.store.store import Store


def make_stored_verdict(verdict: SessionVerdict) -> StoredVerdict:
    """The verdict as the store keeps it."""
    return StoredVerdict(RULES, verdict.outcome.value, verdict.sentence, verdict.missing)


async def keep_verdict(store: "Store", key: str, verdict: SessionVerdict) -> None:
    """Store the verdict on a session that is over; it holds until something of the session changes."""
    await store.append_verdict(key, make_stored_verdict(verdict))
