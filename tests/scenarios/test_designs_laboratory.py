"""Designs on fifty real nodes: from A to B, 49 clients at once, two stages at once, tasks by slots, their load sampled."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchconsole.console.exits import Exit
from tests import plain_sqlite
from tests.lab import Lab, LabSpec
from tests.lab.fixtures import building, require_open_mpi
from tests.lab.spec import StorageServer
from tests.scenarios.commands import benchconsole, report, written

pytestmark = pytest.mark.lab

SPEC = LabSpec(
    leaves=2, spines=1, nodes_per_leaf=25, member_mbit=400, scratch_mib=16, storage=(StorageServer("st1", 1),)
)
RATE = 5000
"""Mbit/s for hpcc: at 100 its messages of 2 MB take two minutes, whatever the problem is."""
CLIENTS = [f"n{number}" for number in range(1, 50)]
REST = """\
criteria:
  - {metric: iperf3.throughput, at_least: 80 %, of: capacity}
  - {metric: dd.throughput, where: {operation: write}, statistic: sum, at_least: 1 MB/s, source: "6.1"}
suites:
  one-way:
    - {probe: iperf3, design: one-way, from: "n[1-49]", to: st1, pairing: each, streams: 1, seconds: 20, omit: 1}
  clients:
    - {probe: dd, nodes: "n[1-49]", scratch: /scratch, size: 1 MiB, sweep: {clients: [49]}}
  at-once:
    - {probe: dd, nodes: "n[1-3]", scratch: /scratch, size: 2 MiB, rate: 1 MB/s, at_once: both}
    - {probe: dd, nodes: "n[4-5]", scratch: /scratch, size: 4 MiB, rate: 2 MB/s, at_once: both}
  two-probes:
    - {probe: dd, nodes: "n[1-4]", scratch: /scratch, size: 4 MiB, rate: 1 MB/s, at_once: both}
    - {probe: iperf3, design: one-way, from: "n[1-2]", to: "n[3-4]", nodes: "n[1-4]", seconds: 4, omit: 1, at_once: both}
  tasks:
    - {probe: hpcc, nodes: n1, problem: 1500, block: 64, rate: 5 Gb/s, bind: none, as_root: 1, slots: 2, sweep: {ranks: [1, 2]}}
"""


@pytest.fixture(scope="module")
def fifty() -> Iterator[Lab]:
    with building(SPEC) as built:
        yield built


def run(lab: Lab, suite: str, db: Path) -> dict[str, Any]:
    with written(lab, f"{suite}.yaml", REST) as topology:
        ran = benchconsole("run", topology, "--suite", suite, "--db", db, "--sample-load", "--no-confirm", "--quiet")
    assert ran.code in (Exit.PASSED, Exit.UNTESTED), ran.out + ran.err
    found = report(db)
    assert [each["detail"] for each in found["failures"]] == []
    return found


def find_sampled(found: dict[str, Any]) -> set[str]:
    """The nodes of which at least two samples of their load were taken."""
    return {each["labels"]["node"] for each in found["facts"] if each["fact"] == "load.samples" and each["value"] >= 2}


def test_49_nodes_send_to_one_server_and_their_sum_is_judged(fifty: Lab, tmp_path: Path) -> None:
    found = run(fifty, "one-way", tmp_path / "s.db")
    (verdict,) = [each for each in found["verdicts"] if each["metric"] == "iperf3.throughput"]
    assert verdict["level"] == "pass", verdict
    assert round(verdict["expected"] * 8 / 1e6) == 377  # 400 Mb/s of the server's NIC, less headers
    assert set(verdict["nodes"]) == {*CLIENTS, "st1"}
    assert find_sampled(found) == {*CLIENTS, "st1"}


def test_49_clients_write_in_one_round(fifty: Lab, tmp_path: Path) -> None:
    found = run(fifty, "clients", tmp_path / "s.db")
    assert [len(each["tests"]) for each in found["plan"]] == [49]
    assert found["coverage"]["tested"] == 49


def test_two_stages_at_once_are_one_round_whose_sum_is_judged(fifty: Lab, tmp_path: Path) -> None:
    db = tmp_path / "s.db"
    found = run(fifty, "at-once", db)
    (planned,) = found["plan"]
    assert [test["bundle"] for test in planned["tests"]] == ["both"] * 5
    with closing(plain_sqlite.connect(db)) as stored:
        spans = stored.execute("SELECT started, started + seconds FROM result").fetchall()
    assert len(spans) == 5
    assert max(start for start, _ in spans) < min(end for _, end in spans)
    written = [each["value"] for each in found["measurements"] if each["labels"].get("operation") == "write"]
    assert len(written) == 5
    (judged,) = found["together"]
    assert judged["value"] == pytest.approx(sum(written))
    assert judged["level"] == "pass"


def test_two_probes_at_once_are_one_round_and_each_is_judged_by_itself(fifty: Lab, tmp_path: Path) -> None:
    db = tmp_path / "s.db"
    found = run(fifty, "two-probes", db)
    (planned,) = found["plan"]
    assert (planned["stage"], len(planned["tests"])) == ("dd + iperf3 one-way (both)", 6)
    with closing(plain_sqlite.connect(db)) as stored:
        spans = stored.execute("SELECT started, started + seconds FROM result").fetchall()
        probes = stored.execute("SELECT DISTINCT probe, test FROM v_measurement ORDER BY probe, test").fetchall()
    assert len(spans) == 6
    assert max(start for start, _ in spans) < min(end for _, end in spans)
    assert [probe for probe, _ in probes] == ["dd"] * 4 + ["iperf3"] * 2
    levels = {(each["probe"], each["level"]) for each in found["verdicts"] if each["metric"] == "iperf3.throughput"}
    assert levels == {("iperf3", "pass")}


def test_tasks_by_slots_run_under_open_mpi_while_their_nodes_are_sampled(fifty: Lab, tmp_path: Path) -> None:
    require_open_mpi()
    with fifty.nic_rate("n1", RATE):
        found = run(fifty, "tasks", tmp_path / "s.db")
    ran = {
        (each["labels"]["ranks"], each["labels"]["tasks"])
        for each in found["measurements"]
        if each["metric"] == "hpcc.hpl"
    }
    assert ran == {("1", "1"), ("2", "2")}
    assert find_sampled(found) == {"n1"}
