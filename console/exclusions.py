"""Owns how time that does not count is written into the record of a session, and read from it again.

An exclusion is a note like any other: it stays, and what takes it back is another note. Refuses a moment without
its zone, and an exclusion without a reason or without somebody who answers for it.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from console.availability import Exclusion
from store.model import Note

KIND, WITHDRAWN = "exclusion", "exclusion withdrawn"
"""The kinds of the notes."""

_WHO = re.compile(r"[^:\n]{1,80}")
_NOTE = re.compile(r"(\S+/\S+) by ([^:\n]{1,80}): (.+)")
_FORM = "%Y-%m-%dT%H:%M:%SZ"


class ExclusionError(ValueError):
    """An exclusion that cannot be recorded: what was found, and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found!r}, expected {expected}")


def span_of(text: str) -> tuple[float, float]:
    """``2026-11-03T08:00Z/2026-11-03T12:00Z`` as UTC seconds; ExclusionError for anything else."""
    first, slash, last = text.partition("/")
    start, end = _moment(first), _moment(last)
    if not slash or start is None or end is None or end <= start:
        raise ExclusionError(text, "START/END with their zone, such as 2026-11-03T08:00Z/2026-11-03T12:00Z")
    return start, end


def exclusion_of(text: str, by: str) -> Exclusion:
    """``START/END REASON`` as somebody wrote it; ExclusionError where a part is missing."""
    span, _, reason = text.strip().partition(" ")
    start, end = span_of(span)
    if not reason.strip() or "\n" in reason:
        raise ExclusionError(text, "a reason behind the times, on one line")
    if not _WHO.fullmatch(by) or not by.strip():
        raise ExclusionError(by, "a name without a colon, of who decided that")
    return Exclusion(start, end, reason.strip(), by.strip())


def words(each: Exclusion) -> str:
    """An exclusion as the text of its note."""
    return f"{span_words(each.start, each.end)} by {each.by}: {each.reason}"


def span_words(start: float, end: float) -> str:
    """``2026-11-03T08:00:00Z/2026-11-03T12:00:00Z``."""
    return "/".join(datetime.fromtimestamp(at, UTC).strftime(_FORM) for at in (start, end))


def recorded(notes: Iterable[Note]) -> tuple[Exclusion, ...]:
    """The exclusions that stand, in the order in which they were recorded."""
    found: dict[str, Exclusion] = {}
    for note in notes:
        if note.kind == WITHDRAWN:
            found.pop(note.text.partition(" ")[0], None)
        match = _NOTE.fullmatch(note.text) if note.kind == KIND else None
        if match is not None:
            found[match[1]] = Exclusion(*span_of(match[1]), match[3], match[2])
    return tuple(found.values())


def _moment(text: str) -> float | None:
    """UTC seconds of a moment that says its zone, to the second."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo is not None and not found.microsecond else None
