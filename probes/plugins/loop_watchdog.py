"""The watch over the event loop: how long it stood still, and whose code blocked it.

Everything that waits for nodes shares one loop. While it stands still no answer is read, and afterwards every
time-out is due at once although the answers are there: code that gives up on time asks ``remaining`` first.

Two witnesses: a beat on the loop itself, and a thread that looks at the loop's stack when the beat stays away.
A stopped process (SIGSTOP) stops both, so no code is reported for that. Code that holds the interpreter's
lock (one long match of a regular expression) stops the thread too, but the process works meanwhile;
the thread sees it when the lock is free again, if it is still on the stack.
"""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Self

BEAT = 0.25
"""Seconds from beat to beat."""

LIMIT = 1.0
"""Seconds without a beat from which on the loop counts as standing still."""


@dataclass(frozen=True, slots=True)
class BlockingCode:
    """The code that may block the loop: its description, and its modules, by which its frames are recognised."""

    description: str
    modules: frozenset[str]

    @classmethod
    def of(cls, thing: object, description: str) -> "BlockingCode":
        """``thing`` by the modules of its classes, except those that every probe derives from."""
        modules = {kind.__module__ for kind in type(thing).__mro__}
        return cls(description, frozenset(modules - {"builtins", "abc", "typing", "benchconsole.probes.api"}))


class LoopWatch:
    """Watches the running loop inside its context.

    ``on_notice`` is called on the loop, once it goes on, with a sentence about the code that blocked it; ``on_stall``
    from another thread while it still stands. Both hear only of code of ``suspects``.
    """

    def __init__(
        self,
        suspects: Sequence[BlockingCode],
        on_notice: Callable[[str], None],
        on_stall: Callable[[str], None],
        *,
        limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.clock = clock
        self._suspects = suspects
        self._on_notice = on_notice
        self._on_stall = on_stall
        self._limit = LIMIT if limit is None else limit
        self._beat = min(BEAT, self._limit / 4)
        self._last = clock()
        self._gaps: list[tuple[float, float]] = []
        self._seen = ("", "")
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._observe, name="loop-watch", daemon=True)
        self._next: asyncio.TimerHandle | None = None
        self._loop_thread = 0

    def __enter__(self) -> Self:
        self._loop_thread = threading.get_ident()
        self._last = self.clock()
        self._next = asyncio.get_running_loop().call_later(self._beat, self._tick)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        if self._next is not None:
            self._next.cancel()
        self._mark()
        self._thread.join()

    def remaining(self, began: float, seconds: float) -> float:
        """The rest of ``seconds`` since ``began`` (by ``clock``), not counting time that the loop stood still."""
        return seconds + self._sum_gaps(began) - (self.clock() - began)

    def _sum_gaps(self, since: float) -> float:
        now = self.clock()
        gaps = [*self._gaps, (self._last, now)] if now - self._last > self._limit else self._gaps
        return sum(max(0.0, end - max(begin, since)) for begin, end in gaps)

    def _tick(self) -> None:
        self._mark()
        self._next = asyncio.get_running_loop().call_later(self._beat, self._tick)

    def _mark(self) -> None:
        """The loop goes on: keep how long it stood still, and report the code that the thread saw meanwhile."""
        now = self.clock()
        if now - self._last > self._limit:
            self._gaps.append((self._last, now))
            who, where = self._seen
            if who:
                self._on_notice(f"{who} held up everything else for {now - self._last:.1f} s, {where}")
        self._seen = ("", "")
        self._last = now

    def _observe(self) -> None:
        """The thread: look at the loop's stack when it has not beaten for too long although we run."""
        looked, worked = self.clock(), time.process_time()
        reported = -1.0
        while not self._is_over.wait(self._beat):
            asleep = self.clock() - looked
            idle = asleep > self._limit and time.process_time() - worked < asleep / 2
            looked, worked = self.clock(), time.process_time()
            last = self._last
            if idle or looked - last <= self._limit or reported == last:
                continue
            who, where = self._find_suspect(sys._current_frames().get(self._loop_thread))  # noqa: SLF001 - the documented way
            if who:
                reported = last
                self._seen = who, where
                self._on_stall(f"{who} holds up everything else, {where}")

    def _find_suspect(self, frame: FrameType | None) -> tuple[str, str]:
        """Whose code runs, and where it stands in the stack; both empty when none of the suspects' runs."""
        while frame is not None:
            module = str(frame.f_globals.get("__name__", ""))
            for suspect in self._suspects:
                if module in suspect.modules:
                    return suspect.description, f"in {frame.f_code.co_name} at {module}:{frame.f_lineno}"
            frame = frame.f_back
        return "", ""
