"""Moments as people read them: UTC to the second."""

from datetime import UTC, datetime


def format_moment(at: float | None) -> str:
    """A moment in UTC to the second, or the sign for nothing."""
    if not at:
        return "–"
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
