"""Old shapes are brought up with a copy beside them, new ones are looked at, steps are all or none."""

import contextlib
import os
import random
import select
import shutil
import signal
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from probes.model import Swept
from store import schema
from store.database import Database
from store.errors import DamagedError, DrivenError, ReadOnlyError, TooNewError
from store.schema import STEPS, Step
from store.store import Store
from store.upgrading import upgrade
from tests.store import shape1
from tests.store.played import FABRIC, closed, ended, fork, names, new, planned, verdicts
from topology.sweep import Ending

if TYPE_CHECKING:
    from sqlite_utils import Database as Tables


def _add_note(db: "Tables") -> None:
    db.execute("ALTER TABLE session ADD COLUMN note TEXT NOT NULL DEFAULT ''")


def _add_index(db: "Tables") -> None:
    db.execute("CREATE INDEX verdict_by_level ON verdict (level)")


LATER = (*STEPS, Step("9001_note", _add_note), Step("9002_index", _add_index))


def _dump(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def _shape(path: Path) -> tuple[int, set[str], str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        names = {name for (name,) in connection.execute("SELECT name FROM _sqlite_migrations")}
        return version, names, connection.execute("PRAGMA integrity_check").fetchone()[0]


async def _fill(path: Path) -> str:
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new("kept"), [each])
        await store.append_round(key, closed(each), verdicts(each), judged_by="j")
    return key


def test_steps_are_named_once_and_in_order() -> None:
    names = [step.name for step in STEPS]
    assert names == sorted(set(names))
    assert all(int(name.split("_")[0]) == count for count, name in enumerate(names, 1))


@pytest.mark.parametrize("shape", range(1, len(STEPS) + 1))
def test_from_every_older_shape_to_the_newest(tmp_path: Path, shape: int) -> None:
    path = tmp_path / "s.db"
    Database.open(path, steps=STEPS[:shape])
    database = Database.open(path)
    assert (database.backup is not None) == (shape < len(STEPS))
    Database.open(tmp_path / "new.db")

    def tables(where: Path) -> list[str]:
        return [line for line in _dump(where) if "_sqlite_migrations" not in line]

    assert tables(path) == tables(tmp_path / "new.db")


async def test_a_filled_database_of_the_first_shape(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = shape1.write(path)
    with Store.open(path) as store:
        assert store.backup == tmp_path / "s.db.v1.backup"
        (line,) = store.sessions()
        assert (line.rounds_closed, line.tested, line.failed, line.fails, line.passes) == (2, 3, 1, 1, 2)
        assert store.closed_rounds(key) == {(1, 1), (1, 2), (2, 1)}
        stored = list(store.rounds(key, FABRIC))
        assert [(each.closed.reason.value, each.closed.because, each.judged_by) for each in stored] == [
            ("cancelled", "", "j"), ("all answered", "", "j"), ("all answered", "", "again")
        ]  # fmt: skip
        assert stored[0].closed.results[0].outputs[0].stdout == b"\xff\x00"
        assert [found.current for found in store.measurements(key)] == [False, True, True, True]
        newest = store.newest(session=key)
        assert newest == store.newest(fabric="toy")
        told = {newest.subjects[subject][0]: (severity, value) for subject, _, severity, value in newest.cells}
        assert told == {"n1>n5": (3, 0.5e9), "n2>n6": (0, 1.2e9)}  # the last attempt, and its last judgement
        await store.claim(key)
        assert await store.begin_round(key, 2, at=2000.0) == 2
    assert _shape(path) == (len(STEPS), {step.name for step in STEPS}, "ok")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert Database.open(tmp_path / "s.db.v1.backup").facts.shape == len(STEPS)  # it is a whole database itself


async def test_tests_of_an_older_shape_have_no_labels_and_new_ones_keep_theirs(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = shape1.write(path)
    with Store.open(path) as store:
        assert {(test.target.labels, each.swept) for each in store.plan(key, FABRIC) for test in each.tests} == {
            ((), None)
        }
        await store.claim(key)
        point = Swept(9, (("tasks", "4"), ("block", "1 MiB")), 2, 3, "up", Ending(0.05, 2, "ior.write"))
        fresh = replace(planned(9), swept=point)
        target = replace(fresh.tests[0].target, labels=(("kind", "virtual"), ("tasks", "4")))
        fresh = replace(fresh, tests=(replace(fresh.tests[0], target=target),))
        await store.extend_plan(key, [fresh])
    with Store.open(path) as store:
        assert store.plan(key, FABRIC)[-1] == fresh
    with contextlib.closing(sqlite3.connect(path)) as connection:
        stored = connection.execute("SELECT labels FROM test ORDER BY id DESC LIMIT 1").fetchone()
        assert stored == ('[["kind","virtual"],["tasks","4"]]',)


async def test_a_row_that_refers_to_nothing_stops_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    shape1.write(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM attempt WHERE id = 3")
    old = _dump(path)
    with pytest.raises(DamagedError, match="refers to one of attempt that is not there"):
        Database.open(path)
    assert _dump(path) == old


def test_killed_at_random_instants_of_an_upgrade(tmp_path: Path) -> None:
    """The file has its old shape or the new one, whole, whenever the kill comes; in the end it is upgraded."""
    chance = random.Random(23)
    shape1.write(tmp_path / "old.db")
    old, done = _dump(tmp_path / "old.db"), 0
    for kill in range(12):
        path = tmp_path / f"{kill}.db"
        shutil.copy(tmp_path / "old.db", path)
        pid = fork(lambda path=path: Database.open(path))  # type: ignore[misc]
        select.select([], [], [], chance.uniform(0, 0.12))
        os.kill(pid, signal.SIGKILL)
        ended(pid)
        shape = _shape(path)[0]  # SQLite rolls back what was begun
        done += shape == len(STEPS)
        assert shape in (1, len(STEPS))
        assert shape != 1 or _dump(path) == old
        assert _shape(path)[2] == "ok"
        for backup in tmp_path.glob(f"{kill}.db.v1*.backup"):
            assert _dump(backup) == old
        assert Database.open(path).facts.shape == len(STEPS)
        assert not list(tmp_path.glob(f"{kill}.db*.part"))
    assert done < 12


async def test_an_upgrade_keeps_everything_and_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await _fill(path)
    old = _dump(path)
    database = Database.open(path, steps=LATER)
    backup = tmp_path / f"s.db.v{len(STEPS)}.backup"
    assert database.backup == backup
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert sorted(_dump(backup)) == sorted(old)  # a copy lists indexes by kind, the original by age
    version, names, check = _shape(path)
    assert (version, check) == (len(LATER), "ok")
    assert names == {step.name for step in LATER}
    assert Database.open(path, steps=LATER).backup is None
    with Store.open(backup) as store:
        assert next(store.rounds(key, FABRIC)).closed == closed(planned(1))


async def test_an_older_copy_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    await _fill(path)
    (tmp_path / f"s.db.v{len(STEPS)}.backup").write_text("an older one")
    assert Database.open(path, steps=LATER).backup == tmp_path / f"s.db.v{len(STEPS)}-2.backup"
    assert (tmp_path / f"s.db.v{len(STEPS)}.backup").read_text() == "an older one"


async def test_a_step_that_fails_leaves_the_old_shape(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await _fill(path)
    old = _dump(path)

    def fail(db: "Tables") -> None:
        db.execute("DROP TABLE verdict")
        raise RuntimeError("the author slipped")

    with pytest.raises(RuntimeError):
        Database.open(path, steps=(*LATER, Step("9003_slip", fail)))
    assert _dump(path) == old
    with Store.open(path) as store:
        assert store.closed_rounds(key) == {(1, 1)}


@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_killed_in_the_middle_of_an_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    monkeypatch.setattr("store.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "s.db"
    key = await _fill(path)
    old = _dump(path)

    def die(db: "Tables") -> None:
        db.execute("PRAGMA cache_spill = 1")
        db.execute("DROP TABLE verdict")
        db.execute("PRAGMA cache_size = 1")
        db.execute("CREATE TABLE big AS SELECT randomblob(200000) AS bytes")
        os.kill(os.getpid(), signal.SIGKILL)

    status = ended(fork(lambda: Database.open(path, steps=(*LATER, Step("9003_die", die)))))
    assert os.WTERMSIG(status) == signal.SIGKILL
    with Store.open(path) as store:
        assert store.closed_rounds(key) == {(1, 1)}
    assert _dump(path) == old
    assert _shape(path)[2] == "ok"


def test_killed_while_the_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "s.db"

    def die(_: "Tables") -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    ended(fork(lambda: Database.open(path, steps=(*STEPS, Step("9003_die", die)))))
    assert path.exists()
    assert Database.open(path).facts.shape == len(STEPS)


def test_killed_while_the_copy_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    Database.open(path)
    name = tmp_path / f"s.db.v{len(STEPS)}.backup"

    def die_in_fsync(_: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        monkeypatch.setattr("store.upgrading.os.fsync", die_in_fsync)
        Database.open(path, steps=LATER)

    ended(fork(work))
    assert _shape(path)[0] == len(STEPS)
    assert [each for each in names(tmp_path) if each.endswith(".part")] != []
    assert not name.exists()  # no half copy stands under the name
    assert Database.open(path, steps=LATER).backup == name
    assert [each for each in names(tmp_path) if each.endswith(".part")] == []


async def test_what_a_newer_program_wrote_is_looked_at_only(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await _fill(path)
    Database.open(path, steps=LATER)
    before = path.read_bytes()
    with Store.open(path) as store:
        assert isinstance(store.read_only, TooNewError)
        assert "upgrade benchconsole" in str(store.read_only)
        assert store.closed_rounds(key) == {(1, 1)}
        with pytest.raises(TooNewError):
            await store.claim(key)
    assert path.read_bytes() == before
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE verdict RENAME COLUMN level TO standing")
    with Store.open(path) as store, pytest.raises(TooNewError):  # a shape that cannot be read any more
        list(store.rounds(key, FABRIC))


async def test_an_upgrade_under_a_running_console_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        await store.create_session(new(), [])
        with pytest.raises(DrivenError, match="older shape and process"):
            Database.open(path, steps=LATER)
        assert not [name for name in names(tmp_path) if "backup" in name]
    assert Database.open(path, steps=LATER).backup is not None


async def test_a_console_that_was_upgraded_under_stops_writing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")
        with pytest.raises(TooNewError, match="shape 99"):
            await store.append_round(key, closed(each), (), judged_by="j")


async def test_somebody_writes_between_the_copy_and_the_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.db"
    await _fill(path)
    copies = []

    def copy_and_interfere(connection: sqlite3.Connection, target: Path) -> None:
        copy_into(connection, target)
        copies.append(target)
        if len(copies) == 1:
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as stranger:
                stranger.execute("UPDATE session SET label = 'late'")

    from store.upgrading import copy_into

    monkeypatch.setattr("store.upgrading.copy_into", copy_and_interfere)
    database = Database.open(path, steps=LATER)
    assert len(copies) == 2
    assert database.backup is not None
    with Store.open(database.backup) as store:
        assert store.sessions()[0].label == "late"


def test_nothing_to_do_makes_no_copy(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Database.open(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert upgrade(connection, path, STEPS, now=0.0) is None
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
    assert mark == schema.APPLICATION


async def test_an_old_shape_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    await _fill(path)
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    with pytest.raises(ReadOnlyError, match="older shape"):
        Database.open(path, steps=LATER)


async def test_the_views_promise_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await _fill(path)
    each = planned(1)
    with Store.open(path) as store:
        await store.claim(key)
        await store.append_round(key, closed(each), verdicts(each), attempt=2, judged_by="j")
        await store.append_verdicts(key, {(1, 2): verdicts(each)}, judged_by="again")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        row = dict(connection.execute("SELECT * FROM v_measurement WHERE current").fetchone())
        assert row == {
            "session": key, "label": "kept", "fabric": "toy", "simulated": 0, "round": 1, "attempt": 2,
            "stage": "neighbours", "probe": "iperf3", "test": "1.0", "node": "n1", "peer": "n5",
            "metric": "iperf3.throughput", "value": 1.17e9, "unit": "B/s", "labels": "direction=out",
            "raw": "9.4 Gbits/sec", "at": 1001.5, "measurement": "1.0#0", "current": 1,
            "closed": 1, "members": "[]", "drift": 0.0,
        }  # fmt: skip
        row = dict(connection.execute("SELECT * FROM v_verdict WHERE current").fetchone())
        assert row.pop("judged_at") > 0
        assert row == {
            "session": key, "label": "kept", "fabric": "toy", "simulated": 0, "round": 1, "attempt": 2,
            "stage": "neighbours", "probe": "iperf3", "test": "1.0", "subject": "n1>n5", "nodes": '["n1","n5"]',
            "metric": "iperf3.throughput", "value": 1.17e9, "expected": 1.18e9, "required": 0.94e9, "unit": "B/s",
            "labels": "direction=out", "level": "pass", "kind": "capacity", "because": "1.17 GB/s of 1.18 GB/s",
            "text": "", "expected_text": "", "source": "suite", "limiting": "n1-leaf1", "affected_by": "",
            "evidence": '["1.0#0"]', "judged_by": "again", "current": 1,
        }  # fmt: skip
        counts = {
            view: connection.execute(statement).fetchall()[0][:]
            for view, statement in (
                ("measurement", "SELECT count(*), sum(current) FROM v_measurement"),
                ("verdict", "SELECT count(*), sum(current) FROM v_verdict"),
            )
        }
        assert {view: tuple(count) for view, count in counts.items()} == {"measurement": (8, 4), "verdict": (12, 4)}
