"""Killed at any instant: every acknowledged result and round is there, none by half, and the next one takes over."""

import asyncio
import contextlib
import os
import random
import select
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import Round, Target, Test
from benchconsole.store.errors import DrivenError
from benchconsole.store.session_summary import SessionState
from benchconsole.store.store import Store
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
