"""A copy of a file in use is whole, free room goes back to the disk, and damage of any stored byte is found."""

from contextlib import closing
from pathlib import Path

import pytest

from benchconsole.store.errors import DrivenError, TakenError
from benchconsole.store.files.maintenance import back_up, measure_room, vacuum
from benchconsole.store.reading.integrity import count_outputs, find_damage, measure_sessions
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store.played import FABRIC, append_round, closed, fill, new, planned, verdicts


async def test_a_copy_while_a_session_is_written(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.db", tmp_path / "copy.db"
    key = await fill(path)
    with Store.open(path) as store:
        running = await store.create_session(new(), [planned(1)])
        with Store.open(path) as other:
            back_up(other.database, copy)
        await append_round(store.session(running), closed(planned(1)), verdicts(planned(1)), judged_by="j")
        with pytest.raises(TakenError):
            back_up(store.database, copy)
    assert copy.stat().st_mode & 0o777 == 0o600
    with Store.open(copy) as store:
        assert len(list(store.session(key).read_rounds(FABRIC))) == 3
        assert len(store.list_sessions()) == 2
        assert list(find_damage(store.database)) == []


async def test_free_room_goes_back_unless_a_session_runs(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    key = await fill(path, rounds=30)
    with Store.open(path) as store:
        full = measure_room(store.database)
        store.remove_session(key)
        emptied = measure_room(store.database)
        assert (emptied.whole, full.free) == (full.whole, 0)
        assert emptied.free > full.whole // 5
        with Store.open(path) as other:
            await other.create_session(new(), [])
            with pytest.raises(DrivenError, match="is writing to it"):
                vacuum(store.database)
        vacuum(store.database)
        assert measure_room(store.database).free == 0
        assert path.stat().st_size == measure_room(store.database).whole < full.whole
        assert len(store.list_sessions()) == 1


async def test_what_a_session_holds(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    large, small = await fill(path, rounds=6), await fill(path, rounds=1)
    with Store.open(path) as store:
        held = measure_sessions(store.database)
        assert held[large] == 6 * held[small] > 0
        assert count_outputs(store.database) == (7 * len(planned(1).tests), 0)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE output SET stdout = x'00' WHERE id = 1", "an output whose checksum is not that"),
        ("UPDATE output SET seconds = seconds + 1 WHERE id = 1", "an output whose checksum is not that"),
        ("UPDATE output SET packed = 1 WHERE id = 1", "an output that cannot be unpacked"),
        ("UPDATE output SET argv = '[\"sh\",7]' WHERE id = 1", "a command line with the word 7, which is not there"),
        ("DELETE FROM test WHERE id = 1", "of result refers to one of test that is not there"),
        ("UPDATE note SET text = NULL", ""),
    ],
)
async def test_damage_is_found(tmp_path: Path, statement: str, words: str) -> None:
    path = tmp_path / "s.db"
    await fill(path)
    with closing(plain_sqlite.connect(path)) as connection:
        connection.execute(statement)
    with Store.open(path) as store:
        found = list(find_damage(store.database))
    assert bool(found) is bool(words)
    assert all(words in each for each in found)
