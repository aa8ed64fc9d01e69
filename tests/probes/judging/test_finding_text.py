"""The sentences of findings, word for word: one for each kind of cause, and for each thing that may be wrong with it."""

from collections.abc import Mapping, Sequence

import pytest

from benchconsole.probes.judging.attribution import Cause
from benchconsole.probes.judging.components import Component, ComponentKind, Components
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.fault_model import Fault
from benchconsole.probes.judging.finding_text import TIES, make_network_finding, make_unexplained_finding
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.set_cover import LowVerdict
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


Wrong = float | Mapping[str, float]
"""The share that the named component has ``left``, or that of other components by name; 0: lost."""


def find_faults(named: Component, wrong: Wrong) -> tuple[Fault, ...]:
    """The faults of ``wrong``: of links and members, one way where the named component is; lost ones both ways."""
    if not isinstance(wrong, Mapping):
        return (Fault(named, wrong),)
    kinds = {name: MEMBER if "/" in name else ONE_WAY for name in wrong}
    one_way = {name: left > 0 and named.is_one_way for name, left in wrong.items()}
    return tuple(Fault(find((kinds[name][0], one_way[name]), name), left) for name, left in wrong.items())


def word(components: Sequence[Component], wrong: Wrong, seen: tuple[LowVerdict, ...] = TWICE) -> Finding:
    """The finding on components of which each has so much left; or on one, with what else may be wrong in it."""
    faults = tuple(fault for each in components for fault in find_faults(each, wrong))
    return make_network_finding(CONTEXT, Cause(tuple(components), faults, 10.0, None, seen))


LOST_LEGS = {"b1>leaf1": 0, "b1>leaf2": 0}
LOST_MEMBERS = {"leaf1>spine1/1": 0, "leaf1>spine1/2": 0}
SLOW_MEMBERS = {"leaf1>spine1/1": 0.4, "leaf1>spine1/2": 0.4}
LOST_OR_SLOW = {"leaf1>spine1/1": 0, "leaf1>spine1/2": 0.1}
SLOW_OR_LOST = {"leaf1>spine1/1": 0.1, "leaf1>spine1/2": 0}


# -- what is named, and the headline


@pytest.mark.parametrize(
    ("kind", "part", "wrong", "suspect", "element", "where", "what"),
    [
        # one cable
        (ONE_WAY, "s1>tor", 0.3, Suspect.NIC, "s1", "s1 out", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, out only"),
        (ONE_WAY, "tor>s1", 0.3, Suspect.NIC, "s1", "s1 in", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, in only"),
        (BOTH_WAYS, "s1>tor", 0.3, Suspect.NIC, "s1", "s1 NIC", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, in and out"),
        (ONE_WAY, "tor>spine2", 0.5, Suspect.LINK, "tor--spine2", "tor to spine2", "gives 4.00 Gb/s of 8.00 Gb/s, 50 %, this way only"),
        (BOTH_WAYS, "tor>spine2", 0.5, Suspect.LINK, "tor--spine2", "tor to spine2", "gives 4.00 Gb/s of 8.00 Gb/s, 50 %, both ways"),
        # a leg of a bond, and all of them
        (ONE_WAY, "b1>leaf1", 0.3, Suspect.LEG, "b1", "b1 out, leg to leaf1", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, out only"),
        (ONE_WAY, "leaf2>b1", 0.3, Suspect.LEG, "b1", "b1 in, leg to leaf2", "gives 2.40 Gb/s of 8.00 Gb/s, 30 %, in only"),
        (BOTH_WAYS, "b1>leaf1", 0.1, Suspect.LEG, "b1", "b1 NIC, leg to leaf1", "gives 800 Mb/s of 8.00 Gb/s, 10 %, in and out"),
        (LEGS, "b1>leaf1", 0.5, Suspect.NIC, "b1", "b1 out", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, out only, each of its 2 legs alike"),
        (LEGS, "leaf1>b1", 0.3, Suspect.NIC, "b1", "b1 in", "gives 4.80 Gb/s of 16.0 Gb/s, 30 %, in only, each of its 2 legs alike"),
        (LEGS, "leaf1>b1", {"leaf1>b1": 0.3, "leaf2>b1": 0.3}, Suspect.NIC, "b1", "b1 in", "gives 10.4 Gb/s of 16.0 Gb/s, 65 %, in only, as 1.3 of 2 legs would"),
        (BOTH_LEGS, "b1>leaf1", LOST_LEGS, Suspect.NIC, "b1", "b1 NIC", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, in and out, what 1 of 2 legs carries"),
        (BOTH_LEGS, "b1>leaf1", {"b1>leaf1": 0.2, "b1>leaf2": 0}, Suspect.NIC, "b1", "b1 NIC", "gives 9.60 Gb/s of 16.0 Gb/s, 60 %, in and out, as 1.2 of 2 legs would; that 1 of 2 legs carries fits as well"),
        (BOTH_LEGS, "b1>leaf1", 0.45, Suspect.NIC, "b1", "b1 NIC", "gives 7.20 Gb/s of 16.0 Gb/s, 45 %, in and out, each of its 2 legs alike"),
        # a LAG, and a member of one
        (ONE_WAY, "wide>tor", 0.5, Suspect.NIC, "wide", "wide out", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, out only, each of its 2 members alike"),
        (BOTH_WAYS, "wide>tor", {"wide>tor/1": 0}, Suspect.NIC, "wide", "wide NIC", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, in and out, what 1 of 2 members carries"),
        (MEMBER, "wide>tor/2", 0.1, Suspect.MEMBER, "wide", "wide out, member 2 of 2", "gives 800 Mb/s of 8.00 Gb/s, 10 %, out only"),
        (ONE_WAY, "leaf1>spine1", 0.5, Suspect.LAG, "leaf1--spine1", "leaf1 to spine1", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, this way only, each of its 2 members alike"),
        (ONE_WAY, "leaf1>spine1", 0.64, Suspect.LAG, "leaf1--spine1", "leaf1 to spine1", "gives 10.2 Gb/s of 16.0 Gb/s, 64 %, this way only, as 1.3 of 2 members would"),
        (BOTH_WAYS, "leaf1>spine1", LOST_MEMBERS, Suspect.LAG, "leaf1--spine1", "leaf1 to spine1", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, both ways, what 1 of 2 members carries"),
        (BOTH_WAYS, "leaf1>spine1", {"leaf1>spine1": 0.6, "leaf1>spine1/1": 0, "leaf1>spine1/2": 0}, Suspect.LAG, "leaf1--spine1", "leaf1 to spine1", "gives 9.60 Gb/s of 16.0 Gb/s, 60 %, both ways, as 1.2 of 2 members would; that 1 of 2 members carries fits as well"),
        (ONE_WAY, "leaf1>spine1", SLOW_MEMBERS, Suspect.LAG, "leaf1--spine1", "leaf1 to spine1", "gives 11.2 Gb/s of 16.0 Gb/s, 70 %, this way only, as 1.4 of 2 members would"),
        (ONE_WAY, "spine1>leaf1", {"spine1>leaf1/1": 0.4, "spine1>leaf1/2": 0.4}, Suspect.LAG, "leaf1--spine1", "spine1 to leaf1", "gives 11.2 Gb/s of 16.0 Gb/s, 70 %, this way only, as 1.4 of 2 members would"),
        (BOTH_WAYS, "leaf1>spine1", LOST_OR_SLOW, Suspect.LAG, "leaf1--spine1", "leaf1 to spine1", "gives 8.00 Gb/s of 16.0 Gb/s, 50 %, both ways, what 1 of 2 members carries"),
        (BOTH_WAYS, "leaf1>spine1", SLOW_OR_LOST, Suspect.LAG, "leaf1--spine1", "leaf1 to spine1", "gives 8.80 Gb/s of 16.0 Gb/s, 55 %, both ways, what 1 of 2 members carries"),
        (ONE_WAY, "tor>spine1", 0.5, Suspect.LAG, "tor--spine1", "tor to spine1", "gives 16.0 Gb/s of 32.0 Gb/s, 50 %, this way only"),
        (ONE_WAY, "tor>spine1", {"tor>spine1/3": 0.5, "tor>spine1/2": 0.1}, Suspect.LAG, "tor--spine1", "tor to spine1", "gives 24.0 Gb/s of 32.0 Gb/s, 75 %, this way only"),
        (MEMBER, "tor>spine1/3", 0.1, Suspect.MEMBER, "tor--spine1", "tor to spine1, member 3 of 3 (te3 to Eth3)", "gives 1.60 Gb/s of 16.0 Gb/s, 10 %, this way only"),
        (MEMBER, "spine1>tor/2", 0.1, Suspect.MEMBER, "tor--spine1", "spine1 to tor, member 2 of 3 (Eth2 to te2)", "gives 800 Mb/s of 8.00 Gb/s, 10 %, this way only"),
        (BOTH_MEMBERS, "spine1>tor/2", 0.1, Suspect.MEMBER, "tor--spine1", "tor to spine1, member 2 of 3 (te2 to Eth2)", "gives 800 Mb/s of 8.00 Gb/s, 10 %, both ways"),
        (MEMBER, "leaf1>spine1/1", 0.1, Suspect.MEMBER, "leaf1--spine1", "leaf1 to spine1, member 1 of 2", "gives 800 Mb/s of 8.00 Gb/s, 10 %, this way only"),
        # the links of a pair, and a switch
        (PAIR, "leaf1>spine1", 0.5, Suspect.MLAG, "leaf1--spine1", "leaf1 and leaf2 to spine1", "gives 16.0 Gb/s of 32.0 Gb/s, 50 %, this way only, what 2 of 4 members carry"),
        (PAIR, "spine1>leaf1", {"spine1>leaf1": 0.2, "spine1>leaf2": 0.2}, Suspect.MLAG, "leaf1--spine1", "spine1 to leaf1 and leaf2", "gives 19.2 Gb/s of 32.0 Gb/s, 60 %, this way only, as 2.4 of 4 members would"),
        (BOTH_PAIR, "leaf1>spine1", {"leaf1>spine1": 0.5, "leaf2>spine1": 0.5}, Suspect.MLAG, "leaf1--spine1", "leaf1 and leaf2 to spine1", "gives 24.0 Gb/s of 32.0 Gb/s, 75 %, both ways, as 3.0 of 4 members would"),
        (SWITCH, "s1>tor", 0.5, Suspect.SWITCH, "tor", "tor", "gives 40.0 Gb/s of 80.0 Gb/s, 50 %, both ways"),
    ],
)  # fmt: skip
def test_a_component_is_named_with_both_numbers(
    kind: Kind, part: str, wrong: Wrong, suspect: Suspect, element: str, where: str, what: str
) -> None:
    found = word([find(kind, part)], wrong)
    assert (found.suspect, found.element, found.where, found.what) == (suspect, element, where, what)


LOST = {"leaf1>spine1": 0, "leaf2>spine1": 0}


@pytest.mark.parametrize(
    ("kind", "part", "wrong", "carried"),
    [
        (BOTH_WAYS, "leaf1>spine1", 0, 0),  # the LAG is gone, not one of its two members
        (BOTH_PAIR, "leaf1>spine1", LOST, 2),  # one LAG of two is gone, with both of its members
        (BOTH_WAYS, "tor>spine1", {"tor>spine1/1": 0}, 3),  # 8 of 32 Gb/s
        (BOTH_WAYS, "tor>spine1", {"tor>spine1/3": 0}, 2),  # 16 of 32 Gb/s
        (BOTH_LEGS, "b1>leaf1", LOST_LEGS, 1),
        (BOTH_WAYS, "wide>tor", {"wide>tor/1": 0}, 1),
    ],
)
def test_what_is_lost_is_missing_of_what_is_named(kind: Kind, part: str, wrong: Wrong, carried: int) -> None:
    assert word([find(kind, part)], wrong).value == pytest.approx(carried * RATE)


# -- the rest of the sentences


@pytest.mark.parametrize(
    ("kind", "part", "wrong", "cannot_tell"),
    [
        (ONE_WAY, "s1>tor", 0.3, "whether the port of s1, the cable or the port of tor is at fault"),
        (BOTH_WAYS, "s1>tor", 0.3, "whether the port of s1, the cable or the port of tor is at fault"),
        (ONE_WAY, "leaf1>b1", 0.3, "whether the port of b1, the cable or the port of leaf1 is at fault"),
        (BOTH_WAYS, "b1>leaf1", 0, "whether the port of b1, the cable or the port of leaf1 is at fault"),
        (LEGS, "b1>leaf1", 0.5, "whether the ports of b1, their slot or their settings are at fault"),
        (BOTH_LEGS, "b1>leaf1", LOST_LEGS, "which leg (to leaf1 or to leaf2) carries nothing: needs the counters of the bond"),
        (BOTH_LEGS, "b1>leaf1", {"b1>leaf1": 0.2, "b1>leaf2": 0}, "whether one leg (to leaf1 or to leaf2) carries nothing or each gives less: needs the counters of the bond"),
        (ONE_WAY, "wide>tor", 0.5, "whether wide, tor or each cable by itself is at fault"),
        (BOTH_WAYS, "wide>tor", {"wide>tor/1": 0}, "which of the 2 members is down: needs the port counters"),
        (MEMBER, "wide>tor/2", 0.1, "whether the port of wide, the cable or the port of tor is at fault"),
        (ONE_WAY, "leaf1>spine1", 0.5, "whether leaf1, spine1 or each cable by itself is at fault"),
        (BOTH_WAYS, "leaf1>spine1", LOST_MEMBERS, "which of the 2 members is down: needs the port counters"),
        (BOTH_WAYS, "tor>spine1", {"tor>spine1/1": 0}, "which of the 3 members is down: needs the port counters"),
        (ONE_WAY, "leaf1>spine1", SLOW_MEMBERS, "which of the 2 members, and whether it is down or slow: needs the port counters"),
        (BOTH_WAYS, "leaf1>spine1", LOST_OR_SLOW, "which of the 2 members, and whether it is down or slow: needs the port counters"),
        (BOTH_WAYS, "leaf1>spine1", SLOW_OR_LOST, "which of the 2 members, and whether it is down or slow: needs the port counters"),
        (MEMBER, "tor>spine1/1", 0.1, "whether tor, the cable or spine1 is at fault"),
        (ONE_WAY, "tor>spine2", 0.5, "whether tor, the cable or spine2 is at fault"),
        (PAIR, "spine1>leaf1", {"spine1>leaf1": 0.5, "spine1>leaf2": 0.5}, "whether one link (leaf1 to spine1 or leaf2 to spine1) is down or slow, or each gives less: needs the port counters"),
        (SWITCH, "s1>tor", 0.5, "whether the switch is at fault or each link by itself"),
    ],
)  # fmt: skip
def test_it_says_what_stays_open(kind: Kind, part: str, wrong: Wrong, cannot_tell: str) -> None:
    assert word([find(kind, part)], wrong).cannot_tell == cannot_tell


def test_what_is_told_apart_does_not_stay_open() -> None:
    """Both legs are slow alike: that one of them carries nothing is ruled out."""
    found = word([find(LEGS, "b1>leaf1")], 0.3)
    assert found.what.endswith("each of its 2 legs alike")
    assert "whether one leg" not in found.cannot_tell


def test_a_lag_that_is_gone_has_no_member_that_is_left() -> None:
    found = word([find(BOTH_WAYS, "leaf1>spine1")], 0)
    assert "1 of 2 members" not in found.what
    assert "which of the 2 members" not in found.cannot_tell


@pytest.mark.parametrize(
    ("kind", "part", "wrong", "means"),
    [
        (ONE_WAY, "s1>tor", 0.3, "s1 cannot move more than 2.40 Gb/s this way, whoever its partner is"),
        (BOTH_WAYS, "s1>tor", 0.3, "s1 cannot move more than 2.40 Gb/s in its slower direction, whoever its partner is"),
        (ONE_WAY, "leaf1>b1", 0.3, "b1 cannot move more than 2.40 Gb/s over this leg, whoever its partner is"),
        (LEGS, "b1>leaf1", 0.5, "b1 cannot move more than 8.00 Gb/s this way, whoever its partner is"),
        (MEMBER, "wide>tor/2", 0.1, "wide cannot move more than 800 Mb/s over this member, whoever its partner is"),
        (ONE_WAY, "leaf1>spine1", 0.5, "2 nodes below leaf1 get 4.00 Gb/s each over this link when all send at once; one alone may not notice"),
        (ONE_WAY, "spine1>leaf1", 0.5, "2 nodes below leaf1 get 4.00 Gb/s each over this link when all receive at once; one alone may not notice"),
        (BOTH_WAYS, "leaf1>spine1", LOST_MEMBERS, "2 nodes below leaf1 get 4.00 Gb/s each over this link when all send or receive at once; one alone may not notice"),
        (MEMBER, "tor>spine1/1", 0.1, "4 nodes below tor get 200 Mb/s each over this member when all send at once; one alone may not notice"),
        (PAIR, "spine1>leaf1", 0.5, "2 nodes below leaf1 and leaf2 get 8.00 Gb/s each over these links when all receive at once; one alone may not notice"),
        (SWITCH, "s1>tor", 0.5, "4 nodes below tor get less than described"),
    ],
)  # fmt: skip
def test_it_says_what_it_means(kind: Kind, part: str, wrong: Wrong, means: str) -> None:
    assert word([find(kind, part)], wrong).means == means


@pytest.mark.parametrize(
    ("kind", "part", "look"),
    [
        (ONE_WAY, "s1>tor", "speed, duplex, error counters and cable from s1 to tor"),
        (ONE_WAY, "leaf1>b1", "speed, duplex, error counters and cable from b1 to leaf1"),
        (LEGS, "b1>leaf1", "speed, duplex, error counters and cable from b1 to leaf1 and leaf2"),
        (MEMBER, "wide>tor/2", "speed, duplex, error counters and cable from wide to tor"),
        (ONE_WAY, "spine1>leaf1", "port state, error counters, optics and cables from leaf1 to spine1"),
        (PAIR, "spine1>leaf1", "port state, error counters, optics and cables from leaf1 and leaf2 to spine1"),
        (SWITCH, "s1>tor", "tor first: load, errors, configuration"),
    ],
)
def test_it_says_what_to_do(kind: Kind, part: str, look: str) -> None:
    assert word([find(kind, part)], 0.5).do == f"look at {look}, then repeat these tests"


@pytest.mark.parametrize(
    ("kind", "part", "links", "nodes_at", "nodes"),
    [
        (ONE_WAY, "s1>tor", ("s1--tor",), ("s1",), ("s1",)),
        (ONE_WAY, "b1>leaf1", ("b1--leaf1",), ("b1",), ("b1",)),
        (LEGS, "b1>leaf1", ("b1--leaf1", "b1--leaf2"), ("b1",), ("b1",)),
        (MEMBER, "wide>tor/2", ("wide--tor",), ("wide",), ("wide",)),
        (ONE_WAY, "leaf1>spine1", ("leaf1--spine1",), (), ("b1", "b2")),
        (MEMBER, "tor>spine1/3", ("tor--spine1",), (), ("s1", "s2", "s3", "wide")),
        (PAIR, "leaf1>spine1", ("leaf1--spine1", "leaf2--spine1"), (), ("b1", "b2")),
        (SWITCH, "s1>tor", (), (), ("s1", "s2", "s3", "wide")),
    ],
)
def test_it_marks_elements(
    kind: Kind, part: str, links: tuple[str, ...], nodes_at: tuple[str, ...], nodes: tuple[str, ...]
) -> None:
    found = word([find(kind, part)], 0.5)
    assert (found.links, found.nodes_at, found.nodes) == (links, nodes_at, nodes)


@pytest.mark.parametrize(
    ("kind", "part", "wrong", "members_up"),
    [
        (ONE_WAY, "s1>tor", 0.3, None),  # one cable
        (MEMBER, "wide>tor/2", 0.1, None),
        (BOTH_LEGS, "b1>leaf1", LOST_LEGS, None),
        (BOTH_WAYS, "wide>tor", {"wide>tor/1": 0}, 1),
        (BOTH_WAYS, "leaf1>spine1", LOST_MEMBERS, 1),
        (BOTH_WAYS, "leaf1>spine1", LOST_OR_SLOW, 1),
        (BOTH_WAYS, "leaf1>spine1", {"leaf1>spine1/1": 0.11, "leaf1>spine1/2": 0.11}, None),  # slow, not down
        (ONE_WAY, "leaf1>spine1", 0.5, None),  # both are up, and slow alike
        (BOTH_WAYS, "tor>spine1", {"tor>spine1/1": 0}, None),  # mixed speeds
        (BOTH_PAIR, "leaf1>spine1", {"leaf1>spine1": 0.5, "leaf2>spine1": 0.5}, None),
        (SWITCH, "s1>tor", 0.5, None),
    ],
)
def test_it_counts_the_members_that_carry(kind: Kind, part: str, wrong: Wrong, members_up: int | None) -> None:
    assert word([find(kind, part)], wrong).members_up == members_up


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
    assert word([find(kind, part) for part in parts], 0.3, seen).confidence is confidence


def test_a_finding_rests_on_its_verdicts_and_clears_what_else_they_crossed() -> None:
    found = word([find(ONE_WAY, "tor>s3")], 0.3, observe(("b1", "s3", 0.3), ("s1", "s3", 0.3)))
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
    found = word([find(ONE_WAY, "tor>s1")], 0.3, observe(("s1", "s2", 0.3), ("s3", "s1", 0.3)))
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
    seen = observe(("n1", "n2", 0.5), context=context)
    cause = Cause((chosen,), (Fault(chosen, 0.5),), 10.0, None, seen)
    assert make_network_finding(context, cause).means == means


# -- ties


def test_a_tie_that_no_component_holds_says_of_what_it_is_one() -> None:
    """One leg or the other: a comma in their names separates nothing."""
    found = word([find(ONE_WAY, leg) for leg in ("b1>leaf1", "leaf2>b1")], 0.5)
    assert (found.suspect, found.where, found.links) == (Suspect.LEG, "b1 out, leg to leaf1 or b1 in, leg to leaf2", ())
    assert found.cannot_tell == (
        "which of b1 out, leg to leaf1; b1 in, leg to leaf2: no test loaded one of them without the others"
    )


def test_a_tie_without_an_owner_marks_nothing() -> None:
    found = word([find(ONE_WAY, "s1>tor"), find(ONE_WAY, "tor>s2")], 0.3, ONCE)
    assert (found.suspect, found.element, found.where) == (Suspect.NIC, "s1", "s1 out or s2 in")
    assert found.what == "s1>s2: 2.40 Gb/s of 8.00 Gb/s, 30 %"
    assert found.cannot_tell == "which of s1 out, s2 in: no test loaded one of them without the others"
    assert found.means == "one of these 2 gives less than described"
    assert found.do == "test them with other partners, or read their port counters"
    assert (found.links, found.nodes_at, found.members_up) == ((), (), None)


def test_a_tie_of_unlike_components_is_one_of_links() -> None:
    parts = ("s1>tor", "tor>spine1", "spine1>leaf1")
    found = word([find(ONE_WAY, each) for each in parts], 0.3, ONCE)
    assert (found.suspect, found.where) == (Suspect.LINK, "s1 out or tor to spine1 or others")
    assert found.cannot_tell == (
        "which of s1 out, tor to spine1, spine1 to leaf1: no test loaded one of them without the others"
    )
    assert found.means == "one of these 3 gives less than described"


@pytest.mark.parametrize(("more", "end"), [(0, "tor to spine1"), (1, "tor to spine1 and 1 more")])
def test_a_long_tie_is_counted(more: int, end: str) -> None:
    parts = ["s1>tor", "tor>s2", "s3>tor", "b1>leaf1", "leaf2>b2", "tor>spine1", *["wide>tor"] * more]
    assert len(parts) == TIES + more
    found = word([find(ONE_WAY, each) for each in parts], 0.3, ONCE)
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
