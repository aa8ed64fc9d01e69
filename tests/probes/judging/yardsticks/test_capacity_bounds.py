"""The bounds of the capacity yardstick: at each bound, one step below it, one above it."""

import math

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Bundle, FailedAt, Failure
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.rounds import BOTH_WAYS, RATE, STAR, Sent, close, flow, into, out_of, star


def judge(described: Fabric, closed: ClosedRound) -> tuple[Verdict, ...]:
    return judge_round(JudgingContext(described, METRICS), closed)


def pair(described: Fabric, rates: tuple[float, float], *, apart: float = 0.0, ran: float = 9.0) -> Verdict:
    """The verdict on two flows into n3 that ended ``apart`` seconds from each other; rates are shares of its cable."""
    bundle = Bundle("into n3", (into(described, "n3"),))
    sent = [
        flow(source, "n3", rate, "into n3", at=at, ran=ran)
        for source, rate, at in zip(("n1", "n2"), rates, (0.0, apart), strict=True)
    ]
    (verdict,) = judge(described, close(described, 1, *sent, bundles=(bundle,)))
    return verdict


@pytest.mark.parametrize(
    ("rate", "level"), [(0.799, Level.FAIL), (0.8, Level.PASS), (1.05, Level.PASS), (1.051, Level.UNKNOWN)]
)
def test_one_flow_may_show_5_per_cent_more_than_the_wire_carries(rate: float, level: Level) -> None:
    described = star()
    (verdict,) = judge(described, close(described, 1, flow("n1", "n2", rate)))
    assert verdict.level is level
    assert ("the number or the description is wrong" in verdict.because) is (level is Level.UNKNOWN)


@pytest.mark.parametrize(
    ("each", "apart", "possible"),
    [
        (0.625, 0.0, True),  # 125 % together: the bound
        (0.626, 0.0, False),
        (0.9375, 4.5, True),  # 187.5 %, two thirds of their time together: 125 %
        (0.9380, 4.5, False),
        (0.9375, 4.4, False),
    ],
)
def test_a_sum_is_too_high_only_for_the_time_that_its_flows_ran_together(
    each: float, apart: float, possible: bool
) -> None:
    verdict = pair(star(), (each, each), apart=apart)
    assert ("the number or the description is wrong" not in verdict.because) is possible
    assert possible or verdict.level is Level.UNKNOWN


@pytest.mark.parametrize(("together", "said"), [(0.951, False), (0.95, False), (0.949, True)])
def test_flows_that_ran_together_for_less_than_95_per_cent_are_said_to_have_done_so(
    together: float, said: bool
) -> None:
    verdict = pair(star(), (0.45, 0.45), apart=9.5 / together - 9.5, ran=9.5)
    assert verdict.level is Level.PASS
    assert ("apart" in verdict.because) is said


@pytest.mark.parametrize(("apart", "level"), [(1.99, Level.PASS), (2.0, Level.PASS), (2.01, Level.UNKNOWN)])
def test_a_sum_passes_if_it_meets_the_bound_for_the_time_that_its_flows_ran_together(
    apart: float, level: Level
) -> None:
    """All that is expected, 80 % of their time together: 80 %, which is asked."""
    assert pair(star(), (0.5, 0.5), apart=apart, ran=8.0).level is level


@pytest.mark.parametrize(("apart", "level"), [(1.99, Level.PASS), (2.0, Level.PASS), (2.01, Level.WATCH)])
def test_a_sum_is_watched_if_it_meets_the_target_only_for_less_time(apart: float, level: Level) -> None:
    assert pair(star("at_least: 50 %, target: 80 %"), (0.5, 0.5), apart=apart, ran=8.0).level is level


@pytest.mark.parametrize(("apart", "level"), [(1.99, Level.PASS), (2.0, Level.PASS), (2.01, Level.UNKNOWN)])
@pytest.mark.parametrize("lengths", [(8.0, 16.0), (16.0, 8.0)])
def test_flows_of_unequal_length_ran_together_for_a_share_of_the_shorter_one(
    lengths: tuple[float, float], apart: float, level: Level
) -> None:
    """As above: 80 % of the shorter one is asked, whichever flow it is of."""
    described = star()
    bundle = Bundle("into n3", (into(described, "n3"),))
    sent = [
        flow(source, "n3", 0.5, "into n3", at=at, ran=ran)
        for source, at, ran in zip(("n1", "n2"), (0.0, apart), lengths, strict=True)
    ]
    (verdict,) = judge(described, close(described, 1, *sent, bundles=(bundle,)))
    assert verdict.level is level


@pytest.mark.parametrize(("rate", "filled"), [(0.919, False), (0.92, True), (0.921, True)])
def test_a_bundle_fills_its_link_from_92_per_cent_on(rate: float, filled: bool) -> None:
    """Flows held to a rate of their own: what they leave free may be lost unseen."""
    described = star()
    bundle = Bundle("n1 out", (out_of(described, "n1"),), fill=rate)
    sent = Sent("n1", "n2", (("out", rate * RATE),), "n1 out", sending=Sending(rate=rate * RATE))
    (verdict,) = judge(described, close(described, 1, sent, bundles=(bundle,)))
    assert verdict.level is Level.PASS
    assert ("a loss of the rest is not seen" not in verdict.because) is filled


@pytest.mark.parametrize(("rate", "level"), [(0.919, Level.UNKNOWN), (0.92, Level.PASS), (0.921, Level.PASS)])
def test_a_bundle_of_two_links_is_as_full_as_the_emptier_one(rate: float, level: Level) -> None:
    """The first link is full; a loss of what is left free of the second would be seen in neither."""
    described = star()
    bundle = Bundle("both out", (out_of(described, "n1"), out_of(described, "n2")))
    full = Sent("n1", "n3", (("out", RATE),), "both out")
    held = Sent("n2", "n4", (("out", rate * RATE),), "both out", sending=Sending(rate=rate * RATE))
    (verdict,) = judge(described, close(described, 1, full, held, bundles=(bundle,)))
    assert verdict.level is level
    assert ("a loss of the rest is not seen" in verdict.because) is (level is Level.UNKNOWN)


@pytest.mark.parametrize(("fill", "level"), [(0.919, Level.WATCH), (0.92, Level.UNKNOWN), (0.921, Level.UNKNOWN)])
def test_a_watched_bundle_that_lost_the_tests_to_fill_it_is_not_known(fill: float, level: Level) -> None:
    """Its flows can load half of the link; one that was never meant to be filled stays as it was judged."""
    described = star("at_least: 80 %, target: 90 %")
    bundle = Bundle("n1 out", (out_of(described, "n1"),), fill=fill)
    sent = Sent("n1", "n2", (("out", 0.85 * 0.5 * RATE),), "n1 out", sending=Sending(rate=0.5 * RATE))
    (verdict,) = judge(described, close(described, 1, sent, bundles=(bundle,)))
    assert verdict.level is level
    assert "a loss of the rest is not seen" in verdict.because


def test_a_part_of_a_bundle_that_is_low_is_not_known_to_be() -> None:
    described = star("at_least: 80 %, where: {direction: out}")
    bundle = Bundle("into n3", (into(described, "n3"),))
    whole = [flow(source, "n3", 0.2, "into n3") for source in ("n1", "n2")]
    other = Sent("n2", "n3", (("total", 0.2 * RATE),), "into n3")
    (low,) = judge(described, close(described, 1, *whole, bundles=(bundle,)))
    assert low.level is Level.FAIL
    part = next(iter(judge(described, close(described, 1, whole[0], other, bundles=(bundle,)))))
    assert part.level is Level.UNKNOWN
    assert "1 of the 2 flows" in part.because


@pytest.mark.parametrize(("rate", "level"), [(0.794, Level.FAIL), (0.795, Level.PASS), (0.796, Level.PASS)])
def test_a_share_of_what_is_expected_is_rounded_as_the_file_says(rate: float, level: Level) -> None:
    described = star("at_least: 80 %, round: 1 %")
    (verdict,) = judge(described, close(described, 1, flow("n1", "n2", rate)))
    assert verdict.level is level


def test_the_bound_of_a_verdict_is_in_the_unit_of_its_value() -> None:
    """Half of the cable of n3 is what each of two flows can get; 80 % of it is asked."""
    described = star()
    verdicts = judge(described, close(described, 1, flow("n1", "n3", 0.5), flow("n2", "n3", 0.5)))
    assert [(each.expected, each.required) for each in verdicts] == [(0.5 * RATE, 0.4 * RATE)] * 2


def test_each_way_of_a_test_counts_once_whatever_parts_of_it_are_measured_too() -> None:
    described = star()
    rates = (("out", 0.9 * RATE), ("in", 0.4 * RATE), ("out", 0.1 * RATE), ("in", 0.95 * RATE))
    verdicts = judge(described, close(described, 1, Sent("n1", "n2", rates, sending=BOTH_WAYS)))
    assert [(verdict.subject, verdict.value, verdict.level) for verdict in verdicts] == [
        ("n1>n2", 0.9 * RATE, Level.PASS),
        ("n2>n1", 0.4 * RATE, Level.FAIL),
    ]


@pytest.mark.parametrize(
    ("stage", "sink", "rate", "level"),
    [
        (FailedAt.LOST, "n2", 0.5, Level.UNKNOWN),  # below the bound, beside a test in trouble on the same cable
        (FailedAt.TIMEOUT, "n2", 0.85, Level.UNKNOWN),  # between bound and target
        (FailedAt.LOST, "n2", 0.95, Level.PASS),
        (FailedAt.FLOODED, "n2", 0.5, Level.UNKNOWN),
        (FailedAt.TOOL, "n2", 0.5, Level.UNKNOWN),
        (FailedAt.OUTPUT, "n2", 0.5, Level.UNKNOWN),
        (FailedAt.PROBE, "n2", 0.5, Level.UNKNOWN),
        (FailedAt.KILLED, "n2", 0.5, Level.UNKNOWN),
        (FailedAt.REBOOTED, "n2", 0.5, Level.UNKNOWN),
        (FailedAt.CANCELLED, "n2", 0.5, Level.UNKNOWN),  # a guard ended the round while that test sent
        (FailedAt.LOST, "n4", 0.5, Level.FAIL),  # the trouble is elsewhere
    ],
)
def test_low_beside_a_test_in_trouble_on_the_same_link_is_not_known(
    stage: FailedAt, sink: str, rate: float, level: Level
) -> None:
    described = star("at_least: 80 %, target: 90 %")
    closed = close(described, 1, flow("n1", "n2", rate), flow("n3", sink, 0.5))
    well, lost = closed.results
    failed = replace(lost, measurements=(), failure=Failure(stage, "gone", lost.test.target.node.id))
    (verdict,) = judge(described, replace(closed, results=(well, failed)))
    assert verdict.level is level
    assert ("ran into trouble on the same link" in verdict.because) is (level is Level.UNKNOWN)


@pytest.mark.parametrize(
    "stage",
    [
        FailedAt.UNREACHABLE, FailedAt.HOST_KEY_UNKNOWN, FailedAt.HOST_KEY_CHANGED, FailedAt.LOGIN,
        FailedAt.MISSING_TOOL, FailedAt.HELD, FailedAt.NO_PASSWORD, FailedAt.IN_USE, FailedAt.REFUSED,
        FailedAt.SKIPPED,
    ],
)  # fmt: skip
def test_a_test_that_never_sent_excuses_nothing(stage: FailedAt) -> None:
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.5), flow("n3", "n2", 0.5))
    well, other = closed.results
    failed = replace(other, measurements=(), failure=Failure(stage, "not begun", other.test.target.node.id))
    (verdict,) = judge(described, replace(closed, results=(well, failed)))
    assert verdict.level is Level.FAIL


FORTH, BACK = (("n1", "n3"), ("n3", "n2")), (("n2", "n3"), ("n3", "n1"))
"""Flows that share a cable with what n1 sends to n2, and with what n2 sends back."""


@pytest.mark.parametrize(
    ("directions", "disturbs"),
    [(Directions.FORWARD, FORTH), (Directions.REVERSED, BACK), (Directions.BOTH, FORTH + BACK)],
)
def test_a_test_in_trouble_disturbs_each_way_that_it_sent(
    directions: Directions, disturbs: tuple[tuple[str, str], ...]
) -> None:
    described = star()
    unknown = []
    for source, sink in FORTH + BACK:
        broken = Sent("n1", "n2", (), sending=Sending(directions=directions))
        closed = close(described, 1, flow(source, sink, 0.5), broken)
        well, lost = closed.results
        failed = replace(lost, failure=Failure(FailedAt.LOST, "gone", lost.test.target.node.id))
        (verdict,) = judge(described, replace(closed, results=(well, failed)))
        unknown += [(source, sink)] if verdict.level is Level.UNKNOWN else []
        assert verdict.level in (Level.UNKNOWN, Level.FAIL)
    assert tuple(unknown) == disturbs


@pytest.mark.parametrize(
    ("value", "known"), [(math.inf, False), (math.nan, False), (1e30, False), (-1.0, False), (1.0, True)]
)
def test_a_flow_with_a_value_that_no_measurement_gives_is_unknown(value: float, known: bool) -> None:
    (verdict,) = judge(star(), close(star(), 1, flow("n1", "n2", value)))
    assert (verdict.level, verdict.value is None) == ((Level.PASS, False) if known else (Level.UNKNOWN, True))
    assert (verdict.subject, verdict.kind, verdict.evidence) == ("n1>n2", Yardstick.CAPACITY, ("1/0#0",))


@pytest.mark.parametrize("metric", ["iperf3.throughput, where: {direction: in}", "iperf3.throughput, nodes: n3"])
def test_a_criterion_that_does_not_speak_of_such_a_flow_gives_no_verdict_on_it(metric: str) -> None:
    criterion = f"criteria: [{{metric: {metric}, at_most: 80 %, of: capacity}}]\n"
    described = load_text(STAR + criterion, "star.yaml")
    verdicts = judge(described, close(described, 1, flow("n1", "n2", math.inf)))
    assert len(verdicts) == 1  # that of the default, which speaks of all


def test_the_load_of_such_a_flow_is_not_known_to_those_on_the_same_link() -> None:
    described = star()
    sent = flow("n1", "n3", 0.3), flow("n2", "n3", -1.0), flow("n4", "n5", 0.3)
    low, beside, wrong = judge(described, close(described, 1, *sent))
    assert [each.level for each in (low, beside, wrong)] == [Level.UNKNOWN, Level.FAIL, Level.UNKNOWN]
    assert "n2>n3 ran into trouble on the same link" in low.because


def test_a_bundle_with_such_a_flow_is_judged_by_the_others_and_the_flow_is_unknown() -> None:
    described = star()
    bundle = Bundle("into n3", (into(described, "n3"),))
    sent = [flow(source, "n3", rate, "into n3") for source, rate in (("n1", 0.5), ("n2", 0.5), ("n4", math.nan))]
    verdicts = judge(described, close(described, 1, *sent, bundles=(bundle,)))
    assert [(each.subject, each.level) for each in verdicts] == [("into n3", Level.PASS), ("n4>n3", Level.UNKNOWN)]
    assert verdicts[0].evidence == ("1/0#0", "1/1#0")
