"""Which faults fit the flows of a session best, which fit alike, and how those are told."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from benchconsole.probes.judging.attribution import LOWERED
from benchconsole.probes.judging.components import Component, ComponentKind
from benchconsole.probes.judging.fault_fit import (
    ALIKE,
    NEEDED,
    NEEDED_BESIDE,
    FaultFit,
    FittedCause,
    allow_misfit,
    name_components,
)
from benchconsole.probes.judging.fault_model import Fault, FaultModel
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.probes.judging.lags import load_lag, many
from tests.probes.judging.rounds import PAIRED, RATE, Sent, close, flow, star, steer
from tests.probes.judging.sessions import Session

LINK, NIC, MEMBER, PAIR = ComponentKind.LINK, ComponentKind.NIC, ComponentKind.MEMBER, ComponentKind.UPLINKS


def run(described: Fabric, *sent: Sequence[Sent]) -> Session:
    return Session(described, *(close(described, number, *each) for number, each in enumerate(sent, 1)))


def find(session: Session, part: str, *, one_way: bool = True, kind: ComponentKind | None = None) -> Component:
    return session.named.find(part, kind or (MEMBER if "/" in part else LINK), one_way=one_way)


def fit(session: Session, *proposed: Sequence[str], needed: float = NEEDED) -> tuple[FaultFit, list[FittedCause]]:
    """The fitted causes, where each is proposed as the components of parts, with the slow flows over the first part."""
    made = FaultFit(FaultModel(session.evidence), session.components)
    table = session.evidence.flows
    for parts in proposed:
        over = session.evidence.find_over([session.named.number(parts[0])])
        low = over[table.value[over] < 0.8 * table.expected[over]]
        made.add([find(session, part) for part in parts], low, needed)
    return made, made.fit()


def tell(session: Session, fitted: Sequence[FittedCause]) -> dict[str, list[float]]:
    """How much is left of each, by its name; what fits alike with `` or `` between."""
    return {
        " or ".join(sorted(session.where(fault.component) for fault in each.faults)): [
            round(fault.left, 3) for fault in each.faults
        ]
        for each in fitted
    }


# -- what fits best


def test_a_slow_nic_is_found_with_what_it_has_left() -> None:
    session = run(star(), *([flow("n1", f"n{number}", 0.4), flow("n2", "n6", 1.0)] for number in (3, 4, 5)))
    made, fitted = fit(session, ["n1>leaf"])
    assert tell(session, fitted) == {"n1 out": [0.4]}
    assert fitted[0].gain == pytest.approx(sum(FaultModel(session.evidence).weigh(each) for each in fitted[0].faults))
    assert (made.model.rates[session.evidence.find_over([session.named.number("n1>leaf")])] / RATE).tolist() == [
        0.4
    ] * 3


def test_ends_with_the_same_evidence_are_a_tie() -> None:
    session = run(star(), [flow("n1", "n2", 0.5)])
    _, fitted = fit(session, ["n1>leaf", "leaf>n2"])
    assert tell(session, fitted) == {"n1 out or n2 in": [0.5, 0.5]}


@pytest.mark.parametrize("rate", [1.0, 1.3])
def test_a_small_misfit_of_one_flow_settles_no_tie(rate: float) -> None:
    """b1 and b2 are slow to each other over either switch of their pair; what b1 sends is a little slower still."""
    described = load_text(PAIRED, "paired.yaml")
    session = run(
        described,
        [Sent("b1", "b2", (("out", rate * RATE),))],
        [Sent("b2", "b1", (("out", 1.5 * RATE),))],
        [Sent("b1", "s1", (("out", 0.75 * RATE),))],
    )
    made = FaultFit(FaultModel(session.evidence), session.components)
    switch = ComponentKind.SWITCH
    made.add(
        [find(session, f"{leaf}>b1", one_way=False, kind=switch) for leaf in ("leaf1", "leaf2")], np.array([0, 1]), 0
    )
    made.add([find(session, f"b1>{leaf}") for leaf in ("leaf1", "leaf2")], np.array([0]), 0)
    (tie,) = made.fit()
    assert len(tie.faults) == 8
    assert 0 < tie.gain < NEEDED_BESIDE


@pytest.mark.parametrize("other", [0.5, 0.6, 0.7, 0.8, 0.95, 1.0])
def test_faults_are_alike_up_to_the_bound(other: float) -> None:
    """The more n2 receives from n3, the less likely it is that it slows n1."""
    session = run(star(), [flow("n1", "n2", 0.5)], [flow("n3", "n2", other)])
    _, fitted = fit(session, ["n1>leaf", "leaf>n2"])
    model = FaultModel(session.evidence)
    sending = model.weigh(Fault(find(session, "n1>leaf"), 0.5))
    receiving = max(model.weigh(Fault(find(session, "leaf>n2"), left / 1000)) for left in range(450, 1000))
    assert abs(receiving - sending) < ALIKE - 0.1 or abs(receiving - sending) > ALIKE + 0.1  # not just at the bound
    names = [
        name
        for name, is_in in (("n1 out", sending > receiving - ALIKE), ("n2 in", receiving > sending - ALIKE))
        if is_in
    ]
    assert list(tell(session, fitted)) == [" or ".join(names)]


def test_an_end_that_is_fast_with_others_is_no_cause() -> None:
    session = run(star(), [flow("n1", "n2", 0.5)], [flow("n3", "n2", 1.0)], [flow("n4", "n2", 1.0)])
    _, fitted = fit(session, ["leaf>n2"])
    assert fitted == []


@pytest.mark.parametrize(("more", "found"), [(-1e-6, 1), (0.0, 0), (1e-6, 0)])
def test_a_cause_adds_more_than_is_needed(more: float, found: int) -> None:
    session = run(star(), [flow("n1", "n2", 0.5)])
    _, fitted = fit(session, ["n1>leaf"])
    assert len(fit(session, ["n1>leaf"], needed=fitted[0].gain + more)[1]) == found


def test_two_faults_on_one_way_are_both_found() -> None:
    session = run(
        star(),
        *([flow("n1", f"n{number}", 0.6)] for number in (3, 4, 5)),
        *([flow(f"n{number}", "n2", 0.3)] for number in (3, 4, 5)),
        [flow("n1", "n2", 0.3)],
    )
    _, fitted = fit(session, ["n1>leaf"], ["leaf>n2"])
    assert tell(session, fitted) == {"n1 out": [0.6], "n2 in": [0.3]}


def test_one_fault_is_not_found_twice() -> None:
    """Both proposals speak of what n1 slows: with the first nothing is left for the second."""
    session = run(star(), *([flow("n1", f"n{number}", 0.5)] for number in (2, 3, 4)))
    _, fitted = fit(session, ["n1>leaf"], ["leaf>n2"])
    assert tell(session, fitted) == {"n1 out": [0.5]}


# -- members


def test_a_slow_member_is_told_from_a_lost_one() -> None:
    """Streams that are steered over it get 0.3, also alone: of a lost member they would go elsewhere."""
    sent = (
        [steer("a1", "b1", 1.0, 0), steer("a2", "b2", 0.3, 1)],
        [steer("a3", "b3", 0.3, 1)],
        [steer("a4", "b1", 1.0, 0)],
    )
    session = run(load_lag(2), *sent, [steer("a1", "b4", 0.3, 1)], [steer("a3", "b2", 1.0, 0)])
    _, fitted = fit(session, ["leaf1>leaf2/2"])
    assert tell(session, fitted) == {"leaf1 to leaf2, member 2 of 2": [0.3]}


def test_a_lost_member_is_told_from_a_slow_lag() -> None:
    """Two flows on both members have half of what they should: one alone has all, on whichever it was put."""
    pairs = [("a1", "b1"), ("a2", "b2"), ("a3", "b3"), ("a4", "b4")]
    both = [[steer(*pairs[place], 0.5, 0), steer(*pairs[place - 1], 0.5, 1)] for place in range(4)]
    alone = [[steer("a1", f"b{place + 2}", 1.0, place % 2)] for place in range(3)]
    session = run(load_lag(2), *both, *alone)
    _, fitted = fit(session, ["leaf1>leaf2"])
    assert [fault.is_lost for fault in fitted[0].faults] == [True, True]
    assert list(tell(session, fitted)) == ["leaf1 to leaf2, member 1 of 2 or leaf1 to leaf2, member 2 of 2"]
    (named,) = name_components(session.parts, session.components, fitted[0].faults)
    assert named is find(session, "leaf1>leaf2", one_way=False)


def test_a_slow_lag_is_told_from_a_lost_member() -> None:
    """One flow alone has half of what it should, on whichever member it was put."""
    alone = [[steer("a1", f"b{place + 1}", 0.5, place % 2)] for place in range(4)]
    alone += [[flow("a1", "a2", 1.0)], [flow("a1", "a3", 1.0)]]
    session = run(load_lag(2), *alone)
    _, fitted = fit(session, ["leaf1>leaf2"])
    assert tell(session, fitted) == {"leaf1 to leaf2": [0.5]}


def test_a_lost_leg_comes_before_a_slow_nic_that_fits_as_well() -> None:
    """Both are half of 2, and no flow that divides tells them apart."""
    session = run(load_text(PAIRED, "paired.yaml"), [many("b1", "b2", 1.0)], [many("b1", "wide", 1.0)])
    _, fitted = fit(session, ["b1>leaf1", "b1>leaf2"])
    (cause,) = fitted
    assert cause.faults[0].is_lost
    (named,) = name_components(session.parts, session.components, cause.faults)
    assert named is find(session, "b1>leaf1", kind=NIC, one_way=False)


# -- both ways of one NIC


@pytest.mark.parametrize(("inward", "names"), [(0.5, ["n1 NIC"]), (0.49, ["n1 NIC"]), (0.2, ["n1 in", "n1 out"])])
def test_causes_out_and_in_of_a_nic_are_one_where_one_share_fits_both(inward: float, names: list[str]) -> None:
    nodes = ("n2", "n3", "n4")
    well = [[flow("n2", "n3", 1.0), flow("n3", "n4", 1.0), flow("n4", "n2", 1.0)]]
    out, into = [[flow("n1", each, 0.5)] for each in nodes], [[flow(each, "n1", inward)] for each in nodes]
    session = run(star(), *out, *into, *well)
    _, fitted = fit(session, ["n1>leaf"], ["leaf>n1"])
    assert sorted(tell(session, fitted)) == names


@pytest.mark.parametrize(
    ("out", "into", "names"),
    [
        (0.97, 1.59, ["leaf1 to leaf2 or leaf1 to leaf2, member 1 of 2 or leaf1 to leaf2, member 2 of 2"]),
        (0.47, 1.55, ["leaf1 to leaf2", "leaf2 to leaf1"]),
    ],
)
def test_causes_out_and_in_of_a_lag_are_one_where_a_lost_member_fits_both(
    out: float, into: float, names: list[str]
) -> None:
    session = run(load_lag(2), [many("fat1", "fat2", out)], [many("fat2", "fat1", into)])
    _, fitted = fit(session, ["leaf1>leaf2"], ["leaf2>leaf1"])
    assert sorted(tell(session, fitted)) == names
    assert any(fault.is_lost for each in fitted for fault in each.faults) is (len(names) == 1)


def test_causes_out_and_in_of_a_member_are_one_slow_cable() -> None:
    out = [[steer(f"a{place}", f"b{place}", 0.3, 1)] for place in (1, 2, 3)]
    into = [[steer(f"b{place}", f"a{place}", 0.3, 1)] for place in (1, 2, 3)]
    well = [[steer(f"a{place}", f"b{place}", 1.0, 0), steer(f"b{place}", f"a{place}", 1.0, 0)] for place in (1, 2)]
    session = run(load_lag(2), *out, *into, *well)
    _, fitted = fit(session, ["leaf1>leaf2/2"], ["leaf2>leaf1/2"])
    assert tell(session, fitted) == {"leaf1 to leaf2, member 2 of 2": [0.3]}
    assert len(fitted[0].faults[0].component.parts) == 2


@pytest.mark.parametrize(("left", "flows", "rounds", "allowed"), [(0.5, 40, 4, 1), (0, 40, 4, 10), (0, 4, 4, 1)])
def test_a_lost_cable_may_fit_worse_by_as_much_as_the_flows_of_a_round_have_in_common(
    left: float, flows: int, rounds: int, allowed: float
) -> None:
    session = run(load_lag(2), [many("fat1", "fat2", 1.0)])
    fault = Fault(find(session, "leaf1>leaf2/1", one_way=False), left)
    assert allow_misfit(fault, flows, rounds) == allowed * ALIKE


def test_a_nic_is_not_named_for_the_way_that_is_sound() -> None:
    session = run(star(), *([flow("n1", f"n{each}", 0.5), flow(f"n{each}", "n1", 1.0)] for each in (2, 3, 4)))
    _, fitted = fit(session, ["n1>leaf"])
    assert tell(session, fitted) == {"n1 out": [0.5]}


# -- noise


@pytest.mark.parametrize("seed", range(5))
def test_a_healthy_session_with_noise_has_no_fault_that_lowers_a_rate(seed: int) -> None:
    """Whoever is proposed: what chance takes from some flows it gives to others."""
    chance = random.Random(seed)
    nodes = [f"n{number}" for number in range(1, 9)]
    sent = [
        [flow(source, nodes[(place + step) % 8], chance.gauss(1.0, 0.03)) for place, source in enumerate(nodes)]
        for step in (1, 2, 3, 4)
    ]
    session = run(star(), *sent)
    made = FaultFit(FaultModel(session.evidence), session.components)
    for node in nodes:
        over = session.evidence.find_over([session.named.number(f"{node}>leaf")])
        made.add([find(session, f"{node}>leaf")], over, NEEDED)
    made.fit()
    assert (made.model.rates >= LOWERED * session.evidence.flows.expected * (1 - 1e-9)).all()


@pytest.mark.parametrize("seed", range(5))
def test_noise_hides_no_fault_and_adds_none(seed: int) -> None:
    chance = random.Random(seed)
    nodes = [f"n{number}" for number in range(1, 9)]
    sent = [
        [
            flow(source, nodes[(place + step) % 8], (0.5 if source == "n3" else 1.0) * chance.gauss(1.0, 0.03))
            for place, source in enumerate(nodes)
        ]
        for step in (1, 2, 3, 4)
    ]
    session = run(star(), *sent)
    _, fitted = fit(session, ["n3>leaf"], ["leaf>n4"])
    assert list(tell(session, fitted)) == ["n3 out"]
    assert fitted[0].faults[0].left == pytest.approx(0.5, abs=0.03)


def test_what_was_looked_at_is_all_that_was_tried() -> None:
    """Also what a loss falls on: a flow there tells of the fault."""
    session = run(load_lag(2), [steer("a1", "b1", 0.5, 0), steer("a2", "b2", 0.5, 1)])
    made, _ = fit(session, ["leaf1>leaf2/1"])
    assert {session.named.number(f"leaf1>leaf2{member}") for member in ("", "/1", "/2")} <= made.looked_at
    assert session.named.number("a4>leaf1") not in made.looked_at


# -- how faults are told


@pytest.mark.parametrize(
    ("faults", "named"),
    [
        ([("leaf1>spine1/1", MEMBER, 0.3)], [("leaf1>spine1/1", MEMBER, True)]),
        ([("leaf1>spine1/1", MEMBER, 0.3), ("leaf1>spine1/2", MEMBER, 0.3)], [("leaf1>spine1", LINK, True)]),
        ([("leaf1>spine1/1", MEMBER, 0)], [("leaf1>spine1", LINK, False)]),  # its number is not known
        ([("leaf1>spine1/1", MEMBER, 0), ("leaf1>spine1/2", MEMBER, 0)], [("leaf1>spine1", LINK, False)]),
        ([("leaf1>spine1/1", MEMBER, 0), ("leaf1>spine1", LINK, 0.5)], [("leaf1>spine1", LINK, False)]),
        ([("b1>leaf1", LINK, 0)], [("b1>leaf1", NIC, False)]),
        ([("b1>leaf1", LINK, 0.3)], [("b1>leaf1", LINK, True)]),
        ([("b1>leaf1", LINK, 0.3), ("b1>leaf2", LINK, 0.3)], [("b1>leaf1", NIC, True)]),
        ([("leaf1>spine1", LINK, 0.3), ("leaf2>spine1", LINK, 0.3)], [("leaf1>spine1", PAIR, True)]),
        ([("tor>spine2", LINK, 0)], [("tor>spine2", LINK, False)]),
        ([("s1>tor", LINK, 0.5), ("tor>s1", LINK, 0.5)], [("s1>tor", LINK, False)]),
        ([("s1>tor", LINK, 0.5), ("tor>s2", LINK, 0.5)], [("s1>tor", LINK, True), ("tor>s2", LINK, True)]),
    ],
)
def test_faults_that_fit_alike_are_told_by_what_holds_just_them(
    faults: list[tuple[str, ComponentKind, float]], named: list[tuple[str, ComponentKind, bool]]
) -> None:
    session = run(load_text(PAIRED, "paired.yaml"))
    given = [Fault(find(session, part, kind=kind, one_way=left > 0), left) for part, kind, left in faults]
    found = name_components(session.parts, session.components, given)
    assert list(found) == [find(session, part, kind=kind, one_way=one_way) for part, kind, one_way in named]
