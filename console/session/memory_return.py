"""Free memory of the C library, given back to the system after a large round, and after the analysis of a fabric.

Data that a round held for a while (outputs, numbers before they are stored), or reading a session, leaves holes between
what stays; the C library keeps them for itself. Objects of Python have memory of their own, which goes back by itself.
A console on the screen works in several threads: it shares one arena among them, and has large blocks mapped.
"""

import ctypes
from collections.abc import Callable
from functools import cache

LARGE_BLOCK = 1024**2
"""Bytes from which on a block is mapped by itself, and goes back when it is freed: a list or a set of many tests."""

LARGE_ROUND = 1000
"""Tests of a round from which on it is worth some 10 ms."""


_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Parameters of mallopt(3), from malloc.h of glibc."""


def return_memory() -> bool:
    """Give free pages back; whether there were any, and a C library that can (glibc: malloc_trim(3))."""
    trim = _find_function("malloc_trim")
    return trim is not None and trim(0) == 1


def share_one_arena() -> bool:
    """Let all threads allocate from one arena, and map large blocks; whether the C library can (glibc: mallopt(3)).

    By default each thread keeps what it freed for itself, and blocks of up to 32 MiB stay in an arena once one of their
    size was freed. To be called before threads begin.
    """
    adjust = _find_function("mallopt")
    return adjust is not None and all([adjust(_M_ARENA_MAX, 1) == 1, adjust(_M_MMAP_THRESHOLD, LARGE_BLOCK) == 1])


@cache
def _find_function(name: str) -> Callable[..., int] | None:
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):
        return None
    return found
