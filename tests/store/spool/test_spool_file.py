"""Records that the database refuses are kept in a spool, come back once, and nothing hostile comes with them."""

import asyncio
import contextlib
import io
import json
import math
import os
import shutil
import stat
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Proof, Result
from benchconsole.store.codec.rows import make_proof_row
from benchconsole.store.errors import (
    ConflictError,
    DrivenError,
    LockedError,
    MissingError,
    RefusedError,
    SpoolError,
    StoreError,
)
from benchconsole.store.model import ProofSet, SessionNote, SpoolImport
from benchconsole.store.session_summary import SessionState
from benchconsole.store.spool import spool_file
from benchconsole.store.spool.spool_file import Spool, make_line
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests import plain_sqlite
from tests.store import strategies
from tests.store.played import (
    FABRIC,
    closed,
    ended,
    failed,
    fork,
    measured,
    names,
    new,
    planned,
    verdicts,
    write_nothing,
)

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
    await store.session(key).begin_round(1, at=1000.0)
    await store.session(key).append_result(1, 1, measured(PLAN[0].tests[0]))
    return key, store.session(key).open_spool()


async def test_all_that_can_be_kept_comes_back_once(path: Path) -> None:
    results = [measured(PLAN[0].tests[0]), *(failed(test) for test in PLAN[0].tests[1:])]
    whole = closed(PLAN[0], results, CloseReason.STOPPED)
    proofs = (Proof(NodeId("n1"), True, ("/tmp/x",), 1, ""),)
    with Store.open(path) as store:
        key, kept = await _held(store)
        await kept.append_result(1, 1, results[1])
        await kept.close_round(replace(whole, verdicts=verdicts(PLAN[0]), attempt=1, judged_by="j"))
        await kept.append_note("held", "no room", 1021.0)
        await kept.append_proofs(proofs, 1022.0)
        await kept.end(at=1023.0, complete=False, because="stopped")
        assert _mode(kept.path) == 0o600
        copy = path.with_name("copy.spool")
        shutil.copy(kept.path, copy)
        assert spool_file.find_spools(path) == ()  # somebody writes to it
        found = await store.import_spool(kept)
        assert found == SpoolImport(results=3, rounds=1, others=3, known=2)
        assert not kept.files
        assert names(path.parent) == ["copy.spool", "s.db"]
        again = await store.import_spool(copy)
        assert again == SpoolImport(known=9)
    with Store.open(path) as store:
        (stored,) = store.session(key).read_rounds(FABRIC)
        assert stored == replace(whole, verdicts=verdicts(PLAN[0]), judged_by="j")
        assert store.session(key).read_open_rounds(FABRIC) == ()
        assert store.session(key).read_notes() == (SessionNote("held", "no room", 1021.0),)
        assert store.session(key).read_proofs() == (ProofSet(1022.0, proofs),)
        assert (store.session(key).describe().state, store.session(key).describe().because) == (
            SessionState.INTERRUPTED,
            "stopped",
        )


async def test_another_process_brings_it_back_when_the_first_is_gone(path: Path) -> None:
    hear, tell = os.pipe()

    def drive() -> None:
        async def main() -> None:
            store = Store.open(path)
            key, kept = await _held(store)
            await kept.append_result(1, 1, measured(PLAN[0].tests[1]))
            os.write(tell, key.encode())
            os._exit(0)

        asyncio.run(main())

    assert ended(fork(drive)) == 0
    key = os.read(hear, 8).decode()
    os.close(hear)
    os.close(tell)
    (left,) = spool_file.find_spools(path)
    with Store.open(path) as store:
        assert await store.import_spool(left) == SpoolImport(results=1)
        assert spool_file.find_spools(path) == ()
        assert [result.test.id for result in store.session(key).read_open_rounds(FABRIC)[0].results] == ["1.0", "1.1"]


async def test_a_session_that_somebody_drives_is_left_to_him(path: Path) -> None:
    with Store.open(path) as drives, Store.open(path) as other:
        _key, kept = await _held(drives)
        await kept.append_result(1, 1, measured(PLAN[0].tests[1]))
        with pytest.raises(SpoolError, match="a console is writing to this spool"):
            await other.import_spool(kept.path)
        kept.close()
        with pytest.raises(DrivenError, match="driven by process"):
            await other.import_spool(kept.path)
        assert kept.path.exists()
        assert (await drives.import_spool(kept)).results == 1


@settings(max_examples=40, deadline=None)
@given(strategies.closed_rounds(), st.data())
def test_every_record_comes_back_from_its_line(found: ClosedRound, data: st.DataObject) -> None:
    place = spool_file.AttemptAddress("12345678", found.round.number, 1)
    given_verdicts = data.draw(st.lists(strategies.verdicts(found.round.number), max_size=3).map(tuple))
    judged = replace(found, verdicts=given_verdicts, judged_by="j")
    whole: list[spool_file.Record] = [
        *(spool_file.make_result_record(place, result) for result in found.results),
        spool_file.make_close_record(place, judged, at=1.0),
        spool_file.NoteRecord("12345678", "held", "why", 3.0),
        spool_file.ProofRecord("12345678", 4.0, (make_proof_row(Proof(NodeId("n1"), False, ("a", "b"), 3, "gone")),)),
        spool_file.EndRecord("12345678", "token", 5.0, True, ""),
    ]
    for record in whole:
        text = make_line(uuid.uuid4(), record)
        assert text.count(b"\n") == 1
        (line,) = spool_file.read_lines(io.BytesIO(text))
        assert line.record == record


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


async def test_a_torn_last_line_was_never_acknowledged(path: Path) -> None:
    with Store.open(path) as store:
        _key, kept = await _held(store)
        for test in PLAN[0].tests[1:3]:
            await kept.append_result(1, 1, measured(test))
        kept.close()
        first, second = _lines(kept.path)
        kept.path.write_bytes(first + second[:-7])
        assert await store.import_spool(kept.path) == SpoolImport(results=1)


def _line(record: object) -> bytes:
    """A line whose sum is right, whatever it holds."""
    id, body = uuid.uuid4().hex.encode(), json.dumps(record, separators=(",", ":")).encode()
    return b'{"sum":"%s","id":"%s","record":%s}\n' % (spool_file._compute_sum(id, body), id, body)


def _result(key: str = "KEY", round: object = 1, attempt: object = 1, **rows: object) -> bytes:
    """A result, with rows that no console would write."""
    fields = {
        "test": "1.3",
        "result": [1.0, 2.0, 0.0, None, None, None],
        "outputs": [],
        "measurements": [],
        "facts": [],
    }
    row = list((fields | rows).values())
    return _line({"kind": "result", "address": [key, round, attempt], "rows": row})


_NUMBER = ["a.x", "B/s", [], "k", 1.0, "", 1.0]
_OUTPUT = ["n1", "[]", "", "", 0, None, 1.0, 0]
_VERDICT = ["1.0", "p", "n1", "[]", "pass", "capacity", "", "network", *[None] * 3, *[""] * 5, "[]"]


def _close(
    reason: object = "all answered", tested: object = 4, results: object = 0, verdict: object = _VERDICT
) -> bytes:
    end = [1.0, 2.0, reason, "", tested, 0, 0, 0]
    judgement = ["j", 1.0, [["a.x", "B/s", [], verdict]]]
    record = {"address": ["KEY", 2, 1], "end": end, "results": results, "judgement": judgement}
    return _line({"kind": "closed", **record})


HOSTILE = {
    "no JSON": b"hello\n",
    "not UTF-8": b"\xff\xfe\n",
    "deep": b"[" * 100_000 + b"\n",
    "a record that is too deep": _result().replace(b'"1.3"', b"[" * 100_000),
    "a list": b"[]\n",
    "a sum of something else": _result().replace(b"1.3", b"1.2"),
    "no record": _line(None),
    "no such kind": _line({"kind": "drop table", "address": ["KEY", 1, 1], "at": 1.0}),
    "a field too many": _line({"kind": "note", "session": "KEY", "what": "held", "text": "", "at": 1.0, "more": 1}),
    "a field too few": _line({"kind": "note", "session": "KEY", "what": "held", "text": ""}),
    "a text for a number": _result(round="1; DROP TABLE result"),
    "a truth for a number": _result(round=True),
    "a number beyond 64 bits": _result(attempt=2**64),
    "a value that is none": _result(measurements=[[*_NUMBER[:4], None, "", 1.0]]),
    "an infinite value": _result(measurements=[[*_NUMBER[:4], 10**400, "", 1.0]]),
    "NaN": _result(measurements=[[*_NUMBER[:4], math.nan, "", 1.0]]),
    "an unknown unit": _result(measurements=[["a.x", "furlong", *_NUMBER[2:]]]),
    "a measurement twice": _result(measurements=[_NUMBER, _NUMBER]),
    "labels that are none": _result(measurements=[[*_NUMBER[:2], "out", *_NUMBER[3:]]]),
    "half of a surrogate pair": _result(measurements=[["a.\ud800", *_NUMBER[1:]]]),
    "an unknown stage": _result(result=[1.0, 2.0, 0.0, "hacked", "", "n1"]),
    "a failure without a stage": _result(result=[1.0, 2.0, 0.0, None, "why", "n1"]),
    "an output without bytes": _result(outputs=[[*_OUTPUT[:2], "%%%", *_OUTPUT[3:]]]),
    "arguments that are none": _result(outputs=[["n1", "{}", *_OUTPUT[2:]]]),
    "a flag that is none": _result(outputs=[[*_OUTPUT[:7], 2]]),
    "an exit status beyond 64 bits": _result(outputs=[[*_OUTPUT[:4], 2**63, *_OUTPUT[5:]]]),
    "a fact that is nothing": _result(facts=[[[], "f", None, None, None]]),
    "a fact that is both": _result(facts=[[[], "f", "x", 1.0, None]]),
    "an end without a reason": _close(reason="bored"),
    "a count below nothing": _close(tested=-1),
    "results that are no count": _close(results=-1),
    "a verdict of no level": _close(verdict=[*_VERDICT[:4], "good", *_VERDICT[5:]]),
    "nodes that are none": _close(verdict=[*_VERDICT[:3], "n1", *_VERDICT[4:]]),
    "a verdict that is short": _close(verdict=_VERDICT[:-1]),
    "proofs of a flag": _line({"kind": "proofs", "session": "KEY", "at": 1.0, "proofs": [["n1", 7, "[]", 0, ""]]}),
    "remains that are none": _line({"kind": "proofs", "session": "KEY", "at": 1.0, "proofs": [["n1", 1, "x", 0, ""]]}),
    "a note of bytes": _line({"kind": "note", "session": "KEY", "what": "held", "text": None, "at": 1.0}),
    "an end that is half": _line(
        {"kind": "ended", "session": "KEY", "token": "t", "at": 1.0, "complete": 1, "because": ""}
    ),
    "a session that is not there": _result(key="ffffffff"),
    "a test that is not there": _result(test="9.9"),
    "a round that is not there": _result(round=77),
    "an attempt from before": _result(attempt=-1),
}


@pytest.mark.fault("F54")
async def test_hostile_lines_are_refused_one_by_one(path: Path) -> None:
    with Store.open(path) as store:
        key, kept = await _held(store)
        for test in PLAN[0].tests[1:3]:
            await kept.append_result(1, 1, measured(test))
        kept.close()
        first, last = _lines(kept.path)
        file = kept.path
        file.write_bytes(first + b"".join(_with_key(line, key) for line in HOSTILE.values()) + last)
        found = await store.import_spool(file)
        assert (found.results, found.known) == (2, 0)
        assert [each.line for each in found.refused] == list(range(2, len(HOSTILE) + 2))
        assert found.kept == str(file) + ".refused"
        assert f"{file.name}.refused" in names(path.parent)
        assert spool_file.find_spools(path) == ()
        assert [result.test.id for result in store.session(key).read_open_rounds(FABRIC)[0].results] == [
            "1.0",
            "1.1",
            "1.2",
        ]
        with contextlib.closing(plain_sqlite.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def _with_key(line: bytes, key: str) -> bytes:
    """The line with ``key`` as its session, and the sum made right again where it was right."""
    match = spool_file._LINE.fullmatch(line)
    if match is None or match[1] != spool_file._compute_sum(match[2], match[3]):
        return line
    body = match[3].replace(b'"KEY"', f'"{key}"'.encode())
    return b'{"sum":"%s","id":"%s","record":%s}\n' % (spool_file._compute_sum(match[2], body), match[2], body)


async def test_a_round_is_not_closed_without_its_results(path: Path) -> None:
    with Store.open(path) as store:
        key, kept = await _held(store)
        await kept.close_round(replace(closed(PLAN[0]), verdicts=verdicts(PLAN[0]), attempt=1, judged_by="j"))
        kept.close()
        lines = _lines(kept.path)
        kept.path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
        found = await store.import_spool(kept.path)
        assert (found.results, found.rounds) == (2, 0)
        assert "closed with 4 results, 3 are stored" in found.refused[0].why
        assert store.session(key).list_closed_rounds() == frozenset()


async def test_what_is_no_spool_is_left_as_it_is(path: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\nworld\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.spool").symlink_to(tmp_path / "notes.txt")
    os.mkfifo(tmp_path / "pipe.spool")
    with Store.open(path) as store:
        await store.create_session(new(), [])
        for name in ("notes.txt", "folder", "link.spool", "pipe.spool", "none"):
            with pytest.raises(SpoolError):
                await store.import_spool(tmp_path / name)
        assert (tmp_path / "notes.txt").read_text() == "hello\nworld\n"
        with pytest.raises(SpoolError, match="nothing in it could be brought back"):
            await store.import_spool(path)


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
        await store.session(key).begin_round(1, at=1000.0)
        monkeypatch.setattr(os, "open", full)
        kept = store.session(key).open_spool()
        assert kept.path.parent == state
        assert _mode(state) == 0o700
        await kept.append_result(1, 1, measured(PLAN[0].tests[0]))
        monkeypatch.setattr(os, "open", real)
        kept.close()
        assert spool_file.find_spools(path) == (kept.path,)
        assert spool_file.find_spools(path.with_name("other.db")) == ()
        assert (await store.import_spool(kept)).results == 1


@pytest.mark.fault("F24")
async def test_without_any_room_nothing_is_acknowledged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(path) as store:
        _key, kept = await _held(store)
        before = kept.path.read_bytes()
        real = os.fsync

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("benchconsole.store.spool.spool_file.os.fsync", full)
        with pytest.raises(SpoolError, match="neither the database nor a spool"):
            await kept.append_result(1, 1, measured(PLAN[0].tests[1]))
        assert kept.path.read_bytes() == before  # no part of it stays
        monkeypatch.setattr("benchconsole.store.spool.spool_file.os.fsync", real)
        await kept.append_result(1, 1, measured(PLAN[0].tests[1]))
        with pytest.raises(RefusedError):
            await kept.append_result(1, 1, measured(PLAN[0].tests[2], value=float("nan")))
        assert (await store.import_spool(kept)).results == 1


async def test_results_that_come_while_it_is_brought_back_come_too(path: Path) -> None:
    with Store.open(path) as store:
        key, kept = await _held(store)
        tests = PLAN[0].tests
        await kept.append_result(1, 1, measured(tests[1]))
        bringing = asyncio.create_task(store.import_spool(kept))
        await asyncio.gather(*(kept.append_result(1, 1, measured(test)) for test in tests[2:]))
        found, left = await bringing, await store.import_spool(kept)
        assert found.results + left.results == 3
        assert len(store.session(key).read_open_rounds(FABRIC)[0].results) == 4
        assert names(path.parent) == ["s.db"]


# -- faults of the database: the results go on into the spool, and come back


async def _keep(store: Store, kept: list[Spool], key: str, result: Result) -> None:
    """Keep a result as a run does: in the database, and where that refuses as a whole, in the spool."""
    if not kept:
        try:
            await store.session(key).append_result(result.test.round, 1, result)
        except StoreError as error:
            if not error.to_spool:
                raise
            kept.append(store.session(key).open_spool())
        else:
            return
    await kept[0].append_result(result.test.round, 1, result)


@pytest.mark.fault("F29")
async def test_a_stranger_holds_the_lock_and_nothing_is_lost(path: Path) -> None:
    kept: list[Spool] = []
    results = [measured(test) for test in PLAN[0].tests]
    with Store.open(path, busy=0.02) as store:
        key = await store.create_session(new(), PLAN)
        await store.session(key).begin_round(1, at=1000.0)
        await _keep(store, kept, key, results[0])
        with contextlib.closing(plain_sqlite.connect(path)) as stranger:
            stranger.execute("BEGIN IMMEDIATE")
            await asyncio.gather(*(_keep(store, kept, key, result) for result in results[1:]))
            with pytest.raises(LockedError):
                await write_nothing(store)
            with pytest.raises(LockedError):
                await store.import_spool(kept[0])
            stranger.execute("ROLLBACK")
        await write_nothing(store)
        assert (await store.import_spool(kept[0])).results == 3
        await store.session(key).close_round(
            replace(closed(PLAN[0], results), verdicts=verdicts(PLAN[0]), attempt=1, judged_by="j")
        )
        assert next(store.session(key).read_rounds(FABRIC)).results[0] == results[0]
        assert store.session(key).list_closed_rounds() == {(1, 1)}


@pytest.mark.fault("F56")
@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_moved_away_while_it_runs_and_put_back(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    kept: list[Spool] = []
    results = [measured(test) for test in PLAN[0].tests]
    with Store.open(path) as store:
        key = await store.create_session(new(), PLAN)
        await store.session(key).begin_round(1, at=1000.0)
        await _keep(store, kept, key, results[0])
        shutil.move(path, tmp_path / "moved.db")
        for result in results[1:]:
            await _keep(store, kept, key, result)
        with pytest.raises(MissingError):
            await write_nothing(store)
        shutil.move(tmp_path / "moved.db", path)
        assert (await store.import_spool(kept[0])).results == 3
        assert len(store.session(key).read_open_rounds(FABRIC)[0].results) == 4


@pytest.mark.fault("F56")
async def test_an_idle_console_hears_that_its_file_is_gone_and_back(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchconsole.store.writing.writer.LOOK_SECONDS", 0.01)
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
        await write_nothing(store)  # the writer lives on
    assert heard.empty()


def test_it_looks_often_enough() -> None:
    from benchconsole.store.writing import writer

    assert writer.LOOK_SECONDS < 5


async def test_errors_say_whether_they_belong_into_a_spool() -> None:
    assert StoreError.to_spool
    assert LockedError.to_spool
    assert MissingError.to_spool
    assert not any(kind.to_spool for kind in (ConflictError, DrivenError, RefusedError, SpoolError))
