"""The filter language after ``/``: text, ``!text``, ``column>value``, joined by ``&``. Nothing is evaluated.

A filter that is not understood names the word and what was expected; it never becomes another
filter by guessing. Rows answer by column name.
"""

import difflib
import math
import re
from collections.abc import Callable, Mapping
from typing import Protocol

from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS
from benchconsole.topology.dataclass import dataclass
from benchconsole.topology.units import UnitError, parse


class Fields(Protocol):
    """A row that can be filtered."""

    def words(self, column: str) -> str:
        """The text of a column."""

    def number(self, column: str) -> float | None:
        """The number of a column in its base unit; rows that are all words have none."""
        return None

    @property
    def everything(self) -> str:
        """All text that a plain word is looked for in, lower case."""


Test = Callable[[Fields], bool]


class FilterError(ValueError):
    """``word`` was not understood; ``expected`` says what could stand there."""

    def __init__(self, word: str, expected: str) -> None:
        self.word = word
        self.expected = expected
        super().__init__(f"{word}: {expected}")


@dataclass(frozen=True, slots=True)
class Filter:
    """What was typed and what it means."""

    text: str
    tests: tuple[Test, ...] = ()

    def keeps(self, row: Fields) -> bool:
        return all(test(row) for test in self.tests)


EVERYTHING = Filter("")

_COMPARISON = re.compile(r"(?P<column>[\w.\-]+)\s*(?P<sign>!=|<=|>=|!~|=|<|>|~)\s*(?P<value>.*)")
_COMMA = re.compile(r"[0-9]+,[0-9]+")


def compile_filter(text: str, columns: Mapping[str, Scale | None]) -> Filter:
    """Read ``text``. ``columns`` maps each name to its scale, None for words; FilterError names a bad word."""
    tests: list[Test] = []
    for part in filter(None, map(str.strip, text.split("&"))):
        match = _COMPARISON.fullmatch(part.removeprefix("!"))
        if match is None:
            tests += [_word(word) for word in part.split()]
            continue
        test = _compare(match["column"], match["sign"], match["value"].strip(), columns)
        tests.append(_not(test) if part.startswith("!") else test)
    return Filter(text.strip(), tuple(tests))


def compile_words(text: str) -> Filter:
    """Read ``text`` as words alone, for lines without columns: ``text``, ``!text``, ``one|other``, joined by ``&``."""
    return Filter(text.strip(), tuple(map(_word, text.replace("&", " ").split())))


def _word(word: str) -> Test:
    inverse, wanted = word.startswith("!"), word.lower().removeprefix("!")
    if not wanted:
        return lambda row: True
    first, *others = [choice for choice in wanted.split("|") if choice] or [wanted]
    if not others:
        return lambda row: (first in row.everything) is not inverse
    return lambda row: any(choice in row.everything for choice in (first, *others)) is not inverse


def _not(test: Test) -> Test:
    return lambda row: not test(row)


def _compare(column: str, sign: str, value: str, columns: Mapping[str, Scale | None]) -> Test:
    name = _column(column, columns)
    if not value:
        raise FilterError(f"{column}{sign}", "a value after it")
    if name == "state" and sign in ("=", "!="):
        wanted = _states(value)
        return lambda row: (row.words("state") in wanted) is (sign == "=")
    scale = columns[name]
    if scale is None or sign in ("~", "!~"):
        return _compare_words(name, sign, value)
    return _compare_numbers(name, sign, _number(value, scale))


def _column(word: str, columns: Mapping[str, Scale | None]) -> str:
    lower = word.lower()
    if lower in columns:
        return lower
    near = [name for name in columns if name.startswith(lower) or name.endswith(f".{lower}")]
    if len(near) == 1:
        return near[0]
    guesses = difflib.get_close_matches(lower, columns, n=1)
    hint = f"did you mean {guesses[0]}?" if guesses else "the columns are " + " ".join(columns)
    raise FilterError(word, f"no such column, {hint}")


def _states(value: str) -> frozenset[str]:
    """The words of the states that ``value`` names: ``fail``, ``no ssh``, ``unreachable``, ``fail|watch``."""
    found = set()
    for choice in value.lower().split("|"):
        wanted = choice.strip()
        state = next((s for s in State if wanted in (s.value, SIGNS[s].word, SIGNS[s].glyph)), None)
        if state is None:
            raise FilterError(wanted or value, "a state: " + " ".join(SIGNS[s].word.replace(" ", "") for s in State))
        found.add(SIGNS[state].word)
    return frozenset(found)


def _compare_words(name: str, sign: str, value: str) -> Test:
    choices = [choice.strip().lower() for choice in value.split("|") if choice.strip()] or [value.lower()]
    if sign in ("~", "!~"):
        return lambda row: any(choice in row.words(name).lower() for choice in choices) is (sign == "~")
    if sign in ("=", "!="):
        return lambda row: (row.words(name).lower() in choices) is (sign == "=")
    raise FilterError(f"{name}{sign}", "one of = != ~ !~, for this column holds words")


def _number(value: str, scale: Scale) -> float:
    if _COMMA.fullmatch(value):
        raise FilterError(value, f"a number uses a point: {value.replace(',', '.')}")
    try:
        return float(value) * scale.factor if re.fullmatch(r"[0-9]+(\.[0-9]*)?", value) else parse(value, scale.unit)
    except UnitError as error:
        near = f", did you mean {error.suggestion}?" if error.suggestion else ""
        raise FilterError(value, f"{scale.example}{near}") from error


def _compare_numbers(name: str, sign: str, bound: float) -> Test:
    def test(row: Fields) -> bool:
        number = row.number(name)
        if number is None or math.isnan(number):
            return sign == "!="
        return {
            "=": abs(number - bound) <= abs(bound) * 0.005,
            "!=": abs(number - bound) > abs(bound) * 0.005,
            "<": number < bound,
            "<=": number <= bound,
            ">": number > bound,
            ">=": number >= bound,
        }[sign]

    return test
