"""Criteria on all numbers together: every border between a number and a level, and what makes one unknown."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pytest

from benchconsole.probes.api import Metric, Output, Reading, Target, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.physical_limits import describe_excess
from benchconsole.probes.judging.session_criteria import SessionJudgement, judge_session
from benchconsole.probes.judging.session_text import list_session_findings
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Confidence, Finding, Level, Suspect
from benchconsole.probes.model.measuring import Result, Round, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.baseline import BaselineNumbers, BaselineValue
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.units import Shown

TEXT = """\
schema: 1
fabric: toy
classes: {blade: {peak: 800 GFLOP/s}, bare: {}}
switches: {leaf: {role: leaf}}
nodes: {"n[1-6]": {class: blade}, "m[1-6]": {class: bare}}
links: [{from: "n[1-6],m[1-6]", to: leaf, speed: 10 Gb/s}]
criteria:
"""
GB = 1e9
NODES = tuple(f"n{number}" for number in range(1, 7))


def machine(*criteria: str) -> Fabric:
    return load_text(TEXT + "".join(f"  - {{{each}}}\n" for each in criteria), "toy.yaml")


def close(
    fabric: Fabric, metric: str, values: Mapping[str, float], number: int = 1, unit: Unit = Unit.BYTE_RATE, **tags: str
) -> ClosedRound:
    tests = {name: Test(f"t{number}-{name}", metric.partition(".")[0], Target(fabric.nodes[NodeId(name)]), number)
             for name in values}  # fmt: skip
    results = tuple(
        Result(tests[name], measurements=(Reading(metric, value, unit, labels(**tags), id=f"m{number}-{name}"),))
        for name, value in values.items()
    )
    planned = Round(number, f"stage {number}", metric.partition(".")[0], tuple(tests.values()), 1.0, "")
    return ClosedRound(planned, results, CloseReason.COMPLETE, 0.0, 1.0)


def judge(fabric: Fabric, *rounds: ClosedRound) -> tuple[SessionJudgement, ...]:
    results = [result for each in rounds for result in each.results]
    return tuple(judge_session(fabric.criteria, results, lambda metric: Shown.PLAIN, find_excess(fabric)))


def find_excess(fabric: Fabric) -> Callable[[Test, Reading], str]:
    return partial(describe_excess, JudgingContext(fabric, {}))


def find(fabric: Fabric, *rounds: ClosedRound) -> tuple[Finding, ...]:
    metrics = {name: Metric(name, Unit.BYTE_RATE, "") for name in ("stream.triad", "fio.read")}
    context = JudgingContext(fabric, metrics)
    return list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in rounds])


def spread(values: Sequence[float], names: Sequence[str] = NODES) -> dict[str, float]:
    return {name: value * GB for name, value in zip(names, values, strict=True)}


VALUES = (64.0, 66.0, 68.0, 70.0, 72.0, 80.0)
"""Mean 70, median 69, sum 420."""


@pytest.mark.parametrize(
    ("criterion", "level", "value"),
    [
        ("statistic: mean, at_least: 70 GB/s", Level.PASS, 70),
        ("statistic: mean, at_least: 70.1 GB/s", Level.FAIL, 70),
        ("statistic: mean, at_least: 69 GB/s, target: 70.1 GB/s", Level.WATCH, 70),
        ("statistic: mean, at_least: 70.4 GB/s, round: 1 GB/s", Level.FAIL, 70),
        ("statistic: mean, at_least: 69.6 GB/s, round: 1 GB/s", Level.PASS, 70),
        ("statistic: median, at_least: 69 GB/s", Level.PASS, 69),
        ("statistic: median, at_least: 69.1 GB/s", Level.FAIL, 69),
        ("statistic: lowest, at_least: 64 GB/s", Level.PASS, 64),
        ("statistic: highest, at_least: 80.1 GB/s", Level.FAIL, 80),
        ("statistic: sum, at_least: 420 GB/s", Level.PASS, 420),
        ("statistic: p50, at_least: 69 GB/s", Level.PASS, 69),
        ("statistic: p10, at_least: 65.1 GB/s", Level.FAIL, 65),
        ("statistic: mean, at_least: 100 %, of: 70 GB/s", Level.PASS, 1),
        ("statistic: mean, at_least: 101 %, of: 70 GB/s", Level.FAIL, 1),
    ],
)
def test_a_statistic_stands_for_all_numbers(criterion: str, level: Level, value: float) -> None:
    fabric = machine(f"metric: stream.triad, {criterion}")
    (found,) = judge(fabric, close(fabric, "stream.triad", spread(VALUES)))
    assert found.level is level
    assert found.value == pytest.approx(value if found.is_share else value * GB)
    assert (found.number, found.nodes) == (6, ())


def test_no_single_number_is_held_against_a_statistic() -> None:
    fabric = machine("metric: stream.triad, statistic: mean, at_least: 70 GB/s")
    context = JudgingContext(fabric, {"stream.triad": Metric("stream.triad", Unit.BYTE_RATE, "")})
    assert judge_round(context, close(fabric, "stream.triad", spread(VALUES))) == ()


def test_a_mean_is_of_shares_of_the_peaks() -> None:
    fabric = machine("metric: hpl.rate, statistic: mean, at_least: 86 %, of: peak, round: 1 %")
    (found,) = judge(fabric, close(fabric, "hpl.rate", dict.fromkeys(NODES, 697e9), unit=Unit.FLOP_RATE))
    assert (found.level, found.is_share) == (Level.PASS, True)
    assert found.value == pytest.approx(697 / 800)
    (unknown,) = judge(fabric, close(fabric, "hpl.rate", {"n1": 697e9, "m1": 697e9}, unit=Unit.FLOP_RATE))
    assert (unknown.level, unknown.because) == (Level.UNKNOWN, "no peak is declared of some of its nodes")


def test_a_sum_over_several_rounds_is_no_rate() -> None:
    fabric = machine("metric: stream.triad, statistic: sum, at_least: 100 GB/s")
    rounds = [close(fabric, "stream.triad", {"n1": 70 * GB}), close(fabric, "stream.triad", {"n2": 70 * GB}, 2)]
    (found,) = judge(fabric, *rounds)
    assert found.level is Level.UNKNOWN


@pytest.mark.parametrize(
    ("late", "unit", "level"),
    [
        (0.0, Unit.BYTE_RATE, Level.PASS),
        (10.0, Unit.BYTE_RATE, Level.UNKNOWN),
        (10.0, Unit.BYTE, Level.PASS),  # bytes add up whenever they were moved
    ],
)
def test_a_sum_of_rates_of_tests_that_ran_apart_is_not_known(late: float, unit: Unit, level: Level) -> None:
    size = "B/s" if unit is Unit.BYTE_RATE else "B"
    fabric = machine(f"metric: dd.moved, statistic: sum, at_least: 140 G{size}")
    closed = close(fabric, "dd.moved", {"n1": 70 * GB, "n2": 70 * GB}, unit=unit)
    results = tuple(
        replace(
            each,
            outputs=(Output(("dd",), seconds=30.0),),
            measurements=(replace(each.measurements[0], at=1e9 + 30.0 + place * late),),
        )
        for place, each in enumerate(closed.results)
    )
    (found,) = judge(fabric, replace(closed, results=results))
    assert found.level is level, found.because
    assert found.value == 140 * GB
    assert ("in the 40.0 s from the first start to the last end they gave 105" in found.because) is (
        level is Level.UNKNOWN
    )


def run_from(start: float, end: float, result: Result) -> Result:
    """The result of a test that ran from ``start`` to ``end``."""
    reading = replace(result.measurements[0], at=1e9 + end)
    return replace(result, outputs=(Output(("hpl",), seconds=end - start),), measurements=(reading,))


def test_a_sum_is_held_against_the_sum_of_the_peaks_and_weighed_by_the_times() -> None:
    text = TEXT.replace("bare: {}", "bare: {peak: 80 TFLOP/s}")
    asked = "  - {metric: hpl.rate, statistic: sum, at_least: 10.8 %, of: peak}\n"
    fabric = load_text(f"{text}{asked}", "toy.yaml")
    closed = close(fabric, "hpl.rate", {"n1": 0.8e12, "m1": 8e12}, unit=Unit.FLOP_RATE)
    short, long = closed.results
    apart = replace(closed, results=(run_from(0, 1, short), run_from(1, 101, long)))
    (found,) = judge(fabric, apart)
    assert found.level is Level.UNKNOWN
    assert found.value == pytest.approx(8.8 / 80.8)
    assert "they gave 9.8 % together" in found.because
    (at_once,) = judge(fabric, closed)
    assert at_once.level is Level.PASS


@pytest.mark.parametrize(("rate", "level"), [(0.3, Level.FAIL), (0.89, Level.FAIL), (0.91, Level.PASS)])
def test_a_sum_of_shares_of_peaks_is_no_share_of_one_peak(rate: float, level: Level) -> None:
    fabric = machine("metric: hpl.rate, statistic: sum, at_least: 90 %, of: peak")
    closed = close(fabric, "hpl.rate", dict.fromkeys(NODES, rate * 800e9), unit=Unit.FLOP_RATE)
    (found,) = judge(fabric, closed)
    assert found.level is level
    assert found.value == pytest.approx(rate)


@pytest.mark.parametrize(
    ("several", "level"),
    [
        ([{"statistic": "max"}, {"statistic": "mean"}], Level.UNKNOWN),
        ([{"iteration": "1"}, {"statistic": "mean"}], Level.UNKNOWN),
        ([{"pattern": "random"}, {"pattern": "sequential"}], Level.UNKNOWN),
        ([{"client": "n1"}, {"client": "n2"}], Level.PASS),
        ([{"client": "n1"}, {"client": "all"}], Level.UNKNOWN),
        ([{"client": "n1"}, {}], Level.UNKNOWN),
        ([{"client": "n1", "statistic": "max"}, {"client": "n2", "statistic": "mean"}], Level.UNKNOWN),
        ([{}], Level.FAIL),
    ],
)
def test_only_the_parts_of_a_load_add_up(several: Sequence[Mapping[str, str]], level: Level) -> None:
    fabric = machine("metric: fio.read, statistic: sum, at_least: 2 GB/s")
    closed = close(fabric, "fio.read", {"n1": GB})
    (result,) = closed.results
    readings = tuple(replace(result.measurements[0], labels=labels(**each)) for each in several)
    (found,) = judge(fabric, replace(closed, results=(replace(result, measurements=readings),)))
    assert found.level is level, found.because


@pytest.mark.parametrize(
    ("criterion", "value", "level"),
    [
        ("statistic: mean, at_most: 110 %, of: 100 s, round: 1 s", 110.4, Level.PASS),
        ("statistic: mean, at_most: 110 %, of: 100 s, round: 1 s", 110.5, Level.FAIL),
        ("statistic: mean, at_most: 110 %, of: 100 s, round: 1 s", 140.0, Level.FAIL),
        ("statistic: mean, at_most: 110 %, of: 100 s, round: 1 %", 110.4, Level.PASS),
        ("statistic: mean, at_most: 110 %, of: 100 s, round: 1 %", 110.5, Level.FAIL),
        ("at_most: 110 %, of: {metric: hpl.other}, round: 1 s", 110.4, Level.PASS),
        ("at_most: 110 %, of: {metric: hpl.other}, round: 1 s", 140.0, Level.FAIL),
    ],
)
def test_a_round_in_a_unit_is_a_step_of_the_value_and_not_of_its_share(
    criterion: str, value: float, level: Level
) -> None:
    fabric = machine(f"metric: hpl.time, {criterion}")
    rounds = (
        close(fabric, "hpl.time", {"n1": value}, unit=Unit.SECOND),
        close(fabric, "hpl.other", {"n1": 100.0}, 2, unit=Unit.SECOND),
    )
    (found,) = judge(fabric, *rounds)
    assert found.level is level, found.because


def test_a_round_in_a_unit_is_no_share_of_unlike_peaks() -> None:
    text = TEXT.replace("bare: {}", "bare: {peak: 80 TFLOP/s}")
    asked = "  - {metric: hpl.rate, statistic: mean, at_least: 50 %, of: peak, round: 10 GFLOP/s}\n"
    fabric = load_text(f"{text}{asked}", "toy.yaml")
    (alike,) = judge(fabric, close(fabric, "hpl.rate", {"n1": 0.396e12, "n2": 0.396e12}, unit=Unit.FLOP_RATE))
    assert alike.level is Level.PASS
    (unlike,) = judge(fabric, close(fabric, "hpl.rate", {"n1": 0.7e12, "m1": 70e12}, unit=Unit.FLOP_RATE))
    assert unlike.level is Level.UNKNOWN
    assert "unlike peaks" in unlike.because


def test_peers_are_those_with_the_same_labels() -> None:
    fabric = machine("metric: fio.read, at_least: 80 %, of: peers")
    serial = close(fabric, "fio.read", dict.fromkeys(NODES, 3 * GB), pattern="sequential")
    random = close(fabric, "fio.read", {**dict.fromkeys(NODES, 0.4 * GB), "n1": 0.04 * GB}, 2, pattern="random")
    judged = {each.subject: each.level for each in judge(fabric, serial, random)}
    assert len(judged) == 12
    assert [subject for subject, level in judged.items() if level is not Level.PASS] == ["n1 pattern random"]
    assert judged["n1 pattern random"] is Level.FAIL


@pytest.mark.parametrize(("rate", "level"), [(1.2, Level.PASS), (1.3, Level.UNKNOWN), (8.0, Level.UNKNOWN)])
def test_of_a_statistic_above_the_ports_of_a_node_nothing_is_known(rate: float, level: Level) -> None:
    fabric = load_text(
        TEXT.replace("criteria:", "storage: {scratch: {servers: m1}}\ncriteria:")
        + "  - {metric: ior.throughput, statistic: mean, at_least: 1 GB/s}\n",
        "toy.yaml",
    )
    closed = close(fabric, "ior.throughput", {"n1": rate * GB}, operation="read")
    (result,) = closed.results
    target = replace(result.test.target, options={"shared": "scratch"})
    shared = replace(result, test=replace(result.test, target=target))
    (found,) = judge(fabric, replace(closed, results=(shared,)))
    assert found.level is level, found.because
    assert ("a cache, or the number or the description is wrong" in found.because) is (level is Level.UNKNOWN)


def test_a_pair_below_its_baseline_blames_none_of_its_nodes() -> None:
    fabric = machine("metric: iperf3.throughput, at_least: 90 %, of: baseline")
    (result,) = close(fabric, "iperf3.throughput", {"n1": 0.5 * GB}).results
    pair = replace(result.test.target, peer=fabric.nodes[NodeId("n2")])
    numbers = BaselineNumbers("before", {("iperf3.throughput", "n1>n2", ()): BaselineValue(GB, ())})
    slow = replace(result, test=replace(result.test, target=pair))
    judged = judge_session(fabric.criteria, [slow], lambda metric: Shown.PLAIN, find_excess(fabric), numbers)
    (found,) = list_session_findings(judged)
    assert (found.suspect, found.nodes, found.nodes_at) == (Suspect.SET, ("n1", "n2"), ())
    assert found.confidence is Confidence.POSSIBLE
    assert not found.is_of("n1")


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), 1e21])
@pytest.mark.parametrize("statistic", ["mean", "median", "highest", "sum", "p50"])
def test_of_a_statistic_with_a_number_that_no_machine_gives_nothing_is_known(statistic: str, value: float) -> None:
    fabric = machine(f"metric: stream.triad, statistic: {statistic}, at_least: 1 GB/s")
    (found,) = judge(fabric, close(fabric, "stream.triad", {**spread(VALUES[:3], NODES[:3]), "n4": value}))
    assert (found.level, found.value) == (Level.UNKNOWN, None)
    assert found.because.startswith("n4: ")


@pytest.mark.parametrize(("rate", "level"), [(840e9, Level.PASS), (841e9, Level.UNKNOWN)])
def test_of_a_statistic_with_arithmetic_above_a_peak_nothing_is_known(rate: float, level: Level) -> None:
    fabric = machine("metric: hpl.rate, statistic: mean, at_least: 600 GFLOP/s")
    (found,) = judge(fabric, close(fabric, "hpl.rate", {"n1": 700e9, "n2": rate}, unit=Unit.FLOP_RATE))
    assert found.level is level
    assert ("n2: 105 % of peak" in found.because) is (level is Level.UNKNOWN)


def test_a_share_that_rests_on_a_wrong_number_is_unknown_and_peers_are_held_against_the_others() -> None:
    fabric = machine("metric: stream.triad, at_least: 90 %, of: peers")
    found = judge(fabric, close(fabric, "stream.triad", {**spread((70.0,) * 5, NODES[:5]), "n6": 1e25}))
    assert [each.level for each in found] == [Level.PASS] * 5 + [Level.UNKNOWN]
    assert "more than any machine gives" in found[-1].because
    of_other = machine("metric: stream.triad, at_least: 90 %, of: {metric: stream.copy}")
    rounds = [
        close(of_other, "stream.triad", {"n1": 70 * GB, "n2": 70 * GB, "n3": 70 * GB}),
        close(of_other, "stream.copy", {"n1": 70 * GB, "n2": 1e25}, 2),
    ]
    told = judge(of_other, *rounds)
    assert [each.level for each in told] == [Level.PASS, Level.UNKNOWN, Level.UNKNOWN]
    assert "more than any machine gives" in told[1].because
    assert "no value of stream.copy was measured there" in told[2].because


def test_only_what_a_criterion_speaks_of_is_in_its_statistic() -> None:
    fabric = machine(
        'metric: stream.triad, statistic: mean, at_least: 70 GB/s, nodes: "n[1-2]"',
        "metric: stream.triad, statistic: mean, at_least: 70 GB/s, where: {threads: 24}",
    )
    (found,) = judge(fabric, close(fabric, "stream.triad", spread(VALUES)))
    assert (found.number, found.value) == (2, 65 * GB)
    assert len(judge(fabric, close(fabric, "stream.triad", spread(VALUES), threads="24"))) == 2


@pytest.mark.parametrize(("random", "level"), [(0.2, Level.PASS), (0.1999, Level.FAIL), (0.3, Level.PASS)])
def test_random_is_at_least_a_fifth_of_serial_on_each_node(random: float, level: Level) -> None:
    fabric = machine(
        "metric: fio.read, where: {pattern: random}, at_least: 20 %, "
        "of: {metric: fio.read, where: {pattern: sequential}}"
    )
    serial = close(fabric, "fio.read", {"n1": 2 * GB, "n2": 1 * GB}, pattern="sequential")
    rounds = (serial, close(fabric, "fio.read", {"n1": random * 2 * GB, "n2": GB}, 2, pattern="random"))
    one, other = judge(fabric, *rounds)
    assert (one.subject, one.level) == ("n1", level)
    assert (other.subject, other.level) == ("n2", Level.PASS)
    found = find(fabric, *rounds)
    assert [(each.element, each.level) for each in found] == ([("n1", Level.FAIL)] if level is Level.FAIL else [])


def test_without_the_other_metric_a_share_is_unknown() -> None:
    fabric = machine("metric: fio.read, at_least: 20 %, of: {metric: fio.write}")
    (found,) = judge(fabric, close(fabric, "fio.read", {"n1": GB}))
    assert (found.level, found.because) == (Level.UNKNOWN, "no value of fio.write was measured there")


def test_nodes_are_held_against_the_median_of_their_class() -> None:
    fabric = machine("metric: stream.triad, at_least: 90 %, of: peers")
    slow = {**spread((100, 100, 101, 99, 100, 89)), **spread((50, 50, 50, 50, 50, 50), [f"m{n}" for n in range(1, 7)])}
    judged = {each.subject: each.level for each in judge(fabric, close(fabric, "stream.triad", slow))}
    assert judged == {**dict.fromkeys(slow, Level.PASS), "n6": Level.FAIL}
    (found,) = find(fabric, close(fabric, "stream.triad", slow))
    assert (found.suspect, found.nodes_at, found.level) == (Suspect.NODE, ("n6",), Level.FAIL)


def test_of_few_peers_nothing_is_known() -> None:
    fabric = machine("metric: stream.triad, at_least: 90 %, of: peers")
    judged = judge(fabric, close(fabric, "stream.triad", spread((100, 100, 100, 50), NODES[:4])))
    assert {each.level for each in judged} == {Level.UNKNOWN}


@pytest.mark.parametrize(
    ("options", "level", "because"),
    [
        ({}, Level.PASS, "95.0 % of the baseline before, at least 95 %"),
        ({"threads": 8}, Level.PASS, "95.0 % of the baseline before, at least 95 %"),
        ({"threads": 16}, Level.UNKNOWN, "the baseline before measured it otherwise: threads 16 against 8"),
    ],
)
def test_a_baseline_of_other_options_is_unknown(options: dict[str, int], level: Level, because: str) -> None:
    fabric = machine("metric: stream.triad, at_least: 95 %, of: baseline")
    closed = close(fabric, "stream.triad", {"n1": 95 * GB})
    (measured,) = closed.results
    target = replace(measured.test.target, options={"threads": 8})
    result = replace(measured, test=replace(measured.test, target=target))
    numbers = BaselineNumbers("before", {("stream.triad", "n1", ()): BaselineValue(100 * GB, (options,))})
    (found,) = judge_session(fabric.criteria, [result], lambda metric: Shown.PLAIN, find_excess(fabric), numbers)
    assert (found.level, found.because) == (level, because)


def test_a_baseline_with_a_wrong_number_is_unknown() -> None:
    fabric = machine("metric: stream.triad, at_least: 95 %, of: baseline")
    (measured,) = close(fabric, "stream.triad", {"n1": 95 * GB}).results
    value = BaselineValue(50 * GB, (), "n1: nan is no number that can be measured")
    numbers = BaselineNumbers("before", {("stream.triad", "n1", ()): value})
    (found,) = judge_session(fabric.criteria, [measured], lambda metric: Shown.PLAIN, find_excess(fabric), numbers)
    assert found.level is Level.UNKNOWN
    assert found.because == f"the baseline before has a wrong number of it there: {value.wrong}"


def test_a_statistic_that_misses_its_bound_accuses_no_node() -> None:
    fabric = machine("metric: stream.triad, statistic: mean, at_least: 71 GB/s, source: 5.1.1")
    (found,) = find(fabric, close(fabric, "stream.triad", spread(VALUES)))
    assert (found.suspect, found.nodes, found.nodes_at) == (Suspect.FABRIC, (), ())
    assert found.what == "stream.triad, mean of 6 values: 70.0 GB/s, below the required 71.0 GB/s"


def test_a_repeat_counts_instead_of_the_first() -> None:
    fabric = machine("metric: stream.triad, statistic: lowest, at_least: 65 GB/s")
    first, again = close(fabric, "stream.triad", spread(VALUES)), close(fabric, "stream.triad", {"n1": 66 * GB}, 2)
    again = replace(again, round=replace(again.round, stage=first.round.stage))
    assert len(find(fabric, first)) == 1
    assert find(fabric, first, again) == ()
