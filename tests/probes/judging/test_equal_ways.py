"""LAGs from a leaf to several spines: what loads that divide over them tell, and which of them lost a member."""

from collections.abc import Mapping, Sequence

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.part_loads import PartLoads
from benchconsole.probes.model.judgement import ClosedRound, Finding, Suspect
from benchconsole.probes.model.measuring import Bundle
from benchconsole.probes.model.sending import Sending
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Direction
from tests.fabrics import METRICS
from tests.probes.judging.rounds import RATE, Sent, close, way

FABRIC = load_text(
    """\
schema: 1
fabric: two-spines
networks: {flat: {goodput: 100 %}}
switches: {"spine[1-2]": {role: spine}, "leaf[1-3]": {role: leaf}}
nodes: {"a[1-4]": {}, "b[1-4]": {}, "c[1-4]": {}, st: {}}
links:
  - {from: "a[1-4]", to: leaf1, speed: 8 Gb/s, network: flat}
  - {from: "b[1-4]", to: leaf2, speed: 8 Gb/s, network: flat}
  - {from: "c[1-4]", to: leaf3, speed: 8 Gb/s, network: flat}
  - {from: st, to: spine1, speed: 32 Gb/s, network: flat}
  - {from: "leaf[1-3]", to: "spine[1-2]", speed: 8 Gb/s, count: 2, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
""",
    "two-spines.yaml",
)
"""Four nodes and two LAGs of two on each leaf, 1:1; the server hangs on spine1 alone."""

UP1, UP2 = way("leaf1--spine1", "leaf1"), way("leaf1--spine2", "leaf1")
MANY = Sending(64)


def fill(number: int, source: str, sink: str, *rates: float, apart: float = 0.0) -> ClosedRound:
    """A round in which nodes of a leaf send to those of another: four links up, filled by rates in ``RATE``."""
    leaf = {"a": "leaf1", "c": "leaf3"}[source]
    bundle = Bundle(f"{leaf} up", tuple(way(f"{leaf}--{spine}", leaf) for spine in ("spine1", "spine2")))
    sent = [
        Sent(f"{source}{place}", f"{sink}{place}", (("out", rate * RATE),), bundle.name, place * apart, sending=MANY)
        for place, rate in enumerate(rates, 1)
    ]
    return close(FABRIC, number, *sent, bundles=(bundle,))


def serve(number: int, *rates: float) -> ClosedRound:
    """A round in which two nodes of leaf1 send to the server: over the LAG to spine1 alone."""
    sent = [
        Sent(f"a{place}", "st", (("out", rate * RATE),), "to spine1", sending=MANY)
        for place, rate in enumerate(rates, 1)
    ]
    return close(FABRIC, number, *sent, bundles=(Bundle("to spine1", (UP1,)),))


def fill_server(number: int) -> ClosedRound:
    """A round in which the server receives all that its cable carries, from the other leaves."""
    sent = [Sent(name, "st", (("out", RATE),), "st in", sending=MANY) for name in ("b1", "b2", "c1", "c2")]
    return close(FABRIC, number, *sent, bundles=(Bundle("st in", (way("st--spine1", "spine1"),)),))


def find(*rounds: ClosedRound) -> Sequence[Finding]:
    context = JudgingContext(FABRIC, METRICS)
    return list_findings(context, (replace(each, verdicts=judge_round(context, each)) for each in rounds))


@pytest.mark.parametrize(
    ("rate", "apart", "proven"),
    [
        (0.75, 0.0, 0.95 * 3 - 2),  # 3 of 4, of which 5 % are not sure and the other LAG carries 2
        (0.5, 0.0, 0.0),  # the other LAG has room for all of it
        (1.0, 0.0, 0.95 * 4 - 2),
        (1.0, 1.0, 0.95 * 10 / 13 * 4 - 2),  # the ends are 3 s of 10 apart
    ],
)
def test_a_load_that_divides_proves_of_a_lag_what_the_others_have_no_room_for(
    rate: float, apart: float, proven: float
) -> None:
    context = JudgingContext(FABRIC, METRICS)
    loads, graph = PartLoads(context.parts), context.routes.graph
    loads.add(context.flows.read(fill(1, "a", "b", rate, rate, rate, rate, apart=apart), "iperf3.throughput"))
    for up in (UP1, UP2):
        assert loads.proven[graph.way(FABRIC.links[up.link], up.source)] == pytest.approx(proven * RATE)


WELL, SHORT = (1.0, 1.0, 1.0, 1.0), (0.75, 0.75, 0.75, 0.75)


def test_the_lag_that_is_filled_alone_is_told_from_the_one_that_is_not() -> None:
    """Of four equal links one is lost: what goes to the server is low, over the LAG to spine1 alone."""
    (found,) = find(fill(1, "a", "b", *SHORT), fill(2, "c", "b", *WELL), fill_server(3), serve(4, 0.5, 0.5))
    assert (found.suspect, found.where) == (Suspect.LAG, "leaf1 to spine1")
    assert (found.value, found.members_up) == (RATE, 1)


@pytest.mark.parametrize("apart", [0.0, 0.1])
def test_what_is_missing_of_equal_ways_is_missing_where_the_others_are_sound(apart: float) -> None:
    """The LAG to spine1 carries all to the server: that to spine2 gives what is left, not half of what divides."""
    (found,) = find(
        fill(1, "a", "b", *SHORT, apart=apart), fill(2, "c", "b", *WELL), fill_server(3), serve(4, 1.0, 1.0)
    )
    assert (found.suspect, found.where) == (Suspect.LAG, "leaf1 to spine2")
    assert found.value == pytest.approx(RATE)
    assert found.members_up == 1


def test_of_equal_ways_without_a_sound_one_none_is_named_alone() -> None:
    (found,) = find(fill(1, "a", "b", *SHORT), fill(2, "c", "b", *WELL))
    assert "leaf1 to spine1, leaf1 to spine2" in found.cannot_tell


def test_one_of_two_flows_may_be_fast_over_a_lag_with_a_bad_member() -> None:
    """Their streams divide over both members, not evenly: the fast one does not clear the LAG."""
    inside = close(FABRIC, 1, *(Sent(*ends, (("out", RATE),)) for ends in (("a1", "a2"), ("a2", "a1"))))
    (found,) = find(inside, fill_server(2), serve(3, 0.9, 0.5))
    assert (found.suspect, found.where) == (Suspect.LAG, "leaf1 to spine1")


def test_a_slow_leaf_is_told_by_what_goes_into_it() -> None:
    """Four nodes and two LAGs of two lead into it."""
    inside = [Sent(f"a{place}", f"a{place % 4 + 1}", (("out", 0.5 * RATE),)) for place in (1, 2, 3, 4)]
    (found,) = find(close(FABRIC, 1, *inside), fill(2, "a", "b", 0.5, 0.5, 0.5, 0.5), fill(3, "c", "b", *WELL))
    assert (found.suspect, found.where) == (Suspect.SWITCH, "leaf1")
    assert found.value == pytest.approx(4 * RATE)
    assert found.expected == 8 * RATE


def send_to_server(number: int, name: str, element: Direction, rates: Mapping[str, float]) -> ClosedRound:
    """A round in which nodes send to the server, or receive from it where ``element`` leads away from it."""
    ends = [
        (node, "st") if element.source != "st" and element.link != "leaf1--spine1" else ("st", node) for node in rates
    ]
    sent = [
        Sent(*pair, (("out", rate * RATE),), name, sending=MANY)
        for pair, rate in zip(ends, rates.values(), strict=True)
    ]
    return close(FABRIC, number, *sent, bundles=(Bundle(name, (element,)),))


def test_a_cause_is_no_wider_than_what_no_other_explains() -> None:
    """The traffic from the server is low by the lost member alone: the server's own fault is in the traffic to it."""
    inside = [Sent(*ends, (("out", RATE),)) for ends in (("a1", "a2"), ("a2", "a1"), ("b1", "b2"), ("b2", "b1"))]
    into, out, down = way("st--spine1", "spine1"), way("st--spine1", "st"), way("leaf1--spine1", "spine1")
    found = find(
        close(FABRIC, 1, *inside),
        serve(2, 0.5, 0.5),
        send_to_server(3, "to leaf1", down, {"a1": 0.5, "a2": 0.5}),
        send_to_server(4, "from leaf2", way("leaf2--spine1", "leaf2"), {"b1": 0.6, "b2": 0.6}),
        send_to_server(5, "st in", into, {"a1": 0.3, "a2": 0.3, "b1": 0.3, "b2": 0.3}),
        send_to_server(6, "st out", out, {"a1": 0.5, "a2": 0.5, "b1": 1.0, "b2": 1.0}),
    )
    assert {(each.suspect, each.where) for each in found} == {
        (Suspect.NIC, "st in"),
        (Suspect.LAG, "leaf1 to spine1"),
    }
