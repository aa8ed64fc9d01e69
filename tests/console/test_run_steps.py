"""``run`` with steps between the points of a sweep: left out unless allowed, set, labelled, recorded, set back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchconsole.console.exits import Exit
from benchconsole.console.session.persistence import DurableWriter
from benchconsole.probes.api import Output, Probe
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.plugins.registry import ProbeCatalogue
from benchconsole.probes.testing import FakeRemote
from benchconsole.store.errors import SpoolError
from benchconsole.store.store import Store
from benchconsole.topology.description.resolve import load
from benchconsole.topology.model.fabric import Node
from tests.console.test_cli import run
from tests.fabrics import SMALL
from tests.probes.played import PROBES, PlayedReach

STAGE = (
    "    - {probe: iperf3, design: neighbours, nodes: 'n[1-2]', sweep: {queue: [500, 1000]},\n"
    "       steps: {queue: {run: [set, 'queue={value}'], undo: [set, queue=back]}}}\n"
)
TEXT = SMALL.replace("    - {probe: iperf3, design: neighbours}\n    - {probe: iperf3, design: trunks}\n", STAGE)


class Told(PlayedReach):
    """Keeps every command that sets something; ``broken`` nodes refuse 500."""

    def __init__(self, broken: str = "") -> None:
        super().__init__()
        self.broken = broken
        self.opened: list[FakeRemote] = []

    async def remote(self, node: Node) -> Remote:
        fresh = node.id not in self.remotes
        played = await super().remote(node)
        if fresh:
            assert isinstance(played, FakeRemote)
            if node.id == self.broken:
                played.when("set", "queue=500", answers=Output(("set",), b"", b"no such queue\n", 1))
            played.when("set", answers=Output(("set",)))
        return played

    def said(self, name: str) -> list[str]:
        return [" ".join(call.argv) for call in self.remotes[name].calls if call.argv[0] in ("set", "iperf3")]


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(TEXT)
    return path


def play(monkeypatch: pytest.MonkeyPatch, reach: PlayedReach) -> None:
    probes: Mapping[str, Probe] = PROBES
    monkeypatch.setattr("benchconsole.console.cli.common.load_catalogue", lambda: ProbeCatalogue(probes, (), {}))
    monkeypatch.setattr("benchconsole.console.cli.common.make_asking_reach", lambda *_: reach)
    monkeypatch.setattr("benchconsole.console.cli.common.load_installed_probes", lambda: probes)


def test_without_consent_it_is_left_out_and_nothing_is_changed(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reach = Told()
    play(monkeypatch, reach)
    topology.write_text(TEXT + "    - {probe: inventory}\n")
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db") == Exit.UNTESTED
    said = " ".join(capsys.readouterr().out.split())
    assert "iperf3 over queue is not run: it changes nodes (set 'queue={value}')" in said
    assert "benchconsole run --change-nodes allows it" in said
    assert not any("set" in call.argv for remote in reach.remotes.values() for call in remote.calls)


def test_a_suite_of_nothing_else_says_how_to_allow_it(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play(monkeypatch, Told())
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db") == Exit.BAD_INPUT
    said = " ".join(capsys.readouterr().err.split())
    assert "has nothing to run: iperf3 over queue is not run" in said
    assert "benchconsole run --change-nodes allows it" in said


def test_values_are_set_before_their_tests_and_set_back_after_them(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reach = Told()
    play(monkeypatch, reach)
    db = tmp_path / "s.db"
    assert run(monkeypatch, "run", topology, "--db", db, "--dry-run", "--change-nodes") == Exit.PASSED
    assert "set by set queue=500 on n[1-2]" in " ".join(capsys.readouterr().out.split())
    assert not reach.remotes
    run(monkeypatch, "run", topology, "--db", db, "--change-nodes")
    calls = reach.said("n1")
    assert [call for call in calls if call.startswith("set")] == ["set queue=500", "set queue=1000", "set queue=back"]
    assert calls.index("set queue=1000") > calls.index("iperf3 -c n2")
    with Store.open(db) as store:
        session = store.session(store.find_session("last"))
        changes = [note.text for note in session.read_notes() if note.kind == "change"]
        assert changes == [
            "queue=500 on n[1-2]: set queue=500; set back by: set queue=back",
            "queue=1000 on n[1-2]: set queue=1000; set back by: set queue=back",
            "queue set back on n[1-2]: set queue=back",
        ]
        labels = {
            dict(each.target.labels)["queue"] for test in session.read_plan(load(topology)) for each in test.tests
        }
        assert labels == {"500", "1000"}
        assert session.describe().new.options["change.nodes"] == 1


def test_tests_of_a_node_that_was_not_set_are_held_and_it_is_set_back(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reach = Told(broken="n2")
    play(monkeypatch, reach)
    db = tmp_path / "s.db"
    assert run(monkeypatch, "run", topology, "--db", db, "--change-nodes") == Exit.UNTESTED
    assert reach.said("n2").count("set queue=back") == 1
    with Store.open(db) as store:
        failures = [
            (result.failure.stage, result.failure.node, result.failure.detail)
            for closed in store.session(store.find_session("last")).read_rounds(load(topology))
            for result in closed.results
            if result.failure is not None
        ]
    assert failures
    assert set(failures) == {(FailedAt.HELD, "n2", "queue=500 was not set: set queue=500 ended with 1: no such queue")}


def test_a_disk_without_room_keeps_no_node_from_being_set_back(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reach, refused = Told(), list[object]()
    play(monkeypatch, reach)
    two = "{queue: [500, 1000], mtu: [9000]}"
    more = "undo: [set, queue=back]}, mtu: {run: [set, 'mtu={value}'], undo: [set, mtu=back]}}"
    topology.write_text(TEXT.replace("{queue: [500, 1000]}", two).replace("undo: [set, queue=back]}}", more))
    keep = DurableWriter.keep

    async def refuse(_: DurableWriter, *given: object) -> object:
        refused.append(given)
        raise SpoolError("no room left on the disk", "free some space", tmp_path)

    async def keep_until_then(self: DurableWriter, write: Any) -> Any:
        return await (refuse(self, write) if refused else keep(self, write))

    monkeypatch.setattr(DurableWriter, "result", refuse)
    monkeypatch.setattr(DurableWriter, "keep", keep_until_then)
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db", "--change-nodes") == Exit.INTERNAL
    for name in ("n1", "n2"):
        assert [call for call in reach.said(name) if call.endswith("=back")] == ["set mtu=back", "set queue=back"]
    assert "mtu set back on n[1-2]" in capsys.readouterr().out
