"""One command under the watchdog, over SSH or on this machine: its output within bounds, its end, its log record.

Bytes only; the reader decodes them. When a stream passes its bound, or is the longest of all when those of the session
pass theirs together, nothing more of it is read and its beginning is kept. A command without an exit status, or one
that somebody else killed, is a failure whatever it printed.
"""

import asyncio
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress

from benchconsole.probes.model.interval import current_outputs
from benchconsole.probes.model.log_records import ModuleLog, format_command
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import RemoteError, Running
from benchconsole.probes.reach.watchdog import NOT_ENDED, UNHEARD, WrappedCommand, parse_first_line
from benchconsole.topology.model.fabric import NodeId

OUTPUT_LIMIT = 4 * 1024 * 1024
"""Bytes that one output stream of a command may say."""
TOTAL_LIMIT = 256 * 1024 * 1024
"""Bytes that all commands of a session that run may have said."""
KEPT_OF_FLOOD = 64 * 1024
"""Bytes that are kept of a stream that passed a bound: the beginning tells who floods."""
NOISE_LIMIT = 1024 * 1024
"""Bytes that login scripts may say on one stream before a command begins."""
_BEATS = 4
"""Lines that a long command is sent within the silence that its node bears."""
_LEAST_FLOOD = 1024 * 1024
"""Bytes up to which no command is ended for what all say together."""
_CLOSING_PATIENCE = 2.0
"""Seconds that a channel may stay open after its command has exited."""
_TIMEOUT_STATUS = (124, 137)
_COMMAND_NOT_FOUND = 127
_LONGEST_REASON = 300
_SECOND_LOOK = 0.05
_FROM_OUTSIDE = ("KILL", "TERM", "HUP", "INT", "QUIT", "XCPU", "STOP")
"""Signals that somebody sends; others (SEGV, ABRT, PIPE) are a program's own end."""


class OutputStream:
    """One output stream. Everything up to the watchdog's first line is noise of login scripts.

    On a kept shell a last line, with the word ``last``, ends it; its rest is a status where the stream has one.
    """

    def __init__(self, nonce: bytes, bound: int, last: bytes = b"") -> None:
        self._nonce = nonce
        self._last = last
        self.bound = bound
        self._raw = bytearray()
        self._searched = 0
        self.first_line: bytes | None = None
        self.last_line: bytes | None = None
        self.is_cut = False
        self.has_more = False
        """Whether something came after the last line."""

    def __len__(self) -> int:
        """Bytes that are held."""
        return len(self._raw)

    def add(self, data: bytes) -> None:
        self._raw += data
        if self.first_line is None:
            self._look_for_first_line()
        if self._last and self.first_line is not None:
            self._look_for_last_line()
        if self.first_line is not None and len(self._raw) > self.bound:
            self.cut()

    def cut(self) -> None:
        """Keep the beginning, and nothing of what comes."""
        self.is_cut = True
        del self._raw[KEPT_OF_FLOOD:]

    def _look_for_first_line(self) -> None:
        # Each byte is searched once: noise comes in thousands of packets.
        at = self._raw.find(self._nonce, self._searched)
        self._searched = at if at >= 0 else max(len(self._raw) - len(self._nonce) + 1, 0)
        end = self._raw.find(b"\n", at) if at >= 0 else -1
        if end >= 0:
            self.first_line = bytes(self._raw[at + len(self._nonce) : end])
            del self._raw[: end + 1]
            self._searched = 0
        elif len(self._raw) > NOISE_LIMIT:
            self.cut()

    def _look_for_last_line(self) -> None:
        at = self._raw.find(self._last, self._searched)
        self._searched = at if at >= 0 else max(len(self._raw) - len(self._last) + 1, 0)
        end = self._raw.find(b"\n", at) if at >= 0 else -1
        if end >= 0:
            self.last_line = bytes(self._raw[at + len(self._last) : end])
            self.has_more = end + 1 < len(self._raw)
            del self._raw[at:]

    def read_from(self, place: int, most: int) -> tuple[bytes, int]:
        """At most ``most`` bytes, the newest of those from ``place`` on, and the place behind them.

        Nothing before the command has started, and nothing of a stream that is cut.
        """
        if self.first_line is None or self.is_cut:
            return b"", place
        end = len(self._raw)
        return bytes(self._raw[max(place, end - most) :]), end

    def contains(self, text: bytes) -> bool:
        return self.first_line is not None and text in self._raw

    @property
    def content(self) -> bytes:
        """The output of the command; empty as long as it has not started."""
        return bytes(self._raw) if self.first_line is not None else b""

    @property
    def preamble(self) -> bytes:
        """Text that came although no command has started."""
        return bytes(self._raw) if self.first_line is None else b""


class SessionOutput:
    """The output of the running commands of a session, together at most ``bound`` bytes.

    Hundreds of nodes that flood at once pass it long before each has passed its own. Then the longest streams are cut,
    as those of floods, but none of less than 1 MiB: a whole cluster may say something sensible at once.
    """

    def __init__(self, bound: int = TOTAL_LIMIT) -> None:
        self.bound = bound
        self._size = 0
        self._next_look = bound
        self._channels: set[CommandChannel] = set()

    def add(self, channel: "CommandChannel") -> None:
        self._channels.add(channel)

    def remove(self, channel: "CommandChannel") -> None:
        if channel in self._channels:
            self._channels.remove(channel)
            self._size -= channel.size
            self._next_look = max(self.bound, min(self._next_look, self._size + _LEAST_FLOOD))

    def note(self, channel: "CommandChannel", grown: int) -> None:
        """``channel`` holds so many bytes more, or fewer, than before."""
        if channel not in self._channels:
            return
        self._size += grown
        if self._size <= self._next_look:  # a look at all of them takes time
            return
        while self._size > self.bound:
            longest = max(self._channels, key=lambda each: each.size)
            if longest.size < _LEAST_FLOOD:
                self._next_look = self._size + _LEAST_FLOOD
                return
            self._size -= longest.size
            longest.cut()
            self._size += longest.size
        self._next_look = self.bound


class CommandChannel(ABC):
    """The way to one running command. ``changed`` is set at everything that happens; waiters clear it."""

    def __init__(self, wrapped: WrappedCommand, bound: int, together: SessionOutput) -> None:
        self.together = together
        self.together.add(self)
        self._over = asyncio.Event()
        self._patience: asyncio.TimerHandle | None = None
        self._pause = wrapped.silence / _BEATS
        self._next_beat: asyncio.TimerHandle | None = None
        self.out = OutputStream(wrapped.nonce, bound, wrapped.last)
        self.err = OutputStream(wrapped.nonce, bound, wrapped.last)
        if (outputs := current_outputs.get()) is not None:
            outputs.add(self.out, self.err)
        self.status: int | None = None
        self.signal: str | None = None
        self.closed = False
        self.was_ordered_to_end = False
        self.is_cut_for_all = False
        self.changed = asyncio.Event()
        self.opened_at = self.started_at = self.ended_at = asyncio.get_running_loop().time()

    @property
    def has_exited(self) -> bool:
        """Whether the wrapper has ended; its status, where it has one, says that nothing of it runs on."""
        return self.status is not None or self.signal is not None

    @property
    def is_flooded(self) -> bool:
        return self.out.is_cut or self.err.is_cut

    @property
    def seconds(self) -> float:
        """How long the command has been or was running."""
        now = self.ended_at if self.has_exited or self.closed else asyncio.get_running_loop().time()
        return max(now - self.started_at, 0.0)

    @property
    def size(self) -> int:
        """Bytes of output that are held."""
        return len(self.out) + len(self.err)

    def cut(self) -> None:
        """Keep the beginning of what was said and end the command, as one that floods."""
        self.is_cut_for_all = True
        self.out.cut()
        self.err.cut()
        self._over.set()
        self.changed.set()

    def take_in(self, stream: OutputStream, data: bytes) -> None:
        """Keep what was said on one stream, as long as it is not cut."""
        awaited = self.out.first_line is None
        if not stream.is_cut:
            before = len(stream)
            stream.add(data)
            self.together.note(self, len(stream) - before)
        if awaited and self.out.first_line is not None:
            self.started_at = asyncio.get_running_loop().time()  # login scripts are not part of the command
            if self._pause:
                self._beat()
        if stream.is_cut:
            self._over.set()
        self.changed.set()

    def _beat(self) -> None:
        """Let the watchdog hear that we are there, now and again after a pause."""
        if not (self.has_exited or self.closed or self.was_ordered_to_end):
            self.write(b"\n")
            self._next_beat = asyncio.get_running_loop().call_later(self._pause, self._beat)

    def _stop_beating(self) -> None:
        if self._next_beat is not None:
            self._next_beat.cancel()

    def note_exit(self, status: int | None, signal_name: str | None = None) -> None:
        """The wrapper has exited. The rest of the output follows at once, unless a process unknown to us holds it."""
        self._stop_beating()
        self.status, self.signal = status, signal_name
        loop = asyncio.get_running_loop()
        self.ended_at = loop.time()
        self._patience = loop.call_later(_CLOSING_PATIENCE, self._over.set)
        self.changed.set()

    def note_close(self) -> None:
        self._stop_beating()
        self.together.remove(self)
        self.closed = True
        if not self.has_exited:
            self.ended_at = asyncio.get_running_loop().time()
        if self._patience is not None:
            self._patience.cancel()
        self._over.set()
        self.changed.set()

    async def wait_for_end(self) -> None:
        """Wait until the channel is closed or flooded, or should have been closed long since."""
        await self._over.wait()

    async def end(self, within: float) -> bool:
        """Order the watchdog to end the command. False when its word that it did has not come in time."""
        if not (self.has_exited or self.closed):
            self._stop_beating()
            self.was_ordered_to_end = True
            self.close_stdin()
            # Where login scripts print without end nothing of ours runs, and every second costs processor time.
            within = 0.0 if self.is_flooded and self.out.first_line is None else within
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    while not (self.has_exited or self.closed):
                        self.changed.clear()
                        await self.changed.wait()
        self.together.remove(self)
        self.abort()
        return self.has_exited

    @abstractmethod
    def write(self, line: bytes) -> None:
        """Say a line to the watchdog."""

    @abstractmethod
    def close_stdin(self) -> None:
        """Give the watchdog the order to end."""

    @abstractmethod
    def abort(self) -> None:
        """Let go of the channel, whatever is still said."""


class WatchedCommand:
    """One command under way on ``node``, a ``Running`` to whoever started it; ``ending`` is seconds."""

    refused_by = (FailedAt.TOOL, "the shell")
    """Who is to blame when the watchdog was never started."""

    def __init__(
        self, node: NodeId, argv: Sequence[str], wrapped: WrappedCommand, channel: CommandChannel, *, ending: float
    ) -> None:
        self.node = node
        self.channel = channel
        self.timed_out: float | None = None
        self._argv = tuple(argv)
        self._wrapped = wrapped
        self._ending = ending
        self._proven = True

    async def run_to_end(self, timeout: float) -> None:
        """Wait for its end, and end it after ``timeout`` seconds."""
        channel = self.channel
        try:
            # after the time one look more: if this process was stopped, the answer is there
            for seconds in (timeout, _SECOND_LOOK):
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await channel.wait_for_end()
                        return
            self.timed_out = None if channel.has_exited else timeout
        finally:
            await self.end()

    async def end(self) -> None:
        """End the command if it has not ended."""
        has_exited = await self.channel.end(self._ending)
        # a watchdog that a signal killed has no status, and has ended nothing
        self._proven = has_exited and self.channel.status not in (None, NOT_ENDED)

    async def end_after(self, seconds: float) -> None:
        """End a command that was started for ``seconds``."""
        await asyncio.sleep(seconds)
        if not self.channel.has_exited:
            self.timed_out = seconds
            await self.end()

    async def learn_loss(self) -> None:
        """Ask what became of the node where the way to it was lost."""

    @property
    def was_never_started(self) -> bool:
        """Whether the shell ended, by itself, without having begun the command."""
        channel = self.channel
        is_over = channel.has_exited and not (channel.was_ordered_to_end or channel.is_flooded)
        return is_over and self.timed_out is None and channel.out.first_line is None

    def explain_no_start(self) -> str:
        """How a shell that did not begin the command ended, and what it said."""
        channel = self.channel
        words = (channel.out.preamble or channel.err.preamble).decode(errors="replace").strip()
        return f"({channel.signal or f'exit status {channel.status}'}): {_line(words)}"

    def explain_loss(self) -> RemoteError:
        """Why the command was not brought to its own end."""
        return self.error(FailedAt.CANCELLED, "the command was ended")

    def result(self) -> Output:
        """The output of the command, or RemoteError when it was not brought to its own end."""
        channel = self.channel
        if self.timed_out is not None:
            raise self.error(FailedAt.TIMEOUT, f"no end within {self.timed_out:g} s")
        if channel.is_flooded:
            if channel.out.first_line is None:
                size = f"more than {NOISE_LIMIT / 1024**2:g} MiB before the command began"
                raise self.error(FailedAt.FLOODED, f"{size}: a login script there prints without end")
            if channel.is_cut_for_all:
                size = f"more than {channel.together.bound / 1024**2:g} MiB of output by all commands together"
                raise self.error(FailedAt.FLOODED, f"{size}, and this was the longest")
            raise self.error(FailedAt.FLOODED, f"more than {channel.out.bound / 1024**2:g} MiB of output")
        if not channel.has_exited or channel.was_ordered_to_end:
            raise self.explain_loss()
        if self.was_never_started:
            stage, who = self.refused_by
            raise self.error(stage, f"{who} did not run the command {self.explain_no_start()}")
        if channel.status is None:
            raise self.error(FailedAt.KILLED, f"the watchdog of the command was killed by SIG{channel.signal}")
        # From the opening: a first line that comes late makes the command seem shorter than the node's own limit.
        if channel.status in _TIMEOUT_STATUS and channel.ended_at - channel.opened_at >= self._wrapped.limit:
            raise self.error(FailedAt.TIMEOUT, f"ended by the node after {self._wrapped.limit:g} s")
        silence = self._wrapped.silence
        if channel.status == UNHEARD and silence and channel.ended_at - channel.opened_at >= silence:
            detail = f"ended by the node, which had heard nothing from this console for {silence:g} s"
            raise self.error(FailedAt.LOST, f"{detail}: was the console stopped, or the network away?")
        output = self.make_output()
        if output.signal in _FROM_OUTSIDE:
            why = " (the kernel does so when memory runs out)" if output.signal == "KILL" else ""
            raise self.error(FailedAt.KILLED, f"{self._argv[0]} was killed by SIG{output.signal}, not by us{why}")
        return output

    def _explain_early_end(self, awaited: str) -> RemoteError:
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
        return RemoteError(Failure(stage, detail, self.node), self.make_output())

    async def says(self, text: str, *, timeout: float) -> None:
        """Wait until its output holds ``text``; RemoteError when it ends first or time is over."""
        channel, wanted = self.channel, text.encode()
        try:
            async with asyncio.timeout(timeout):
                while not (channel.out.contains(wanted) or channel.err.contains(wanted)):
                    if channel.closed or channel.is_flooded or self.timed_out is not None:
                        break
                    channel.changed.clear()
                    await channel.changed.wait()
                else:
                    return
        except TimeoutError:
            raise self.error(FailedAt.TIMEOUT, f"did not say {text!r} within {timeout:g} s") from None
        await self.learn_loss()
        raise self._explain_early_end(text)

    async def output(self) -> Output:
        """Wait for its end."""
        await self.channel.wait_for_end()
        await self.end()
        await self.learn_loss()
        return self.result()

    def make_output(self) -> Output:
        channel = self.channel
        return Output(
            self._argv,
            stdout=channel.out.content,
            stderr=channel.err.content,
            exit_status=channel.status,
            signal=channel.signal or _signal_name(channel.status),
            seconds=channel.seconds,
            truncated=channel.is_flooded,
            node=self.node,
        )


@asynccontextmanager
async def keep_running(command: WatchedCommand, seconds: float, log: ModuleLog) -> AsyncIterator[Running]:
    """Leave ``command`` running inside the context, at most ``seconds``; its record is written at the end."""
    watch = asyncio.create_task(command.end_after(seconds))
    try:
        yield command
    finally:
        watch.cancel()
        await command.end()
        if log.is_wanted:
            output = command.make_output()
            log.info(output.node, "%s: left running, %s", format_command(output.argv), _format_output(output))


async def record_command(log: ModuleLog, node: str, argv: Sequence[str], ending: Awaitable[Output]) -> Output:
    """Await the end of a command and write its record; returns and raises as ``ending`` does."""
    if not log.is_wanted:
        return await ending
    log.debug(node, "%s: started", format_command(argv))
    began = time.monotonic()
    try:
        output = await ending
    except RemoteError as error:
        words = f"{error.failure.stage} after {time.monotonic() - began:.3f} s: {error.failure.detail}"
        log.warning(node, "%s: %s", format_command(argv), words)
        raise
    except asyncio.CancelledError:
        log.info(node, "%s: cancelled after %.3f s", format_command(argv), time.monotonic() - began)
        raise
    log.info(node, "%s: %s", format_command(argv), _format_output(output))
    return output


def _format_output(output: Output) -> str:
    signal_name = f" (SIG{output.signal})" if output.signal else ""
    return f"exit status {output.exit_status}{signal_name} in {output.seconds:.3f} s"


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
