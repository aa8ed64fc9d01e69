"""The forward model of faults: rates that follow from capacities, each worked out by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.judging import fault_model
from benchconsole.probes.judging.components import Component, ComponentKind
from benchconsole.probes.judging.fault_model import FLOOR, HASHED, HELD, NOISE, STRAY, STRAY_ASSUMED, Fault, FaultModel
from benchconsole.probes.judging.round_flows import SLOW
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.probes.judging.lags import load_lag, many
from tests.probes.judging.rounds import PAIRED, RATE, STAR, Sent, close, flow, star, steer
from tests.probes.judging.sessions import Session

LINK, NIC, MEMBER = ComponentKind.LINK, ComponentKind.NIC, ComponentKind.MEMBER


class Scene:
    """A session with the model of its flows; faults by the name of a part."""

    def __init__(self, described: Fabric, *sent: Sequence[Sent]) -> None:
        self.session = Session(described, *(close(described, number, *each) for number, each in enumerate(sent, 1)))
        self.model = FaultModel(self.session.evidence)

    def find(self, part: str, *, one_way: bool = True, kind: ComponentKind | None = None) -> Component:
        return self.session.named.find(part, kind or (MEMBER if "/" in part else LINK), one_way=one_way)

    def predict(self, *faults: Fault) -> list[float]:
        """The rates of all flows, in ``RATE``."""
        rates = self.model.predict(faults, np.arange(len(self.model.rates)))
        return [round(float(rate) / RATE, 6) for rate in rates]

    def slow(self, part: str, left: float) -> list[float]:
        return self.predict(Fault(self.find(part), left))

    def lose(self, part: str) -> list[float]:
        return self.predict(Fault(self.find(part, one_way=False), 0.0))


# -- rates


def test_without_a_fault_all_flows_have_what_is_expected() -> None:
    scene = Scene(load_lag(2), [steer("a1", "b1", 0.3, 0), steer("a2", "b2", 0.3, 0)], [many("fat1", "fat2", 0.3)])
    assert scene.predict() == [0.5, 0.5, 2.0]
    assert (scene.model.rates / RATE).tolist() == [0.5, 0.5, 2.0]


def test_a_slow_nic_slows_what_crosses_it_and_nothing_else() -> None:
    scene = Scene(star(), [flow("n1", "n2", 1), flow("n3", "n4", 1), flow("n2", "n1", 1)], [flow("n1", "n5", 1)])
    assert scene.slow("n1>leaf", 0.4) == [0.4, 1.0, 1.0, 0.4]
    assert scene.predict(Fault(scene.find("n1>leaf", one_way=False), 0.4)) == [0.4, 1.0, 0.4, 0.4]


def test_a_slow_link_with_a_slow_member_leaves_the_other_member_its_own_share() -> None:
    """Whatever was accepted first: of a LAG that is slow as a whole a member is slower still."""
    scene = Scene(load_lag(2), [steer("a1", "b1", 0.3, 0), steer("a2", "b2", 0.3, 1)])
    slow = Fault(scene.find("leaf1>leaf2"), 0.8), Fault(scene.find("leaf1>leaf2/1"), 0.1)
    assert scene.predict(*slow) == scene.predict(*reversed(slow)) == [0.1, 0.8]
    split = Scene(load_lag(2), [many("fat1", "fat2", 0.3), steer("a1", "b1", 0.3, 0)])
    lost = Fault(split.find("leaf1>leaf2/2", one_way=False), 0.0)
    for faults in (slow, (slow[0], lost)):
        assert split.predict(*faults) == split.predict(*reversed(faults))


def test_flows_share_what_a_slow_nic_leaves() -> None:
    scene = Scene(star(), [flow("n1", "n2", 1), flow("n1", "n3", 1), flow("n1", "n4", 1)])
    assert scene.slow("n1>leaf", 0.6) == [0.2, 0.2, 0.2]


def test_of_two_faults_on_the_way_the_slower_one_holds_a_flow_back() -> None:
    scene = Scene(star(), [flow("n1", "n2", 1)], [flow("n3", "n2", 1)])
    faults = Fault(scene.find("n1>leaf"), 0.6), Fault(scene.find("leaf>n2"), 0.5)
    assert scene.predict(*faults) == [0.5, 0.5]
    assert scene.predict(faults[0], Fault(scene.find("leaf>n2"), 0.7)) == [0.6, 0.7]


def test_streams_over_the_sound_leg_of_a_bond_take_all_that_it_carries() -> None:
    """b1 has two legs of 1: 0.4 over the slow one, 1 over the other."""
    scene = Scene(load_text(PAIRED, "paired.yaml"), [many("b1", "b2", 2)])
    assert scene.slow("b1>leaf1", 0.4) == [1.4]


def test_both_legs_slow_alike_carry_that_share_of_both() -> None:
    scene = Scene(load_text(PAIRED, "paired.yaml"), [many("b1", "b2", 2)])
    assert scene.predict(Fault(scene.find("b1>leaf1", kind=NIC), 0.4)) == [0.8]


def test_a_lost_leg_leaves_the_other_one() -> None:
    scene = Scene(load_text(PAIRED, "paired.yaml"), [many("b1", "b2", 2)], [many("b2", "b1", 2)])
    assert scene.lose("b1>leaf1") == [1.0, 1.0]


def test_a_flow_that_divides_over_two_links_gets_the_rest_over_the_sound_one() -> None:
    """Of its two LAGs to spine1 that from leaf1 has a quarter of 2 left; a leg of b1 leads to each of them."""
    scene = Scene(load_text(PAIRED, "paired.yaml"), [many("b1", "wide", 2)])
    assert scene.slow("leaf1>spine1", 0.25) == [1.5]


@pytest.mark.parametrize(("count", "rate"), [(2, 0.5), (3, 2 / 3), (4, 0.75)])
def test_what_was_steered_over_a_lost_member_shares_the_others(count: int, rate: float) -> None:
    """As many flows as members, and one member less: its flow is spread, each gets an equal share of the rest."""
    scene = Scene(load_lag(count), [steer(f"a{place + 1}", f"b{place + 1}", 1, place) for place in range(count)])
    assert scene.lose("leaf1>leaf2/1") == pytest.approx([rate] * count, abs=1e-6)


def test_a_lost_member_is_lost_both_ways() -> None:
    scene = Scene(load_lag(2), [steer("b1", "a1", 1, 0), steer("b2", "a2", 1, 1)])
    assert scene.lose("leaf1>leaf2/2") == [0.5, 0.5]


def test_a_lost_member_takes_its_share_of_a_flow_that_divides() -> None:
    scene = Scene(load_lag(4), [many("fat1", "fat2", 4)])
    assert scene.lose("leaf1>leaf2/1") == [3.0]


def test_a_flow_that_a_lost_member_has_room_for_loses_nothing() -> None:
    scene = Scene(load_lag(4), [many("a1", "b1", 1)], [steer("a1", "b1", 1, 0)])
    assert scene.lose("leaf1>leaf2/1") == [1.0, 1.0]


def test_a_slow_member_holds_back_only_what_is_steered_over_it() -> None:
    scene = Scene(load_lag(4), [steer(f"a{place + 1}", f"b{place + 1}", 1, place) for place in range(4)])
    assert scene.slow("leaf1>leaf2/2", 0.3) == [1.0, 0.3, 1.0, 1.0]


def test_a_slow_member_holds_back_its_streams_of_a_flow_that_divides() -> None:
    """Of four members three carry 1 each, and the slow one 0.2."""
    scene = Scene(load_lag(4), [many("fat1", "fat2", 4)])
    assert scene.slow("leaf1>leaf2/1", 0.2) == [3.2]


def test_a_slow_lag_slows_all_of_its_members() -> None:
    scene = Scene(load_lag(4), [steer("a1", "b1", 1, 0)], [many("fat1", "fat2", 4)])
    assert scene.slow("leaf1>leaf2", 0.2) == [0.2, 0.8]


def test_what_a_held_back_flow_leaves_goes_to_those_beside_it() -> None:
    """Both are steered over one member, half of it each: a1 gives 0.2, so that 0.8 are left for a2."""
    scene = Scene(load_lag(4), [steer("a1", "b1", 1, 0), steer("a2", "b2", 1, 0)])
    assert scene.slow("a1>leaf1", 0.2) == [0.2, 0.8]


def test_the_others_of_a_round_keep_the_rates_that_they_have() -> None:
    """The flow from a2 to b3 keeps half of its cable; only where it is asked for, too, a fault makes room there."""
    scene = Scene(load_lag(4), [steer("a1", "b1", 1, 0), steer("a2", "b1", 1, 1), steer("a2", "b3", 1, 2)])
    faults = Fault(scene.find("a1>leaf1"), 0.1), Fault(scene.find("leaf2>b3"), 0.2)
    assert scene.predict() == [0.5, 0.5, 0.5]
    assert (scene.model.predict(faults, np.array([0, 1])) / RATE).tolist() == pytest.approx([0.1, 0.5])
    assert scene.predict(*faults) == [0.1, 0.8, 0.2]


def test_near_a_fault_are_the_flows_over_it_and_those_beside_them() -> None:
    scene = Scene(star(), [flow("n1", "n2", 1), flow("n3", "n2", 1), flow("n3", "n4", 1)], [flow("n3", "n2", 1)])
    assert scene.model.find_near(Fault(scene.find("n1>leaf"), 0.1)).tolist() == [0, 1]
    assert scene.model.find_near(Fault(scene.find("leaf>n2"), 0.1)).tolist() == [0, 1, 2, 3]


def test_near_a_lost_member_are_the_flows_over_its_siblings() -> None:
    scene = Scene(load_lag(2), [steer("a1", "b1", 1, 0)], [steer("a1", "b2", 1, 1)], [flow("a1", "a2", 1)])
    assert scene.model.find_near(Fault(scene.find("leaf1>leaf2/1", one_way=False), 0.0)).tolist() == [0, 1]


def test_what_is_accepted_changes_rates_near_it_and_is_taken_back() -> None:
    scene = Scene(star(), [flow("n1", "n2", 1), flow("n3", "n4", 1)])
    fault = Fault(scene.find("n1>leaf"), 0.4)
    scene.model.accept([fault])
    assert (scene.model.rates / RATE).tolist() == [0.4, 1.0]
    assert (scene.model.compute_drop(fault)[1] / RATE).tolist() == pytest.approx([0.6])
    scene.model.accept([])
    assert (scene.model.rates / RATE).tolist() == [1.0, 1.0]


def test_the_drop_of_a_fault_is_what_it_adds_to_the_others() -> None:
    scene = Scene(star(), [flow("n1", "n2", 1)])
    first, second = Fault(scene.find("n1>leaf"), 0.4), Fault(scene.find("leaf>n2"), 0.7)
    scene.model.accept([first, second])
    assert (scene.model.compute_drop(first)[1] / RATE).tolist() == pytest.approx([0.3])
    assert (scene.model.compute_drop(second)[1] / RATE).tolist() == [0.0]


def test_the_shared_drop_of_a_fault_is_what_it_takes_by_itself() -> None:
    scene = Scene(star(), [flow("n1", "n2", 1)])
    first, second = Fault(scene.find("n1>leaf"), 0.4), Fault(scene.find("leaf>n2"), 0.4)
    scene.model.accept([first, second])
    for each in (first, second):
        assert (scene.model.compute_drop(each)[1] / RATE).tolist() == [0.0]
        assert (scene.model.compute_shared_drop(each)[1] / RATE).tolist() == pytest.approx([0.6])


# -- flows that speak against a fault


@pytest.mark.parametrize(("fast", "contradicted"), [(1, False), (2, True)])
@pytest.mark.parametrize("rate", [0.88, 1.0])
def test_a_tenth_of_the_flows_may_be_fast_over_what_has_failed(fast: int, rate: float, contradicted: bool) -> None:
    """Half is left: of ten flows those are fast that are likelier by ``CLEAR`` where nothing is wrong."""
    sent = [flow(f"n{place}", f"n{place % 8 + 1}", 0.5) for place in range(1, 9)]
    more = [flow("n1", "n3", rate), flow("n2", "n4", rate if fast > 1 else 0.86)]
    scene = Scene(star(), sent, more)
    fault = Fault(scene.find("n1>leaf", one_way=False, kind=ComponentKind.SWITCH), 0.5)
    assert scene.model.is_contradicted(fault) is contradicted


@pytest.mark.parametrize(("fast", "contradicted"), [(3, False), (4, True)])
def test_of_steered_streams_three_in_ten_may_be_fast(fast: int, contradicted: bool) -> None:
    scene = Scene(
        load_lag(4),
        *([steer("a1", f"b{place // 4 + 1}", 1.0 if place < fast else 0.5, place % 4)] for place in range(10)),
    )
    assert scene.model.is_contradicted(Fault(scene.find("a1>leaf1"), 0.5)) is contradicted


def test_flows_that_a_fault_hardly_slows_speak_neither_for_it_nor_against_it() -> None:
    scene = Scene(star(), *([flow("n1", f"n{place}", 1.0)] for place in range(2, 9)))
    switch = scene.find("n1>leaf", one_way=False, kind=ComponentKind.SWITCH)
    assert not scene.model.is_contradicted(Fault(switch, SLOW))
    assert scene.model.is_contradicted(Fault(switch, 0.5))


def test_flows_that_a_fault_hardly_slows_do_not_hide_one_that_is_fast() -> None:
    """n1 shares its receivers with n2, so that half of its NIC is enough for it, but for one flow."""
    described = load_text(STAR.replace("n[1-8]", "n[1-16]"), "wide.yaml")
    shared = ([flow("n1", f"n{place}", 0.5), flow("n2", f"n{place}", 0.5)] for place in range(3, 16))
    scene = Scene(described, *shared, [flow("n1", "n16", 1.0)])
    assert scene.model.is_contradicted(Fault(scene.find("n1>leaf"), 0.49))


def test_flows_that_their_streams_explain_speak_against_nothing() -> None:
    """A quarter of each crosses a link at half: 0.88 is expected of them then, and uneven streams have 0.9 to 1."""
    scene = Scene(load_lag(4), *([many(f"a{place}", f"b{place}", 0.94)] for place in (1, 2, 3, 4)))
    fault = Fault(scene.find("leaf1>leaf2/1"), 0.1)
    assert not scene.model.is_contradicted(fault)


# -- how well rates fit


def tell_log(offset: float, spread: float, stray: float) -> float:
    """The logarithm of a normal density, mixed with one of 1 everywhere."""
    normal = math.exp(-0.5 * (offset / spread) ** 2) / (spread * math.sqrt(2 * math.pi))
    return math.log((1 - stray) * normal + stray)


@pytest.mark.parametrize("rate", [0.0, 0.5, 0.9, 1.0, 1.1])
def test_the_fit_of_one_stream_is_normal_about_its_rate(rate: float) -> None:
    scene = Scene(load_lag(4), [steer("a1", "b1", rate, 0)])
    (fit,) = scene.model.compute_fit(np.array([0]), np.array([RATE]))
    assert fit == pytest.approx(tell_log(rate - 1, math.hypot(NOISE, FLOOR), STRAY_ASSUMED))


@pytest.mark.parametrize(
    ("mean", "share"), [(1.0, HASHED), (0.75, (HASHED + HELD) / 2), (0.5, HELD), (0.25, HELD), (1.2, HASHED)]
)
def test_flows_that_divide_are_within_more_the_more_they_are_held_back(mean: float, share: float) -> None:
    scene = Scene(star(), [flow("n1", "n2", mean)])
    (fit,) = scene.model.compute_fit(np.array([0]), np.array([mean * RATE]))
    assert fit == pytest.approx(tell_log(0.0, math.hypot(share * mean, FLOOR), STRAY))


@pytest.mark.parametrize("offset", [0.01, 0.05, 0.1, 0.3])
def test_too_much_fits_as_badly_as_too_little(offset: float) -> None:
    scene = Scene(load_lag(4), [steer("a1", "b1", 0.6 - offset, 0)], [steer("a2", "b2", 0.6 + offset, 0)])
    low, high = scene.model.compute_fit(np.array([0, 1]), np.array([0.6, 0.6]) * RATE)
    assert low == pytest.approx(high)
    assert low < scene.model.compute_fit(np.array([0]), np.array([0.6 - offset]) * RATE)[0]


def test_a_flow_that_fits_nothing_counts_as_a_stray_one() -> None:
    scene = Scene(load_lag(4), [steer("a1", "b1", 0.01, 0)], [many("a2", "b2", 0.01)])
    fit = scene.model.compute_fit(np.array([0, 1]), np.array([1.0, 1.0]) * RATE)
    assert fit.tolist() == pytest.approx([math.log(STRAY_ASSUMED), math.log(STRAY)], abs=1e-6)


def test_a_repeated_flow_counts_nothing() -> None:
    scene = Scene(star(), [flow("n1", "n2", 0.5)], [flow("n1", "n2", 1.0)])
    fits = scene.model.compute_fit(np.array([0, 1]), np.array([0.5, 0.5]) * RATE)
    assert fits[0] == 0.0
    assert fits[1] < math.log(2 * STRAY)
    assert scene.model.weigh(Fault(scene.find("n1>leaf"), 0.5)) < 0


def test_the_weight_of_a_fault_is_the_difference_of_the_fits() -> None:
    """n1 gives half: that is 0 off with the fault, half of what was expected without it; n3 tells nothing."""
    scene = Scene(star(), [flow("n1", "n2", 0.5), flow("n3", "n4", 0.9)])
    with_fault = tell_log(0.0, math.hypot(HELD * 0.5, FLOOR), STRAY)
    without = tell_log(0.5, math.hypot(HASHED, FLOOR), STRAY)
    assert scene.model.weigh(Fault(scene.find("n1>leaf"), 0.5)) == pytest.approx(with_fault - without)


def test_a_fault_that_was_accepted_adds_nothing_once_more() -> None:
    scene = Scene(star(), [flow("n1", "n2", 0.5)])
    assert scene.model.weigh(Fault(scene.find("leaf>n2"), 0.5)) > 1
    scene.model.accept([Fault(scene.find("n1>leaf"), 0.5)])
    assert scene.model.weigh(Fault(scene.find("leaf>n2"), 0.5)) == 0.0


def test_bad_faults_weigh_less_than_nothing() -> None:
    scene = Scene(star(), [flow("n1", "n2", 1.0)], [flow("n1", "n3", 1.0)])
    assert scene.model.weigh(Fault(scene.find("n1>leaf"), 0.5)) < 0


# -- the bound of the weight


PAIRS = [("a1", "b1"), ("a2", "b2"), ("a3", "b1"), ("b3", "a1"), ("a2", "a1"), ("fat1", "fat2"), ("fat1", "b1")]
PARTS = ["a1>leaf1", "leaf2>b1", "leaf1>leaf2", "leaf2>leaf1", "leaf1>leaf2/1", "leaf1>leaf2/2", "fat1>leaf1"]
FLOWS = st.tuples(st.sampled_from(PAIRS), st.integers(0, 20).map(lambda each: each / 20), st.sampled_from([None, 0, 1]))
LEFT = st.sampled_from([0.1, 0.4, 0.8])


def make_flow(pair: tuple[str, str], rate: float, choice: int | None) -> Sent:
    crosses = pair[0][0] != pair[1][0] or pair == ("fat1", "fat2")
    return many(*pair, rate) if choice is None or not crosses else steer(*pair, rate, choice)


def find_faults(scene: Scene, chosen: Sequence[tuple[str, float]]) -> list[Fault]:
    return [Fault(scene.find(part), left) for part, left in chosen]


def test_the_bound_counts_also_what_a_fault_makes_room_for() -> None:
    """a2 has the 0.8 that a1 leaves: a fault of a1 explains both, so that it weighs as much as both are off."""
    scene = Scene(load_lag(2), [steer("a1", "b1", 0.2, 0), steer("a2", "b2", 0.8, 0)])
    spread = math.hypot(NOISE * 0.5, FLOOR) * 2
    fault = Fault(scene.find("a1>leaf1"), 0.2)
    assert scene.model.weigh(fault) > 2 * (-tell_log(0.6, spread, STRAY_ASSUMED) - 1)
    assert scene.model.bound_gain(fault) >= scene.model.weigh(fault)


@given(
    rounds=st.lists(st.lists(FLOWS, min_size=1, max_size=4, unique_by=lambda each: each[0]), min_size=1, max_size=3),
    accepted=st.lists(st.tuples(st.sampled_from(PARTS), LEFT), max_size=2, unique_by=lambda each: each[0]),
    part=st.sampled_from(PARTS),
    left=LEFT,
)
@settings(max_examples=60, deadline=None)
def test_no_fault_weighs_more_than_its_bound(
    rounds: list[list[tuple[tuple[str, str], float, int | None]]],
    accepted: list[tuple[str, float]],
    part: str,
    left: float,
) -> None:
    """But for 0.05 of each flow: the likeliest rate is not quite the measured one, for the spread is a share of it."""
    scene = Scene(load_lag(2), *([make_flow(*each) for each in sent] for sent in rounds))
    scene.model.accept(find_faults(scene, accepted))
    faults = find_faults(scene, [(part, left)])
    if "/" in part or part in ("leaf1>leaf2", "leaf2>leaf1"):
        member = part if "/" in part else f"{part}/1"
        faults.append(Fault(scene.find(member, one_way=False), 0.0))
    for fault in faults:
        assert scene.model.weigh(fault) <= scene.model.bound_gain(fault) + 0.05 * len(scene.model.rates)


@pytest.mark.parametrize(("rate", "weighed"), [(1.0, 3), (0.5, 6)])
def test_of_many_flows_some_rounds_rule_a_fault_out(monkeypatch: pytest.MonkeyPatch, rate: float, weighed: int) -> None:
    """Half would be left: six fast flows speak against it, and three of them do; of six slow ones all count."""
    scene = Scene(star(), *([flow("n1", f"n{place}", rate)] for place in range(2, 8)))
    fault = Fault(scene.find("n1>leaf"), 0.5)
    whole = scene.model.weigh(fault)
    monkeypatch.setattr(fault_model, "MANY", 5)
    monkeypatch.setattr(fault_model, "ENOUGH", 3)
    monkeypatch.setattr(fault_model, "UNLIKELY", -1.0)
    assert FaultModel(scene.session.evidence).weigh(fault) == pytest.approx(whole * weighed / 6)
    monkeypatch.setattr(fault_model, "MANY", 6)
    assert FaultModel(scene.session.evidence).weigh(fault) == pytest.approx(whole)


def test_flows_of_one_round_are_weighed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(star(), [flow(f"n{place}", f"n{place % 8 + 1}", 1.0) for place in range(1, 9)])
    fault = Fault(scene.find("n1>leaf", one_way=False, kind=ComponentKind.SWITCH), 0.5)
    whole = scene.model.weigh(fault)
    monkeypatch.setattr(fault_model, "MANY", 1)
    monkeypatch.setattr(fault_model, "ENOUGH", 1)
    assert FaultModel(scene.session.evidence).weigh(fault) == whole


# -- streams that ran by themselves


def alone(source: str, sink: str, rate: float) -> Sent:
    """A steered stream over the first member, in a round that fills little else."""
    return replace(steer(source, sink, rate, 0), share="leaf1--leaf2")


def test_streams_that_ran_by_themselves_are_weighed_round_by_round() -> None:
    """Two of one round tell as much as one; those that the fault hardly slows, and those beside others, nothing."""
    one, two = [alone("a1", "b1", 0.2)], [alone("a2", "b2", 0.1), alone("a3", "b3", 0.1)]
    weighed = []
    for rounds in ((one,), (two,), (one, two), ([steer("a1", "b1", 0.2, 0)],), (one, [steer("a4", "b4", 0.2, 0)])):
        scene = Scene(load_lag(2), *rounds)
        fault = Fault(scene.find("leaf1>leaf2/1"), 0.2)
        scene.model.add(fault)
        weighed.append(scene.model.weigh_alone(fault))
    first, second, *_ = weighed
    assert first is not None
    assert second is not None
    assert first > 0
    assert second == pytest.approx(first, rel=0.25)
    assert weighed[2:] == [pytest.approx(first + second), None, pytest.approx(first)]


@pytest.mark.parametrize(("left", "counts"), [(SLOW - 0.001, True), (SLOW, False)])
def test_what_slows_a_stream_little_is_not_weighed(left: float, counts: bool) -> None:
    scene = Scene(load_lag(2), [alone("a1", "b1", left)])
    fault = Fault(scene.find("leaf1>leaf2/1"), left)
    scene.model.add(fault)
    assert (scene.model.weigh_alone(fault) is not None) is counts
