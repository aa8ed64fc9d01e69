"""Looking on while another console drives: the same view, as it happens, and no order is taken."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchconsole.console.session import followed_session as module
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.followed_session import FollowedSession, FollowedSessionError, open_followed
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.session import Session
from benchconsole.console.view.events import Event, SessionEnded
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.store.store import Store
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES, PlayedReach

SUITE = SMALL.replace("  default:\n", "  default:\n    - {probe: inventory}\n")


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.01)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    """The database as the driver has it open, and as whoever looks on has."""
    with Store.open(tmp_path / "sessions.db") as mine, Store.open(tmp_path / "sessions.db") as other:
        yield mine, other


def driver(folder: Path, store: Store, text: str = SUITE) -> Session:
    return Session(fabric(folder, text), PROBES, store, make_reach=lambda _fabric, _session: PlayedReach())


def fold(view: RunView | None, event: Event) -> RunView:
    return opened(event) if view is None else advance(view, event)  # type: ignore[arg-type]


async def watch(looking: FollowedSession, seen: list[Event], until: type[Event]) -> RunView:
    """The view that is folded up to an event of this kind."""
    view: RunView | None = None
    async for event in looking.events():
        seen.append(event)
        view = fold(view, event)
        if isinstance(event, until):
            return view
    raise AssertionError("events end never")


async def begun(session: Session) -> None:
    """Run until the first round is judged, then hold the next one."""
    session.start(session.propose())
    session.pause()
    session.go_on()
    async for event in session.live():
        if isinstance(event, ClosedRound):
            session.pause()
            return


async def test_a_session_that_somebody_drives_is_followed_to_its_end(
    tmp_path: Path, stores: tuple[Store, Store]
) -> None:
    mine, other = stores
    session = driver(tmp_path, mine)
    await begun(session)
    looking = open_followed(other, session.id, PROBES)
    assert looking is not None
    seen: list[Event] = []
    watching = asyncio.create_task(watch(looking, seen, SessionEnded))
    session.go_on()
    await session.finished()
    view = await asyncio.wait_for(watching, 20)
    wanted = session.view()
    assert view.complete
    assert view.closed.keys() == wanted.closed.keys()
    assert view.results.keys() == wanted.results.keys()
    assert dict(view.verdicts) == dict(wanted.verdicts)
    assert view.findings == wanted.findings
    assert {name: node.state for name, node in view.nodes.items()} == {
        name: node.state for name, node in wanted.nodes.items()
    }
    assert compute_totals(view).covered == compute_totals(wanted).covered
    assert len([event for event in seen if isinstance(event, ClosedRound)]) == len(wanted.closed)


async def test_no_order_is_taken_and_the_refusal_says_why(tmp_path: Path, stores: tuple[Store, Store]) -> None:
    mine, other = stores
    session = driver(tmp_path, mine)
    await begun(session)
    looking = open_followed(other, session.id, PROBES)
    assert looking is not None
    await watch(looking, [], ClosedRound)
    control = SessionController(looking, LoopThread())
    assert control.follows == looking.driver
    for order in (control.pause, control.go_on, lambda: control.stop(now=True)):
        with pytest.raises(FollowedSessionError, match=session.id):
            order()
    with pytest.raises(FollowedSessionError, match=session.id):
        await control.propose(None)
    with pytest.raises(FollowedSessionError, match=session.id):
        await control.start(())
    control.abandon()
    assert not control.resumable
    assert not control.running
    await control.finished()
    await control.close()
    session.stop(now=True)
    await session.finished()


async def test_what_nobody_drives_is_not_followed(tmp_path: Path, stores: tuple[Store, Store]) -> None:
    mine, other = stores
    session = driver(tmp_path, mine)
    session.start(session.propose())
    await session.finished()
    assert open_followed(other, session.id, PROBES) is None


async def test_an_interruption_and_a_resumption_elsewhere_are_told(tmp_path: Path, stores: tuple[Store, Store]) -> None:
    mine, other = stores
    session = driver(tmp_path, mine)
    await begun(session)
    looking = open_followed(other, session.id, PROBES)
    assert looking is not None
    seen: list[Event] = []
    stream = looking.events()
    ended = 0
    async for event in stream:
        seen.append(event)
        if isinstance(event, ClosedRound) and not ended:
            session.stop(now=True)
            await session.finished()
        if isinstance(event, SessionEnded):
            ended += 1
            assert event.complete is (ended == 2)
            if ended == 2:
                break
            assert "nobody drives now" in looking.driver
            again = Session.stored(mine, session.id, PROBES, make_reach=lambda _fabric, _session: PlayedReach())
            again.start(again.unfinished())
            await again.finished()
    view: RunView | None = None
    for event in seen:
        view = fold(view, event)
    assert view is not None
    assert view.complete
    assert compute_totals(view).covered.complete
