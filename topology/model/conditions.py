"""Conditions on labels: ``where: {block: ">= 1 MiB"}``. Labels compare by value and unit where both are quantities."""

import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from benchconsole.topology.model.sweep import are_alike, parse_number
from benchconsole.topology.units import Unit, UnitError, parse_any

IMPLIED = ("nodes",)
"""Labels that every number has: on how many nodes its test ran."""

COMPARED = 'a quantity after the sign, such as ">= 1 MiB", "> 4" or ">= 50 %"'
_WRITTEN = re.compile(r"\s*(>=|<=|>|<)?\s*(.*?)\s*", re.DOTALL)
_QUANTITY = re.compile(r"[0-9][0-9.]*\s*[A-Za-z%/]+")
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}


class Condition(NamedTuple):
    """The demand on a label: ``text``, or a number that stands to ``number`` (in base ``unit``) as ``sign`` says.

    ``sign`` is empty for what must be equal, ``number`` None for words.
    """

    sign: str
    text: str
    number: float | None
    unit: Unit

    def accepts(self, label: str) -> bool:
        """Whether a label says it. A bare number is bytes where the condition is a size."""
        if not self.sign and label.strip().casefold() == self.text.casefold():
            return True
        said = parse_number(label)
        if said is None or self.number is None:
            return False
        bare = Unit.BYTE if self.unit is Unit.BYTE else Unit.ONE
        if (said[1] or bare) is not self.unit:
            return False
        alike = are_alike(label, said[0], self.number)
        if not self.sign:
            return alike
        return "=" in self.sign if alike else _COMPARISONS[self.sign](said[0], self.number)


@lru_cache(maxsize=1024)  # the same few for every measurement
def parse_condition(written: str) -> Condition:
    """``>= 1 MiB``, ``1``, ``random``; UnitError for a sign without a quantity, and for one of several readings."""
    match = _WRITTEN.fullmatch(written)
    sign, text = (match[1] or "", match[2]) if match else ("", written)
    number = parse_number(text)
    if number is None:
        if sign or _QUANTITY.fullmatch(text):
            suggestion = _suggest(text)
            if sign or suggestion:
                raise UnitError(written, COMPARED, suggestion and f"{sign} {suggestion}".strip())
        return Condition(sign, text, None, Unit.ONE)
    return Condition(sign, text, number[0], number[1] or Unit.ONE)


def _suggest(text: str) -> str | None:
    try:
        parse_any(text)
    except UnitError as error:
        return error.suggestion
    return None


def format_condition(name: str, written: str) -> str:
    """``size=8``, ``nodes > 4``."""
    return f"{name} {written}" if written.startswith((">", "<")) else f"{name}={written}"


def accept_labels(where: tuple[tuple[str, str], ...], labels: Mapping[str, str]) -> bool:
    """Whether labels say everything that ``where`` asks of them."""
    return all(name in labels and parse_condition(text).accepts(labels[name]) for name, text in where)
