"""The demand of a class on a fact of its nodes, by the name of the fact: one of some values, or a bound."""

import math
import re

from msgspec import Struct


class FactRule(Struct, frozen=True):
    """``values`` are those that the fact may have, text or numbers in its base unit; else it lies within the bounds.

    ``text`` is the rule as people read it: ``10000``, ``off or unknown``, ``at least 2``. ``where`` are labels of the
    parts that it speaks of (``mount=/data``); of every part where there is none.
    """

    values: tuple[str | float, ...] = ()
    at_least: float | None = None
    at_most: float | None = None
    text: str = ""
    where: tuple[tuple[str, str], ...] = ()

    def accepts(self, reported: str | float) -> bool:
        """Whether a reported value is asked for: numbers as numbers, text by its words whatever their case."""
        if self.values:
            return any(_are_alike(reported, value) for value in self.values)
        number = _read_number(reported)
        if number is None or self.leaves_open(reported):
            return False
        return (self.at_least is None or number >= self.at_least) and (self.at_most is None or number <= self.at_most)

    def leaves_open(self, reported: str | float) -> bool:
        """Whether it cannot be told if a reported text is asked for: of 5.9 and 5.10 either may be the later version.

        It is a number that is asked for in another writing, or none that a bound can be held against.
        """
        if not isinstance(reported, str):
            return False
        if not self.values:
            return _WHOLE.fullmatch(reported.strip()) is None
        number = _read_number(reported)
        return number is not None and any(_are_near(number, each) for each in self.values if isinstance(each, float))


_WHOLE = re.compile(r"[+-]?[0-9]+")
"""Text that is a number and no version."""

NEAR = 1e-6
"""Share by which numbers may differ: that of writing one as text and reading it back."""


def _read_number(value: str | float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _are_near(number: float, wanted: float) -> bool:
    return abs(number - wanted) <= NEAR * abs(wanted)


def _are_alike(reported: str | float, value: str | float) -> bool:
    """Text is compared with text, and with a number as that is written: digits of a version are no number."""
    if isinstance(reported, str):
        wanted = value if isinstance(value, str) else f"{value:.15g}"
        return " ".join(reported.split()).casefold() == " ".join(wanted.split()).casefold()
    asked = _read_number(value)
    return asked is not None and _are_near(reported, asked)
