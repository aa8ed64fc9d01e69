"""Checklists in the store: every change is a row, the newest counts, evidence comes back byte for byte."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from benchconsole.probes.model.checklist import (
    MOST_BYTES,
    Attachment,
    CheckedList,
    Checklist,
    Evidence,
    Mark,
    Step,
    StepState,
)
from benchconsole.store.errors import ConflictError, RefusedError, UnknownSessionError
from benchconsole.store.files.database import Database
from benchconsole.store.schema import tables
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from tests import plain_sqlite
from tests.store.played import new

MINE = Checklist("mine", "Plan", (Step("a", "one", "4.1"), Step("b", "two", "", ("true", "x y"), 5.0)), "schema: 1\n")
SEEN = Mark(StepState.PASS, "ann", 100.0, "seen")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(tmp_path / "s.db") as opened:
        yield opened


async def kept(store: Store, label: str = "") -> str:
    key = await store.create_session(new(label), ())
    await store.session(key).append_checklist(MINE, 50.0)
    return key


def only(store: Store, key: str) -> CheckedList:
    (found,) = store.session(key).read_checklists()
    return found


async def test_a_checklist_comes_back_with_nothing_done(store: Store) -> None:
    found = only(store, await kept(store))
    assert (found.name, found.source) == ("mine", "Plan")
    assert tuple(each.step for each in found.steps) == MINE.steps
    assert [(each.mark, each.state, each.earlier) for each in found.steps] == [(None, StepState.NOT_DONE, 0)] * 2
    assert found.count(StepState.NOT_DONE) == 2


async def test_the_newest_mark_counts_and_the_others_stay(store: Store, tmp_path: Path) -> None:
    key = await kept(store)
    await store.session(key).mark_step("mine", "a", SEEN, [Evidence("a.txt", b"first")])
    later = Mark(StepState.FAIL, "bob", 200.0)
    await store.session(key).mark_step("mine", "a", later, [Evidence("x", b"\x00\xff"), Evidence("y", b"")])
    first, second = only(store, key).steps
    assert (first.mark, first.earlier, second.mark) == (later, 1, None)
    assert first.attachments == tuple(
        Attachment(name, len(content), hashlib.sha256(content).hexdigest())
        for name, content in (("x", b"\x00\xff"), ("y", b""))
    )
    with closing(plain_sqlite.connect(tmp_path / "s.db")) as connection:
        rows = connection.execute("SELECT state, who, note FROM checklist_mark ORDER BY id").fetchall()
        assert rows == [("pass", "ann", "seen"), ("fail", "bob", "")]
    assert store.session(key).read_attachment(hashlib.sha256(b"first").hexdigest()) == Evidence("a.txt", b"first")
    assert (
        store.session(key).read_attachment(hashlib.sha256(b"\x00\xff").hexdigest()[:8].upper()).content == b"\x00\xff"
    )


async def test_the_same_file_is_kept_once_and_another_text_is_another_step(store: Store, tmp_path: Path) -> None:
    key = await kept(store)
    await store.session(key).mark_step("mine", "a", SEEN)
    await store.session(key).mark_step("mine", "b", SEEN)
    await store.session(key).append_checklist(MINE, 60.0)
    with closing(plain_sqlite.connect(tmp_path / "s.db")) as connection:
        assert connection.execute("SELECT count(*) FROM checklist").fetchone() == (1,)
    changed = replace(
        MINE,
        steps=(replace(MINE.steps[0], clause="5"), replace(MINE.steps[1], argv=("false",))),
        file="# 2\n",
    )
    await store.session(key).append_checklist(changed, 70.0)
    assert [each.state for each in only(store, key).steps] == [StepState.PASS, StepState.NOT_DONE]
    assert only(store, key).steps[0].step.clause == "5"
    await store.session(key).append_checklist(replace(MINE, file="# 3\n"), 80.0)
    assert [each.state for each in only(store, key).steps] == [StepState.PASS, StepState.PASS]


async def test_sessions_and_checklists_are_kept_apart(store: Store) -> None:
    first, second = await kept(store, "first"), await kept(store, "second")
    await store.session(first).append_checklist(replace(MINE, name="another"), 60.0)
    await store.session(first).mark_step("another", "a", SEEN, [Evidence("a", b"here")])
    assert [each.name for each in store.session(first).read_checklists()] == ["mine", "another"]
    assert [each.count(StepState.PASS) for each in store.session(first).read_checklists()] == [0, 1]
    assert [each.count(StepState.NOT_DONE) for each in store.session(second).read_checklists()] == [2]
    with pytest.raises(ConflictError, match="0 attachments"):
        store.session(second).read_attachment(hashlib.sha256(b"here").hexdigest())


async def test_it_needs_no_claim(store: Store, tmp_path: Path) -> None:
    key = await kept(store)
    with Store.open(tmp_path / "s.db") as other:
        await other.session(key).mark_step("mine", "a", SEEN)
        await other.session(key).append_note("exclusion", "words", 7.0, claimed=False)
    assert only(store, key).steps[0].mark == SEEN
    assert [(note.kind, note.text, note.at) for note in store.session(key).read_notes()] == [
        ("exclusion", "words", 7.0)
    ]


async def test_what_is_refused_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    key = await kept(store)
    with pytest.raises(ConflictError, match="no step c of a checklist mine"):
        await store.session(key).mark_step("mine", "c", SEEN)
    with pytest.raises(ConflictError, match="no step a of a checklist yours"):
        await store.session(key).mark_step("yours", "a", SEEN)
    with pytest.raises(RefusedError, match="large has"):
        await store.session(key).mark_step("mine", "a", SEEN, [Evidence("large", bytes(MOST_BYTES + 1))])
    with pytest.raises(UnknownSessionError):
        await store.session("nosuch").append_checklist(MINE, 1.0)
    with pytest.raises(ConflictError, match="attachments begin with ''"):
        store.session(key).read_attachment("")
    with closing(plain_sqlite.connect(tmp_path / "s.db")) as connection:
        assert connection.execute("SELECT count(*) FROM checklist_mark").fetchone() == (0,)


async def test_a_hash_that_begins_several_is_refused(store: Store) -> None:
    key = await kept(store)
    contents = [str(number).encode() for number in range(40)]
    await store.session(key).mark_step("mine", "a", SEEN, [Evidence("n", content) for content in contents])
    digests = [hashlib.sha256(content).hexdigest() for content in contents]
    common = next(digest[0] for digest in digests if sum(other[0] == digest[0] for other in digests) > 1)
    with pytest.raises(ConflictError, match="attachments begin with"):
        store.session(key).read_attachment(common)


async def test_a_database_of_the_shape_before_gets_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    Database.open(path, steps=tables.STEPS[:4])
    with Store.open(path) as store:
        key = await kept(store)
        await store.session(key).mark_step("mine", "b", SEEN)
        assert only(store, key).steps[1].mark == SEEN
