"""``open --read-only`` on a topology file: it is shown, no order is taken, and the database is left alone."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchconsole.console.cli import open as open_command
from benchconsole.console.cli import session_options
from benchconsole.console.session.metadata import SessionChoice, make_new_session
from benchconsole.console.session.recent_files import RecentFile, RecentFiles, RecentKind
from benchconsole.console.tui.app import console_app
from benchconsole.console.view.reducer import LatestView
from benchconsole.console.view.session_control import Proposal
from benchconsole.probes.planning.suites import OURS
from benchconsole.store.store import Store
from benchconsole.topology.errors import TopologyError
from tests.fabrics import SMALL, fabric

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
    assert seen == [True, tuple(OURS), False, 1]
    assert [*tmp_path.rglob("*.db*")] == []
    assert not [*kept.iterdir()]


@pytest.mark.parametrize(
    ("environment", "asked", "kept"),
    [
        ({}, {}, True),
        ({}, {"looks_only": True}, False),
        ({}, {"start": True}, False),
        ({"CI": "true"}, {}, False),
        ({"TEXTUAL_DRIVER": open_command.BROWSER_DRIVER}, {}, False),
    ],
)
def test_what_a_person_opens_on_a_terminal_is_kept_among_the_recent_files(
    environment: dict[str, str], asked: dict[str, bool], kept: bool, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    file, db = tmp_path / "cluster.yaml", tmp_path / "sessions.db"
    file.write_text(SMALL)
    monkeypatch.delenv("CI", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(open_command, "has_screen", lambda: True)

    def run(make: "Callable[[], SessionController]", **_: object) -> int:
        assert RecentFiles().read() == ()
        asyncio.run(make().close())
        return 0

    monkeypatch.setattr(console_app, "run", run)
    monkeypatch.chdir(tmp_path)
    open_command.open_console("cluster.yaml", Path("sessions.db"), **asked)  # type: ignore[arg-type]
    known = (RecentFile(RecentKind.TOPOLOGY, str(file)), RecentFile(RecentKind.DATABASE, str(db)))
    assert RecentFiles().read() == (known if kept else ())


def test_a_file_that_is_no_topology_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("schema: 1\nfabric: [\n")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(open_command, "has_screen", lambda: True)
    monkeypatch.setattr(console_app, "run", lambda make, **_: make())
    with pytest.raises(TopologyError):
        open_command.open_console(str(file), tmp_path / "sessions.db")
    assert RecentFiles().read() == ()


def test_a_stored_session_plans_nothing_on_nodes_that_somebody_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask() -> dict[str, str]:
        return {"n3": "job 7 of kim, without a time limit"}

    async def propose(control: "SessionController") -> Proposal:
        try:
            return await control.propose("default")
        finally:
            await control.close()

    db = tmp_path / "sessions.db"
    described = fabric(tmp_path)
    with Store.open(db) as store:
        asyncio.run(store.create_session(make_new_session(described, SessionChoice(), 1.7e9), ()))
    monkeypatch.setattr(session_options, "_ask_slurm", ask)
    control = open_command._open("last", None, db, "", (), LatestView(), start=False, clock=None)
    proposal = asyncio.run(propose(control))
    asked = {node.id for each in proposal.rounds for test in each.tests for node in test.target.nodes}
    assert asked >= {"n1", "n2", "n4"}
    assert "n3" not in asked
    assert any("job 7 of kim" in each for each in proposal.notes.held_back)
