"""Results are acknowledged one by one, go in together, and each one stands or fails alone."""

import asyncio
import contextlib
import math
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Proof, Reading, Result, Round, Target, Test
from benchconsole.store.errors import ConflictError, DrivenError, LockedError, RefusedError, StoreError
from benchconsole.store.model import OpenRound, ProofSet, SessionNote
from benchconsole.store.reading.integrity import find_damage
from benchconsole.store.store import Store
from benchconsole.store.writing import write_queue
from benchconsole.store.writing.write_queue import FunctionJob, Loop, WriteJob
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit
from tests import plain_sqlite
from tests.store import strategies
from tests.store.played import FABRIC, NODES, closed, ended, failed, fork, measured, new, numbers, planned, verdicts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


async def test_a_round_is_begun_filled_and_closed(path: Path) -> None:
    each, other = planned(1), planned(2)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each, other])
        attempt = await store.session(key).begin_round(1, at=1000.25)
        assert attempt == 1
        assert store.session(key).read_open_rounds(FABRIC) == (OpenRound(each, 1, 1000.25, ()),)
        results = [measured(test) for test in each.tests]
        for result in results[:2]:
            await store.session(key).append_result(1, attempt, result)
        assert store.session(key).read_open_rounds(FABRIC) == (OpenRound(each, 1, 1000.25, tuple(results[:2])),)
        assert store.session(key).list_closed_rounds() == frozenset()
        assert list(store.session(key).read_rounds(FABRIC)) == []
        assert store.list_sessions()[0].rounds_closed == 0
        assert [found["current"] for found in numbers(path)] == [False, False]
        whole = replace(closed(each, results, CloseReason.STOPPED), because="the canary lost packets")
        await store.session(key).close_round(replace(whole, verdicts=verdicts(each), attempt=attempt, judged_by="j"))
        (stored,) = store.session(key).read_rounds(FABRIC)
        assert stored == replace(whole, verdicts=verdicts(each), judged_by="j")
        assert store.session(key).read_open_rounds(FABRIC) == ()
        assert [found["current"] for found in numbers(path)] == [True] * 4
        assert (store.list_sessions()[0].rounds_closed, store.list_sessions()[0].tested) == (1, 4)


async def test_what_does_not_fit_is_refused(path: Path) -> None:
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each, planned(2)])
        with pytest.raises(ConflictError, match="round 7 is not of the plan"):
            await store.session(key).begin_round(7, at=1.0)
        with pytest.raises(ConflictError, match="attempt 1 at round 1 was not begun"):
            await store.session(key).append_result(1, 1, measured(each.tests[0]))
        first = await store.session(key).begin_round(1, at=1.0)
        await store.session(key).append_result(1, first, measured(each.tests[0]))
        for bad, why in (
            (measured(each.tests[0]), "stored already"),
            (measured(planned(2).tests[0]), "is not of this round"),
            (
                Result(each.tests[1], measurements=(*measured(each.tests[2]).measurements,) * 2),
                "1.2#0 comes twice in the result of 1.1",
            ),
            (Result(each.tests[1], measurements=(Reading("x", 1.0, Unit.ONE),)), "has no id"),
        ):
            with pytest.raises(ConflictError, match=why):
                await store.session(key).append_result(1, first, bad)
        second = await store.session(key).begin_round(1, at=2.0)
        assert second == 2
        with pytest.raises(ConflictError, match="given up for a later one"):
            await store.session(key).append_result(1, first, measured(each.tests[1]))
        await store.session(key).close_round(replace(closed(each), verdicts=(), attempt=second, judged_by="j"))
        for late in (
            store.session(key).append_result(1, second, measured(each.tests[1])),
            store.session(key).close_round(replace(closed(each), verdicts=(), attempt=second, judged_by="again")),
        ):
            with pytest.raises(ConflictError, match="closed already"):
                await late
        assert store.session(key).list_closed_rounds() == {(1, 2)}
        await store.session(key).end(at=3.0, complete=True)
        with pytest.raises(DrivenError):
            await store.session(key).append_result(1, second, measured(each.tests[1]))


def _few(path: Path, key: str, attempt: int) -> None:
    async def main() -> None:
        store = Store.open(path)
        await store.session(key).claim()
        for test in planned(1).tests[:2]:
            await store.session(key).append_result(1, attempt, measured(test))
        os._exit(0)  # as a console ends that is killed

    asyncio.run(main())


async def test_what_a_dead_console_left_open_is_taken_over_and_counted_once(path: Path) -> None:
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        attempt = await store.session(key).begin_round(1, at=1.0)
    assert ended(fork(lambda: _few(path, key, attempt))) == 0
    with Store.open(path) as store:
        (left,) = store.session(key).read_open_rounds(FABRIC)
        assert (left.attempt, len(left.results)) == (attempt, 2)
        await store.session(key).claim()
        with pytest.raises(ConflictError, match="stored already"):
            await store.session(key).append_result(1, attempt, measured(each.tests[0]))
        rest = [failed(test) for test in each.tests[2:]]
        for result in rest:
            await store.session(key).append_result(1, attempt, result)
        await store.session(key).close_round(
            replace(closed(each, [*left.results, *rest]), verdicts=(), attempt=attempt, judged_by="j")
        )
        (stored,) = store.session(key).read_rounds(FABRIC)
        assert stored.results == (*left.results, *rest)
        assert stored.reason is CloseReason.COMPLETE


async def _together(store: Store, key: str, attempt: int, results: Sequence[Result]) -> list[object]:
    """Hand all of them over before any is acknowledged."""
    return await asyncio.gather(
        *(store.session(key).append_result(result.test.round, attempt, result) for result in results),
        return_exceptions=True,
    )


async def test_one_that_is_refused_fails_alone(path: Path) -> None:
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        attempt = await store.session(key).begin_round(1, at=1.0)
        good = [measured(test) for test in each.tests]
        answers = await _together(
            store, key, attempt, [good[0], measured(each.tests[1], value=math.nan), good[2], good[0], good[3]]
        )
        assert [type(answer) for answer in answers] == [Result, RefusedError, Result, ConflictError, Result]
        (left,) = store.session(key).read_open_rounds(FABRIC)
        assert left.results == (good[0], good[2], good[3])
        assert await _together(store, key, attempt, [good[1]]) == [good[1]]


async def test_one_that_the_file_refuses_fails_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only SQLite can tell that one is too large: then the others of the group go in one by one."""
    monkeypatch.setattr("benchconsole.store.files.connection.LONGEST", 100_000)
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        attempt = await store.session(key).begin_round(1, at=1.0)
        results = [
            measured(test, said=random.Random(1).randbytes(200_000 if test.id == "1.2" else 10)) for test in each.tests
        ]
        answers = await _together(store, key, attempt, results)
        assert [type(answer) for answer in answers] == [Result, Result, RefusedError, Result]
        (left,) = store.session(key).read_open_rounds(FABRIC)
        assert [result.test.id for result in left.results] == ["1.0", "1.1", "1.3"]


async def test_names_that_were_undone_are_made_again(path: Path) -> None:
    """A transaction that fails takes the numbers of new metrics and labels along."""
    each = planned(1)
    with Store.open(path, busy=0.02) as store:
        key = await store.create_session(new(), [each])
        attempt = await store.session(key).begin_round(1, at=1.0)
        looking = plain_sqlite.connect(path)
        with contextlib.closing(looking):
            looking.execute("BEGIN")
            looking.execute("SELECT count(*) FROM session").fetchone()  # in a rollback journal no commit gets past this
            if store.facts.journal == "truncate":
                with pytest.raises(LockedError):
                    await store.session(key).append_result(1, attempt, measured(each.tests[0]))
            looking.execute("ROLLBACK")
        if store.facts.journal == "truncate":
            await store.session(key).append_result(1, attempt, measured(each.tests[0]))
        assert len(store.session(key).read_open_rounds(FABRIC)[0].results) == (store.facts.journal == "truncate")
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


async def test_memory_is_bounded_and_nobody_starves(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "MAX_JOBS", 8)
    monkeypatch.setattr(write_queue, "GROUP", 4)
    each = Round(1, "s", "p", tuple(Test(f"{i}", "p", Target(NODES[0]), 1) for i in range(200)), 1.0, "")
    waiting = []
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        attempt = await store.session(key).begin_round(1, at=1.0)
        writer = store._writer
        put = writer._queue.put

        def seen(job: WriteJob[Any], loop: Loop | None = None) -> asyncio.Future[None] | None:
            waiting.append(len(writer._queue._jobs))
            return put(job, loop)

        monkeypatch.setattr(writer._queue, "put", seen)
        results = [measured(test) for test in each.tests]
        assert await _together(store, key, attempt, results) == results
        assert max(waiting) <= 8
        assert len(store.session(key).read_open_rounds(FABRIC)[0].results) == 200


async def test_a_large_one_passes_an_empty_queue(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "MAX_BYTES", 10_000)
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        attempt = await store.session(key).begin_round(1, at=1.0)
        large = [measured(test, said=bytes(50_000)) for test in each.tests]
        assert await _together(store, key, attempt, large) == large


async def test_any_work_that_raises_is_heard_by_its_own_waiter(path: Path) -> None:
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1)])
        writer = store._writer
        assert writer is not None
        bad = asyncio.create_task(writer.do(FunctionJob(lambda _: 1 // 0)))
        good = asyncio.create_task(store.session(key).begin_round(1, at=1.0))
        with pytest.raises(ZeroDivisionError):
            await bad
        assert await good == 1


@settings(max_examples=25, deadline=None)
@given(strategies.closed_rounds(), st.data())
def test_one_by_one_is_the_same_as_at_once(
    tmp_path_factory: pytest.TempPathFactory, found: ClosedRound, data: st.DataObject
) -> None:
    early = data.draw(st.integers(0, len(found.results)))

    async def main() -> None:
        with Store.open(tmp_path_factory.getbasetemp() / "one-by-one.db") as store:
            key = await store.create_session(new(), [found.round])
            attempt = await store.session(key).begin_round(found.round.number, at=1.0)
            for result in found.results[:early]:
                await store.session(key).append_result(found.round.number, attempt, result)
            if found.round.tests:
                assert store.session(key).read_open_rounds(FABRIC)[0].results == found.results[:early]
            await store.session(key).close_round(replace(found, verdicts=(), attempt=attempt, judged_by="j"))
            (stored,) = store.session(key).read_rounds(FABRIC)
            assert stored == replace(found, attempt=attempt, judged_by="j")

    asyncio.run(main())


async def test_notes_and_proofs_are_kept_in_order(path: Path) -> None:
    with Store.open(path) as store:
        key = await store.create_session(new(), [])
        await store.session(key).append_note("override", "production nodes n[1-2], by admin", 1001.0)
        await store.session(key).append_note("held", "no room left on the disk", 1002.0)
        proofs = (Proof(NodeId("n1"), True, (), 2), Proof(NodeId("n2"), True, ("process 12 iperf3", "/tmp/x")))
        silent = (Proof(NodeId("n3"), False, detail="no route to host"),)
        await store.session(key).append_proofs(proofs, 1003.0)
        await store.session(key).end(at=1004.0, complete=True)
        await store.session(key).append_proofs(silent, 1005.0)
        assert store.session(key).read_notes() == (
            SessionNote("override", "production nodes n[1-2], by admin", 1001.0),
            SessionNote("held", "no room left on the disk", 1002.0),
        )
        assert store.session(key).read_proofs() == (ProofSet(1003.0, proofs), ProofSet(1005.0, silent))
        with pytest.raises(DrivenError):
            await store.session(key).append_note("held", "late", 1006.0)
        with pytest.raises(RefusedError):
            await store.session(key).append_proofs(silent, math.nan)


async def test_a_set_of_nodes_comes_back(path: Path) -> None:
    test = Test("1", "hpl", Target(NODES[0], members=NODES[:4]), 1)
    each = Round(1, "whole", "hpl", (test,), 60.0, "the whole machine")
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        assert store.session(key).read_plan(FABRIC) == (each,)
        fewer = replace(FABRIC, nodes={node.id: node for node in NODES[:3]})
        with pytest.raises(StoreError, match="the plan names n4"):
            store.session(key).read_plan(fewer)


async def test_a_long_word_of_many_commands_lies_in_the_file_once(path: Path) -> None:
    """Also of results of a later program, which has to ask the file for its number."""
    script = "echo $((1,2)); " * 1000
    plan = [planned(1), planned(2)]
    with Store.open(path) as store:
        key = await store.create_session(new(), plan)
    for each in plan:
        with Store.open(path) as store:
            await store.session(key).claim()
            attempt = await store.session(key).begin_round(each.number, at=1.0)
            for test in each.tests:
                given = measured(test)
                argv = ("sh", "-c", script, test.id)
                result = replace(given, outputs=(replace(given.outputs[0], argv=argv),))
                await store.session(key).append_result(each.number, attempt, result)
    with Store.open(path) as store:
        stored = [result for found in store.session(key).read_open_rounds(FABRIC) for result in found.results]
        assert [result.outputs[0].argv for result in stored] == [
            ("sh", "-c", script, test.id) for each in plan for test in each.tests
        ]
        assert list(find_damage(store.database)) == []
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        assert connection.execute("SELECT text FROM word").fetchall() == [(script,)]
        assert connection.execute("SELECT max(length(argv)) FROM output").fetchone()[0] < 100
