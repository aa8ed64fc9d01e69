"""Others follow what one runs: everything once, in order, cheaply, and never in its way."""

import asyncio
import contextlib
import os
import signal
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from probes.judging.verdict import Level
from probes.model import Proof
from store.errors import MissingError, UnknownSessionError
from store.model import BegunRound, FreshResult, Note, Proven, SessionState
from store.store import Store
from tests.store.played import FABRIC, closed, ended, fork, measured, new, planned, verdicts
from topology.model import NodeId

FIRST, SECOND = planned(1), planned(2)


@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_everything_is_told_once_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    monkeypatch.setattr("store.database.journal_for", lambda *_: (journal, "as the test says"))
    results = [measured(test) for test in FIRST.tests]
    with Store.open(tmp_path / "s.db") as runs, Store.open(tmp_path / "s.db") as looks:
        key = await runs.create_session(new(), [FIRST])
        seen = looks.news(key, FABRIC)
        assert (seen.planned, seen.state, seen.begun) == ((FIRST,), SessionState.RUNNING, ())
        same = looks.news(key, FABRIC, seen.mark)
        assert same == replace(seen, planned=())

        await runs.begin_round(key, 1, at=1000.5)
        await runs.append_result(key, 1, 1, results[0])
        await runs.note(key, "override", "by admin", 1000.0)
        seen = looks.news(key, FABRIC, seen.mark)
        assert seen.begun == (BegunRound(FIRST, 1, 1000.5),)
        assert seen.results == (FreshResult(1, 1, results[0]),)
        assert seen.notes == (Note("override", "by admin", 1000.0),)

        await runs.append_result(key, 1, 1, results[1])
        await runs.extend_plan(key, [SECOND])
        seen = looks.news(key, FABRIC, seen.mark)
        assert (seen.results, seen.planned, seen.begun) == ((FreshResult(1, 1, results[1]),), (SECOND,), ())

        whole = closed(FIRST, results)
        await runs.close_round(key, whole, verdicts(FIRST), attempt=1, judged_by="j")
        seen = looks.news(key, FABRIC, seen.mark)
        assert [(each.closed, each.verdicts) for each in seen.closed] == [(whole, verdicts(FIRST))]
        assert (seen.results, seen.judged) == ((), False)

        await runs.append_verdicts(key, {(1, 1): verdicts(FIRST, Level.FAIL)}, judged_by="again")
        proofs = (Proof(NodeId("n1"), True),)
        await runs.append_proofs(key, proofs, 1013.0)
        await runs.end_session(key, at=1014.0, complete=False, because="stopped")
        seen = looks.news(key, FABRIC, seen.mark)
        assert (seen.judged, seen.closed, seen.proven) == (True, (), (Proven(1013.0, proofs),))
        assert (seen.state, seen.ended, seen.because) == (SessionState.INTERRUPTED, 1014.0, "stopped")

        late = looks.news(key, FABRIC)  # somebody who comes now hears it all
        assert (len(late.planned), len(late.begun), len(late.closed), len(late.notes)) == (2, 1, 1, 1)
        assert replace(late.mark, results=seen.mark.results) == seen.mark  # those of closed rounds are within
        with pytest.raises(UnknownSessionError):
            looks.news("none", FABRIC)


async def test_nothing_new_costs_one_pragma(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as runs, Store.open(tmp_path / "s.db") as looks:
        key = await runs.create_session(new(), [FIRST])
        mark = looks.news(key, FABRIC).mark
        asked: list[str] = []
        connection = looks._follower._connection
        assert connection is not None
        connection.set_trace_callback(asked.append)
        looks.news(key, FABRIC, mark)
        assert asked == ["PRAGMA data_version"]


async def test_who_looks_is_never_in_the_way_and_says_when_it_is_late(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.open(path, busy=0.02) as runs, Store.open(path) as looks:
        key = await runs.create_session(new(), [FIRST])
        mark = looks.news(key, FABRIC).mark
        await runs.append_round(key, closed(FIRST), (), judged_by="j")  # the look has left no lock
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as stranger:
            stranger.execute("BEGIN EXCLUSIVE")
            late = looks.news(key, FABRIC, mark)
            assert (late.late, late.mark, late.closed, late.state) == (True, mark, (), SessionState.RUNNING)
            stranger.execute("ROLLBACK")
        assert len(looks.news(key, FABRIC, late.mark).closed) == 1


async def test_a_driver_that_dies_is_seen_without_a_word_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    hear, tell = os.pipe()
    hold, release = os.pipe()

    def drive() -> None:
        os.close(release)

        async def main() -> None:
            store = Store.open(path)
            os.write(tell, (await store.create_session(new(), [FIRST])).encode())
            os.read(hold, 1)  # until killed

        asyncio.run(main())

    pid = fork(drive)
    key = os.read(hear, 8).decode()
    with Store.open(path) as looks:
        seen = looks.news(key, FABRIC)
        assert seen.state is SessionState.RUNNING
        os.kill(pid, signal.SIGKILL)
        ended(pid)
        assert looks.news(key, FABRIC, seen.mark).state is SessionState.INTERRUPTED
    for end in (hear, tell, hold, release):
        os.close(end)


async def test_a_file_that_was_moved_is_no_news(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), [FIRST])
        mark = store.news(key, FABRIC).mark
        (tmp_path / "s.db").rename(tmp_path / "moved.db")
        with pytest.raises(MissingError):
            store.news(key, FABRIC, mark)
        (tmp_path / "moved.db").rename(tmp_path / "s.db")
        assert store.news(key, FABRIC, mark).planned == ()
