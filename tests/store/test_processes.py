"""Several at once: writers, lookers and strangers who hold the lock."""

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from benchconsole.store.errors import LockedError
from benchconsole.store.files.connection import connect
from benchconsole.store.sqlite import Connection
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store.played import FABRIC, append_round, closed, fork, new, planned, verdicts

PLAN = [planned(number) for number in range(1, 16)]


def _run_a_session(path: Path, label: str) -> None:
    async def main() -> None:
        with Store.open(path) as store:
            key = await store.create_session(new(label), PLAN)
            for each in PLAN:
                await append_round(store.session(key), closed(each), verdicts(each), judged_by="j")
            await store.session(key).end(at=2000.0, complete=True)

    asyncio.run(main())


@pytest.mark.fault("F28")
@pytest.mark.parametrize("journal", ["truncate", "wal"])
def test_two_consoles_write_while_a_third_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "s.db"
    # The file is not made yet: both make it, at the same time.
    pids = [fork(lambda label=label: _run_a_session(path, label)) for label in ("a", "b")]  # type: ignore[misc]
    running = set(pids)
    statuses = []
    while running:
        if path.exists():
            store = Store.open(path)
            for line in store.list_sessions():
                rounds = list(store.session(line.id).read_rounds(FABRIC))
                assert all(len(found.verdicts) == 4 for found in rounds)
        for pid in list(running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                running.discard(pid)
                statuses.append(status)
    assert statuses == [0, 0]
    with Store.open(path) as store:
        assert {line.label: line.rounds_closed for line in store.list_sessions()} == {"a": 15, "b": 15}


@pytest.mark.fault("F28")
@pytest.mark.parametrize("statement", [1, 2, 3, 4])
def test_another_console_makes_the_database_between_two_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: int
) -> None:
    """Its tables are ours, whichever of our statements sees them first."""
    path = tmp_path / "s.db"
    said: list[str] = []
    made: list[int] = []

    def connect_and_be_overtaken(*arguments: Any, **named: Any) -> Connection:
        connection = connect(*arguments, **named)
        cast(apsw.Connection, connection).exec_trace = overtake
        return connection

    def overtake(_: apsw.Cursor, asked: str, *rest: object) -> bool:
        said.append(asked)
        if len(said) == statement:
            monkeypatch.setattr("benchconsole.store.files.database.connect", connect)
            with Store.open(path) as other:
                made.append(other.facts.shape)
        return True

    monkeypatch.setattr("benchconsole.store.files.database.connect", connect_and_be_overtaken)
    with Store.open(path) as store:
        assert store.list_sessions() == ()
        assert made == [store.facts.shape]


@pytest.mark.fault("F29")
@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_a_stranger_with_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "s.db"
    with Store.open(path, busy=0.02) as store:
        key = await store.create_session(new(), PLAN)
        with contextlib.closing(plain_sqlite.connect(path)) as stranger:
            stranger.execute("BEGIN IMMEDIATE")
            with pytest.raises(LockedError, match="another process holds it"):
                await append_round(store.session(key), closed(PLAN[0]), (), judged_by="j")
            assert store.session(key).list_closed_rounds() == frozenset()  # looking goes on
            stranger.execute("ROLLBACK")
            stranger.execute("BEGIN EXCLUSIVE")
            if journal == "wal":  # a reader waits for nobody
                assert len(store.list_sessions()) == 1
            else:
                with pytest.raises(LockedError):
                    store.list_sessions()
            stranger.execute("ROLLBACK")
        await append_round(store.session(key), closed(PLAN[0]), (), judged_by="j")
        assert store.session(key).list_closed_rounds() == {(1, 1)}


@pytest.mark.fault("F28")
async def test_a_looker_who_stops_half_way_keeps_nobody_waiting(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db", busy=0.02) as store:
        key = await store.create_session(new(), PLAN)
        await append_round(store.session(key), closed(PLAN[0]), (), judged_by="j")
        await append_round(store.session(key), closed(PLAN[1]), (), judged_by="j")
        rounds = store.session(key).read_rounds(FABRIC)
        next(rounds)
        await append_round(store.session(key), closed(PLAN[2]), (), judged_by="j")
        assert len(list(rounds)) == 1
