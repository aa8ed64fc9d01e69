"""Every change of a file fails once, or is the last one before the power goes: nothing acknowledged is lost.

The workload takes a session over, keeps a round and a note. It is repeated with a fault at its first change of a file,
its second, and so on to its last.
"""

import contextlib
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from benchconsole.store.errors import DamagedError, FullError, StoreError
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store.failing_disk import FailingDisk, mount_disk
from tests.store.played import FABRIC, append_round, closed, new, planned, verdicts

PLAN = [planned(1, pairs=2), planned(2, pairs=2)]
CUTS = 3
"""Power cuts that are played at each change; each one loses other sectors."""

pytestmark = [
    pytest.mark.fault("F24", "X17"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""SQLite passes some errors on to nobody, for instance those of a clean-up; ``apsw`` then reports them so."""

JOURNALS = pytest.mark.parametrize("journal", ["truncate", "wal"])


class Told(NamedTuple):
    """The key of the session that was acknowledged, if it was, the acknowledged parts, and what was refused."""

    key: str | None
    parts: set[str]
    errors: list[StoreError]


@pytest.fixture(autouse=True)
def _choose_journal(monkeypatch: pytest.MonkeyPatch, journal: str) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))


async def _make(path: Path) -> Told:
    """A new database with a session."""
    try:
        with Store.open(path) as store:
            return Told(await store.create_session(new(), PLAN), set(), [])
    except StoreError as error:
        return Told(None, set(), [error])


async def _work(path: Path, key: str) -> Told:
    """Both rounds and two notes, each tried whatever became of the one before."""
    told = Told(key, set(), [])
    try:
        with Store.open(path) as store:
            session = store.session(key)
            for each in PLAN:
                try:
                    await session.claim()
                    await append_round(session, closed(each), verdicts(each), judged_by="j")
                    told.parts.add(f"round {each.number}")
                    await session.append_note("told", f"note {each.number}", at=1.0)
                    told.parts.add(f"note {each.number}")
                except StoreError as error:
                    told.errors.append(error)
    except StoreError as error:
        told.errors.append(error)
    return told


def _read_parts(path: Path, key: str) -> set[str]:
    """The parts that are stored, each required to be whole; the file must be sound and take a write."""
    with Store.open(path, create=False) as store:
        session = store.session(key)
        found = {f"note {text.text.removeprefix('note ')}" for text in session.read_notes()}
        for each in session.read_rounds(FABRIC):
            assert len(each.results) == len(each.verdicts) == 2
            assert all(len(result.outputs) == len(result.measurements) == 1 for result in each.results)
            found.add(f"round {each.round.number}")
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.execute("CREATE TABLE of_the_test (a)")
    return found


def _copy(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target / "s.db"


def _list_faults(disk: FailingDisk, changes: int) -> Iterator[int]:
    """Each change in turn as the one that fails; the count begins anew for each."""
    for number in range(1, changes + 1):
        disk.images.clear()
        disk.changes, disk.fail_at = 0, number
        yield number
        disk.fail_at = 0


async def _count_changes(folder: Path, key: str) -> int:
    with mount_disk() as disk:
        told = await _work(_copy(folder, folder.with_name("count")), key)
        assert (len(told.parts), told.errors) == (4, [])
        return disk.changes


@JOURNALS
@pytest.mark.parametrize("code", [apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_FULL])
async def test_one_change_that_fails_costs_its_own_transaction(memory_path: Path, code: int) -> None:
    (memory_path / "made").mkdir()
    key = (await _make(memory_path / "made/s.db")).key
    assert key is not None
    changes = await _count_changes(memory_path / "made", key)
    refused = 0
    with mount_disk() as disk:
        disk.code = code
        for number in _list_faults(disk, changes):
            path = _copy(memory_path / "made", memory_path / "fails")
            told = await _work(path, key)
            disk.fail_at = 0
            assert told.parts <= _read_parts(path, key), number
            assert len(told.errors) <= 1, number
            assert all(each.to_spool and not isinstance(each, DamagedError) for each in told.errors), told.errors
            if told.errors and code == apsw.SQLITE_FULL:
                assert isinstance(told.errors[0], FullError)
            refused += len(told.errors)
    assert refused > changes / 3  # most changes are of a commit that somebody waits for


@JOURNALS
async def test_a_power_cut_at_any_change_loses_nothing_acknowledged(memory_path: Path) -> None:
    (memory_path / "made").mkdir()
    key = (await _make(memory_path / "made/s.db")).key
    assert key is not None
    changes = await _count_changes(memory_path / "made", key)
    lost = 0
    for number in range(1, changes + 1):
        with mount_disk() as disk:
            disk.fail_at, disk.stays = number, True
            told = await _work(_copy(memory_path / "made", memory_path / "fails"), key)
        for seed in range(CUTS):
            found = _read_parts(_cut(disk, memory_path, number * CUTS + seed), key)
            assert told.parts <= found, (number, seed)
            lost += len(found) < 4
    assert lost > changes  # the cuts do take what nobody was told of


@JOURNALS
async def test_a_power_cut_while_the_file_is_made_leaves_it_whole_or_new(memory_path: Path) -> None:
    (memory_path / "count").mkdir()
    with mount_disk() as disk:
        assert (await _make(memory_path / "count/s.db")).key is not None
        changes = disk.changes
    for number in range(1, changes + 1):
        shutil.rmtree(memory_path / "fails", ignore_errors=True)
        (memory_path / "fails").mkdir()
        with mount_disk() as disk:
            disk.fail_at, disk.stays = number, True
            told = await _make(memory_path / "fails/s.db")
        path = _cut(disk, memory_path, number)
        if told.key is not None:
            assert _read_parts(path, told.key) == set()
        else:
            again = await _make(path)
            assert again.key is not None, (number, again.errors)
            assert _read_parts(path, again.key) == set()


def _cut(disk: FailingDisk, folder: Path, seed: int) -> Path:
    """A database as a power cut leaves it."""
    left = folder / "left"
    shutil.rmtree(left, ignore_errors=True)
    left.mkdir()
    disk.lose_power(left, random.Random(seed))
    return left / "s.db"
