"""Configuration lookups off the event loop, many hosts in one call, because a call in a thread is expensive."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor

from benchconsole.probes.reach.ssh.ssh_config import Destination, ResolvedHost, SshConfig

_MANY = 32
"""Hosts of one go: few enough that the first of a thousand need not wait for the last."""


class ConfigLookup:
    """Resolves destinations with a configuration that may read files and run commands."""

    def __init__(self, configuration: SshConfig, threads: Executor) -> None:
        self._configuration = configuration
        self._threads = threads
        self._waiting: list[tuple[Destination, asyncio.Future[ResolvedHost]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._at_once: int | None = None

    async def resolve(self, destination: Destination) -> ResolvedHost:
        """The host that ``destination`` means; ConfigError says why it cannot be followed."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[ResolvedHost] = loop.create_future()
        self._waiting.append((destination, future))
        if len(self._waiting) == 1:
            loop.call_soon(self._start)
        return await future

    def _start(self) -> None:
        """Take all that have asked by now."""
        asked, self._waiting = self._waiting, []
        task = asyncio.get_running_loop().create_task(self._resolve(asked))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _resolve(self, asked: Sequence[tuple[Destination, "asyncio.Future[ResolvedHost]"]]) -> None:
        loop = asyncio.get_running_loop()
        if self._at_once is None:  # what runs a command for each host is not queued behind others
            runs_commands = await loop.run_in_executor(self._threads, lambda: self._configuration.runs_commands)
            self._at_once = 1 if runs_commands else _MANY
        parts = [asked[start : start + self._at_once] for start in range(0, len(asked), self._at_once)]
        await asyncio.gather(*(self._part(part) for part in parts))

    async def _part(self, part: Sequence[tuple[Destination, "asyncio.Future[ResolvedHost]"]]) -> None:
        destinations = [destination for destination, _ in part]
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._threads, self._all, destinations)
        except asyncio.CancelledError:
            for _, future in part:
                future.cancel()
            raise
        for (_, future), outcome in zip(part, found, strict=True):
            if future.done():
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _all(self, destinations: Sequence[Destination]) -> list[ResolvedHost | Exception]:
        outcomes: list[ResolvedHost | Exception] = []
        for destination in destinations:
            try:
                outcomes.append(self._configuration.resolve(destination))
            except Exception as error:  # handed to whoever asked, who knows what it means
                outcomes.append(error)
        return outcomes
