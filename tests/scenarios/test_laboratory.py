"""The main job on real machines: real sshd, iperf3 and fio in namespaces, from file to verdict."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from benchconsole.console.exits import Exit
from tests.console.test_cli import run
from tests.lab import Lab, wait_for
from tests.scenarios.commands import argv, await_while, benchconsole, report, written

pytestmark = pytest.mark.lab

CABLES = """\
criteria:
  - {metric: iperf3.throughput, at_least: 75 %, of: capacity}
suites:
  default:
    - {probe: iperf3, design: neighbours, streams: 4, seconds: 2}
    - {probe: iperf3, design: trunks, streams: 8, seconds: 3}
"""
"""Every cable both ways. Half of a LAG stays below 75 % as long as clients begin and end within half of their time:
means of flows that were alone for a while add up to more."""
QUICK = """\
criteria:
  - {metric: iperf3.throughput, at_least: 50 %, of: capacity}
  - {metric: fio.read, where: {pattern: sequential}, at_least: 10 MB/s}
  - {metric: fio.write, where: {pattern: sequential}, at_least: 10 MB/s}
suites:
  default:
    - {probe: inventory}
    - {probe: iperf3, design: neighbours, streams: 4, seconds: 2}
    - {probe: iperf3, design: trunks, streams: 8, seconds: 3}
    - {probe: fio, nodes: "@storage", scratch: /scratch, size: 4 MiB, seconds: 1}
"""
"""Every kind of test, on every cable. A sum of flows that ended apart is doubted by that much, and must pass all the
same on a busy machine: hence 50 %, and bounds on what was measured beside it."""
SHORT = """\
criteria:
  - {metric: iperf3.throughput, at_least: 50 %, of: capacity}
suites:
  default:
    - {probe: inventory}
    - {probe: iperf3, design: neighbours, streams: 4, seconds: 1, omit: 0}
    - {probe: iperf3, design: neighbours, streams: 2, seconds: 1, omit: 0}
"""
SHORT_TESTS = 10 + 2 * 2 * 8
TROUBLED = """\
criteria:
  - {metric: iperf3.throughput, at_least: 50 %, of: capacity}
suites:
  default:
    - {probe: inventory, nodes: "n[2-8],@storage"}
    - {probe: iperf3, design: neighbours, seconds: 1, omit: 0, nodes: "n[3-7]"}
    - {probe: iperf3, design: trunks, streams: 8, seconds: 1, omit: 0, nodes: "n[2-8],@storage"}
    - {probe: fio, nodes: st2, scratch: /scratch, size: 4 MiB, seconds: 1}
"""


@pytest.fixture
def topology(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory with a suite of every kind of test, on every cable."""
    with written(healthy_lab, "quick.yaml", QUICK) as path:
        yield path


@pytest.fixture
def cables(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory with a suite that sees every cable, and nothing else."""
    with written(healthy_lab, "cables.yaml", CABLES) as path:
        yield path


@pytest.fixture
def short(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory with five rounds of a second each; what a second gives is judged mildly."""
    with written(healthy_lab, "short.yaml", SHORT) as path:
        yield path


@pytest.fixture
def troubled(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory with the fewest rounds that show a tool hanging twice and being held back."""
    with written(healthy_lab, "troubled.yaml", TROUBLED) as path:
        yield path


def findings(found: dict[str, Any]) -> set[tuple[str, str]]:
    return {(each["suspect"], each["where"]) for each in found["findings"]}


def marked(lab: Lab) -> list[str]:
    """Processes of ours on any node, by the marker in their environment."""
    return [
        f"{node}: {' '.join(process.argv)}"
        for node in lab.plan.nodes
        for process in lab.processes(node)
        if process.session
    ]


def scratch(lab: Lab) -> set[str]:
    """Directories of ours on any node; what other tests killed on purpose may have left some."""
    return {f"{node}:{path.name}" for node in lab.plan.nodes for path in lab.root(node).glob("scratch/benchconsole*")}


def test_a_healthy_fabric_passes(healthy_lab: Lab, topology: Path, tmp_path: Path) -> None:
    db, before = tmp_path / "s.db", scratch(healthy_lab)
    ran = benchconsole("run", topology, "--db", db)
    assert ran.code == 0, ran.out + ran.err
    found = report(db)
    assert found["findings"] == []
    assert found["coverage"]["tested"] == found["coverage"]["planned"] > 50
    shares = [each["value"] / each["expected"] for each in found["verdicts"] if each["expected_from"] == "capacity"]
    assert median(shares) > 0.8
    assert min(shares) > 0.55, "half of a LAG, and no more of it"
    assert marked(healthy_lab) == []
    assert scratch(healthy_lab) <= before


@pytest.mark.fault("F48")
def test_a_slow_nic_and_half_a_lag_are_both_named_and_nothing_else(
    healthy_lab: Lab, cables: Path, tmp_path: Path
) -> None:
    healthy_lab.slow_nic("n3", 30, "out")
    healthy_lab.member_down("leaf2", "spine1", 1)
    db = tmp_path / "s.db"
    ran = benchconsole("run", cables, "--db", db)
    assert ran.code == 1, ran.out + ran.err
    found = report(db)
    assert findings(found) == {("nic", "n3 out"), ("lag", "leaf2 to spine1")}, ran.out
    by_suspect = {each["suspect"]: each for each in found["findings"]}
    assert "1 of 2 members" in by_suspect["lag"]["what"]
    assert set(by_suspect["lag"]["nodes"]) == {"n5", "n6", "n7", "n8"}
    assert by_suspect["nic"]["nodes"] == ["n3"]
    assert by_suspect["nic"]["value"] / by_suspect["nic"]["expected"] == pytest.approx(0.3, abs=0.05)


def passed(found: dict[str, Any]) -> set[str]:
    return {
        verdict["subject"]
        for verdict in found["verdicts"]
        if verdict["expected_from"] == "capacity" and verdict["level"] == "pass"
    }


@pytest.mark.fault("F08")
def test_a_silent_node_is_unreachable_and_the_others_stand(healthy_lab: Lab, short: Path, tmp_path: Path) -> None:
    """The others do not wait for the 6 seconds after which it is known to send no banner."""
    healthy_lab.silent_sshd("n1")
    ran = benchconsole("run", short, "--db", tmp_path / "s.db", "-w", "n[1,3-4]")
    assert ran.code == 3, ran.out + ran.err
    found = report(tmp_path / "s.db")
    assert {(each["node"], each["stage"]) for each in found["failures"]} == {("n1", "unreachable")}
    reasons = ("no connection yet when all other tests of the round had ended", "sent no banner within 6 s")
    assert all(each["detail"].endswith(reasons) for each in found["failures"]), found["failures"]
    assert found["findings"] == [], ran.out
    assert passed(found) == {"n3>n4", "n4>n3"}


@pytest.mark.fault("X14")
def test_every_kind_of_trouble_is_reported_as_what_it_is_and_the_others_stand(
    healthy_lab: Lab, troubled: Path, tmp_path: Path
) -> None:
    healthy_lab.change_host_key("n5")
    healthy_lab.remove_tool("n2", "iperf3")
    healthy_lab.hang_tool("n6", "iperf3")
    healthy_lab.flood_tool("st2", "fio", 100_000_000)
    db = tmp_path / "s.db"
    ran = benchconsole("run", troubled, "--db", db)
    assert ran.code == 3, ran.out + ran.err
    found = report(db)
    stages = {(failure["node"], failure["stage"]) for failure in found["failures"]}
    assert stages == {
        ("n5", "host key changed"),
        ("n2", "tool missing"),
        ("n6", "timed out"),
        ("n6", "held back"),
        ("st2", "too much output"),
    }, ran.out
    details = {failure["node"]: failure["detail"] for failure in found["failures"]}
    assert details["n5"].count("SHA256:") == 2
    assert "Debian package iperf3" in details["n2"]
    assert found["findings"] == [], ran.out
    assert passed(found) >= {"n3>n4", "n4>n3"}
    assert marked(healthy_lab) == []


@pytest.mark.fault("F22")
def test_kill_9_loses_nothing_that_was_shown_and_resume_repeats_nothing(
    healthy_lab: Lab, short: Path, tmp_path: Path
) -> None:
    db, events = tmp_path / "s.db", tmp_path / "events.jsonl"
    with subprocess.Popen(
        argv("run", short, "--db", db, "--jsonl", events), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as console:
        await_while(console, lambda: judged(events) >= 2 and bool(marked(healthy_lab)), 120, "a third round under way")
        shown = judged(events)
        console.send_signal(signal.SIGKILL)
    wait_for(lambda: not marked(healthy_lab), 20, "the watchdogs to end everything of ours")
    before = report(db)
    closed = {verdict["round"] for verdict in before["verdicts"]}
    assert len(closed) >= shown - 1  # the inventory of a class without declared hardware may have no verdict
    assert before["coverage"]["tested"] < before["coverage"]["planned"]
    ran = benchconsole("run", short, "--db", db, "--resume", "last")
    assert ran.code == 0, ran.out + ran.err
    after = report(db)
    assert after["session"]["id"] == before["session"]["id"]
    assert after["coverage"]["tested"] == after["coverage"]["planned"]
    kept = {(each["id"], each["at"]) for each in after["measurements"]}
    assert {(each["id"], each["at"]) for each in before["measurements"]} <= kept
    assert f"round {shown} of" not in ran.out


def judged(events: Path) -> int:
    """How many rounds were told as judged so far."""
    return events.read_text().count('"event": "RoundJudged"') if events.exists() else 0


@pytest.mark.fault("F19", "F20")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_everything_on_the_nodes_and_has_its_exit_code(
    healthy_lab: Lab, topology: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with subprocess.Popen(
        argv("run", topology, "--db", tmp_path / "s.db"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as console:
        await_while(console, lambda: bool(marked(healthy_lab)), 60, "something of ours on a node")
        console.send_signal(number)
        said, _ = console.communicate(timeout=30)
    assert console.returncode == code, said
    assert marked(healthy_lab) == []


def connections(lab: Lab) -> dict[str, int]:
    """How many connections the sshd of each node has taken so far."""
    return {node: (lab.root(node) / "var/log/sshd.log").read_text().count("Connection from") for node in lab.plan.nodes}


@pytest.mark.fault("F44", "I20")
def test_bad_input_opens_no_connection(
    healthy_lab: Lab,
    topology: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process: what ends before it asks a node costs most of its time to start."""
    assert healthy_lab.ssh("n1", "true").returncode == 0
    before = connections(healthy_lab)
    assert before["n1"] > 0
    for arguments in (["-w", ""], ["-w", ","], ["-w", "n99"], ["-w", "@nobody"], ["--suite", "nightly"]):
        assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db", *arguments) == 2, arguments
        said = capsys.readouterr().err
        assert said.strip()
        assert "Traceback" not in said
    broken = topology.with_name("broken.yaml")
    broken.write_text(topology.read_text().replace("leaf1, speed: 100 Mb/s", "leaf1, speed: 100"))
    code = run(monkeypatch, "run", broken, "--db", tmp_path / "s.db")
    broken.unlink()
    assert code == 2
    assert "did you mean 100 Gb/s?" in capsys.readouterr().err
    assert connections(healthy_lab) == before


STEPPED = """\
suites:
  default:
    - probe: iperf3
      design: neighbours
      nodes: "n[1-2]"
      seconds: 1
      omit: 0
      sweep: {txqueuelen: [500, 2000]}
      steps:
        txqueuelen: {run: [ip, link, set, eth0, txqueuelen, "{value}"], undo: [ip, link, set, eth0, txqueuelen, "1000"]}
    - {probe: inventory, nodes: "n[1-2]"}
"""


def test_steps_set_the_nodes_between_the_points_of_a_sweep_and_set_them_back(healthy_lab: Lab, tmp_path: Path) -> None:
    with written(healthy_lab, "stepped.yaml", STEPPED) as topology:
        db = tmp_path / "s.db"
        ran = benchconsole("run", topology, "--db", db, "--change-nodes", "--sample-load")
        assert ran.code in (Exit.PASSED, Exit.UNTESTED), ran.out + ran.err
        found = report(db)
    measured = [each for each in found["measurements"] if each["metric"] == "iperf3.throughput"]
    assert {each["labels"]["txqueuelen"] for each in measured} == {"500", "2000"}
    told = [note["text"] for note in found["conduct"]["notes"] if note["kind"] == "change"]
    assert [text.partition(" ")[0] for text in told] == ["txqueuelen=500", "txqueuelen=2000", "txqueuelen"]
    facts = [
        each for each in found["facts"] if each["fact"] == "nic.txqueuelen" and each["labels"].get("nic") == "eth0"
    ]
    assert {each["value"] for each in facts} == {1000.0}, "the inventory ran after it was set back"
