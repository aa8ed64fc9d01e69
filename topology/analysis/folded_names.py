"""Many names as one short text: a node set, or the first name and a count where folding would take long."""

from collections.abc import Sequence
from functools import lru_cache

FOLDED = 1000
"""More names than this are counted."""


def fold_names(names: Sequence[str]) -> str:
    """``mxl[01-20]-[1-2]``, or ``leaf1 and 4,999 more``; the same set is folded once for all that speak of it."""
    if len(names) > FOLDED:
        return f"{names[0]} and {len(names) - 1:,} more"
    return _fold_cached(tuple(names))


@lru_cache(maxsize=256)
def _fold_cached(names: tuple[str, ...]) -> str:
    from benchconsole.topology.selection import fold  # here: it imports ClusterShell

    return fold(names)
