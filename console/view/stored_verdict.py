"""The verdict on a session as the store keeps it, for lists that cannot read whole sessions. Light to import."""

from enum import StrEnum
from typing import NamedTuple

RULES = 2
"""The number of the rules by which sessions are judged. A verdict under another one is not known any more."""

NOT_KNOWN = "not known: show it"
"""Stands for a verdict where none is stored that still holds."""


class Outcome(StrEnum):
    """The verdict on a session in a word. ``INCOMPLETE``: nothing is low, and not everything was tested or judged."""

    FAIL = "fail"
    INCOMPLETE = "incomplete"
    NOT_JUDGED = "not judged"
    RUNNING = "running"
    WATCH = "watch"
    PASS = "pass"


class ListedVerdict(NamedTuple):
    """One session in a list; ``outcome`` is None where it is not known."""

    outcome: Outcome | None
    words: str


_LONG = 160
"""Characters of a gap where it is only named."""


def shorten_gap(gap: str) -> str:
    """A gap (``missing``) as sentences and lists name it: a long one ends at a word, with an ellipsis."""
    if len(gap) <= _LONG:
        return gap
    end = gap.rfind(" ", 0, _LONG)
    return f"{gap[: end if end > 0 else _LONG]} …"
