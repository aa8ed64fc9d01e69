"""Owns one open connection: what runs on it, why it was lost, and its end."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import asyncssh

from probes.model import FailedAt, Failure
from probes.ssh.limits import Limits
from probes.ssh.pulse import Pulse
from probes.ssh.slots import Slots
from probes.ssh.speech import Speech
from probes.ssh.throttle import Throttle
from probes.ssh.watchdog import Started
from topology.model import NodeId

_LONGEST_REASON = 300
_SAYS_NOTHING = ("", "Connection lost")
_GOODBYE = 2.0
_START = 0.5
"""Seconds after which a command that its node has not begun no longer keeps others from being begun."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What all connections of a session have in common."""

    starts: Throttle
    pulse: Pulse

    @classmethod
    def of(cls, limits: Limits) -> "Shared":
        """As the limits say."""
        return cls(Throttle(limits.starts, _START), Pulse(limits.keepalive))


class Link:
    """One open connection and the commands on it."""

    def __init__(
        self, node: NodeId, session: str, limits: Limits, via: "Link | None" = None, shared: Shared | None = None
    ) -> None:
        self.node = node
        self.session = session
        self.limits = limits
        self.via = via
        self._shared = shared or Shared.of(limits)
        self.slots = Slots(limits.channels)
        self.speeches: set[Speech] = set()
        self.lost: str | None = None
        self.lost_at = 0.0
        self.boot = ""
        self.is_root: bool | None = None
        self.has_spoken = False
        self.is_closing = False
        self._is_quickened = False
        self._connection: asyncssh.SSHClientConnection | None = None

    @property
    def connection(self) -> asyncssh.SSHClientConnection:
        """The connection, once it is made."""
        if self._connection is None:
            raise RuntimeError("a link is handed out when it is connected")
        return self._connection

    def connected(self, connection: asyncssh.SSHClientConnection) -> None:
        """The connection is there; it may be gone again already."""
        self._connection = connection
        if connection.is_closed():
            self.on_lost(None)

    def on_lost(self, error: Exception | None) -> None:
        """The connection is gone; when it went through a jump host that is gone too, that is the reason."""
        if self._connection is None:
            return  # an attempt that failed, which is told in another way
        self.lost_at = asyncio.get_running_loop().time()
        if self.via is not None and self.via.lost is not None:
            self.lost = self.via.root_cause()
        else:
            words = str(error)[:_LONGEST_REASON] if error is not None else ""
            self.lost = words if words not in _SAYS_NOTHING else "the node or the network ended the connection"

    async def take_slot(self) -> None:
        """Wait until one more command may run here."""
        await self.slots.take()
        if not self._is_quickened and self._is_alive:
            self._is_quickened = True
            self._shared.pulse.quicken(self.connection)

    def give_slot_back(self) -> None:
        """One command less."""
        self.slots.give_back()
        if self._is_quickened and self.slots.used == 0:
            self._is_quickened = False
            self._shared.pulse.calm(self.connection, is_alive=self._is_alive)

    def carries_others(self) -> None:
        """It is the way to other nodes."""
        self._shared.pulse.of_jump_host(self.connection)

    def start(self) -> AbstractAsyncContextManager[None]:
        """A turn to begin a command in: they are dealt out over all connections of a session."""
        return self._shared.starts.turn()

    @property
    def _is_alive(self) -> bool:
        return self.lost is None and not self.is_closing

    def root_cause(self) -> str:
        """Why everything behind this jump host was lost: the same words for all of it, so that it folds into one."""
        if self.via is not None and self.via.lost is not None:
            return self.via.root_cause()
        return f"the jump host {self.node} went away: {self.lost}"

    def learn(self, leader: Started | None) -> None:
        """What the first line of the first command says about the node and the login."""
        self.has_spoken = True
        if leader is not None:
            self.boot, self.is_root = leader.boot, leader.is_root

    @property
    def algorithms(self) -> dict[str, str]:
        """What was agreed on with the node: ``cipher``, ``mac``, ``compression``, ``key``, ``server``."""
        told = {
            "cipher": self.connection.get_extra_info("send_cipher"),
            "mac": self.connection.get_extra_info("send_mac"),
            "compression": self.connection.get_extra_info("send_compression"),
            "server": self.connection.get_extra_info("server_version"),
        }
        key = self.connection.get_server_host_key()
        if key is not None:
            told["key"] = key.get_algorithm()
        return {name: str(value) for name, value in told.items() if value}

    def failure(self, stage: FailedAt, detail: str) -> Failure:
        """A failure of this node."""
        return Failure(stage, detail, self.node)

    def lost_failure(self) -> Failure:
        """Why nothing can be run any more."""
        if self.is_closing:
            return self.failure(FailedAt.CANCELLED, "the session was closed")
        return self.failure(FailedAt.LOST, self.lost or "the connection was lost")

    async def close(self) -> None:
        """End every command, then the connection; bounded."""
        self.is_closing = True
        await asyncio.gather(*(speech.end(self.limits.ending) for speech in self.speeches))
        if self._connection is not None:
            self._connection.close()
            try:
                async with asyncio.timeout(_GOODBYE):
                    await self._connection.wait_closed()
            except TimeoutError:
                self._connection.abort()
