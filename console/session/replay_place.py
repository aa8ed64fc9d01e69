"""The place in a replay that somebody typed: a time since the beginning, a round, or a share."""

import re
from typing import TYPE_CHECKING

from benchconsole.console.view.wording import format_played

if TYPE_CHECKING:
    from benchconsole.console.session.replay_clock import Timeline

EXPECTED = "mm:ss, hh:mm:ss, round 7, or 40 %"
_TIME = re.compile(r"(?:(\d{1,5}):)?(\d{1,5}):(\d{2})", re.ASCII)
_ROUND = re.compile(r"round\s+(\d{1,9})", re.ASCII | re.IGNORECASE)
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*%", re.ASCII)


class ReplayPlaceError(Exception):
    """A text that names no place of this replay, or more than one."""


def find_played(text: str, line: "Timeline") -> float:
    """The played seconds of what was typed: ``12:30``, ``1:02:30``, ``round 7``, ``40 %``. ReplayPlaceError else."""
    typed = text.strip()
    for form, find in ((_TIME, _find_time), (_ROUND, _find_round), (_SHARE, _find_share)):
        match = form.fullmatch(typed)
        if match is not None:
            return find(match, line)
    if re.fullmatch(r"\d+", typed, re.ASCII):
        raise ReplayPlaceError(f"{typed} may be a time, a round or a share, expected {EXPECTED}")
    raise ReplayPlaceError(f"{typed!r}, expected {EXPECTED}")


def _find_time(match: re.Match[str], line: "Timeline") -> float:
    hours, minutes, seconds = match.group(1), int(match.group(2)), int(match.group(3))
    if seconds >= 60 or (hours is not None and minutes >= 60):
        raise ReplayPlaceError(f"{match.group()}, expected minutes behind hours, and seconds, below 60")
    played = int(hours or 0) * 3600.0 + minutes * 60.0 + seconds
    # The bar shows whole seconds: what it shows as the end is the end.
    if played > line.total and int(line.total) != int(played):
        raise ReplayPlaceError(f"{match.group()} is after the end, expected at most {format_played(line.total)}")
    return min(played, line.total)


def _find_round(match: re.Match[str], line: "Timeline") -> float:
    number = int(match.group(1))
    if not 1 <= number <= len(line.rounds):
        raise ReplayPlaceError(f"{match.group()}, expected a round from 1 to {len(line.rounds):,}")
    return line.rounds[number - 1]


def _find_share(match: re.Match[str], line: "Timeline") -> float:
    share = float(match.group(1))
    if share > 100:
        raise ReplayPlaceError(f"{match.group()}, expected at most 100 %")
    return line.total * share / 100
