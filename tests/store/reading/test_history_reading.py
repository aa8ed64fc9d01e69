"""The numbers of nodes over sessions: those that count, with the verdicts of the last judgement, by keys of the file."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict
from benchconsole.probes.model.measuring import Result, Round, Target, Test
from benchconsole.store.errors import UnknownSessionError
from benchconsole.store.files.database import Database
from benchconsole.store.model import NewSession, NumberVerdict
from benchconsole.store.reading import history_reading
from benchconsole.store.reading.history_reading import (
    list_history_sessions,
    read_metric_values,
    read_node_values,
)
from benchconsole.store.store import Store
from benchconsole.topology.units import Shown
from tests.store.played import NODES, append_round, closed, failed, measured, new, planned, verdicts

METRIC = "iperf3.throughput"
PASSED = NumberVerdict(Level.PASS, 1.18e9, Shown.NETWORK, 1)


async def keep(store: Store, session: NewSession, *rounds: tuple[ClosedRound, Sequence[Verdict]]) -> str:
    """A stored session of these closed rounds."""
    key = await store.create_session(session, [each.round for each, _ in rounds])
    for each, judged in rounds:
        await append_round(store.session(key), each, tuple(judged), judged_by="j")
    return key


def of_node(path: Path, key: str, node: str) -> list[tuple[str, float, NumberVerdict | None]]:
    return [(each.test, each.value, each.verdict) for each in read_node_values(Database.open(path), key, node)]


def of_metric(path: Path, key: str, stage: str | None = None) -> set[tuple[str, float, NumberVerdict | None]]:
    found = read_metric_values(Database.open(path), key, METRIC, stage)
    return {(each.test, each.value, each.verdict) for each in found}


def again(each: Round, number: int) -> Round:
    """The same tests as a later round."""
    tests = tuple(replace(test, id=f"{number}.{test.id}", round=number) for test in each.tests)
    return replace(each, number=number, tests=tests)


async def test_the_sessions_of_one_fabric_oldest_first_and_none_of_another(tmp_path: Path) -> None:
    first, simulated = planned(1), replace(new("simulated", 50.0), simulated=True)
    with Store.open(tmp_path / "s.db") as store:
        await keep(store, new("late", 300.0), (closed(first), ()))
        await keep(store, new("early", 100.0), (closed(first), ()))
        await keep(store, replace(new("other"), fabric="pony"), (closed(first), ()))
        await keep(store, simulated, (closed(first), ()))
        await store.create_session(new("never run"), [first])
    database = Database.open(tmp_path / "s.db")
    real = list_history_sessions(database, "toy", simulated=False)
    assert [(each.label, each.started) for each in real] == [("early", 100.0), ("late", 300.0)]
    assert [each.label for each in list_history_sessions(database, "toy", simulated=True)] == ["simulated"]
    assert list_history_sessions(database, "nowhere", simulated=False) == ()


async def test_a_number_is_of_both_ends_of_its_test_and_of_nobody_else(tmp_path: Path) -> None:
    each = planned(1)
    with Store.open(tmp_path / "s.db") as store:
        key = await keep(store, new(), (closed(each), verdicts(each)))
    for node in ("n1", "n5"):
        assert of_node(tmp_path / "s.db", key, node) == [("1.0", 1.17e9, PASSED)]
    assert of_node(tmp_path / "s.db", key, "n9") == []
    (value,) = read_node_values(Database.open(tmp_path / "s.db"), key, "n2")
    assert (value.node, value.peer, value.stage, value.metric) == ("n2", "n6", "neighbours", METRIC)
    assert len(of_metric(tmp_path / "s.db", key)) == 4
    assert of_metric(tmp_path / "s.db", key, "neighbours") == of_metric(tmp_path / "s.db", key)
    assert of_metric(tmp_path / "s.db", key, "others") == set()


async def test_a_set_is_of_each_of_its_members(tmp_path: Path) -> None:
    test = Test("1.set", "hpl", Target(NODES[0], members=NODES[:3]), 1)
    each = Round(1, "hpl", "hpl", (test,), 1.0, "")
    with Store.open(tmp_path / "s.db") as store:
        key = await keep(store, new(), (closed(each), ()))
    for node in ("n1", "n2", "n3"):
        assert of_node(tmp_path / "s.db", key, node) == [("1.set", 1.17e9, None)]
    assert of_node(tmp_path / "s.db", key, "n4") == []
    (value,) = read_metric_values(Database.open(tmp_path / "s.db"), key, METRIC)
    assert value.members == ("n1", "n2", "n3")


async def test_the_last_closed_attempt_and_the_last_judgement_count(tmp_path: Path) -> None:
    each, path = planned(1, pairs=1), tmp_path / "s.db"
    with Store.open(path) as store:
        key = await keep(store, new(), (closed(each), verdicts(each)))
        slow = (measured(each.tests[0], 5e8),)
        number = await append_round(store.session(key), closed(each, slow), verdicts(each), judged_by="j")
        await store.session(key).append_verdicts({(1, number): verdicts(each, Level.FAIL)}, judged_by="later")
        await store.session(key).begin_round(1, at=2000.0)
        await store.session(key).append_result(1, number + 1, measured(each.tests[0], 1.0))
    expected = ("1.0", 5e8, PASSED._replace(level=Level.FAIL))
    assert of_node(path, key, "n1") == [expected]
    assert of_metric(path, key) == {expected}


@pytest.mark.parametrize("has_number", [True, False])
async def test_a_repeat_replaces_what_it_repeats_also_where_it_failed(tmp_path: Path, has_number: bool) -> None:
    first, path = planned(1, pairs=2), tmp_path / "s.db"
    second = again(first, 2)
    second = replace(second, tests=second.tests[:1])
    results: tuple[Result, ...] = (measured(second.tests[0], 9e8) if has_number else failed(second.tests[0]),)
    with Store.open(path) as store:
        key = await keep(store, new(), (closed(first), ()), (closed(second, results), ()))
    kept = {("1.1", 1.17e9, None), *([("2.1.0", 9e8, None)] if has_number else [])}
    assert of_metric(path, key) == of_metric(path, key, "neighbours") == kept
    assert {each for node in ("n1", "n2") for each in of_node(path, key, node)} == kept


async def test_a_stage_of_another_name_repeats_nothing(tmp_path: Path) -> None:
    first, path = planned(1, pairs=1), tmp_path / "s.db"
    second = replace(again(first, 2), stage="later")
    with Store.open(path) as store:
        key = await keep(store, new(), (closed(first), ()), (closed(second), ()))
    assert len(of_node(path, key, "n1")) == len(of_metric(path, key)) == 2


async def test_the_verdict_on_a_bundle_is_on_each_of_its_numbers_and_one_alone_goes_before_it(tmp_path: Path) -> None:
    each, path = planned(1, pairs=3), tmp_path / "s.db"
    lone, sum_of_two = verdicts(each)[0], replace(verdicts(each, Level.WATCH)[0], subject="trunk", value=2.34e9)
    evidence = tuple(f"{test.id}#0" for test in each.tests[:2])
    judged = (replace(sum_of_two, evidence=evidence, expected=2.36e9), lone)
    with Store.open(path) as store:
        key = await keep(store, new(), (closed(each), judged))
    shared = NumberVerdict(Level.WATCH, 2.36e9, Shown.NETWORK, 2)
    for number, verdict in enumerate((PASSED, shared, None)):
        expected = (f"1.{number}", 1.17e9, verdict)
        assert of_node(path, key, f"n{number + 1}") == [expected]
        assert expected in of_metric(path, key)


async def test_of_two_verdicts_on_a_number_the_worse_counts(tmp_path: Path) -> None:
    each, path = planned(1, pairs=1), tmp_path / "s.db"
    judged = (*verdicts(each), *verdicts(each, Level.FAIL), *verdicts(each, Level.WATCH))
    with Store.open(path) as store:
        key = await keep(store, new(), (closed(each), judged))
    assert [verdict and verdict.level for _, _, verdict in of_node(path, key, "n1")] == [Level.FAIL]


async def test_rounds_that_two_consoles_stored_meanwhile_are_told_apart(tmp_path: Path) -> None:
    """Their results and numbers are mixed in the file: the span of one attempt holds those of another."""
    each, path = planned(1, pairs=3), tmp_path / "s.db"
    with Store.open(path) as store:
        keys = [await store.create_session(new(label), [each]) for label in "ab"]
        for key in keys:
            await store.session(key).begin_round(1, at=1000.0)
        for test in each.tests:
            for place, key in enumerate(keys):
                await store.session(key).append_result(1, 1, measured(test, 1e9 + place))
        for place, key in enumerate(keys):
            results = tuple(measured(test, 1e9 + place) for test in each.tests)
            await store.session(key).close_round(replace(closed(each, results), attempt=1, judged_by="j"))
    for place, key in enumerate(keys):
        assert of_metric(path, key) == {(f"1.{number}", 1e9 + place, None) for number in range(3)}


async def test_an_unknown_session_is_refused_and_an_unknown_metric_has_no_number(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key = await keep(store, new(), (closed(planned(1)), ()))
    database = Database.open(tmp_path / "s.db")
    assert read_metric_values(database, key, "nothing.such") == ()
    with pytest.raises(UnknownSessionError):
        read_node_values(database, "0", "n1")
    with pytest.raises(UnknownSessionError):
        read_metric_values(database, "0", METRIC)


@pytest.mark.parametrize(
    ("statement", "values", "indexes"),
    [
        (history_reading._TESTS_OF_NODE, (1, "n1"), ("test_at", "test_to", "test_of_set")),
        (history_reading._VERDICTS_OF_TESTS, ("[]", 1), ("verdict_on",)),
        (history_reading._NUMBERS, (1,), ("sqlite_autoindex_measurement_1",)),
        (history_reading._SPAN, (1,), ("sqlite_autoindex_measurement_1", "sqlite_autoindex_result_1")),
    ],
)
async def test_no_table_is_read_whole(
    tmp_path: Path, statement: str, values: Sequence[object], indexes: Sequence[str]
) -> None:
    with Store.open(tmp_path / "s.db") as store:
        await keep(store, new(), (closed(planned(1)), ()))
    with Database.open(tmp_path / "s.db").reading() as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    assert all(any(name in step for step in plan) for name in indexes), plan
    tables = ("test", "verdict", "measurement", "result", "attempt", "round", "output")
    assert not [step for step in plan if step.split()[0] == "SCAN" and step.split()[1] in tables], plan
    assert not [step for step in plan if "output" in step]
