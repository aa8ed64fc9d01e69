"""The cables that a lone flow speaks for at its ends: those that it can have used, and no others."""

from pathlib import Path

from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import State
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Result, Round, Target, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.fabrics import fabric

TEXT = """\
schema: 1
fabric: planes
networks: {ib: {goodput: 80 %}, mgmt: {mtu: 1500}}
switches: {"sw[1-2]": {role: leaf}, ibsw: {role: leaf}, m: {role: leaf}}
nodes: {"n[1-2]": {}, i1: {}, b: {}, v1: {host: n1}}
links:
  - {from: "n[1-2]", to: sw1, speed: 10 Gb/s}
  - {from: "n[1-2],i1", to: ibsw, speed: 100 Gb/s, network: ib}
  - {from: "n[1-2],i1", to: m, speed: 1 Gb/s, network: mgmt}
  - {from: b, to: "sw[1-2]", speed: 10 Gb/s, bond: active-backup}
"""


def measured(folder: Path, source: str, sink: str) -> set[str]:
    """Links that are measured once a flow from ``source`` to ``sink`` was."""
    shown = fabric(folder, TEXT)
    test = Test("t", "iperf3", Target(shown.nodes[NodeId(source)], shown.nodes[NodeId(sink)]), 1)
    each = Round(1, "legs", "iperf3", (test,), 10.0, "alone")
    verdict = Verdict(
        test="t", round=1, probe="iperf3", subject=test.target.key, nodes=(source, sink), metric="iperf3.throughput",
        labels=(), level=Level.PASS, kind=Yardstick.CAPACITY, because="as asked", value=1.0, expected=1.0, source="capacity",
    )  # fmt: skip
    view = opened(SessionOpened("", "", shown, "default", (each,), 0.0, False))
    closed = ClosedRound(each, (Result(test),), CloseReason.COMPLETE, 0.0, 10.0)
    view = advance(view, replace(closed, verdicts=(verdict,), findings=()))
    return {link for link, seen in view.links.items() if seen.state is State.PASS}


def test_the_data_network_goes_before_others(tmp_path: Path) -> None:
    assert measured(tmp_path, "n1", "n2") == {"n1--sw1", "n2--sw1"}


def test_another_network_where_that_is_the_first_that_both_are_in(tmp_path: Path) -> None:
    assert measured(tmp_path, "n1", "i1") == {"n1--ibsw", "i1--ibsw"}


def test_a_standby_leg_and_the_cables_of_a_host_are_left_alone(tmp_path: Path) -> None:
    assert measured(tmp_path, "b", "v1") == {"b--sw1"}


def test_no_guess_between_networks_without_a_common_one(tmp_path: Path) -> None:
    assert measured(tmp_path, "b", "i1") == {"b--sw1"}
