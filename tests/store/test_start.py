"""Looking is light: it loads no screen, no network, no validation."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchconsole.store.files.database import Database

HEAVY = (
    "textual",
    "rich",
    "asyncssh",
    "pydantic",
    "numpy",
    "scipy",
    "yaml",
    "networkx",
    "ClusterShell",
)

_PROGRAM = f"""
import importlib, pathlib, sys
importlib.import_module(sys.argv[1])
if len(sys.argv) > 2:
    from benchconsole.store.reading import session_list
    from benchconsole.store.files.database import Database
    session_list.list_sessions(Database.open(pathlib.Path(sys.argv[2])), 0.0)
print([name for name in {HEAVY!r} if name in sys.modules])
"""


@pytest.mark.parametrize("module", ["benchconsole.store.reading.session_reading", "benchconsole.store.store"])
def test_a_fresh_interpreter(module: str, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Database.open(path)
    for more in ([], [str(path)]):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, module, *more],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        )
        assert done.stdout.strip() == "[]"
