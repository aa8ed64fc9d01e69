"""Moments as people write them: always with their zone, so that nobody has to guess it."""

import time
from datetime import datetime

EXAMPLE = "2026-11-21T14:00:00Z"
_AHEAD = 60
"""Seconds that the clock of whoever wrote may be before ours."""


def parse_moment(text: str) -> float | None:
    """UTC seconds of ``2026-11-21T14:00:00Z``; None for what is no moment, or says no zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if found.tzinfo is None else found.timestamp()


def parse_past(text: str, now: float | None = None) -> float | None:
    """The same for a moment that is over at ``now`` (UTC seconds; None: by the clock)."""
    found = parse_moment(text)
    return None if found is None or found > (time.time() if now is None else now) + _AHEAD else found
