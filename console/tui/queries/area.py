"""An area of the screen: rows with words and numbers by column, which can be filtered, shown and given to machines."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from benchconsole.console.text.table import Column, Table
from benchconsole.console.tui.queries.filtering import EVERYTHING, ReadRows, compile_filter
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.view.run_view import State

Record = dict[str, object]
_STATES: Mapping[object, State] = {state.value: state for state in State}


@dataclass(frozen=True)
class Row:
    """One line of an area: its words by column, its numbers in base units, and what machines get of it.

    ``sign`` is how it is drawn where its record has no state: a metric that became worse was not judged.
    """

    text: Mapping[str, str]
    numbers: Mapping[str, float | None]
    record: Record
    sign: State | None = None

    def words(self, column: str) -> str:
        return self.text.get(column, "")

    def number(self, column: str) -> float | None:
        return self.numbers.get(column)

    @cached_property
    def everything(self) -> str:
        return "\n".join(self.text.values()).lower()


@dataclass(frozen=True, slots=True)
class Area:
    """The rows of an area in the order of the screen. ``columns`` are headings by name, ``scales`` those of numbers.

    ``note`` says what is not among the rows.
    """

    title: str
    columns: Mapping[str, Column]
    rows: tuple[Row, ...]
    scales: Mapping[str, Scale]
    note: str = ""

    def filter(self, text: str) -> "Area":
        """The rows that the filter of the screen keeps. FilterError for one that is not understood."""
        known = {**dict.fromkeys(self.columns), **self.scales}
        chosen = compile_filter(text, known) if text.strip() else EVERYTHING
        return Area(self.title, self.columns, tuple(chosen.select(ReadRows(self.rows))), self.scales)

    @property
    def table(self) -> Table:
        """The area for people; columns without any word are left out."""
        used = [name for name in self.columns if any(row.words(name) for row in self.rows)]
        rows = tuple(tuple(row.words(name) for name in used) for row in self.rows)
        return Table(self.title, tuple(self.columns[name] for name in used), rows)

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
