"""A stored session played again: its events in their order and at their distances, so many times as fast.

Nothing is written, no node is touched and no order is taken. Pauses in which nothing ran are cut short.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from benchconsole.console.session.followed_session import FollowedSession
from benchconsole.console.view.events import (
    LEFT_OUT,
    Event,
    NodesProven,
    Noticed,
    RoundStarted,
    SessionEnded,
    TestStarted,
)
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.store.model import SessionState, StoredSession

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.store.session_store import SessionStore
    from benchconsole.store.store import Store

LONGEST_PAUSE = 5.0
"""Seconds of a session in which nothing ran that are played; the rest of a pause is left out."""

_SHORTEST_WAIT = 0.02
"""Seconds below which nobody waits: what comes within them comes at once."""


class ReplayClock:
    """The time in the session that is played; ``speed`` seconds of it go by in one. Before that the wall clock."""

    def __init__(self, speed: float, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.speed = speed
        self.monotonic = monotonic
        self._at: float | None = None
        self._since = self._until = 0.0

    def go_on(self, at: float, until: float) -> None:
        """It is ``at`` now, and goes on to ``until`` (both UTC seconds) at its speed."""
        self._at, self._since, self._until = at, self.monotonic(), until

    def now(self) -> float:
        """UTC seconds in the session."""
        if self._at is None:
            return time.time()
        return min(self._at + (self.monotonic() - self._since) * self.speed, self._until)


class ReplayedSession(FollowedSession):
    """A stored session as it ran, for those who were not there."""

    def __init__(
        self, session: "SessionStore", stored: StoredSession, probes: "Mapping[str, Probe]", clock: ReplayClock
    ) -> None:
        super().__init__(session, stored, probes)
        self._clock = clock

    @property
    def driver(self) -> str:
        name = self._stored.new.label or self._stored.id
        return f"This is {name} played again; open it without --replay to go on with it."

    async def events(self) -> AsyncIterator[Event]:
        """Everything that is stored, each at its time, to the end."""
        timeline = await asyncio.to_thread(self._read_timeline)
        yield self._opened(live=True)
        at, running, began, played = self._stored.new.started, 0, self._clock.monotonic(), 0.0
        for when, event in timeline:
            gap = max(when - at, 0.0)
            gap = gap if running else min(gap, LONGEST_PAUSE)
            self._clock.go_on(when - gap, when)
            played += gap / self._clock.speed
            wait = began + played - self._clock.monotonic()
            if wait > _SHORTEST_WAIT:
                await asyncio.sleep(wait)
            running += isinstance(event, RoundStarted) - isinstance(event, ClosedRound)
            yield self._judged.add(event) if isinstance(event, ClosedRound) else event
            at = max(at, when)

    def _read_timeline(self) -> list[tuple[float, Event]]:
        """Every event with its time (UTC seconds), in order; those of one moment in the order of a run."""
        self.plan = self._session.read_plan(self.fabric)
        rounds = self._session.read_rounds(self.fabric, plan=self.plan)
        found: list[tuple[float, Event]] = [timed for closed in rounds for timed in _unfold(closed)]
        found += [
            (note.at, Noticed(f"{note.kind}: {note.text}", note.at, left_out=note.kind == LEFT_OUT))
            for note in self._session.read_notes()
        ]
        found += ((proven.at, NodesProven(proven.proofs, proven.at)) for proven in self._session.read_proofs())
        found.sort(key=lambda timed: timed[0])
        last = found[-1][0] if found else self._stored.new.started
        ended = max(last, self._stored.ended if self._stored.ended is not None else last)
        is_complete = self._stored.state is SessionState.COMPLETE
        because = self._stored.because or ("" if is_complete else "interrupted")
        return [*found, (ended, SessionEnded(ended, is_complete, because))]


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
