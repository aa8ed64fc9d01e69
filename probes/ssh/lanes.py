"""Owns which connection to a node a command goes on: the first, or a further one while that is full.

sshd allows ten commands on one connection; a storage server that is read by sixteen clients
and writes to sixteen others runs more at once. Refuses to open more than it needs.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from probes.remote import RemoteError
from probes.ssh.link import Link


class Lanes:
    """The connections to one node. ``more`` opens another, at most ``most`` of them are kept."""

    def __init__(self, first: Link, more: Callable[[], Awaitable[Link]], most: int) -> None:
        self.first = first
        self.links = [first]
        self.is_root: bool | None = None
        self._more = more
        self._most = most
        self._opening: asyncio.Task[None] | None = None

    def ready(self) -> Link | None:
        """A connection that has room for one more command now."""
        return next((link for link in self.links if link.lost is None and link.slots.free), None)

    async def pick(self) -> Link:
        """A connection with room for one more command, opened where there is none.

        When no further one can be had, the one that has fewest commands: the command waits there.
        """
        while True:
            free = self.ready()
            if free is not None or len(self.links) >= self._most:
                alive = [link for link in self.links if link.lost is None] or [self.first]
                return free or min(alive, key=lambda link: len(link.speeches))
            if self._opening is None or self._opening.done():
                self._opening = asyncio.create_task(self._open())
            await asyncio.wait((self._opening,))

    async def _open(self) -> None:
        try:
            self.links.append(await self._more())
        except RemoteError:
            self._most = len(self.links)  # the node allows no more: commands wait for each other

    async def close(self) -> None:
        """End everything on every connection."""
        if self._opening is not None:
            self._opening.cancel()
            with suppress(asyncio.CancelledError):
                await self._opening
        await asyncio.gather(*(link.close() for link in self.links))
