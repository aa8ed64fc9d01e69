"""What links are known to have carried: both ways of a test, each by its first measurement."""

from dataclasses import replace

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.rounds import BOTH_WAYS, RATE, Sent, close, flow, star


def find(described: Fabric, *rounds: ClosedRound) -> tuple[Finding, ...]:
    context = JudgingContext(described, METRICS)
    return list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in rounds])


def both_ways(*rates: tuple[str, float]) -> Sent:
    return Sent("n1", "n3", [(name, rate * RATE) for name, rate in rates], sending=BOTH_WAYS)


def test_both_ways_of_a_test_show_what_links_carry() -> None:
    """n1 sends well to n3 and receives well from it: a low flow between n1 and n2 is the fault of n2."""
    described = star()
    well = close(described, 1, both_ways(("out", 0.95), ("in", 0.95)))
    assert [each.where for each in find(described, well, close(described, 2, flow("n1", "n2", 0.5)))] == ["n2 in"]
    assert [each.where for each in find(described, well, close(described, 2, flow("n2", "n1", 0.5)))] == ["n2 out"]


@pytest.mark.parametrize("direction", ["out", "in"])
def test_only_the_first_number_of_each_way_shows_what_links_carry(direction: str) -> None:
    """What follows speaks of parts of it, as of single streams or seconds."""
    described = star()
    other = {"out": "in", "in": "out"}[direction]
    peak = close(described, 1, both_ways((direction, 0.8), (other, 0.95), (direction, 0.95)))
    ends = ("n1", "n2") if direction == "out" else ("n2", "n1")
    (finding,) = find(described, peak, close(described, 2, flow(*ends, 0.75)))
    assert " or " in finding.where


@pytest.mark.parametrize(
    ("apart", "where"),
    [(0.0, "n2 in"), (10.0, "n2 in"), (10.1, "n1 out or n2 in")],  # half of their time together: 45 %
)
def test_flows_prove_their_sum_for_the_time_that_they_ran_together(apart: float, where: str) -> None:
    """Two flows out of n1 gave 90 % of its cable: that clears n1 of a later 39 % unless they hardly overlapped."""
    described = star("at_least: 40 %")
    sent = [flow("n1", sink, 0.45, "out", at=at, ran=10.0) for sink, at in (("n3", 0.0), ("n4", apart))]
    low = close(described, 2, flow("n1", "n2", 0.39))
    assert [each.where for each in find(described, close(described, 1, *sent), low)] == [where]
