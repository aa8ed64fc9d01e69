"""Free memory of the C library, given back to the system after a large round, and after the analysis of a fabric.

Data that a round held for a while (outputs, numbers before they are stored), or reading a session, leaves holes between
what stays; the C library keeps them for itself. Objects of Python have memory of their own, which goes back by itself.
"""

import ctypes
from collections.abc import Callable
from functools import cache

LARGE_ROUND = 1000
"""Tests of a round from which on it is worth some 10 ms."""


def return_memory() -> bool:
    """Give free pages back; whether there were any, and a C library that can (glibc: malloc_trim(3))."""
    trim = _find_trim()
    return trim is not None and trim(0) == 1


@cache
def _find_trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
    return found
