"""The command clean: shows what is left, session by session, and ends only what is ours, with consent."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from benchconsole.console.session.metadata import make_new_session
from benchconsole.console.session.session import Session
from benchconsole.probes.model.measuring import FailedAt, Output
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.probes.testing import FakeRemote
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from tests.console.test_cli import run
from tests.fabrics import SMALL
from tests.probes.hygiene.local import Here, Reached, left_behind, made_by

OURS, OTHER = f"clean{os.getpid()}", f"other{os.getpid()}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "scratch"
    found.mkdir(mode=0o700)
    return found


@pytest.fixture
def topology(tmp_path: Path, root: Path) -> Path:
    """The small fabric with a stage that writes below ``root`` on st1."""
    path = tmp_path / "small.yaml"
    path.write_text(f"{SMALL}    - {{probe: fio, nodes: st1, scratch: {root}}}\n")
    return path


@pytest.fixture(autouse=True)
def reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reached:
    """st1 is this machine; the other nodes are played and clean. No database of the developer's."""
    clean = {name: _clean(name) for name in (*(f"n{number}" for number in range(1, 9)), "st2")}
    reach = Reached({**clean, "st1": Here("clean", name="st1")})
    monkeypatch.setattr("benchconsole.console.cli.common.make_asking_reach", lambda fabric, session: reach)
    monkeypatch.setenv("BENCHCONSOLE_DB", str(tmp_path / "none.db"))
    return reach


def _clean(name: str) -> FakeRemote:
    return FakeRemote(name).when("list", answers=Output((), b"\x1e"))


@pytest.fixture
def leftover() -> Iterator["subprocess.Popen[bytes]"]:
    process = left_behind(OURS, "exec sleep 300")
    yield process
    process.kill()
    process.wait()


def test_nothing_left_is_said_and_is_success(
    topology: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "clean", topology, "--session", OURS, "--yes") == Exit.PASSED
    assert "nothing of ours is left on 10 nodes" in capsys.readouterr().out


def test_everything_is_shown_by_session_and_only_that_session_is_ended(
    topology: Path,
    root: Path,
    leftover: "subprocess.Popen[bytes]",
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made, other = made_by(OURS, root), made_by(OTHER, root)
    assert run(monkeypatch, "clean", topology, "-w", "st1", "--session", OURS, "--yes") == Exit.PASSED
    said = capsys.readouterr().out
    assert f"session {OURS}, not in this database" in said
    assert f"st1: process {leftover.pid} (sleep 300)" in said
    assert f"st1: directory {made}" in said
    assert said.index("directory") < said.index("ended or removed 2 of 2")
    assert OTHER not in said
    assert leftover.wait(10)
    assert not made.exists()
    assert other.exists()


def test_without_consent_nothing_is_touched(
    topology: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = made_by(OURS, root)
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115, PTH123 - closed with the process
    assert run(monkeypatch, "clean", topology, "-w", "st1", "--session", OURS) == Exit.UNTESTED
    assert "--yes" in capsys.readouterr().err
    assert made.exists()


def test_what_is_not_ours_beyond_doubt_is_named_and_left_alone(
    topology: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = made_by(OURS, root)
    (made / ".benchconsole").unlink()
    assert run(monkeypatch, "clean", topology, "-w", "st1", "--session", OURS, "--yes") == Exit.UNTESTED
    assert "which has no file .benchconsole of ours" in capsys.readouterr().out
    assert made.exists()


def test_a_node_that_cannot_be_searched_is_named_and_is_no_success(
    topology: Path, reached: Reached, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = FakeRemote("n1")
    reached.remotes["n1"] = lost.when("list", answers=lost.failure(FailedAt.LOST, "went away"))
    assert run(monkeypatch, "clean", topology, "-w", "n[1-2]", "--yes") == Exit.UNTESTED
    said = capsys.readouterr()
    assert "n1: connection lost: went away" in said.err
    assert "nothing of ours is left on 1 node" in said.out


@pytest.mark.fault("F44", "I20")
@pytest.mark.parametrize("nodes", ["", ",", "n99", "@nobody"])
def test_wrong_nodes_ask_nobody(topology: Path, reached: Reached, nodes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "clean", topology, "-w", nodes, "--yes") == Exit.BAD_INPUT
    assert isinstance(reached.remotes["st1"], Here)
    assert reached.remotes["st1"].calls == []


def interrupted(text: str, db: Path) -> str:
    """A session whose console died after the plan was written; its id."""
    probes = load_probes().probes

    async def begun() -> str:
        with Store.open(db) as store:
            session = Session(load_text(text, "small.yaml"), probes, store)
            new = replace(make_new_session(session.fabric, session.choice, 1.0), label="killed")
            return await store.create_session(new, session.propose())

    return asyncio.run(begun())


def test_the_store_tells_where_a_killed_session_wrote(
    topology: Path, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its suite wrote elsewhere than that of the file as it is now."""
    (root / "earlier").mkdir()
    db = tmp_path / "s.db"
    key = interrupted(topology.read_text().replace(str(root), f"{root}/earlier"), db)
    made, unknown = made_by(key, root / "earlier"), made_by(OTHER, root / "earlier")
    assert run(monkeypatch, "clean", topology, "-w", "st1", "--db", db, "--session", "killed", "--yes") == Exit.PASSED
    assert f"session {key} (killed), " in capsys.readouterr().out
    assert not made.exists()
    assert unknown.exists()


def test_a_session_of_another_database_is_named_and_outlives_a_yes(
    topology: Path,
    root: Path,
    leftover: "subprocess.Popen[bytes]",
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = made_by(OURS, root)
    assert run(monkeypatch, "clean", topology, "-w", "st1", "--yes") == Exit.UNTESTED
    said = capsys.readouterr().out
    assert f"session {OURS}, not in this database, may be running" in said
    assert f"left alone: session {OURS}; end it with --session {OURS}" in said
    assert leftover.poll() is None
    assert made.exists()


def test_a_session_that_is_over_is_ended_by_a_yes_beside_one_that_is_left_alone(
    topology: Path, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = interrupted(topology.read_text(), tmp_path / "s.db")
    made, foreign = made_by(key, root), made_by(OTHER, root)
    assert run(monkeypatch, "clean", topology, "-w", "st1", "--db", tmp_path / "s.db", "--yes") == Exit.UNTESTED
    assert "ended or removed 1 of 1" in capsys.readouterr().out
    assert not made.exists()
    assert foreign.exists()


def test_a_session_that_another_console_drives_now_outlives_a_yes(
    topology: Path, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, text = tmp_path / "s.db", topology.read_text()

    async def drive() -> str:
        store = Store.open(db)
        driving.append(store)
        session = Session(load_text(text, "small.yaml"), load_probes().probes, store)
        return await store.create_session(make_new_session(session.fabric, session.choice, 1.0), session.propose())

    driving: list[Store] = []
    made = made_by(asyncio.run(drive()), root)
    try:
        assert run(monkeypatch, "clean", topology, "-w", "st1", "--db", db, "--yes") == Exit.UNTESTED
        assert made.exists()
    finally:
        driving[0].close()


def test_a_whole_id_that_the_database_does_not_know_is_searched_for(
    topology: Path, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(topology.read_text(), tmp_path / "s.db")
    made = made_by("0123abcd", root)
    words = ("clean", topology, "-w", "st1", "--db", tmp_path / "s.db", "--yes", "--session")
    assert run(monkeypatch, *words, "0123abc") == Exit.BAD_INPUT
    assert run(monkeypatch, *words, "0123abcd") == Exit.PASSED
    assert not made.exists()


def test_a_named_database_need_not_exist(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new.db"
    assert run(monkeypatch, "clean", topology, "-w", "n1", "--db", new, "--yes") == Exit.PASSED
    assert not new.exists()
    assert run(monkeypatch, "clean", topology, "-w", "n1", "--db", new, "--session", "last") == Exit.BAD_INPUT
    assert "without a database" in capsys.readouterr().err


def test_the_password_of_sudo_is_asked_for(
    topology: Path, reached: Reached, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reach is that of the commands that ask; with nobody at the terminal the node says so."""
    asked = []

    def make(fabric: object, session: str) -> Reached:
        asked.append(session)
        return reached

    monkeypatch.setattr("benchconsole.console.cli.common.make_asking_reach", make)
    held = FakeRemote("n1")
    refusal = held.failure(FailedAt.NO_PASSWORD, "sudo wants a password there, and none was given")
    reached.remotes["n1"] = held.when("list", answers=refusal)
    assert run(monkeypatch, "clean", topology, "-w", "n1", "--all-users", "--yes") == Exit.UNTESTED
    assert asked == ["clean"]
    assert "n1: held back for a password: sudo wants a password there" in capsys.readouterr().err
