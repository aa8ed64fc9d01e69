"""Sizes that smell: long functions, long files, many methods. Exceptions are named; the list may only shrink."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("topology", "probes", "store", "console")
FUNCTION, FILE, METHODS = 60, 500, 25

LONGER: dict[str, str] = {
    "store/store.py:Store": "the one face of the package: a method for each question and each write",
}
"""Path, or path:function, to the reason why it may be longer."""


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def test_nothing_is_too_long() -> None:
    found = []
    for path in sources():
        text = path.read_text()
        name = str(path.relative_to(ROOT))
        if text.count("\n") > FILE:
            found.append(f"{name}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION:
                    found.append(f"{name}:{node.name}: {length} lines")
            if isinstance(node, ast.ClassDef):
                methods = sum(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in node.body)
                if methods > METHODS:
                    found.append(f"{name}:{node.name}: {methods} methods")
    assert [line for line in found if line.rsplit(": ", 1)[0] not in LONGER] == []


def test_every_module_says_what_it_owns() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources()
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_no_grab_bags() -> None:
    names = {"utils", "util", "helpers", "helper", "manager", "misc"}
    assert [str(path) for path in sources() if path.stem in names] == []
