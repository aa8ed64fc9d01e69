"""When a sweep ends early: only where what was measured says so, and the same however often it is asked."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import FailedAt, Failure, Reading, Result, Round, Test
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.sweeps import (
    SweepEndings,
    find_throughput_metric,
    make_skipped_results,
    was_skipped,
)
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.units import Unit
from tests.probes.played import Alone, Pair
from tests.probes.stepped import IOR, Stepped

Rates = Mapping[str, float]


def rounds(stage: str) -> tuple[Round, ...]:
    text = f"schema: 1\nfabric: x\nnodes: {{'n[1-2]': {{}}}}\nsuites: {{s: [{{probe: ior, {stage}}}]}}\n"
    found = load_text(text, "x.yaml")
    return plan(found, found.suites["s"], IOR)


def played(each: Round, rate: Callable[[Test], float]) -> ClosedRound:
    results = []
    for test in each.tests:
        value = rate(test)
        reading = Reading("ior.write", value, Unit.BYTE_RATE, test.target.labels)
        failure = None if value else Failure(FailedAt.TOOL, "exit status 1", test.target.node.id)
        found = (replace(reading, id=f"{test.id}#0"),) if value else ()
        results.append(Result(test, measurements=found, failure=failure))
    return ClosedRound(each, tuple(results), CloseReason.COMPLETE, 0.0, 1.0)


def run(plan_of: tuple[Round, ...], rate: Callable[[Test], float]) -> tuple[list[Round], list[str]]:
    """The rounds that are run when every spared one is left out, and what is told."""
    endings, ran, told = SweepEndings(plan_of, IOR), [], []
    for each in plan_of:
        why = endings.find_reason(each)
        closed = played(each, rate)
        if why:
            closed = replace(closed, results=make_skipped_results(each, why))
        else:
            ran.append(each)
        told.append(endings.add_round(closed))
    return ran, [words for words in told if words]


def tasks(ran: list[Round]) -> list[str]:
    return list(dict.fromkeys(value for each in ran if each.swept for _, value in each.swept.point[-1:]))


@pytest.mark.parametrize(
    ("after", "values", "ran"),
    [
        (1, [1.0, 2.0, 4.0, 4.1, 9.0, 9.0], 4),
        (2, [1.0, 2.0, 4.0, 4.1, 4.15, 9.0], 5),
        (2, [1.0, 2.0, 4.0, 4.1, 9.0, 9.0], 6),
        (2, [1.0, 1.04, 1.08, 1.12, 1.16, 1.2], 6),
        (2, [4.0, 3.0, 2.0, 9.0, 9.0, 9.0], 3),
        (2, [4.0, 3.0, 4.3, 3.0, 2.0, 9.0], 5),
        (100, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 6),
        (1, [1.0, 1.05, 1.1025, 1.2, 1.3, 1.4], 6),
    ],
)
def test_a_sweep_ends_where_nothing_is_won_any_more(after: int, values: list[float], ran: int) -> None:
    found = rounds(f"sweep: {{tasks: 1..6}}, repeat: 3, stop: {{gain: 5 %, after: {after}}}")
    done, told = run(found, lambda test: values[int(dict(test.target.labels)["tasks"]) - 1] * 1e9)
    assert tasks(done) == [str(index) for index in range(1, ran + 1)]
    assert len(done) == ran * 3
    assert len(told) == (ran < 6)


def test_it_is_told_why() -> None:
    found = rounds("sweep: {tasks: 1..64 x2}, stop: {gain: 5 %, after: 2}")
    ran, (words,) = run(found, lambda test: min(int(dict(test.target.labels)["tasks"]), 4) * 1e9)
    assert words == (
        "ior over tasks: ended at tasks=16: ior.write gained less than 5 % since tasks=4; 2 rounds not needed any more"
    )
    assert tasks(ran) == ["1", "2", "4", "8", "16"]


def test_a_point_without_all_its_numbers_is_no_evidence() -> None:
    found = rounds("sweep: {tasks: 1..5}, stop: {gain: 5 %}")
    ran, told = run(found, lambda test: 0.0 if test.target.key == "n2" and test.round % 2 else test.round * 1e9)
    assert len(ran) == 5
    assert told == []


@pytest.mark.parametrize("wrong", [1.7e308, -1e12, float("nan")])
def test_a_point_with_a_number_that_cannot_be_right_is_no_evidence(wrong: float) -> None:
    found = rounds("sweep: {tasks: 1..5}, stop: {gain: 5 %}")
    ran, told = run(found, lambda test: wrong if test.target.key == "n2" and test.round == 2 else test.round * 1e9)
    assert len(ran) == 5
    assert told == []


def test_a_slow_repetition_is_outvoted() -> None:
    found = rounds("sweep: {tasks: 1..4}, repeat: 3, stop: {gain: 5 %}")
    ran, told = run(found, lambda test: 1.0 if ("repetition", "2") in test.target.labels else test.round * 1e9)
    assert len(ran) == 12
    assert told == []


def test_each_line_of_a_product_ends_by_itself() -> None:
    found = rounds("nodes: n1, sweep: {block: [4 KiB, 1 MiB], tasks: 1..4}, stop: {gain: 5 %}")
    ran, told = run(
        found,
        lambda test: (1 if ("block", "4 KiB") in test.target.labels else int(dict(test.target.labels)["tasks"])) * 1e9,
    )
    assert [each.swept.point for each in ran if each.swept] == [
        (("block", "4 KiB"), ("tasks", "1")), (("block", "4 KiB"), ("tasks", "2")),
        *((("block", "1 MiB"), ("tasks", str(index))) for index in range(1, 5)),
    ]  # fmt: skip
    assert len(told) == 1


@pytest.mark.parametrize(
    ("stage", "ends"),
    [(FailedAt.TOOL, True), (FailedAt.TIMEOUT, True), (FailedAt.UNREACHABLE, False), (FailedAt.IN_USE, False)],
)
def test_a_failure_ends_a_sweep_that_says_so_where_it_is_of_the_test(stage: FailedAt, ends: bool) -> None:
    found = rounds("sweep: {tasks: 1..4}, repeat: 2, stop: {on: failure}")
    endings = SweepEndings(found, IOR)
    first = played(found[2], lambda _: 1e9)
    failed = replace(
        first.results[0], measurements=(), failure=Failure(stage, "x", first.results[0].test.target.node.id)
    )
    assert endings.add_round(played(found[0], lambda _: 1e9)) == ""
    told = endings.add_round(replace(first, results=(failed, *first.results[1:])))
    assert bool(told) == ends
    assert [bool(endings.find_reason(each)) for each in found] == [False] * 3 + [ends] * 5
    if ends:
        assert told.startswith(f"ior over tasks: ended by a failure at tasks=2: {stage} on n1; 5 rounds")
        assert all(map(was_skipped, make_skipped_results(found[4], endings.find_reason(found[4]))))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([1.0, 1.03, 2.0, 4.0, 0.0]), min_size=5, max_size=5), st.integers(1, 3), st.booleans())
def test_a_resumed_sweep_ends_where_the_first_would_have(values: list[float], after: int, on_failure: bool) -> None:
    rule = f"{{gain: 5 %, after: {after}{', on: failure' if on_failure else ''}}}"
    found = rounds(f"nodes: n1, sweep: {{tasks: 1..5}}, stop: {rule}")

    def rate(test: Test) -> float:
        return values[int(dict(test.target.labels)["tasks"]) - 1]

    whole, _ = run(found, rate)
    for cut in range(len(found)):
        again = SweepEndings(found, IOR)
        for each in found[:cut]:
            why = again.find_reason(each)
            again.add_round(
                replace(played(each, rate), results=make_skipped_results(each, why)) if why else played(each, rate)
            )
        resumed = [each for each in found[:cut] if each in whole]
        for each in found[cut:]:
            if not again.find_reason(each):
                resumed.append(each)
                again.add_round(played(each, rate))
        assert resumed == whole


def test_the_first_throughput_is_compared() -> None:
    assert find_throughput_metric(Stepped()) == "ior.write"
    assert find_throughput_metric(Pair()) == "iperf3.throughput"
    assert find_throughput_metric(Alone()) == ""
