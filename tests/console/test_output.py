"""Where the output goes: a pipe that is closed, a full device, a directory, a file that is there, a link."""

import subprocess
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.console.test_cli import run
from tests.fabrics import SMALL
from tests.scenarios.commands import argv

pytestmark = pytest.mark.fault("F37")

UNREACHABLE = """\
schema: 1
fabric: alone
nodes: {n1: {address: 127.0.0.9}}
ssh: {port: 1}
suites: {default: [{probe: stream, nodes: n1}]}
"""


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    """A fabric whose nodes nobody can reach."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


def said(text: str) -> str:
    """Standard error, which must hold no trace and not more than two lines."""
    assert "Traceback" not in text
    assert 1 <= len(text.strip().splitlines()) <= 2, text
    return text


def test_a_reader_that_goes_away_is_no_error(topology: Path) -> None:
    with subprocess.Popen(
        argv("check", topology, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as going:
        assert going.stdout is not None
        assert going.stderr is not None
        going.stdout.close()
        assert going.stderr.read() == b""
    assert going.returncode == 0


def test_a_full_device_is_one_line(topology: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            argv("check", topology, "--json"), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert "No space left" in said(done.stderr)
    assert done.returncode == 4


@pytest.mark.parametrize("words", ["--help", "--version", "show --help"])
def test_help_on_a_full_device_is_one_line(words: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(argv(*words.split()), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert "No space left" in said(done.stderr)
    assert done.returncode == Exit.INTERNAL


def shell(words: str, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """A command of ours with redirections of a shell: ``words`` follow its command line."""
    return subprocess.run(
        ["sh", "-c", f'"$@" {words}', "sh", *argv(*arguments)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", ["2>/dev/full", "2>&-"])
def test_a_complaint_that_nobody_can_be_told_changes_no_exit_code(words: str) -> None:
    assert shell(words, "check", "/nowhere/cluster.yaml").returncode == Exit.BAD_INPUT


@pytest.mark.parametrize("words", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault_and_no_file_of_ours_takes_their_place(
    topology: Path, tmp_path: Path, words: str
) -> None:
    """The lowest free descriptor is given to the next file that is opened: the database, and then it is printed to."""
    db = tmp_path / "s.db"
    topology.write_text(UNREACHABLE)
    done = shell(words, "run", topology, "--db", db)
    assert done.returncode == Exit.UNTESTED
    assert "Traceback" not in done.stderr
    shown = shell("", "show", "last", "--db", db)
    assert shown.returncode == Exit.PASSED
    assert "could not reach the node" in shown.stdout


@pytest.mark.parametrize("where", ["/dev/full", "/"])
def test_what_is_no_plain_file_is_refused_and_stays(
    topology: Path, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path(where).stat().st_mode
    assert run(monkeypatch, "export", topology, "--format", "dot", "-o", where) == Exit.BAD_INPUT
    assert "no plain file" in said(capsys.readouterr().err)
    assert Path(where).stat().st_mode == before


def test_a_file_or_a_link_that_is_there_stays_without_force(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there, link = tmp_path / "there.dot", tmp_path / "link.dot"
    there.write_text("old")
    link.symlink_to(there)
    for path in (there, link):
        assert run(monkeypatch, "export", topology, "--format", "dot", "-o", path) == Exit.BAD_INPUT
        assert there.read_text() == "old"
        assert "--force" in said(capsys.readouterr().err)
    assert run(monkeypatch, "export", topology, "--format", "dot", "-o", link, "--force") == Exit.PASSED
    assert there.read_text() == "old"
    assert not link.is_symlink()


@pytest.mark.parametrize("where", ["/", "/nowhere/events.jsonl"])
def test_events_that_cannot_be_written_start_nothing(
    topology: Path, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db", "--jsonl", where) == Exit.BAD_INPUT
    assert where in said(capsys.readouterr().err)
    assert run(monkeypatch, "sessions", "--db", tmp_path / "s.db") == Exit.PASSED
    assert "no session yet" in capsys.readouterr().out


def test_events_of_another_run_stay_without_force(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text("of another run")
    ran = ("run", topology, "--db", tmp_path / "s.db", "-w", "n1", "--suite", "nosuch", "--jsonl", events)
    assert run(monkeypatch, *ran) == Exit.BAD_INPUT
    words = said(capsys.readouterr().err)
    assert "it is there already" in words
    assert "--force" in words
    assert run(monkeypatch, *ran, "--force") == Exit.BAD_INPUT
    assert "nosuch" in said(capsys.readouterr().err)
    assert events.read_text() == "of another run"


def test_a_dry_run_leaves_no_file_of_events_behind(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db", "--dry-run", "--jsonl", events) == Exit.PASSED
    assert not events.exists()
    assert "plan: " in capsys.readouterr().out
