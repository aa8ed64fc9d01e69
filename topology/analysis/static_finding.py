"""Findings of a static analysis: one sentence each, before anything is measured.

Facts and numbers only, in the units of the screen; how it is coloured or sorted is the reader's.
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

FOLDED = 1000
"""More names than this are counted: folding would take long."""


class Severity(StrEnum):
    """``ERROR``: the description contradicts itself. ``WARNING``: it will hurt. ``NOTE``: good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class StaticFinding(Struct, frozen=True):
    """``code`` is a slug that scripts may rely on, ``where`` the element that it is about."""

    severity: Severity
    code: str
    where: str
    text: str


def fold_names(names: Sequence[str]) -> str:
    """``mxl[01-20]-[1-2]``, or ``leaf1 and 4,999 more``; the same set is folded once for all that speak of it."""
    if len(names) > FOLDED:
        return f"{names[0]} and {len(names) - 1:,} more"
    return _fold_cached(tuple(names))


@lru_cache(maxsize=256)
def _fold_cached(names: tuple[str, ...]) -> str:
    from benchconsole.topology.selection import fold  # here: it imports ClusterShell

    return fold(names)
