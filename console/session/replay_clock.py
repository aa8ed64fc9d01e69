"""The time in a session that is played again: its timeline, and a clock that goes over it, stands, and jumps.

Played seconds count the session's own seconds without the long pauses in which nothing ran. The screen drives the
clock from its thread, the session reads it in another.
"""

import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from benchconsole.console.view.events import Event, RoundStarted
from benchconsole.console.view.session_control import ReplayPlace
from benchconsole.probes.model.judgement import ClosedRound

LONGEST_PAUSE = 5.0
"""Seconds of a session in which nothing ran that are played; the rest of a pause is left out."""

SLOWEST, FASTEST = 0.1, 100_000.0
"""How many times as fast as it ran a session can be played."""

AGAIN_SECONDS = 1.0
"""Seconds after the start of a round in which a step back goes to the round before, and not to its start again."""


class Timeline:
    """The events of a session with their times (UTC seconds), in order, from ``started`` on."""

    def __init__(self, timed: Sequence[tuple[float, Event]], started: float) -> None:
        self.events: list[Event] = [event for _, event in timed]
        self.times = [when for when, _ in timed]
        self.played: list[float] = []
        self.rounds: list[float] = []
        """The played seconds at which rounds begin."""
        at, running, played = started, 0, 0.0
        for when, event in timed:
            gap = max(when - at, 0.0)
            played += gap if running else min(gap, LONGEST_PAUSE)
            self.played.append(played)
            if isinstance(event, RoundStarted):
                self.rounds.append(played)
            running += isinstance(event, RoundStarted) - isinstance(event, ClosedRound)
            at = max(at, when)
        self.started = started

    @property
    def total(self) -> float:
        """Played seconds from the beginning to the end."""
        return self.played[-1] if self.played else 0.0

    def count_until(self, played: float) -> int:
        """How many events have come after so many played seconds."""
        return bisect_right(self.played, played)

    def find_time(self, played: float) -> float:
        """UTC seconds in the session after so many played seconds."""
        place = bisect_left(self.played, played)
        if place == len(self.played):
            return self.times[-1] if self.times else self.started
        return self.times[place] - (self.played[place] - played)

    def find_round(self, played: float) -> int:
        """How many rounds have begun by then."""
        return bisect_right(self.rounds, played)


class ReplayClock:
    """The clock; ``speed`` seconds of the session go by in one. Before there is a timeline it is the wall clock."""

    def __init__(self, speed: float, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.monotonic = monotonic
        self.timeline: Timeline | None = None
        self.jumps = 0
        """How often the place was changed by hand."""
        self.is_paused = False
        self._speed = speed
        self._played = self._since = 0.0
        self._lock = threading.Lock()
        self._hear: Callable[[], None] = lambda: None

    @property
    def speed(self) -> float:
        return self._speed

    def begin(self, timeline: Timeline, hear: Callable[[], None]) -> None:
        """Go over ``timeline`` from its beginning; ``hear`` is called in any thread when somebody changes the clock."""
        with self._lock:
            self._played, self._since = 0.0, self.monotonic()
            self.timeline, self._hear = timeline, hear

    @property
    def played(self) -> float:
        """Played seconds so far."""
        with self._lock:
            return self._read()

    def now(self) -> float:
        """UTC seconds in the session."""
        return time.time() if self.timeline is None else self.timeline.find_time(self.played)

    @property
    def place(self) -> ReplayPlace | None:
        """Where the replay is; None before its events are read."""
        line = self.timeline
        if line is None:
            return None
        played = self.played
        return ReplayPlace(played, line.total, line.find_time(played), line.find_round(played), len(line.rounds))

    # -- what somebody changes

    def pause(self, *, is_paused: bool) -> None:
        """Stand still, or go on."""
        with self._lock:
            self._set(self._read())
            self.is_paused = is_paused
        self._hear()

    def change_speed(self, speed: float) -> None:
        """Go on at another speed, within what can be played."""
        with self._lock:
            self._set(self._read())
            self._speed = max(SLOWEST, min(speed, FASTEST))
        self._hear()

    def go_to(self, played: float) -> None:
        """Jump to so many played seconds, not beyond the beginning and the end."""
        total = self.timeline.total if self.timeline is not None else 0.0
        with self._lock:
            self._set(max(0.0, min(played, total)))
            self.jumps += 1
        self._hear()

    def step_round(self, step: int) -> None:
        """Jump to the start of the next round (1), or of this one, or just after that of the one before (-1)."""
        line, played = self.timeline, self.played
        if line is None:
            return
        if step > 0:
            place = bisect_right(line.rounds, played)
            self.go_to(line.rounds[place] if place < len(line.rounds) else line.total)
        else:
            place = bisect_right(line.rounds, played) - 1
            if place >= 0 and played - line.rounds[place] <= AGAIN_SECONDS * self._speed:
                place -= 1
            self.go_to(line.rounds[place] if place >= 0 else 0.0)

    def _read(self) -> float:
        total = self.timeline.total if self.timeline is not None else 0.0
        passed = 0.0 if self.is_paused else (self.monotonic() - self._since) * self._speed
        return min(self._played + passed, total)

    def _set(self, played: float) -> None:
        self._played, self._since = played, self.monotonic()
