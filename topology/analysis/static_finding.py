"""Findings of a static analysis: one sentence each, before anything is measured.

Facts and numbers only, in the units of the screen; how it is coloured or sorted is the reader's.
"""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """``ERROR``: the description contradicts itself. ``WARNING``: it will hurt. ``NOTE``: good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class StaticFinding:
    """``code`` is a slug that scripts may rely on, ``where`` the element that it is about."""

    severity: Severity
    code: str
    where: str
    text: str
