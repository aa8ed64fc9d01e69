"""The TCP connection to a node, made before any login, so that a dead host costs a socket and a little waiting.

How long a silent host is waited for depends on its network. A host that has not answered three tries of the
kernel (after 0, 1 and 3 s) is given up after ``SshLimits.silence`` seconds where most hosts of its network have
answered in a tenth of that; elsewhere it has all of ``SshLimits.connect``. The socket of a host that was given up
early waits on for the rest of that time: after a late answer the host is asked again.
"""

import asyncio
import errno
import ipaddress
import os
import resource
import signal
import socket
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass

from benchconsole.probes.reach.ssh.failures import ConnectionAttempt, make_timeout_error
from benchconsole.probes.reach.ssh.limits import SshLimits, Throttle
from benchconsole.probes.reach.ssh.ssh_config import ResolvedHost

_Address = tuple[socket.AddressFamily, tuple[object, ...]]
_ENOUGH = 8
"""Answers of a network that say how fast it is."""
_SLOWER = 10
_TURN = 0.5
"""Seconds after which a host that is silent no longer keeps others from being dialled."""
_TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)


@dataclass(slots=True)
class _Network:
    asked: int = 0
    quick: int = 0

    @property
    def is_quick(self) -> bool:
        return self.quick >= max(_ENOUGH, self.asked / 2)

    def give_up_early(self, bound: asyncio.Timeout) -> None:
        if self.is_quick and not bound.expired():
            bound.reschedule(asyncio.get_running_loop().time())


class TcpConnector:
    """Makes TCP connections and learns from them."""

    def __init__(self, limits: SshLimits, threads: Executor) -> None:
        self._limits = limits
        self._threads = threads
        self._throttle = Throttle(limits.dials, _TURN)
        self._networks: dict[str, _Network] = {}

    async def connect(self, attempt: ConnectionAttempt) -> socket.socket:
        """A connected socket; OSError or RemoteError says why there is none."""
        try:
            async with self._throttle.turn():
                if attempt.host.options.proxy_command:
                    return await _run_proxy_command(attempt)
                return await self._try_addresses(attempt)
        except TimeoutError:
            raise make_timeout_error(attempt, self._limits.connect) from None
        except OSError as error:
            if error.errno in _TOO_MANY_FILES:
                allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
                words = f"this machine lets us open no more than {allowed} files at once (ulimit -n): raise it"
                raise OSError(error.errno, words) from error
            raise

    async def _try_addresses(self, attempt: ConnectionAttempt) -> socket.socket:
        addresses = await self._resolve(attempt.host)
        share = self._limits.connect / len(addresses)
        for where in addresses[:-1]:
            with suppress(OSError, TimeoutError):
                return await self._connect_address(attempt, where, share)
        return await self._connect_address(attempt, addresses[-1], share)

    async def _resolve(self, host: ResolvedHost) -> list[_Address]:
        with suppress(ValueError):
            literal = ipaddress.ip_address(host.host)
            family = socket.AF_INET if literal.version == 4 else socket.AF_INET6
            if host.options.family not in (socket.AF_UNSPEC, family):
                words = f"the ssh configuration wants another AddressFamily than that of {host.host}"
                raise OSError(errno.EAFNOSUPPORT, words)
            return [(family, (host.host, host.port))]
        async with asyncio.timeout(self._limits.connect):
            found = await asyncio.get_running_loop().run_in_executor(
                self._threads,
                lambda: socket.getaddrinfo(host.host, host.port, host.options.family, socket.SOCK_STREAM),
            )
        return [(entry[0], entry[4]) for entry in found]

    async def _connect_address(self, attempt: ConnectionAttempt, where: _Address, limit: float) -> socket.socket:
        family, address = where
        network = self._networks.setdefault(_network(str(address[0])), _Network())
        network.asked += 1
        loop = asyncio.get_running_loop()
        began = loop.time()
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            if attempt.host.options.local_addr:
                sock.bind(attempt.host.options.local_addr)
            async with asyncio.timeout(limit) as bound:
                look = loop.call_later(self._limits.silence, network.give_up_early, bound)
                try:
                    await loop.sock_connect(sock, address)
                finally:
                    look.cancel()
        except TimeoutError:
            waited = loop.time() - began
            _wait_for_late_answer(sock, limit - waited, attempt.on_late_answer)
            raise make_timeout_error(attempt, limit if waited >= limit else self._limits.silence) from None
        except BaseException:
            sock.close()
            raise
        network.quick += (loop.time() - began) * _SLOWER <= self._limits.silence
        return sock


def _network(address: str) -> str:
    """The network of an address as far as it matters here: /16 or /48."""
    return ":".join(address.split(":")[:3]) if ":" in address else ".".join(address.split(".")[:2])


def _wait_for_late_answer(sock: socket.socket, seconds: float, answered: Callable[[], None]) -> None:
    """Leave the kernel's attempt under way for ``seconds`` more, and tell when it is answered after all."""
    loop = asyncio.get_running_loop()

    def end() -> None:
        timer.cancel()
        loop.remove_writer(descriptor)
        sock.close()

    def look() -> None:
        is_connected = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        end()
        if is_connected:
            answered()

    descriptor = sock.fileno()
    timer = loop.call_later(max(seconds, 0), end)
    loop.add_writer(descriptor, look)


async def _run_proxy_command(attempt: ConnectionAttempt) -> socket.socket:
    """A socket to the user's own ProxyCommand, which is ended with the connection."""
    command = attempt.host.options.proxy_command or ()
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise

    def end() -> None:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)

    attempt.at_end.append(end)
    return ours
