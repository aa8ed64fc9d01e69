"""Connections for questions are kept for the next one, never beyond the file, an error or the store."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import apsw
import pytest

from benchconsole.store.errors import DamagedError
from benchconsole.store.files import database
from benchconsole.store.files.connection import Mode, connect
from benchconsole.store.files.idle_readers import MOST_IDLE
from benchconsole.store.sqlite import Connection
from benchconsole.store.store import Store
from tests.store.played import fill, new, planned


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Iterator[Store]":  # type: ignore[misc] # an asynchronous generator to pytest-asyncio
    monkeypatch.setattr(database, "journal_for", lambda *_: ("wal", "as the test says"))
    await fill(tmp_path / "s.db", 1)
    with Store.open(tmp_path / "s.db") as opened:
        yield opened


@pytest.fixture
def opened(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[Connection]:
    """The connections that are opened from now on."""
    made: list[Connection] = []

    def note(path: Path, mode: Mode, *, busy: float) -> Connection:
        made.append(connect(path, mode, busy=busy))
        return made[-1]

    monkeypatch.setattr(database, "connect", note)
    store.database.close_readers()
    return made


def _list_open(opened: list[Connection]) -> list[Connection]:
    """Those that still answer; descriptors would not tell, for SQLite keeps them as long as a neighbour has a lock."""

    def answers(connection: Connection) -> bool:
        try:
            return bool(connection.execute("SELECT 1").fetchone())
        except apsw.ConnectionClosedError:
            return False

    return [each for each in opened if answers(each)]


async def test_one_connection_answers_question_after_question(store: Store, opened: list[Connection]) -> None:
    for _ in range(3):
        assert len(store.list_sessions()) == 1
    assert len(opened) == 1


async def test_questions_at_once_have_one_each_and_few_are_kept(store: Store, opened: list[Connection]) -> None:
    with ExitStack() as all_at_once:
        given = [all_at_once.enter_context(store.database.reading()) for _ in range(MOST_IDLE + 3)]
        assert len({id(each) for each in given}) == len(opened) == MOST_IDLE + 3
    assert len(_list_open(opened)) == MOST_IDLE
    store.list_sessions()
    assert len(opened) == MOST_IDLE + 3


async def test_a_file_that_was_replaced_is_read_anew(store: Store, opened: list[Connection], tmp_path: Path) -> None:
    assert len(store.list_sessions()) == 1
    await fill(tmp_path / "other.db", 1)
    with Store.open(tmp_path / "other.db") as other:
        await other.create_session(new(), [planned(1)])
    shutil.copy(tmp_path / "other.db", tmp_path / "copy.db")
    (tmp_path / "copy.db").replace(store.path)
    assert len(store.list_sessions()) == 2
    assert opened[0] not in _list_open(opened)  # it is one to the old file


async def test_a_connection_is_not_kept_after_an_error(store: Store, opened: list[Connection]) -> None:
    with pytest.raises(DamagedError, match="no such table"), store.database.reading() as connection:
        connection.execute("SELECT * FROM absent_table")
    assert _list_open(opened) == []
    assert len(store.list_sessions()) == 1
    assert len(opened) == 2


async def test_a_store_that_is_closed_leaves_none_open(store: Store, opened: list[Connection]) -> None:
    store.list_sessions()
    assert _list_open(opened) == opened != []
    store.close()
    assert _list_open(opened) == []


async def test_who_looks_on_does_not_keep_the_wal_of_a_writer_that_closes(tmp_path: Path, store: Store) -> None:
    assert len(store.list_sessions()) == 1  # its connection stays open
    with Store.open(store.path) as runs:
        await runs.create_session(new(), [planned(1)])
        assert (tmp_path / "s.db-wal").stat().st_size > 0
    assert (tmp_path / "s.db-wal").stat().st_size == 0
    assert len(store.list_sessions()) == 2
