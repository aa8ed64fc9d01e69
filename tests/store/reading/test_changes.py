"""Others follow what one runs: everything once, in order, cheaply, and never in its way."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import cast

import apsw
import pytest

from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import Proof
from benchconsole.store.errors import MissingError, UnknownSessionError
from benchconsole.store.model import OpenRound, ProofSet, SessionNote
from benchconsole.store.session_summary import SessionState
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests import plain_sqlite
from tests.store.played import FABRIC, append_round, closed, ended, fork, measured, new, planned, verdicts

FIRST, SECOND = planned(1), planned(2)


@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_everything_is_told_once_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    results = [measured(test) for test in FIRST.tests]
    with Store.open(tmp_path / "s.db") as runs, Store.open(tmp_path / "s.db") as looks:
        key = await runs.create_session(new(), [FIRST])
        seen = looks.session(key).read_changes(FABRIC)
        assert (seen.planned, seen.state, seen.begun) == ((FIRST,), SessionState.RUNNING, ())
        same = looks.session(key).read_changes(FABRIC, seen.mark)
        assert same == replace(seen, planned=())

        await runs.session(key).begin_round(1, at=1000.5)
        await runs.session(key).append_result(1, 1, results[0])
        await runs.session(key).append_note("override", "by admin", 1000.0)
        seen = looks.session(key).read_changes(FABRIC, seen.mark)
        assert seen.begun == (OpenRound(FIRST, 1, 1000.5),)
        assert seen.results == (results[0],)
        assert seen.notes == (SessionNote("override", "by admin", 1000.0),)

        await runs.session(key).append_result(1, 1, results[1])
        await runs.session(key).extend_plan([SECOND])
        seen = looks.session(key).read_changes(FABRIC, seen.mark)
        assert (seen.results, seen.planned, seen.begun) == ((results[1],), (SECOND,), ())

        whole = closed(FIRST, results)
        await runs.session(key).close_round(replace(whole, verdicts=verdicts(FIRST), attempt=1, judged_by="j"))
        seen = looks.session(key).read_changes(FABRIC, seen.mark)
        assert seen.closed == (replace(whole, verdicts=verdicts(FIRST), judged_by="j"),)
        assert (seen.results, seen.judged) == ((), False)

        await runs.session(key).append_verdicts({(1, 1): verdicts(FIRST, Level.FAIL)}, judged_by="again")
        proofs = (Proof(NodeId("n1"), True),)
        await runs.session(key).append_proofs(proofs, 1013.0)
        await runs.session(key).end(at=1014.0, complete=False, because="stopped")
        seen = looks.session(key).read_changes(FABRIC, seen.mark)
        assert (seen.judged, seen.closed, seen.proven) == (True, (), (ProofSet(1013.0, proofs),))
        assert (seen.state, seen.ended, seen.because) == (SessionState.INTERRUPTED, 1014.0, "stopped")

        late = looks.session(key).read_changes(FABRIC)  # somebody who comes now hears it all
        assert (len(late.planned), len(late.begun), len(late.closed), len(late.notes)) == (2, 1, 1, 1)
        assert replace(late.mark, results=seen.mark.results) == seen.mark  # those of closed rounds are within
        with pytest.raises(UnknownSessionError):
            looks.session("none").read_changes(FABRIC)


async def test_nothing_new_costs_one_pragma(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as runs, Store.open(tmp_path / "s.db") as looks:
        key = await runs.create_session(new(), [FIRST])
        mark = looks.session(key).read_changes(FABRIC).mark
        asked: list[str] = []
        connection = looks.session(key).changes._connection
        assert connection is not None

        def note(_: apsw.Cursor, statement: str, *rest: object) -> bool:
            asked.append(statement)
            return True

        cast(apsw.Connection, connection).exec_trace = note
        looks.session(key).read_changes(FABRIC, mark)
        assert asked == ["PRAGMA data_version"]


@pytest.mark.fault("F28")
@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_who_looks_is_never_in_the_way_and_says_when_it_is_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "s.db"
    with Store.open(path, busy=0.02) as runs, Store.open(path) as looks:
        key = await runs.create_session(new(), [FIRST])
        mark = looks.session(key).read_changes(FABRIC).mark
        await append_round(runs.session(key), closed(FIRST), (), judged_by="j")  # the look has left no lock
        with contextlib.closing(plain_sqlite.connect(path)) as stranger:
            stranger.execute("BEGIN EXCLUSIVE")
            late = looks.session(key).read_changes(FABRIC, mark)
            assert late.state is SessionState.RUNNING
            # In WAL a reader waits for nobody.
            assert (late.late, len(late.closed)) == ((True, 0) if journal == "truncate" else (False, 1))
            assert journal == "wal" or late.mark == mark
            stranger.execute("ROLLBACK")
        assert len(looks.session(key).read_changes(FABRIC, late.mark).closed) + len(late.closed) == 1


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
        seen = looks.session(key).read_changes(FABRIC)
        assert seen.state is SessionState.RUNNING
        os.kill(pid, signal.SIGKILL)
        ended(pid)
        assert looks.session(key).read_changes(FABRIC, seen.mark).state is SessionState.INTERRUPTED
    for end in (hear, tell, hold, release):
        os.close(end)


async def test_a_file_that_was_moved_is_no_news(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), [FIRST])
        mark = store.session(key).read_changes(FABRIC).mark
        (tmp_path / "s.db").rename(tmp_path / "moved.db")
        with pytest.raises(MissingError):
            store.session(key).read_changes(FABRIC, mark)
        (tmp_path / "moved.db").rename(tmp_path / "s.db")
        assert store.session(key).read_changes(FABRIC, mark).planned == ()
