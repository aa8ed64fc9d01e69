"""The file: made private, recognised, refused when it is not ours, never made worse."""

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchconsole.store.errors import DamagedError, ForeignError, MissingError, ReadOnlyError, StoreError
from benchconsole.store.files.database import Database
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store.played import FABRIC, append_round, closed, fill, new, planned, verdicts


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.fault("I07")
@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_every_file_is_private_whatever_the_umask(
    tmp_path: Path, journal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "a" / "b" / "s.db"
    seen: dict[str, int] = {}
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1)])
        await append_round(store.session(key), closed(planned(1)), (), judged_by="j")
        seen.update({file.name: _mode(file) for file in path.parent.iterdir()})
    assert seen.keys() >= {"s.db", "s.db-wal", "s.db-shm"} if journal == "wal" else seen.keys() >= {"s.db"}
    assert set(seen.values()) == {0o600}
    assert _mode(tmp_path / "a") == _mode(tmp_path / "a" / "b") == 0o700


def test_a_name_that_is_wrong_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="there is no database here"):
        Store.open(tmp_path / "none.db", create=False)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(ReadOnlyError, match="no database can be made here"):
        Store.open(tmp_path / "file" / "s.db")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for odd in (tmp_path, tmp_path / "dangling"):
        with pytest.raises(ForeignError, match="no file"):
            Store.open(odd)


def _text(path: Path) -> None:
    path.write_text("fabric: toy\nnodes:\n  n1: {}\n" * 40)


def _short_text(path: Path) -> None:
    path.write_text("hello")


def _zero_pages(path: Path) -> None:
    path.write_bytes(bytes(8192))


def _other_program(path: Path) -> None:
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        connection.execute("CREATE TABLE moz_places (id INTEGER)")


def _other_program_in_wal(path: Path) -> None:
    connection = plain_sqlite.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE session (id INTEGER)")
    shutil.copy(path, path.with_suffix(".main"))
    shutil.copy(f"{path}-wal", path.with_suffix(".log"))
    connection.close()
    path.with_suffix(".main").replace(path)
    path.with_suffix(".log").replace(f"{path}-wal")


def _marked_by_another(path: Path) -> None:
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 252006674")
        connection.execute("CREATE TABLE session (id INTEGER)")


@pytest.mark.fault("F26")
@pytest.mark.parametrize(
    "make", [_text, _short_text, _zero_pages, _other_program, _other_program_in_wal, _marked_by_another]
)
def test_what_is_not_ours_is_left_alone(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "s.db"
    make(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
    with pytest.raises(ForeignError, match="name another file"):
        Store.open(path)
    after = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
    assert after == before


def _cut_header(whole: bytes) -> bytes:
    return whole[:60]


def _cut(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def _holes(whole: bytes) -> bytes:
    """Every second page overwritten, the first one kept."""
    found = bytearray(whole)
    for start in range(4096, len(whole), 8192):
        found[start : start + 4096] = b"\xa5" * len(found[start : start + 4096])
    return bytes(found)


@pytest.mark.fault("F26")
@pytest.mark.parametrize("spoil", [_cut_header, _cut, _holes])
async def test_a_damaged_database_is_never_written(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "s.db"
    await fill(path)
    path.write_bytes(spoil(path.read_bytes()))
    before = path.read_bytes()
    # Whether opening or writing sees it depends on where the damage is.
    with pytest.raises(DamagedError, match=r"recover|backup"), Store.open(path) as store:
        await store.create_session(new(), [])
    assert path.read_bytes() == before


@pytest.mark.fault("F26")
async def test_rows_that_make_no_sense_are_called_damage(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await fill(path)
    for spoil, ask in (
        ("UPDATE verdict SET level = 'good'", lambda store: list(store.session(key).read_rounds(FABRIC))),
        (
            "UPDATE output SET argv = '{}'",
            lambda store: tuple(next(store.session(key).read_rounds(FABRIC)).results[0].outputs),
        ),
        ("UPDATE labels SET pairs = '[1]' WHERE id = 1", lambda store: list(store.session(key).read_rounds(FABRIC))),
        ("UPDATE round SET bundles = '[{}]'", lambda store: store.session(key).read_plan(FABRIC)),
        ("UPDATE session SET options = '['", lambda store: store.session(key).describe()),
        ("UPDATE session SET label = CAST(x'ff' AS TEXT)", lambda store: store.list_sessions()),
        ("UPDATE driver SET pid = 'x'", lambda store: store.list_sessions()),
        ("DROP TABLE judging", lambda store: list(store.session(key).read_rounds(FABRIC))),
    ):
        copy = tmp_path / "spoilt.db"
        shutil.copy(path, copy)
        with contextlib.closing(plain_sqlite.connect(copy)) as connection:
            connection.execute(spoil)
        with pytest.raises(StoreError), Store.open(copy) as store:
            ask(store)


@pytest.mark.fault("F27")
async def test_an_empty_file_is_a_new_database_unless_a_journal_lies_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.touch()
    await fill(path)
    path.write_bytes(b"")
    wal = tmp_path / "s.db-wal"
    wal.write_bytes(b"x")
    with pytest.raises(DamagedError, match="empty but its journal is not"):
        Store.open(path)
    wal.unlink()
    (tmp_path / "s.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\0\0\0\1" * 4)
    with pytest.raises(DamagedError, match="empty but its journal is not"):
        Store.open(path)


@pytest.mark.fault("F27")
async def test_a_log_left_behind_without_its_index_is_recovered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: ("wal", "as the test says"))
    path, copy = tmp_path / "s.db", tmp_path / "copy.db"
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1)])
        await append_round(store.session(key), closed(planned(1)), verdicts(planned(1)), judged_by="j")
        shutil.copy(path, copy)
        shutil.copy(f"{path}-wal", f"{copy}-wal")
    with Store.open(copy, create=False) as store:
        assert store.session(key).list_closed_rounds() == {(1, 1)}
        await store.create_session(new(), [])
        assert len(store.list_sessions()) == 2


@pytest.mark.fault("F56")
@pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
async def test_a_database_that_goes_away_is_noticed_before_anything_is_acknowledged(tmp_path: Path, how: str) -> None:
    path, aside = tmp_path / "s.db", tmp_path / "aside.db"
    plan = [planned(1), planned(2)]
    with Store.open(path) as store:
        key = await store.create_session(new(), plan)
        await append_round(store.session(key), closed(plan[0]), (), judged_by="j")
        shutil.copy(path, aside)
        if how == "removed":
            path.unlink()
        elif how == "moved":
            path.rename(tmp_path / "moved.db")
        else:
            aside.replace(path)
        with pytest.raises(MissingError, match="moved, deleted or replaced"):
            await append_round(store.session(key), closed(plan[1]), (), judged_by="j")
        if how != "replaced":
            with pytest.raises(MissingError, match="has gone"):
                store.list_sessions()


@pytest.mark.fault("F56")
async def test_it_goes_away_during_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1)])

        def vanish(*_: object, **__: object) -> None:
            path.rename(tmp_path / "moved.db")

        monkeypatch.setattr("benchconsole.store.writing.session_rows.append_verdicts", vanish)
        with pytest.raises(MissingError, match="not acknowledged"):
            await append_round(store.session(key), closed(planned(1)), (), judged_by="j")


@pytest.mark.fault("F25")
async def test_what_cannot_be_written_can_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    key = await fill(path)
    before = path.read_bytes()
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    with Store.open(path) as store:
        assert isinstance(store.read_only, ReadOnlyError)
        assert len(list(store.session(key).read_rounds(FABRIC))) == 3
        for write in (
            store.create_session(new(), []),
            store.session(key).claim(),
            store.session(key).append_verdicts({}, judged_by="j"),
        ):
            with pytest.raises(ReadOnlyError, match="cannot be written"):
                await write
    assert path.read_bytes() == before
    (tmp_path / "empty.db").touch()
    with pytest.raises(ReadOnlyError, match="it is empty and cannot be written"):
        Store.open(tmp_path / "empty.db")


def test_names_with_odd_characters(tmp_path: Path) -> None:
    for name in ("a?mode=ro.db", "a#b.db", "a%41.db", "ä é.db"):
        assert Database.open(tmp_path / name).path.exists()
        assert (tmp_path / name).stat().st_size > 0
