"""The shell that is kept open on a connection, and the short commands that it runs one after the other.

A command that ends by itself leaves its shell to the next one. Whatever else ends it (time, a flood, somebody who gives
up) ends the shell with it, in the way of a command in a channel of its own; so does a byte that comes when no command
runs, for a process that escaped still holds the shell's output and would mix its words into those of another command.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import asyncssh

from benchconsole.probes.reach.kept_shell import REUSED_FOR
from benchconsole.probes.reach.watchdog import NOT_ENDED, WrappedCommand
from benchconsole.probes.reach.watched_command import CommandChannel, OutputStream, SessionOutput


class KeptShell(asyncssh.SSHClientSession[bytes]):
    """One shell, with the methods that asyncssh calls, and the command that it runs at the moment.

    It may say something, or end, before it is told its first command; that is kept for this one.
    """

    def __init__(self) -> None:
        self.is_fresh = True
        self.is_closed = False
        self._command: CommandChannel | None = None
        self._early: list[tuple[bytes, int | None]] = []
        self._exit: tuple[int | None, str | None] | None = None
        self._reused_until = asyncio.get_running_loop().time() + REUSED_FOR
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None

    @property
    def channel(self) -> "asyncssh.SSHClientChannel[bytes]":
        if self._channel is None:
            raise RuntimeError("a shell is handed out when its channel is open")
        return self._channel

    @property
    def is_young(self) -> bool:
        """Whether it may be told one more command."""
        is_there = self._exit is None and not self.is_closed
        return is_there and asyncio.get_running_loop().time() < self._reused_until

    def tell(self, command: CommandChannel, line: bytes) -> None:
        """Let it run ``command``, which is ``line``."""
        self._command = command
        for data, datatype in self._early:
            self.data_received(data, datatype)
        self._early.clear()
        if self._exit is not None:
            command.note_exit(*self._exit)
        if self.is_closed:
            command.note_close()
        elif self._exit is None:
            with suppress(OSError):  # its end is on its way
                self.channel.write(line)
        self.is_fresh = False

    def forget(self) -> None:
        """Its command is over."""
        self._command = None

    def connection_made(self, chan: "asyncssh.SSHClientChannel[bytes]") -> None:
        self._channel = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        command = self._command
        if command is None and self.is_fresh:
            self._early.append((data, datatype))
        elif command is None or command.closed:
            self.close()
        else:
            stream = command.out if datatype is None else command.err
            command.take_in(stream, data)
            if stream.is_cut:
                self.channel.pause_reading()

    def eof_received(self) -> bool:
        """Called at the end of output; our end stays open, for it holds the shell still."""
        return True

    def exit_status_received(self, status: int) -> None:
        self._note_exit(status, None)

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:
        self._note_exit(None, signal)

    def _note_exit(self, status: int | None, signal: str | None) -> None:
        self._exit = status, signal
        if self._command is not None and not self._command.closed:
            self._command.note_exit(status, signal)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        if self._command is not None and not self._command.closed:
            self._command.note_close()

    def close(self) -> None:
        """Let it go: it ends with its stdin."""
        self.is_closed = True
        self.channel.abort()


class ShellChannel(CommandChannel):
    """The way to one command on a kept shell. ``leave`` is given the shell when the command has ended by itself."""

    def __init__(
        self,
        shell: KeptShell,
        wrapped: WrappedCommand,
        bound: int,
        together: SessionOutput,
        leave: Callable[[KeptShell], None],
    ) -> None:
        super().__init__(wrapped, bound, together)
        self._shell = shell
        self._leave = leave
        self._is_over = False
        if not shell.is_fresh:
            self.err.first_line = b""  # there the shell says only once that a command begins
        shell.tell(self, wrapped.write_text().encode() + wrapped.feed)

    def take_in(self, stream: OutputStream, data: bytes) -> None:
        super().take_in(stream, data)
        last = self.out.last_line
        if last is not None and self.err.last_line is not None and not self.has_exited:
            self.status = int(last) if last.strip().isdigit() else NOT_ENDED
            self.ended_at = asyncio.get_running_loop().time()
            self.note_close()

    def write(self, line: bytes) -> None:
        self._shell.channel.write(line)

    def close_stdin(self) -> None:
        self._shell.channel.write_eof()

    def abort(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._shell.forget()
        ended_by_itself = self.status is not None and not self.was_ordered_to_end
        if ended_by_itself and not (self.out.has_more or self.err.has_more):
            self._leave(self._shell)
        else:
            self._shell.close()
