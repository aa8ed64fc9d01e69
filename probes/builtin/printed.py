"""Owns what a number that was printed can still prove: the values that were rounded to it, on lines that are whole.

Tables of benchmarks print a rate beside the time and the size that it was computed from. A digit that was lost, and
a unit that was mistaken, show as numbers that do not fit each other. Refuses to know any one tool.
"""

import re

from probes.builtin.captured import decimal, whole_lines

Span = tuple[float, float]
"""The least and the greatest value that may have been meant."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_RANK = re.compile(r"\[(?:[\w.-]{1,99}@)?\d+,\d+\](?:\[[\w.-]{1,80}:\d+\])?<stdout>: ?")
"""What ``--tag-output`` of Open MPI puts in front of every line."""
_SLACK = 0.51
"""Of the last digit: half for the rounding, the rest for the arithmetic of those who computed it."""


def plain_lines(text: str) -> list[str]:
    """The lines of ``text`` that were ended, without colour codes, the tag of a rank and blanks around them."""
    return [_RANK.sub("", _COLOUR.sub("", line).strip(), count=1).strip() for line in whole_lines(text)]


def level_lines(text: str) -> list[str]:
    """The lines of ``text`` that were ended, without colour codes and without the indentation they all share."""
    lines = [_COLOUR.sub("", line) for line in whole_lines(text)]
    shared = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return [line[shared:] for line in lines]


def span(text: str) -> Span | None:
    """What may have been rounded to the decimal number ``text``; None for text that is none, or a negative one."""
    value = decimal(text)
    if value is None or value < 0:
        return None
    digits, _, exponent = text.lower().partition("e")
    half = _SLACK * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return max(value - half, 0.0), value + half


def times(*factors: Span) -> Span:
    """What the product of such numbers may be."""
    low, high = 1.0, 1.0
    for factor in factors:
        low, high = low * factor[0], high * factor[1]
    return low, high


def fits(value: float, within: Span, tolerance: float = 1e-9) -> bool:
    """Whether ``value`` lies in ``within``, but for a share of ``tolerance``."""
    return within[0] * (1 - tolerance) <= value <= within[1] * (1 + tolerance)
