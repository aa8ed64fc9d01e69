"""What the database refuses is kept in a spool, comes back once, and nothing hostile comes with it."""

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
import stat
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.judging.verdict import Verdict
from probes.model import ClosedRound, CloseReason, Proof, Result
from store import records, spool
from store.errors import ConflictError, DrivenError, LockedError, MissingError, RefusedError, SpoolError, StoreError
from store.model import Absorbed, Note, Proven, SessionState
from store.spool import Spool, line_of
from store.store import Store
from tests.store import strategies
from tests.store.played import FABRIC, closed, ended, failed, fork, measured, names, new, planned, verdicts
from topology.model import NodeId

PLAN = [planned(1), planned(2)]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state directory."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/benchconsole/spool"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data/s.db"


def _mode(where: Path) -> int:
    return stat.S_IMODE(where.stat().st_mode)


async def _held(store: Store) -> tuple[str, Spool]:
    """A session whose first round runs, with one result in the database; and a spool beside it."""
    key = await store.create_session(new(), PLAN)
    await store.begin_round(key, 1, at=1000.0)
    await store.append_result(key, 1, 1, measured(PLAN[0].tests[0]))
    return key, store.open_spool()


async def test_all_that_can_be_kept_comes_back_once(path: Path) -> None:
    results = [measured(PLAN[0].tests[0]), *(failed(test) for test in PLAN[0].tests[1:])]
    whole = closed(PLAN[0], results, CloseReason.CANCELLED)
    proofs = (Proof(NodeId("n1"), True, ("/tmp/x",), 1, ""),)
    with Store.open(path) as store:
        key, kept = await _held(store)
        await kept.append_result(key, 1, 1, results[1])
        await kept.close_round(key, whole, verdicts(PLAN[0]), attempt=1, judged_by="j")
        await kept.begin_round(key, 2, 1, at=1020.0)
        await kept.note(key, "held", "no room", 1021.0)
        await kept.append_proofs(key, proofs, 1022.0)
        await kept.end_session(key, at=1023.0, complete=False, because="stopped")
        assert _mode(kept.path) == 0o600
        copy = path.with_name("copy.spool")
        shutil.copy(kept.path, copy)
        assert spool.waiting(path) == ()  # somebody writes to it
        found = await store.absorb(kept)
        assert found == Absorbed(results=3, rounds=1, others=4, known=2)
        assert not kept.files
        assert names(path.parent) == ["copy.spool", "s.db", "s.db-journal"]
        again = await store.absorb(copy)
        assert again == Absorbed(known=10)
    with Store.open(path) as store:
        (stored,) = store.rounds(key, FABRIC)
        assert (stored.closed, stored.verdicts) == (whole, verdicts(PLAN[0]))
        assert [each.round.number for each in store.open_rounds(key, FABRIC)] == [2]
        assert store.notes(key) == (Note("held", "no room", 1021.0),)
        assert store.proofs(key) == (Proven(1022.0, proofs),)
        assert (store.session(key).state, store.session(key).because) == (SessionState.INTERRUPTED, "stopped")
        assert len(store.newest(session=key).cells) == 4


async def test_another_process_brings_it_back_when_the_first_is_gone(path: Path) -> None:
    hear, tell = os.pipe()

    def drive() -> None:
        async def main() -> None:
            store = Store.open(path)
            key, kept = await _held(store)
            await kept.append_result(key, 1, 1, measured(PLAN[0].tests[1]))
            os.write(tell, key.encode())
            os._exit(0)

        asyncio.run(main())

    assert ended(fork(drive)) == 0
    key = os.read(hear, 8).decode()
    os.close(hear)
    os.close(tell)
    (left,) = spool.waiting(path)
    with Store.open(path) as store:
        assert await store.absorb(left) == Absorbed(results=1)
        assert spool.waiting(path) == ()
        assert [result.test.id for result in store.open_rounds(key, FABRIC)[0].results] == ["1.0", "1.1"]


async def test_a_session_that_somebody_drives_is_left_to_him(path: Path) -> None:
    with Store.open(path) as drives, Store.open(path) as other:
        key, kept = await _held(drives)
        await kept.append_result(key, 1, 1, measured(PLAN[0].tests[1]))
        with pytest.raises(SpoolError, match="a console is writing to this spool"):
            await other.absorb(kept.path)
        kept.close()
        with pytest.raises(DrivenError, match="driven by process"):
            await other.absorb(kept.path)
        assert kept.path.exists()
        assert (await drives.absorb(kept)).results == 1


@settings(max_examples=40, deadline=None)
@given(strategies.closed_rounds(), st.data())
def test_every_record_comes_back_from_its_line(found: ClosedRound, data: st.DataObject) -> None:
    place = records.Place("12345678", found.round.number, 1)
    judged: Sequence[Verdict] = data.draw(st.lists(strategies.verdicts(found.round.number), max_size=3))
    whole: list[records.Record] = [
        *(records.finished(place, result) for result in found.results),
        records.closed(place, found, judged, judged_by="j", at=1.0),
        records.Begun(place, 2.0),
        records.Noted("12345678", "held", "why", 3.0),
        records.shown("12345678", [Proof(NodeId("n1"), False, ("a", "b"), 3, "gone")], 4.0),
        records.Ended("12345678", "token", 5.0, True, ""),
    ]
    for record in whole:
        text = line_of(uuid.uuid4(), record)
        assert text.count(b"\n") == 1
        assert text.isascii()
        assert records.from_json(json.loads(text)["record"]) == record


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


async def test_a_torn_last_line_was_never_acknowledged(path: Path) -> None:
    with Store.open(path) as store:
        key, kept = await _held(store)
        for test in PLAN[0].tests[1:3]:
            await kept.append_result(key, 1, 1, measured(test))
        kept.close()
        first, second = _lines(kept.path)
        kept.path.write_bytes(first + second[:-7])
        assert await store.absorb(kept.path) == Absorbed(results=1)


def _changed(**fields: object) -> bytes:
    """A line whose sum is right and whose contents no console would write."""
    record = {"kind": "result", "session": "KEY", "round": 1, "attempt": 1, "test": "1.3", "outputs": []}
    record |= {"result": [1.0, 2.0, 0.0, None, None, None], "measurements": [], "facts": []}
    id = uuid.uuid4().hex
    body = spool._dump({**record, **fields})
    return f'{{"sum":"{spool._sum(id, body)}","id":"{id}","record":{body}}}\n'.encode()


_NUMBER = ["a.x", "B/s", [], "k", 1.0, "", 1.0]
HOSTILE = {
    "no JSON": b"hello\n",
    "not UTF-8": b"\xff\xfe\n",
    "deep": b"[" * 100_000 + b"\n",
    "a list": b"[]\n",
    "a sum of something else": _changed().replace(b"1.3", b"1.2"),
    "no such kind": _changed(kind="drop table"),
    "a text for a number": _changed(round="1; DROP TABLE result"),
    "a number beyond 64 bits": _changed(attempt=2**64),
    "a value that is none": _changed(measurements=[[*_NUMBER[:4], None, "", 1.0]]),
    "an infinite value": _changed(measurements=[[*_NUMBER[:4], 10**400, "", 1.0]]),
    "an unknown unit": _changed(measurements=[["a.x", "furlong", *_NUMBER[2:]]]),
    "a measurement twice": _changed(measurements=[_NUMBER, _NUMBER]),
    "labels that are none": _changed(measurements=[[*_NUMBER[:2], "out", *_NUMBER[3:]]]),
    "an unknown stage": _changed(result=[1.0, 2.0, 0.0, "hacked", "", "n1"]),
    "an output without bytes": _changed(outputs=[["n1", "[]", "%%%", "", 0, None, 1.0, 0]]),
    "arguments that are none": _changed(outputs=[["n1", "{}", "", "", 0, None, 1.0, 0]]),
    "a fact that is nothing": _changed(facts=[[[], "f", None, None, None]]),
    "a session that is not there": _changed(session="ffffffff"),
    "a test that is not there": _changed(test="9.9"),
    "a round that is not there": _changed(round=77),
    "an attempt from before": _changed(attempt=-1),
}


async def test_hostile_lines_are_refused_one_by_one(path: Path) -> None:
    with Store.open(path) as store:
        key, kept = await _held(store)
        for test in PLAN[0].tests[1:3]:
            await kept.append_result(key, 1, 1, measured(test))
        kept.close()
        first, last = _lines(kept.path)
        file = kept.path
        file.write_bytes(
            first + b"".join(line.replace(b'"KEY"', f'"{key}"'.encode()) for line in HOSTILE.values()) + last
        )
        # The key within changes the sum of those that have it: made right again.
        file.write_bytes(first + b"".join(_with_key(line, key) for line in HOSTILE.values()) + last)
        found = await store.absorb(file)
        assert (found.results, found.known) == (2, 0)
        assert [each.line for each in found.refused] == list(range(2, len(HOSTILE) + 2))
        assert found.kept == str(file) + ".refused"
        assert f"{file.name}.refused" in names(path.parent)
        assert spool.waiting(path) == ()
        assert [result.test.id for result in store.open_rounds(key, FABRIC)[0].results] == ["1.0", "1.1", "1.2"]
        with contextlib.closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def _with_key(line: bytes, key: str) -> bytes:
    try:
        found = json.loads(line)
        record = found["record"]
    except (ValueError, TypeError, RecursionError):
        return line
    if found["sum"] != spool._sum(found["id"], spool._dump(record)) or record.get("session") != "KEY":
        return line
    body = spool._dump({**record, "session": key})
    return f'{{"sum":"{spool._sum(found["id"], body)}","id":"{found["id"]}","record":{body}}}\n'.encode()


async def test_a_round_is_not_closed_without_its_results(path: Path) -> None:
    with Store.open(path) as store:
        key, kept = await _held(store)
        await kept.close_round(key, closed(PLAN[0]), verdicts(PLAN[0]), attempt=1, judged_by="j")
        kept.close()
        lines = _lines(kept.path)
        kept.path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
        found = await store.absorb(kept.path)
        assert (found.results, found.rounds) == (2, 0)
        assert "closed with 4 results, 3 are stored" in found.refused[0].why
        assert store.closed_rounds(key) == frozenset()


async def test_what_is_no_spool_is_left_as_it_is(path: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\nworld\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.spool").symlink_to(tmp_path / "notes.txt")
    os.mkfifo(tmp_path / "pipe.spool")
    with Store.open(path) as store:
        await store.create_session(new(), [])
        for name in ("notes.txt", "folder", "link.spool", "pipe.spool", "none"):
            with pytest.raises(SpoolError):
                await store.absorb(tmp_path / name)
        assert (tmp_path / "notes.txt").read_text() == "hello\nworld\n"
        with pytest.raises(SpoolError, match="nothing in it could be brought back"):
            await store.absorb(path)


async def test_without_room_beside_the_database_it_lies_in_the_state_directory(
    path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def full(name: Path, flags: int, mode: int = 0o600) -> int:
        if str(name).endswith(".spool") and str(name).startswith(str(path.parent)):
            raise OSError(28, "No space left on device")
        return real(name, flags, mode)

    with Store.open(path) as store:
        key = await store.create_session(new(), PLAN)
        await store.begin_round(key, 1, at=1000.0)
        monkeypatch.setattr(os, "open", full)
        kept = store.open_spool()
        assert kept.path.parent == state
        assert _mode(state) == 0o700
        await kept.append_result(key, 1, 1, measured(PLAN[0].tests[0]))
        monkeypatch.setattr(os, "open", real)
        kept.close()
        assert spool.waiting(path) == (kept.path,)
        assert spool.waiting(path.with_name("other.db")) == ()
        assert (await store.absorb(kept)).results == 1


async def test_without_any_room_nothing_is_acknowledged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(path) as store:
        key, kept = await _held(store)
        before = kept.path.read_bytes()
        real = os.fsync

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("store.spool.os.fsync", full)
        with pytest.raises(SpoolError, match="neither the database nor a spool"):
            await kept.append_result(key, 1, 1, measured(PLAN[0].tests[1]))
        assert kept.path.read_bytes() == before  # no part of it stays
        monkeypatch.setattr("store.spool.os.fsync", real)
        await kept.append_result(key, 1, 1, measured(PLAN[0].tests[1]))
        with pytest.raises(RefusedError):
            await kept.append_result(key, 1, 1, measured(PLAN[0].tests[2], value=float("nan")))
        assert (await store.absorb(kept)).results == 1


async def test_results_that_come_while_it_is_brought_back_come_too(path: Path) -> None:
    with Store.open(path) as store:
        key, kept = await _held(store)
        tests = PLAN[0].tests
        await kept.append_result(key, 1, 1, measured(tests[1]))
        bringing = asyncio.create_task(store.absorb(kept))
        await asyncio.gather(*(kept.append_result(key, 1, 1, measured(test)) for test in tests[2:]))
        found, left = await bringing, await store.absorb(kept)
        assert found.results + left.results == 3
        assert len(store.open_rounds(key, FABRIC)[0].results) == 4
        assert names(path.parent) == ["s.db", "s.db-journal"]


# -- faults of the database: the results go on into the spool, and come back


async def _keep(store: Store, kept: list[Spool], key: str, result: Result) -> None:
    """What a run does: the database, and where that refuses as a whole, the spool."""
    if not kept:
        try:
            await store.append_result(key, result.test.round, 1, result)
        except StoreError as error:
            if not error.to_spool:
                raise
            kept.append(store.open_spool())
        else:
            return
    await kept[0].append_result(key, result.test.round, 1, result)


async def test_a_stranger_holds_the_lock_and_nothing_is_lost(path: Path) -> None:
    kept: list[Spool] = []
    results = [measured(test) for test in PLAN[0].tests]
    with Store.open(path, busy=0.02) as store:
        key = await store.create_session(new(), PLAN)
        await store.begin_round(key, 1, at=1000.0)
        await _keep(store, kept, key, results[0])
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as stranger:
            stranger.execute("BEGIN IMMEDIATE")
            await asyncio.gather(*(_keep(store, kept, key, result) for result in results[1:]))
            with pytest.raises(LockedError):
                await store.answers()
            with pytest.raises(LockedError):
                await store.absorb(kept[0])
            stranger.execute("ROLLBACK")
        await store.answers()
        assert (await store.absorb(kept[0])).results == 3
        await store.close_round(key, closed(PLAN[0], results), verdicts(PLAN[0]), attempt=1, judged_by="j")
        assert next(store.rounds(key, FABRIC)).closed.results[0] == results[0]
        assert store.complete_rounds(key) == {1}


@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_moved_away_while_it_runs_and_put_back(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    monkeypatch.setattr("store.database.journal_for", lambda *_: (journal, "as the test says"))
    kept: list[Spool] = []
    results = [measured(test) for test in PLAN[0].tests]
    with Store.open(path) as store:
        key = await store.create_session(new(), PLAN)
        await store.begin_round(key, 1, at=1000.0)
        await _keep(store, kept, key, results[0])
        shutil.move(path, tmp_path / "moved.db")
        for result in results[1:]:
            await _keep(store, kept, key, result)
        with pytest.raises(MissingError):
            await store.answers()
        shutil.move(tmp_path / "moved.db", path)
        assert (await store.absorb(kept[0])).results == 3
        assert len(store.open_rounds(key, FABRIC)[0].results) == 4


async def test_an_idle_console_hears_that_its_file_is_gone_and_back(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.writer.LOOK_SECONDS", 0.01)
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[StoreError | None] = asyncio.Queue()
    with Store.open(path) as store:

        def hear(error: StoreError | None) -> None:
            loop.call_soon_threadsafe(heard.put_nowait, error)
            raise RuntimeError("whatever is wrong with who listens")

        store.on_trouble = hear
        await store.create_session(new(), PLAN)
        shutil.move(path, tmp_path / "moved.db")
        assert isinstance(await asyncio.wait_for(heard.get(), 10), MissingError)
        shutil.move(tmp_path / "moved.db", path)
        assert await asyncio.wait_for(heard.get(), 10) is None
        await store.answers()  # the writer lives on
    assert heard.empty()


def test_it_looks_often_enough() -> None:
    from store import writer

    assert writer.LOOK_SECONDS < 5


async def test_errors_say_whether_they_belong_into_a_spool() -> None:
    assert StoreError.to_spool
    assert LockedError.to_spool
    assert MissingError.to_spool
    assert not any(kind.to_spool for kind in (ConflictError, DrivenError, RefusedError, SpoolError))
