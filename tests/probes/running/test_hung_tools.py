"""How long tools that hung before are awaited: every step of the rule."""

from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.running.hung_tools import HungTools, compute_patience
from benchconsole.topology.model.fabric import NodeId
from tests.fabrics import fabric
from tests.probes.played import PROBES

N1 = NodeId("n1")


@pytest.mark.parametrize(("took", "seconds"), [(0.0, 2.0), (10.0, 7.0), (600.0, 302.0)])
def test_others_wait_half_as_long_again(took: float, seconds: float) -> None:
    assert compute_patience(took) == seconds


def test_a_tool_is_left_out_after_two_rounds_in_which_it_hung() -> None:
    tools = HungTools()
    steps: list[tuple[int, FailedAt, str | None]] = [
        (1, FailedAt.TIMEOUT, None),
        (1, FailedAt.TIMEOUT, None),  # a second test in the same round
        (2, FailedAt.UNREACHABLE, None),
        (3, FailedAt.TIMEOUT, "in round 1 and in round 3"),
    ]
    for number, stage, held in steps:
        tools.add_failure("fio", Failure(stage, "", N1), number)
        found = tools.find_hold("fio", N1)
        assert (found is None) == (held is None)
        if held is not None and found is not None:
            assert (found.stage, found.detail) == (FailedAt.HELD, f"fio hung here {held}, and was not started again")
    assert tools.find_hold("iperf3", N1) is None
    assert tools.find_hold("fio", NodeId("n2")) is None


def test_only_the_tests_of_a_node_where_it_hung_are_doubted(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    tests = plan(described, find_suite(described, None), PROBES)[0].tests
    found = HungTools([("iperf3", N1)]).find_doubts(tests)
    assert found.keys() == {test.id for test in tests if N1 in {node.id for node in test.target.nodes}}
    assert {(each.stage, each.node) for each in found.values()} == {(FailedAt.TIMEOUT, N1)}
    assert HungTools([("fio", N1)]).find_doubts(tests) == {}
    everywhere = [("iperf3", node.id) for test in tests for node in test.target.nodes]
    assert HungTools(everywhere).find_doubts(tests) == {}
