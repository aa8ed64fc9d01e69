"""Writes faults.md: the rows of faults.yaml, each with the tests that carry its number in a marker.

A test says what it plays, ``@pytest.mark.fault("F06", "I01")``; a file of which every test does says so once, in its
``pytestmark``. Files are parsed and not imported, so that the page costs a second.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ROWS = HERE / "faults.yaml"
PAGE = HERE / "faults.md"

NUMBERS = tuple(f"F{number:02}" for number in range(1, 57)) + tuple(f"I{number:02}" for number in range(1, 24))
"""Every number that must have a row."""

FAULT = "| no. | what happens | reported as | counted | tested in |\n|---|---|---|---|---|"
INCIDENT = "| no. | what happened elsewhere | what stands against it | tested in |\n|---|---|---|---|"
CHAPTERS = {"faults": FAULT, "incidents": INCIDENT, "beyond": FAULT}
"""Key in faults.yaml to the head of the table."""


@dataclass(frozen=True, slots=True)
class Row:
    """One fault: its words, and what else is to be said of its tests; ``no_test`` says why there is none."""

    number: str
    what: str
    reported: str
    counted: str | None
    note: str
    no_test: str


@dataclass(frozen=True, slots=True)
class Marked:
    """A test that plays a fault; without a name every test of its file does."""

    path: str
    test: str


def read_rows() -> dict[str, list[Row]]:
    """The rows of each chapter, in their order."""
    data = yaml.safe_load(ROWS.read_text())
    return {
        chapter: [
            Row(
                number,
                row["what"],
                row["reported"],
                row.get("counted", "") if chapter != "incidents" else None,
                row.get("note", ""),
                row.get("no_test", ""),
            )
            for number, row in data[chapter].items()
        ]
        for chapter in CHAPTERS
    }


def find_marked(tests: Path = ROOT / "tests") -> dict[str, list[Marked]]:
    """Number to the tests that carry it, in the order of their files."""
    found: dict[str, list[Marked]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        text = path.read_text()
        if "mark.fault(" not in text:
            continue
        name = str(path.relative_to(tests.parent))
        for number, test in _list_markers(ast.parse(text)):
            found.setdefault(number, []).append(Marked(name, test))
    return found


def _list_markers(module: ast.Module) -> Iterator[tuple[str, str]]:
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            for number in _list_numbers(statement.value):
                yield number, ""
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in statement.decorator_list:
                for number in _list_numbers(decorator):
                    yield number, statement.name


def _list_numbers(expression: ast.expr) -> Iterator[str]:
    """Numbers of ``pytest.mark.fault(...)``, alone or in a list of markers."""
    for each in expression.elts if isinstance(expression, ast.List | ast.Tuple) else [expression]:
        if isinstance(each, ast.Call) and ast.unparse(each.func) == "pytest.mark.fault":
            yield from (str(ast.literal_eval(argument)) for argument in each.args)


def list_gaps(rows: Mapping[str, list[Row]], marked: Mapping[str, list[Marked]]) -> list[str]:
    """The gaps of the list: numbers, tests, or rows that a test speaks of."""
    every = [row for chapter in rows.values() for row in chapter]
    known = {row.number for row in every}
    lacking = [f"{number} has no row" for number in NUMBERS if number not in known]
    untested = [f"{row.number} has no test" for row in every if row.number not in marked and not row.no_test]
    tested = [f"{row.number} says that it has no test" for row in every if row.number in marked and row.no_test]
    strange = [
        f"{place.path} {place.test}: {number} is in no row"
        for number in sorted(marked.keys() - known)
        for place in marked[number]
    ]
    helpers = [
        f"{place.path} {place.test}: {number} marks no test"
        for number, places in marked.items()
        for place in places
        if place.test and not place.test.startswith("test_")
    ]
    return lacking + untested + tested + strange + helpers


def make_page(rows: Mapping[str, list[Row]], marked: Mapping[str, list[Marked]]) -> str:
    """The whole of faults.md."""
    words = yaml.safe_load(ROWS.read_text())["words"]
    parts = []
    for chapter, head in CHAPTERS.items():
        lines = "\n".join(_format_row(row, marked.get(row.number, ())) for row in rows[chapter])
        parts.append(f"{words[chapter]}\n{head}\n{lines}\n")
    return "\n".join([*parts, words["end"]])


def _format_row(row: Row, places: Sequence[Marked]) -> str:
    counted = [] if row.counted is None else [row.counted]
    tested = "; ".join(each for each in (row.no_test, _format_places(places), row.note) if each)
    return f"| {' | '.join([row.number, row.what, row.reported, *counted, tested])} |".replace("|  |", "| |")


def _format_places(places: Sequence[Marked]) -> str:
    """Files in their order, each with those of its tests that play the fault."""
    files: dict[str, list[str]] = {}
    for place in places:
        files.setdefault(place.path, []).append(place.test)
    whole = {path for path, tests in files.items() if "" in tests}
    return ", ".join(
        f"`{path}`" if path in whole else f"`{path}` ({', '.join(f'`{test}`' for test in tests)})"
        for path, tests in files.items()
    )
