"""The connections to one node: the first, and further ones while that is full.

sshd allows ten commands on one connection; a storage server that is read by sixteen clients
and writes to sixteen others runs more at once.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.connection import SshConnection

_LOG = ModuleLog(__name__)


class ConnectionPool:
    """The connections to one node. ``more`` opens another, at most ``most`` of them are kept."""

    def __init__(self, first: SshConnection, more: Callable[[], Awaitable[SshConnection]], most: int) -> None:
        self.first = first
        self.connections = [first]
        self.is_root: bool | None = None
        self._more = more
        self._most = most
        self._opening: asyncio.Task[None] | None = None

    def find_free(self) -> SshConnection | None:
        """A connection that has room for one more command now."""
        return next((link for link in self.connections if link.lost is None and link.slots.free), None)

    async def wait_for_free(self) -> SshConnection:
        """A connection with room for one more command, opened where there is none.

        When no further one can be had, the one that has fewest commands: the command waits there.
        """
        while True:
            free = self.find_free()
            if free is not None or len(self.connections) >= self._most:
                alive = [link for link in self.connections if link.lost is None] or [self.first]
                return free or min(alive, key=lambda link: len(link.channels))
            if self._opening is None or self._opening.done():
                self._opening = asyncio.create_task(self._open())
            await asyncio.wait((self._opening,))

    async def _open(self) -> None:
        try:
            self.connections.append(await self._more())
        except RemoteError as error:
            _LOG.warning(self.first.node, "no further connection: %s", error.failure.detail)
            self._most = len(self.connections)  # the node allows no more: commands wait for each other

    async def close(self) -> None:
        """End everything on every connection."""
        if self._opening is not None:
            self._opening.cancel()
            with suppress(asyncio.CancelledError):
                await self._opening
        await asyncio.gather(*(link.close() for link in self.connections))
