"""A stored session played again: its events in their order and at their distances, so many times as fast.

Nothing is written, no node is touched and no order is taken. Pauses in which nothing ran are cut short. Somebody may
jump to any instant: what is shown there is the fold of all events up to it.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, suppress
from functools import partial
from typing import TYPE_CHECKING

from benchconsole.console.session.followed_session import FollowedSession
from benchconsole.console.session.replay_clock import ReplayClock, Timeline
from benchconsole.console.view.events import (
    Event,
    NodesProven,
    RoundStarted,
    SessionEnded,
    SessionOpened,
    TestStarted,
    make_noticed,
)
from benchconsole.console.view.reducer import advance_all, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.store.model import StoredSession
from benchconsole.store.session_summary import SessionState
from benchconsole.topology.copying import replace

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.store.session_store import SessionStore
    from benchconsole.store.store import Store

_SHORTEST_WAIT = 0.02
"""Seconds below which nobody waits: what comes within them comes at once."""

KEPT_VIEWS = 64
"""Views that are kept at most, so that a jump folds no more than one part of so many; what has passed is shared."""


class KeptViews:
    """The views at instants of a timeline, each by the number of events before it. For one thread at a time."""

    def __init__(self, first: SessionOpened) -> None:
        self._views: dict[int, RunView] = {0: opened(first)}

    def fold(self, events: list[Event], count: int) -> RunView:
        """The view after the first ``count`` of ``events``: a fold from the nearest view that is kept before it."""
        begun = max(place for place in self._views if place <= count)
        view = self._views[begun]
        apart = max(len(events) // KEPT_VIEWS, 1)
        for place in range(begun + apart, count, apart):
            view = self._views[place] = advance_all(view, events[place - apart : place])
            begun = place
        return advance_all(view, events[begun:count])


class ReplayedSession(FollowedSession):
    """A stored session as it ran, for those who were not there."""

    def __init__(
        self, session: "SessionStore", stored: StoredSession, probes: "Mapping[str, Probe]", clock: ReplayClock
    ) -> None:
        super().__init__(session, stored, probes)
        self._clock = clock
        self._is_judged = 0
        self._judging = asyncio.Lock()

    @property
    def driver(self) -> str:
        name = self._stored.new.label or self._stored.id
        return f"This is {name} played again; open it without --replay to go on with it."

    async def events(self) -> AsyncIterator[Event]:
        """Everything that is stored, each at its time, without end: at the end somebody may go back."""
        line = Timeline(await asyncio.to_thread(self._read_timeline), self._stored.new.started)
        first = self._opened(live=True)
        yield first
        changed, loop, jumps = asyncio.Event(), asyncio.get_running_loop(), self._clock.jumps
        self._clock.begin(line, partial(_wake, loop, changed))
        ahead = asyncio.create_task(self._judge_ahead(line))
        try:
            async with aclosing(self._play(first, line, changed, jumps)) as events:
                async for event in events:
                    yield event
        finally:
            ahead.cancel()

    async def _play(
        self, first: SessionOpened, line: Timeline, changed: asyncio.Event, jumps: int
    ) -> AsyncGenerator[Event, None]:
        """The events of ``line``, each at its time, and what is known after each of the jumps beyond ``jumps``."""
        kept, told = KeptViews(first), 0
        while True:
            changed.clear()
            if jumps != self._clock.jumps:
                jumps = self._clock.jumps
                told = line.count_until(self._clock.played)
                async with self._judging:
                    shown = await asyncio.to_thread(self._fold, kept, line, told)
                yield replace(first, shown=shown)
            due = line.count_until(self._clock.played + _SHORTEST_WAIT * self._clock.speed)
            due = told if self._clock.is_paused else due
            for place in range(told, due):
                async with self._judging:
                    event = self._judge(line, place)
                yield event
                if jumps != self._clock.jumps:
                    break
            else:
                told = max(told, due)
                await self._wait(changed, line, told)

    async def _judge_ahead(self, line: Timeline) -> None:
        """Judge the rounds that nobody has seen yet, one by one, so that a jump over them need not wait for that."""
        for place in [place for place, event in enumerate(line.events) if isinstance(event, ClosedRound)]:
            async with self._judging:
                await asyncio.to_thread(self._judge, line, place)

    async def _wait(self, changed: asyncio.Event, line: Timeline, told: int) -> None:
        """Wait for the time of the next event, or for somebody who changes the clock."""
        is_moving = told < len(line.events) and not self._clock.is_paused
        seconds = max(line.played[told] - self._clock.played, 0.0) / self._clock.speed if is_moving else None
        with suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), seconds)

    def _fold(self, kept: KeptViews, line: Timeline, count: int) -> RunView:
        """The view after so many events; those that nobody has seen yet are judged on the way."""
        for place in range(self._is_judged, count):
            self._judge(line, place)
        return kept.fold(line.events, count)

    def _judge(self, line: Timeline, place: int) -> Event:
        """An event as it is told: a round with the findings over those before it, which are made once, in order."""
        for each in range(self._is_judged, place + 1):
            event = line.events[each]
            if isinstance(event, ClosedRound):
                line.events[each] = self._judged.add(event)
        self._is_judged = max(self._is_judged, place + 1)
        return line.events[place]

    def _read_timeline(self) -> list[tuple[float, Event]]:
        """Every event with its time (UTC seconds), in order; those of one moment in the order of a run."""
        self.plan = self._session.read_plan(self.fabric)
        rounds = self._session.read_rounds(self.fabric, plan=self.plan)
        found: list[tuple[float, Event]] = [timed for closed in rounds for timed in _unfold(closed)]
        found += [(note.at, make_noticed(note.kind, note.text, note.at)) for note in self._session.read_notes()]
        found += ((proven.at, NodesProven(proven.proofs, proven.at)) for proven in self._session.read_proofs())
        found.sort(key=lambda timed: timed[0])
        last = found[-1][0] if found else self._stored.new.started
        ended = max(last, self._stored.ended if self._stored.ended is not None else last)
        is_complete = self._stored.state is SessionState.COMPLETE
        because = self._stored.because or ("" if is_complete else "interrupted")
        return [*found, (ended, SessionEnded(ended, is_complete, because))]


def _wake(loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> None:
    """Tell the session of a change, from any thread; one that was closed hears no more."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(changed.set)


def _unfold(closed: ClosedRound) -> Iterator[tuple[float, Event]]:
    """The events of a round, each with its time; none of them after its end."""
    yield closed.started, RoundStarted(closed.round, closed.started)
    for result in closed.results:
        started = min(max(result.started, closed.started), closed.ended)
        yield started, TestStarted(result.test, started)
    for result in sorted(closed.results, key=lambda result: result.ended):
        yield min(max(result.ended, closed.started), closed.ended), result
    yield closed.ended, closed


def open_replayed(
    store: "Store", name: str, probes: "Mapping[str, Probe]", clock: ReplayClock
) -> ReplayedSession | None:
    """The session ``name`` to be played again; None where a console still drives it."""
    session = store.session(store.find_session(name))
    stored = session.describe()
    return None if stored.state is SessionState.RUNNING else ReplayedSession(session, stored, probes, clock)
