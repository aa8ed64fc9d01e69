"""The login: from a resolved host to a connection that may run commands, with a deadline at every step.

``probes.reach.ssh.tcp_connect`` makes the TCP connection, asyncssh logs in over it. The connection object is
made here and not by ``asyncssh.connect``, which would build all options anew for every host, in a
thread: that is a quarter of the whole cost of a login. A login is tried once; only a connection that an overloaded
sshd drops before any login (MaxStartups) is made again. After a refusal the reasons that can be seen from here are
added to the failure: the agent, certificates, keys that want a touch.
"""

import asyncio
import base64
import logging
import random
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager, nullcontext
from typing import Any, cast

import asyncssh
from asyncssh.logging import SSHLogger
from asyncssh.packet import SSHPacketLogger
from asyncssh.public_key import SSHOpenSSHCertificate

from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.failures import (
    CONNECTION_ERRORS,
    HEARD,
    ConnectionAttempt,
    failure,
    make_host_key_failure,
    make_timeout_error,
)
from benchconsole.probes.reach.ssh.late_event import replace_close_event
from benchconsole.probes.reach.ssh.limits import LoginBreaker, LoginsStoppedError, SshLimits, Throttle
from benchconsole.probes.reach.ssh.ssh_config import ResolvedHost, restrict_to_key_kinds
from benchconsole.probes.reach.ssh.tcp_connect import TcpConnector
from benchconsole.topology.copying import replace

OLDEST = (2, 14, 2)


def require_safe_version(version: str = asyncssh.__version__) -> None:
    """ProbeError when ``version`` of asyncssh is too old, or is not a version."""
    words = version.split(".")[:3]
    numbers = tuple(int(word) for word in words if word.isdigit())
    if numbers < OLDEST or len(numbers) < len(words):
        oldest = ".".join(map(str, OLDEST))
        raise ProbeError(
            f"found asyncssh {version}, expected {oldest} or newer (older ones have CVE-2023-46445, -46446 and -48795);"
            " install a newer one beside benchconsole"
        )


_IGNORE = 2  # RFC 4253, 12
_CBC = "-cbc"


class _Silent(SSHLogger):
    def log(self, level: int, msg: object, *args: object, **kwargs: object) -> None:
        """Drop it."""

    def info(self, msg: object, *args: object, **kwargs: object) -> None:
        """Drop it."""

    def packet(self, pktid: int | None, packet: bytes, msg: str, *args: object, **kwargs: object) -> None:
        """Drop it."""

    def get_child(self, child: str = "", context: str = "") -> SSHLogger:
        return self


_LOGGER = logging.getLogger("asyncssh")
_SILENT = _Silent(_LOGGER)


_NONE = cast("set[Any]", frozenset())
_SETS = ("_trusted_host_keys", "_trusted_ca_keys", "_revoked_host_keys", "_x509_revoked_certs")
"""The sets of a connection that nobody adds to after the login; an empty one is 0.2 kB. None switches a check off."""

_READ_BYTES = 64 * 1024
"""The most that is read of a socket at once: two of the largest packets (RFC 4253, 6.1)."""


class QuietConnection(asyncssh.SSHClientConnection):
    """A client connection that sends and formats only what somebody reads.

    asyncssh sends an empty SSH_MSG_IGNORE before every packet, which hides the predictable start vector of CBC ciphers
    (RFC 4251, 9.3.1). With the counter and AEAD ciphers of the last ten years it only doubles the packets. Its log
    messages are formatted before it is known that they are dropped.
    """

    @property
    def logger(self) -> SSHLogger:
        """asyncssh's own where its messages are wanted."""
        return super().logger if _LOGGER.isEnabledFor(logging.INFO) else _SILENT

    heard: bytearray | None = None
    """Where the first bytes of the server are kept, for the words on one that does not speak SSH."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, options: asyncssh.SSHClientConnectionOptions, *, wait: str
    ) -> None:
        super().__init__(loop, options, wait=wait)
        replace_close_event(self)

    def forget_login(self, shared: asyncssh.SSHClientConnectionOptions) -> None:
        """Let go of what led to the login, 7 kB: new keys begin with new offers, commands have ``shared`` options."""
        self._client_kexinit = self._server_kexinit = b""
        self._server_sig_algs = _NONE
        self._extensions_to_send = cast("Any", {})
        for name in _SETS:
            if getattr(self, name) == _NONE:
                setattr(self, name, _NONE)
        self._options = shared

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, with room for what SSH sends at once instead of asyncio's 256 kB.

        So much memory comes from the kernel, page by page, each time that something is read: 15 us and more.
        """
        cast("Any", transport).max_size = _READ_BYTES
        super().connection_made(transport)

    def data_received(self, data: bytes, datatype: asyncssh.DataType = None) -> None:
        """Take in what the server sends."""
        if self.heard is not None and len(self.heard) < HEARD:
            self.heard += data[: HEARD - len(self.heard)]
        super().data_received(data, datatype)

    def send_packet(self, pkttype: int, *args: bytes, handler: SSHPacketLogger | None = None) -> None:
        """Send a packet; an empty one only where the cipher chains blocks."""
        if pkttype != _IGNORE or str(self.get_extra_info("send_cipher")).endswith(_CBC):
            super().send_packet(pkttype, *args, handler=handler)


_LOG = ModuleLog(__name__)
_TURN = 2.0
"""Seconds after which a login that is still under way waits for its node and not for us."""
_CROWD = 2
"""How many come back at once to an sshd that drops connections."""

OnLost = Callable[[Exception | None], None]
Tunnel = asyncssh.SSHClientConnection


class LoginCallbacks(asyncssh.SSHClient):
    """Answers every question about a host key with no, and notes how far the attempt has come.

    Keys that known_hosts trusts never lead to a question.
    """

    def __init__(self, attempt: ConnectionAttempt, on_lost: OnLost) -> None:
        self._attempt = attempt
        self._on_lost = on_lost

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        self._attempt.connected = True
        self._attempt.connection = conn

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self._attempt.offered = key
        return False

    def validate_host_ca_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self._attempt.offered_authority = key
        return False

    def begin_auth(self, username: str) -> None:
        self._attempt.logging_in = True

    def connection_lost(self, exc: Exception | None) -> None:
        for end in self._attempt.at_end:
            end()
        self._on_lost(exc)


class Connector:
    """Opens connections within the limits of a session."""

    def __init__(self, limits: SshLimits, threads: Executor) -> None:
        self._limits = limits
        self._tcp = TcpConnector(limits, threads)
        self._logins = Throttle(limits.logins, _TURN, limits.far_logins)
        self._breaker = LoginBreaker(limits.refusals, _TURN)
        self._crowded: dict[tuple[str, int], asyncio.Semaphore] = {}

    async def connect(
        self, attempt: ConnectionAttempt, on_lost: OnLost, tunnel: Tunnel | None = None
    ) -> asyncssh.SSHClientConnection:
        """A connection with a verified host key and a login; RemoteError names the stage that failed."""
        try:
            return await self._connect_with_retries(attempt, on_lost, tunnel)
        except LoginsStoppedError as error:
            raise RemoteError(Failure(FailedAt.LOGIN, str(error), attempt.node)) from error
        except asyncssh.HostKeyNotVerifiable as error:
            raise RemoteError(make_host_key_failure(error, attempt)) from error
        except CONNECTION_ERRORS as error:
            failed = failure(error, attempt)
            if attempt.logging_in and isinstance(error, asyncssh.DisconnectError):
                failed = replace(failed, stage=FailedAt.LOGIN)  # the host key is verified: it is the node's refusal
            if failed.stage is FailedAt.LOGIN:
                self._breaker.note_refused()
                failed = await explain_refusal(failed, attempt.host)
            raise RemoteError(failed) from error

    async def find_offered_key(
        self, attempt: ConnectionAttempt, kinds: Sequence[str], tunnel: Tunnel | None = None
    ) -> asyncssh.SSHKey | None:
        """The host key of one of these kinds that the node offers. Nothing is trusted, so no login can begin."""
        attempt.host = restrict_to_key_kinds(attempt.host, kinds)
        try:
            await self._connect_once(attempt, lambda _: None, tunnel)
        except asyncssh.HostKeyNotVerifiable:
            return attempt.offered
        except CONNECTION_ERRORS as error:
            if attempt.greeted and isinstance(error, (asyncssh.DisconnectError, ConnectionError)):
                return None  # it hangs up, or we do, when there is no kind in common
            raise RemoteError(failure(error, attempt)) from error
        return None

    async def _connect_with_retries(
        self, attempt: ConnectionAttempt, on_lost: OnLost, tunnel: Tunnel | None
    ) -> asyncssh.SSHClientConnection:
        """Connect again, later and few at a time, to an sshd that drops connections because it has too many."""
        where = (attempt.host.host, attempt.host.port)
        while True:
            try:
                async with self._crowded.get(where) or nullcontext():
                    return await self._connect_once(attempt, on_lost, tunnel)
            except (asyncssh.ConnectionLost, ConnectionResetError, BrokenPipeError):
                if attempt.logging_in or attempt.tries > self._limits.retries:
                    raise
            self._crowded.setdefault(where, asyncio.Semaphore(_CROWD))
            pause = random.uniform(0.1, 0.4) * 2**attempt.tries  # noqa: S311 - no secret
            _LOG.info(attempt.node, "retry in %.1f s: %s dropped the connection before the login", pause, attempt.where)
            await asyncio.sleep(pause)
            attempt.tries += 1
            attempt.connected, attempt.connection = False, None
            attempt.heard.clear()

    async def _connect_once(
        self, attempt: ConnectionAttempt, on_lost: OnLost, tunnel: Tunnel | None
    ) -> asyncssh.SSHClientConnection:
        self._breaker.require_use()  # before the connection: a node that is not tried sees none
        sock = await self._tcp.connect(attempt) if tunnel is None else None
        is_ours = sock is not None
        try:
            async with self._logins.turn(), self._breaker.begin_login(), _bound_login(attempt, self._limits, tunnel):
                is_ours = False  # its transport closes it; a descriptor freed under one would be another connection's
                connection = await _log_in(attempt, on_lost, sock, tunnel)
        except BaseException:
            if sock is not None and is_ours:
                sock.close()
            raise
        self._breaker.note_accepted()
        return connection


@asynccontextmanager
async def _bound_login(attempt: ConnectionAttempt, limits: SshLimits, tunnel: Tunnel | None) -> AsyncIterator[None]:
    """Give a login its time, and a server that does not say a word less: one that is merely busy sends its banner.

    Behind a jump host the connection itself takes of this time, so that silence says nothing about the server.
    """
    patience = min(limits.greeting, limits.login) if tunnel is None else limits.login
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(limits.login) as bound:

            def give_up_silent() -> None:
                if not attempt.greeted and not bound.expired():
                    bound.reschedule(loop.time())

            look = loop.call_later(patience, give_up_silent)
            try:
                yield
            finally:
                look.cancel()
    except TimeoutError:
        raise make_timeout_error(attempt, limits.login if attempt.greeted else patience) from None


async def _log_in(
    attempt: ConnectionAttempt, on_lost: OnLost, sock: socket.socket | None, tunnel: Tunnel | None
) -> asyncssh.SSHClientConnection:
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()
    host = attempt.host
    options = host.make_options(lambda: LoginCallbacks(attempt, on_lost), waiter)
    connection = QuietConnection(loop, options, wait="auth")
    connection.heard = attempt.heard
    try:
        if tunnel is None:
            await loop.create_connection(lambda: connection, sock=sock)
        else:
            session = cast("asyncssh.SSHTCPSession[bytes]", connection)
            await tunnel.create_connection(lambda: session, host.host, host.port)
        connection.set_extra_info(host=host.host, port=host.port)
        await waiter
    except BaseException:
        connection.abort()
        raise
    connection.forget_login(host.options)
    return connection


_USER_CERTIFICATE = 1
_PATIENCE = 2.0


async def explain_refusal(failed: Failure, host: ResolvedHost) -> Failure:
    """``failed`` with the reasons on our side that can be seen: agent, certificates, keys that want a touch."""
    words = [*host.keys.unusable, *_of_certificates(host), *await _of_agent(host)]
    if any(pair.algorithm.startswith(b"sk-") for pair in host.keys.pairs):
        words.append(_touch("a key file"))
    return replace(failed, detail="; ".join((failed.detail, *words)))


def _of_certificates(host: ResolvedHost) -> Iterator[str]:
    for pair in host.keys.pairs:
        if pair.has_cert:
            text = b" ".join((pair.algorithm, base64.b64encode(pair.public_data)))
            try:
                certificate = asyncssh.import_certificate(text)
                if isinstance(certificate, SSHOpenSSHCertificate):
                    certificate.validate(_USER_CERTIFICATE, host.user)
            except (asyncssh.KeyImportError, ValueError) as error:
                yield f"the certificate of {pair.get_comment() or 'a key'} does not hold: {str(error).lower()}"


async def _of_agent(host: ResolvedHost) -> list[str]:
    path = host.options.agent_path
    if not path:
        return []
    try:
        async with asyncio.timeout(_PATIENCE):
            agent = await asyncssh.connect_agent(str(path))
            try:
                keys = await agent.get_keys(host.options.agent_identities)
            finally:
                agent.close()
    except (OSError, ValueError, asyncssh.Error, TimeoutError) as error:
        return [f"the agent at {path} does not answer ({error or 'no reply'})"]
    return [_touch("the agent")] if any(key.algorithm.startswith(b"sk-") for key in keys) else []


def _touch(holder: str) -> str:
    return f"{holder} holds an sk- key, which wants a touch at every login: use a key or a certificate that does not"
