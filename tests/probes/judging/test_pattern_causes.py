"""From slow pairs to one finding: on a component that agrees with the pattern, or on the pattern itself."""

from collections.abc import Callable, Sequence
from itertools import permutations

import pytest

from benchconsole.probes.judging.attribution import Cause
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import Findings, list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.pattern_causes import explain_low
from benchconsole.probes.judging.patterns import Pattern, PatternKind
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Suspect
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.rounds import close, flow, star

ALL = tuple(f"n{number}" for number in range(1, 9))

TWO_SIDES = """\
schema: 1
fabric: sides
networks: {flat: {goodput: 100 %}}
switches: {"leaf[1-2]": {role: leaf}}
nodes: {"n[1-4]": {}, "m[1-4]": {}, gw: {role: gateway, forwards: true}}
links:
  - {from: "n[1-4],gw", to: leaf1, speed: 8 Gb/s, network: flat}
  - {from: "m[1-4],gw", to: leaf2, speed: 8 Gb/s, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""

SPLIT = """\
schema: 1
fabric: split
networks: {flat: {goodput: 100 %}}
switches: {"core[1-2]": {role: core}}
nodes: {"a[1-4]": {}, "b[1-4]": {}}
vlans: {10: {name: odd, members: "a[1-2],b[1-2]"}, 20: {name: even, members: "a[3-4],b[3-4]"}}
links:
  - {from: "a[1-4]", to: core1, speed: 8 Gb/s, network: flat}
  - {from: "b[1-4]", to: core2, speed: 8 Gb/s, network: flat}
  - {from: core1, to: core2, speed: 16 Gb/s, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""


CHAIN = """\
schema: 1
fabric: chain
networks: {flat: {goodput: 100 %}}
switches: {"core[1-2]": {role: core}, "leaf[1-2]": {role: leaf}}
nodes: {"a[1-8]": {}, "b[1-8]": {}}
links:
  - {from: "a[1-8]", to: leaf1, speed: 8 Gb/s, network: flat}
  - {from: "b[1-8]", to: leaf2, speed: 8 Gb/s, network: flat}
  - {from: leaf1, to: core1, speed: 64 Gb/s, network: flat}
  - {from: leaf2, to: core2, speed: 64 Gb/s, network: flat}
  - {from: core1, to: core2, speed: 64 Gb/s, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""


def judge(described: Fabric, closed: ClosedRound) -> ClosedRound:
    return replace(closed, verdicts=judge_round(JudgingContext(described, METRICS), closed))


def mesh(
    described: Fabric, share: Callable[[str, str], float], hosts: Sequence[str] = ALL, first: int = 1
) -> list[ClosedRound]:
    """Every pair of hosts in a round of its own, with its share of what a link carries."""
    pairs = permutations(hosts, 2)
    return [
        judge(described, close(described, number, flow(*pair, share(*pair))))
        for number, pair in enumerate(pairs, first)
    ]


def find(described: Fabric, rounds: Sequence[ClosedRound]) -> tuple[Finding, ...]:
    return list_findings(JudgingContext(described, METRICS), rounds)


def test_three_nodes_that_are_slow_alike_are_one_finding_that_names_no_link() -> None:
    """Their switch explains it as well as what all hosts share."""
    (found,) = find(star(), mesh(star(), lambda _source, _sink: 0.15, ALL[:3]))
    assert (found.suspect, found.where, found.confidence) == (Suspect.SWITCH, "leaf", Confidence.POSSIBLE)
    assert (len(found.tests), found.links, found.nodes_at) == (6, (), ())
    assert "everything is slow alike" in found.cannot_tell


def test_a_sweep_of_pairs_that_are_slow_alike_is_one_finding() -> None:
    described = star()
    rounds = [each for turn in range(3) for each in mesh(described, lambda _source, _sink: 0.2, ALL[:3], 1 + 6 * turn)]
    assert len(find(described, rounds)) == 1


def test_one_component_that_explains_everything_stays_but_is_not_certain() -> None:
    (found,) = find(star(), mesh(star(), lambda _source, _sink: 0.5))
    assert (found.suspect, found.where, found.confidence) == (Suspect.SWITCH, "leaf", Confidence.POSSIBLE)
    assert found.cannot_tell.endswith("everything is slow alike")


def test_several_in_a_row_that_all_crossed_are_named_beside_what_all_hosts_share() -> None:
    """Three cables in a row between two sites: no test loaded one of them without the others."""
    described = load_text(CHAIN, "chain.yaml")
    flows = [flow(f"a{number}", f"b{number}", 0.3) for number in range(1, 9)]
    (found,) = find(described, [judge(described, close(described, 1, *flows))])
    assert found.confidence is Confidence.POSSIBLE
    assert found.cannot_tell.startswith("which of leaf1 to core1, core2 to leaf2, core1 to core2: no test loaded one")
    assert found.cannot_tell.endswith("everything is slow alike")
    assert found.cannot_tell.endswith("everything is slow alike")


def test_beside_everything_a_slower_node_is_still_named() -> None:
    described = load_text(SPLIT, "split.yaml")
    hosts = [f"{side}{number}" for side in "ab" for number in range(1, 5)]
    found = find(described, mesh(described, lambda source, _: 0.1 if source == "a3" else 0.5, hosts))
    assert [(each.suspect, each.where) for each in found] == [
        (Suspect.FABRIC, "all of 8 nodes"),
        (Suspect.NIC, "a3 out"),
    ]


def test_nothing_is_confirmed_for_what_all_share() -> None:
    described = star()
    findings = Findings(JudgingContext(described, METRICS))
    for each in mesh(described, lambda _source, _sink: 0.15, ALL[:3]):
        findings.add_round(each)
    findings.rank()
    assert findings.suspected == ()


def test_a_row_that_a_nic_explains_is_one_finding_on_the_nic() -> None:
    (found,) = find(star(), mesh(star(), lambda source, _: 0.5 if source == "n3" else 0.95))
    assert (found.suspect, found.where, found.confidence) == (Suspect.NIC, "n3 out", Confidence.CERTAIN)
    told = "pattern row: n3 as sender slow in 7 of 7 pairs, 50 % of expected, all others 95 %"
    assert found.because[-1] == told


@pytest.mark.parametrize(
    ("slow", "proof", "where"),
    [
        (lambda source, _: source == "n3", (("n3", "n1"), ("n3", "n2")), "n3 as sender"),
        (lambda _, sink: sink == "n3", (("n1", "n3"), ("n2", "n3")), "n3 as receiver"),
    ],
)
def test_a_row_or_column_whose_links_carried_more_is_one_finding_on_the_node(
    slow: Callable[[str, str], bool], proof: tuple[tuple[str, str], ...], where: str
) -> None:
    described = star()
    more = judge(described, close(described, 1, *(flow(*pair, 0.45) for pair in proof)))
    (found,) = find(described, [more, *mesh(described, lambda *pair: 0.5 if slow(*pair) else 0.95, first=2)])
    assert (found.suspect, found.where, found.nodes_at) == (Suspect.NODE, where, ("n3",))
    assert (len(found.tests), found.confidence) == (7, Confidence.LIKELY)


def test_odd_and_even_hosts_are_one_finding() -> None:
    share = lambda source, sink: 0.95 if (int(source[1]) - int(sink[1])) % 2 == 0 else 0.5  # noqa: E731
    (found,) = find(star(), mesh(star(), share))
    assert (found.suspect, found.where) == (Suspect.FABRIC, "between n[1,3,5,7] and n[2,4,6,8]")
    assert found.what == "32 of 32 pairs give 50 % of expected, all others 95 %; no single link explains it"


def test_a_gateway_whose_ports_are_sound_is_named_by_what_crosses_it() -> None:
    described = load_text(TWO_SIDES, "sides.yaml")
    hosts = [f"{side}{number}" for side in "nm" for number in range(1, 5)]
    ports = [("n1", "gw"), ("gw", "n2"), ("m1", "gw"), ("gw", "m2")]
    proof = [judge(described, close(described, number, flow(*pair, 0.95))) for number, pair in enumerate(ports, 1)]
    across = mesh(described, lambda source, sink: 0.5 if source[0] != sink[0] else 0.95, hosts, first=5)
    (found,) = find(described, [*proof, *across])
    assert (found.suspect, found.element, found.nodes_at) == (Suspect.GATEWAY, "gw", ("gw",))
    assert found.where == "gw, between leaf1 and leaf2"
    assert len(found.tests) == 32


def test_a_vlan_that_is_slow_over_links_that_are_sound_is_named() -> None:
    described = load_text(SPLIT, "split.yaml")
    odd, even = ([f"{side}{number}" for number in numbers for side in "ab"] for numbers in ((1, 2), (3, 4)))
    # Two flows at once show that each cable carries more than one flow of the slow VLAN gave.
    pairs = [(("a1", "b3"), ("a1", "b4")), (("a2", "b3"), ("a2", "b4")), (("b1", "a3"), ("b1", "a4")),
             (("b2", "a3"), ("b2", "a4")), (("a3", "b1"), ("a4", "b1")), (("a3", "b2"), ("a4", "b2")),
             (("b3", "a1"), ("b4", "a1")), (("b3", "a2"), ("b4", "a2"))]  # fmt: skip
    proof = [
        judge(described, close(described, number, *(flow(*pair, 0.45) for pair in both)))
        for number, both in enumerate(pairs, 1)
    ]
    slow = mesh(described, lambda _source, _sink: 0.5, odd, first=20)
    good = mesh(described, lambda _source, _sink: 0.95, even, first=40)
    (found,) = find(described, [*proof, *slow, *good])
    assert (found.suspect, found.where) == (Suspect.VLAN, "within VLAN 10")
    assert len(found.tests) == 12


@pytest.mark.parametrize(("known", "own"), [(3, False), (2, True), (1, True)])
def test_a_pattern_that_causes_explain_for_the_most_is_none_of_its_own(known: int, own: bool) -> None:
    """Two low flows of it are open; ``known`` ones are explained."""
    described = star()
    closed = judge(described, close(described, 1, *(flow("n1", f"n{each}", 0.5) for each in range(2, 4 + known))))
    flows = JudgingContext(described, METRICS).flows.read(closed, "iperf3.throughput")
    low = [(each, flows.find_measured(each.evidence)) for each in closed.verdicts]
    pairs = frozenset(("n1", f"n{each}") for each in range(2, 9))
    row = Pattern(PatternKind.ROW, ("n1",), 0.5, 1.0, 7, 7, pairs)
    cause = Cause((), (), 9.0, None, tuple(low[:known]))
    _, found, rest, _ = explain_low(low, lambda _: ([cause], low[known:]), lambda: [row])
    assert (len(found), len(rest)) == ((1, 0) if own else (0, 2))
