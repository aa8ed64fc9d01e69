"""The sum of what loads a storage system at once against its ceiling: levels, unknown sums, and that no part fails."""

import math
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Metric, Output, Reading, Target, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.criterion_scope import list_scopes
from benchconsole.probes.judging.judge import find_plain, judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict
from benchconsole.probes.model.measuring import FailedAt, Failure, Result, Round, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.selection import choose

CEILING = 3e9
"""byte/s: three servers with 8 Gb/s each, all of it payload."""

SITE = load_text(
    """\
schema: 1
fabric: site
networks: {flat: {goodput: 100 %}}
switches: {leaf: {role: leaf}}
nodes: {"n[1-8]": {}, "st[1-3]": {role: storage}}
links:
  - {from: "n[1-8],st[1-3]", to: leaf, speed: 8 Gb/s, network: flat}
storage:
  lake: {servers: "st[1-3]", required: 60 %, target: 80 %, clients: {near: {nodes: "n[1-8]"}}}
criteria:
  - {metric: ior.throughput, of: ceiling, source: "4.1"}
""",
    "site.yaml",
)
CONTEXT = JudgingContext(SITE, {"ior.throughput": Metric("ior.throughput", Unit.BYTE_RATE, "moved")})


def close(*sets: tuple[str, float | None], bundle: str = "both", operation: str = "write") -> ClosedRound:
    """A round of sets of nodes, each with its share of the ceiling; None for a test that failed."""
    results = []
    for index, (names, share) in enumerate(sets):
        nodes = tuple(SITE.nodes[NodeId(name)] for name in choose(names, SITE.nodes, {}))
        target = Target(nodes[0], options=MappingProxyType({"shared": "lake"}), members=nodes)
        test = Test(f"1/{index}", "ior", target, 1, bundle)
        told = labels(operation=operation, tasks=str(len(nodes)))
        measured = [] if share is None else [Reading("ior.throughput", share * CEILING, Unit.BYTE_RATE, told)]
        failure = Failure(FailedAt.TOOL, "ended with 1", nodes[0].id) if share is None else None
        named = tuple(replace(each, id=f"{test.id}#0") for each in measured)
        results.append(Result(test, measurements=named, failure=failure))
    made = Round(1, "ior (both)", "ior", tuple(each.test for each in results), 1.0, "")
    return ClosedRound(made, tuple(results), CloseReason.COMPLETE, 0.0, 1.0)


def judge(*sets: tuple[str, float | None], bundle: str = "both", operation: str = "write") -> tuple[Verdict, ...]:
    return judge_round(CONTEXT, close(*sets, bundle=bundle, operation=operation))


@pytest.mark.parametrize(
    ("one", "other", "level"),
    [(0.5, 0.4, Level.PASS), (0.35, 0.45, Level.PASS), (0.35, 0.449, Level.WATCH), (0.3, 0.3, Level.WATCH),
     (0.3, 0.299, Level.FAIL), (0.6, 0.44, Level.PASS), (0.6, 0.46, Level.UNKNOWN)],
)  # fmt: skip
def test_the_sum_is_held_against_the_ceiling(one: float, other: float, level: Level) -> None:
    (verdict,) = judge(("n[1-4]", one), ("n[5-7]", other))
    assert (verdict.level, verdict.subject) == (level, "both")
    assert verdict.value == pytest.approx((one + other) * CEILING)
    assert verdict.required == pytest.approx(0.6 * CEILING)
    assert verdict.evidence == ("1/0#0", "1/1#0")
    assert verdict.nodes == tuple(f"n{number}" for number in range(1, 8))
    assert dict(verdict.labels) == {"operation": "write"}  # the numbers of tasks differ


def test_tests_of_no_bundle_are_judged_one_by_one() -> None:
    found = judge(("n[1-4]", 0.7), ("n[5-7]", 0.2), bundle="")
    assert [(each.subject, each.level) for each in found] == [("n[1-4]", Level.WATCH), ("n[5-7]", Level.FAIL)]


def test_a_part_that_is_missing_leaves_a_low_sum_unknown_and_a_good_one_proven() -> None:
    (low,) = judge(("n[1-4]", 0.5), ("n[5-7]", None))
    assert low.level is Level.UNKNOWN
    assert "1 of 2 tests gave none" in low.because
    (good,) = judge(("n[1-4]", 0.9), ("n[5-7]", None))
    assert good.level is Level.PASS


def run_at(closed: ClosedRound, *times: tuple[float, float]) -> ClosedRound:
    """The round with tests that ran at these times (start, end in seconds)."""
    results = tuple(
        replace(
            result,
            outputs=(Output(("ior",), seconds=end - start),),
            measurements=tuple(replace(each, at=1e9 + end) for each in result.measurements),
        )
        for result, (start, end) in zip(closed.results, times, strict=True)
    )
    return replace(closed, results=results)


@pytest.mark.parametrize(
    ("late", "level"),
    [(0.0, Level.PASS), (1.0, Level.PASS), (3.0, Level.WATCH), (16.0, Level.WATCH), (17.0, Level.UNKNOWN)],
)
def test_a_sum_of_tests_that_ran_apart_is_no_pass(late: float, level: Level) -> None:
    closed = close(("n[1-4]", 0.45), ("n[5-7]", 0.4))
    (verdict,) = judge_round(CONTEXT, run_at(closed, (0.0, 40.0), (late, 40.0 + late)))
    assert verdict.level is level, verdict.because
    assert ("ran apart" in verdict.because) is (late > 2.0)
    assert verdict.value == pytest.approx(0.85 * CEILING)


def test_a_low_sum_of_tests_that_ran_apart_is_low() -> None:
    closed = close(("n[1-4]", 0.3), ("n[5-7]", 0.2))
    (verdict,) = judge_round(CONTEXT, run_at(closed, (0.0, 40.0), (30.0, 70.0)))
    assert verdict.level is Level.FAIL


def test_a_sum_above_the_ceiling_is_unknown_also_where_its_tests_ran_apart() -> None:
    closed = close(("n[1-4]", 0.7), ("n[5-7]", 0.7))
    (verdict,) = judge_round(CONTEXT, run_at(closed, (0.0, 40.0), (20.0, 60.0)))
    assert verdict.level is Level.UNKNOWN
    assert "above the ceiling" in verdict.because
    assert "in the 1:00 from the first start to the last end they gave 2.80 GB/s together" in verdict.because


@pytest.mark.parametrize(
    ("one", "why"), [(math.nan, "nan is no number"), (-0.3, "is less than 0"), (1e15, "any machine")]
)
def test_a_sum_with_a_number_that_cannot_be_right_is_unknown(one: float, why: str) -> None:
    (verdict,) = judge(("n[1-4]", one), ("n[5-7]", 1.0))
    assert verdict.level is Level.UNKNOWN
    assert why in verdict.because


def test_of_a_part_of_what_ran_at_once_nothing_is_said() -> None:
    (criterion,) = SITE.criteria
    near = replace(criterion, nodes=frozenset(NodeId(f"n{number}") for number in range(1, 5)))
    context = JudgingContext(replace(SITE, criteria=(near,)), CONTEXT.metrics)
    (verdict,) = judge_round(context, close(("n[1-4]", 0.9), ("n[5-7]", 0.1)))
    assert verdict.level is Level.UNKNOWN
    assert "speaks of 1 of 2 tests" in verdict.because


def test_what_neither_reads_nor_writes_has_no_ceiling() -> None:
    (verdict,) = judge(("n[1-4]", 0.9), ("n[5-7]", 0.1), operation="open")
    assert verdict.level is Level.UNKNOWN
    assert verdict.required is None


def test_several_numbers_of_a_test_are_not_added_up() -> None:
    closed = close(("n[1-4]", 0.3), ("n[5-7]", 0.3))
    first = closed.results[0]
    twice = replace(first, measurements=(*first.measurements, replace(first.measurements[0], id="1/0#1")))
    (verdict,) = judge_round(CONTEXT, replace(closed, results=(twice, closed.results[1])))
    assert verdict.level is Level.UNKNOWN
    assert "several numbers" in verdict.because


def test_the_scope_of_the_criterion_is_the_bundle() -> None:
    closed = close(("n[1-4]", 0.5), ("n[5-7]", 0.4))
    results = {each.test.id: each for each in closed.results}
    (scope,) = list_scopes(SITE.criteria, closed.round.tests, results, judge_round(CONTEXT, closed))
    assert (scope.met, scope.missed) == (("both",), ())
    (silent,) = list_scopes(SITE.criteria, closed.round.tests, results, ())
    assert silent.missed == ("both",)


def test_a_round_that_is_judged_by_its_sum_is_not_plain() -> None:
    nodes = [SITE.nodes[NodeId(name)] for name in ("n1", "n2")]
    tests = tuple(Test(f"1/{node.id}", "ior", Target(node), 1, "clients=2") for node in nodes)
    bundled = Round(1, "ior", "ior", tests, 1.0, "")
    assert find_plain(CONTEXT, [bundled]) == frozenset()
    alone = replace(bundled, tests=tuple(replace(test, bundle="") for test in tests))
    assert find_plain(CONTEXT, [alone]) == {1}
