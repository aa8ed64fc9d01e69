"""Nodes whose traffic fell back to another network: who is named, in which words, and what is not taken for it."""

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import Findings, list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Level, Suspect
from benchconsole.probes.model.sending import Sending
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.rounds import Sent, close

GBPS = 1e9 / 8
TEXT = """\
schema: 1
fabric: dual
networks: {ib: {goodput: 98 %}, mgmt: {goodput: 94 %}, lan: {goodput: 94 %, role: storage}}
switches: {ibl1: {role: leaf}, msw: {role: leaf}, lsw: {role: leaf}}
nodes: {"n[1-8]": {}}
links:
  - {from: "n[1-8]", to: ibl1, speed: 200G, network: ib}
  - {from: "n[1-8]", to: msw, speed: 1G, network: mgmt}
  - {from: "n[1-8]", to: lsw, speed: 10G, network: lan}
"""
WHOLE, FALLEN = 196.0, 0.94


def described(text: str = TEXT) -> Fabric:
    return load_text(text, "dual.yaml")


def sent(source: str, sink: str, gbps: float, network: str = "") -> Sent:
    return Sent(source, sink, (("out", gbps * GBPS),), sending=Sending(network=network))


def judged(fabric: Fabric, *tests: Sent, number: int = 1) -> tuple[JudgingContext, ClosedRound]:
    context = JudgingContext(fabric, METRICS)
    closed = close(fabric, number, *tests)
    return context, replace(closed, verdicts=judge_round(context, closed))


def find(fabric: Fabric, *tests: Sent) -> list[Finding]:
    context, closed = judged(fabric, *tests)
    return list(list_findings(context, [closed]))


RING = [("n1", "n2"), ("n2", "n3"), ("n3", "n4"), ("n4", "n5"), ("n5", "n6"), ("n6", "n7"), ("n7", "n8"), ("n8", "n1")]


def ring(*fallen: str, rate: float = FALLEN, network: str = "") -> list[Sent]:
    return [sent(a, b, rate if {a, b} & set(fallen) else WHOLE * 0.97, network) for a, b in RING]


@pytest.mark.parametrize("network", ["", "ib"])
def test_one_node_is_named_with_both_numbers(network: str) -> None:
    (found,) = find(described(), *ring("n3", network=network))
    assert (found.suspect, found.element, found.nodes, found.nodes_at) == (Suspect.NODE, "n3", ("n3",), ("n3",))
    assert (found.level, found.confidence) == (Level.FAIL, Confidence.CERTAIN)
    assert found.where == "n3, network ib"
    assert found.what == "n3 reached 940 Mb/s of 196 Gb/s: as its management network mgmt carries (1.00 Gb/s)"
    assert found.means == "what is sent over the network ib goes over mgmt instead"
    assert found.do.startswith(
        "on n3 ask `ip route get` for the address of n2 in the network ib, and look whether its port"
    )
    assert found.tests == ("1/1", "1/2")


def test_a_low_rate_fails_and_says_where_it_may_have_gone() -> None:
    _, closed = judged(described(), sent("n1", "n2", 0.9))
    (verdict,) = closed.verdicts
    assert verdict.level is Level.FAIL
    assert verdict.because.endswith(
        "; the management network mgmt carries that (1.00 Gb/s), so this may have gone over it"
    )
    _, closed = judged(described(), sent("n1", "n2", 190.0))
    assert [each.level for each in closed.verdicts] == [Level.PASS]


def test_a_lone_pair_leaves_open_which_one() -> None:
    (found,) = find(described(), sent("n1", "n2", FALLEN))
    assert found.what == "n1 or n2 reached 940 Mb/s of 196 Gb/s: as its management network mgmt carries (1.00 Gb/s)"
    assert (found.nodes_at, found.confidence) == ((), Confidence.LIKELY)
    assert found.cannot_tell == "which of the two it is: needs a test of each with another node"


def test_both_directions_of_a_pair_tell_no_more() -> None:
    (found,) = find(described(), sent("n1", "n2", FALLEN), sent("n2", "n1", FALLEN))
    assert found.what.startswith("n1 or n2 reached")
    assert found.tests == ("1/0", "1/1")


def test_a_node_that_used_its_port_is_not_blamed() -> None:
    (found,) = find(described(), sent("n1", "n2", FALLEN), sent("n3", "n1", WHOLE * 0.97))
    assert found.nodes_at == ("n2",)


def test_another_network_is_told_by_its_rate() -> None:
    (found,) = find(described(), *ring("n5", rate=9.3))
    assert found.what == "n5 reached 9.30 Gb/s of 196 Gb/s: as its network lan carries (10.0 Gb/s)"


def test_all_nodes_together_are_one_finding() -> None:
    (found,) = find(described(), *ring(*(f"n{number}" for number in range(1, 9))))
    assert found.what == "n[1-8] reached 940 Mb/s of 196 Gb/s: as their management network mgmt carries (1.00 Gb/s)"
    assert (found.suspect, len(found.nodes_at)) == (Suspect.SET, 8)


@pytest.mark.parametrize("rate", [0.75, 1.2, 4.0, 12.0, 98.0])
def test_a_rate_of_its_own_is_no_fallback(rate: float) -> None:
    found = find(described(), *ring("n3", rate=rate))
    assert found
    assert not any("carries (" in each.what or "ip route" in each.do for each in found)


def test_a_network_that_a_node_is_not_in_explains_nothing() -> None:
    text = TEXT.replace('{from: "n[1-8]", to: msw', '{from: "n[1-2],n[5-8]", to: msw')
    found = find(described(text), *ring("n3"))
    assert found
    assert not any("mgmt" in each.what for each in found)


RACKS = TEXT.replace("msw: {role: leaf}, ", "msw1: {role: leaf}, msw2: {role: leaf}, mcore: {role: spine}, ").replace(
    '  - {from: "n[1-8]", to: msw, speed: 1G, network: mgmt}\n',
    """\
  - {from: "n[1-4]", to: msw1, speed: 1G, network: mgmt}
  - {from: "n[5-8]", to: msw2, speed: 1G, network: mgmt}
  - {from: "msw[1-2]", to: mcore, speed: 1G, network: mgmt}
""",
)
ACROSS = [("n1", "n5"), ("n2", "n6"), ("n3", "n7"), ("n4", "n8")]


@pytest.mark.parametrize("rates", [(0.235, 0.235, 0.235, 0.235), (0.11, 0.18, 0.25, 0.38)])
def test_nodes_that_fall_back_together_share_what_the_other_network_carries(rates: tuple[float, ...]) -> None:
    """Of each rack as many flows as the one slow uplink carries: no link of the fast network is named."""
    tests = [sent(*ends, rate) for ends, rate in zip(ACROSS, rates, strict=True)]
    (found,) = find(described(RACKS), *tests)
    assert found.what.endswith("as their management network mgmt carries (1.00 Gb/s for 4 flows)")
    assert (found.suspect, found.nodes, found.links) == (
        Suspect.SET,
        tuple(f"n{n}" for n in (1, 5, 2, 6, 3, 7, 4, 8)),
        (),
    )


@pytest.mark.parametrize(
    "rates", [(0.5, 0.5, 0.5, 0.5), (0.02, 0.3, 0.3, 0.32), (0.1, 0.1, 0.1, 0.64), (0.15, 0.15, 0.15, 0.15)]
)
def test_sums_that_the_other_network_does_not_carry_are_no_fallback(rates: tuple[float, ...]) -> None:
    found = find(described(RACKS), *(sent(*ends, rate) for ends, rate in zip(ACROSS, rates, strict=True)))
    assert found
    assert not any("mgmt carries" in each.what for each in found)


def test_nearly_equal_networks_are_not_told_apart() -> None:
    found = find(described(TEXT.replace("speed: 10G", "speed: 120G")), *ring("n3", rate=112.0))
    assert found
    assert not any("network lan" in each.what for each in found)


def test_one_by_one_is_as_all_at_once() -> None:
    fabric = described()
    context, first = judged(fabric, *ring("n3"))
    _, second = judged(fabric, *ring("n3"), number=2)
    kept = Findings(context)
    kept.add_round(first)
    before = kept.rank()
    assert kept.rank()[0] is before[0]
    kept.add_round(second)
    assert kept.rank() == list_findings(context, [first, second])
