"""The load that a round puts on each hop of one test's path: all flows that cross it that way, and no others."""

import pytest

from benchconsole.console.tui.queries.view_queries import sum_load
from benchconsole.console.view.flow_paths import FlowPaths
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.measuring import Reading, Result, Round, Target, Test
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit
from tests.console.tui.fabrics import mini

GIGABYTE = 1e9
FABRIC = mini(leaves=2, per_leaf=4)


def pair(name: str, source: str, sink: str, directions: Directions = Directions.FORWARD) -> Test:
    ends = (FABRIC.nodes[NodeId(source)], FABRIC.nodes[NodeId(sink)])
    return Test(name, "iperf3", Target(*ends), 1, sending=Sending(directions=directions))


def rate(value: float, *labels: tuple[str, str]) -> Reading:
    return Reading("iperf3.throughput", value, Unit.BYTE_RATE, labels, "")


OUT, IN = ("direction", "out"), ("direction", "in")
CROSSING = (pair("a", "n001", "n005"), pair("b", "n002", "n006"))
BACK = pair("back", "n007", "n003")
INSIDE = pair("inside", "n003", "n004")
BOTH = pair("both", "n004", "n008", Directions.BOTH)
TESTS = (*CROSSING, BACK, INSIDE, BOTH)
ROUND = Round(1, "trunks", "iperf3", TESTS, 1.0, "")
GAVE = {
    "a": (rate(1 * GIGABYTE, OUT),),
    "b": (rate(2 * GIGABYTE, OUT),),
    "back": (rate(4 * GIGABYTE, OUT),),
    "inside": (rate(8 * GIGABYTE, OUT),),
    "both": (rate(16 * GIGABYTE, OUT), rate(32 * GIGABYTE, IN)),
}


def view_of(gave: dict[str, tuple[Reading, ...]]) -> RunView:
    tests = {test.id: test for test in TESTS}
    results = {name: Result(tests[name], measurements=found) for name, found in gave.items()}
    return replace(RunView(FABRIC), results=results)


def test_a_hop_between_switches_bears_all_flows_that_cross_it_that_way() -> None:
    hops = FlowPaths(FABRIC).find_path(CROSSING[0], ROUND)
    view = view_of(GAVE)
    first, last = hops[0], hops[-1]
    assert (first.source, last.sink) == ("n001", "n005")
    assert [sum_load(view, first), sum_load(view, last)] == [GIGABYTE, GIGABYTE]
    up = [hop for hop in hops if hop.source == "leaf1"]
    assert {test for hop in up for test, _, _ in hop.crossing} == {"a", "b", "both"}
    assert sum(sum_load(view, hop) for hop in up) == pytest.approx((1 + 2 + 16) * GIGABYTE)
    down = FlowPaths(FABRIC).find_path(BACK, ROUND)
    assert sum(sum_load(view, hop) for hop in down if hop.sink == "leaf1") == pytest.approx((4 + 32) * GIGABYTE)


def test_a_test_without_a_number_puts_nothing_on_a_hop() -> None:
    up = [hop for hop in FlowPaths(FABRIC).find_path(CROSSING[0], ROUND) if hop.source == "leaf1"]
    view = view_of({"a": GAVE["a"], "b": ()})
    assert sum(sum_load(view, hop) for hop in up) == pytest.approx(GIGABYTE)
