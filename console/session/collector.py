"""The settings of Python's garbage collector while a session runs."""

import gc

_YOUNG, _MIDDLE, _OLD = 5_000, 500, 100
"""Objects that are made between two looks at those alone, and how often others are looked at.

A fan-out makes many short-lived objects, and a session many that stay, so that a look at more than the youngest is
rare. A look at 50,000 of them halts everything for up to 45 ms; ten at 5,000 cost the same.
"""


def tune_collector() -> None:
    """Collect what is young often and the rest seldom; halts are short."""
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)


def freeze_collector() -> None:
    """The same, and never look at what is here already: modules and what was read before the run."""
    gc.collect()
    gc.freeze()
    tune_collector()
