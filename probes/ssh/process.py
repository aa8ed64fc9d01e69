"""Owns the running of commands over one connection: under the watchdog, one channel each, to a sure end.

Implements ``Remote`` and ``Running``. However a call ends (answer, time over, flood, cancellation),
the command on the node has been ended by then, or the failure says that it could not be.
"""

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import asyncssh

from probes.model import FailedAt, Output
from probes.remote import RemoteError, Running
from probes.ssh.lanes import Lanes
from probes.ssh.link import Link
from probes.ssh.speech import Speech
from probes.ssh.watchdog import NOT_ENDED, STDIN_LIMIT, Wrapped, started, wrap
from topology.model import NodeId

_TIMEOUT_STATUS = (124, 137)
_COMMAND_NOT_FOUND = 127
_LONGEST_REASON = 300
_REFUSALS = 20
_REFUSAL_PAUSE = 0.05
_SECOND_LOOK = 0.05
_CLOSING_PATIENCE = 2.0
"""Seconds that a channel may stay open after its command has exited."""


class SshRemote:
    """A node reached over one connection, or several while one does not hold all its commands."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    @property
    def node(self) -> NodeId:
        """The node's name."""
        return self._lanes.first.node

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        """Run ``argv`` to its end; see ``probes.remote.Remote``."""
        if len(stdin) > STDIN_LIMIT:
            raise ValueError(f"stdin of {len(stdin)} bytes; at most {STDIN_LIMIT} can be passed to a command")
        link = await self._lanes.pick()
        wrapped = wrap(argv, session=link.session, nonce=_nonce(), timeout=timeout, stdin=stdin)
        async with _begun(link, wrapped) as speech:
            call = _Call(link, tuple(argv), wrapped, speech)
            try:
                async with asyncio.timeout(timeout):
                    await speech.until_over(_CLOSING_PATIENCE)
            except TimeoutError:
                if not await call.has_ended_after_all():
                    call.timed_out = timeout
            finally:
                await call.end()
            return call.result()

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator[Running]:
        """Start ``argv`` and leave it running inside the context; see ``probes.remote.Remote``."""
        link = await self._lanes.pick()
        wrapped = wrap(argv, session=link.session, nonce=_nonce(), timeout=timeout)
        async with _begun(link, wrapped) as speech:
            call = _Call(link, tuple(argv), wrapped, speech)
            watch = asyncio.create_task(_limit(call, timeout))
            try:
                yield SshRunning(call)
            finally:
                watch.cancel()
                await call.end()


class SshRunning:
    """A command that goes on while others run."""

    def __init__(self, call: "_Call") -> None:
        self._call = call

    async def says(self, text: str, *, timeout: float) -> None:
        """Wait until its output holds ``text``; RemoteError when it ends first or time is over."""
        speech, wanted = self._call.speech, text.encode()
        try:
            async with asyncio.timeout(timeout):
                while not (speech.out.holds(wanted) or speech.err.holds(wanted)):
                    if speech.closed or speech.is_flooded or self._call.timed_out is not None:
                        raise self._call.ended_early(text)
                    speech.changed.clear()
                    await speech.changed.wait()
        except TimeoutError:
            detail = f"did not say {text!r} within {timeout:g} s"
            raise self._call.error(FailedAt.TIMEOUT, detail) from None

    async def output(self) -> Output:
        """Wait for its end and return everything that it said."""
        await self._call.speech.until_over(_CLOSING_PATIENCE)
        await self._call.end()
        return self._call.result()


class _Call:
    """One command under way: brings it to its end, then says what came of it."""

    def __init__(self, link: Link, argv: tuple[str, ...], wrapped: Wrapped, speech: Speech) -> None:
        self.speech = speech
        self.timed_out: float | None = None
        self._link = link
        self._argv = argv
        self._wrapped = wrapped
        self._proven = True

    async def has_ended_after_all(self) -> bool:
        """Read what has come in meanwhile: if this process was stopped, the time is over but the answer is there."""
        try:
            async with asyncio.timeout(_SECOND_LOOK):
                await self.speech.until_over(_CLOSING_PATIENCE)
        except TimeoutError:
            return self.speech.has_exited
        return True

    async def end(self) -> None:
        """End the command if it has not ended, and give its channel back."""
        self._proven = await self.speech.end(self._link.limits.ending) and self.speech.status != NOT_ENDED
        self._link.speeches.discard(self.speech)

    def result(self) -> Output:
        """What the command left behind, or RemoteError when it was not brought to its own end."""
        speech = self.speech
        if self.timed_out is not None:
            raise self.error(FailedAt.TIMEOUT, f"no end within {self.timed_out:g} s")
        if speech.is_flooded:
            bound = self._link.limits.output / 1024**2
            raise self.error(FailedAt.FLOODED, f"more than {bound:g} MiB of output")
        if not speech.has_exited or speech.was_ordered_to_end:
            raise RemoteError(self._link.lost_failure(), self.output())
        if speech.out.first is None:
            words = (speech.out.noise or speech.err.noise).decode(errors="replace").strip()
            status = speech.signal or f"exit status {speech.status}"
            raise self.error(FailedAt.LOGIN, f"the login shell did not run the command ({status}): {_line(words)}")
        if speech.status is None:
            raise self.error(FailedAt.TOOL, f"the watchdog of the command was killed by SIG{speech.signal}")
        if speech.status in _TIMEOUT_STATUS and speech.seconds >= self._wrapped.limit:
            raise self.error(FailedAt.TIMEOUT, f"ended by the node after {self._wrapped.limit:g} s")
        return self.output()

    def ended_early(self, awaited: str) -> RemoteError:
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
            leader = started(self.speech.out.first or b"")
            number = f" (process {leader.pid} there)" if leader else ""
            detail = f"{detail}; the node did not confirm that the command was ended{number}"
        return RemoteError(self._link.failure(stage, detail), self.output())

    def output(self) -> Output:
        """Everything so far."""
        speech = self.speech
        return Output(
            self._argv,
            stdout=speech.out.said,
            stderr=speech.err.said,
            exit_status=speech.status,
            signal=speech.signal or _signal_name(speech.status),
            seconds=speech.seconds,
            truncated=speech.is_flooded,
            node=self._link.node,
        )


class _RefusedError(Exception):
    """The node runs as many commands on the connection as it allows."""


@asynccontextmanager
async def _begun(link: Link, wrapped: Wrapped) -> AsyncIterator[Speech]:
    """The command, sent, in a slot of the connection. What a node refuses waits until another has ended."""
    refused = 0
    while True:
        async with link.slots.one():
            try:
                speech = await _begin(link, wrapped)
            except _RefusedError as error:
                if link.speeches:
                    link.slots.shrink(len(link.speeches))
                else:  # it may still be busy with closing the last one
                    refused += 1
                if refused > _REFUSALS:
                    raise RemoteError(link.failure(FailedAt.LOST, str(error))) from error
            else:
                yield speech
                return
        await asyncio.sleep(_REFUSAL_PAUSE)


async def _begin(link: Link, wrapped: Wrapped) -> Speech:
    """Send the command. A call that gives up meanwhile leaves nothing open behind it."""
    opening = asyncio.ensure_future(_open(link, wrapped))
    try:
        async with asyncio.timeout(link.limits.login):
            return await asyncio.shield(opening)
    except TimeoutError:
        opening.add_done_callback(partial(_drop, link))
        detail = f"the node did not start a command within {link.limits.login:g} s"
        raise RemoteError(link.failure(FailedAt.LOST, detail)) from None
    except asyncio.CancelledError:
        opening.add_done_callback(partial(_drop, link))
        await asyncio.wait((opening,), timeout=_CLOSING_PATIENCE)
        if opening.done() and not opening.cancelled() and opening.exception() is None:
            await opening.result().end(link.limits.ending)
        raise


async def _open(link: Link, wrapped: Wrapped) -> Speech:
    if link.lost is not None or link.is_closing:
        raise RemoteError(link.lost_failure())
    try:
        speech = await Speech.begin(link.connection, wrapped.text, wrapped.nonce, link.limits.output)
    except asyncssh.ChannelOpenError as error:
        if link.lost is None and not link.connection.is_closed():
            raise _RefusedError(f"the node refused to start a command: {error.reason}") from error
        raise RemoteError(link.lost_failure()) from error
    except (asyncssh.Error, OSError) as error:
        raise RemoteError(link.failure(FailedAt.LOST, link.lost or str(error))) from error
    link.speeches.add(speech)
    if wrapped.feed:
        speech.channel.write(wrapped.feed)
    return speech


def _drop(link: Link, opening: "asyncio.Future[Speech]") -> None:
    """Nobody waits for this command any more. Its watchdog takes the end of stdin for an order to end."""
    if not opening.cancelled() and opening.exception() is None:
        link.speeches.discard(opening.result())
        opening.result().channel.write_eof()


async def _limit(call: _Call, seconds: float) -> None:
    """End a command that was started for ``seconds``."""
    await asyncio.sleep(seconds)
    if not call.speech.has_exited:
        call.timed_out = seconds
        await call.end()


def _nonce() -> str:
    return secrets.token_hex(12)


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
