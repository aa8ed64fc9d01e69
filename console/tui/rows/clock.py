"""Times as people read them: the time of day, and a duration."""

import time


def time_of_day(at: float) -> str:
    """``15:32:07``, here."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def hour(at: float) -> str:
    """``15:49``, here."""
    return time.strftime("%H:%M", time.localtime(at))


def lasting(seconds: float) -> str:
    """``0:52``, ``38:06``, ``2:05:00``."""
    hours, rest = divmod(max(round(seconds), 0), 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"
