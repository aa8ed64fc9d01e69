"""Backups of a database in use: whole or not there, whoever is killed and whoever else wants the name."""

import contextlib
import os
import random
import select
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from benchconsole.store.errors import DamagedError, StoreError
from benchconsole.store.files.connection import Mode, connect, translate_errors
from benchconsole.store.files.database import Database
from benchconsole.store.files.maintenance import back_up
from benchconsole.store.files.upgrade import copy_into
from benchconsole.store.schema import tables
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store import private_mounts
from tests.store.played import FABRIC, ended, fill, fork, names


def _copy(path: Path, target: Path) -> None:
    with contextlib.closing(connect(path, Mode.WRITE)) as connection, translate_errors(path):
        copy_into(connection, target)


def _parts(folder: Path) -> list[str]:
    return [name for name in names(folder) if name.endswith(".part")]


def _whole(path: Path, key: str) -> bool:
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with Store.open(path, create=False) as store:
        return len(list(store.session(key).read_rounds(FABRIC))) == 20


@pytest.mark.fault("F23")
async def test_killed_at_random_instants_of_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await fill(path, 20)
    chance = random.Random(23)
    there = 0
    for kill in range(15):
        target = tmp_path / f"copy{kill}.db"
        pid = fork(lambda target=target: _copy(path, target))  # type: ignore[misc]
        select.select([], [], [], chance.uniform(0, 0.03))
        os.kill(pid, signal.SIGKILL)
        ended(pid)
        if target.exists():
            there += 1
            assert _whole(target, key)
        else:
            _copy(path, target)  # the name is free, and what lay there is swept
            assert _whole(target, key)
        assert not _parts(tmp_path)
    assert there < 15


@pytest.mark.fault("F52")
async def test_two_copies_to_one_name_at_once(tmp_path: Path) -> None:
    """One gets the name; the other says so. Nothing is mixed and nothing is left."""
    path = tmp_path / "s.db"
    key = await fill(path, 20)
    for attempt in range(5):
        target = tmp_path / f"copy{attempt}.db"
        hold, go = os.pipe()

        def copy(target: Path = target, hold: int = hold) -> None:
            os.read(hold, 1)
            with contextlib.suppress(StoreError):
                _copy(path, target)

        pids = [fork(copy) for _ in range(3)]
        os.write(go, b"xxx")
        assert [ended(pid) for pid in pids] == [0, 0, 0]
        assert _whole(target, key)
        assert not _parts(tmp_path)
        os.close(hold)
        os.close(go)


async def test_a_copy_is_private_and_whole_and_replaces_nothing(tmp_path: Path) -> None:
    key = await fill(tmp_path / "s.db", 20)
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("taken", "link"):
        with pytest.raises(StoreError, match="something is there already"):
            _copy(tmp_path / "s.db", tmp_path / name)
    _copy(tmp_path / "s.db", tmp_path / "copy.db")
    assert (tmp_path / "taken").read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    assert names(tmp_path) == ["copy.db", "link", "s.db", "s.db-checked", "taken"]
    assert _whole(tmp_path / "copy.db", key)


@pytest.mark.fault("F52")
async def test_the_second_is_told(tmp_path: Path) -> None:
    await fill(tmp_path / "s.db")
    _copy(tmp_path / "s.db", tmp_path / "copy.db")
    with pytest.raises(StoreError, match="something is there already"):
        _copy(tmp_path / "s.db", tmp_path / "copy.db")


async def test_a_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = await fill(tmp_path / "s.db", 20)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("benchconsole.store.files.filesystem.os.link", refuse)
    _copy(tmp_path / "s.db", tmp_path / "copy.db")
    with pytest.raises(StoreError, match="something is there already"):
        _copy(tmp_path / "s.db", tmp_path / "copy.db")
    assert _whole(tmp_path / "copy.db", key)


_FULL = """
import asyncio, json, os, pathlib, sys
from benchconsole.store.errors import FullError
from tests.store.files.test_upgrade import _copy
from tests.store.played import fill, names
folder = pathlib.Path(sys.argv[1])
key = asyncio.run(fill(folder / "s.db", 40))
said = ""
ballast = folder / "ballast"
free = os.statvfs(folder)
ballast.write_bytes(bytes(free.f_bavail * free.f_frsize - 60_000))
try:
    _copy(folder / "s.db", folder / "copy.db")
except FullError as error:
    said = type(error).__name__
left = names(folder)
ballast.unlink()
_copy(folder / "s.db", folder / "copy.db")
print(json.dumps([said, left, (folder / "copy.db").stat().st_size > 100_000]))
"""


@pytest.mark.fault("F24")
def test_a_full_disk_leaves_no_half_copy(tmp_path: Path) -> None:
    said, left, whole = private_mounts.run('mount -t tmpfs -o size=3m tmpfs "$1"', _FULL, tmp_path)
    assert said == "FullError"
    assert left == ["ballast", "s.db", "s.db-checked"]
    assert whole


@pytest.fixture
def failing_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A disk that gives back other bytes than were written to it; a function that mends it."""
    sync = os.fsync

    def spoil(handle: int) -> None:
        sync(handle)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            os.pwrite(handle, b"\xa5" * 4096, 3 * 4096)

    monkeypatch.setattr("os.fsync", spoil)
    return lambda: monkeypatch.setattr("os.fsync", sync)


async def test_a_copy_that_is_not_whole_never_has_its_name(tmp_path: Path, failing_disk: Callable[[], None]) -> None:
    key = await fill(tmp_path / "s.db", 20)
    before = names(tmp_path)
    with Store.open(tmp_path / "s.db") as store:
        with pytest.raises(DamagedError, match="the copy is not as it was written"):
            back_up(store.database, tmp_path / "copy.db")
        assert names(tmp_path) == before
        failing_disk()
        back_up(store.database, tmp_path / "copy.db")
    assert _whole(tmp_path / "copy.db", key)


def test_a_file_is_not_upgraded_without_a_whole_copy(tmp_path: Path, failing_disk: Callable[[], None]) -> None:
    path = tmp_path / "s.db"
    Database.open(path, steps=tables.STEPS[:1])
    before = path.read_bytes()
    with pytest.raises(DamagedError, match="the copy is not as it was written"):
        Database.open(path)
    assert (names(tmp_path), path.read_bytes()) == (["s.db"], before)
    failing_disk()
    Database.open(path)
    assert names(tmp_path) == ["s.db", f"s.db.v{tables.FIRST}.backup"]
