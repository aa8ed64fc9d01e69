"""Owns the way from a resolved route to a connection that may run commands, with a deadline at every step.

``probes.ssh.dialing`` makes the TCP connection, asyncssh logs in over it. Its connection object is
made here and not by ``asyncssh.connect``, which would build all options anew for every host, in a
thread: that is a quarter of the whole cost of a login. Tries again only what an overloaded sshd drops
before any login (MaxStartups). Refuses to log in twice.
"""

import asyncio
import random
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import cast

import asyncssh

from probes.model import FailedAt, Failure
from probes.remote import RemoteError
from probes.ssh.config import asking_only
from probes.ssh.connection import Connection
from probes.ssh.dialing import Dialer
from probes.ssh.failures import TROUBLE, Attempt, failure, host_key_failure, out_of_time
from probes.ssh.limits import Limits
from probes.ssh.logins import refusal
from probes.ssh.throttle import Breaker, StoppedError, Throttle

_TURN = 2.0
"""Seconds after which a login that is still under way waits for its node and not for us."""
_CROWD = 2
"""How many come back at once to an sshd that drops connections."""

OnLost = Callable[[Exception | None], None]
Tunnel = asyncssh.SSHClientConnection


class Gate(asyncssh.SSHClient):
    """Answers every question about a host key with no, and notes how far the attempt has come.

    Keys that known_hosts trusts never lead to a question.
    """

    def __init__(self, attempt: Attempt, on_lost: OnLost) -> None:
        self._attempt = attempt
        self._on_lost = on_lost

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """The transport is there; the banner is awaited."""
        self._attempt.connected = True
        self._attempt.connection = conn

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Remember the key that was offered, and refuse it."""
        self._attempt.offered = key
        return False

    def validate_host_ca_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Remember the authority that signed, and refuse it."""
        self._attempt.offered_authority = key
        return False

    def begin_auth(self, username: str) -> None:
        """The host key is verified; the login begins."""
        self._attempt.logging_in = True

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone, on purpose or not."""
        for end in self._attempt.endings:
            end()
        self._on_lost(exc)


class Connector:
    """Opens connections within the limits of a session."""

    def __init__(self, limits: Limits, threads: Executor) -> None:
        self._limits = limits
        self._dialer = Dialer(limits, threads)
        self._logins = Throttle(limits.logins, _TURN)
        self._breaker = Breaker(limits.refusals, _TURN)
        self._crowded: dict[tuple[str, int], asyncio.Semaphore] = {}

    async def connect(
        self, attempt: Attempt, on_lost: OnLost, tunnel: Tunnel | None = None
    ) -> asyncssh.SSHClientConnection:
        """A connection with a verified host key and a login; RemoteError names the stage that failed."""
        try:
            return await self._persistently(attempt, on_lost, tunnel)
        except StoppedError as error:
            raise RemoteError(Failure(FailedAt.LOGIN, str(error), attempt.node)) from error
        except asyncssh.HostKeyNotVerifiable as error:
            raise RemoteError(host_key_failure(error, attempt)) from error
        except TROUBLE as error:
            failed = _as_login(failure(error, attempt), error, attempt)
            if failed.stage is FailedAt.LOGIN:
                self._breaker.refused()
                failed = await refusal(failed, attempt.route)
            raise RemoteError(failed) from error

    async def offered(
        self, attempt: Attempt, kinds: Sequence[str], tunnel: Tunnel | None = None
    ) -> asyncssh.SSHKey | None:
        """The host key of one of these kinds that the node offers. Nothing is trusted, so no login can begin."""
        attempt.route = asking_only(attempt.route, kinds)
        try:
            await self._once(attempt, lambda _: None, tunnel)
        except asyncssh.HostKeyNotVerifiable:
            return attempt.offered
        except TROUBLE as error:
            if attempt.greeted and isinstance(error, (asyncssh.DisconnectError, ConnectionError)):
                return None  # it hangs up, or we do, when there is no kind in common
            raise RemoteError(failure(error, attempt)) from error
        return None

    async def _persistently(
        self, attempt: Attempt, on_lost: OnLost, tunnel: Tunnel | None
    ) -> asyncssh.SSHClientConnection:
        """Come back to an sshd that drops at random when too many knock at once, at another moment and with few."""
        where = (attempt.route.host, attempt.route.port)
        while True:
            crowd = self._crowded.get(where)
            try:
                if crowd is None:
                    return await self._once(attempt, on_lost, tunnel)
                async with crowd:
                    return await self._once(attempt, on_lost, tunnel)
            except TROUBLE as error:
                if not _may_be_crowded(error, attempt) or attempt.tries > self._limits.retries:
                    raise
            self._crowded.setdefault(where, asyncio.Semaphore(_CROWD))
            await asyncio.sleep(random.uniform(0.1, 0.4) * 2**attempt.tries)  # noqa: S311 - no secret
            attempt.tries += 1
            attempt.connected, attempt.connection = False, None

    async def _once(self, attempt: Attempt, on_lost: OnLost, tunnel: Tunnel | None) -> asyncssh.SSHClientConnection:
        sock = await self._dialer.dial(attempt) if tunnel is None else None
        try:
            async with self._breaker.login(), self._logins.turn(), asyncio.timeout(self._limits.login):
                connection = await _log_in(attempt, on_lost, sock, tunnel)
        except BaseException as error:
            if sock is not None:
                sock.close()
            if isinstance(error, TimeoutError):
                raise out_of_time(attempt, self._limits.login) from None
            raise
        self._breaker.accepted()
        return connection


async def _log_in(
    attempt: Attempt, on_lost: OnLost, sock: socket.socket | None, tunnel: Tunnel | None
) -> asyncssh.SSHClientConnection:
    """What ``asyncssh.connect`` does once its options are made."""
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()
    route = attempt.route
    options = route.own(lambda: Gate(attempt, on_lost), waiter)
    connection = Connection(loop, options, wait="auth")
    try:
        if tunnel is None:
            await loop.create_connection(lambda: connection, sock=sock)
        else:
            session = cast("asyncssh.SSHTCPSession[bytes]", connection)
            await tunnel.create_connection(lambda: session, route.host, route.port)
        connection.set_extra_info(host=route.host, port=route.port)
        await waiter
    except BaseException:
        connection.abort()
        raise
    return connection


def _may_be_crowded(error: Exception, attempt: Attempt) -> bool:
    dropped = isinstance(error, (asyncssh.ConnectionLost, ConnectionResetError, BrokenPipeError))
    return dropped and not attempt.logging_in


def _as_login(failed: Failure, error: Exception, attempt: Attempt) -> Failure:
    """Whatever ends a login once the host key is verified is the node's refusal of it."""
    if failed.stage is FailedAt.UNREACHABLE and attempt.logging_in and isinstance(error, asyncssh.DisconnectError):
        return Failure(FailedAt.LOGIN, failed.detail, failed.node)
    return failed
