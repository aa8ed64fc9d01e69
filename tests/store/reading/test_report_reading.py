"""Reports that are kept with a session: the text as it was, as long as nothing that it rests on has changed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import Proof
from benchconsole.store.files.database import Database
from benchconsole.store.reading.report_reading import read_kept_report, read_report_basis
from benchconsole.store.schema.tables import STEPS
from benchconsole.store.session_summary import StoredVerdict
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import NodeId
from tests.store.test_session_verdict import Change, add_checklist, begin, judge, mark, plan_more, run_more

TEXT = "one\n\udcfftwo ✗\n"
KEPT = "one\n�two ✗\n"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(tmp_path / "s.db") as opened:
        yield opened


async def keep(store: Store, key: str, name: str = "text", text: str = TEXT) -> None:
    await store.keep_report(key, name, read_report_basis(store.session(key)), text)


async def over(store: Store) -> str:
    """A session that is over, with a report that is kept."""
    key = await begin(store)
    await store.session(key).end(at=9.0, complete=False)
    await keep(store, key)
    return key


async def note(store: Store, key: str) -> None:
    await store.session(key).append_note("left", "a word", 10.0, claimed=False)


async def prove(store: Store, key: str) -> None:
    await store.session(key).append_proofs([Proof(NodeId("n1"), True)], 11.0)


async def end_otherwise(store: Store, key: str) -> None:
    await store.session(key).claim()
    await store.session(key).end(at=12.0, complete=True)


@pytest.mark.parametrize(
    "change",
    [run_more, judge, plan_more, mark, add_checklist, note, prove, end_otherwise],
    ids=lambda each: each.__name__,
)
async def test_a_report_holds_until_something_changes_that_it_may_tell(store: Store, change: Change) -> None:
    key = await over(store)
    assert read_kept_report(store.session(key), "text") == KEPT
    await change(store, key)
    assert read_kept_report(store.session(key), "text") is None
    await keep(store, key, text="other\n")
    assert read_kept_report(store.session(key), "text") == "other\n"


async def test_a_report_that_was_made_before_a_change_is_void_from_the_start(store: Store) -> None:
    key = await over(store)
    before = read_report_basis(store.session(key))
    await note(store, key)
    await store.keep_report(key, "text", before, "late\n")
    assert read_kept_report(store.session(key), "text") is None


async def test_the_end_of_the_driver_that_is_there_changes_the_basis(store: Store) -> None:
    key = await begin(store)
    running = read_report_basis(store.session(key))
    await store.session(key).end(at=9.0, complete=False, because="stopped")
    assert read_report_basis(store.session(key)) != running


async def test_each_name_and_each_session_has_its_own(store: Store) -> None:
    key, other = await over(store), await over(store)
    await keep(store, key, "html", "<p>")
    await note(store, other)
    kept = [read_kept_report(store.session(each), name) for each in (key, other) for name in ("text", "html", "md")]
    assert kept == [KEPT, "<p>", None, None, None, None]


async def test_a_verdict_that_is_stored_changes_no_report(store: Store) -> None:
    key = await over(store)
    await store.append_verdict(key, StoredVerdict(1, "pass", "All."))
    assert read_kept_report(store.session(key), "text") == KEPT


async def test_a_file_of_an_earlier_shape_has_none_and_takes_one(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    Database.open(path, steps=STEPS[:-1])
    with Store.open(path) as store:
        key = await begin(store)
        assert read_kept_report(store.session(key), "text") is None
        await keep(store, key)
        assert read_kept_report(store.session(key), "text") == KEPT
