"""Numbers at their bounds: equal is on the good side, a range counts by its worse end."""

import math

import numpy as np
import pytest

from benchconsole.probes.judging.criterion_match import DefaultCriterion, matching
from benchconsole.probes.judging.grading import grade, grade_range, rounded
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import Reading
from benchconsole.probes.model.plausible_numbers import MOST, describe_implausible, find_implausible
from benchconsole.probes.model.sending import Sending
from benchconsole.topology.model.fabric import Comparator, Criterion, NodeId
from benchconsole.topology.units import Shown, Unit
from tests.probes.judging.rounds import Sent, close, star


@pytest.mark.fault("F50")
@pytest.mark.parametrize(
    ("value", "level"),
    [(0.799, Level.FAIL), (0.8, Level.PASS), (0.8 * (1 - 1e-13), Level.PASS), (0.8 * (1 - 1e-11), Level.FAIL)],
)
def test_a_bound_from_below(value: float, level: Level) -> None:
    assert grade(value, 0.8) is level


@pytest.mark.fault("F50")
@pytest.mark.parametrize(("value", "level"), [(2.01, Level.FAIL), (2.0, Level.PASS), (1.99, Level.PASS)])
def test_a_bound_from_above(value: float, level: Level) -> None:
    assert grade(value, 2.0, comparator=Comparator.AT_MOST) is level


@pytest.mark.parametrize(
    ("value", "level"), [(0.79, Level.FAIL), (0.8, Level.WATCH), (0.949, Level.WATCH), (0.95, Level.PASS)]
)
def test_between_bound_and_target_is_watch(value: float, level: Level) -> None:
    assert grade(value, 0.8, target=0.95) is level


@pytest.mark.fault("F50")
@pytest.mark.parametrize(("value", "near"), [(0.794, 0.79), (0.795, 0.8), (0.805, 0.81)])
def test_halves_are_rounded_upward(value: float, near: float) -> None:
    assert rounded(value, 0.01) == pytest.approx(near)
    assert rounded(value, 0.0) == value


@pytest.mark.parametrize(
    ("value", "required", "level"),
    [
        ((0.9, 0.99), (0.5, 0.9), Level.PASS),
        ((0.899, 0.99), (0.5, 0.9), Level.UNKNOWN),
        ((0.1, 0.5), (0.5, 0.9), Level.UNKNOWN),
        ((0.1, 0.7), (0.5, 0.9), Level.UNKNOWN),
        ((0.1, 0.499), (0.5, 0.9), Level.FAIL),
        ((0.9, 0.9), (0.9, 0.9), Level.PASS),
    ],
)
def test_a_range_passes_at_its_least_and_fails_at_its_most(
    value: tuple[float, float], required: tuple[float, float], level: Level
) -> None:
    assert grade_range(value, required) is level


@pytest.mark.parametrize(
    ("kind", "bulk", "nodes", "where", "meant"),
    [
        (DefaultCriterion, True, (), (), True),
        (DefaultCriterion, False, (), (), False),  # requests and answers: their throughput says nothing of links
        (Criterion, False, (), (), True),
        (Criterion, True, ("n1", "n3"), (), True),
        (Criterion, True, ("n2", "n3"), (), False),  # n2 is only the peer
        (Criterion, True, (), (("direction", "out"),), True),
        (Criterion, True, (), (("direction", "in"),), False),
        (Criterion, True, (), (("direction", "out"), ("point", "1")), False),
    ],
)
def test_which_measurements_a_criterion_means(
    kind: type[Criterion], bulk: bool, nodes: tuple[str, ...], where: tuple[tuple[str, str], ...], meant: bool
) -> None:
    (result,) = close(star(), 1, Sent("n1", "n2", (("out", 1.0),), sending=Sending(bulk=bulk))).results
    named = frozenset(NodeId(name) for name in nodes)
    criterion = kind("iperf3.throughput", Comparator.AT_LEAST, 0.8, Unit.ONE, where=where, nodes=named)
    assert matching(criterion, result) == (result.measurements if meant else ())


@pytest.mark.fault("F50")
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("comparator", Comparator)
def test_a_number_that_is_not_finite_meets_no_bound(value: float, comparator: Comparator) -> None:
    assert grade(value, 0.8, comparator=comparator, target=0.8) is Level.FAIL


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, ""),
        (-0.0, ""),
        (math.nextafter(MOST, 0.0), ""),
        (MOST, "8,000,000 Pb/s is more than any machine gives: the number is wrong"),
        (-1.0, "-8.00 b/s is less than 0: the number is wrong"),
        (math.inf, "inf is no number that can be measured"),
        (-math.inf, "-inf is no number that can be measured"),
        (math.nan, "nan is no number that can be measured"),
    ],
)
def test_values_that_no_measurement_gives(value: float, said: str) -> None:
    assert describe_implausible(Reading("t.rate", value, Unit.BYTE_RATE), Shown.NETWORK) == said
    assert find_implausible(np.array([1.0, value])).tolist() == [False, bool(said)]
