"""A database that refuses in mid-run costs nothing: what is finished goes to a spool and comes back."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from benchconsole.console.session import persistence
from benchconsole.console.session.persistence import DurableWriter
from benchconsole.console.session.session import Session
from benchconsole.console.view.events import Event, Held, Resumed, RoundStarted, SessionEnded
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Result
from benchconsole.probes.planning.round_limits import compute_time_limit
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.console.session.test_session import SUITE
from tests.fabrics import fabric
from tests.probes.played import PROBES, PlayedReach

BUSY = 0.2


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persistence, "AGAIN_SECONDS", 0.05)
    monkeypatch.setattr("benchconsole.console.session.session.LAST_CHANCE_SECONDS", 0.5)


def stored_tests(path: Path) -> set[str]:
    with closing(plain_sqlite.connect(path)) as connection:
        return {
            key for (key,) in connection.execute("SELECT test.key FROM result JOIN test ON test.id = result.test_id")
        }


def spools(folder: Path) -> dict[Path, int]:
    """Spool files with their modes."""
    return {path: path.stat().st_mode & 0o777 for path in sorted(folder.glob("*.spool"))}


@pytest.mark.fault("F29")
async def test_a_lock_that_somebody_forgot_holds_the_run_and_loses_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db", busy=BUSY) as store:
        running = Session(fabric(tmp_path, SUITE), PROBES, store, make_reach=lambda *_: PlayedReach())
        running.start(running.propose())
        told: list[Event] = []
        ended: set[str] = set()
        foreign = plain_sqlite.connect(store.path)
        async for event in running.live():
            told.append(event)
            if isinstance(event, Result):
                ended.add(event.test.id)
            if isinstance(event, RoundStarted):
                assert event.limit == compute_time_limit(event.round, PROBES) > event.round.seconds
            if isinstance(event, RoundStarted) and event.round.number == 2:
                foreign.execute("BEGIN IMMEDIATE")
            if isinstance(event, Held) and event.spool:
                assert spools(tmp_path) == {Path(event.spool): 0o600}
                foreign.execute("ROLLBACK")
            if isinstance(event, SessionEnded):
                break
        foreign.close()
        kinds = [type(event) for event in told]
        assert kinds.index(Held) < kinds.index(Resumed) < kinds.index(SessionEnded)
        assert any(isinstance(event, Resumed) and event.imported > 0 for event in told)
        assert isinstance(told[-1], SessionEnded)
        assert told[-1].complete
        assert len(store.session(running.id).list_closed_rounds()) == len(running.plan)
        assert not spools(tmp_path)
    assert stored_tests(store.path) == ended == {test.id for each in running.plan for test in each.tests}


@pytest.mark.fault("F29")
async def test_no_round_begins_while_the_database_refuses(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path / "s.db", busy=BUSY) as store,
        closing(plain_sqlite.connect(tmp_path / "s.db")) as foreign,
    ):
        running = Session(fabric(tmp_path, SUITE), PROBES, store, make_reach=lambda *_: PlayedReach())
        running.start(running.propose())
        judged = 0
        async for event in running.live():
            if isinstance(event, Result) and not foreign.in_transaction:
                foreign.execute("BEGIN IMMEDIATE")
            if isinstance(event, ClosedRound):
                judged += 1
                break
        held = asyncio.ensure_future(anext(running.live()))
        await asyncio.wait((held,), timeout=1)
        assert not held.done() or isinstance(held.result(), Held)
        running.stop(now=True)
        await running.finished()
        assert judged == 1
        assert not running.running
        foreign.execute("ROLLBACK")
        left = spools(tmp_path)
        assert left
        for path in left:
            await store.import_spool(path)
        assert len(store.session(running.id).list_closed_rounds()) == 1


async def test_what_a_console_finished_before_it_was_stopped_is_not_run_again(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        first = PlayedReach()
        running = Session(fabric(tmp_path, SUITE), PROBES, store, make_reach=lambda *_: first)
        running.start(running.propose())
        ended = 0
        async for event in running.live():
            ended += isinstance(event, Result)
            if ended == 3:
                break
        running.stop(now=True)
        await running.finished()
        again = PlayedReach()
        resumed = Session.stored(store, running.id, PROBES, make_reach=lambda *_: again)
        resumed.start(resumed.unfinished())
        async for event in resumed.live():
            if isinstance(event, SessionEnded):
                assert event.complete
                break
        facts = [
            call.node
            for reach in (first, again)
            for remote in reach.remotes.values()
            for call in remote.calls
            if call.argv[0] == "facts"
        ]
        inventory = resumed.plan[0]
        assert len(facts) < 2 * len(inventory.tests) - 2
        assert {number for number, _ in store.session(running.id).list_closed_rounds()} == {
            each.number for each in resumed.plan
        }


_MOVED_AT = 24
"""So many events a session of ``SUITE`` tells before it ends, at least."""


@pytest.mark.fault("F56")
@pytest.mark.parametrize("at", range(_MOVED_AT))
async def test_a_database_that_is_moved_away_at_any_event_is_waited_for(tmp_path: Path, at: int) -> None:
    with Store.open(tmp_path / "s.db", busy=BUSY) as store:
        running = Session(fabric(tmp_path, SUITE), PROBES, store, make_reach=lambda *_: PlayedReach())
        away, told = tmp_path / "away.db", list[Event]()

        def look(event: Event) -> None:
            told.append(event)
            if len(told) == at + 1:
                store.path.rename(away)
                asyncio.get_running_loop().call_later(0.3, away.rename, store.path)

        running.observers.append(look)
        running.start(running.propose())
        await running.finished()
        assert at < len(told)
        ending = told[-1]
        assert isinstance(ending, SessionEnded)
        assert ending.complete
        holds = [type(event) for event in told if isinstance(event, Held | Resumed)]
        assert holds in ([], [Held, Resumed])
        assert not spools(tmp_path)
    assert stored_tests(store.path) == {test.id for each in running.plan for test in each.tests}


async def test_rounds_that_confirm_wait_until_the_database_takes_them(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db", busy=BUSY) as store:
        running = Session(fabric(tmp_path, SUITE), PROBES, store, make_reach=lambda *_: PlayedReach())
        *most, further = running.propose()
        running.start(most)
        await running.finished()
        drive = store.session(running.id)
        await drive.claim()
        away, told = tmp_path / "away.db", list[Event]()
        writer = DurableWriter(store, running.id, told.append, lambda: 1.0)
        store.path.rename(away)
        asyncio.get_running_loop().call_later(0.3, away.rename, store.path)
        await writer.extend_plan([further])
        assert [type(event) for event in told] == [Held, Resumed]
        assert [each.number for each in drive.read_plan(running.fabric)] == list(range(1, further.number + 1))
