"""Flows that divide over equal ways: the way at fault is one of them, and no flow tells which."""

from collections.abc import Sequence

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Suspect
from benchconsole.probes.model.measuring import Bundle
from benchconsole.probes.model.sending import Sending
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from tests.fabrics import METRICS
from tests.probes.judging.rounds import RATE, Sent, close, way

FABRIC = load_text(
    """\
schema: 1
fabric: divided
networks: {flat: {goodput: 100 %}}
switches: {"spine[1-2]": {role: spine}, "leaf[1-4]": {role: leaf}}
nodes: {"a[1-4]": {}, "b[1-4]": {}, "c[1-4]": {}, "d[1-4]": {}}
links:
  - {from: "a[1-4]", to: leaf1, speed: 8 Gb/s, network: flat}
  - {from: "b[1-4]", to: leaf2, speed: 8 Gb/s, network: flat}
  - {from: "c[1-4]", to: leaf3, speed: 8 Gb/s, network: flat}
  - {from: "d[1-4]", to: leaf4, speed: 8 Gb/s, network: flat}
  - {from: "leaf[1-4]", to: "spine[1-2]", speed: 16 Gb/s, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
""",
    "divided.yaml",
)
"""Four nodes on each leaf, and a link from each leaf to each of two spines, 1:1."""

LEAVES = {"a": "leaf1", "b": "leaf2", "c": "leaf3", "d": "leaf4"}


def fill(number: int, source: str, sink: str, *rates: float) -> ClosedRound:
    """A round in which nodes of a leaf send to those of another, and fill both links up."""
    leaf = LEAVES[source]
    bundle = Bundle(f"{leaf} up", tuple(way(f"{leaf}--spine{spine}", leaf) for spine in (1, 2)))
    sent = [
        Sent(f"{source}{place}", f"{sink}{place}", (("out", rate * RATE),), bundle.name, sending=Sending(64))
        for place, rate in enumerate(rates, 1)
    ]
    return close(FABRIC, number, *sent, bundles=(bundle,))


def inside(number: int, *rates: float) -> ClosedRound:
    """A round in which each node of leaf1 sends to the next one."""
    ends = [(f"a{place}", f"a{place % 4 + 1}") for place in (1, 2, 3, 4)]
    sent = [Sent(*pair, (("out", rate * RATE),)) for pair, rate in zip(ends, rates, strict=True)]
    return close(FABRIC, number, *sent)


def find(*rounds: ClosedRound) -> Sequence[Finding]:
    context = JudgingContext(FABRIC, METRICS)
    return list_findings(context, (replace(each, verdicts=judge_round(context, each)) for each in rounds))


GOOD = (1.0, 1.01, 0.99, 1.0)


def test_one_of_two_links_into_a_leaf_is_a_tie() -> None:
    """A link that carries a tenth leaves 55 % of the two: as if both were at half, which is no one fault."""
    (found,) = find(
        inside(1, *GOOD),
        fill(2, "c", "a", 0.77, 0.5, 0.27, 0.64),
        fill(3, "d", "a", 0.6, 0.37, 0.81, 0.39),
        fill(4, "a", "b", *GOOD),
        fill(5, "d", "c", *GOOD),
    )
    assert (found.suspect, found.confidence) == (Suspect.LINK, Confidence.POSSIBLE)
    assert found.where == "spine1 to leaf1 or spine2 to leaf1"


@pytest.mark.parametrize("worse", [1.0, 0.9])
def test_one_of_two_spines_is_a_tie_whatever_else_is_slow(worse: float) -> None:
    """A spine at half speed leaves 75 % of every flow; a second fault on one leaf does not settle which spine it is."""
    rates = (0.75, 0.74, 0.76, 0.75)
    rounds = [
        fill(number, *ends, *(rate * (worse if "c" in ends else 1.0) for rate in rates))
        for number, ends in enumerate(("ab", "ba", "ac", "ca", "cd", "dc", "bd", "db"), 2)
    ]
    (found,) = find(inside(1, *GOOD), *rounds)
    assert (found.suspect, found.confidence) == (Suspect.SWITCH, Confidence.POSSIBLE)
    assert found.where == "spine1 or spine2"


def test_noise_below_a_slow_switch_accuses_no_nic() -> None:
    """Leaf1 passes half of everything; a1 has a little less of it each time."""
    (found,) = find(
        inside(1, 0.46, 0.5, 0.51, 0.5),
        inside(2, 0.47, 0.51, 0.5, 0.49),
        inside(3, 0.46, 0.5, 0.49, 0.51),
        fill(4, "a", "b", 0.47, 0.5, 0.5, 0.51),
        fill(5, "c", "a", 0.5, 0.5, 0.49, 0.51),
        fill(6, "c", "b", *GOOD),
    )
    assert (found.suspect, found.where) == (Suspect.SWITCH, "leaf1")
