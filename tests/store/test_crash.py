"""Killed at any instant: every acknowledged result and round is there, none by half, and the next one takes over."""

import asyncio
import contextlib
import fcntl
import os
import random
import select
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import apsw
import pytest

from benchconsole.probes.model.measuring import Round, Target, Test
from benchconsole.store.errors import DrivenError
from benchconsole.store.files.database import Database
from benchconsole.store.files.maintenance import back_up
from benchconsole.store.session_summary import SessionState
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from tests import plain_sqlite
from tests.store.played import (
    FABRIC,
    NODES,
    append_round,
    closed,
    ended,
    fork,
    measured,
    new,
    numbers,
    planned,
    verdicts,
)

KILLS = 20
PLAN = [planned(number) for number in range(1, 6)]


def _write_for_ever(path: Path, key: str, tell: int) -> None:
    """Take the session over and write rounds until killed; each acknowledged one is told as a line."""

    async def main() -> None:
        store = Store.open(path)
        await store.session(key).claim()
        while True:
            for each in PLAN:
                results = [measured(test, said=os.urandom(8_000)) for test in each.tests]
                count = await append_round(store.session(key), closed(each, results), verdicts(each), judged_by="j")
                os.write(tell, f"{each.number} {count}\n".encode())

    asyncio.run(main())


def _acknowledged_until_killed(path: Path, key: str, chance: random.Random) -> set[tuple[int, int]]:
    hear, tell = os.pipe()
    pid = fork(lambda: _write_for_ever(path, key, tell))
    os.close(tell)
    heard = b""
    wanted = chance.randint(1, 8)
    while heard.count(b"\n") < wanted:
        heard += os.read(hear, 4096)
    select.select([], [], [], chance.uniform(0, 0.008))  # somewhere within the next write
    os.kill(pid, signal.SIGKILL)
    ended(pid)
    while more := os.read(hear, 4096):
        heard += more
    os.close(hear)
    return {(int(number), int(count)) for number, count in (line.split() for line in heard.decode().splitlines())}


@pytest.mark.fault("F22")
@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_kill_9(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "s.db"
    chance = random.Random(20)
    with Store.open(path) as store:
        key = await store.create_session(new(), PLAN)
    acknowledged: set[tuple[int, int]] = set()
    for kill in range(KILLS):
        acknowledged |= _acknowledged_until_killed(path, key, chance)
        with Store.open(path, create=False) as store:
            stored = store.session(key).list_closed_rounds()
            assert stored >= acknowledged
            # Rounds that were committed but not yet told when the kill came: one at most for each kill.
            assert len(stored - acknowledged) <= kill + 1
            assert store.session(key).describe().state is SessionState.INTERRUPTED
    with Store.open(path, create=False) as store:
        for found in store.session(key).read_rounds(FABRIC):
            assert len(found.results) == len(found.verdicts) == 4
            assert all(len(result.outputs) == len(result.measurements) == 1 for result in found.results)
        assert len(numbers(path)) == 4 * len(store.session(key).list_closed_rounds())
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


LARGE = Round(1, "s", "p", tuple(Test(f"1.{i}", "p", Target(NODES[i % 8]), 1) for i in range(8_000)), 1.0, "")
IN_FLIGHT = 60


def _results_for_ever(path: Path, key: str, first: int, tell: int) -> None:
    """Take the session over and store result after result, many on their way at once, until killed."""

    async def main() -> None:
        store = Store.open(path)
        await store.session(key).claim()
        left = iter(LARGE.tests[first:])

        async def one() -> None:
            for test in left:
                await store.session(key).append_result(1, 1, measured(test, said=os.urandom(2_000)))
                os.write(tell, f"{test.id}\n".encode())

        await asyncio.gather(*(one() for _ in range(IN_FLIGHT)))

    asyncio.run(main())


def _told_until_killed(path: Path, key: str, first: int, chance: random.Random) -> set[str]:
    hear, tell = os.pipe()
    pid = fork(lambda: _results_for_ever(path, key, first, tell))
    os.close(tell)
    heard = os.read(hear, 65536)
    wanted = chance.randint(1, 200)
    while heard.count(b"\n") < wanted:
        heard += os.read(hear, 65536)
    select.select([], [], [], chance.uniform(0, 0.01))
    os.kill(pid, signal.SIGKILL)
    ended(pid)
    while more := os.read(hear, 65536):
        heard += more
    os.close(hear)
    return set(heard.decode().split("\n")[:-1])


@pytest.mark.fault("F22")
@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_kill_9_between_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "s.db"
    chance = random.Random(22)
    with Store.open(path) as store:
        key = await store.create_session(new(), [LARGE])
        await store.session(key).begin_round(1, at=1.0)
    acknowledged: set[str] = set()
    first = 0
    for _ in range(KILLS):
        before = acknowledged
        acknowledged = before | _told_until_killed(path, key, first, chance)
        with contextlib.closing(plain_sqlite.connect(path)) as connection:
            rows = connection.execute("SELECT key FROM result JOIN test ON test.id = test_id").fetchall()
        stored = {test for (test,) in rows}
        assert len(stored) == len(rows)
        assert acknowledged <= stored
        # Committed and not yet told when the kill came: what was on its way at most.
        assert len(stored - acknowledged) <= IN_FLIGHT
        acknowledged, first = stored, max(int(each.split(".")[1]) for each in stored) + 1
    with Store.open(path, create=False) as store:
        (left,) = store.session(key).read_open_rounds(FABRIC)
        assert {result.test.id for result in left.results} == acknowledged
        assert all(len(result.outputs) == len(result.measurements) == 1 for result in left.results)
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def _ended_but_not_fetched(pid: int) -> None:
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


async def test_the_dead_are_followed_and_the_living_are_not(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    hear, tell = os.pipe()
    hold, release = os.pipe()

    def drive() -> None:
        os.close(release)

        async def main() -> None:
            store = Store.open(path)
            os.write(tell, (await store.create_session(new(), PLAN)).encode())
            os.read(hold, 1)  # until killed

        asyncio.run(main())

    pid = fork(drive)
    key = os.read(hear, 8).decode()
    with Store.open(path) as store:
        assert store.session(key).describe().state is SessionState.RUNNING
        with pytest.raises(DrivenError, match=f"process {pid} "):
            await store.session(key).claim()
        os.kill(pid, signal.SIGKILL)
        # Not waited for yet: a process that ended and was not fetched is dead all the same.
        _ended_but_not_fetched(pid)
        assert store.session(key).describe().state is SessionState.INTERRUPTED
        ended(pid)
        assert store.session(key).describe().state is SessionState.INTERRUPTED
        await store.session(key).claim()
        await append_round(store.session(key), closed(PLAN[0]), (), judged_by="j")
        assert store.session(key).describe().state is SessionState.RUNNING
    for end in (hear, tell, hold, release):
        os.close(end)


async def test_a_waiter_that_is_cancelled_leaves_no_doubt(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), PLAN)
        await store.session(key).begin_round(1, at=1000.0)
        task = asyncio.create_task(
            store.session(key).close_round(replace(closed(PLAN[0]), verdicts=(), attempt=1, judged_by="j"))
        )
        await asyncio.sleep(0)  # it is handed over
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await append_round(store.session(key), closed(PLAN[1]), (), judged_by="j")
        assert store.session(key).list_closed_rounds() == {(1, 1), (2, 1)}


def test_a_loop_that_is_gone_stops_no_write(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key = asyncio.run(store.create_session(new(), PLAN))

        async def hand_over() -> None:
            await store.session(key).begin_round(1, at=1000.0)
            task = asyncio.create_task(
                store.session(key).close_round(replace(closed(PLAN[0]), verdicts=(), attempt=1, judged_by="j"))
            )
            await asyncio.sleep(0)
            task.cancel()

        asyncio.run(hand_over())
    with Store.open(tmp_path / "s.db") as store:
        assert store.session(key).list_closed_rounds() == {(1, 1)}


def _look(path: Path) -> None:
    """Open the database, ask it something and close it, as a command in another terminal does."""
    with Store.open(path) as store:
        assert len(store.list_sessions()) == 1


def _copy(path: Path) -> None:
    back_up(Database.open(path), path.with_name("copy"))


AGAIN = pytest.mark.parametrize("again", [Database.open, _look, _copy], ids=["opened", "looked at", "backed up"])
"""Ways in which a process opens the file that it has open already."""

SHARED_BYTES = (0x40000002, 510)
"""First byte and number of those that every process locks which reads (https://www.sqlite.org/lockingv3.html)."""


def _lock_alone(path: Path) -> None:
    """Take the lock that nobody gets while another process has the database open in WAL mode."""
    first, length = SHARED_BYTES
    with path.open("rb+") as file, pytest.raises(BlockingIOError):
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, first)


@contextlib.contextmanager
def _run_beside(work: Callable[[int, int], object]) -> Iterator[tuple[TextIO, Callable[[], object]]]:
    """Run ``work`` in a child, killed at the end, with two pipes; gives its lines, and a function that lets it go on."""
    (hear, told), (awaited, go) = os.pipe(), os.pipe()

    def run() -> None:
        os.close(hear)
        os.close(go)
        work(awaited, told)

    pid = fork(run)
    os.close(told)
    os.close(awaited)
    try:
        with os.fdopen(hear) as lines:
            yield lines, lambda: os.write(go, b"g")
    finally:
        os.kill(pid, signal.SIGKILL)
        ended(pid)
        os.close(go)


def _write_beside_others(path: Path, hear: int, tell: int, again: Callable[[Path], object]) -> None:
    """Store a round, open the file ``again``, wait for the other processes, and store another round."""

    async def main() -> None:
        store = Store.open(path)
        key = await store.create_session(new(), PLAN)
        await append_round(store.session(key), closed(PLAN[0]), (), judged_by="j")
        again(path)
        os.write(tell, f"{key}\n".encode())
        os.read(hear, 1)
        await append_round(store.session(key), closed(PLAN[1]), (), judged_by="j")
        os.write(tell, b"stored\n")
        os.read(hear, 1)  # until killed

    asyncio.run(main())


@AGAIN
def test_others_that_come_and_go_leave_the_wal_of_a_file_that_was_opened_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: Callable[[Path], object]
) -> None:
    """One that finds no lock takes itself for the last, and may remove the WAL that the others commit to."""
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: ("wal", "as the test says"))
    path = tmp_path / "s.db"
    with _run_beside(lambda hear, tell: _write_beside_others(path, hear, tell, again)) as (lines, go_on):
        key = lines.readline().strip()
        assert ended(fork(lambda: _lock_alone(path))) == 0
        assert ended(fork(lambda: _look(path))) == 0
        go_on()
        assert lines.readline() == "stored\n"
    with Store.open(path, create=False) as store:
        assert store.session(key).list_closed_rounds() == {(1, 1), (2, 1)}


def _hold_a_transaction(path: Path, hear: int, tell: int, again: Callable[[Path], object]) -> None:
    """Write in a transaction, open the file ``again`` within it, and commit when told."""
    database = Database.open(path)
    with database.writing() as connection, database.transaction(connection):
        connection.execute("UPDATE session SET label = 'ours'")
        again(path)
        os.write(tell, b"written\n")
        os.read(hear, 1)
    os.write(tell, b"committed\n")


def _begin_to_write(path: Path) -> None:
    with contextlib.closing(plain_sqlite.connect(path)) as stranger:
        stranger.execute("PRAGMA busy_timeout = 0")
        with pytest.raises(apsw.BusyError):
            stranger.execute("BEGIN IMMEDIATE")


@AGAIN
@pytest.mark.parametrize("journal", ["truncate", "wal"])
async def test_nobody_writes_into_the_transaction_of_a_file_that_was_opened_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: Callable[[Path], object], journal: str
) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: (journal, "as the test says"))
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        key = await store.create_session(new(), PLAN)
    with _run_beside(lambda hear, tell: _hold_a_transaction(path, hear, tell, again)) as (lines, go_on):
        assert lines.readline() == "written\n"
        assert ended(fork(lambda: _begin_to_write(path))) == 0
        go_on()
        assert lines.readline() == "committed\n"
    with Store.open(path, create=False) as store:
        assert store.session(key).describe().new.label == "ours"
