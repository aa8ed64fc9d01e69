"""Measurements of a test beside the rate of a flow."""

import math

import pytest

from benchconsole.probes.api import Reading, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.flow_conditions import FlowConditions, find_mtu, list_links
from benchconsole.probes.model.measuring import Labels
from benchconsole.topology.copying import replace
from tests.fabrics import METRICS
from tests.probes.judging.rounds import RATE, close, flow, star

OUT = labels(direction="out")


def measure(*beside: tuple[str, float, Labels], ran: float = 10.0) -> tuple[JudgingContext, FlowConditions]:
    """One flow of 1 GB/s with these readings beside its rate."""
    described = star()
    context = JudgingContext(described, METRICS)
    closed = close(described, 1, flow("n1", "n2", 1.0, ran=ran))
    (result,) = closed.results
    told = (Reading(f"iperf3.{name}", value, Unit.ONE, marks, id=name) for name, value, marks in beside)
    closed = replace(closed, results=(replace(result, measurements=(*result.measurements, *told)),))
    (each,) = context.flows.read(closed, "iperf3.throughput").find_measured(["1/0#0"])
    return context, FlowConditions(each)


def test_readings_are_those_of_the_same_direction_and_labels() -> None:
    both = (
        ("rtt", 0.1, labels(direction="in")),
        ("rtt", 0.2, OUT),
        ("cpu", 0.9, labels(direction="out", end="sender")),
    )
    _, found = measure(*both)
    assert (found.find("rtt"), found.find("cpu"), found.find("cpu", end="sender")) == (0.2, None, 0.9)


@pytest.mark.parametrize("value", [math.inf, math.nan, -1.0, 1e30])
def test_a_value_that_no_measurement_gives_tells_nothing(value: float) -> None:
    _, found = measure(("rtt", value, OUT))
    assert found.find("rtt") is None


@pytest.mark.parametrize(
    ("beside", "share"),
    [
        ((), None),
        ((("resent", 0.01, OUT),), 0.01),
        ((("resent", 0.0, OUT), ("retransmits", 9.0, OUT)), 0.0),
        ((("retransmits", 0.0, OUT),), 0.0),
        ((("retransmits", 1e5, OUT),), 1e5 / (10 * RATE / 1000 + 1e5)),
    ],
)
def test_the_share_sent_again_is_measured_or_counted_over_what_arrived(
    beside: tuple[tuple[str, float, Labels], ...], share: float | None
) -> None:
    _, found = measure(*beside)
    assert found.find_resent(1000.0) == (None if share is None else pytest.approx(share))


def test_a_count_without_a_time_tells_no_share() -> None:
    _, found = measure(("retransmits", 1e5, OUT), ran=0.0)
    assert found.find_resent(1000.0) is None


@pytest.mark.parametrize(("beside", "size"), [((), 1448.0), ((("mss", 8948.0, OUT),), 8948.0)])
def test_a_segment_is_measured_or_fits_the_mtu(beside: tuple[tuple[str, float, Labels], ...], size: float) -> None:
    context, found = measure(*beside)
    assert found.find_segment(find_mtu(context, list_links(context, found.each))) == size
