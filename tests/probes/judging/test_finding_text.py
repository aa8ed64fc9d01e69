"""The sentences of findings, word for word: one for each kind of cause."""

from collections.abc import Mapping, Sequence

import pytest

from benchconsole.probes.judging.attribution import Cause, LowVerdict
from benchconsole.probes.judging.components import Component, ComponentKind, Components
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import TIES, make_network_finding, make_unexplained_finding
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect
from benchconsole.topology.description.resolve import load_text
from tests.fabrics import METRICS
from tests.probes.judging.named_parts import NamedParts
from tests.probes.judging.rounds import PAIRED, RATE, close, flow

CONTEXT = JudgingContext(load_text(PAIRED, "paired.yaml"), METRICS)
COMPONENTS = Components(CONTEXT.parts)
NAMED = NamedParts(CONTEXT.parts, COMPONENTS)
ONE_WAY = (ComponentKind.LINK, True)
BOTH_WAYS = (ComponentKind.LINK, False)
LEGS, BOTH_LEGS = (ComponentKind.NIC, True), (ComponentKind.NIC, False)
MEMBER, BOTH_MEMBERS = (ComponentKind.MEMBER, True), (ComponentKind.MEMBER, False)
PAIR, BOTH_PAIR = (ComponentKind.UPLINKS, True), (ComponentKind.UPLINKS, False)
SWITCH = (ComponentKind.SWITCH, False)

Kind = tuple[ComponentKind, bool]


def observe(*pairs: tuple[str, str, float], context: JudgingContext = CONTEXT) -> tuple[LowVerdict, ...]:
    """One round for each pair; a number is a share of what one cable carries."""
    rounds = (close(context.fabric, number, flow(*pair)) for number, pair in enumerate(pairs, 1))
    return tuple(
        (verdict, context.flows.read(closed, verdict.metric).find_measured(verdict.evidence))
        for closed in rounds
        for verdict in judge_round(context, closed)
    )


ONCE = observe(("s1", "s2", 0.3))
TWICE = observe(("s1", "s2", 0.3), ("s1", "s3", 0.3))


def find(kind: Kind, part: str) -> Component:
    return NAMED.find(part, kind[0], one_way=kind[1])


def word(
    components: Sequence[Component], carried: Mapping[str, float], seen: tuple[LowVerdict, ...] = TWICE
) -> Finding:
    loads = {NAMED.number(name): share * RATE for name, share in carried.items()}
    return make_network_finding(CONTEXT, COMPONENTS, Cause(tuple(components), loads, seen, (), 1.0))


# -- what is named, and the headline


@pytest.mark.parametrize(
    ("kind", "carried", "suspect", "element", "where", "what"),
    [
        (ONE_WAY, {"s1>tor": 0.3}, Suspect.NIC, "s1", "s1 out", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, out only"),
        (ONE_WAY, {"tor>s1": 0.3}, Suspect.NIC, "s1", "s1 in", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, in only"),
        (BOTH_WAYS, {"tor>s1": 0.3, "s1>tor": 0.5}, Suspect.NIC, "s1", "s1 NIC", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, in and out"),
        (ONE_WAY, {"b1>leaf1": 0.3}, Suspect.LEG, "b1", "b1 out, leg to leaf1", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, out only"),
        (ONE_WAY, {"leaf2>b1": 0.3}, Suspect.LEG, "b1", "b1 in, leg to leaf2", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, in only"),
        (BOTH_WAYS, {"b1>leaf1": 0.3, "leaf1>b1": 0.1}, Suspect.LEG, "b1", "b1 NIC, leg to leaf1", "gives 800 Mb/s of 8.00 Gb/s, 10 %, in and out"),
        (LEGS, {"b1>leaf1": 0.5, "b1>leaf2": 0.5}, Suspect.NIC, "b1", "b1 out", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, out only, what 1 of 2 legs carry"),
        (LEGS, {"leaf1>b1": 0.3, "leaf2>b1": 0.5}, Suspect.NIC, "b1", "b1 in", "gives 6.40 Gb/s of 16.0 Gb/s, 40 %, in only, as 0.8 of 2 legs would"),
        (BOTH_LEGS, {"b1>leaf1": 0.5, "b1>leaf2": 0.5, "leaf1>b1": 0.4, "leaf2>b1": 0.5}, Suspect.NIC, "b1", "b1 NIC", "gives 7.20 Gb/s of 16.0 Gb/s, 45 %, in and out, what 1 of 2 legs carry"),
        (ONE_WAY, {"wide>tor": 1.0}, Suspect.NIC, "wide", "wide out", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, out only, what 1 of 2 members carry"),
        (MEMBER, {"wide>tor/2": 0.1}, Suspect.MEMBER, "wide", "wide out, member 2 of 2", "gives 800 Mb/s of 8.00 Gb/s, 10 %, out only"),
        (ONE_WAY, {"leaf1>spine1": 1.0}, Suspect.LAG, "leaf1--spine1", "leaf1 to spine1", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, this way only, what 1 of 2 members carry"),
        (ONE_WAY, {"spine1>leaf1": 1.4}, Suspect.LAG, "leaf1--spine1", "spine1 to leaf1", "gives 11.2 Gb/s of 16.0 Gb/s, 70 %, this way only, as 1.4 of 2 members would"),
        (BOTH_WAYS, {"leaf1>spine1": 1.1, "spine1>leaf1": 1.2}, Suspect.LAG, "leaf1--spine1", "leaf1 to spine1", "gives 8.80 Gb/s of 16.0 Gb/s, 55 %, both ways, what 1 of 2 members carry"),
        (ONE_WAY, {"tor>spine1": 2.0}, Suspect.LAG, "tor--spine1", "tor to spine1", "gives 16.0 Gb/s of 32.0 Gb/s, 50 %, this way only"),
        (MEMBER, {"tor>spine1/3": 0.2}, Suspect.MEMBER, "tor--spine1", "tor to spine1, member 3 of 3 (te3 to Eth3)", "gives 1.60 Gb/s of 16.0 Gb/s, 10 %, this way only"),
        (MEMBER, {"spine1>tor/2": 0.1}, Suspect.MEMBER, "tor--spine1", "spine1 to tor, member 2 of 3 (Eth2 to te2)", "gives 800 Mb/s of 8.00 Gb/s, 10 %, this way only"),
        (BOTH_MEMBERS, {"spine1>tor/2": 0.1, "tor>spine1/2": 0.2}, Suspect.MEMBER, "tor--spine1", "tor to spine1, member 2 of 3 (te2 to Eth2)", "gives 800 Mb/s of 8.00 Gb/s, 10 %, both ways"),
        (MEMBER, {"leaf1>spine1/1": 0.1}, Suspect.MEMBER, "leaf1--spine1", "leaf1 to spine1, member 1 of 2", "gives 800 Mb/s of 8.00 Gb/s, 10 %, this way only"),
        (PAIR, {"leaf1>spine1": 1, "leaf2>spine1": 1}, Suspect.MLAG, "leaf1--spine1", "leaf1 and leaf2 to spine1", "gives 16.0 Gb/s of 32.0 Gb/s, 50 %, this way only, what 2 of 4 members carry"),
        (PAIR, {"spine1>leaf1": 1, "spine1>leaf2": 1.3}, Suspect.MLAG, "leaf1--spine1", "spine1 to leaf1 and leaf2", "gives 18.4 Gb/s of 32.0 Gb/s, 57 %, this way only, as 2.3 of 4 members would"),
        (BOTH_PAIR, {"leaf1>spine1": 1, "leaf2>spine1": 1, "spine1>leaf1": 2, "spine1>leaf2": 2}, Suspect.MLAG, "leaf1--spine1", "leaf1 and leaf2 to spine1", "gives 16.0 Gb/s of 32.0 Gb/s, 50 %, both ways, what 2 of 4 members carry"),
        (ONE_WAY, {"tor>spine2": 0.5}, Suspect.LINK, "tor--spine2", "tor to spine2", "gives 4.00 Gb/s of 8.00 Gb/s, 50 %, this way only"),
        (SWITCH, {"s1>tor": 0.5, "tor>s1": 0.5, "s2>tor": 0.5, "tor>s2": 0.4}, Suspect.SWITCH, "tor", "tor", "gives 15.2 Gb/s of 32.0 Gb/s, 48 %, both ways"),
    ],
)  # fmt: skip
def test_a_component_is_named_with_both_numbers(
    kind: Kind, carried: dict[str, float], suspect: Suspect, element: str, where: str, what: str
) -> None:
    found = word([find(kind, next(iter(carried)))], carried)
    assert (found.suspect, found.element, found.where, found.what) == (suspect, element, where, what)


# -- the rest of the sentences


@pytest.mark.parametrize(
    ("kind", "carried", "cannot_tell", "means", "do"),
    [
        (
            ONE_WAY, {"s1>tor": 0.3},
            "whether the port of s1, the cable or the port of tor is at fault",
            "s1 cannot move more than 2.40 Gb/s this way, whoever its partner is",
            "look at speed, duplex, error counters and cable from s1 to tor, then repeat these tests",
        ),
        (
            BOTH_WAYS, {"s1>tor": 0.3, "tor>s1": 0.5},
            "whether the port of s1, the cable or the port of tor is at fault",
            "s1 cannot move more than 2.40 Gb/s in its slower direction, whoever its partner is",
            "look at speed, duplex, error counters and cable from s1 to tor, then repeat these tests",
        ),
        (
            ONE_WAY, {"leaf1>b1": 0.3},
            "whether the port of b1, the cable or the port of leaf1 is at fault",
            "b1 cannot move more than 2.40 Gb/s over this leg, whoever its partner is",
            "look at speed, duplex, error counters and cable from b1 to leaf1, then repeat these tests",
        ),
        (
            LEGS, {"b1>leaf1": 0.5, "b1>leaf2": 0.5},
            "whether one leg (to leaf1 or to leaf2) carries nothing or each gives less: needs the counters of the bond",
            "b1 cannot move more than 8.00 Gb/s this way, whoever its partner is",
            "look at speed, duplex, error counters and cable from b1 to leaf1 and leaf2, then repeat these tests",
        ),
        (
            ONE_WAY, {"wide>tor": 1.0},
            "which of the 2 members, and whether it is down or slow: needs the port counters",
            "wide cannot move more than 8.00 Gb/s this way, whoever its partner is",
            "look at speed, duplex, error counters and cable from wide to tor, then repeat these tests",
        ),
        (
            MEMBER, {"wide>tor/2": 0.1},
            "whether the port of wide, the cable or the port of tor is at fault",
            "wide cannot move more than 800 Mb/s over this member, whoever its partner is",
            "look at speed, duplex, error counters and cable from wide to tor, then repeat these tests",
        ),
        (
            ONE_WAY, {"leaf1>spine1": 1.0},
            "which of the 2 members, and whether it is down or slow: needs the port counters",
            "2 nodes below leaf1 get 4.00 Gb/s each over this link when all send at once; one alone may not notice",
            "look at port state, error counters, optics and cables from leaf1 to spine1, then repeat these tests",
        ),
        (
            ONE_WAY, {"spine1>leaf1": 1.0},
            "which of the 2 members, and whether it is down or slow: needs the port counters",
            "2 nodes below leaf1 get 4.00 Gb/s each over this link when all receive at once; one alone may not notice",
            "look at port state, error counters, optics and cables from leaf1 to spine1, then repeat these tests",
        ),
        (
            BOTH_WAYS, {"leaf1>spine1": 1.0, "spine1>leaf1": 1.0},
            "which of the 2 members, and whether it is down or slow: needs the port counters",
            ("2 nodes below leaf1 get 4.00 Gb/s each over this link when all send or receive at once; "
             "one alone may not notice"),
            "look at port state, error counters, optics and cables from leaf1 to spine1, then repeat these tests",
        ),
        (
            MEMBER, {"tor>spine1/1": 0.1},
            "whether tor, the cable or spine1 is at fault",
            "4 nodes below tor get 200 Mb/s each over this member when all send at once; one alone may not notice",
            "look at port state, error counters, optics and cables from tor to spine1, then repeat these tests",
        ),
        (
            PAIR, {"spine1>leaf1": 1, "spine1>leaf2": 1},
            ("whether one link (leaf1 to spine1 or leaf2 to spine1) is down or slow, or each gives less: "
             "needs the port counters"),
            ("2 nodes below leaf1 and leaf2 get 8.00 Gb/s each over these links when all receive at once; "
             "one alone may not notice"),
            ("look at port state, error counters, optics and cables from leaf1 and leaf2 to spine1, "
             "then repeat these tests"),
        ),
        (
            SWITCH, {"s1>tor": 0.5, "tor>s1": 0.5, "s2>tor": 0.5, "tor>s2": 0.4},
            "whether the switch is at fault or each link by itself",
            "4 nodes below tor get less than described",
            "look at tor first: load, errors, configuration, then repeat these tests",
        ),
    ],
)  # fmt: skip
def test_it_says_what_stays_open_what_it_means_and_what_to_do(
    kind: Kind, carried: dict[str, float], cannot_tell: str, means: str, do: str
) -> None:
    found = word([find(kind, next(iter(carried)))], carried)
    assert (found.cannot_tell, found.means, found.do) == (cannot_tell, means, do)


@pytest.mark.parametrize(
    ("kind", "carried", "members_up", "links", "nodes_at", "nodes"),
    [
        (ONE_WAY, {"s1>tor": 0.3}, None, ("s1--tor",), ("s1",), ("s1",)),
        (ONE_WAY, {"b1>leaf1": 0.3}, None, ("b1--leaf1",), ("b1",), ("b1",)),
        (LEGS, {"b1>leaf1": 0.5, "b1>leaf2": 0.5}, None, ("b1--leaf1", "b1--leaf2"), ("b1",), ("b1",)),
        (ONE_WAY, {"wide>tor": 1.0}, 1, ("wide--tor",), ("wide",), ("wide",)),
        (MEMBER, {"wide>tor/2": 0.1}, None, ("wide--tor",), ("wide",), ("wide",)),
        (ONE_WAY, {"leaf1>spine1": 1.11}, 1, ("leaf1--spine1",), (), ("b1", "b2")),  # less than .12 of a member apart
        (ONE_WAY, {"leaf1>spine1": 1.13}, None, ("leaf1--spine1",), (), ("b1", "b2")),
        (ONE_WAY, {"tor>spine1": 4 / 3}, None, ("tor--spine1",), (), ("s1", "s2", "s3", "wide")),  # mixed speeds
        (MEMBER, {"tor>spine1/3": 0.2}, None, ("tor--spine1",), (), ("s1", "s2", "s3", "wide")),
        (PAIR, {"leaf1>spine1": 1, "leaf2>spine1": 1}, None, ("leaf1--spine1", "leaf2--spine1"), (), ("b1", "b2")),
        (SWITCH, {"s1>tor": 0.5}, None, (), (), ("s1", "s2", "s3", "wide")),
    ],
)
def test_it_marks_elements(
    kind: Kind,
    carried: dict[str, float],
    members_up: int | None,
    links: tuple[str, ...],
    nodes_at: tuple[str, ...],
    nodes: tuple[str, ...],
) -> None:
    found = word([find(kind, next(iter(carried)))], carried)
    assert (found.members_up, found.links, found.nodes_at, found.nodes) == (members_up, links, nodes_at, nodes)


@pytest.mark.parametrize(
    ("parts", "kind", "seen", "confidence"),
    [
        (["s1>tor"], ONE_WAY, ONCE, Confidence.LIKELY),
        (["s1>tor"], ONE_WAY, TWICE, Confidence.CERTAIN),
        (["b1>leaf1", "b1>leaf2"], ONE_WAY, ONCE, Confidence.POSSIBLE),
        (["b1>leaf1", "b1>leaf2"], ONE_WAY, TWICE, Confidence.POSSIBLE),
        (["s1>tor", "tor>s2"], ONE_WAY, TWICE, Confidence.POSSIBLE),
        (["s1>tor"], ONE_WAY, (*ONCE, *ONCE), Confidence.LIKELY),  # the same observation twice
    ],
)
def test_confidence_grows_with_observations_and_not_with_ties(
    parts: list[str], kind: Kind, seen: tuple[LowVerdict, ...], confidence: Confidence
) -> None:
    assert word([find(kind, part) for part in parts], dict.fromkeys(parts, 0.3), seen).confidence is confidence


def test_a_finding_rests_on_its_verdicts_and_clears_what_else_they_crossed() -> None:
    found = word([find(ONE_WAY, "tor>s3")], {"tor>s3": 0.3}, observe(("b1", "s3", 0.3), ("s1", "s3", 0.3)))
    assert found.because == (
        "round 1, b1>s3: 2.40 Gb/s of 8.00 Gb/s, 30 %",
        "round 2, s1>s3: 2.40 Gb/s of 8.00 Gb/s, 30 %",
    )
    assert found.rules_out == (
        (
            "the NICs of b1,s1, leaf1 to spine1, leaf2 to spine1, spine1 to tor: "
            "carried more in other rounds, or too little of what is missing"
        ),
    )
    assert (found.value, found.expected, found.level) == (0.3 * RATE, RATE, Level.FAIL)
    assert found.tests == ("1/0", "2/0")


def test_a_finding_on_one_way_of_a_nic_does_not_clear_that_nic() -> None:
    found = word([find(ONE_WAY, "tor>s1")], {"tor>s1": 0.3}, observe(("s1", "s2", 0.3), ("s3", "s1", 0.3)))
    assert found.rules_out == ("the NICs of s[2-3]: carried more in other rounds, or too little of what is missing",)


# -- few nodes below


SMALL = """\
schema: 1
fabric: few
networks: {flat: {goodput: 100 %}}
switches: {"spine[1-2]": {role: spine}, leaf: {role: leaf}}
nodes: {n1: {}, n2: {}}
links:
  - {from: n1, to: leaf, speed: 8 Gb/s, network: flat}
  - {from: n2, to: spine2, speed: 8 Gb/s, network: flat}
  - {from: leaf, to: spine1, speed: 8 Gb/s, network: flat}
  - {from: spine1, to: spine2, speed: 8 Gb/s, network: flat}
"""


@pytest.mark.parametrize(
    ("part", "kind", "means"),
    [
        ("leaf>spine1", ONE_WAY, "1 node below leaf gets 4.00 Gb/s over this link at most"),
        ("spine1>spine2", ONE_WAY, "1 node below spine1 gets 4.00 Gb/s over this link at most"),
        ("spine2>spine1", SWITCH, "1 node below spine1 gets less than described"),
    ],
)
def test_one_node_is_no_many(part: str, kind: Kind, means: str) -> None:
    context = JudgingContext(load_text(SMALL, "few.yaml"), METRICS)
    components = Components(context.parts)
    named = NamedParts(context.parts, components)
    chosen = next(
        each
        for each in components.holding(named.number(part))
        if (each.kind, each.is_one_way) == kind and (each.device == "spine1" or kind is ONE_WAY)
    )
    cause = Cause((chosen,), {min(chosen.parts): 0.5 * RATE}, observe(("n1", "n2", 0.5), context=context), (), 1.0)
    assert make_network_finding(context, components, cause).means == means


# -- ties


def test_a_tie_of_the_legs_of_a_node_is_one_finding_on_its_nic() -> None:
    found = word([find(ONE_WAY, leg) for leg in ("b1>leaf1", "b1>leaf2")], {"b1>leaf1": 0.5, "b1>leaf2": 0.5})
    assert (found.suspect, found.where, found.links) == (Suspect.NIC, "b1 out", ("b1--leaf1", "b1--leaf2"))
    assert found.what == "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, out only, what 1 of 2 legs carry"
    assert found.cannot_tell == (
        "which of b1 out, leg to leaf1; b1 out, leg to leaf2: no test loaded one of them without the others"
    )


def test_a_tie_of_the_members_of_a_lag_is_one_finding_on_it() -> None:
    parts = ("leaf1>spine1/1", "leaf1>spine1/2")
    found = word([find(MEMBER, each) for each in parts], {**dict.fromkeys(parts, 0.5), "leaf1>spine1": 1.0})
    assert (found.suspect, found.where, found.members_up) == (Suspect.LAG, "leaf1 to spine1", 1)
    assert found.cannot_tell == (
        "which of leaf1 to spine1, member 1 of 2; leaf1 to spine1, member 2 of 2: "
        "no test loaded one of them without the others"
    )


def test_a_tie_of_the_links_of_a_pair_is_one_finding_on_it() -> None:
    parts = ("leaf1>spine1", "leaf2>spine1")
    found = word([find(ONE_WAY, each) for each in parts], dict.fromkeys(parts, 1.0))
    assert (found.suspect, found.where, found.confidence) == (
        Suspect.MLAG,
        "leaf1 and leaf2 to spine1",
        Confidence.POSSIBLE,
    )
    assert found.cannot_tell == (
        "which of leaf1 to spine1, leaf2 to spine1: no test loaded one of them without the others"
    )


def test_a_tie_without_an_owner_marks_nothing() -> None:
    found = word([find(ONE_WAY, "s1>tor"), find(ONE_WAY, "tor>s2")], {"s1>tor": 0.3, "tor>s2": 0.3}, ONCE)
    assert (found.suspect, found.element, found.where) == (Suspect.NIC, "s1", "s1 out or s2 in")
    assert found.what == "s1>s2: 2.40 Gb/s of 8.00 Gb/s, 30 %"
    assert found.cannot_tell == "which of s1 out, s2 in: no test loaded one of them without the others"
    assert found.means == "one of these 2 gives less than described"
    assert found.do == "test them with other partners, or read their port counters"
    assert (found.links, found.nodes_at, found.members_up) == ((), (), None)


def test_a_tie_of_unlike_components_is_one_of_links() -> None:
    parts = ("s1>tor", "tor>spine1", "spine1>leaf1")
    found = word([find(ONE_WAY, each) for each in parts], dict.fromkeys(parts, 0.3), ONCE)
    assert (found.suspect, found.where) == (Suspect.LINK, "s1 out or tor to spine1 or others")
    assert found.cannot_tell == (
        "which of s1 out, tor to spine1, spine1 to leaf1: no test loaded one of them without the others"
    )
    assert found.means == "one of these 3 gives less than described"


@pytest.mark.parametrize(("more", "end"), [(0, "tor to spine1"), (1, "tor to spine1 and 1 more")])
def test_a_long_tie_is_counted(more: int, end: str) -> None:
    parts = ["s1>tor", "tor>s2", "s3>tor", "b1>leaf1", "leaf2>b2", "tor>spine1", *["wide>tor"] * more]
    assert len(parts) == TIES + more
    found = word([find(ONE_WAY, each) for each in parts], dict.fromkeys(parts, 0.3), ONCE)
    assert found.cannot_tell.endswith(f"{end}: no test loaded one of them without the others")


def test_what_no_link_explains_says_so() -> None:
    found = make_unexplained_finding(TWICE)
    assert (found.suspect, found.where, found.confidence) == (Suspect.FABRIC, "s1>s2", Confidence.POSSIBLE)
    assert found.what == "s1>s2: 2.40 Gb/s of 8.00 Gb/s, 30 %; no single link explains it"
    assert found.cannot_tell == (
        "the cause: every link on the way was full, carried more in another round, or lost too little"
    )
    assert found.means == "something disturbed this round, or load from elsewhere shared its links"
    assert found.do == "repeat it, and see whether it stays"
    assert (found.links, found.nodes_at, found.nodes) == ((), (), ("s1", "s2", "s3"))
