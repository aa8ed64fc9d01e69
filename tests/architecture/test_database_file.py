"""The file of a database is opened by SQLite alone: a second descriptor that is closed would drop its locks."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.test_sizes import ROOT, sources

OPENS = {
    "open",
    "fdopen",
    "read_bytes",
    "read_text",
    "write_bytes",
    "write_text",
    "copyfile",
    "copy",
    "copy2",
    "copytree",
}

BESIDE = {
    "store/files/database.py:_journal_pages": "a rollback journal, of which SQLite locks nothing",
    "store/files/file_check.py:sealed": "the seal",
    "store/files/file_check.py:seal": "the seal",
    "store/files/filesystem.py:kind_of": "the mounts",
    "store/files/filesystem.py:make_private": "a file that is new",
    "store/files/filesystem.py:take_name": "a name that is new",
    "store/files/filesystem.py:sync_directory": "a directory",
    "store/files/ownership.py:_read": "a process",
    "store/files/upgrade.py:copy_into": "a copy that nobody has open",
    "store/session_store.py:open_spool": "a spool",
    "store/spool/spool_file.py:_begin": "a spool",
    "store/spool/spool_file.py:_is_locked": "a spool",
    "store/spool/spool_file.py:_read_session": "a spool",
    "store/spool/spool_import.py:_open_locked": "a spool",
}
"""Functions of the store that open a file, and which."""


def list_openings(text: str) -> Iterator[str]:
    """The functions in which a file is opened: those of the language, of ``os`` and of a path."""
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(_opens, ast.walk(function))):
            yield function.name


def _opens(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    if isinstance(called, ast.Name):
        return called.id in OPENS
    if not isinstance(called, ast.Attribute) or called.attr not in OPENS:
        return False
    if called.attr != "open" or (isinstance(called.value, ast.Name) and called.value.id == "os"):
        return True
    # Stores, databases and spools are opened, too: a path is, with a mode or without anything.
    return not node.args or (isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str))


def test_the_store_opens_no_file_but_those_beside_the_database() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{name}"
        for path in sources()
        if path.is_relative_to(ROOT / "store")
        for name in list_openings(path.read_text())
    }
    assert found == set(BESIDE)


@pytest.mark.parametrize(
    ("line", "is_seen"),
    [
        ('path.open("rb")', True),
        ("path.open()", True),
        ("os.open(path, os.O_RDONLY)", True),
        ("open(path)", True),
        ("path.read_bytes()", True),
        ("shutil.copyfile(path, other)", True),
        ("Store.open(path)", False),
        ("read_start(path, 100)", False),
    ],
)
def test_an_opening_is_seen_however_it_is_written(line: str, is_seen: bool) -> None:
    assert bool(list(list_openings(f"def look(path):\n    {line}\n"))) is is_seen
