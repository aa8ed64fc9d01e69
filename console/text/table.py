"""Tables of plain text that fit a width: columns keep to their content, the last ones wrap.

Cells are data: control characters are taken out, nothing is read as markup.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from benchconsole.console.text.cells import fit_text, measure_width, wrap_text
from benchconsole.console.text.sanitize import sanitize

T = TypeVar("T")

GAP = 2
NOTHING = ("", "–")
"""Cells that say nothing."""


class Column(NamedTuple):
    """A heading; ``right`` for numbers. ``wraps`` marks what may be broken into lines, ``least`` its width.

    ``kept`` names the words of a row, a part of the cell, that are in sight where a screen has to cut it.
    ``outlasts``: a screen without room for both gives up a column of words before this one.
    """

    heading: str
    right: bool = False
    wraps: bool = False
    least: int = 0
    kept: str = ""
    outlasts: bool = False


class Table(NamedTuple):
    """One table with its title; ``note`` is a line below it. A table without rows is not shown."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def number(heading: str, *, outlasts: bool = False) -> Column:
    """A column of numbers."""
    return Column(heading, right=True, outlasts=outlasts)


def words(heading: str, least: int = 12, kept: str = "") -> Column:
    """A column that may be broken into lines, down to ``least`` cells."""
    return Column(heading, wraps=True, least=least, kept=kept)


def make_table(title: str, items: Iterable[T], *fields: tuple[Column, Callable[[T], str]], note: str = "") -> Table:
    """A table with a row for each of ``items``; a field is a column and how its cell is made. A note needs rows."""
    rows = tuple(tuple(make_cell(item) for _, make_cell in fields) for item in items)
    return Table(title, tuple(column for column, _ in fields), rows, note if rows else "")


def format_table(table: Table, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The lines of ``table``, none wider than ``width``: as columns, or entry by entry where columns do not fit."""
    yield format_title(table.title, width, ascii_only=ascii_only)
    yield from format_body(table, width)
    yield from wrap_text(sanitize(table.note), width) if table.note else ()


def format_body(table: Table, width: int) -> Iterator[str]:
    """The headings and rows alone."""
    rows = [tuple(map(sanitize, row)) for row in table.rows]
    least = [_least_width(column, [row[index] for row in rows]) for index, column in enumerate(table.columns)]
    if sum(least) + GAP * (len(least) - 1) > width:
        for row in rows:
            yield from _format_entry(table, row, width)
        return
    widths = _share_width(table.columns, rows, least, width)
    headings = [wrap_text(column.heading, width) for column, width in zip(table.columns, widths, strict=True)]
    tallest = max(map(len, headings))
    yield from _format_row([[""] * (tallest - len(lines)) + lines for lines in headings], table.columns, widths)
    for row in rows:
        cells = zip(row, table.columns, widths, strict=True)
        yield from _format_row(
            [wrap_text(cell, width) if column.wraps else [cell] for cell, column, width in cells], table.columns, widths
        )


def format_title(title: str, width: int, *, ascii_only: bool = False) -> str:
    """A title with a rule to the edge."""
    rule = "-" if ascii_only else "─"
    return f"{rule}{rule} {title} " + rule * max(width - measure_width(title) - 4, 0)


def _least_width(column: Column, cells: Sequence[str]) -> int:
    """The columns of a terminal that a column needs: less than its longest text only where it may be broken."""
    heading = max(map(measure_width, column.heading.split()), default=0)
    longest = max(map(measure_width, cells))
    return max(heading, min(column.least, longest) if column.wraps else longest)


def _share_width(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], least: Sequence[int], width: int
) -> list[int]:
    """The width of each column: spare room goes, one by one, to the column that wants most of its present width."""
    wanted = [
        max(map(measure_width, (column.heading, *(row[index] for row in rows)))) if column.wraps else least[index]
        for index, column in enumerate(columns)
    ]
    widths = list(least)
    for _ in range(width - GAP * (len(least) - 1) - sum(least)):
        index = max(range(len(widths)), key=lambda index: wanted[index] / widths[index])
        if wanted[index] <= widths[index]:
            break
        widths[index] += 1
    return widths


def _format_row(cells: Sequence[list[str]], columns: Sequence[Column], widths: Sequence[int]) -> Iterator[str]:
    """Cells, each as its lines, side by side: as many lines as the tallest has."""
    for parts in zip_longest(*cells, fillvalue=""):
        fitted = (
            fit_text(part, width, ">" if column.right else "<")
            for part, column, width in zip(parts, columns, widths, strict=True)
        )
        yield (" " * GAP).join(fitted).rstrip()


def _format_entry(table: Table, row: Sequence[str], width: int) -> Iterator[str]:
    named = zip(table.columns[1:], row[1:], strict=True)
    values = ", ".join(f"{column.heading} {cell}".strip() for column, cell in named if cell not in NOTHING)
    yield from wrap_text(f"{row[0]}: {values}", width, indent="  ")
