"""``run`` over played nodes: what is left out is told, recorded and no success; cohorts go in from both doors."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from console.cli import open as opening
from console.conductor import SessionConductor
from console.exits import BadInput, Exit
from console.tui.bridge import Proposal
from probes.api import Probe, Safety
from probes.plugins import Catalogue
from store.store import Store
from tests.console.test_cli import run
from tests.fabrics import SMALL
from tests.probes.played import PROBES, Pair, PlayedReach

TEXT = SMALL.replace(
    "    - {probe: iperf3, design: neighbours}\n    - {probe: iperf3, design: trunks}\n",
    "    - {probe: inventory}\n    - {probe: rude}\n",
)
CAPPED = "caps: {link: 50 %}\n"


class Rude(Pair):
    """Sends as fast as it goes."""

    name = "rude"
    metrics = (PROBES["iperf3"].metrics[0].__class__("rude.rate", PROBES["iperf3"].metrics[0].unit, "what arrived"),)
    safety = Safety.LOADS


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes and nodes that are played."""
    probes: Mapping[str, Probe] = {**PROBES, "rude": Rude()}
    monkeypatch.setattr("console.cli.run.catalogue", lambda: Catalogue(probes, (), {}))
    monkeypatch.setattr("console.cli.run.reach_that_asks", lambda *_: PlayedReach())
    monkeypatch.setattr("console.cli.common.installed", lambda: probes)


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(TEXT + CAPPED)
    return path


def test_what_no_cap_could_hold_is_told_in_the_plan(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db", "--dry-run") == Exit.PASSED
    said = capsys.readouterr().out
    assert "left out: rude is not run: it keeps no rate, and the file caps links at 50 %" in said
    assert "rude neighbours" not in said


def test_what_was_left_out_is_recorded_and_no_success(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    db, events = tmp_path / "s.db", tmp_path / "events.jsonl"
    assert run(monkeypatch, "run", topology, "--db", db, "--jsonl", events) == Exit.UNTESTED
    said = capsys.readouterr()
    assert "left out: rude is not run" in said.out
    assert "left out: rude is not run" in said.err
    noticed = [json.loads(line) for line in events.read_text().splitlines() if "left out" in line]
    assert len(noticed) == 1
    with Store.open(db) as store:
        assert [note.kind for note in store.notes(store.find("last"))] == ["left out"]
    assert run(monkeypatch, "run", topology, "--db", db, "--resume", "last") == Exit.UNTESTED
    assert run(monkeypatch, "run", topology, "--db", db, "--allow-untested") == Exit.PASSED


def test_a_suite_that_runs_whole_is_a_success(topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topology.write_text(TEXT.replace("    - {probe: rude}\n", "") + CAPPED)
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db") == Exit.PASSED


@pytest.fixture
def conducted(monkeypatch: pytest.MonkeyPatch) -> list[SessionConductor]:
    """What the screen would be given; no terminal is needed."""
    found: list[SessionConductor] = []

    def made(make: Callable[[], SessionConductor]) -> int:
        found.append(make())
        return 0

    monkeypatch.setattr("console.tui.app.run", made)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(opening, "_keep_logs_off_the_screen", lambda: None)
    return found


async def proposed(conductor: SessionConductor) -> Proposal:
    try:
        return await conductor.propose(None)
    finally:
        await conductor.close()


def test_the_screen_takes_cohorts_for_what_it_will_run(
    topology: Path, tmp_path: Path, conducted: list[SessionConductor]
) -> None:
    assert opening.open_console(str(topology), tmp_path / "s.db", cohorts=["phase=after"]) == 0
    proposal = asyncio.run(proposed(conducted[0]))
    labels = {test.target.labels for each in proposal.rounds for test in each.tests}
    assert labels == {(("phase", "after"),)}
    assert any("rude is not run" in line for line in proposal.notes.held_back)


def test_the_screen_refuses_cohorts_that_are_none_and_those_for_a_stored_session(
    topology: Path, tmp_path: Path, conducted: list[SessionConductor]
) -> None:
    with pytest.raises(BadInput, match="--cohort phase: expected DIMENSION=NAME"):
        opening.open_console(str(topology), tmp_path / "s.db", cohorts=["phase"])
    with pytest.raises(BadInput, match="--cohort with a stored session"):
        opening.open_console("last", tmp_path / "s.db", cohorts=["phase=after"])
    assert conducted == []
