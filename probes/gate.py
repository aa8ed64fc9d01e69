"""Owns the moment at which the tests of a round begin to send: together, or not at all late.

Refuses to wait for ever for one that does not get ready.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from probes.errors import ProbeError
from probes.guards.lag import LoopWatch
from probes.remote import Remote

GATE_SECONDS = 30.0
"""How long tests that are ready wait for those of their round that are not."""


class Gate:
    """Lets the tests of a round start sending together: opens when each is ready or has ended."""

    def __init__(self, parties: int, watch: LoopWatch) -> None:
        self._waiting = parties
        self._watch = watch
        self._open = asyncio.Event()
        if parties == 0:
            self._open.set()

    def arrive(self) -> None:
        """One test is ready, or will never be."""
        self._waiting -= 1
        if self._waiting <= 0:
            self._open.set()

    async def wait(self) -> None:
        """Return when all have arrived, or after GATE_SECONDS: a straggler must not stop the rest."""
        began = self._watch.clock()
        while not self._open.is_set():
            left = self._watch.left(began, GATE_SECONDS)
            if left <= 0:
                self._open.set()
                return
            try:
                async with asyncio.timeout(left):
                    await self._open.wait()
            except TimeoutError:
                continue  # judged again: the loop may have stood still


@dataclass(slots=True)
class Nodes:
    """The nodes of one running test, as its probe sees them (``probes.remote.Contact``)."""

    gate: Gate
    remotes: Sequence[Remote]
    is_pair: bool
    has_arrived: bool = False

    @property
    def here(self) -> Remote:
        """The target's node."""
        return self.remotes[0]

    @property
    def there(self) -> Remote:
        """The target's peer; ProbeError when it has none, as a set has."""
        if not self.is_pair:
            raise ProbeError("this target has no peer")
        return self.remotes[1]

    @property
    def everyone(self) -> Sequence[Remote]:
        """Every node of the target, in its order."""
        return self.remotes

    def arrive(self) -> None:
        """Count once, whether the probe waited for the others or has ended."""
        if not self.has_arrived:
            self.has_arrived = True
            self.gate.arrive()

    async def together(self) -> None:
        """Wait for the others of the round."""
        self.arrive()
        await self.gate.wait()
