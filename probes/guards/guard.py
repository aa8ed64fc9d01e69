"""Owns the guard of a run: one stop rule and one canary, and the one event that ends what is running.

Refuses to end anything itself: who runs tests watches ``tripped`` (``probes.runner``), and who starts
rounds asks it before each.
"""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from probes.guards.canary import Canary
from probes.guards.stop import ErrorShare, StopRule
from probes.model import Result, Test


class Watching(Protocol):
    """What a runner needs of a guard."""

    tripped: asyncio.Event
    because: str

    def started(self, test: Test) -> None:
        """A test is under way."""

    def note(self, result: Result) -> None:
        """A test has its result, which may not be stored yet."""


class Guard:
    """Trips when the error share or the canary says so; ``because`` is then the reason in words.

    Entered as a context around all rounds of a run: the first of ``canaries`` that answers looks at what is
    usual before anything is loaded, and watches until the context is left. ``canary`` is that one, None where
    nothing watches. Tripped once, it stays tripped: a run that goes on gets a guard of its own.
    """

    def __init__(self, rule: StopRule | None = None, canaries: Sequence[Canary] = ()) -> None:
        self.tripped = asyncio.Event()
        self.because = ""
        self.canary: Canary | None = None
        self._share = ErrorShare(rule or StopRule())
        self._canaries = tuple(canaries)
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        for canary in self._canaries:
            if await canary.ready():
                self.canary = canary
                self._watch = asyncio.create_task(self._follow(canary), name=str(canary))
                break
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait((self._watch,))

    def started(self, test: Test) -> None:
        """A test is under way."""
        self._share.started(test)

    def note(self, result: Result) -> None:
        """A test has its result."""
        self._share.note(result)
        if self._share.because:
            self.trip(self._share.because)

    def trip(self, because: str) -> None:
        """End what is running; the first reason stands."""
        if not self.tripped.is_set():
            self.because = because
            self.tripped.set()

    async def _follow(self, canary: Canary) -> None:
        """A canary that dies of a mistake of ours has stopped watching, so nothing may go on unseen."""
        try:
            await canary.watch()
        except Exception as error:
            self.trip(f"{canary} is no longer watching: {type(error).__name__}: {error}")
            raise
        if canary.alarm.is_set():
            self.trip(canary.because)
