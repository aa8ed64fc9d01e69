"""When a node is asked again: its connection is kept while it lives, its failure while asking would not help.

A refused login and a host key that cannot be trusted are raised again for the whole session, so that
frequent callers cannot lock an account. A node that was silent, or was lost, is asked again after a
pause that doubles. A failure at a jump host does not count as a failure of the nodes behind it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.connection import SshConnection
from benchconsole.topology.model.fabric import NodeId

_LOG = ModuleLog(__name__)
_LONGEST_PAUSE = 600.0
_PASSING = (FailedAt.UNREACHABLE, FailedAt.LOST)


class JumpHostError(RemoteError):
    """A node that was not tried because its jump host could not be reached."""


class RetriedConnection:
    """One node, or one jump host: opened at first use, then shared by all who ask."""

    def __init__(self, opener: Callable[[], Awaitable[SshConnection]], pause: float) -> None:
        self._opener = opener
        self._pause = pause
        self._next_pause = pause
        self._losses = 0
        self._again: float | None = None
        self._opening: asyncio.Task[SshConnection] | None = None

    async def link(self, node: NodeId) -> SshConnection:
        """The connection; RemoteError in the name of ``node``, a new one for everyone who asks."""
        is_due = self._is_due()
        if is_due:
            _LOG.info(node, "retry: the last connection failed or was lost")
        if self._opening is None or is_due:
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        if not opening.done():
            await asyncio.wait((opening,))
        if opening.cancelled():
            raise RemoteError(Failure(FailedAt.CANCELLED, "the session was closed", node))
        error = opening.exception()
        if isinstance(error, RemoteError):
            _LOG.warning(node, "no connection: %s: %s", error.failure.stage, error.failure.detail)
            raise type(error)(error.failure)
        return opening.result()

    def allow_retry(self) -> None:
        """The node has answered after all: who asks next tries again."""
        self._again = 0.0

    @property
    def last_connection(self) -> SshConnection | None:
        opening = self._opening
        if opening is None or not opening.done() or opening.cancelled() or opening.exception() is not None:
            return None
        return opening.result()

    async def close(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        if self.last_connection is not None:
            await self.last_connection.close()

    async def _open(self) -> SshConnection:
        self._again = None
        try:
            return await self._opener()
        except JumpHostError:
            self._again = 0.0
            raise
        except RemoteError as error:
            if error.failure.stage in _PASSING:
                self._again = self._after_pause(asyncio.get_running_loop().time())
            raise

    def _is_due(self) -> bool:
        if self._opening is None or not self._opening.done():
            return False
        if self.last_connection is not None:
            if self.last_connection.lost is None:
                return False
            if self._again is None:  # the first reconnection is for free
                self._again = self._after_pause(self.last_connection.lost_at) if self._losses else 0.0
                self._losses += 1
        return self._again is not None and asyncio.get_running_loop().time() >= self._again

    def _after_pause(self, now: float) -> float:
        pause, self._next_pause = self._next_pause, min(2 * self._next_pause, _LONGEST_PAUSE)
        return now + pause
