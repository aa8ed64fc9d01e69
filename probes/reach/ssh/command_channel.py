"""One channel while its command runs: the command's output within bounds, and how the command ended.

Bytes only; the reader decodes them. When a stream passes its bound nothing more is read from the channel, so the
node's sender stands still and the other commands on the connection do not notice. Output before the command has
started is passed to ``PromptListener`` alone (``probes.reach.ssh.sudo`` answers a prompt that way).
"""

import asyncio
from typing import Protocol, cast

import asyncssh

_WINDOW = 256 * 1024
"""What a node may send ahead of us on one channel."""
_LONGEST_FIRST_LINE = 4096
_CLOSING_PATIENCE = 2.0
"""Seconds that a channel may stay open after its command has exited."""


class OutputStream:
    """One output stream. Everything up to the watchdog's first line is noise of login scripts."""

    def __init__(self, nonce: bytes, bound: int) -> None:
        self._nonce = nonce
        self._bound = bound
        self._raw = bytearray()
        self.first_line: bytes | None = None
        self.is_cut = False

    def add(self, data: bytes) -> None:
        """Take in what was received."""
        self._raw += data
        if self.first_line is None:
            self._look_for_first_line()
        if self.first_line is not None and len(self._raw) > self._bound:
            del self._raw[self._bound :]
            self.is_cut = True

    def _look_for_first_line(self) -> None:
        at = self._raw.find(self._nonce)
        end = self._raw.find(b"\n", at) if at >= 0 else -1
        if end >= 0:
            self.first_line = bytes(self._raw[at + len(self._nonce) : end])
            del self._raw[: end + 1]
        elif len(self._raw) > self._bound:
            del self._raw[:-_LONGEST_FIRST_LINE]

    def contains(self, text: bytes) -> bool:
        """Whether ``text`` was said."""
        return self.first_line is not None and text in self._raw

    @property
    def content(self) -> bytes:
        """What the command said; empty as long as it has not started."""
        return bytes(self._raw) if self.first_line is not None else b""

    @property
    def preamble(self) -> bytes:
        """What was said although no command has started."""
        return bytes(self._raw) if self.first_line is None else b""


class PromptListener(Protocol):
    """Hears what is said on stderr before the command has started, and may answer on the channel."""

    def on_stderr(self, noise: bytes, channel: "asyncssh.SSHClientChannel[bytes]") -> None:
        """Everything so far; called at each addition."""


class CommandChannel(asyncssh.SSHClientSession[bytes]):
    """What one channel says. ``changed`` is set at everything that happens; waiters clear it."""

    def __init__(self, nonce: bytes, bound: int, listener: PromptListener | None = None) -> None:
        self._listener = listener
        self._over = asyncio.Event()
        self._patience: asyncio.TimerHandle | None = None
        self.out = OutputStream(nonce, bound)
        self.err = OutputStream(nonce, bound)
        self.status: int | None = None
        self.signal: str | None = None
        self.closed = False
        self.was_ordered_to_end = False
        self.changed = asyncio.Event()
        self.started_at = self.ended_at = asyncio.get_running_loop().time()
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None

    @staticmethod
    async def begin(
        connection: asyncssh.SSHClientConnection,
        command: str,
        nonce: bytes,
        bound: int,
        listener: PromptListener | None = None,
    ) -> "CommandChannel":
        """Open a channel, have ``command`` run on it, and listen."""
        _, session = await connection.create_session(
            lambda: CommandChannel(nonce, bound, listener), command, encoding=None, request_pty=False, window=_WINDOW
        )
        return cast(CommandChannel, session)

    @property
    def ssh_channel(self) -> "asyncssh.SSHClientChannel[bytes]":
        """The channel that this is said on."""
        if self._channel is None:
            raise RuntimeError("a session is handed out when its channel is open")
        return self._channel

    @property
    def has_exited(self) -> bool:
        """Whether the wrapper has reported its end, which it does when nothing of it runs on."""
        return self.status is not None or self.signal is not None

    @property
    def is_flooded(self) -> bool:
        """Whether a stream passed its bound."""
        return self.out.is_cut or self.err.is_cut

    @property
    def seconds(self) -> float:
        """How long the command has been or was running."""
        now = self.ended_at if self.has_exited or self.closed else asyncio.get_running_loop().time()
        return max(now - self.started_at, 0.0)

    def connection_made(self, chan: "asyncssh.SSHClientChannel[bytes]") -> None:
        """Called by asyncssh when the channel is open."""
        self._channel = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Called by asyncssh with each packet."""
        stream = self.out if datatype is None else self.err
        awaited = self.out.first_line is None
        if not stream.is_cut:
            stream.add(data)
        if awaited and self.out.first_line is not None:
            self.started_at = asyncio.get_running_loop().time()  # login scripts are not part of the command
        if stream.is_cut:
            self.ssh_channel.pause_reading()
            self._over.set()
        elif self._listener is not None and stream.first_line is None and stream is self.err:
            self._listener.on_stderr(stream.preamble, self.ssh_channel)
        self.changed.set()

    def eof_received(self) -> bool:
        """Called by asyncssh at the end of output; our end stays open, for it holds the watchdog still."""
        return True

    def exit_status_received(self, status: int) -> None:
        """Called by asyncssh when the wrapper has exited."""
        self.status = status
        self._exited()

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:
        """Called by asyncssh when the wrapper was killed."""
        self.signal = signal
        self._exited()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncssh when the channel is closed."""
        self.closed = True
        if not self.has_exited:
            self.ended_at = asyncio.get_running_loop().time()
        if self._patience is not None:
            self._patience.cancel()
        self._over.set()
        self.changed.set()

    def _exited(self) -> None:
        """What is left to be said follows at once, unless something that we could not find holds stdout open."""
        loop = asyncio.get_running_loop()
        self.ended_at = loop.time()
        self._patience = loop.call_later(_CLOSING_PATIENCE, self._over.set)
        self.changed.set()

    async def wait_for_end(self) -> None:
        """Wait until the channel is closed or flooded, or should have been closed long since."""
        await self._over.wait()

    async def end(self, within: float) -> bool:
        """Order the watchdog to end the command. False when its word that it did has not come in time."""
        if not (self.has_exited or self.closed):
            self.was_ordered_to_end = True
            self.ssh_channel.write_eof()
            try:
                async with asyncio.timeout(within):
                    while not (self.has_exited or self.closed):
                        self.changed.clear()
                        await self.changed.wait()
            except TimeoutError:
                pass
        self.ssh_channel.abort()
        return self.has_exited
