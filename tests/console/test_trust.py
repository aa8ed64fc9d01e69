"""The command trust, in process: played nodes that offer keys or give none."""

import io
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh import SshReach
from benchconsole.probes.reach.ssh.known_hosts import OfferedKey
from benchconsole.store.files.paths import trusted_hosts_path
from benchconsole.topology.model.fabric import Node
from tests.console.test_cli import run

NODES = """
schema: 1
fabric: small
ssh: {known_hosts: KNOWN}
switches: {leaf1: {}}
nodes: {"n[1-4]": {}}
links: [{from: "n[1-4]", to: leaf1, speed: 25G}]
"""


@pytest.fixture
def topology(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    async def list_host_keys(reach: SshReach, node: Node) -> tuple[OfferedKey, ...]:
        if node.id in ("n3", "n4"):
            raise RemoteError(Failure(FailedAt.UNREACHABLE, f"the name {node.id} cannot be resolved", node.id))
        return (OfferedKey(node.id, "ssh-ed25519", f"AAAA{node.id}", f"SHA256:{node.id}"),)

    monkeypatch.setattr(SshReach, "list_host_keys", list_host_keys)
    path = tmp_path / "small.yaml"
    path.write_text(NODES.replace("KNOWN", str(tmp_path / "known_hosts")))
    return path


def test_silent_nodes_are_told_once_and_keys_in_the_order_of_the_file(
    topology: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "trust", topology, "--yes") == Exit.UNTESTED
    said = capsys.readouterr()
    assert said.err == "n[3-4]: unreachable: the name NODE cannot be resolved\n"
    assert said.out.splitlines() == [
        "n1  ssh-ed25519  SHA256:n1",
        "n2  ssh-ed25519  SHA256:n2",
        f"2 new keys in {topology.with_name('known_hosts')}",
    ]


@pytest.mark.fault("I01")
@pytest.mark.parametrize(("nodes", "asked"), [("n1", "trust this key in"), ("n[1-2]", "trust these 2 keys in")])
def test_nothing_is_trusted_without_consent(
    topology: Path,
    nodes: str,
    asked: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert run(monkeypatch, "trust", topology, "-w", nodes) == Exit.UNTESTED
    assert asked in capsys.readouterr().out
    assert not topology.with_name("known_hosts").exists()


@pytest.mark.fault("I01")
def test_nobody_who_answers_is_no_consent(
    topology: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run(monkeypatch, "trust", topology, "-w", "n1") == Exit.UNTESTED
    assert "nobody answered: nothing was trusted; --yes does it without asking" in capsys.readouterr().err
    assert not topology.with_name("known_hosts").exists()


@pytest.mark.parametrize("names", ["n1", "n1,10.0.0.1"])
def test_keys_that_are_known_are_counted_and_not_asked_for(
    topology: Path, names: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = topology.with_name("known_hosts")
    kept.write_text(f"{names} ssh-ed25519 AAAAn1\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert run(monkeypatch, "trust", topology, "-w", "n[1-2]") == Exit.PASSED
    said = capsys.readouterr().out
    assert said.startswith(f"1 key known already in {kept}\nn2  ssh-ed25519  SHA256:n2\ntrust this key in {kept}?")
    assert run(monkeypatch, "trust", topology, "-w", "n[1-2]") == Exit.PASSED
    assert capsys.readouterr().out == f"2 keys known already in {kept}\n"
    assert kept.read_text().splitlines() == [f"{names} ssh-ed25519 AAAAn1", "n2 ssh-ed25519 AAAAn2"]


@pytest.fixture
def planted(topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our own file, beside the database that is named, with a key that nobody trusted; its folder is the current one."""
    topology.write_text(NODES.replace("ssh: {known_hosts: KNOWN}\n", ""))
    folder = tmp_path / "planted"
    folder.mkdir()
    (folder / "known_hosts").write_text("n1 ssh-ed25519 AAAAn1\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BENCHCONSOLE_DB", str(folder / "s.db"))
    return folder / "known_hosts"


def test_our_own_file_is_not_believed_where_others_may_write_it(
    topology: Path, planted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "trust", topology, "-w", "n1", "--yes") == Exit.PASSED
    assert capsys.readouterr().out == f"1 key known already in {planted}\n"
    planted.chmod(0o666)
    before = planted.read_text()
    assert run(monkeypatch, "trust", topology, "-w", "n1", "--yes") == Exit.BAD_INPUT
    assert f"{planted} can be written by others (mode 0666)" in capsys.readouterr().err
    assert planted.read_text() == before


def test_a_file_that_lies_in_the_current_folder_is_not_ours(
    topology: Path, planted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHCONSOLE_DB", "s.db")
    ours = trusted_hosts_path()
    assert run(monkeypatch, "trust", topology, "-w", "n1", "--yes") == Exit.PASSED
    assert capsys.readouterr().out == f"n1  ssh-ed25519  SHA256:n1\n1 new key in {ours}\n"
    assert ours.is_absolute()
    assert ours != planted
