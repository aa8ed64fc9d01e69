"""A stored session played again: what was seen then is seen now, in its order and at its pace, and no order is taken."""

import asyncio
import random
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path

import pytest

from benchconsole.console.session import replayed_session as module
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.followed_session import FollowedSessionError
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.replay_clock import LONGEST_PAUSE, ReplayClock, Timeline
from benchconsole.console.session.replayed_session import KeptViews, ReplayedSession, open_replayed
from benchconsole.console.session.session import Session
from benchconsole.console.view import events as happened
from benchconsole.console.view.events import Event, RoundStarted, SessionEnded, SessionOpened
from benchconsole.console.view.reducer import advance, advance_all, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Result
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from tests.console.tui.fabrics import mini
from tests.console.tui.story import MINI, tell
from tests.console.view.test_reducer import spoken, story
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES, PlayedReach


class Time:
    """Seconds that go by only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    async def wait_for(self, changed: Coroutine[object, object, bool], seconds: float) -> None:
        changed.close()
        self.slept.append(seconds)
        self.now += seconds
        raise TimeoutError


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(tmp_path / "sessions.db") as opened_store:
        yield opened_store


@pytest.fixture
async def ran(tmp_path: Path, store: Store) -> Session:
    """A session that ran through."""
    session = Session(fabric(tmp_path, SMALL), PROBES, store, make_reach=lambda *_: PlayedReach(unreachable=["n2"]))
    session.start(session.propose())
    await session.finished()
    return session


def replayed(store: Store, session: Session, clock: ReplayClock) -> ReplayedSession:
    found = open_replayed(store, session.id, PROBES, clock)
    assert found is not None
    return found


async def play(session: ReplayedSession) -> list[Event]:
    """Everything that is told to the end."""
    told = []
    async for event in session.events():
        told.append(event)
        if isinstance(event, SessionEnded):
            break
    return told


async def test_the_end_of_a_replay_is_what_the_stored_session_shows(store: Store, ran: Session) -> None:
    events = await play(replayed(store, ran, ReplayClock(1e5)))
    first = events[0]
    assert isinstance(first, SessionOpened)
    view: RunView = opened(first)
    for event in events[1:]:
        view = advance(view, event)
    stored = Session.stored(store, ran.id, PROBES).view()
    assert compute_totals(view) == compute_totals(stored)
    assert {name: seen.state for name, seen in view.nodes.items()} == {
        name: seen.state for name, seen in stored.nodes.items()
    }
    assert (view.complete, view.live, view.ended) == (True, False, stored.ended)
    assert view.findings == stored.findings


async def test_events_come_in_the_order_of_a_run(store: Store, ran: Session) -> None:
    under_way: int | None = None
    started: set[str] = set()
    closed = 0
    for event in await play(replayed(store, ran, ReplayClock(1e5))):
        if isinstance(event, RoundStarted):
            assert under_way is None
            under_way = event.round.number
        elif isinstance(event, happened.TestStarted):
            assert event.test.round == under_way
            started.add(event.test.id)
        elif isinstance(event, Result):
            assert event.test.id in started
        elif isinstance(event, ClosedRound):
            assert event.round.number == under_way
            under_way, closed = None, closed + 1
    assert closed == len(ran.plan)


@pytest.mark.parametrize("speed", [1.0, 10.0])
async def test_it_takes_the_time_of_the_session_over_its_speed_and_pauses_are_cut(
    store: Store, ran: Session, speed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round of 40 s, an hour in which nothing ran, a round of 20 s."""
    passing = Time()
    session = replayed(store, ran, ReplayClock(speed, monotonic=lambda: passing.now))
    rounds = list(store.session(ran.id).read_rounds(session.fabric))[:2]
    begun = session._stored.new.started
    spans = [(begun, begun + 40), (begun + 3640, begun + 3660)]
    made = [_place(each, *span) for each, span in zip(rounds, spans, strict=True)]
    timeline: list[tuple[float, Event]] = [timed for each in made for timed in module._unfold(each)]
    timeline.append((begun + 3660, SessionEnded(begun + 3660, True)))
    monkeypatch.setattr(session, "_read_timeline", lambda: timeline)
    monkeypatch.setattr("benchconsole.console.session.replayed_session.asyncio.wait_for", passing.wait_for)
    seen: list[tuple[float, Event]] = []
    async for event in session.events():
        seen.append((session._clock.now(), event))
        if isinstance(event, SessionEnded):
            break
    assert passing.now * speed == pytest.approx(40 + LONGEST_PAUSE + 20, abs=module._SHORTEST_WAIT * speed)
    ends = [at for at, event in seen if isinstance(event, ClosedRound)]
    assert ends == pytest.approx([begun + 40, begun + 3660], abs=1.0)


def _place(closed: ClosedRound, started: float, ended: float) -> ClosedRound:
    results = tuple(replace(each, started=started, seconds=ended - started) for each in closed.results)
    return replace(closed, started=started, ended=ended, results=results)


async def test_the_view_at_every_instant_is_the_fold_of_the_events_up_to_it(store: Store, ran: Session) -> None:
    """Forwards, backwards, and at random, over views that are kept and views that are not."""
    first, *events = await play(replayed(store, ran, ReplayClock(1e5)))
    assert isinstance(first, SessionOpened)
    views = [opened(first)]
    for event in events:
        views.append(advance(views[-1], event))
    session = replayed(store, ran, ReplayClock(1.0))
    line = Timeline(session._read_timeline(), session._stored.new.started)
    opening = replace(first, fabric=session.fabric)
    for order in (range(len(views)), reversed(range(len(views))), random.Random(7).choices(range(len(views)), k=40)):
        kept = KeptViews(opening)
        for count in order:
            found = session._fold(kept, line, count)
            assert spoken(found) == spoken(views[count]), count


async def test_a_jump_shows_the_findings_that_were_known_then(
    store: Store, ran: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each round is judged once, in order, whatever the jumps; a finding stands here for each round so far."""
    finding = tell(mini(), MINI).closed[-1].findings[0]
    session = replayed(store, ran, ReplayClock(1.0))
    seen: list[int] = []

    def add(closed: ClosedRound) -> ClosedRound:
        seen.append(closed.round.number)
        return replace(closed, findings=(finding,) * len(seen))

    monkeypatch.setattr(session._judged, "add", add)
    line = Timeline(session._read_timeline(), session._stored.new.started)
    kept = KeptViews(session._opened(live=True))
    ends = [place + 1 for place, event in enumerate(line.events) if isinstance(event, ClosedRound)]
    for rounds in (len(ends), 1, len(ends), 0):
        count = ends[rounds - 1] if rounds else 0
        assert len(session._fold(kept, line, count).findings) == rounds
    told = [session._judge(line, place) for place in range(len(line.events))]
    assert told == line.events
    assert seen == [each.number for each in session.plan]


async def test_no_more_views_are_kept_than_a_jump_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *events = story().events()
    assert isinstance(first, SessionOpened)
    monkeypatch.setattr(module, "KEPT_VIEWS", 4)
    kept = KeptViews(first)
    kept.fold(events, len(events))
    assert 2 <= len(kept._views) <= 6
    folded: list[int] = []

    def fold(view: RunView, more: list[Event]) -> RunView:
        folded.append(len(more))
        return advance_all(view, more)

    monkeypatch.setattr("benchconsole.console.session.replayed_session.advance_all", fold)
    kept.fold(events, len(events) - 1)
    assert sum(folded) <= len(events) // 4 + 4


async def test_somebody_jumps_back_from_the_end_and_on_again(store: Store, ran: Session) -> None:
    clock = ReplayClock(1e5)
    session = replayed(store, ran, clock)
    views: list[RunView] = []
    async for event in session.events():
        views.append(advance(views[-1], event) if views else _open(event))
        if isinstance(event, SessionEnded) and len([each for each in views if each.ended]) == 1:
            clock.pause(is_paused=True)
            clock.go_to(0.0)
        elif isinstance(event, SessionOpened) and event.shown is not None:
            if event.shown.results:
                break
            assert clock.timeline is not None
            clock.go_to(clock.timeline.total)
    assert views[-1].ended is not None
    assert compute_totals(views[-1]) == compute_totals(Session.stored(store, ran.id, PROBES).view())


async def test_a_replay_that_stands_tells_nothing_and_goes_on_where_it_was(store: Store, ran: Session) -> None:
    clock = ReplayClock(1e-3)
    session = replayed(store, ran, clock)
    told: list[Event] = []

    async def listen() -> None:
        async for event in session.events():
            told.append(event)
            if isinstance(event, SessionEnded):
                return

    listening = asyncio.create_task(listen())
    while clock.timeline is None:  # noqa: ASYNC110 - it is read in a thread
        await asyncio.sleep(0)
    clock.pause(is_paused=True)
    clock.change_speed(1e5)
    for _ in range(50):  # turns of the loop, in which the session hears of both
        await asyncio.sleep(0)
    assert not any(isinstance(event, SessionEnded) for event in told)
    clock.pause(is_paused=False)
    await listening
    assert isinstance(told[-1], SessionEnded)


def _open(event: Event) -> RunView:
    assert isinstance(event, SessionOpened)
    return opened(event)


async def test_rounds_are_judged_before_somebody_jumps_over_them(
    store: Store, ran: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, everything, loop = ReplayClock(1e-3), asyncio.Event(), asyncio.get_running_loop()
    session = replayed(store, ran, clock)
    add, judged = session._judged.add, []

    def note(closed: ClosedRound) -> ClosedRound:
        found = add(closed)
        judged.append(closed)
        if clock.timeline is not None and len(judged) == len(clock.timeline.rounds):
            loop.call_soon_threadsafe(everything.set)
        return found

    monkeypatch.setattr(session._judged, "add", note)
    told: set[type[Event]] = set()

    async def listen() -> None:
        async for event in session.events():
            told.add(type(event))

    listening = asyncio.create_task(listen())
    async with asyncio.timeout(60):
        await everything.wait()
    assert ClosedRound not in told
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


async def test_no_order_is_taken(store: Store, ran: Session) -> None:
    control = SessionController(replayed(store, ran, ReplayClock(1e5)), LoopThread())
    try:
        assert control.follows.endswith("played again; open it without --replay to go on with it.")
        with pytest.raises(FollowedSessionError, match="played again"):
            await control.propose(None)
    finally:
        await control.close()


async def test_a_session_that_still_runs_is_not_played(tmp_path: Path, store: Store) -> None:
    session = Session(fabric(tmp_path, SMALL), PROBES, store, make_reach=lambda *_: PlayedReach())
    session.start(session.propose())
    async for event in session.live():
        if isinstance(event, ClosedRound):
            break
    assert open_replayed(store, session.id, PROBES, ReplayClock(1.0)) is None
    session.stop(now=True)
    await session.finished()
    events = await play(replayed(store, session, ReplayClock(1e5)))
    last = events[-1]
    assert isinstance(last, SessionEnded)
    assert not last.complete
