"""The connections to a node: the commands on them, their keepalive, the reason why one was lost, when it is made anew.

A refused login and a host key that cannot be trusted are raised again for the whole session, so that frequent callers
cannot lock an account. A node that was silent, or was lost, is asked again after a pause that doubles; nobody waits
long for that attempt. A failure at a
jump host does not count as a failure of the nodes behind it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import asyncssh

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.kept_shell import KeptShell
from benchconsole.probes.reach.ssh.limits import SshLimits, Throttle
from benchconsole.probes.reach.watchdog import StartedProcess
from benchconsole.probes.reach.watched_command import CommandChannel, SessionOutput
from benchconsole.topology.model.fabric import NodeId


class ChannelSlots:
    """A semaphore whose capacity can shrink."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self.used = 0
        self._freed: asyncio.Event | None = None

    @property
    def free(self) -> bool:
        return self.used < self._capacity

    async def take(self) -> None:
        while self.used >= self._capacity:
            self._freed = self._freed or asyncio.Event()
            self._freed.clear()
            await self._freed.wait()
        self.used += 1

    def give_back(self) -> None:
        self.used -= 1
        if self._freed is not None:
            self._freed.set()

    def shrink(self, running: int) -> None:
        """The node refused a command while ``running`` others ran: that many is what it allows."""
        self._capacity = max(1, min(self._capacity, running))


IDLE = 60.0
_PER_SECOND = 250
_LOG = ModuleLog(__name__)
_LONGEST_REASON = 300
_SAYS_NOTHING = ("", "Connection lost")
_GOODBYE = 2.0
_CALLS = 16
"""Nodes and commands that are asked for in one turn of the event loop; 0.2 ms each."""
_START = 0.5
"""Seconds after which a command that its node has not begun no longer keeps others from being begun."""


class SessionBounds:
    """All connections of a session share turns to begin commands, a bound of output, and a count of the busy ones.

    ``calls`` are turns of those who ask for a node or a command: what a thousand ask for in one turn of the event loop
    would hold it up.
    """

    def __init__(self, limits: SshLimits) -> None:
        self.calls = Throttle(_CALLS, _START)
        self.starts = Throttle(limits.starts, _START, limits.far_starts)
        self.output = SessionOutput(limits.all_output)
        self.busy = 0


class SshConnection:
    """One open connection and the commands on it."""

    def __init__(
        self,
        node: NodeId,
        session: str,
        limits: SshLimits,
        via: "SshConnection | None" = None,
        shared: SessionBounds | None = None,
    ) -> None:
        self.node = node
        self.session = session
        self.limits = limits
        self.via = via
        self.shared = shared or SessionBounds(limits)
        self.slots = ChannelSlots(limits.channels)
        self.channels: set[CommandChannel] = set()
        self.lost: str | None = None
        self.lost_at = 0.0
        self.boot = ""
        self.is_root: bool | None = None
        self.has_started_command = False
        self.can_keep_shell = True
        self._kept_shell: KeptShell | None = None
        self.is_closing = False
        self._has_fast_keepalive = False
        self._client: asyncssh.SSHClientConnection | None = None

    @property
    def client(self) -> asyncssh.SSHClientConnection:
        if self._client is None:
            raise RuntimeError("a link is handed out when it is connected")
        return self._client

    def set_client(self, connection: asyncssh.SSHClientConnection) -> None:
        self._client = connection
        if connection.is_closed():
            self.on_lost(None)

    def on_lost(self, error: Exception | None) -> None:
        """The connection is gone; when it went through a jump host that is gone too, that is the reason."""
        if self._client is None:
            return  # an attempt that failed, which is told in another way
        self.lost_at = asyncio.get_running_loop().time()
        if self.via is not None and self.via.lost is not None:
            self.lost = self.via.find_root_cause()
        else:
            words = str(error)[:_LONGEST_REASON] if error is not None else ""
            self.lost = words if words not in _SAYS_NOTHING else "the node or the network ended the connection"
        if self.is_closing:
            _LOG.info(self.node, "connection closed")
        else:
            _LOG.warning(self.node, "connection lost with %d commands on it: %s", len(self.channels), self.lost)

    async def take_slot(self) -> None:
        await self.slots.take()
        if not self._has_fast_keepalive and self.is_alive:
            self._has_fast_keepalive = True
            self.shared.busy += 1
            self.client.set_keepalive(max(self.limits.keepalive, self.shared.busy / _PER_SECOND))

    def give_slot_back(self) -> None:
        self.slots.give_back()
        if self._has_fast_keepalive and self.slots.used == 0:
            self._has_fast_keepalive = False
            self.shared.busy -= 1
            if self.is_alive:
                self.client.set_keepalive(IDLE)

    @property
    def has_shell(self) -> bool:
        """Whether a shell waits for a command."""
        return self._kept_shell is not None

    def take_shell(self) -> KeptShell | None:
        """The shell that waits for a command, if there is one that may have it; it is the caller's now."""
        shell, self._kept_shell = self._kept_shell, None
        if shell is not None and not (shell.is_young and self.is_alive):
            shell.close()
            return None
        return shell

    def leave_shell(self, shell: KeptShell) -> None:
        """``shell`` has run its command: it waits for the next one where none waits yet."""
        if self._kept_shell is None and shell.is_young and self.is_alive:
            self._kept_shell = shell
        else:
            shell.close()

    def close_shell(self) -> None:
        """Let the shell that waits go: its place is wanted, or the connection ends."""
        if self._kept_shell is not None:
            self._kept_shell.close()
            self._kept_shell = None

    @property
    def is_alive(self) -> bool:
        """Whether commands can be begun on it."""
        return self.lost is None and not self.is_closing

    def find_root_cause(self) -> str:
        """Why everything behind this jump host was lost: the same words for all of it, so that it folds into one."""
        if self.via is not None and self.via.lost is not None:
            return self.via.find_root_cause()
        return f"the jump host {self.node} went away: {self.lost}"

    def learn(self, leader: StartedProcess | None) -> None:
        """Take in what the first line of the first command says about the node and the login."""
        self.has_started_command = True
        if leader is not None:
            self.boot, self.is_root = leader.boot, leader.is_root

    @property
    def algorithms(self) -> dict[str, str]:
        told = {
            "cipher": self.client.get_extra_info("send_cipher"),
            "mac": self.client.get_extra_info("send_mac"),
            "compression": self.client.get_extra_info("send_compression"),
            "server": self.client.get_extra_info("server_version"),
        }
        key = self.client.get_server_host_key()
        if key is not None:
            told["key"] = key.get_algorithm()
        return {name: str(value) for name, value in told.items() if value}

    def failure(self, stage: FailedAt, detail: str) -> Failure:
        return Failure(stage, detail, self.node)

    def make_lost_failure(self) -> Failure:
        if self.is_closing:
            return self.failure(FailedAt.CANCELLED, "the session was closed")
        return self.failure(FailedAt.LOST, self.lost or "the connection was lost")

    async def close(self) -> None:
        self.is_closing = True
        await asyncio.gather(*(channel.end(self.limits.ending) for channel in self.channels))
        self.close_shell()
        if self._client is not None:
            self._client.close()
            try:
                async with asyncio.timeout(_GOODBYE):
                    await self._client.wait_closed()
            except TimeoutError:
                self._client.abort()


class ConnectionPool:
    """The connections to one node. ``more`` opens another, at most ``most`` of them are kept.

    sshd allows ten commands on one; a storage server that sixteen clients read and write runs more at once. There is
    one pool for a node as long as the session lasts, so that its end closes every connection that was opened.
    """

    def __init__(self, first: SshConnection, more: Callable[[], Awaitable[SshConnection]], most: int) -> None:
        self.first = first
        self.connections = [first]
        self.is_root: bool | None = None
        self._more = more
        self._most = most
        self._allowed = most
        self._opening: asyncio.Task[None] | None = None

    async def wait_for_free(self) -> SshConnection:
        """A connection with room for one more command, opened where there is none.

        When no further one can be had, the one that has fewest commands: the command waits there. RemoteError where
        none is alive: when a lost node is asked again is not decided here.
        """
        while True:
            alive = [link for link in self.connections if link.is_alive]
            if not alive:
                raise RemoteError(self.first.make_lost_failure())
            free = next((link for link in alive if link.slots.free), None)
            if free is not None or len(self.connections) >= self._allowed:
                return free or min(alive, key=lambda link: len(link.channels))
            if self._opening is None or self._opening.done():
                self._opening = asyncio.create_task(self._open())
            await asyncio.wait((self._opening,))

    async def _open(self) -> None:
        try:
            link = await self._more()
        except RemoteError as error:
            _LOG.warning(self.first.node, "no further connection: %s", error.failure.detail)
            self._allowed = len(self.connections)  # the node allows no more: commands wait for each other
        else:
            self.connections.append(link)

    def replace_first(self, first: SshConnection) -> None:
        """Go on with ``first`` where the first connection was lost, for those too that hold the node already.

        Its other connections are kept where they are alive.
        """
        self.first = first
        self.connections = [first, *(link for link in self.connections if link.lost is None)]
        self.is_root = None
        self._allowed = self._most

    async def close(self) -> None:
        self._allowed = 0  # who waits opens no other
        if self._opening is not None:
            self._opening.cancel()
            with suppress(asyncio.CancelledError):
                await self._opening
        await asyncio.gather(*(link.close() for link in self.connections))


_LONGEST_PAUSE = 600.0
_RETRY = 2.0
"""Seconds for which those who ask wait for another attempt at a node that could not be reached. It goes on."""
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
        self._failed: RemoteError | None = None

    async def link(self, node: NodeId) -> SshConnection:
        """The connection; RemoteError in the name of ``node``, a new one for everyone who asks."""
        is_due = self._is_due()
        if is_due:
            _LOG.info(node, "retry: the last connection failed or was lost")
        if self._opening is None or is_due:
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        if not opening.done():
            await asyncio.wait((opening,), timeout=_RETRY if self._failed is not None else None)
        if self._failed is not None and not opening.done():
            raise type(self._failed)(self._failed.failure)
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
            link = await self._opener()
        except JumpHostError:
            self._again = 0.0
            raise
        except RemoteError as error:
            if error.failure.stage in _PASSING:
                self._again = self._after_pause(asyncio.get_running_loop().time())
                self._failed = error
            raise
        self._failed = None
        return link

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
