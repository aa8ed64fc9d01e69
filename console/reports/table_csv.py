"""The CSV report: one row per verdict, one per number not judged alone, one per test without a number.

Numbers stay numbers in base units, not rounded; text cannot become a formula and holds no control characters.
"""

import csv
import math
import re
from typing import TextIO

from benchconsole.console.reports.content import ReportOptions
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.result_rows import COLUMNS, Cell, list_rows
from benchconsole.console.view.run_view import RunView

LONGEST = 32_000
"""Spreadsheets hold 32,767 characters in a cell and lose the cell, or the rest of it, beyond."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_TRIGGERS = frozenset("=+-@\t\r\n＝＋－＠")


def render(view: RunView, out: TextIO, options: ReportOptions) -> None:
    """Write heading and rows as they come."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in COLUMNS])
    for row in list_rows(view):
        writer.writerow([cell(column.value(row), raw=options.raw_csv) for column in COLUMNS])


def cell(value: Cell, *, raw: bool = False) -> str | float | int:
    """One value as a cell: numbers as they are, text guarded, nothing as an empty cell."""
    if value is None:
        return ""
    if not isinstance(value, str):
        # A value that is no number is no measurement; an empty cell is read as missing everywhere.
        return value if math.isfinite(value) else ""
    if raw:
        return sanitize(value)
    text = sanitize(value[:LONGEST])
    if len(value) > LONGEST:
        text += f" … (cut, {len(value):,} characters)"
    is_formula = value[:1] in _TRIGGERS or value.lstrip()[:1] in _TRIGGERS
    return f"'{text}" if is_formula and not _NUMBER.fullmatch(value) else text
