"""Old shapes are brought up with a copy beside them, new ones are looked at, steps are all or none."""

import asyncio
import contextlib
import os
import random
import select
import shutil
import signal
import stat
from pathlib import Path

import pytest

from benchconsole.store.errors import DamagedError, DrivenError, ReadOnlyError, TooNewError, TooOldError
from benchconsole.store.files.database import Database
from benchconsole.store.files.upgrade import upgrade
from benchconsole.store.schema import tables
from benchconsole.store.schema.tables import FIRST, STEPS, newest
from benchconsole.store.sqlite import Connection
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from tests import plain_sqlite
from tests.store.played import FABRIC, append_round, closed, ended, fork, names, new, planned, verdicts


def _add_note(db: Connection) -> None:
    db.execute("ALTER TABLE session ADD COLUMN note TEXT NOT NULL DEFAULT ''")


def _add_index(db: Connection) -> None:
    db.execute("CREATE INDEX verdict_by_level ON verdict (level)")


LATER = (*STEPS, _add_note, _add_index)
NOW = newest()


def _dump(path: Path) -> list[str]:
    """Every statement of the shape, and every row of every table."""
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        shape = connection.execute("SELECT name, type, sql FROM sqlite_master ORDER BY name").fetchall()
        names = [name for name, kind, _ in shape if kind == "table"]
        return [*map(str, shape), *(str(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in names)]  # noqa: S608


def _shape(path: Path) -> tuple[int, str]:
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return version, connection.execute("PRAGMA integrity_check").fetchone()[0]


async def _fill(path: Path) -> str:
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new("kept"), [each])
        await append_round(store.session(key), closed(each), verdicts(each), judged_by="j")
    return key


@pytest.mark.fault("F30")
@pytest.mark.parametrize("shape", range(1, FIRST))
async def test_a_database_of_a_development_version_is_left_alone_and_says_what_to_do(
    tmp_path: Path, shape: int
) -> None:
    path = tmp_path / "s.db"
    await _fill(path)
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {shape}")
    before = path.read_bytes()
    with pytest.raises(TooOldError) as caught:
        Store.open(path)
    assert str(caught.value) == (
        f"{path}: found shape {shape} of a development version, expected {FIRST}; "
        "move the file away, or read it with the version that wrote it"
    )
    assert path.read_bytes() == before
    assert not [name for name in names(tmp_path) if "backup" in name]


@pytest.mark.fault("F30")
def test_steps_one_by_one_and_at_once_give_the_same_shape(tmp_path: Path) -> None:
    for count in range(len(STEPS), len(LATER) + 1):
        Database.open(tmp_path / "one.db", steps=LATER[:count])
    Database.open(tmp_path / "all.db", steps=LATER)
    assert _dump(tmp_path / "one.db") == _dump(tmp_path / "all.db")
    assert _shape(tmp_path / "one.db") == (newest(LATER), "ok")


async def test_a_row_that_refers_to_nothing_stops_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    await _fill(path)
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        connection.execute("DELETE FROM attempt")
    old = _dump(path)
    with pytest.raises(DamagedError, match="refers to one of attempt that is not there"):
        Database.open(path, steps=LATER)
    assert _dump(path) == old


@pytest.mark.fault("F23")
def test_killed_at_random_instants_of_an_upgrade(tmp_path: Path) -> None:
    """The file has its old shape or the new one, whole, whenever the kill comes; in the end it is upgraded."""
    chance = random.Random(23)
    asyncio.run(_fill(tmp_path / "old.db"))
    old, done = _dump(tmp_path / "old.db"), 0
    for kill in range(12):
        path = tmp_path / f"{kill}.db"
        shutil.copy(tmp_path / "old.db", path)
        pid = fork(lambda path=path: Database.open(path, steps=LATER))  # type: ignore[misc]
        select.select([], [], [], chance.uniform(0, 0.12))
        os.kill(pid, signal.SIGKILL)
        ended(pid)
        shape = _shape(path)[0]  # SQLite rolls back what was begun
        done += shape == newest(LATER)
        assert shape in (NOW, newest(LATER))
        assert shape != NOW or _dump(path) == old
        assert _shape(path)[1] == "ok"
        for backup in tmp_path.glob(f"{kill}.db.v{NOW}*.backup"):
            assert sorted(_dump(backup)) == sorted(old)
        assert Database.open(path, steps=LATER).facts.shape == newest(LATER)
        assert not list(tmp_path.glob(f"{kill}.db*.part"))
    assert done < 12


@pytest.mark.fault("F30")
async def test_an_upgrade_keeps_everything_and_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await _fill(path)
    old = _dump(path)
    Database.open(path, steps=LATER)
    backup = tmp_path / f"s.db.v{NOW}.backup"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert sorted(_dump(backup)) == sorted(old)  # a copy lists indexes by kind, the original by age
    assert _shape(path) == (newest(LATER), "ok")
    Database.open(path, steps=LATER)  # nothing is left to do
    assert [name for name in names(tmp_path) if "backup" in name] == [backup.name]
    with Store.open(backup) as store:
        stored = next(store.session(key).read_rounds(FABRIC))
        assert stored == replace(closed(planned(1)), verdicts=verdicts(planned(1)), judged_by="j")


@pytest.mark.fault("F30")
async def test_an_older_copy_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    await _fill(path)
    old = _dump(path)
    (tmp_path / f"s.db.v{NOW}.backup").write_text("an older one")
    Database.open(path, steps=LATER)
    assert sorted(_dump(tmp_path / f"s.db.v{NOW}-2.backup")) == sorted(old)
    assert (tmp_path / f"s.db.v{NOW}.backup").read_text() == "an older one"


@pytest.mark.fault("F23")
async def test_a_step_that_fails_leaves_the_old_shape(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await _fill(path)
    old = _dump(path)

    def fail(db: Connection) -> None:
        db.execute("DROP TABLE verdict")
        raise RuntimeError("the author slipped")

    with pytest.raises(RuntimeError):
        Database.open(path, steps=(*LATER, fail))
    assert _dump(path) == old
    with Store.open(path) as store:
        assert store.session(key).list_closed_rounds() == {(1, 1)}


@pytest.mark.fault("F23")
@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_killed_in_the_middle_of_an_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "s.db"
    key = await _fill(path)
    old = _dump(path)

    def die(db: Connection) -> None:
        db.execute("PRAGMA cache_spill = 1")
        db.execute("DROP TABLE verdict")
        db.execute("PRAGMA cache_size = 1")
        db.execute("CREATE TABLE big AS SELECT randomblob(200000) AS bytes")
        os.kill(os.getpid(), signal.SIGKILL)

    status = ended(fork(lambda: Database.open(path, steps=(*LATER, die))))
    assert os.WTERMSIG(status) == signal.SIGKILL
    with Store.open(path) as store:
        assert store.session(key).list_closed_rounds() == {(1, 1)}
    assert _dump(path) == old
    assert _shape(path)[1] == "ok"


@pytest.mark.fault("F23")
def test_killed_while_the_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "s.db"

    def die(_: Connection) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    ended(fork(lambda: Database.open(path, steps=(*STEPS, die))))
    assert path.exists()
    assert Database.open(path).facts.shape == NOW


@pytest.mark.fault("F23")
def test_killed_while_the_copy_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    Database.open(path)
    name = tmp_path / f"s.db.v{NOW}.backup"

    def die_in_fsync(_: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        monkeypatch.setattr("benchconsole.store.files.upgrade.os.fsync", die_in_fsync)
        Database.open(path, steps=LATER)

    ended(fork(work))
    assert _shape(path)[0] == NOW
    assert [each for each in names(tmp_path) if each.endswith(".part")] != []
    assert not name.exists()  # no half copy stands under the name
    Database.open(path, steps=LATER)
    assert name.exists()
    assert [each for each in names(tmp_path) if each.endswith(".part")] == []


@pytest.mark.fault("F23")
def test_killed_as_the_copy_takes_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    Database.open(path)

    def work() -> None:
        link = os.link

        def link_and_die(*names: Path, follow_symlinks: bool) -> None:
            link(*names, follow_symlinks=follow_symlinks)
            os.kill(os.getpid(), signal.SIGKILL)

        monkeypatch.setattr("benchconsole.store.files.filesystem.os.link", link_and_die)
        Database.open(path, steps=LATER)

    ended(fork(work))
    first, part, *_ = [each for each in names(tmp_path) if "backup" in each]
    assert (first, part.endswith(".part")) == (f"s.db.v{NOW}.backup", True)
    Database.open(path, steps=LATER)
    assert [each for each in names(tmp_path) if "backup" in each] == [f"s.db.v{NOW}-2.backup", first]


@pytest.mark.fault("F30")
async def test_what_a_newer_program_wrote_is_looked_at_only(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await _fill(path)
    Database.open(path, steps=LATER)
    before = path.read_bytes()
    with Store.open(path) as store:
        assert isinstance(store.read_only, TooNewError)
        assert "upgrade benchconsole" in str(store.read_only)
        assert store.session(key).list_closed_rounds() == {(1, 1)}
        with pytest.raises(TooNewError):
            await store.session(key).claim()
    assert path.read_bytes() == before
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        connection.execute("ALTER TABLE verdict RENAME COLUMN level TO standing")
    with Store.open(path) as store, pytest.raises(TooNewError):  # a shape that cannot be read any more
        list(store.session(key).read_rounds(FABRIC))


@pytest.mark.fault("F55")
async def test_an_upgrade_under_a_running_console_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        await store.create_session(new(), [])
        with pytest.raises(DrivenError, match="older shape and process"):
            Database.open(path, steps=LATER)
        assert not [name for name in names(tmp_path) if "backup" in name]
    Database.open(path, steps=LATER)
    assert [name for name in names(tmp_path) if "backup" in name] == [f"s.db.v{NOW}.backup"]


@pytest.mark.fault("F55")
async def test_a_console_that_was_upgraded_under_stops_writing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        with contextlib.closing(plain_sqlite.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")
        with pytest.raises(TooNewError, match="shape 99"):
            await append_round(store.session(key), closed(each), (), judged_by="j")


async def test_somebody_writes_between_the_copy_and_the_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.db"
    await _fill(path)
    copies = []

    def copy_and_interfere(connection: Connection, target: Path) -> None:
        copy_into(connection, target)
        copies.append(target)
        if len(copies) == 1:
            with contextlib.closing(plain_sqlite.connect(path)) as stranger:
                stranger.execute("UPDATE session SET label = 'late'")

    from benchconsole.store.files.upgrade import copy_into

    monkeypatch.setattr("benchconsole.store.files.upgrade.copy_into", copy_and_interfere)
    Database.open(path, steps=LATER)
    assert len(copies) == 2
    with Store.open(copies[-1]) as store:
        assert store.list_sessions()[0].label == "late"


async def test_another_console_upgrades_the_file_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the name of the copy and is done first; who comes second finds the file upgraded, and one copy."""
    from benchconsole.store.files.upgrade import copy_into

    path = tmp_path / "s.db"
    await _fill(path)
    asked = []

    def copy_as_second(connection: Connection, target: Path) -> None:
        asked.append(target)
        if len(asked) == 1:
            Database.open(path, steps=LATER)
        copy_into(connection, target)

    monkeypatch.setattr("benchconsole.store.files.upgrade.copy_into", copy_as_second)
    Database.open(path, steps=LATER)
    assert _shape(path) == (newest(LATER), "ok")
    assert asked == [path.with_name(f"s.db.v{NOW}.backup")] * 2
    assert [name for name in names(tmp_path) if "backup" in name] == [asked[0].name]


def test_nothing_to_do_makes_no_copy(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Database.open(path)
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        upgrade(connection, path, STEPS, now=0.0)
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
    assert mark == tables.APPLICATION
    assert names(tmp_path) == ["s.db"]


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
        await store.session(key).claim()
        await append_round(store.session(key), closed(each), verdicts(each), judged_by="j")
        await store.session(key).append_verdicts({(1, 2): verdicts(each)}, judged_by="again")
    with contextlib.closing(plain_sqlite.connect(path, named=True)) as connection:
        row = connection.execute("SELECT * FROM v_measurement WHERE current").fetchone()
        assert row == {
            "session": key, "label": "kept", "fabric": "toy", "simulated": 0, "round": 1, "attempt": 2,
            "stage": "neighbours", "probe": "iperf3", "test": "1.0", "node": "n1", "peer": "n5",
            "metric": "iperf3.throughput", "value": 1.17e9, "unit": "B/s", "labels": "direction=out",
            "raw": "9.4 Gbits/sec", "at": 1001.5, "measurement": "1.0#0", "current": 1,
            "closed": 1, "members": "[]", "drift": 0.0,
        }  # fmt: skip
        row = connection.execute("SELECT * FROM v_verdict WHERE current").fetchone()
        assert row.pop("judged_at") > 0
        assert row == {
            "session": key, "label": "kept", "fabric": "toy", "simulated": 0, "round": 1, "attempt": 2,
            "stage": "neighbours", "probe": "iperf3", "test": "1.0", "subject": "n1>n5", "nodes": '["n1","n5"]',
            "metric": "iperf3.throughput", "value": 1.17e9, "expected": 1.18e9, "required": 0.94e9, "unit": "B/s",
            "labels": "direction=out", "level": "pass", "kind": "capacity", "because": "1.17 GB/s of 1.18 GB/s",
            "text": "", "expected_text": "", "source": "suite", "limiting": "n1-leaf1",
            "evidence": '["1.0#0"]', "judged_by": "again", "current": 1, "least": 0.59e9,
        }  # fmt: skip
        counts = {
            view: tuple(connection.execute(statement).fetchone().values())
            for view, statement in (
                ("measurement", "SELECT count(*), sum(current) FROM v_measurement"),
                ("verdict", "SELECT count(*), sum(current) FROM v_verdict"),
            )
        }
        assert counts == {"measurement": (8, 4), "verdict": (12, 4)}
