"""Tables as CSV (RFC 4180) beside a question: the first line names the columns, and bad rows are told all at once.

Lines that begin with ``#`` are comments.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from benchconsole.topology.errors import SelectionError, find_near

_T = TypeVar("_T")
_MOST_PROBLEMS = 20


def read_rows(
    path: Path,
    columns: Sequence[str],
    needed: Sequence[str],
    read: Callable[[Mapping[str, str]], _T],
    what: str = "flows",
) -> list[_T]:
    """The results of ``read`` for every row, by the names of its columns, of which ``needed`` have to be there.

    ``what`` the rows are, in the plural. SelectionError with all rows for which it raises one, each with its line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SelectionError(f"{path}: cannot be read as text: {error}") from None
    lines = text.splitlines()
    example = f"expected a first line such as {','.join(columns[:3])}"
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and line.strip()[0] != "#"]
    if not numbered:
        raise SelectionError(f"{path}: no line, {example}")
    first, header = numbered[0]
    named = [cell.strip().lower() for cell in next(csv.reader([header]))]
    _check_columns(f"{path}:{first}", named, columns, needed, example)
    found: list[_T] = []
    problems: list[str] = []
    for number, line in numbered[1:]:
        try:
            cells = next(csv.reader([line], strict=True))
            if len(cells) != len(named):
                raise SelectionError(f"{len(cells)} cells, expected {len(named)} ({', '.join(named)}); "
                                     "a set with a comma stands in quotes")  # fmt: skip
            found.append(read(dict(zip(named, map(str.strip, cells), strict=True))))
        except (SelectionError, csv.Error) as error:
            problems.append(f"{path}:{number}: {error}")
    if not found and not problems:
        raise SelectionError(f"{path}: no row below the names of the columns, expected {what}")
    if problems:
        more = [f"and {len(problems) - _MOST_PROBLEMS} rows more"] if len(problems) > _MOST_PROBLEMS else []
        raise SelectionError("\n".join(problems[:_MOST_PROBLEMS] + more))
    return found


def _check_columns(
    where: str, named: Sequence[str], columns: Sequence[str], needed: Sequence[str], example: str
) -> None:
    for name in named:
        if name not in columns:
            near = find_near(name, columns)
            hint = f", did you mean {near}?" if near else ""
            raise SelectionError(f"{where}: unknown column {name!r}, expected {', '.join(columns)}{hint}")
    missing = [name for name in needed if name not in named]
    twice = [name for name in named if named.count(name) > 1]
    if missing or twice:
        what = f"no column {missing[0]!r}" if missing else f"the column {twice[0]!r} a second time"
        raise SelectionError(f"{where}: {what}, {example}")
