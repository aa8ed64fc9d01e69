"""The bounds of the rounds of a session: the tests of one, and the seconds of those that a session adds by itself."""

from typing import NamedTuple

MOST_TESTS = 2048
"""Tests of one round; more are run in several rounds.

All of them are made ready before the first one sends: at a few milliseconds of processor each, the last one of
so many is ready well within the time that the first one waits (``probes.running.start_barrier``).
"""

CONFIRMATION_SECONDS = 180.0
"""Seconds of rounds that a session adds by itself, unless it was told otherwise."""


class ConfirmationBounds(NamedTuple):
    """The ``seconds`` that rounds which a session adds by itself may last together, and the ``most`` tests of each."""

    seconds: float = CONFIRMATION_SECONDS
    most: int = MOST_TESTS
