"""The verdict on a whole session: it is listed as long as what it rests on is the same, and older files have none."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from benchconsole.probes.model.checklist import Checklist, Mark, Step, StepState
from benchconsole.probes.model.judgement import Level
from benchconsole.store.files.database import Database
from benchconsole.store.schema.tables import FIRST, STEPS, columns
from benchconsole.store.session_summary import SessionCounts, SessionSummary, StoredVerdict
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from tests.store.played import append_round, closed, new, planned, verdicts

COUNTS = SessionCounts(planned=7, tested=3, failed=1, unreachable=1, skipped=2, fails=5, watches=6)
SAID = StoredVerdict(3, "incomplete", "Not everything: \udcff.", ("2 tests not run: n[1-2]", "the rest"), COUNTS)
KEPT = StoredVerdict(3, "incomplete", "Not everything: �.", SAID.missing, COUNTS)
MINE = Checklist("mine", "Plan", (Step("a", "one"),), "schema: 1\n")
Change = Callable[[Store, str], Awaitable[object]]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(tmp_path / "s.db") as opened:
        yield opened


def listed(store: Store) -> StoredVerdict | None:
    """The verdict of the only session."""
    (found,) = store.list_sessions()
    return found.verdict


async def begin(store: Store) -> str:
    """A session with one of two rounds run and judged, and its checklist."""
    first, second = planned(1), planned(2)
    key = await store.create_session(new(), [first, second])
    await append_round(store.session(key), closed(first), verdicts(first), judged_by="j")
    await store.session(key).append_checklist(MINE, 50.0)
    return key


async def test_the_verdict_of_the_end_is_listed(store: Store) -> None:
    key = await begin(store)
    assert listed(store) is None
    await store.session(key).end(at=9.0, complete=False, verdict=SAID)
    assert listed(store) == KEPT
    other = StoredVerdict(4, "pass", "All.")
    await store.append_verdict(key, other)
    assert listed(store) == other


def counted(store: Store) -> tuple[int | None, ...]:
    """The counts of the only session."""
    (found,) = store.list_sessions()
    return (found.planned, found.tested, found.failed, found.unreachable, found.skipped, found.fails, found.watches)


async def test_a_list_counts_what_the_verdict_counted_as_long_as_it_holds(store: Store) -> None:
    key = await begin(store)
    rows = (8, 4, 0, 0, 0, None, None)
    assert counted(store) == rows
    await store.session(key).end(at=9.0, complete=False, verdict=SAID)
    assert counted(store) == tuple(COUNTS)
    await judge(store, key)
    assert counted(store) == rows
    await store.append_verdict(key, replace(SAID, counts=None))
    assert counted(store) == rows
    assert listed(store) == replace(KEPT, counts=None)


def test_every_count_of_a_verdict_is_one_of_the_list() -> None:
    assert set(SessionCounts._fields) <= {*SessionSummary.__struct_fields__}
    assert columns()["session_verdict"][-len(SessionCounts._fields) :] == SessionCounts._fields


async def test_an_end_without_a_verdict_leaves_none(store: Store) -> None:
    key = await begin(store)
    await store.session(key).end(at=9.0, complete=False)
    assert listed(store) is None


async def run_more(store: Store, key: str) -> None:
    await store.session(key).claim()
    await append_round(store.session(key), closed(planned(2)), verdicts(planned(2)), judged_by="j")


async def judge(store: Store, key: str) -> None:
    again = {(1, 1): verdicts(planned(1), Level.FAIL)}
    await store.session(key).append_verdicts(again, judged_by="other")


async def plan_more(store: Store, key: str) -> None:
    await store.session(key).claim()
    await store.session(key).extend_plan([planned(3)])


async def mark(store: Store, key: str) -> None:
    await store.session(key).mark_step("mine", "a", Mark(StepState.FAIL, "ann", 60.0))


async def add_checklist(store: Store, key: str) -> None:
    await store.session(key).append_checklist(Checklist("other", "", MINE.steps, "schema: 1\n"), 70.0)


@pytest.mark.parametrize("change", [run_more, judge, plan_more, mark, add_checklist])
async def test_a_verdict_holds_until_something_is_stored_that_may_change_it(store: Store, change: Change) -> None:
    key = await begin(store)
    await store.session(key).end(at=9.0, complete=False, verdict=SAID)
    await change(store, key)
    assert listed(store) is None
    await store.append_verdict(key, SAID)
    assert listed(store) == KEPT


async def test_other_sessions_and_notes_change_no_verdict(store: Store) -> None:
    key = await begin(store)
    await store.session(key).end(at=9.0, complete=False, verdict=SAID)
    await begin(store)
    await store.session(key).append_note("left", "a word", 10.0, claimed=False)
    assert [each.verdict for each in store.list_sessions()] == [KEPT, None]


async def test_a_file_of_the_first_shape_has_sessions_without_a_verdict(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    database = Database.open(path, steps=STEPS[:1])
    assert database.facts.shape == FIRST
    with Store.open(path) as store:
        key = await begin(store)
        assert listed(store) is None
        await store.session(key).end(at=9.0, complete=False, verdict=SAID)
        assert listed(store) == KEPT
