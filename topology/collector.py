"""Pauses the search for reference cycles while very many objects are made, of which none are in one."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collector() -> Iterator[None]:
    """No search for cycles inside; also a decorator. A plan or a stored session makes a million objects and no cycle:
    to look for some would take a third of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            # Everything that was made counts as old at once: else the next search would go through all of it.
            gc.freeze()
            gc.unfreeze()
            gc.enable()
