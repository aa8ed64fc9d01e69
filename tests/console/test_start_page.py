"""What the start page offers: topologies of the folder, stored sessions, and one to resume."""

from pathlib import Path

import pytest

from benchconsole.console.cli.start import _make_start_model
from benchconsole.console.simulator.scenarios import SCENARIOS
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
