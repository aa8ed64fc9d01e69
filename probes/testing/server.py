"""A scripted SSH server: many loopback addresses, one port, answers from a function.

Real SSH with real host keys, so that a plugin's probe (and the console's demo) can be tried without a cluster. Listens
in 127.0.0.0/8 and nowhere else: on a socket for each address, or, of thousands, on one socket that is tied to the
loopback device and answers at its own addresses only. Runs nothing: ``answer`` decides the output of a command.
"""

import asyncio
import contextlib
import re
import shlex
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Self

import asyncssh
from asyncssh.packet import SSHPacketLogger

LOOPBACK = IPv4Network("127.0.0.0/8")
_ANYWHERE = "0.0.0.0"  # noqa: S104 - only ever bound to the loopback device
# Preferred, not exclusive: cheapest first, because one core may have to greet thousands.
_CIPHERS = "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr,aes128-ctr"
_EXCHANGES = "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256"
_BACKLOG = 1024
_IGNORE = 2  # RFC 4253, 12
SEPARATE = 1000
"""From more addresses than this on, one socket listens for all: files are few, and one a login is enough."""
_OWN_WORDS = re.compile(r"(?P<named>(?:\w=\$\d ?)+); shift (?P<count>\d)")
_EVALUATES = 'eval "$q"'
_NEW_LINE = "'\"$N\"'"
_TERMINATED = 143
"""Exit status of a command that SIGTERM ended."""


class Manner(StrEnum):
    """How an address behaves before it comes to answering."""

    ANSWERS = "answers"
    REFUSES = "refuses the connection, or of thousands of addresses: resets it at once"
    SILENT = "accepts and never says a word"
    CHANGED_KEY = "shows another host key than is known"
    UNKNOWN_KEY = "shows a host key that is not known"
    NO_LOGIN = "refuses the login"


@dataclass(frozen=True, slots=True)
class Reply:
    """The output of a command and how it ends.

    With ``then`` it stays: that is awaited for the rest, and cancelled when the client hangs up.
    """

    stdout: bytes = b""
    stderr: bytes = b""
    exit_status: int = 0
    then: "Awaitable[Reply] | None" = None


Answer = Callable[[str, tuple[str, ...], bytes], Awaitable[Reply]]
"""``answer(address, argv, stdin)``: called for each command; cancelled when the client hangs up."""


@dataclass(frozen=True, slots=True)
class Request:
    """A command line taken apart. ``nonce`` is empty unless the console's watchdog surrounds it.

    ``last`` is the word that ends the output of a command on a kept shell.
    """

    argv: tuple[str, ...]
    nonce: str = ""
    fed: bool = False
    last: str = ""


def read_command(command: str) -> Request:
    """Take the watchdog off a command line, if one is there: ``sh -c TEXT benchconsole ITS WORDS ARGV``.

    The shape is that of ``probes.reach.watchdog``, which this module may not import. How many words
    are the watchdog's own, and which of them are which, is read from its TEXT.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return Request((command,))
    words = words[1:] if words[:1] == ["exec"] else words
    own = _OWN_WORDS.search(words[2]) if len(words) > 4 and words[1] == "-c" and words[3] == "benchconsole" else None
    if own is None or len(words) < 5 + int(own["count"]):
        return Request(tuple(words))
    place = {name: 3 + int(number) for name, number in re.findall(r"(\w)=\$(\d)", own["named"])}
    return Request(tuple(words[4 + int(own["count"]) :]), words[place["n"]], fed=words[place["i"]] != "0")


def opens_shell(command: str) -> bool:
    """Whether a command line opens the shell of ``probes.reach.kept_shell``, which is told its commands on stdin."""
    return _EVALUATES in command


def read_request(line: str) -> Request:
    """A line for a kept shell taken apart: ``request NONCE LAST LIMIT FED ARGV``, maybe after a setting of N."""
    told = line.partition("; ")[2] if line.startswith("N=") else line
    _, nonce, last, _, fed, *argv = shlex.split(told.replace(_NEW_LINE, "\n"))
    return Request(tuple(argv), nonce, fed == "1", last)


class _Session(asyncssh.SSHServerSession[bytes]):
    """One channel: lets its command be answered, or one after the other, and ends that when the client goes.

    Behaves as the watchdog does on a real node: says the nonce first, and takes the end of stdin for the order to stop.
    """

    def __init__(self, address: str, answer: Answer) -> None:
        self._address = address
        self._answer = answer
        self._request = Request(())
        self._is_shell = self._is_told = self._has_begun = False
        self._task: asyncio.Task[None] | None = None
        self._stdin = b""

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        self._channel = chan

    def exec_requested(self, command: str) -> bool:
        self._is_shell = opens_shell(command)
        if not self._is_shell:
            self._request, self._is_told = read_command(command), True
        return True

    def session_started(self) -> None:
        if self._is_told and not self._request.fed:
            self._begin(b"")

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        self._stdin += data
        while self._task is None and b"\n" in self._stdin:
            line, _, self._stdin = self._stdin.partition(b"\n")
            if self._is_told:
                # the watchdog prints the line by ``printf``, and nothing but octal escapes is in it
                self._begin(re.sub(rb"\\([0-7]{3})", lambda found: bytes((int(found[1], 8),)), line))
            else:
                self._request, self._is_told = read_request(line.decode()), True
                if not self._request.fed:
                    self._begin(b"")

    def eof_received(self) -> bool:
        if self._request.nonce or self._is_shell:
            self._stop(_TERMINATED)
        return True

    def signal_received(self, signal: str) -> None:
        self._stop(_TERMINATED)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop(None)

    def _begin(self, stdin: bytes) -> None:
        self._task = asyncio.get_running_loop().create_task(self._serve(stdin))

    def _stop(self, status: int | None) -> None:
        if self._task is not None:
            self._task.cancel()
        if status is not None:
            self._exit(status)

    def _exit(self, status: int) -> None:
        with contextlib.suppress(OSError):  # the client was quicker
            self._channel.exit(status)

    async def _serve(self, stdin: bytes) -> None:
        try:
            if nonce := self._request.nonce:
                # the watchdog's first line: the nonce, and the stat line of a process that never was
                pid = 1000 + zlib.crc32(nonce.encode()) % 30_000
                stat = f"{pid} (sh) S {pid - 1} {pid} {pid} 0 -1 4194560 110 0 0 0 0 0 0 0 20 0 1 0 {100 * pid}"
                # a kept shell says the nonce on stderr before its first command only
                noise = b"" if self._has_begun else f"{nonce}\n".encode()
                self._has_begun = True
                self._say(Reply(f"{nonce} {stat} 2658304 231\n".encode(), noise))
            reply = await self._answer(self._address, self._request.argv, stdin)
            self._say(reply)
            while reply.then is not None:
                reply = await reply.then
                self._say(reply)
        except BaseException:
            # Also when ``answer`` raises: the client sees a lost channel, asyncio reports the error.
            self._channel.close()
            raise
        if self._is_shell:
            self._wait_for_next(reply.exit_status)
        else:
            self._exit(reply.exit_status)

    def _wait_for_next(self, status: int) -> None:
        """Say that the command has ended; a kept shell reads the next line then."""
        last = self._request.last
        self._say(Reply(f"{last} {status}\n".encode(), f"{last}\n".encode()))
        self._task, self._is_told = None, False
        self.data_received(b"", None)

    def _say(self, reply: Reply) -> None:
        with contextlib.suppress(OSError):
            self._channel.write(reply.stdout)
            self._channel.write_stderr(reply.stderr)


@dataclass(eq=False)
class _Greeter(asyncssh.SSHServer):
    """One connection: knows at which address it was met, and hangs up where that is none of ours."""

    answer: Answer
    met: dict[asyncssh.SSHServerConnection, str]
    hosts: Mapping[str, Manner]

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self.met[conn] = address = str(conn.get_extra_info("sockname")[0])
        if address not in self.hosts:
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.met.pop(self._connection, None)

    def session_requested(self) -> _Session:
        return _Session(self.met[self._connection], self.answer)


class _Connection(asyncssh.SSHServerConnection):
    """A server connection that sends as sshd does.

    asyncssh puts an empty packet before each one, which the ciphers here do not need and every client has to read.
    """

    def send_packet(self, pkttype: int, *args: bytes, handler: SSHPacketLogger | None = None) -> None:
        """Send a packet, but no SSH_MSG_IGNORE (RFC 4251, 9.3.1)."""
        if pkttype != _IGNORE:
            super().send_packet(pkttype, *args, handler=handler)


@dataclass(eq=False)
class _Mute(asyncio.Protocol):
    """A connection that is accepted and never hears anything."""

    met: set[asyncio.BaseTransport]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.met.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.met.discard(self._transport)


class _Slam(asyncio.Protocol):
    """A connection that is reset as soon as it is there."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.close()


def _bind(addresses: Iterable[str], port: int, *, together: bool = False) -> dict[str, socket.socket]:
    """A bound socket for every address, all on one port; with port 0 on one that is free everywhere.

    ``together``: more than one of them may listen for the same address, the closest counts.
    """
    wanted = list(addresses)
    for attempts_left in reversed(range(20)):
        bound: dict[str, socket.socket] = {}
        number = port
        try:
            for address in wanted:
                bound[address] = made = socket.socket()
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if together else socket.SO_REUSEADDR, 1)
                if address == _ANYWHERE:
                    made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
                made.bind((address, number))
                number = made.getsockname()[1]
            return bound
        except OSError:
            for made in bound.values():
                made.close()
            if port or not attempts_left:
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _quoted(path: Path) -> str:
    """A path as ssh_config(5) takes it, whatever it holds."""
    return '"{}"'.format(str(path.absolute()).replace("%", "%%"))


class ScriptedSshd:
    """Serves inside ``async with``; ``directory`` then holds all that a client needs.

    ``id_ed25519`` (the key that may log in), ``known_hosts`` and ``ssh_config``; ``port`` is the one port of all
    addresses, ``sockets`` are what is bound to it. ``hosts`` are addresses, or addresses with their manner.
    """

    def __init__(
        self, answer: Answer, hosts: Mapping[str, Manner] | Iterable[str], directory: Path, *, port: int = 0
    ) -> None:
        self.hosts = dict(hosts) if isinstance(hosts, Mapping) else dict.fromkeys(hosts, Manner.ANSWERS)
        for address in self.hosts:
            if IPv4Address(address) not in LOOPBACK:
                raise ValueError(f"found {address}, expected an address of the loopback, {LOOPBACK}")
        self.directory = directory
        self.port = port
        self._answer = answer
        self._met: dict[asyncssh.SSHServerConnection, str] = {}
        self._mute: set[asyncio.BaseTransport] = set()
        self.sockets: tuple[socket.socket, ...] = ()
        self._open = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        wide = len(self.hosts) > SEPARATE
        odd = {address: manner for address, manner in self.hosts.items() if manner is not Manner.ANSWERS}
        doors = {_ANYWHERE: Manner.ANSWERS, **odd} if wide else self.hosts
        sockets = _bind(doors, self.port, together=wide)
        self.sockets = tuple(sockets.values())
        self.port = next(iter(sockets.values())).getsockname()[1]
        host_key, other_key, client_key, stranger = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(4))
        self._write(host_key, client_key)
        usual = self._options(host_key, client_key)
        options = {
            Manner.CHANGED_KEY: self._options(other_key, client_key),
            Manner.NO_LOGIN: self._options(host_key, stranger),
        }
        loop = asyncio.get_running_loop()
        async with contextlib.AsyncExitStack() as opened:
            for made in sockets.values():
                opened.callback(made.close)
            for address, manner in doors.items():
                made, chosen = sockets[address], options.get(manner, usual)
                if manner is Manner.SILENT or (wide and manner is Manner.REFUSES):
                    meet = _Slam if manner is Manner.REFUSES else lambda: _Mute(self._mute)
                    server = await loop.create_server(meet, sock=made, backlog=_BACKLOG)
                    opened.callback(server.close)
                elif manner is not Manner.REFUSES:  # bound and not listening: the kernel refuses for us
                    server = await loop.create_server(partial(_Connection, loop, chosen), sock=made, backlog=_BACKLOG)
                    opened.callback(server.close)
            self._open = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()
        for transport in list(self._mute):
            transport.close()
        self.hang_up()

    def hang_up(self, address: str | None = None) -> None:
        """Cut the connections of ``address``, or all, without a goodbye."""
        for connection, met_at in list(self._met.items()):
            if address in (None, met_at):
                connection.abort()

    def _options(self, host_key: asyncssh.SSHKey, client_key: asyncssh.SSHKey) -> asyncssh.SSHServerConnectionOptions:
        allowed = asyncssh.import_authorized_keys(client_key.export_public_key().decode())
        return asyncssh.SSHServerConnectionOptions(
            server_factory=lambda: _Greeter(self._answer, self._met, self.hosts),
            server_host_keys=[host_key],
            authorized_client_keys=allowed,
            encryption_algs=_CIPHERS,
            kex_algs=_EXCHANGES,
            compression_algs=None,
            gss_host=None,
            allow_pty=False,
            agent_forwarding=False,
            encoding=None,
        )

    def _write(self, host_key: asyncssh.SSHKey, client_key: asyncssh.SSHKey) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        identity = self.directory / "id_ed25519"
        identity.unlink(missing_ok=True)
        identity.touch(mode=0o600)
        identity.write_bytes(client_key.export_private_key())
        client_key.write_public_key(str(identity.with_suffix(".pub")))
        shown = host_key.export_public_key().decode().split()
        known = (address for address, manner in self.hosts.items() if manner is not Manner.UNKNOWN_KEY)
        lines = "".join(f"[{address}]:{self.port} {shown[0]} {shown[1]}\n" for address in known)
        (self.directory / "known_hosts").write_text(lines)
        settings = {
            "User": "bench",
            "Port": self.port,
            "IdentityFile": _quoted(identity),
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": _quoted(self.directory / "known_hosts"),
            "StrictHostKeyChecking": "yes",
        }
        text = "".join(f"    {name} {value}\n" for name, value in settings.items())
        (self.directory / "ssh_config").write_text(f"Host *\n{text}")
