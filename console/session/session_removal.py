"""Which sessions may be removed for good, and the removal of one; the reason where it stays. Light to import."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from benchconsole.store.errors import ConflictError, DrivenError, StoreError

if TYPE_CHECKING:
    from benchconsole.store.session_summary import SessionSummary
    from benchconsole.store.store import Store


def split_removable(
    store: "Store", chosen: "Sequence[SessionSummary]"
) -> "tuple[list[SessionSummary], list[tuple[SessionSummary, str]]]":
    """Sessions that may go, and those that stay with the reason."""
    reasons = find_staying(store, (each.id for each in chosen))
    staying = [(each, reasons[each.id]) for each in chosen if each.id in reasons]
    return [each for each in chosen if each.id not in reasons], staying


def find_staying(store: "Store", keys: Iterable[str]) -> dict[str, str]:
    """Of these sessions those that may not go, each with the reason."""
    staying = {}
    for key in keys:
        try:
            store.require_removable(key)
        except StoreError as error:
            staying[key] = error.found
    return staying


def remove_session(store: "Store", key: str) -> str:
    """Remove a session; why it stays, empty where it is gone.

    Somebody may have resumed it, or named it as a baseline, since it was found removable.
    """
    try:
        store.remove_session(key)
    except (ConflictError, DrivenError) as error:
        return error.found
    return ""
