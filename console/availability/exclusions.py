"""Time that does not count, as notes in the record of a session: written, withdrawn and read again.

An exclusion is a note like any other: it stays, and what takes it back is another note. A moment needs its zone, and
an exclusion a reason and somebody who answers for it.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from benchconsole.console.availability.evaluation import Exclusion
from benchconsole.console.text.moment import parse_moment
from benchconsole.store.model import SessionNote

KIND, WITHDRAWN = "exclusion", "exclusion withdrawn"
"""The kinds of the notes."""

_WHO = re.compile(r"[^:\n]{1,80}")
_NOTE = re.compile(r"(\S+/\S+) by ([^:\n]{1,80}): (.+)")
_FORM = "%Y-%m-%dT%H:%M:%SZ"


class ExclusionError(ValueError):
    """An exclusion that cannot be recorded: what was found, and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found!r}, expected {expected}")


def parse_span(text: str) -> tuple[float, float]:
    """``2026-11-03T08:00Z/2026-11-03T12:00Z`` as UTC seconds; ExclusionError for anything else."""
    first, slash, last = text.partition("/")
    start, end = _parse_moment(first), _parse_moment(last)
    if not slash or start is None or end is None or end <= start:
        raise ExclusionError(text, "START/END with their zone, such as 2026-11-03T08:00Z/2026-11-03T12:00Z")
    return start, end


def parse_exclusion(text: str, by: str) -> Exclusion:
    """``START/END REASON`` as somebody wrote it; ExclusionError where a part is missing."""
    span, _, reason = text.strip().partition(" ")
    start, end = parse_span(span)
    if not reason.strip() or "\n" in reason:
        raise ExclusionError(text, "a reason behind the times, on one line")
    if not _WHO.fullmatch(by) or not by.strip():
        raise ExclusionError(by, "a name without a colon, of who decided that")
    return Exclusion(start, end, reason.strip(), by.strip())


def format_exclusion(each: Exclusion) -> str:
    """An exclusion as the text of its note."""
    return f"{format_span(each.start, each.end)} by {each.by}: {each.reason}"


def format_span(start: float, end: float) -> str:
    """``2026-11-03T08:00:00Z/2026-11-03T12:00:00Z``."""
    return "/".join(datetime.fromtimestamp(at, UTC).strftime(_FORM) for at in (start, end))


def read_exclusions(notes: Iterable[SessionNote]) -> tuple[Exclusion, ...]:
    """The exclusions that stand, in the order in which they were recorded."""
    found: dict[str, Exclusion] = {}
    for note in notes:
        if note.kind == WITHDRAWN:
            found.pop(note.text.partition(" ")[0], None)
        match = _NOTE.fullmatch(note.text) if note.kind == KIND else None
        if match is not None:
            found[match[1]] = Exclusion(*parse_span(match[1]), match[3], match[2])
    return tuple(found.values())


def _parse_moment(text: str) -> float | None:
    """UTC seconds of a moment that says its zone, to the second."""
    found = parse_moment(text)
    return None if found is None or found % 1 else found
