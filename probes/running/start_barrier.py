"""The moment at which the tests of a round begin to send together; tests that are late are not waited for."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.plugins.loop_watchdog import LoopWatch

BARRIER_SECONDS = 30.0
"""How long tests that are ready wait for those of their round that are not."""


class StartBarrier:
    """Lets the tests of a round start sending together: opens when each is ready or has ended."""

    def __init__(self, parties: int, watch: LoopWatch) -> None:
        self._waiting = parties
        self._watch = watch
        self._open = asyncio.Event()
        if parties == 0:
            self._open.set()

    def arrive(self) -> None:
        """Count one test that is ready, or will never be."""
        self._waiting -= 1
        if self._waiting <= 0:
            self._open.set()

    async def wait(self) -> None:
        """Return when all have arrived, or after BARRIER_SECONDS: a straggler must not stop the rest."""
        began = self._watch.clock()
        while not self._open.is_set():
            remaining = self._watch.remaining(began, BARRIER_SECONDS)
            if remaining <= 0:
                self._open.set()
                return
            try:
                async with asyncio.timeout(remaining):
                    await self._open.wait()
            except TimeoutError:
                continue  # the loop may have stood still, so the remaining time is computed again


@dataclass(slots=True)
class TestNodes:
    """The nodes of one running test, as its probe sees them (``probes.model.remote.Contact``).

    ``on_together`` is called when the test may begin to send with the others.
    """

    __test__ = False  # pytest collects by name

    barrier: StartBarrier
    remotes: Sequence[Remote]
    is_pair: bool
    has_arrived: bool = False
    on_together: Callable[[], None] = lambda: None

    @property
    def here(self) -> Remote:
        return self.remotes[0]

    @property
    def there(self) -> Remote:
        """The target's peer; ProbeError when it has none, as a set has."""
        if not self.is_pair:
            raise ProbeError("this target has no peer")
        return self.remotes[1]

    @property
    def everyone(self) -> Sequence[Remote]:
        return self.remotes

    def arrive(self) -> None:
        """Count once, whether the probe waited for the others or has ended."""
        if not self.has_arrived:
            self.has_arrived = True
            self.barrier.arrive()

    async def together(self) -> None:
        self.arrive()
        await self.barrier.wait()
        self.on_together()
