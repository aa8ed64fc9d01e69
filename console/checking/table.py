"""Owns tables of plain text that fit a width: columns keep to their content, the last ones wrap.

Cells are data: control characters are taken out, nothing is read as markup.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from console.plain import plain

GAP = 2
NOTHING = ("", "–")
"""Cells that say nothing."""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; ``right`` for numbers. ``wraps`` marks what may be broken into lines, ``least`` its width."""

    heading: str
    right: bool = False
    wraps: bool = False
    least: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """One table with its title; ``note`` is a line below it. A table without rows is not shown."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def number(heading: str) -> Column:
    """A column of numbers."""
    return Column(heading, right=True)


def words(heading: str, least: int = 12) -> Column:
    """A column that may be broken into lines, down to ``least`` cells."""
    return Column(heading, wraps=True, least=least)


def rendered(table: Table, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The lines of ``table``, none wider than ``width``: as columns, or entry by entry where columns do not fit."""
    yield from headed(table.title, width, ascii_only=ascii_only)
    yield from body(table, width)
    yield from wrapped(table.note, width) if table.note else ()


def body(table: Table, width: int) -> Iterator[str]:
    """The headings and rows alone."""
    least = [_least(table, index) for index in range(len(table.columns))]
    if sum(least) + GAP * (len(least) - 1) <= width:
        yield from _columns(table, _shared(table, least, width), width)
    else:
        for row in table.rows:
            yield from _entry(table, row, width)


def _least(table: Table, index: int) -> int:
    """The cells that a column needs: its longest word where it may be broken, its longest text elsewhere."""
    column = table.columns[index]
    cells = [plain(row[index]) for row in table.rows]
    heading = max(map(cell_len, column.heading.split()), default=0)
    if column.wraps:
        return max(heading, min(column.least, max(map(cell_len, cells))))
    return max(heading, *map(cell_len, cells))


def _shared(table: Table, least: Sequence[int], width: int) -> list[int]:
    """The width of each column: what is left over goes, cell by cell, to the one that wants most of what it has."""
    wanted = [
        max(cell_len(column.heading), *(cell_len(plain(row[index])) for row in table.rows)) if column.wraps else cells
        for index, (column, cells) in enumerate(zip(table.columns, least, strict=True))
    ]
    found = list(least)
    for _ in range(width - GAP * (len(least) - 1) - sum(least)):
        index = max(range(len(found)), key=lambda each: wanted[each] / found[each])
        if wanted[index] <= found[index]:
            break
        found[index] += 1
    return found


def _columns(table: Table, widths: Sequence[int], width: int) -> Iterator[str]:
    drawn = RichTable(box=None, padding=(0, GAP, 0, 0), header_style="", pad_edge=False, collapse_padding=True)
    for column, cells in zip(table.columns, widths, strict=True):
        drawn.add_column(
            Text(column.heading if column.wraps else "\n".join(_broken(column.heading, cells))),
            justify="right" if column.right else "left",
            vertical="top",
            no_wrap=not column.wraps,
            overflow="fold",
            width=cells,
        )
    for row in table.rows:
        drawn.add_row(*(Text(plain(cell)) for cell in row))
    console = Console(width=width, color_system=None, force_terminal=False, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(drawn)
    yield from (line.rstrip() for line in captured.get().splitlines())


def _broken(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _entry(table: Table, row: tuple[str, ...], width: int) -> Iterator[str]:
    """One row as a sentence: every heading with its value."""
    named = zip(table.columns[1:], row[1:], strict=True)
    said = ", ".join(f"{column.heading} {cell}".strip() for column, cell in named if cell not in NOTHING)
    yield from wrapped(f"{row[0]}: {said}", width, indent="  ")


def headed(title: str, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """A title with a rule to the edge."""
    rule = "-" if ascii_only else "─"
    yield f"{rule}{rule} {title} " + rule * max(width - cell_len(title) - 4, 0)


def wrapped(text: str, width: int, indent: str = "") -> Sequence[str]:
    """``text`` in lines of at most ``width`` cells, all but the first begun with ``indent``."""
    console = Console(width=width, color_system=None)
    first = Text(plain(text)).wrap(console, width)
    if len(first) < 2:
        return [line.plain.rstrip() for line in first]
    rest = Text(plain(text)[len(first[0].plain) :].lstrip()).wrap(console, width - cell_len(indent))
    return [first[0].plain.rstrip(), *(indent + line.plain.rstrip() for line in rest)]
