"""Owns the way from a resolved route to a connection that may run commands, with a deadline at every step.

The TCP connection is made here, so that a dead host costs a socket and not a login slot, and then
handed to asyncssh. Tries again only what an overloaded sshd drops before any login (MaxStartups).
Refuses to log in twice.
"""

import asyncio
import ipaddress
import random
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Executor

import asyncssh

from probes.model import FailedAt, Failure
from probes.remote import RemoteError
from probes.ssh.config import Route, asking_only
from probes.ssh.failures import TROUBLE, Attempt, failure, host_key_failure, out_of_time, sharpened
from probes.ssh.limits import Limits

_Addresses = list[tuple[socket.AddressFamily, tuple[object, ...]]]


class Gate(asyncssh.SSHClient):
    """Answers every question about a host key with no, and notes how far the attempt has come.

    Keys that known_hosts trusts never lead to a question.
    """

    def __init__(self, attempt: Attempt, on_lost: Callable[[Exception | None], None]) -> None:
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
        self._on_lost(exc)


class Connector:
    """Opens connections within the limits of a session."""

    def __init__(self, limits: Limits, threads: Executor) -> None:
        self._limits = limits
        self._threads = threads
        self._dials = asyncio.Semaphore(limits.dials)
        self._logins = asyncio.Semaphore(limits.logins)

    async def connect(
        self,
        attempt: Attempt,
        on_lost: Callable[[Exception | None], None],
        tunnel: asyncssh.SSHClientConnection | None = None,
    ) -> asyncssh.SSHClientConnection:
        """A connection with a verified host key and a login; RemoteError names the stage that failed."""
        while True:
            try:
                return await self._once(attempt, on_lost, tunnel)
            except asyncssh.HostKeyNotVerifiable as error:
                raise RemoteError(host_key_failure(error, attempt)) from error
            except TROUBLE as error:
                if not self._may_be_crowded(error, attempt) or attempt.tries > self._limits.retries:
                    raise RemoteError(_as_login(failure(error, attempt), error, attempt)) from error
            # sshd drops at random when too many knock at once: come back at another moment
            await asyncio.sleep(random.uniform(0.1, 0.4) * 2**attempt.tries)  # noqa: S311 - no secret
            attempt.tries += 1
            attempt.connected, attempt.connection = False, None

    async def offered(
        self, attempt: Attempt, kinds: Sequence[str], tunnel: asyncssh.SSHClientConnection | None = None
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

    @staticmethod
    def _may_be_crowded(error: Exception, attempt: Attempt) -> bool:
        dropped = isinstance(error, (asyncssh.ConnectionLost, ConnectionResetError, BrokenPipeError))
        return dropped and not attempt.logging_in

    async def _once(
        self,
        attempt: Attempt,
        on_lost: Callable[[Exception | None], None],
        tunnel: asyncssh.SSHClientConnection | None,
    ) -> asyncssh.SSHClientConnection:
        plain = tunnel is None and not attempt.route.is_proxied
        sock = await self._dial(attempt) if plain else None
        try:
            async with self._logins, asyncio.timeout(self._limits.login):
                return await asyncssh.connect(
                    sock=sock,
                    tunnel=tunnel,
                    host=attempt.route.host,
                    port=attempt.route.port,
                    options=attempt.route.options,
                    client_factory=lambda: Gate(attempt, on_lost),
                    **attempt.route.settings,
                )
        except BaseException as error:
            if sock is not None:
                sock.close()
            if isinstance(error, TimeoutError):
                raise out_of_time(attempt, self._limits.login) from None
            raise

    async def _dial(self, attempt: Attempt) -> socket.socket:
        try:
            async with self._dials, asyncio.timeout(self._limits.connect):
                addresses = await self._resolve(attempt.route)
                return await self._first(addresses, attempt.route)
        except TimeoutError:
            raise out_of_time(attempt, self._limits.connect) from None
        except OSError as error:
            raise sharpened(error) from error

    async def _resolve(self, route: Route) -> _Addresses:
        try:
            literal = ipaddress.ip_address(route.host)
        except ValueError:
            found = await asyncio.get_running_loop().run_in_executor(
                self._threads,
                lambda: socket.getaddrinfo(route.host, route.port, route.options.family, socket.SOCK_STREAM),
            )
            return [(entry[0], entry[4]) for entry in found]
        family = socket.AF_INET if literal.version == 4 else socket.AF_INET6
        return [(family, (route.host, route.port))]

    async def _first(self, addresses: _Addresses, route: Route) -> socket.socket:
        """The first address that answers; each has its share of the time."""
        share = self._limits.connect / len(addresses)
        for number, (family, address) in enumerate(addresses, start=1):
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.setblocking(False)
                if route.options.local_addr:
                    sock.bind(route.options.local_addr)
                async with asyncio.timeout(share):
                    await asyncio.get_running_loop().sock_connect(sock, address)
                return sock
            except BaseException as error:
                sock.close()
                if number == len(addresses) or not isinstance(error, OSError):
                    raise
        raise OSError("no address")


def _as_login(failed: Failure, error: Exception, attempt: Attempt) -> Failure:
    """Whatever ends a login once the host key is verified is the node's refusal of it."""
    if failed.stage is FailedAt.UNREACHABLE and attempt.logging_in and isinstance(error, asyncssh.DisconnectError):
        return Failure(FailedAt.LOGIN, failed.detail, failed.node)
    return failed
