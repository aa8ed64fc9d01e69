"""The numbers of nodes over sessions: those that count, with the verdicts of the last judgement, by keys of the file."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from benchconsole.store.sqlite import Connection
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
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
    (found,) = read_node_values(Database.open(path), [key], node)
    return [(each.test, each.value, each.verdict) for each in found]


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
    ((value,),) = read_node_values(Database.open(tmp_path / "s.db"), [key], "n2")
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


async def test_a_repeat_without_this_number_replaces_what_it_repeats(tmp_path: Path) -> None:
    first, path = planned(1, pairs=2), tmp_path / "s.db"
    second = again(first, 2)
    other = replace(measured(second.tests[0]).measurements[0], metric="iperf3.retransmits", id="2.1.0#0")
    results = (replace(measured(second.tests[0]), measurements=(other,)), measured(second.tests[1], 9e8))
    with Store.open(path) as store:
        key = await keep(store, new(), (closed(first), ()), (closed(second, results), ()))
    assert of_metric(path, key) == {("2.1.1", 9e8, None)}
    assert [test for test, *_ in of_node(path, key, "n1")] == ["2.1.0"]


async def test_sessions_are_asked_together_and_told_apart(tmp_path: Path) -> None:
    each, path = planned(1, pairs=2), tmp_path / "s.db"
    with Store.open(path) as store:
        keys = [
            await keep(store, new(str(value)), (closed(each, tuple(measured(test, value) for test in each.tests)), ()))
            for value in (1e9, 2e9, 3e9)
        ]
    for asked in (keys, keys[::-1], [keys[1]], []):
        found = read_node_values(Database.open(path), asked, "n1")
        wanted = [[(keys.index(key) + 1) * 1e9] for key in asked]
        assert [[value.value for value in values] for values in found] == wanted


OUTCOMES = ("number", "other number", "nothing", "failure", "no result")
ROUNDS = st.lists(
    st.tuples(
        st.sampled_from(["alone", "together"]),
        st.lists(st.integers(0, 3), unique=True, min_size=1),
        st.lists(st.sampled_from(OUTCOMES), min_size=4, max_size=4),
    ),
    min_size=1, max_size=5,
)  # fmt: skip


def play(number: int, stage: str, pairs: Sequence[int], outcomes: Sequence[str]) -> ClosedRound:
    """A closed round of these pairs of nodes, each of which ended so."""
    made = planned(number)
    tests = tuple(replace(made.tests[place], id=f"{number}/{place}") for place in pairs)
    results: list[Result] = []
    for test, outcome in zip(tests, outcomes, strict=False):
        found = measured(test, 1e9 + number)
        other = tuple(replace(each, metric="iperf3.retransmits") for each in found.measurements)
        results += {
            "number": [found], "other number": [replace(found, measurements=other)],
            "nothing": [replace(found, measurements=())], "failure": [failed(test)], "no result": [],
        }[outcome]  # fmt: skip
    return closed(replace(made, stage=stage, tests=tests), tuple(results))


@settings(max_examples=25, deadline=None)
@given(ROUNDS)
def test_a_metric_of_all_nodes_is_what_each_node_has_of_it(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[tuple[str, list[int], list[str]]]
) -> None:
    path = tmp_path_factory.mktemp("history") / "s.db"
    played = [play(number, *each) for number, each in enumerate(rounds, 1)]
    with Store.open(path) as store:
        key = asyncio.run(keep(store, new(), *((each, verdicts(each.round)) for each in played)))
    database = Database.open(path)
    for stage in (None, "alone", "together"):
        found = read_metric_values(database, key, METRIC, stage)
        of_nodes = [each for node in ("n1", "n2", "n3", "n4") for each in read_node_values(database, [key], node)[0]]
        wanted = [each for each in of_nodes if each.metric == METRIC and stage in (None, each.stage)]
        assert sorted(found, key=str) == sorted(wanted, key=str)
        assert [each.round for each in found] == sorted((each.round for each in found), reverse=True)
        newest = {
            (each.round.stage, test.target.key): test.id
            for each in played for test in each.round.tests
            if test.id in {result.test.id for result in each.results}
        }  # fmt: skip
        assert {each.test for each in found} <= {*newest.values()}


async def test_a_round_that_repeats_another_whole_is_found_without_reading_the_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, path = planned(1), tmp_path / "s.db"
    rounds = [first, again(first, 2), again(first, 3)]
    with Store.open(path) as store:
        key = await keep(store, new(), *((closed(each), verdicts(each)) for each in rounds))
    read: list[int] = []
    whole = history_reading._read_numbers

    def count(connection: Connection, place: history_reading._Place, *others: Any) -> Any:
        read.append(place.number)
        return whole(connection, place, *others)

    monkeypatch.setattr(history_reading, "_read_numbers", count)
    assert {test for test, *_ in of_metric(path, key)} == {f"3.1.{place}" for place in range(4)}
    assert read == [3]


async def test_a_stage_of_another_name_repeats_nothing(tmp_path: Path) -> None:
    first, path = planned(1, pairs=1), tmp_path / "s.db"
    second = replace(again(first, 2), stage="later")
    with Store.open(path) as store:
        key = await keep(store, new(), (closed(first), ()), (closed(second), ()))
    assert len(of_node(path, key, "n1")) == len(of_metric(path, key)) == 2


async def test_the_verdict_on_a_bundle_is_on_each_of_its_numbers_and_one_alone_goes_before_it(tmp_path: Path) -> None:
    each, path = planned(1, pairs=3), tmp_path / "s.db"
    lone, sum_of_two = verdicts(each)[0], verdicts(each, Level.WATCH)[0]._replace(subject="trunk", value=2.34e9)
    evidence = tuple(f"{test.id}#0" for test in each.tests[:2])
    judged = (sum_of_two._replace(evidence=evidence, expected=2.36e9), lone)
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
        read_node_values(database, [key, "0"], "n1")
    with pytest.raises(UnknownSessionError):
        read_metric_values(database, "0", METRIC)


@pytest.mark.parametrize(
    ("statement", "values", "indexes"),
    [
        (history_reading._TESTS_OF_NODE, ("[1]", "n1"), ("test_at", "test_to", "test_of_set")),
        (history_reading._VERDICTS_OF_TESTS, ("[]",), ("verdict_on",)),
        (history_reading._NUMBERS, ("[1]",), ("sqlite_autoindex_measurement_1",)),
        (history_reading._BUNDLED, ("[]",), ("test_of",)),
        (history_reading._SPAN_OF_VERDICTS, (1,), ("verdict_on",)),
        (history_reading._IS_REPEATED, (1, 1, 0), ("test_of",)),
        (history_reading._SAME_OF_ATTEMPT, (1,), ("sqlite_autoindex_result_1",)),
        (history_reading._NUMBERS_WITH_SAME, (1, 1, 2, 1), ("measurement",)),
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
