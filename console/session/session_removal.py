"""Which sessions may be removed for good, and the removal of one; the reason where it stays. Light to import."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchconsole.store.errors import ConflictError, DrivenError, StoreError

if TYPE_CHECKING:
    from benchconsole.store.model import SessionSummary
    from benchconsole.store.store import Store


def split_removable(
    store: "Store", chosen: "Sequence[SessionSummary]"
) -> "tuple[list[SessionSummary], list[tuple[SessionSummary, str]]]":
    """Sessions that may go, and those that stay with the reason."""
    leaving, staying = [], []
    for each in chosen:
        try:
            store.require_removable(each.id)
        except StoreError as error:
            staying.append((each, error.found))
        else:
            leaving.append(each)
    return leaving, staying


def remove_session(store: "Store", key: str) -> str:
    """Remove a session; why it stays, empty where it is gone.

    Somebody may have resumed it, or named it as a baseline, since it was found removable.
    """
    try:
        store.remove_session(key)
    except (ConflictError, DrivenError) as error:
        return error.found
    return ""
