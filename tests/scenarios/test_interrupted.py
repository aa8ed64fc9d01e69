"""Runs that are interrupted, come to their time limit or lose their database: nothing is lost, nothing stays behind."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests import plain_sqlite
from tests.lab import Lab, wait_for
from tests.scenarios.commands import argv, await_while, benchconsole, report, written
from tests.scenarios.crash_loop import quick_topology
from tests.scenarios.test_laboratory import marked

pytestmark = pytest.mark.lab


@pytest.fixture
def topology(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory's file with tests of a second each."""
    path = quick_topology(healthy_lab)
    yield path
    path.unlink()


def told(events: Path, kind: str) -> list[dict[str, Any]]:
    """The events of one kind so far; a line that is being written does not count."""
    lines = events.read_text().splitlines(keepends=True) if events.exists() else []
    found = [json.loads(line) for line in lines if line.endswith("\n")]
    return [event for event in found if event["event"] == kind]


@pytest.mark.fault("F19")
def test_a_second_interrupt_leaves_at_once_and_the_nodes_end_everything_themselves(
    healthy_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    db = tmp_path / "s.db"
    with subprocess.Popen(
        argv("run", topology, "--db", db, "-w", "n[1-4]"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as console:
        await_while(console, lambda: bool(marked(healthy_lab)), 60, "something of ours on a node")
        console.send_signal(signal.SIGINT)
        assert console.stderr is not None
        assert "stopping" in console.stderr.readline()
        console.send_signal(signal.SIGINT)
        console.communicate(timeout=20)
    assert console.returncode == 130
    wait_for(lambda: not marked(healthy_lab), 20, "the watchdogs to end everything of ours")
    ran = benchconsole("run", topology, "--db", db, "--resume", "last")
    assert ran.code in (0, 1, 3), ran.out + ran.err  # tests of a second are judged as they come out
    assert report(db)["coverage"]["tested"] == report(db)["coverage"]["planned"]


def test_a_run_ends_with_the_proof_that_nothing_is_left(healthy_lab: Lab, topology: Path, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    ran = benchconsole("run", topology, "--db", tmp_path / "s.db", "-w", "n[1-2]", "--jsonl", events)
    assert ran.code in (0, 1, 3), ran.out + ran.err
    (proven,) = told(events, "NodesProven")
    assert {each["node"]: each["clean"] for each in proven["nodes"]} == {"n1": True, "n2": True}
    assert "nothing of ours is left on 2 nodes of 2" in ran.out


@pytest.mark.fault("F56")
def test_a_database_that_is_moved_away_holds_the_run_until_it_is_back(
    healthy_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    db, away, events = tmp_path / "s.db", tmp_path / "away.db", tmp_path / "events.jsonl"
    with subprocess.Popen(
        argv("run", topology, "--db", db, "-w", "n[1-4]", "--jsonl", events),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as console:
        await_while(console, lambda: len(told(events, "RoundStarted")) > 1, 60, "a round of transfers under way")
        db.rename(away)
        await_while(console, lambda: bool(told(events, "Held")), 60, "a console that noticed")
        assert list(tmp_path.glob("*.spool"))
        wait_for(lambda: not marked(healthy_lab), 60, "the round under way to come to its end")
        away.rename(db)
        _, said = console.communicate(timeout=120)
    assert console.returncode in (0, 1, 3), said.decode()  # tests of a second are judged as they come out
    assert told(events, "Resumed")
    assert not list(tmp_path.glob("*.spool"))
    ended = {event["test"] for event in told(events, "TestEnded")}
    with closing(plain_sqlite.connect(db)) as connection:
        stored = {
            key for (key,) in connection.execute("SELECT test.key FROM result JOIN test ON test.id = result.test_id")
        }
    assert ended == stored
    assert report(db)["coverage"]["tested"] == report(db)["coverage"]["planned"]


REPEATED = """\
suites:
  default:
    - {probe: iperf3, design: neighbours, seconds: 1, omit: 0, repeat: 14}
"""


def test_a_run_that_came_to_its_time_limit_goes_on_and_runs_every_test_once(healthy_lab: Lab, tmp_path: Path) -> None:
    db, first, then = tmp_path / "s.db", tmp_path / "first.jsonl", tmp_path / "then.jsonl"
    with written(healthy_lab, "limited.yaml", REPEATED) as path:
        command = ("run", path, "--db", db)
        # Fourteen rounds of a second each are never over in the 13 s that the limit leaves beside its end.
        ran = benchconsole(*command, "-w", "n[1-2]", "--no-confirm", "--within", "28 s", "--jsonl", first)
        assert ran.code in (1, 3), ran.out + ran.err
        assert "stopped at its time limit" in ran.err
        assert not marked(healthy_lab)
        (proven,) = told(first, "NodesProven")
        assert [each["clean"] for each in proven["nodes"]] == [True, True]
        resumed = benchconsole(*command, "--resume", "last", "--jsonl", then)
        assert resumed.code in (0, 1, 3), resumed.out + resumed.err
    before, after = ([event["test"] for event in told(events, "TestEnded")] for events in (first, then))
    assert before
    assert after
    with closing(plain_sqlite.connect(db)) as connection:
        planned = [key for (key,) in connection.execute("SELECT key FROM test")]
        stored = [
            key for (key,) in connection.execute("SELECT test.key FROM result JOIN test ON test.id = result.test_id")
        ]
    assert sorted([*before, *after]) == sorted(stored) == sorted(planned)
    coverage = report(db)["coverage"]
    assert coverage["tested"] == coverage["planned"] == len(planned)
