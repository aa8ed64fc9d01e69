"""Read-only mounts and full disks, on file systems that only the test sees."""

import shutil
from pathlib import Path

import pytest

from benchconsole.store.store import Store
from tests.store import private_mounts
from tests.store.played import fill, new

_LOOK = """
import asyncio, json, pathlib, sys
from benchconsole.store.errors import StoreError
from benchconsole.store.store import Store
from tests.store.played import new
said = []
for name in ("plain.db", "log.db", "hot.db"):
    try:
        with Store.open(pathlib.Path(sys.argv[1]) / name) as store:
            said.append([type(store.read_only).__name__, len(store.list_sessions())])
            try:
                asyncio.run(store.create_session(new(), []))
            except StoreError as error:
                said[-1].append(type(error).__name__)
    except StoreError as error:
        said.append([type(error).__name__, error.found])
print(json.dumps(said))
"""


@pytest.mark.fault("F25")
async def test_a_directory_on_a_read_only_mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(tmp_path / "plain.db")
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: ("wal", "as the test says"))
    await fill(tmp_path / "log.db")
    with Store.open(tmp_path / "busy.db") as store:
        await store.create_session(new(), [])
        shutil.copy(tmp_path / "busy.db", tmp_path / "hot.db")
        shutil.copy(tmp_path / "busy.db-wal", tmp_path / "hot.db-wal")
    mounts = 'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"'
    plain, log, hot = private_mounts.run(mounts, _LOOK, tmp_path)
    assert plain == ["ReadOnlyError", 1, "ReadOnlyError"]
    assert log == ["ReadOnlyError", 1, "ReadOnlyError"]
    assert hot[0] == "ReadOnlyError"
    assert "journal" in hot[1]


_FILL_UP = """
import asyncio, json, os, pathlib, sys
from benchconsole.store.errors import FullError
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store.played import append_round, closed, measured, new, numbers, planned, verdicts
folder = pathlib.Path(sys.argv[1])

async def main():
    acknowledged, refused = [], []
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(600_000))
    plan = [planned(number) for number in range(1, 60)]
    with Store.open(folder / "s.db") as store:
        key = await store.create_session(new(), plan)
        for each in plan:
            results = [measured(test, said=os.urandom(20_000)) for test in each.tests]
            try:
                await append_round(store.session(key), closed(each, results), verdicts(each), judged_by="j")
            except FullError as error:
                refused.append(each.number)
                if len(refused) == 3:  # space returns
                    ballast.unlink()
                if len(refused) == 6:
                    break
            else:
                acknowledged.append(each.number)
        kept = sorted(number for number, _ in store.session(key).list_closed_rounds())
        count = len(numbers(store.path))
    with Store.open(folder / "s.db") as store:
        again = sorted(number for number, _ in store.session(key).list_closed_rounds())
    check = plain_sqlite.connect(folder / "s.db").execute("PRAGMA integrity_check").fetchone()[0]
    print(json.dumps([acknowledged, refused, kept, again, count, check]))

asyncio.run(main())
"""


@pytest.mark.fault("F24")
def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    mounts = 'mount -t tmpfs -o size=2m tmpfs "$1"'
    acknowledged, refused, kept, again, numbers, check = private_mounts.run(mounts, _FILL_UP, tmp_path)
    assert len(refused) == 6
    assert any(number > refused[2] for number in acknowledged)
    assert kept == again == acknowledged
    assert numbers == 4 * len(acknowledged)
    assert check == "ok"


_HELD = """
import asyncio, json, os, pathlib, sys
from benchconsole.topology.copying import replace
from benchconsole.store.errors import FullError, StoreError
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store.played import closed, measured, names, new, numbers, planned, verdicts
disk, state = (pathlib.Path(sys.argv[1]) / name for name in ("disk", "state"))
os.environ["XDG_STATE_HOME"] = str(state)
plan = [planned(number) for number in range(1, 40)]
told, spooled, errors = [], [], set()

async def keep(store, spool, key, each, attempt):
    for test in each.tests:
        result = measured(test, said=os.urandom(15_000))
        try:
            if spool is None:
                await store.session(key).append_result(each.number, attempt, result)
        except StoreError as error:
            assert error.to_spool
            errors.add(type(error).__name__)
            spool = store.session(key).open_spool()
        if spool is not None:
            await spool.append_result(each.number, attempt, result)
            spooled.append(test.id)
        told.append(test.id)
    return spool

async def main():
    (disk / "ballast").write_bytes(bytes(1_980_000))
    held = 0
    with Store.open(disk / "s.db") as store:
        key = await store.create_session(new(), plan)
        for each in plan:
            attempt = await store.session(key).begin_round(each.number, at=1.0)
            spool = await keep(store, None, key, each, attempt)
            if spool is not None:  # hold: no further round before there is room again
                held += 1
                place = spool.path.parent.name
                try:
                    await store.import_spool(spool)
                except FullError:
                    (disk / "ballast").unlink()
                    await store.import_spool(spool)
            await store.session(key).close_round(replace(closed(each, ()), verdicts=verdicts(each), attempt=attempt, judged_by="j"))
            if held:
                break
        stored = sorted({found["test"] for found in numbers(store.path)})
        rounds = sorted(number for number, _ in store.session(key).list_closed_rounds())
    check = plain_sqlite.connect(disk / "s.db").execute("PRAGMA integrity_check").fetchone()[0]
    left = names(disk)
    print(json.dumps([sorted(told), spooled, sorted(errors), stored, rounds, each.number, check, left, place]))

asyncio.run(main())
"""


@pytest.mark.fault("F24")
def test_on_a_full_disk_results_go_into_the_spool_and_come_back(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    mounts = 'mount -t tmpfs -o size=3m tmpfs "$1/disk"'
    told, spooled, errors, stored, rounds, last, check, left, place = private_mounts.run(mounts, _HELD, tmp_path)
    assert spooled
    assert errors == ["FullError"]
    assert stored == told
    assert rounds == list(range(1, last + 1))
    assert check == "ok"
    assert left == ["s.db", "s.db-checked"]
    assert place in ("disk", "spool")


_PLAN = """
import asyncio, json, os, pathlib, sys
from benchconsole.store.errors import FullError
from benchconsole.store.store import Store
from tests.store.played import new, planned
folder = pathlib.Path(sys.argv[1])

async def main():
    said = []
    with Store.open(folder / "s.db") as store:
        first = await store.create_session(new("first"), [planned(1)])
        ballast = folder / "ballast"
        free = os.statvfs(folder)
        ballast.write_bytes(bytes(free.f_bavail * free.f_frsize - 40_000))
        try:
            await store.create_session(new("second"), [planned(number) for number in range(1, 400)])
        except FullError as error:
            said.append(type(error).__name__)
        said.append([line.label for line in store.list_sessions()])
        ballast.unlink()
        await store.create_session(new("third"), [planned(number) for number in range(1, 400)])
        said.append([line.label for line in store.list_sessions()])
    print(json.dumps(said))

asyncio.run(main())
"""


@pytest.mark.fault("F24")
def test_a_plan_that_has_no_room_is_not_there_by_half(tmp_path: Path) -> None:
    found = private_mounts.run('mount -t tmpfs -o size=3m tmpfs "$1"', _PLAN, tmp_path)
    assert found == ["FullError", ["first"], ["first", "third"]]
