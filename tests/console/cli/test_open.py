"""``open --read-only`` on a topology file: it is shown, no order is taken, and the database is left alone."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchconsole.console.cli import open as open_command
from benchconsole.console.tui.app import console_app
from tests.fabrics import SMALL

if TYPE_CHECKING:
    from benchconsole.console.session.controller import SessionController


def test_a_topology_file_is_shown_and_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, db = tmp_path / "cluster.yaml", tmp_path / "sessions.db"
    file.write_text(SMALL)
    kept = tmp_path / "tmp"
    kept.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(kept))
    seen: list[object] = []

    def run(make: "Callable[[], SessionController]", *, looks_only: bool, **_: object) -> int:
        control = make()
        seen.extend((looks_only, control.suites, db.exists(), len([*kept.iterdir()])))
        asyncio.run(control.close())
        return 0

    monkeypatch.setattr(open_command, "has_screen", lambda: True)
    monkeypatch.setattr(console_app, "run", run)
    assert open_command.open_console(str(file), db, looks_only=True) == 0
    assert seen == [True, ("default",), False, 1]
    assert [*tmp_path.rglob("*.db*")] == []
    assert not [*kept.iterdir()]
