"""The console in a real terminal on the laboratory: run, find, drill down, be killed, be resumed."""

import os
import signal
from pathlib import Path

import pytest

from tests.lab import Lab, wait_for
from tests.scenarios.commands import benchconsole, report, written
from tests.scenarios.terminal import Terminal
from tests.scenarios.test_laboratory import QUICK, SHORT_TESTS, marked, short

__all__ = ["short"]

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def slow(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a run on nodes of which n3 sends slowly."""
    folder = tmp_path_factory.mktemp("slow")
    home = str(folder)  # each test has places of its own; what is made once for several does not
    with written(lab, "slow.yaml", QUICK) as path, lab.slow_nic("n3", 30, "out"):
        ran = benchconsole(
            "run", path, "--db", folder / "s.db", "-w", "n[1-4]", XDG_DATA_HOME=home, XDG_STATE_HOME=home
        )
    assert ran.code == 1, ran.out
    return folder / "s.db"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_from_the_first_screen_to_the_raw_output_of_a_failing_node_in_three_keys(
    slow: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    with Terminal(tmp_path, size, "open", "last", "--db", slow) as terminal:
        terminal.wait("n3 out gives")
        terminal.press("n")
        terminal.press("Enter")
        terminal.wait("path of the selected")
        terminal.press("Enter")
        seen = terminal.wait("raw")
        assert "iperf3 -c" in seen
        assert "exit 0" in seen
        terminal.press("q")
        terminal.wait("EXIT=0")


def test_a_run_is_started_from_its_plan_killed_and_resumed(healthy_lab: Lab, short: Path, tmp_path: Path) -> None:
    db = tmp_path / "s.db"
    with Terminal(tmp_path, (120, 40), short, "--db", db) as terminal:
        terminal.wait("leaf1")
        assert marked(healthy_lab) == []
        terminal.press("R")
        terminal.wait(f"{SHORT_TESTS} tests")
        assert marked(healthy_lab) == []
        terminal.press("Enter")
        terminal.press("3")
        terminal.wait("round 3 started", 90)
        wait_for(lambda: bool(marked(healthy_lab)), 30, "something of ours on a node")
        os.kill(terminal.console(), signal.SIGKILL)
        terminal.wait("EXIT=137")
    wait_for(lambda: not marked(healthy_lab), 20, "the watchdogs to end everything of ours")
    before = report(db)
    assert 0 < before["coverage"]["tested"] < SHORT_TESTS
    ran = benchconsole("run", short, "--db", db, "--resume", "last")
    assert ran.code == 0, ran.out
    after = report(db)
    assert after["coverage"]["tested"] == SHORT_TESTS
    assert {each["id"] for each in before["measurements"]} <= {each["id"] for each in after["measurements"]}


@pytest.mark.fault("F20")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_console_in_good_order(
    healthy_lab: Lab, short: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with Terminal(tmp_path, (120, 40), short, "--db", tmp_path / "s.db") as terminal:
        terminal.wait("leaf1")
        terminal.press("R")
        terminal.wait(f"{SHORT_TESTS} tests")
        terminal.press("Enter")
        wait_for(lambda: bool(marked(healthy_lab)), 60, "something of ours on a node")
        os.kill(terminal.console(), number)
        terminal.wait(f"EXIT={code}", 30)
    assert marked(healthy_lab) == []
