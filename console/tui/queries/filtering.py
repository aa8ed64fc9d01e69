"""The filter language after ``/``: text, ``!text``, ``~expression``, ``column>value``, joined by ``&``.

``n[1-4]`` are nodes, and ``@name`` is a saved filter. Nothing is evaluated.

A filter that is not understood names the word and what was expected; it never becomes another
filter by guessing. Rows answer by column name.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import compress
from operator import and_, attrgetter, not_, or_
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.expression import Expression, ExpressionError
from benchconsole.console.tui.queries.node_sets import (
    NODE_COLUMNS,
    ONE_NAME,
    NodeSetError,
    find_node_columns,
    is_node_set,
    list_names,
    read_names,
    read_names_in,
    read_node_set,
)
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS
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
        """All text that a plain word is looked for in, lower case; a line for each column, as expressions have ends."""


Filtered = TypeVar("Filtered", bound=Fields)


class Test(NamedTuple):
    """One condition: ``read`` gives what it looks at in all rows, ``check`` says of each row whether it is kept.

    Conditions with one ``key`` look at the same.
    """

    key: str
    read: Callable[[Sequence[Any]], Any]
    check: Callable[[Any], Iterable[bool]]


class ReadRows(Generic[Filtered]):
    """Rows, and what filters looked at in them: each key is read once from all rows, however many filters come."""

    def __init__(self, rows: Sequence[Filtered]) -> None:
        self.rows = rows
        self._read: dict[str, Any] = {}

    def find_values(self, test: Test) -> Any:  # noqa: ANN401 - its test knows what it is
        """The values that ``test`` looks at."""
        if test.key not in self._read:
            self._read[test.key] = test.read(self.rows)
        return self._read[test.key]


class FilterError(ValueError):
    """``word`` was not understood; ``expected`` says what could stand there."""

    def __init__(self, word: str, expected: str) -> None:
        self.word = word
        self.expected = expected
        super().__init__(f"{word}: {expected}")


class Filter(Struct, frozen=True):
    """The typed text and its meaning."""

    text: str
    tests: tuple[Test, ...] = ()

    def select(self, read: ReadRows[Filtered]) -> list[Filtered]:
        """The rows that every test keeps, in their order. FilterError for an expression that takes too long."""
        if not self.tests:
            return list(read.rows)
        kept = [test.check(read.find_values(test)) for test in self.tests]
        try:
            return list(compress(read.rows, reduce(lambda one, other: map(and_, one, other), kept)))
        except ExpressionError as error:
            raise FilterError(self.text, str(error)) from error


EVERYTHING = Filter("")

Sort = tuple[str, bool]
"""A column that sorts, and whether it does downwards."""


class KeptOrder(Generic[Filtered]):
    """Rows in their order, with their texts: all are sorted and read once, and many filters choose among them."""

    def __init__(self) -> None:
        self._of: Sequence[Filtered] = ()
        self._sorts: tuple[Sort, ...] = ()
        self._by_last: list[Filtered] = []
        """The rows sorted by the last column alone: most orders end with the same one."""
        self._read = ReadRows[Filtered](())
        self.refused: tuple[Filter, FilterError] | None = None
        """The last filter, where it took too long: it is not tried again, and all rows are shown."""

    def select(
        self,
        chosen: Filter,
        every: Sequence[Filtered],
        sorts: Sequence[Sort] = (),
        key_of: Callable[[str], Callable[[Filtered], Any]] = lambda _column: lambda _row: 0,
    ) -> list[Filtered]:
        """The rows of ``every`` that the filter keeps, sorted; ``key_of`` gives what a column sorts by.

        The rows that a filter takes away would not change the order of the others.
        """
        if every is not self._of or tuple(sorts) != self._sorts:
            if every is not self._of or tuple(sorts[-1:]) != self._sorts[-1:]:
                self._by_last = _sort_rows(every, sorts[-1:], key_of)
            rows = _sort_rows(self._by_last, sorts[:-1], key_of)
            self._of, self._sorts, self._read = every, tuple(sorts), ReadRows(rows)
        if self.refused is not None and self.refused[0] is chosen:
            return list(self._read.rows)
        self.refused = None
        try:
            return chosen.select(self._read)
        except FilterError as error:
            self.refused = (chosen, error)
            return list(self._read.rows)


def _sort_rows(
    rows: Iterable[Filtered], sorts: Sequence[Sort], key_of: Callable[[str], Callable[[Filtered], Any]]
) -> list[Filtered]:
    found = list(rows)
    for column, descending in reversed(sorts):
        found.sort(key=key_of(column), reverse=descending)
    return found


_COMPARISON = re.compile(r"(?P<column>[\w.\-]+)\s*(?P<sign>!=|<=|>=|!~|=|<|>|~)\s*(?P<value>.*)")
_COMMA = re.compile(r"[0-9]+,[0-9]+")


FindSaved = Callable[[str], str]
"""Gives the text of a saved filter by its name. LookupError says in words why there is none."""


def find_none(_name: str) -> str:
    """Stands in where no filters are saved."""
    raise LookupError("no filter is saved here")


def compile_filter(text: str, columns: Mapping[str, Scale | None], saved: FindSaved = find_none) -> Filter:
    """Read ``text``. ``columns`` maps each name to its scale, None for words; FilterError names a bad word."""
    return Filter(text.strip(), tuple(_FilterReader(columns, saved).read(text)))


def compile_words(text: str, saved: FindSaved = find_none) -> Filter:
    """Read ``text`` for lines without columns: ``text``, ``!text``, ``one|other``, ``~expression``, joined by ``&``.

    Brackets are text there. FilterError names an expression that is none.
    """
    return Filter(text.strip(), tuple(_FilterReader(None, saved).read(text)))


def _read_everything(rows: Iterable[Fields]) -> list[str]:
    return list(map(attrgetter("everything"), rows))


def _read_words(column: str) -> Callable[[Iterable[Fields]], list[str]]:
    return lambda rows: [row.words(column) for row in rows]


class _FilterReader:
    """Reads filters of one table; ``columns`` is None for lines. ``within`` are saved filters that are being read."""

    def __init__(
        self, columns: Mapping[str, Scale | None] | None, saved: FindSaved, within: tuple[str, ...] = ()
    ) -> None:
        self.columns = columns
        self.saved = saved
        self.within = within

    def read(self, text: str) -> list[Test]:
        """The conditions that all have to hold."""
        return [test for part in filter(None, map(str.strip, text.split("&"))) for test in self._read_part(part)]

    def _read_part(self, part: str) -> list[Test]:
        """The tests of the text between two ``&``: a comparison, an expression, or words."""
        inverse, wanted = part.startswith("!"), part.removeprefix("!")
        match = _COMPARISON.fullmatch(wanted) if self.columns is not None else None
        if match is not None and self.columns is not None:
            test = _compare(match["column"], match["sign"], match["value"].strip(), self.columns)
            return [test._replace(check=_not(test.check)) if inverse else test]
        if wanted.startswith("~"):
            check = _express(part, wanted.removeprefix("~"))
            return [Test("everything", _read_everything, _not(check) if inverse else check)]
        return [test for word in part.split() for test in self._read_word(word)]

    def _read_word(self, word: str) -> list[Test]:
        wanted = word.removeprefix("!")
        if wanted.startswith("@"):
            return self._read_saved(word, wanted.removeprefix("@"))
        choices = [choice for choice in wanted.split("|") if choice]
        if self.columns is None or not any(map(is_node_set, choices)):
            return [Test("everything", _read_everything, partial(map, _look_for(word.lower())))]
        test = _choose_nodes(choices, find_node_columns(self.columns))
        return [test._replace(check=_not(test.check)) if word.startswith("!") else test]

    def _read_saved(self, word: str, name: str) -> list[Test]:
        """The conditions of a saved filter. With ``!`` one that its rows together do not hold."""
        if not name:
            raise FilterError(word, "the name of a saved filter after it; tab offers those there are")
        if name in self.within:
            raise FilterError(word, f"@{name} contains itself: {' in '.join(f'@{each}' for each in self.within)}")
        try:
            tests = _FilterReader(self.columns, self.saved, (name, *self.within)).read(self.saved(name))
        except LookupError as error:
            raise FilterError(word, str(error)) from error
        except FilterError as error:
            raise FilterError(word, sanitize(f"in @{name}: {error}")) from error
        if not word.startswith("!"):
            return tests
        return [Test("row", list, _not(partial(_keep_rows, tuple(tests))))]


def _keep_rows(tests: Sequence[Test], rows: Sequence[Fields]) -> Iterable[bool]:
    """Whether each row holds all of ``tests``."""
    kept = [test.check(test.read(rows)) for test in tests]
    return reduce(lambda one, other: map(and_, one, other), kept, map(bool, [True] * len(rows)))


def _read_set(word: str) -> frozenset[str]:
    try:
        return read_node_set(word)
    except NodeSetError as error:
        raise FilterError(word, str(error)) from error


def _choose_nodes(choices: Sequence[str], columns: tuple[str, ...]) -> Test:
    """Rows of which a node is in one of the sets among ``choices``, or that hold one of the other words."""
    names: frozenset[str] = frozenset().union(*(_read_set(each) for each in choices if is_node_set(each)))
    words = [each.lower() for each in choices if not is_node_set(each)]
    if not words and columns and ONE_NAME.issuperset(columns):
        return _find_names(columns, names)
    read = read_names_in(columns)
    if not words:
        return Test("nodes", lambda rows: list(map(read, rows)), lambda found: map(not_, map(names.isdisjoint, found)))

    def check(found: Iterable[tuple[tuple[str, ...], str]]) -> Iterable[bool]:
        return (not names.isdisjoint(own) or any(word in text for word in words) for own, text in found)

    return Test("nodes and everything", lambda rows: [(read(row), row.everything) for row in rows], check)


def _express(typed: str, text: str) -> Callable[[Iterable[str]], Iterable[bool]]:
    """Read an expression; ``typed`` is named where it is none."""
    if not text:
        raise FilterError(typed, "a regular expression after it")
    try:
        return Expression(text).find_in
    except ExpressionError as error:
        raise FilterError(typed, str(error)) from error


def _look_for(word: str) -> Callable[[str], bool]:
    inverse, wanted = word.startswith("!"), word.removeprefix("!")
    if not wanted:
        return lambda text: True
    first, *others = [choice for choice in wanted.split("|") if choice] or [wanted]
    if others:
        return lambda text: any(choice in text for choice in (first, *others)) is not inverse
    return (lambda text: first not in text) if inverse else (lambda text: first in text)


def _not(check: Callable[[Iterable[Any]], Iterable[bool]]) -> Callable[[Iterable[Any]], Iterable[bool]]:
    return lambda values: map(not_, check(values))


def _compare(column: str, sign: str, value: str, columns: Mapping[str, Scale | None]) -> Test:
    name = _column(column, columns)
    if not value:
        raise FilterError(f"{column}{sign}", "a value after it")
    words = Test(f"words of {name}", _read_words(name), partial(map, bool))
    if name == "state" and sign in ("=", "!="):
        states = _states(value)
        return words._replace(check=partial(map, lambda text: (text in states) is (sign == "=")))
    scale = columns[name]
    if sign in ("~", "!~") and value.startswith("~"):
        check = _express(f"{column}{sign}{value}", value.removeprefix("~"))
        return words._replace(check=check if sign == "~" else _not(check))
    if name in NODE_COLUMNS and sign in ("=", "!=") and any(map(is_node_set, value.split("|"))):
        test = _compare_nodes(name, value)
        return test if sign == "=" else test._replace(check=_not(test.check))
    if scale is None or sign in ("~", "!~"):
        return words._replace(check=partial(map, _compare_words(name, sign, value)))
    compared = _compare_numbers(sign, _number(value, scale))
    return Test(f"number of {name}", lambda rows: [row.number(name) for row in rows], partial(map, compared))


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


def _compare_nodes(name: str, value: str) -> Test:
    """Rows of which a column names a node of the sets in ``value``, or is one of its other words."""
    choices = [choice.strip() for choice in value.split("|") if choice.strip()]
    names: frozenset[str] = frozenset().union(*(_read_set(each) for each in choices if is_node_set(each)))
    among = names.union(map(str.lower, choices))
    if name in ONE_NAME:
        return _find_names((name,), among)
    return Test(
        f"names in {name}",
        lambda rows: [(text.lower(), *list_names(text)) for text in _read_words(name)(rows)],
        lambda found: map(not_, map(among.isdisjoint, found)),
    )


def _find_names(columns: Sequence[str], among: frozenset[str]) -> Test:
    """Rows that have one of the names ``among`` in one of ``columns``, of which each holds one name."""

    def check(found: Sequence[Sequence[str]]) -> Iterable[bool]:
        kept: list[Iterable[bool]] = [map(among.__contains__, names) for names in found]
        return reduce(lambda one, other: map(or_, one, other), kept)

    return Test(f"name in {' '.join(columns)}", lambda rows: [read_names(rows, each) for each in columns], check)


def _compare_words(name: str, sign: str, value: str) -> Callable[[str], bool]:
    choices = [choice.strip().lower() for choice in value.split("|") if choice.strip()] or [value.lower()]
    if sign in ("~", "!~"):
        return lambda text: any(choice in text.lower() for choice in choices) is (sign == "~")
    if sign in ("=", "!="):
        return lambda text: (text.lower() in choices) is (sign == "=")
    raise FilterError(f"{name}{sign}", "one of = != ~ !~, for this column holds words")


def _number(value: str, scale: Scale) -> float:
    if _COMMA.fullmatch(value):
        raise FilterError(value, f"a number uses a point: {value.replace(',', '.')}")
    try:
        return float(value) * scale.factor if re.fullmatch(r"[0-9]+(\.[0-9]*)?", value) else parse(value, scale.unit)
    except UnitError as error:
        near = f", did you mean {error.suggestion}?" if error.suggestion else ""
        raise FilterError(value, f"{scale.example}{near}") from error


def _compare_numbers(sign: str, bound: float) -> Callable[[float | None], bool]:
    def test(number: float | None) -> bool:
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
