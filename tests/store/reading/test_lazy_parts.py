"""Outputs of stored results stay in the file: counted, equal to what was stored, read when looked at, never lost silently."""

import gc
from contextlib import closing
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import Fact, Output, Result
from benchconsole.store.errors import StoreError
from benchconsole.store.reading import lazy_parts
from benchconsole.store.reading.lazy_parts import CACHED_RESULTS, AttemptAddress, StoredFacts, StoredOutputs
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Unit
from tests import plain_sqlite
from tests.store.played import FABRIC, closed, measured, new, planned, verdicts

OUTPUTS = (
    Output(("iperf3", "-s"), b"\x00\xff", b"words", 1, None, 4.5, True, "n1"),
    Output(("iperf3", "-c"), b"{}", b"", None, "TERM", 10.25, False, "n2"),
)


async def stored(store: Store) -> tuple[str, list[Result], list[Result]]:
    """A session, the results that were given to the store, and what it gave in return."""
    each = planned(1)
    key = await store.create_session(new(), [each])
    attempt = await store.session(key).begin_round(1, at=1.0)
    given = [replace(measured(test), outputs=OUTPUTS) for test in each.tests]
    given[-1] = Result(each.tests[-1])
    held = [await store.session(key).append_result(1, attempt, result) for result in given]
    await store.session(key).close_round(
        replace(closed(each, held), verdicts=verdicts(each), attempt=attempt, judged_by="j")
    )
    return key, given, held


async def test_what_is_held_of_a_stored_result_says_the_same(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key, given, held = await stored(store)
        (again,) = store.session(key).read_rounds(FABRIC)
    for results in (held, again.results):
        assert list(results) == given
        assert [result.ran for result in results] == [10.25, 10.25, 10.25, 0.0]
        assert [len(result.outputs) for result in results] == [2, 2, 2, 0]
        assert tuple(results[0].outputs) == OUTPUTS
        assert (results[0].outputs[1], results[0].outputs[:1]) == (OUTPUTS[1], OUTPUTS[:1])
        assert results[0].outputs != OUTPUTS[:1]
        assert results[0].outputs != (OUTPUTS[0], OUTPUTS[0])


async def test_no_text_is_held(tmp_path: Path) -> None:
    said = b"x" * 99_991
    with Store.open(tmp_path / "s.db") as store:
        each = planned(1)
        key = await store.create_session(new(), [each])
        attempt = await store.session(key).begin_round(1, at=1.0)
        held = [
            await store.session(key).append_result(1, attempt, measured(test, said=bytes(said))) for test in each.tests
        ]
        lazy_parts.read_outputs.cache_clear()
        gc.collect()
        still = [found for found in gc.get_objects() if type(found) is Output and len(found.stdout) == len(said)]
        assert len(still) <= 1  # the writer lets go of its last piece when the next one comes
        assert [bytes(result.outputs[0].stdout) for result in held] == [said] * 4


async def test_looking_twice_asks_once_and_few_are_kept(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        _, _, held = await stored(store)
        lazy_parts.read_outputs.cache_clear()
        for _ in range(5):
            assert tuple(held[0].outputs) == OUTPUTS
        assert lazy_parts.read_outputs.cache_info().misses == 1
        assert lazy_parts.read_outputs.cache_info().maxsize == CACHED_RESULTS


async def test_a_repeat_does_not_change_what_the_first_attempt_said(tmp_path: Path) -> None:
    each = planned(1)
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), [each])
        held = []
        for said in (b"first", b"second"):
            attempt = await store.session(key).begin_round(1, at=1.0)
            results = [
                await store.session(key).append_result(1, attempt, measured(test, said=said)) for test in each.tests
            ]
            await store.session(key).close_round(
                replace(closed(each, results), verdicts=(), attempt=attempt, judged_by=said.decode())
            )
            held += results
        assert [result.outputs[0].stdout for result in held] == [b"first"] * 4 + [b"second"] * 4
        assert [output.stdout for output in list(store.session(key).read_rounds(FABRIC))[-1].results[0].outputs] == [
            b"second"
        ]


async def test_a_file_that_has_gone_is_told_and_nothing_is_made_up(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        _, _, held = await stored(store)
    lazy_parts.read_outputs.cache_clear()
    path.rename(tmp_path / "elsewhere.db")
    with pytest.raises(StoreError, match="the database has gone"):
        list(held[0].outputs)
    assert len(held[0].outputs) == 2


async def test_how_long_it_ran_is_told_without_reading_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        await stored(store)
    with closing(plain_sqlite.connect(path)) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT result_id, count(*), max(output.seconds) FROM result "
            "JOIN output ON output.result_id = result.id WHERE attempt_id = 1 AND result.id > 0 GROUP BY result_id"
        ).fetchall()
    assert any("output USING COVERING INDEX output_lengths" in detail for *_, detail in plan)


def test_it_is_named_by_what_it_is_of() -> None:
    place, test = AttemptAddress(None, "key", 1), "1/iperf3/n1"  # type: ignore[arg-type]
    assert repr(StoredOutputs(place, test, 2, 0.0)) == "StoredOutputs('1/iperf3/n1', attempt 1, 2 in the file)"
    assert repr(StoredFacts(place, test, 3)) == "StoredFacts('1/iperf3/n1', attempt 1, 3 in the file)"
    assert hash(StoredFacts(place, test, 3)) != hash(StoredOutputs(place, test, 2, 0.0))


FACTS = (
    Fact("cpu.cores", 24.0, Unit.ONE),
    Fact("dimm.size", 2.0**34, Unit.BYTE, (("slot", "A1"),)),
    Fact("boot.id", "x"),
)


async def told(store: Store) -> tuple[str, list[Result], list[Result], int]:
    """A session whose round is not closed yet: what was given to the store, what it gave in return, the attempt."""
    each = planned(1)
    key = await store.create_session(new(), [each])
    attempt = await store.session(key).begin_round(1, at=1.0)
    given = [replace(measured(test), facts=FACTS) for test in each.tests]
    given[-1] = Result(each.tests[-1])
    return key, given, [await store.session(key).append_result(1, attempt, result) for result in given], attempt


async def test_what_nodes_told_says_the_same_before_and_after_the_end_of_the_round(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key, given, held, attempt = await told(store)
        assert [list(result.facts) for result in held] == [list(result.facts) for result in given]
        (unclosed,) = store.session(key).read_open_rounds(FABRIC)
        assert list(unclosed.results) == given
        each = planned(1)
        await store.session(key).close_round(
            replace(closed(each, held), verdicts=verdicts(each), attempt=attempt, judged_by="j")
        )
        (again,) = store.session(key).read_rounds(FABRIC)
        for results in (held, again.results):
            assert list(results) == given
            assert [len(result.facts) for result in results] == [3, 3, 3, 0]
            assert (results[0].facts[1], tuple(results[0].facts[:1])) == (FACTS[1], FACTS[:1])


async def test_a_round_can_be_judged_by_what_was_told_although_the_file_has_gone(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        _, _, held, _ = await told(store)
        lazy_parts.read_facts.cache_clear()
        path.rename(tmp_path / "elsewhere.db")
        assert tuple(held[0].facts) == FACTS
        (tmp_path / "elsewhere.db").rename(path)


async def test_no_fact_is_held_once_the_round_is_closed(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key, given, held, attempt = await told(store)
        each = planned(1)
        await store.session(key).close_round(
            replace(closed(each, held), verdicts=verdicts(each), attempt=attempt, judged_by="j")
        )
        assert all(result.facts._at_hand is None for result in held if isinstance(result.facts, StoredFacts))
        assert sum(isinstance(result.facts, StoredFacts) for result in held) == 3
        lazy_parts.read_facts.cache_clear()
        assert [tuple(result.facts) for result in held] == [tuple(result.facts) for result in given]
        assert lazy_parts.read_facts.cache_info().misses == 3
