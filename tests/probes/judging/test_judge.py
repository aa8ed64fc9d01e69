"""Rounds in a table are judged as rounds of objects are, to the last word."""

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.criterion_match import matching
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.grading import grade
from benchconsole.probes.judging.judge import find_plain, judge_round, judge_table
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Yardstick
from benchconsole.probes.model.measurement_table import make_verdicts, tabulate
from benchconsole.probes.model.measuring import Fact, FailedAt, Failure, Reading, Result, Round, Target, Test, labels
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Criterion, NodeId
from benchconsole.topology.units import Unit
from tests.fabrics import METRICS
from tests.probes.judging.rounds import STAR

FABRIC = load_text(
    """\
schema: 1
fabric: toy
classes:
  old: {peak: 1 TFLOP/s, peak_basis: AVX base, cpu: {sockets: 2}}
  new: {peak: 2 TFLOP/s}
  bare: {}
nodes: {"n[1-4]": {class: old}, "n[5-8]": {class: new}, n9: {class: bare}}
criteria:
  - {metric: t.rate, at_least: 80 %, of: peak, target: 90 %, round: 1 %, source: "4.1"}
  - {metric: t.rate, at_least: 1.3 TFLOP/s, nodes: "n[3-8]", where: {size: large}}
  - {metric: t.delay, at_most: 2 ms, target: 1 ms}
  - {metric: t.delay, at_most: 2.5 ms, where: {nodes: "1"}}
  - {metric: t.delay, at_most: 2 ms, where: {nodes: "2"}}
""",
    "toy.yaml",
)
ROUNDED = [replace(each, rounding=2e-4) if each.where == (("nodes", "1"),) else each for each in FABRIC.criteria]
NODES = tuple(FABRIC.nodes.values())
CONTEXT = JudgingContext(replace(FABRIC, criteria=tuple(ROUNDED)), {})


def close(probe: str = "t") -> ClosedRound:
    """Every node with rates of two sizes, above and below every bound, and delays; one of them failed."""
    results = []
    for place, node in enumerate(FABRIC.nodes.values()):
        test = Test(f"1.{place}", probe, Target(node), 1)
        rates = [(0.7e12 + 0.1e12 * place) * (1 + size) for size in (0, 1)]
        readings = [
            *(Reading(f"{probe}.rate", rates[n], Unit.FLOP_RATE, labels(size=("small", "large")[n])) for n in (0, 1)),
            *(Reading(f"{probe}.delay", 0.0007 * n + 0.0001 * place, Unit.SECOND) for n in range(5)),
            Reading(f"{probe}.other", 1.0, Unit.ONE),
        ]
        measured = tuple(replace(each, id=f"1.{place}#{n}") for n, each in enumerate(readings))
        results.append(Result(test, measurements=measured, facts=(Fact("cpu.sockets", 1.0),)))
    gone = results[3].test
    results[3] = Result(gone, failure=Failure(FailedAt.TIMEOUT, "silent", gone.target.node.id))
    planned = Round(1, "stage", probe, tuple(each.test for each in results), 1.0, "")
    return ClosedRound(planned, tuple(results), CloseReason.COMPLETE, 0.0, 1.0)


def empty(closed: ClosedRound) -> ClosedRound:
    """The round as it is read where its measurements come in a table."""
    return replace(closed, results=tuple(replace(each, measurements=()) for each in closed.results))


def test_each_measurement_that_a_criterion_means_is_graded_by_it_in_order() -> None:
    """Of every result in turn: every criterion in the order of the file, and what it means of the result."""
    closed = close()
    pair = Test("1.pair", "t", Target(NODES[0], NODES[1]), 1)
    both = Result(
        pair, measurements=tuple(replace(each, id=f"pair{each.id}") for each in closed.results[0].measurements)
    )
    criteria = [replace(each, source=str(number)) for number, each in enumerate(ROUNDED)]
    context = JudgingContext(replace(FABRIC, criteria=tuple(criteria)), {})
    found = judge_round(context, replace(closed, results=(*closed.results, both)))
    expected = [
        (each.source, reading.id, grade_by(each, reading.value) if reading.unit is Unit.SECOND else None)
        for result in (*closed.results, both)
        for each in criteria
        for reading in matching(each, result)
    ]
    told = [each for each in found if each.kind is Yardstick.CRITERION]
    levels = [each.level if each.unit is Unit.SECOND else None for each in told]  # rates may be above a peak
    assert [(each.source, each.evidence[0], level) for each, level in zip(told, levels, strict=True)] == expected
    assert {each.source for each in told} == {"0", "1", "2", "3", "4"}


def grade_by(criterion: Criterion, value: float) -> Level:
    return grade(
        value,
        criterion.required,
        comparator=criterion.comparator,
        target=criterion.target,
        step=criterion.rounding,
    )


def test_a_table_gets_the_verdicts_of_its_objects() -> None:
    closed = close()
    assert find_plain(CONTEXT, [closed.round]) == {closed.round.number}
    verdicts = judge_round(CONTEXT, closed)
    table = tabulate(closed.results)
    judged = judge_table(CONTEXT, empty(closed), table)
    assert (*judged.hardware, *make_verdicts(closed.results, table, judged.measured)) == verdicts
    assert {each.level for each in verdicts} == set(Level)
    assert judged.hardware


def test_the_low_verdicts_of_a_table_give_the_same_findings() -> None:
    closed = close()
    verdicts = judge_round(CONTEXT, closed)
    judged = judge_table(CONTEXT, empty(closed), tabulate(closed.results))
    assert judged.low.verdicts == tuple(each for each in verdicts if each.level in (Level.FAIL, Level.WATCH))
    found = list_findings(CONTEXT, [judged.low])
    assert found
    assert found == list_findings(CONTEXT, [replace(closed, verdicts=verdicts)])


def test_a_repeat_in_a_table_takes_back_what_it_repeats() -> None:
    closed = close()
    better = [replace(each, measurements=(), failure=None) for each in closed.results]
    again = replace(closed, round=replace(closed.round, number=2), results=tuple(better))
    low = [judge_table(CONTEXT, empty(each), tabulate(each.results)).low for each in (closed, again)]
    assert list_findings(CONTEXT, low[:1])
    assert {each.probe for each in list_findings(CONTEXT, low)} == {"t"}  # the declared facts alone are still wrong
    assert all("sockets" in each.what for each in list_findings(CONTEXT, low))


@pytest.mark.parametrize(
    ("target", "plain"),
    [
        (Target(NODES[0]), True),
        (Target(NODES[0], NODES[1]), False),
        (Target(NODES[0], members=(NODES[0],)), True),
        (Target(NODES[0], members=(NODES[0], NODES[1])), False),
        (Target(NODES[0], options={"shared": "scratch"}), False),
    ],
)
def test_plain_rounds_are_of_single_nodes_by_themselves(target: Target, plain: bool) -> None:
    planned = Round(1, "stage", "t", (Test("1", "t", target, 1),), 1.0, "")
    assert find_plain(CONTEXT, [planned]) == ({1} if plain else set())


def test_a_node_by_itself_is_not_plain_where_its_probe_tests_sets() -> None:
    """The sets that are good clear nodes, so the good ones of one node have to be at hand."""
    alone, together = Target(NODES[0], members=NODES[:1]), Target(NODES[0], members=NODES[:2])
    plan = [Round(n, "stage", "t", (Test(str(n), "t", each, n),), 1.0, "") for n, each in ((1, alone), (2, together))]
    other = Round(3, "stage", "u", (Test("3", "u", alone, 3),), 1.0, "")
    assert find_plain(CONTEXT, [*plan, other]) == {3}


def test_rounds_that_are_held_against_the_fabric_are_not_plain() -> None:
    described = load_text(STAR, "star.yaml")
    lone = Round(1, "stage", "iperf3", (Test("1", "iperf3", Target(described.nodes[NodeId("n1")]), 1),), 1.0, "")
    assert find_plain(JudgingContext(described, METRICS), [lone, replace(lone, number=2, probe="fio")]) == {2}
