"""An area of the screen: rows with words and numbers by column, which can be filtered, shown and given to machines."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from benchconsole.console.text.table import Column, Table
from benchconsole.console.tui.queries.filtering import EVERYTHING, FindSaved, ReadRows, compile_filter, find_none
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.view.run_view import State

Record = dict[str, object]
_STATES: Mapping[object, State] = {state.value: state for state in State}


@lru_cache(256)
def _number_columns(names: tuple[str, ...]) -> Mapping[str, int]:
    """The place of each column; all rows of an area share it, for an area may have fifty thousand of them."""
    return {name: place for place, name in enumerate(names)}


class Row:
    """One line of an area: its words by column, its numbers in base units, and what machines get of it.

    ``record`` may be a function that makes it of ``source``: most rows are never asked for it. Rows with one source are
    equal. ``sign`` is how a row is drawn where its record has no state: a metric that became worse was
    not judged.
    """

    __slots__ = ("_columns", "_everything", "_measured", "_numbers", "_record", "_words", "sign", "source")

    def __init__(
        self, text: Mapping[str, str], numbers: Mapping[str, float | None], record: Record | Callable[[Any], Record],
        sign: State | None = None, source: object = None,
    ) -> None:  # fmt: skip
        self._columns, self._words = _number_columns(tuple(text)), tuple(text.values())
        self._measured, self._numbers = _number_columns(tuple(numbers)), tuple(numbers.values())
        self._record = record
        self._everything: str | None = None
        self.sign = sign
        self.source = record if source is None else source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self.source == other.source and self.text == other.text

    __hash__ = None  # type: ignore[assignment] # records are dictionaries

    @property
    def text(self) -> dict[str, str]:
        return dict(zip(self._columns, self._words, strict=True))

    @property
    def record(self) -> Record:
        return self._record(self.source) if callable(self._record) else self._record

    def words(self, column: str) -> str:
        place = self._columns.get(column)
        return "" if place is None else self._words[place]

    def number(self, column: str) -> float | None:
        place = self._measured.get(column)
        return None if place is None else self._numbers[place]

    @property
    def everything(self) -> str:
        if self._everything is None:
            self._everything = "\n".join(self._words).lower()
        return self._everything


@dataclass(frozen=True, slots=True)
class Area:
    """The rows of an area in the order of the screen. ``columns`` are headings by name, ``scales`` those of numbers.

    ``note`` says what is not among the rows, what they are together, or what their signs mean.
    """

    title: str
    columns: Mapping[str, Column]
    rows: tuple[Row, ...]
    scales: Mapping[str, Scale]
    note: str = ""

    def filter(self, text: str, saved: FindSaved = find_none) -> "Area":
        """The rows that the filter of the screen keeps. FilterError for one that is not understood."""
        known = {**dict.fromkeys(self.columns), **self.scales}
        chosen = compile_filter(text, known, saved) if text.strip() else EVERYTHING
        return Area(self.title, self.columns, tuple(chosen.select(ReadRows(self.rows))), self.scales, self.note)

    @property
    def table(self) -> Table:
        """The area for people; columns without any word are left out."""
        used = [name for name in self.columns if any(row.words(name) for row in self.rows)]
        rows = tuple(tuple(row.words(name) for name in used) for row in self.rows)
        return Table(self.title, tuple(self.columns[name] for name in used), rows, self.note)

    @property
    def records(self) -> list[Record]:
        """The area for machines, in base units."""
        return [row.record for row in self.rows]


def find_state(row: Row) -> State | None:
    """The state that a row is drawn with; None where it has none."""
    return row.sign or _STATES.get(row.record.get("state"))


def find_signed(columns: Iterable[str]) -> str:
    """The column that carries the sign of a row; empty where none does."""
    known = tuple(columns)
    return next((name for name in ("state", "outcome") if name in known), "")


def take_finite(value: float | None) -> float | None:
    """A number that JSON has."""
    return value if value is not None and math.isfinite(value) else None
