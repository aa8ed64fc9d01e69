"""One command on a node: its start on a channel of a connection, and its result.

A command that a node refuses because it runs enough already is sent again. A start that is given up leaves no open
channel behind. A command without an exit status, or one that somebody else killed, is a failure whatever it printed.
"""

import asyncio
import secrets
import signal
from functools import partial

import asyncssh

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Output
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.command_channel import CommandChannel, PromptListener
from benchconsole.probes.reach.ssh.connection import SshConnection
from benchconsole.probes.reach.ssh.watchdog import NOT_ENDED, WrappedCommand, parse_first_line

_LOG = ModuleLog(__name__)
_REFUSALS = 20
_REFUSAL_PAUSE = 0.05
_CLOSING_PATIENCE = 2.0


class _RefusedError(Exception):
    """The node runs as many commands on the connection as it allows."""


def make_nonce() -> str:
    """A word that no login script says."""
    return secrets.token_hex(12)


async def start_command(
    link: SshConnection, wrapped: WrappedCommand, listener: PromptListener | None
) -> CommandChannel:
    """The command, sent, in a slot of the connection that ``SshCommand.end`` gives back."""
    refused = 0
    while True:
        await link.take_slot()
        try:
            async with link.start():
                return await _begin(link, wrapped, listener)
        except BaseException as error:
            link.give_slot_back()
            if not isinstance(error, _RefusedError):
                raise
            if link.channels:
                link.slots.shrink(len(link.channels))
            else:  # it may still be busy with closing the last one
                refused += 1
            if refused > _REFUSALS:
                raise RemoteError(link.failure(FailedAt.LOST, str(error))) from error
            _LOG.debug(link.node, "retry in %g s: %s", _REFUSAL_PAUSE, error)
        await asyncio.sleep(_REFUSAL_PAUSE)


async def _begin(link: SshConnection, wrapped: WrappedCommand, listener: PromptListener | None) -> CommandChannel:
    """Send the command, in a task of its own: nobody who gives up waiting may leave a half-open channel."""
    opening = asyncio.get_running_loop().create_task(_open(link, wrapped, listener))
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


async def _open(link: SshConnection, wrapped: WrappedCommand, listener: PromptListener | None) -> CommandChannel:
    if link.lost is not None or link.is_closing:
        raise RemoteError(link.make_lost_failure())
    try:
        channel = await CommandChannel.begin(link.client, wrapped.text, wrapped.nonce, link.limits.output, listener)
    except asyncssh.ChannelOpenError as error:
        if link.lost is None and not link.client.is_closed():
            raise _RefusedError(f"the node refused to start a command: {error.reason}") from error
        raise RemoteError(link.make_lost_failure()) from error
    except (asyncssh.Error, OSError) as error:
        raise RemoteError(link.failure(FailedAt.LOST, link.lost or str(error))) from error
    link.channels.add(channel)
    if wrapped.feed and listener is None:
        channel.ssh_channel.write(wrapped.feed)
    return channel


def _drop(link: SshConnection, opening: "asyncio.Task[CommandChannel]") -> None:
    """Nobody waits for this command any more. Its watchdog takes the end of stdin for an order to end."""
    if not opening.cancelled() and opening.exception() is None:
        link.channels.discard(opening.result())
        opening.result().ssh_channel.write_eof()


_TIMEOUT_STATUS = (124, 137)
_COMMAND_NOT_FOUND = 127
_LONGEST_REASON = 300
_SECOND_LOOK = 0.05
_FROM_OUTSIDE = ("KILL", "TERM", "HUP", "INT", "QUIT", "XCPU", "STOP")
"""Signals that somebody sends; others (SEGV, ABRT, PIPE) are a program's own end."""


class SshCommand:
    """One command under way."""

    def __init__(
        self,
        link: SshConnection,
        argv: tuple[str, ...],
        wrapped: WrappedCommand,
        channel: CommandChannel,
        *,
        is_elevated: bool = False,
    ) -> None:
        self.link = link
        self.is_elevated = is_elevated
        self.channel = channel
        self.timed_out: float | None = None
        self.explanation: RemoteError | None = None
        self._argv = argv
        self._wrapped = wrapped
        self._proven = True
        self._is_over = False

    async def check_for_late_end(self) -> bool:
        """Read what has come in meanwhile: if this process was stopped, the time is over but the answer is there."""
        try:
            async with asyncio.timeout(_SECOND_LOOK):
                await self.channel.wait_for_end()
        except TimeoutError:
            return self.channel.has_exited
        return True

    async def end(self) -> None:
        """End the command if it has not ended, and give its slot back."""
        try:
            self._proven = await self.channel.end(self.link.limits.ending) and self.channel.status != NOT_ENDED
        finally:
            if not self._is_over:
                self._is_over = True
                self.link.channels.discard(self.channel)
                self.link.give_slot_back()
        if self.channel.out.first_line is not None and not self.link.has_started_command and not self.is_elevated:
            self.link.learn(parse_first_line(self.channel.out.first_line))

    @property
    def was_cut_off(self) -> bool:
        """Whether the connection was lost, without our doing, before the command had ended."""
        channel = self.channel
        return (
            not channel.has_exited
            and not channel.is_flooded
            and self.timed_out is None
            and self.link.lost is not None
            and not self.link.is_closing
        )

    def lost(self) -> RemoteError:
        """The connection went away."""
        return RemoteError(self.link.make_lost_failure(), self.output())

    def result(self) -> Output:
        """What the command left behind, or RemoteError when it was not brought to its own end."""
        channel = self.channel
        if self.timed_out is not None:
            raise self.error(FailedAt.TIMEOUT, f"no end within {self.timed_out:g} s")
        if channel.is_flooded:
            bound = self.link.limits.output / 1024**2
            raise self.error(FailedAt.FLOODED, f"more than {bound:g} MiB of output")
        if self.explanation is not None:
            raise self.explanation
        if not channel.has_exited or channel.was_ordered_to_end:
            raise self._unfinished()
        if channel.out.first_line is None:
            words = (channel.out.preamble or channel.err.preamble).decode(errors="replace").strip()
            status = channel.signal or f"exit status {channel.status}"
            raise self.error(FailedAt.LOGIN, f"the login shell did not run the command ({status}): {_line(words)}")
        if channel.status is None:
            raise self.error(FailedAt.KILLED, f"the watchdog of the command was killed by SIG{channel.signal}")
        if channel.status in _TIMEOUT_STATUS and channel.seconds >= self._wrapped.limit:
            raise self.error(FailedAt.TIMEOUT, f"ended by the node after {self._wrapped.limit:g} s")
        output = self.output()
        if output.signal in _FROM_OUTSIDE:
            why = " (the kernel does so when memory runs out)" if output.signal == "KILL" else ""
            raise self.error(FailedAt.KILLED, f"{self._argv[0]} was killed by SIG{output.signal}, not by us{why}")
        return output

    def explain_early_end(self, awaited: str) -> RemoteError:
        """Why a running command will not say what was awaited."""
        try:
            output = self.result()
        except RemoteError as error:
            return error
        said = output.error_text.strip() or output.text.strip()
        if output.exit_status == _COMMAND_NOT_FOUND:
            return self.error(FailedAt.MISSING_TOOL, _line(said) or f"{self._argv[0]} not found")
        detail = f"ended with status {output.exit_status} before it said {awaited!r}: {_line(said) or 'no output'}"
        return self.error(FailedAt.TOOL, detail)

    def error(self, stage: FailedAt, detail: str) -> RemoteError:
        """A failure with the output so far; it says so when the command may still run on the node."""
        if not self._proven:
            leader = parse_first_line(self.channel.out.first_line or b"")
            number = f" (process {leader.pid} there)" if leader else ""
            detail = f"{detail}; the node did not confirm that the command was ended{number}"
        return RemoteError(self.link.failure(stage, detail), self.output())

    def output(self) -> Output:
        """Everything so far."""
        channel = self.channel
        return Output(
            self._argv,
            stdout=channel.out.content,
            stderr=channel.err.content,
            exit_status=channel.status,
            signal=channel.signal or _signal_name(channel.status),
            seconds=channel.seconds,
            truncated=channel.is_flooded,
            node=self.link.node,
        )

    def _unfinished(self) -> RemoteError:
        if self.link.lost is not None or self.link.is_closing or self.channel.was_ordered_to_end:
            return self.lost()
        detail = "the node closed the channel without an exit status (against the protocol)"
        return RemoteError(self.link.failure(FailedAt.LOST, detail), self.output())


def _line(text: str) -> str:
    return text.splitlines()[0][:_LONGEST_REASON] if text else ""


def _signal_name(status: int | None) -> str | None:
    """A shell's 128+n in words: ``SEGV``. Status alone cannot tell it from an exit with that number."""
    if status is None or not 128 < status < 160:
        return None
    try:
        return signal.Signals(status - 128).name.removeprefix("SIG")
    except ValueError:
        return None
