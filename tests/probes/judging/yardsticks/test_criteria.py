"""Shares of a stated peak: of all nodes that a test ran on, and unknown where one of them states none."""

from types import MappingProxyType

import pytest

from benchconsole.probes.api import Metric, Reading, Target, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level
from benchconsole.probes.model.measuring import Result, Round, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, Fabric, Hardware, Node, NodeId, NodeRole
from tests.probes.judging.rounds import star

METRIC = Metric("hpl.rate", Unit.FLOP_RATE, "solving")
PEAK = 1e12
NODES = tuple(
    Node(NodeId(f"n{i}"), NodeRole.COMPUTE, Hardware("b", peak=PEAK, peak_basis="AVX base"), "192.0.2.1", "192.0.2.1")
    for i in range(1, 5)
)


def judged(
    nodes: tuple[Node, ...], share: float, rounding: float = 0.0, target: float | None = None
) -> tuple[Level, str]:
    """The verdict on a rate that is so much of the peak of one node, over all of ``nodes``."""
    fabric = Fabric(
        name="toy",
        nodes=MappingProxyType({node.id: node for node in nodes}),
        switches=MappingProxyType({}),
        links=MappingProxyType({}),
        criteria=(
            Criterion(
                "hpl.rate",
                Comparator.AT_LEAST,
                0.8,
                Unit.ONE,
                Basis.PEAK,
                target=target,
                rounding=rounding,
                rounds_share=bool(rounding),
            ),
        ),
        suites=MappingProxyType({}),
        access=Access(),
        mtu=1500,
        text="",
    )
    test = Test("t", "hpl", Target(nodes[0], members=nodes if len(nodes) > 1 else ()), 1)
    measured = Reading("hpl.rate", share * PEAK, Unit.FLOP_RATE, id="t#0")
    each = Round(1, "hpl", "hpl", (test,), 1.0, "")
    closed = ClosedRound(each, (Result(test, measurements=(measured,)),), CloseReason.COMPLETE, 0.0, 1.0)
    (verdict,) = judge_round(JudgingContext(fabric, {"hpl.rate": METRIC}), closed)
    return verdict.level, verdict.because


@pytest.mark.parametrize(
    ("nodes", "share", "level"),
    [(1, 0.81, Level.PASS), (1, 0.79, Level.FAIL), (4, 0.81, Level.FAIL), (4, 3.3, Level.PASS), (4, 3.1, Level.FAIL)],
)
def test_a_share_is_of_the_peaks_of_all_nodes(nodes: int, share: float, level: Level) -> None:
    found, because = judged(NODES[:nodes], share)
    assert found is level
    assert ("of the peaks of 4 nodes (AVX base)" if nodes > 1 else "of peak (AVX base)") in because


def test_more_than_the_peak_is_no_pass() -> None:
    level, because = judged(NODES[:1], 1.2)
    assert level is Level.UNKNOWN
    assert because == "120 % of peak (AVX base): the number or the stated peak is wrong"


@pytest.mark.parametrize(("share", "level"), [(1.049, Level.PASS), (1.05, Level.PASS), (1.051, Level.UNKNOWN)])
@pytest.mark.parametrize("nodes", [1, 4])
def test_5_per_cent_more_than_the_peaks_are_possible(nodes: int, share: float, level: Level) -> None:
    assert judged(NODES[:nodes], share * nodes)[0] is level


@pytest.mark.parametrize(
    ("share", "level"),
    [(0.799, Level.FAIL), (0.8, Level.WATCH), (0.899, Level.WATCH), (0.9, Level.PASS), (0.901, Level.PASS)],
)
@pytest.mark.parametrize("nodes", [1, 4])
def test_a_target_is_a_share_of_the_peaks_too(nodes: int, share: float, level: Level) -> None:
    assert judged(NODES[:nodes], share * nodes, target=0.9)[0] is level


def test_one_node_without_a_peak_leaves_it_unknown() -> None:
    without = replace(NODES[1], hardware=Hardware("old"))
    assert judged((NODES[0], without), 9.0) == (Level.UNKNOWN, "no peak is declared")


@pytest.mark.parametrize(("share", "level"), [(0.795, Level.PASS), (0.7949, Level.FAIL), (0.8, Level.PASS)])
@pytest.mark.parametrize("nodes", [1, 4])
def test_a_share_is_rounded_as_the_contract_says(nodes: int, share: float, level: Level) -> None:
    """Jetstream 4.1.1: 80 % of the peak, rounded to the nearest per cent."""
    found, because = judged(NODES[:nodes], share * nodes, rounding=0.01)
    assert found is level
    assert ("rounded to 80 %" if level is Level.PASS else "rounded to 79 %") in because


@pytest.mark.parametrize(("value", "level"), [(1.99, Level.PASS), (2.0, Level.PASS), (2.01, Level.WATCH)])
@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_an_upper_bound_is_kept_from_below(value: float, level: Level, scale: float) -> None:
    """At most 2 is aimed at and 3 required; in another unit both are as much higher."""
    criterion = Criterion("ping.rtt", Comparator.AT_MOST, 3.0 * scale, Unit.SECOND, target=2.0 * scale)
    fabric = replace(star(), criteria=(criterion,))
    test = Test("t", "ping", Target(NODES[0]), 1)
    measured = Reading("ping.rtt", value * scale, Unit.SECOND, id="t#0")
    each = Round(1, "ping", "ping", (test,), 1.0, "")
    closed = ClosedRound(each, (Result(test, measurements=(measured,)),), CloseReason.COMPLETE, 0.0, 1.0)
    (verdict,) = judge_round(JudgingContext(fabric, {}), closed)
    assert verdict.level is level
