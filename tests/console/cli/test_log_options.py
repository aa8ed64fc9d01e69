"""``--verbose`` and ``--log``: records on standard error or in a private file, and never on a screen."""

import asyncio
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchconsole.console.cli.log_options import keep_records_off_the_screen, write_records
from benchconsole.console.exits import BadInput, Exit
from benchconsole.console.simulator.cluster import SimulatedCluster
from benchconsole.probes.model.log_records import ModuleLog
from tests.console.test_cli import run
from tests.fabrics import SMALL

RECORDS = ModuleLog("benchconsole.somewhere")


@pytest.fixture(autouse=True)
def reset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No handler of one test is there in the next."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield
    write_records(verbose=False, file=None)


def test_without_the_options_nothing_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    RECORDS.warning("n1", "lost")
    assert capfd.readouterr() == ("", "")


def test_verbose_writes_one_line_for_each_record_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    write_records(verbose=True, file=None)
    RECORDS.debug("n1", "a detail")
    RECORDS.info("n1", "two\nlines")
    RECORDS.warning("", "of no node")
    said = capsys.readouterr()
    assert said.out == ""
    first, second = said.err.splitlines()
    assert first.endswith("Z INFO benchconsole.somewhere node=n1 test=- two lines")
    assert second.endswith("Z WARNING benchconsole.somewhere node=- test=- of no node")


def test_the_file_is_private_and_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "console.log"
    path.write_text("before\n")
    path.chmod(0o644)
    write_records(verbose=False, file=path)
    RECORDS.debug("n1", "a detail")
    lines = path.read_text().splitlines()
    assert lines[0] == "before"
    assert lines[1].endswith("Z DEBUG benchconsole.somewhere node=n1 test=- a detail")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="expected a file that can be written"):
        write_records(verbose=False, file=tmp_path / "nowhere" / "x.log")
    assert run(monkeypatch, "--log", tmp_path / "nowhere" / "x.log", "sessions") == Exit.BAD_INPUT


def test_a_record_that_cannot_be_written_ends_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_records(verbose=False, file=Path("/dev/full"))
    RECORDS.info("n1", "lost to a full disk")
    assert capfd.readouterr() == ("", "")


def test_on_the_screen_only_the_file_is_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.log"
    write_records(verbose=True, file=path)
    before = list(logging.getLogger().handlers)
    try:
        keep_records_off_the_screen()
        RECORDS.warning("n1", "lost")
    finally:
        logging.getLogger().handlers[:] = before
    assert capfd.readouterr() == ("", "")
    assert path.read_text().endswith("node=n1 test=- lost\n")


def test_the_console_keeps_verbose_off_its_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topology = tmp_path / "small.yaml"
    topology.write_text(SMALL)
    handlers: list[str] = []

    def screen(_make: object, **_given: object) -> int:
        handlers.extend(type(each).__name__ for each in logging.getLogger("benchconsole").handlers)
        return 0

    monkeypatch.setattr("benchconsole.console.tui.app.console_app.run", screen)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    before = list(logging.getLogger().handlers)
    try:
        run(monkeypatch, "--verbose", "--log", tmp_path / "x.log", "open", topology)
    finally:
        logging.getLogger().handlers[:] = before
    assert handlers == ["NullHandler", "_LineHandler"]


def test_a_run_writes_its_connections_and_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.log"
    with asyncio.Runner() as runner:
        cluster = SimulatedCluster("healthy", tmp_path / "demo")
        runner.run(cluster.__aenter__())
        try:
            arguments = ("--db", tmp_path / "s.db", "-w", "n[001-002]", "--quiet")
            code = run(monkeypatch, "--verbose", "--log", path, "run", cluster.topology_path, *arguments)
        finally:
            runner.run(cluster.__aexit__(None, None, None))
    assert code == Exit.UNTESTED  # criteria of the file speak of nodes that were not chosen
    text = path.read_text()
    for wanted in (
        "ssh_reach node=n001 test=- connected to 127.",
        "ssh_remote node=n001 test=0002/iperf3/0000/n001>n002 iperf3 -c 127.",
        ": exit status 0 in ",
        "runner node=n001 test=0001/inventory/0000/n001 inventory n001: ",
        "node=n002 test=- connection closed",
    ):
        assert wanted in text, wanted
    assert all(" node=" in line and " test=" in line for line in text.splitlines())
    assert "connected to 127." in capsys.readouterr().err
