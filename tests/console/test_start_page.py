"""The offers of the start page: topologies of the folder, stored sessions, and one to resume."""

from pathlib import Path

import pytest

from benchconsole.console.cli import start
from benchconsole.console.cli.start import _make_start_model
from benchconsole.console.session.recent_files import RecentFile, RecentFiles, RecentKind
from benchconsole.console.simulator.scenarios import SCENARIOS
from benchconsole.console.tui.start_model import KnownFile, Start, StartChoice, StartModel
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.store.store import Store
from tests.console.session.test_session import follow, session
from tests.fabrics import SMALL
from tests.probes.played import PlayedReach


async def test_an_interrupted_session_is_offered_for_resuming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHCONSOLE_DB", str(tmp_path / "s.db"))
    assert _make_start_model().sessions == ()
    with Store.open(tmp_path / "s.db") as store:
        running = session(tmp_path, store, PlayedReach(), SMALL)
        await follow(running, running.propose(), until=ClosedRound)
        running.stop(now=True)
        await running.finished()
    offered = _make_start_model()
    assert offered.topologies == ("topology.yaml",)
    assert [each.id for each in offered.sessions] == [running.id]
    (interrupted,) = offered.interrupted
    assert interrupted.id == running.id
    assert "of 6" in interrupted.words


def test_every_scenario_of_the_demo_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHCONSOLE_DB", str(tmp_path / "s.db"))
    assert [each.name for each in _make_start_model().demos] == [*SCENARIOS]


def keep(*opened: RecentFile) -> None:
    for each in opened:
        Path(each.path).parent.mkdir(parents=True, exist_ok=True)
        if not Path(each.path).exists():
            Path(each.path).write_text("")
    RecentFiles().keep(*opened)


def test_what_was_opened_before_is_offered_without_what_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, own = tmp_path / "here", tmp_path / "s.db"
    here.mkdir()
    (here / "mine.yaml").write_text("schema: 1\nfabric: x\n")
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BENCHCONSOLE_DB", str(own))
    away, other = tmp_path / "away/jet.yaml", tmp_path / "away/o.db"
    keep(
        RecentFile(RecentKind.TOPOLOGY, str(here / "mine.yaml")), RecentFile(RecentKind.TOPOLOGY, str(away)),
        RecentFile(RecentKind.DATABASE, str(own)), RecentFile(RecentKind.DATABASE, str(other)),
    )  # fmt: skip
    own.unlink()
    model = _make_start_model()
    assert model.topologies == ("mine.yaml",)
    assert model.recent == (KnownFile(str(away), "jet.yaml", "~/away"),)
    assert model.databases == (KnownFile(str(other), "o.db", "~/away"),)
    assert (model.database, model.note) == (None, "")


def test_another_database_is_shown_and_the_way_back_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = tmp_path / "s.db", tmp_path / "other.db"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHCONSOLE_DB", str(own))
    for path in (own, other):
        Store.open(path).close()
    model = _make_start_model(other)
    assert model.database is not None
    assert model.database.path == str(other)
    assert [each.path for each in model.databases] == [str(own)]
    assert _make_start_model(own).database is None


def test_a_chosen_database_is_shown_until_something_of_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, broken = tmp_path / "other.db", tmp_path / "broken.db"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHCONSOLE_DB", str(tmp_path / "s.db"))
    Store.open(other).close()
    broken.write_text("no database at all, but long enough to be looked at")
    answers = [
        StartChoice(Start.DATABASE, str(broken)), StartChoice(Start.DATABASE, str(other)),
        StartChoice(Start.OPEN, "a.yaml"),
    ]  # fmt: skip
    shown: list[StartModel] = []

    def run(model: StartModel) -> StartChoice:
        shown.append(model)
        return answers[len(shown) - 1]

    def open_console(*asked: object) -> int:
        opened.append(asked)
        return 0

    opened: list[object] = []
    monkeypatch.setattr(start, "run_start", run)
    monkeypatch.setattr(start, "open_console", open_console)
    monkeypatch.setattr(start, "require_screen", lambda: None)
    assert start.show_start_page() == 0
    assert opened == [("a.yaml", other)]
    assert [None if each.database is None else each.database.path for each in shown] == [None, None, str(other)]
    assert shown[1].note.startswith(f"The database {broken} is not shown: ")


def test_a_broken_list_does_not_stop_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHCONSOLE_DB", str(tmp_path / "s.db"))
    path = RecentFiles().path
    path.parent.mkdir(parents=True)
    path.write_text("{")
    path.chmod(0o600)
    model = _make_start_model()
    assert model.recent == ()
    assert model.note.startswith("The list of recent files is not used: ")
