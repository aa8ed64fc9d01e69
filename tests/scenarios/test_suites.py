"""The quick suite as a new user would run it, on a laboratory with real sshd: everything is tested, nothing is skipped."""

from pathlib import Path

import pytest

from tests.lab import Lab
from tests.scenarios.commands import benchconsole, report

pytestmark = pytest.mark.lab


def test_the_quick_suite_tests_everything_that_it_plans(healthy_lab: Lab, tmp_path: Path) -> None:
    ran = benchconsole("run", healthy_lab.topology, "--suite", "quick", "--db", tmp_path / "s.db", "--label", "quick")
    assert ran.code in (0, 1, 3), ran.out + ran.err
    found = report(tmp_path / "s.db")
    covered = found["coverage"]
    assert covered["tested"] == covered["planned"] > 0, ran.out
    assert {each["probe"] for each in found["plan"]} == {"inventory", "ping", "iperf3", "fio"}
    assert {m["value"] for m in found["measurements"] if m["metric"] == "ping.loss"} == {0.0}
    assert {m["value"] for m in found["measurements"] if m["metric"] == "ping.mtu"} == {1500.0}


def test_a_tool_that_a_node_lacks_is_named_once_and_skipped(healthy_lab: Lab, tmp_path: Path) -> None:
    topology = healthy_lab.topology.with_name("lacking.yaml")
    text = healthy_lab.topology.read_text()
    suite = 'suites:\n  default:\n    - {probe: stream, nodes: "n[1-4]"}\n    - {probe: inventory, nodes: "n[1-4]"}\n'
    topology.write_text(text[: text.index("suites:")] + suite)
    try:
        ran = benchconsole("run", topology, "--db", tmp_path / "s.db")
    finally:
        topology.unlink()
    assert ran.code == 3, ran.out + ran.err
    assert "stream is left out on n[1-4]: stream is not installed" in ran.out
    covered = report(tmp_path / "s.db")["coverage"]
    assert (covered["tested"], covered["skipped"]) == (4, 4)
