"""One command on a node over SSH: its start on a channel of a connection, and its end.

A command that a node refuses because it runs enough already is sent again. A start that is given up leaves no open
channel behind. When a stream passes its bound nothing more is read from the channel, so the node's sender stands still
and the other commands on the connection do not notice. Output before the command has started is for ``SudoPrompt``.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import asyncssh

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.model.secret import Secret
from benchconsole.probes.reach.kept_shell import open_shell
from benchconsole.probes.reach.ssh.connection import SshConnection
from benchconsole.probes.reach.ssh.kept_shell import KeptShell, ShellChannel
from benchconsole.probes.reach.ssh.late_event import replace_close_event
from benchconsole.probes.reach.watchdog import WrappedCommand, parse_first_line
from benchconsole.probes.reach.watched_command import CommandChannel, SessionOutput, WatchedCommand

Explain = Callable[[SshConnection, RemoteError], Awaitable[RemoteError]]
"""Says what became of a node whose connection was lost while a command ran."""

_ENV = ("env", "LC_ALL=C")
"""Messages of sudo are read here, so they are in one language."""
_ANNOUNCE = ("/bin/sh", "-c", 'echo "$0" >&2; exec "$@"')
_LOG = ModuleLog(__name__)
_REFUSALS = 20
_REFUSAL_PAUSE = 0.05
_CLOSING_PATIENCE = 2.0
_WINDOW = 256 * 1024
"""Bytes that a node may send ahead of us on one channel."""


@dataclass(slots=True)
class SudoPrompt:
    """The dialogue with sudo for one command. Without a ``secret`` sudo may not ask."""

    secret: Secret | None = None
    decided: Callable[[bool], None] = lambda _: None
    feed: bytes = b""
    mark: str = field(default_factory=lambda: secrets.token_hex(12))
    answered: bool = False
    refused: bool = False
    started: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        how = ("-n",) if self.secret is None else ("-S", "-p", f"{self.mark}?")
        return (*_ENV, "sudo", *how, "--", *_ANNOUNCE, f"{self.mark}:")

    def on_stderr(self, noise: bytes, channel: "asyncssh.SSHClientChannel[bytes]") -> None:
        """Answer sudo once; pass the command's own input on when it has started."""
        if not self.started and f"{self.mark}:".encode() in noise:
            self.started = True
            if self.answered:
                self.decided(True)
            if self.feed:
                channel.write(self.feed)
        elif self.secret is not None and not self.refused:
            asked = noise.count(f"{self.mark}?".encode())
            if asked and not self.answered:
                self.answered = True
                channel.write(self.secret.line())
            elif asked > 1:
                self.refused = True
                self.decided(False)
                channel.write_eof()


class SshChannel(CommandChannel, asyncssh.SSHClientSession[bytes]):
    """A channel of a connection, with the methods that asyncssh calls."""

    def __init__(
        self, wrapped: WrappedCommand, bound: int, together: SessionOutput, prompt: SudoPrompt | None = None
    ) -> None:
        super().__init__(wrapped, bound, together)
        self._prompt = prompt
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None

    @property
    def ssh_channel(self) -> "asyncssh.SSHClientChannel[bytes]":
        if self._channel is None:
            raise RuntimeError("a session is handed out when its channel is open")
        return self._channel

    def connection_made(self, chan: "asyncssh.SSHClientChannel[bytes]") -> None:
        self._channel = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        stream = self.out if datatype is None else self.err
        self.take_in(stream, data)
        if stream.is_cut:
            self.ssh_channel.pause_reading()
        elif self._prompt is not None and stream.first_line is None and stream is self.err:
            self._prompt.on_stderr(stream.preamble, self.ssh_channel)

    def eof_received(self) -> bool:
        """Called at the end of output; our end stays open, for it holds the watchdog still."""
        return True

    def exit_status_received(self, status: int) -> None:
        self.note_exit(status)

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:
        self.note_exit(None, signal)

    def connection_lost(self, exc: Exception | None) -> None:
        self.note_close()

    def write(self, line: bytes) -> None:
        self.ssh_channel.write(line)

    def close_stdin(self) -> None:
        self.ssh_channel.write_eof()

    def abort(self) -> None:
        self.ssh_channel.abort()


async def _open_channel(link: SshConnection, wrapped: WrappedCommand, prompt: SudoPrompt | None) -> CommandChannel:
    """The command in a channel of its own, or on a shell that is opened for it and kept."""
    if wrapped.last:
        return _tell_shell(link, cast(KeptShell, await _create(link, KeptShell, open_shell(link.session))), wrapped)
    make = partial(SshChannel, wrapped, link.limits.output, link.shared.output, prompt)
    channel = cast(SshChannel, await _create(link, make, wrapped.write_text()))
    if wrapped.feed and prompt is None:
        channel.write(wrapped.feed)
    return channel


async def _create(
    link: SshConnection, make: "Callable[[], asyncssh.SSHClientSession[bytes]]", text: str
) -> "asyncssh.SSHClientSession[bytes]":
    channel, session = await link.client.create_session(make, text, encoding=None, request_pty=False, window=_WINDOW)
    replace_close_event(channel)
    return session


def _tell_shell(link: SshConnection, shell: KeptShell, wrapped: WrappedCommand) -> ShellChannel:
    return ShellChannel(shell, wrapped, link.limits.output, link.shared.output, link.leave_shell)


class _RefusedError(Exception):
    """The node runs as many commands on the connection as it allows."""


async def start_command(link: SshConnection, wrapped: WrappedCommand, prompt: SudoPrompt | None) -> CommandChannel:
    """The command, sent, in a slot of the connection that ``SshCommand.end`` gives back."""
    refused = 0
    while True:
        await link.take_slot()
        try:
            if wrapped.last and (shell := link.take_shell()) is not None:
                link.channels.add(channel := _tell_shell(link, shell, wrapped))
                return channel
            async with link.shared.starts.turn():
                return await _begin(link, wrapped, prompt)
        except BaseException as error:
            link.give_slot_back()
            if not isinstance(error, _RefusedError):
                raise
            if link.has_shell:
                link.close_shell()
            elif link.channels:
                link.slots.shrink(len(link.channels))
            else:  # it may still be busy with closing the last one
                refused += 1
            if refused > _REFUSALS:
                raise RemoteError(link.failure(FailedAt.LOST, str(error))) from error
            _LOG.debug(link.node, "retry in %g s: %s", _REFUSAL_PAUSE, error)
        await asyncio.sleep(_REFUSAL_PAUSE)


async def _begin(link: SshConnection, wrapped: WrappedCommand, prompt: SudoPrompt | None) -> CommandChannel:
    """Send the command, in a task of its own: nobody who gives up waiting may leave a half-open channel."""
    opening = asyncio.get_running_loop().create_task(_open(link, wrapped, prompt))
    try:
        await asyncio.wait((opening,), timeout=link.limits.login)
    except asyncio.CancelledError:
        opening.add_done_callback(partial(_drop, link))
        await asyncio.wait((opening,), timeout=_CLOSING_PATIENCE)
        if opening.done() and not opening.cancelled() and opening.exception() is None:
            await opening.result().end(link.limits.ending)
        raise
    if not opening.done():
        opening.add_done_callback(partial(_drop, link))
        detail = f"the node did not start a command within {link.limits.login:g} s"
        raise RemoteError(link.failure(FailedAt.LOST, detail))
    return opening.result()


async def _open(link: SshConnection, wrapped: WrappedCommand, prompt: SudoPrompt | None) -> CommandChannel:
    if not link.is_alive:
        raise RemoteError(link.make_lost_failure())
    try:
        channel = await _open_channel(link, wrapped, prompt)
    except asyncssh.ChannelOpenError as error:
        if link.lost is None and not link.client.is_closed():
            raise _RefusedError(f"the node refused to start a command: {error.reason}") from error
        raise RemoteError(link.make_lost_failure()) from error
    except (asyncssh.Error, OSError) as error:
        raise RemoteError(link.failure(FailedAt.LOST, link.lost or str(error))) from error
    link.channels.add(channel)
    return channel


def _drop(link: SshConnection, opening: "asyncio.Task[CommandChannel]") -> None:
    """Nobody waits for this command any more. Its watchdog takes the end of stdin for an order to end."""
    if not opening.cancelled() and opening.exception() is None:
        link.channels.discard(opening.result())
        opening.result().close_stdin()


class SshCommand(WatchedCommand):
    """One command under way, in a slot of its connection."""

    refused_by = (FailedAt.LOGIN, "the login shell")

    def __init__(
        self,
        link: SshConnection,
        argv: Sequence[str],
        wrapped: WrappedCommand,
        channel: CommandChannel,
        explain: Explain,
        *,
        is_elevated: bool = False,
    ) -> None:
        super().__init__(link.node, argv, wrapped, channel, ending=link.limits.ending)
        self.link = link
        self._explain = explain
        self._is_elevated = is_elevated
        self._explanation: RemoteError | None = None
        self._is_over = False

    async def end(self) -> None:
        try:
            await super().end()
        finally:
            if not self._is_over:
                self._is_over = True
                self.link.channels.discard(self.channel)
                self.link.give_slot_back()
        if self.channel.out.first_line is not None and not self.link.has_started_command and not self._is_elevated:
            self.link.learn(parse_first_line(self.channel.out.first_line))

    async def learn_loss(self) -> None:
        """Ask once what became of the node where its connection was lost, without our doing, before the end."""
        was_ended = self.channel.has_exited or self.channel.is_flooded or self.timed_out is not None
        was_lost = self.link.lost is not None and not self.link.is_closing
        if was_lost and not was_ended and self._explanation is None:
            self._explanation = await self._explain(self.link, self.explain_loss())

    def explain_loss(self) -> RemoteError:
        """Why the connection went away, or the channel."""
        if self._explanation is not None:
            return self._explanation
        if self.link.lost is not None or self.link.is_closing or self.channel.was_ordered_to_end:
            return RemoteError(self.link.make_lost_failure(), self.make_output())
        detail = "the node closed the channel without an exit status (against the protocol)"
        return RemoteError(self.link.failure(FailedAt.LOST, detail), self.make_output())
