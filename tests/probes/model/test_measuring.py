"""The outcome of a test, the flows that it sends, and the order of the flows of a round."""

import pytest

from benchconsole.probes.api import Directions, Sending, Target
from benchconsole.probes.model.measuring import FailedAt, Failure, Result, Round, Test, TestOutcome
from benchconsole.probes.testing.fake import a_node
from benchconsole.topology.model.fabric import Flow, NodeId

N1, N2 = NodeId("n1"), NodeId("n2")


@pytest.mark.parametrize(
    ("outcome", "stages"),
    [
        (TestOutcome.UNREACHABLE, {"UNREACHABLE", "HOST_KEY_UNKNOWN", "HOST_KEY_CHANGED", "LOGIN"}),
        (TestOutcome.SKIPPED, {"MISSING_TOOL", "CANCELLED", "HELD", "NO_PASSWORD", "IN_USE", "REFUSED", "SKIPPED"}),
        (TestOutcome.FAILED, {"LOST", "TIMEOUT", "FLOODED", "TOOL", "OUTPUT", "PROBE", "KILLED", "REBOOTED"}),
        (TestOutcome.TESTED, set()),
    ],
)
def test_each_stage_has_one_outcome(outcome: TestOutcome, stages: set[str]) -> None:
    assert {stage.name for stage in FailedAt if stage.outcome is outcome} == stages
    results = (Result(a_test(Sending()), failure=Failure(stage, "", N1)) for stage in FailedAt)
    assert {result.failure.stage.name for result in results if result.failure and result.outcome is outcome} == stages


def test_without_a_failure_it_is_tested() -> None:
    assert Result(a_test(Sending())).outcome is TestOutcome.TESTED


def a_test(sending: Sending, *, alone: bool = False) -> Test:
    target = Target(a_node("n1"), None if alone else a_node("n2"))
    return Test(f"1/{sending.directions}", "p", target, 1, sending=sending)


@pytest.mark.parametrize(
    ("directions", "flows"),
    [
        (Directions.FORWARD, (Flow(N1, N2, 5.0),)),
        (Directions.REVERSED, (Flow(N2, N1, 5.0),)),
        (Directions.BOTH, (Flow(N1, N2, 5.0), Flow(N2, N1, 5.0))),
    ],
)
def test_flows_go_where_the_data_goes(directions: Directions, flows: tuple[Flow, ...]) -> None:
    assert a_test(Sending(rate=5.0, directions=directions)).flows == flows


def test_a_round_sends_the_flows_of_its_tests_in_order() -> None:
    both, alone, back = (
        a_test(Sending(directions=Directions.BOTH)),
        a_test(Sending(), alone=True),
        a_test(Sending(directions=Directions.REVERSED)),
    )
    sent = Round(1, "s", "p", (both, alone, back), 1.0, "").sent
    assert sent == ((both, Flow(N1, N2)), (both, Flow(N2, N1)), (back, Flow(N2, N1)))
