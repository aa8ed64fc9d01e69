"""The interval numbers of a round that runs, read and told once a second.

Nothing is read where nobody asked for it. The numbers are one list for the whole round, however many tests it has.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from benchconsole.probes.api import Probe
from benchconsole.probes.model.interval import Interval, RunningOutputs, current_outputs
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import Test
from benchconsole.probes.plugins.interval_reader import IntervalReader, reads_intervals
from benchconsole.probes.running.load_sampler import LoadSampler

TestInterval = tuple[str, Interval]
"""The id of a test, and a number of it."""

EVERY = 1.0
"""Seconds between two readings."""

_IN_A_ROW = 200
"""Tests that are read before others on the loop have a turn."""

_MOST_LOADS = 50
"""Nodes whose load is read in one second, each some 1 ms; those of larger rounds come in turn."""


class IntervalListener(Protocol):
    """Who wants the numbers of a round while it runs."""

    def hear(self, found: Sequence[TestInterval], loads: Sequence[NodeLoad]) -> None:
        """Take the news of one second, of all tests, and of nodes whose load is sampled.

        Called on the loop, and must not block.
        """


class IntervalTicker:
    """Reads the tests that ``read`` announces, and the ``load`` of nodes, and tells ``listener``; idle without one.

    While such tests run it tells a list each second, also an empty one: nobody goes on showing what is over.
    """

    def __init__(self, listener: IntervalListener | None, load: LoadSampler) -> None:
        self._listener = listener
        self._load = load
        self._readers: dict[str, IntervalReader] = {}

    @contextmanager
    def read(self, test: Test, probe: Probe) -> Iterator[None]:
        """Inside the context the outputs of commands that this task starts are read."""
        if self._listener is None or not reads_intervals(probe):
            yield
            return
        outputs = RunningOutputs()
        token = current_outputs.set(outputs)
        self._readers[test.id] = IntervalReader(probe, test.target, outputs)
        try:
            yield
        finally:
            del self._readers[test.id]
            current_outputs.reset(token)

    async def run(self) -> None:
        """Tell until cancelled."""
        while self._listener is not None:
            await asyncio.sleep(EVERY)
            loads = self._load.read_last(_MOST_LOADS)
            if self._readers or loads:
                self._listener.hear([each async for each in self._collect()], loads)

    async def _collect(self) -> AsyncIterator[TestInterval]:
        for number, (test, reader) in enumerate([*self._readers.items()], 1):
            for interval in reader.read():
                yield test, interval
            if number % _IN_A_ROW == 0:
                await asyncio.sleep(0)
