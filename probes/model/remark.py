"""Remarks: what people say of a session or of a part of it, with who said it and when. They judge nothing.

A remark is never changed and never deleted, so that a report that was signed can be read again: it is withdrawn by
another one, and both stay.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

LONGEST = 20_000
"""Characters of one remark."""


class RemarkKind(StrEnum):
    """The kind of a remark: an observation, something that was changed, a conclusion, or what was asked for.

    With ``ACCEPTED`` somebody answers for a finding; no verdict asks for it.
    """

    REMARK = "remark"
    TUNING = "tuning"
    CONCLUSION = "conclusion"
    REQUEST = "request"
    ACCEPTED = "accepted"
    WITHDRAWAL = "withdrawal"


KINDS = tuple(kind.value for kind in RemarkKind if kind is not RemarkKind.WITHDRAWAL)
"""The kinds that somebody writes down; a withdrawal is made of its own."""


class About(StrEnum):
    """The sort of thing that a remark is about."""

    SESSION = "session"
    NODE = "node"
    SWITCH = "switch"
    LINK = "link"
    FINDING = "finding"
    CLAUSE = "clause"
    POINT = "point"


class Remark(Struct, frozen=True):
    """``subject`` names what it is ``about``: a node, a switch, the id of a link, the element of a finding, the source
    or the metric of a criterion, or ``stage: axis value`` of a point; empty of a session. An acceptance names kind,
    place and level of its finding, so that it is of no other one.

    ``at`` is the time that it speaks of, ``written`` when it was recorded (both UTC seconds). ``number`` counts the
    remarks of a session from 1 (0 before it is stored); ``withdraws`` is the number of another one, 0 for none.
    """

    kind: RemarkKind
    about: About
    subject: str
    text: str
    by: str
    at: float
    written: float
    withdraws: int = 0
    number: int = 0

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """Its text in paragraphs, as they were written."""
        return tuple(part.strip() for part in self.text.split("\n\n") if part.strip())


class RemarkSubject(Struct, frozen=True):
    """The subject of a remark that is to be written: its kind, and ``about`` what and of which name it is.

    ``withdraws`` is the number of the remark that it takes back, 0 for none.
    """

    about: About = About.SESSION
    subject: str = ""
    kind: RemarkKind = RemarkKind.REMARK
    withdraws: int = 0


OF_SESSION = RemarkSubject()


def list_standing(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """The remarks that nobody withdrew, in the order of the time that they speak of."""
    every = tuple(remarks)
    gone = {each.withdraws for each in every if each.withdraws}
    standing = (each for each in every if each.number not in gone and not each.withdraws)
    return tuple(sorted(standing, key=lambda each: (each.at, each.number)))
