"""The demand of a class on a fact of its nodes, by the name of the fact: one of some values, or a bound."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FactRule:
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
        number = _read_number(reported)
        if self.values:
            return any(_are_alike(reported, number, value) for value in self.values)
        if number is None:
            return False
        return (self.at_least is None or number >= self.at_least) and (self.at_most is None or number <= self.at_most)


NEAR = 1e-6
"""Share by which numbers may differ: that of writing one as text and reading it back."""


def _read_number(value: str | float) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _are_alike(reported: str | float, number: float | None, value: str | float) -> bool:
    wanted = _read_number(value)
    if number is not None and wanted is not None:
        return abs(number - wanted) <= NEAR * abs(wanted)
    return " ".join(str(reported).split()).casefold() == " ".join(str(value).split()).casefold()
