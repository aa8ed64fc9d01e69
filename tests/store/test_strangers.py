"""A file from somebody else: nothing in it runs, nothing of it is believed without a look, nothing huge is loaded."""

import contextlib
import json
import os
from pathlib import Path

import pytest

from benchconsole.store.errors import DamagedError, ForeignError, StoreError
from benchconsole.store.files import file_check
from benchconsole.store.files.database import Database
from benchconsole.store.reading.integrity import find_damage
from benchconsole.store.schema import tables
from benchconsole.store.sqlite import Connection
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store.played import FABRIC, append_round, closed, fill, new, planned, verdicts

_TRIGGER = "CREATE TRIGGER gift AFTER INSERT ON result BEGIN DELETE FROM verdict; END"
_VIEW = """
    ALTER TABLE session RENAME TO hidden;
    CREATE VIEW session AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n AS id FROM c;
"""
_COMPUTED = "ALTER TABLE session ADD COLUMN gift TEXT AS (hex(zeroblob(100000000)))"
_VIRTUAL = "ALTER TABLE fact RENAME TO hidden; CREATE VIRTUAL TABLE fact USING fts4(id, result_id)"
_MISSING = "ALTER TABLE verdict RENAME COLUMN level TO standing"


def _spoil(path: Path, statements: str) -> None:
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        connection.execute("PRAGMA legacy_alter_table = ON")
        connection.execute(statements)


@pytest.mark.fault("F54")
@pytest.mark.parametrize(
    ("spoil", "kind", "why"),
    [
        (_TRIGGER, ForeignError, r"a trigger that this program did not make \(gift\)"),
        (_VIEW, ForeignError, "a view session in the place of ours"),
        (_COMPUTED, ForeignError, "a computed column session.gift"),
        (_VIRTUAL, ForeignError, "a virtual table fact"),
        (_MISSING, DamagedError, "verdict lacks level"),
        ("DROP TABLE note", DamagedError, "note lacks at, id, kind"),
    ],
)
async def test_what_would_run_when_we_look_or_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: str, kind: type[StoreError], why: str
) -> None:
    path = tmp_path / "s.db"
    await fill(path)
    _spoil(path, spoil)
    before = path.read_bytes()
    for writable in (True, False):
        monkeypatch.setattr("os.access", lambda *_, writable=writable, **__: writable)
        with pytest.raises(kind, match=why):
            Store.open(path)
    assert path.read_bytes() == before


@pytest.mark.fault("F54")
def test_before_an_upgrade_too(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Database.open(path, steps=tables.STEPS[:1])
    _spoil(path, "CREATE TRIGGER gift AFTER INSERT ON test BEGIN SELECT 1; END")
    before = path.read_bytes()
    with pytest.raises(ForeignError, match="trigger"):
        Database.open(path)
    assert path.read_bytes() == before


@pytest.mark.fault("F54")
async def test_what_others_keep_beside_ours_is_theirs(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await fill(path)
    _spoil(
        path,
        "CREATE TABLE mine (x); CREATE VIEW v_mine AS SELECT count(*) FROM verdict; CREATE INDEX i ON verdict (level);"
        "ALTER TABLE session ADD COLUMN owner TEXT",
    )
    with Store.open(path) as store:
        assert len(list(store.session(key).read_rounds(FABRIC))) == 3
        await store.create_session(new(), [])


@pytest.mark.fault("F54")
async def test_a_huge_value_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    key = await fill(path, 1)
    _spoil(path, "UPDATE output SET stdout = zeroblob(3000000)")
    monkeypatch.setattr("benchconsole.store.files.connection.LONGEST", 1_000_000)
    with Store.open(path) as store:
        (stored,) = store.session(key).read_rounds(FABRIC)
        with pytest.raises(StoreError, match="larger than"):
            list(stored.results[0].outputs)


@pytest.mark.fault("F54")
async def test_every_connection_is_set_up_against_hostile_files(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        await store.create_session(new(), [])
        writer = store._writer
        assert writer is not None
        assert writer._cache is not None
        with store.database.reading() as looks:
            for connection, looking in ((writer._cache.connection, 0), (looks, 1)):
                asked = {
                    name: connection.execute(f"PRAGMA {name}").fetchone()[0]
                    for name in ("trusted_schema", "cell_size_check", "foreign_keys", "synchronous", "query_only")
                }
                assert asked == {
                    "trusted_schema": 0,
                    "cell_size_check": 1,
                    "foreign_keys": 1,
                    "synchronous": 2,
                    "query_only": looking,
                }


# -- every page is read before the first write, where that can tell something new


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files whose pages were all read."""
    found: list[Path] = []
    whole = file_check.require_whole

    def seen(connection: Connection, path: Path) -> None:
        found.append(path)
        whole(connection, path)

    monkeypatch.setattr(file_check, "require_whole", seen)
    return found


async def _write(path: Path, now: float) -> None:
    with Store.open(path, clock=lambda: now) as store:
        await store.create_session(new(), [])


@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_pages_are_read_once_as_long_as_nobody_touches_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: list[Path], journal: str
) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "s.db"
    await _write(path, 1000.0)
    assert len(read) == 1
    await _write(path, 2000.0)
    await _write(path, 3000.0)
    assert len(read) == 1
    with contextlib.closing(plain_sqlite.connect(path)) as stranger:
        stranger.execute("UPDATE session SET label = 'x'")
    await _write(path, 4000.0)
    assert len(read) == 2
    await _write(path, 5000.0)
    assert len(read) == 2
    await _write(path, 4000.0 + 7 * 86400)  # disks forget, too
    assert len(read) == 3
    await _write(path, 100.0)  # a clock that was set back proves nothing
    assert len(read) == 4
    (tmp_path / "s.db-checked").write_text('{"read": "soon", "look": 7}')
    await _write(path, 200.0)
    assert len(read) == 5


@pytest.mark.fault("F26")
async def test_a_seal_that_is_no_file_of_ours_says_nothing_and_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: list[Path]
) -> None:
    path, seal = tmp_path / "s.db", tmp_path / "s.db-checked"
    os.mkfifo(seal)
    await _write(path, 1000.0)
    assert len(read) == 1
    assert seal.is_file(), "the next console reads no pages"
    await _write(path, 2000.0)
    assert len(read) == 1
    me = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: me + 1)
    await _write(path, 3000.0)
    assert len(read) == 2


@pytest.mark.fault("F25")
@pytest.mark.parametrize(("mode", "is_open"), [(0o600, False), (0o664, False), (0o666, True)])
def test_a_database_that_everybody_may_write_to_is_told(tmp_path: Path, mode: int, is_open: bool) -> None:
    path = tmp_path / "s.db"
    Store.open(path).close()
    path.chmod(mode)
    with Store.open(path) as store:
        assert ("every user may write to the database" in store.facts.warning) is is_open


async def test_looking_reads_no_pages_and_damage_breaks_the_seal(tmp_path: Path, read: list[Path]) -> None:
    path = tmp_path / "s.db"
    key = await fill(path)
    read.clear()
    with Store.open(path) as store:
        assert len(list(store.session(key).read_rounds(FABRIC))) == 3
    assert read == []
    spoilt = _overwrite_page(path, "fact")
    with Store.open(path) as store, pytest.raises(DamagedError):
        await store.session(key).claim()
    assert path.read_bytes() == spoilt
    assert read == [path]


def _overwrite_page(path: Path, table: str) -> bytes:
    """Overwrite the first page of a table."""
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    spoilt = bytearray(path.read_bytes())
    spoilt[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    path.write_bytes(spoilt)
    return bytes(spoilt)


@pytest.mark.parametrize("table", ["round", "attempt", "measurement", "output", "session"])
async def test_of_a_large_file_small_tables_and_the_ends_of_the_others_are_read(
    tmp_path: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    path = tmp_path / "s.db"
    key = await fill(path)
    monkeypatch.setattr("benchconsole.store.files.file_check.WHOLE_BYTES", 1000)
    read.clear()
    spoilt = _overwrite_page(path, table)
    with Store.open(path) as store, pytest.raises(DamagedError):
        await store.session(key).claim()
    assert path.read_bytes() == spoilt
    assert read == []


async def test_a_large_file_is_read_whole_by_the_check_alone_which_seals_it(
    tmp_path: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seal = tmp_path / "s.db", tmp_path / "s.db-checked"
    await fill(path)
    monkeypatch.setattr("benchconsole.store.files.file_check.WHOLE_BYTES", 1000)
    with contextlib.closing(plain_sqlite.connect(path)) as stranger:
        stranger.execute("UPDATE session SET label = 'x'")
    await _write(path, 1000.0)
    assert (read, file_check.sealed(path, 1001.0)) == ([path], None)  # once, when it was small and new
    with Store.open(path, clock=lambda: 2000.0) as store:
        assert list(find_damage(store.database)) == []
    assert json.loads(seal.read_text())["read"] == 2000.0
    _overwrite_page(path, "fact")
    seal.unlink()
    with Store.open(path) as store, pytest.raises(DamagedError):
        list(find_damage(store.database))
    assert not seal.exists()


async def test_who_works_on_it_has_read_it(tmp_path: Path, read: list[Path]) -> None:
    """A second console must not hold up the first one by reading every page under a lock."""
    path = tmp_path / "s.db"
    with Store.open(path) as first:
        await first.create_session(new(), [planned(1)])
        assert len(read) == 1
        with Store.open(path) as second:
            key = await second.create_session(new(), [planned(1)])
            await append_round(second.session(key), closed(planned(1)), verdicts(planned(1)), judged_by="j")
        assert len(read) == 1
