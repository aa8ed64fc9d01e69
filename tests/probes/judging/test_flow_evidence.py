"""All flows of a session as arrays: each in its place, newest first where it was repeated."""

import numpy as np
import pytest

from benchconsole.probes.model.sending import Sending
from benchconsole.topology.arrays import Floats
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from tests.probes.judging.lags import load_lag, many
from tests.probes.judging.rounds import BOTH_WAYS, PAIRED, RATE, Sent, close, flow, star, steer
from tests.probes.judging.sessions import METRIC, Session

TWO_ROUNDS = (flow("n1", "n2", 0.5), flow("n3", "n2", 0.4)), (flow("n1", "n4", 0.9),)


def take_in(*sent: tuple[Sent, ...]) -> Session:
    return Session(star(), *(close(star(), number, *each) for number, each in enumerate(sent, 1)))


def tell(rates: Floats) -> list[float]:
    return [round(each / RATE, 6) for each in rates.tolist()]


def test_flows_have_their_numbers_in_the_order_of_the_rounds() -> None:
    evidence = take_in(*TWO_ROUNDS).evidence
    assert tell(evidence.flows.value) == [0.5, 0.4, 0.9]
    assert tell(evidence.flows.expected) == [0.5, 0.5, 1.0]
    assert evidence.numbers == {"1/0#0": 0, "1/1#0": 1, "2/0#0": 2}
    assert not evidence.flows.is_repeated.any()


def test_both_ways_of_a_test_are_two_flows() -> None:
    evidence = take_in((Sent("n1", "n2", (("out", 0.5 * RATE), ("in", 0.7 * RATE)), sending=BOTH_WAYS),)).evidence
    assert tell(evidence.flows.value) == [0.5, 0.7]
    assert not evidence.flows.is_repeated.any()


def test_a_flow_crosses_its_parts_in_its_own_round() -> None:
    session = take_in(*TWO_ROUNDS)
    crossed, size = session.evidence.crossings, session.parts.size
    names = [session.named.name(part) for part in crossed.part.tolist()]
    assert names == ["n1>leaf", "leaf>n2", "n3>leaf", "leaf>n2", "n1>leaf", "leaf>n4"]
    assert crossed.flow.tolist() == [0, 0, 1, 1, 2, 2]
    assert (crossed.place // size).tolist() == [0, 0, 0, 0, 1, 1]
    assert (crossed.place % size).tolist() == crossed.part.tolist()


def test_flows_are_found_over_parts_and_beside_each_other() -> None:
    session = take_in(*TWO_ROUNDS)
    evidence, number = session.evidence, session.named.number
    assert evidence.find_over([number("n1>leaf")]).tolist() == [0, 2]
    assert evidence.find_over([number("leaf>n2"), number("leaf>n4")]).tolist() == [0, 1, 2]
    assert evidence.find_over([number("n5>leaf")]).tolist() == []
    assert evidence.find_beside(np.array([1])).tolist() == [0, 1]  # not the flow of n1 in the next round
    assert evidence.find_beside(np.array([2])).tolist() == [2]
    assert evidence.find_crossings(np.array([2, 0])).tolist() == [4, 5, 0, 1]


def test_loads_are_summed_at_each_place() -> None:
    session = take_in(*TWO_ROUNDS)
    loads = dict(zip(session.evidence.places.tolist(), tell(session.evidence.measured), strict=True))
    first, second = 0, session.parts.size
    number = session.named.number
    assert loads == {
        number("n1>leaf") + first: 0.5,
        number("n3>leaf") + first: 0.4,
        number("leaf>n2") + first: 0.9,
        number("n1>leaf") + second: 0.9,
        number("leaf>n4") + second: 0.9,
    }
    assert set(tell(session.evidence.sum_loads(np.full(3, RATE)))) == {1.0, 2.0}


def test_a_flow_that_divides_loads_each_way_with_its_share() -> None:
    described = load_text(PAIRED, "paired.yaml")
    session = Session(described, close(described, 1, Sent("b1", "b2", (("out", 1.6 * RATE),), sending=Sending(64))))
    loads = dict(zip(session.evidence.places.tolist(), tell(session.evidence.measured), strict=True))
    assert loads[session.named.number("b1>leaf1")] == loads[session.named.number("b1>leaf2")] == 0.8
    assert not session.evidence.flows.assumed.any()


def test_a_steered_flow_crosses_its_member_too() -> None:
    described = load_lag()
    session = Session(described, close(described, 1, steer("a1", "b1", 1.0, 2), flow("a2", "a3", 1.0)))
    over = session.evidence.find_over([session.named.number("leaf1>leaf2/3")])
    assert over.tolist() == [0]
    assert session.evidence.flows.assumed.tolist() == [True, False]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2), (2, 3, 1)])
def test_of_a_repeated_flow_the_newest_counts_in_whatever_order_it_comes(order: tuple[int, ...]) -> None:
    rounds = {number: close(star(), number, flow("n1", "n2", number / 10)) for number in (1, 2, 3)}
    evidence = Session(star(), *(rounds[number] for number in order)).evidence
    counted = evidence.flows.value[~evidence.flows.is_repeated]
    assert tell(counted) == [0.3]


@pytest.mark.parametrize("again", [flow("n2", "n1", 1.0), flow("n1", "n3", 1.0), flow("n1", "n2", 1.0, "bundle")])
def test_another_test_is_no_repeat(again: Sent) -> None:
    assert not take_in((flow("n1", "n2", 0.5),), (again,)).evidence.flows.is_repeated.any()


def test_the_same_test_of_another_stage_is_no_repeat() -> None:
    first, second = (close(star(), number, flow("n1", "n2", 0.5)) for number in (1, 2))
    second = replace(second, round=replace(second.round, stage="other"))
    assert not Session(star(), first, second).evidence.flows.is_repeated.any()


def test_a_round_that_comes_later_is_seen_after_questions_too() -> None:
    session = take_in(TWO_ROUNDS[0])
    assert len(session.evidence.flows.value) == len(session.evidence.measured) - 1 == 2
    closed = close(star(), 2, *TWO_ROUNDS[1])
    session.evidence.add(session.context.flows.read(closed, METRIC), closed.round)
    whole = take_in(*TWO_ROUNDS).evidence
    for found, wanted in zip(session.evidence.flows, whole.flows, strict=True):
        assert found.tolist() == wanted.tolist()
    assert session.evidence.find_over([session.named.number("n1>leaf")]).tolist() == [0, 2]
    assert session.evidence.measured.tolist() == whole.measured.tolist()


def test_what_is_cleared_is_forgotten() -> None:
    session = take_in(*TWO_ROUNDS)
    session.evidence.clear()
    assert session.evidence.numbers == {}
    closed = close(star(), 1, *TWO_ROUNDS[0])
    session.evidence.add(session.context.flows.read(closed, METRIC), closed.round)
    assert tell(session.evidence.flows.value) == [0.5, 0.4]
    assert not session.evidence.flows.is_repeated.any()
    assert session.evidence.numbers == {"1/0#0": 0, "1/1#0": 1}


def test_a_round_without_numbers_adds_nothing() -> None:
    session = take_in(*TWO_ROUNDS)
    closed = close(star(), 3)
    session.evidence.add(session.context.flows.read(closed, METRIC), closed.round)
    assert len(session.evidence.flows.value) == 3


def test_a_part_that_most_streams_were_slow_over_is_slow() -> None:
    """Two of three over the first member, one of two over the second; divided flows and repeated ones do not count."""
    described = load_lag(2)
    rounds = [
        [steer("a1", "b1", 0.3, 0), many("fat1", "fat2", 0.1)],
        [steer("a1", "b2", 0.2, 0), steer("a2", "b1", 0.4, 1)],
        [steer("a1", "b3", 1.0, 0), steer("a2", "b2", 1.0, 1)],
    ]
    session = Session(described, *(close(described, number, *each) for number, each in enumerate(rounds, 1)))
    evidence, name = session.evidence, session.named.name
    slow = np.flatnonzero(evidence.flows.value < 0.9 * RATE).tolist()
    found = [name(part) for part in evidence.find_slow_parts(slow)]
    assert found == ["leaf2>b1", "a1>leaf1", "leaf1>leaf2/1", "leaf1>leaf2"]
    assert evidence.find_slow_parts([]) == []
    assert evidence.rounds.tolist() == [0, 0, 1, 1, 2, 2]
    again = replace(rounds[0][0], rates=(("out", RATE),))
    closed = close(described, 4, again)
    evidence.add(session.context.flows.read(closed, METRIC), closed.round)
    assert "leaf1>leaf2/1" not in [name(part) for part in evidence.find_slow_parts(slow)]
