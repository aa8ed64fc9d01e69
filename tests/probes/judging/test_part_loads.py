"""The loads that parts are known to have carried, and when one is sound: at each bound, one step below, one above."""

from collections.abc import Sequence

import numpy as np
import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.part_loads import PartLoads
from benchconsole.probes.judging.yardsticks.capacity import overlap
from benchconsole.topology.copying import replace
from tests.fabrics import METRICS
from tests.probes.judging.lags import load_lag, many
from tests.probes.judging.rounds import BOTH_WAYS, RATE, Sent, close, flow, star, steer
from tests.probes.judging.sessions import METRIC, Session


def both_ways(*rates: tuple[str, float]) -> Sent:
    return Sent("n1", "n3", [(name, rate * RATE) for name, rate in rates], sending=BOTH_WAYS)


def test_both_ways_of_a_test_show_what_links_carry() -> None:
    session = Session(star(), close(star(), 1, both_ways(("out", 0.95), ("in", 0.9))))
    carried = {name: session.loads.proven[session.named.number(name)] / RATE for name in ("n1>leaf", "leaf>n1")}
    assert carried == {"n1>leaf": 0.95, "leaf>n1": 0.9}


@pytest.mark.parametrize("direction", ["out", "in"])
def test_only_the_first_number_of_each_way_shows_what_links_carry(direction: str) -> None:
    """Later numbers of the same way speak of parts of it, as of single streams or seconds."""
    other = {"out": "in", "in": "out"}[direction]
    session = Session(star(), close(star(), 1, both_ways((direction, 0.8), (other, 0.95), (direction, 0.99))))
    name = {"out": "n1>leaf", "in": "leaf>n1"}[direction]
    assert session.loads.proven[session.named.number(name)] == 0.8 * RATE


@pytest.mark.parametrize("lengths", [(10.0, 10.0), (10.0, 20.0), (20.0, 10.0)])  # the shortest one counts
@pytest.mark.parametrize(("apart", "proven"), [(0.0, 0.9), (2.5, 0.72), (10.0, 0.45), (30.0, 0.225)])
def test_flows_prove_their_sum_for_the_time_that_they_ran_together(
    apart: float, proven: float, lengths: tuple[float, float]
) -> None:
    """Two flows out of n1 gave 45 % each: together 90 % for the share of 10 s that they had in common."""
    described, (first, second) = star(), lengths
    sent = flow("n1", "n3", 0.45, "out", ran=first), flow("n1", "n4", 0.45, "out", at=apart, ran=second)
    session = Session(described, close(described, 1, *sent))
    assert session.loads.proven[session.named.number("n1>leaf")] == pytest.approx(proven * RATE)


@pytest.mark.parametrize(
    ("omit", "tail", "proven"),
    [("5", "5", 0.9), ("5", "2", 0.75), ("2", "5", 0.75), ("5", "", 0.9 / 1.4), ("all", "5", 0.9 / 1.4)],
)
def test_flows_that_left_out_as_much_as_they_were_apart_ran_together(omit: str, tail: str, proven: float) -> None:
    """4 s apart of 10 s: what both ends left out may have been apart."""
    described = star()
    sent = flow("n1", "n3", 0.45, "out"), flow("n1", "n4", 0.45, "out", at=4.0)
    closed = close(described, 1, *sent)
    told = (("omit", omit), ("tail", tail))
    results = [
        replace(each, measurements=tuple(replace(one, labels=(*one.labels, *told)) for one in each.measurements))
        for each in closed.results
    ]
    closed = replace(closed, results=tuple(results))
    session = Session(described, closed)
    assert session.loads.proven[session.named.number("n1>leaf")] == pytest.approx(proven * RATE)
    flows = JudgingContext(described, METRICS).flows.read(closed, "iperf3.throughput")
    assert overlap(flows.find_measured(["1/0#0", "1/1#0"])) == pytest.approx(proven / 0.9)


def test_the_most_of_all_rounds_counts() -> None:
    described = star()
    rounds = [close(described, number, flow("n1", "n2", rate)) for number, rate in enumerate((0.6, 0.9, 0.3), 1)]
    session = Session(described, *rounds)
    assert session.loads.proven[session.named.number("n1>leaf")] == 0.9 * RATE


def test_what_is_cleared_is_forgotten() -> None:
    described = star()
    loads = Session(described, close(described, 1, flow("n1", "n2", 0.6))).loads
    every = np.arange(len(loads.capacity))
    assert loads.read_state(every) != PartLoads(JudgingContext(described, METRICS).parts).read_state(every)
    loads.clear()
    assert loads.read_state(every) == PartLoads(JudgingContext(described, METRICS).parts).read_state(every)


@pytest.mark.parametrize(
    ("offered", "proven", "sound"),
    [
        (0.599, 0.599, False),  # too little to tell
        (0.6, 0.6, True),
        (0.601, 0.601, True),
        (1.0, 0.849, False),
        (1.0, 0.85, True),
        (1.0, 0.851, True),
        (0.8, 0.679, False),
        (0.8, 0.68, True),
        (2.0, 0.849, False),  # no more than it carries was offered
        (2.0, 0.85, True),
    ],
)
def test_a_part_is_sound_if_it_carried_85_per_cent_of_no_small_offer(
    offered: float, proven: float, sound: bool
) -> None:
    loads = PartLoads(JudgingContext(star(), METRICS).parts)
    loads.offered[0], loads.assumed[0] = offered * RATE, proven * RATE
    assert loads.is_sound(0) is sound


@pytest.mark.parametrize(("last", "slow"), [(0.849, 2 / 3), (0.85, 1 / 3), (0.851, 1 / 3)])
def test_the_slow_share_counts_the_flows_that_gave_less_than_85_per_cent(last: float, slow: float) -> None:
    described = star()
    rates = (0.5, 1.0, last)
    session = Session(
        described, *(close(described, number, flow("n1", "n2", rate)) for number, rate in enumerate(rates, 1))
    )
    assert session.loads.compute_slow_share([session.named.number("n1>leaf")]) == pytest.approx(slow)
    assert session.loads.compute_slow_share([session.named.number("n3>leaf")]) == 0.0


def test_a_fast_stream_beside_a_slow_one_proves_nothing_of_a_path_that_is_assumed() -> None:
    """Either may be on another member than its source port says."""
    described = load_lag(2)
    for slower, carried in ((0.424, 0.0), (0.425, 0.915), (0.426, 0.916)):  # each should give half: 85 % of that
        session = Session(described, close(described, 1, steer("a1", "b1", 0.49, 0), steer("a2", "b2", slower, 0)))
        assert session.loads.assumed[session.named.number("leaf1>leaf2/1")] == pytest.approx(carried * RATE)
        assert not session.loads.proven.any()


@pytest.mark.parametrize(
    ("rates", "carried"),
    [
        ((1.0,), 1.0),
        ((0.9, 1.0), 1.0),
        ((0.9, 1.0, 0.88), 0.9),  # one of three may have taken another way
        ((1.0, *(0.9,) * 6), 0.9),
        ((1.0, 0.95, *(0.9,) * 5), 0.95),
        ((1.0, 0.95, *(0.9,) * 6), 0.9),  # and two of eight
    ],
)
def test_what_few_streams_carried_that_may_have_taken_another_way_proves_nothing(
    rates: Sequence[float], carried: float
) -> None:
    described = load_lag(2)
    session = Session(
        described, *(close(described, number, steer("a1", "b1", rate, 0)) for number, rate in enumerate(rates, 1))
    )
    assert session.loads.assumed[session.named.number("leaf1>leaf2/1")] == pytest.approx(carried * RATE)
    session.loads.clear()
    assert not session.loads.assumed.any()


def test_only_nics_are_acquitted_for_a_lag_has_members_of_which_one_may_be_lost() -> None:
    described = load_lag(3)
    closed = close(described, 1, many("fat1", "fat2", 3.0))
    session = Session(described, closed)
    flows = session.context.flows.read(closed, METRIC)
    session.loads.acquit(flows, flows.find_measured(["1/0#0"]))
    assert not session.loads.acquitted[session.named.number("leaf1>leaf2")]
    assert not session.loads.acquitted[session.named.number("leaf1>leaf2/1")]


@pytest.mark.parametrize(("demand", "is_acquitted"), [(0.849, False), (0.85, True), (0.851, True)])
def test_what_was_not_filled_is_not_acquitted(demand: float, is_acquitted: bool) -> None:
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.8))
    session = Session(described, closed)
    flows = session.context.flows.read(closed, METRIC)
    flows.offered[:] = demand * RATE
    session.loads.acquit(flows, flows.find_measured(["1/0#0"]))
    assert bool(session.loads.acquitted[session.named.number("n1>leaf")]) is is_acquitted
