"""The command doctor, in process: this machine as a node, played nodes beside it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchconsole.console.doctor.admin_node import check_ssh_configuration
from benchconsole.console.doctor.diagnosis import DiagnosisLine, Grade
from benchconsole.console.exits import Exit
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.testing import FakeRemote
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import Fabric, Node, NodeId
from tests.console.test_cli import run
from tests.fabrics import SMALL, fabric
from tests.probes.hygiene.local import Here


class Reached:
    """Every node is this machine, but those that are not."""

    def __init__(self, *lost: str) -> None:
        self.lost = lost
        self.asked: list[str] = []

    async def remote(self, node: Node) -> Remote:
        self.asked.append(node.id)
        if node.id in self.lost:
            raise RemoteError(Failure(FailedAt.LOGIN, f"the login of root at {node.address} was refused", node.id))
        return Here("doctor", name=node.id)

    def algorithms(self, node: NodeId) -> dict[str, str]:
        return {"cipher": "aes256-gcm@openssh.com"}

    async def close(self) -> None:
        pass


@pytest.fixture
def reach(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Reached:
    made = Reached("n3", "n4")

    async def followed(fabric: Fabric, names: Sequence[NodeId]) -> tuple[DiagnosisLine, ...]:
        return (DiagnosisLine("ssh configuration", Grade.NOTE, f"setenv: looked at {len(names)}"),)

    monkeypatch.setattr("benchconsole.console.cli.doctor._make_reach", lambda fabric: made)
    monkeypatch.setattr("benchconsole.console.doctor.admin_node.check_ssh_configuration", followed)
    monkeypatch.setenv("BENCHCONSOLE_DB", str(tmp_path / "s.db"))
    monkeypatch.setenv("COLUMNS", "80")
    return made


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(f"{SMALL}    - {{probe: fio, nodes: st1, scratch: /nowhere}}\n")
    return path


def test_what_stands_in_the_way_is_said_and_counted(
    reach: Reached, topology: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "doctor", topology, "-w", "n[1-4],st1") == Exit.UNTESTED
    said = capsys.readouterr().out
    assert "login refused: the login of root at NODE was refused\n      n[3-4] (2)" in said
    assert "/nowhere: there is no directory /nowhere" in said
    assert "setenv: looked at 5" in said
    assert said.endswith("2 of 5 nodes can be used\n")
    assert max(map(len, said.splitlines())) <= 80
    assert sorted(reach.asked) == ["n1", "n2", "n3", "n4", "st1"]


def test_nodes_that_can_all_be_used_are_success(
    reach: Reached, topology: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    topology.write_text(SMALL)
    assert run(monkeypatch, "doctor", topology, "-w", "n[1-2]", "--json") == Exit.PASSED
    found = json.loads(capsys.readouterr().out)
    assert found["usable"] == found["asked"] == ["n1", "n2"]
    assert {line["grade"] for line in found["lines"]} <= {"fine", "note"}


@pytest.mark.fault("F44", "I20")
@pytest.mark.parametrize("nodes", ["", ",", "n99", "@nobody"])
def test_wrong_nodes_ask_nobody(reach: Reached, topology: Path, nodes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "doctor", topology, "-w", nodes) == Exit.BAD_INPUT
    assert reach.asked == []


def test_without_a_topology_only_this_machine_is_looked_at(
    reach: Reached, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(tmp_path / "s.db"):
        pass
    assert run(monkeypatch, "doctor") == Exit.PASSED
    said = capsys.readouterr().out
    assert "asyncssh 2." in said
    assert "journal" in said
    assert reach.asked == []
    assert run(monkeypatch, "doctor", "-w", "n1") == Exit.BAD_INPUT


def test_a_database_that_cannot_be_used_is_said(
    reach: Reached, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.db").write_text("this is no database, but a letter of some length to somebody")
    assert run(monkeypatch, "doctor") == Exit.UNTESTED
    assert "this is not a database" in " ".join(capsys.readouterr().out.split())


async def test_an_answer_that_cannot_be_read_is_told_as_that(topology: Path) -> None:
    from benchconsole.console.doctor.diagnosis import ask_nodes
    from benchconsole.probes.hygiene.prerequisites import Needs
    from benchconsole.topology.description.resolve import load

    class Mute(Reached):
        async def remote(self, node: Node) -> Remote:
            return FakeRemote(node.id, lenient=True)

    (answer,) = await ask_nodes(Mute(), load(topology), {NodeId("n1"): Needs()})
    assert answer.health is None
    assert "a node's word on itself" in answer.complaint


async def test_a_configuration_that_cannot_be_followed_is_said_and_no_fault_of_ours(tmp_path: Path) -> None:
    config = tmp_path / "loop.conf"
    config.write_text(f"Include {config}\n")
    config.chmod(0o600)
    described = fabric(tmp_path, f"{SMALL}ssh: {{config: loop.conf}}\n")
    (line,) = await check_ssh_configuration(described, [NodeId("n1"), NodeId("n2")])
    assert line.grade is Grade.BAD
    assert "does a file include itself?" in line.text
    assert line.nodes == ("n1", "n2")
