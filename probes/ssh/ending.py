"""Owns the end of one command: brings it about, and says what came of it.

Refuses to take for an answer what is none: a command without an exit status, or one that
somebody else killed, is a failure whatever it had printed.
"""

import asyncio
import signal

from probes.model import FailedAt, Output
from probes.remote import RemoteError
from probes.ssh.link import Link
from probes.ssh.speech import Speech
from probes.ssh.watchdog import NOT_ENDED, Wrapped, started

_TIMEOUT_STATUS = (124, 137)
_COMMAND_NOT_FOUND = 127
_LONGEST_REASON = 300
_SECOND_LOOK = 0.05
_FROM_OUTSIDE = ("KILL", "TERM", "HUP", "INT", "QUIT", "XCPU", "STOP")
"""Signals that somebody sends; others (SEGV, ABRT, PIPE) are a program's own end."""


class Call:
    """One command under way."""

    def __init__(
        self, link: Link, argv: tuple[str, ...], wrapped: Wrapped, speech: Speech, *, is_elevated: bool = False
    ) -> None:
        self.link = link
        self.is_elevated = is_elevated
        self.speech = speech
        self.timed_out: float | None = None
        self.explained: RemoteError | None = None
        self._argv = argv
        self._wrapped = wrapped
        self._proven = True
        self._is_over = False

    async def has_ended_after_all(self) -> bool:
        """Read what has come in meanwhile: if this process was stopped, the time is over but the answer is there."""
        try:
            async with asyncio.timeout(_SECOND_LOOK):
                await self.speech.until_over()
        except TimeoutError:
            return self.speech.has_exited
        return True

    async def end(self) -> None:
        """End the command if it has not ended, and give its slot back."""
        try:
            self._proven = await self.speech.end(self.link.limits.ending) and self.speech.status != NOT_ENDED
        finally:
            if not self._is_over:
                self._is_over = True
                self.link.speeches.discard(self.speech)
                self.link.give_slot_back()
        if self.speech.out.first is not None and not self.link.has_spoken and not self.is_elevated:
            self.link.learn(started(self.speech.out.first))

    @property
    def was_cut_off(self) -> bool:
        """Whether the connection was lost, without our doing, before the command had ended."""
        speech = self.speech
        return (
            not speech.has_exited
            and not speech.is_flooded
            and self.timed_out is None
            and self.link.lost is not None
            and not self.link.is_closing
        )

    def lost(self) -> RemoteError:
        """The connection went away."""
        return RemoteError(self.link.lost_failure(), self.output())

    def result(self) -> Output:
        """What the command left behind, or RemoteError when it was not brought to its own end."""
        speech = self.speech
        if self.timed_out is not None:
            raise self.error(FailedAt.TIMEOUT, f"no end within {self.timed_out:g} s")
        if speech.is_flooded:
            bound = self.link.limits.output / 1024**2
            raise self.error(FailedAt.FLOODED, f"more than {bound:g} MiB of output")
        if self.explained is not None:
            raise self.explained
        if not speech.has_exited or speech.was_ordered_to_end:
            raise self._unfinished()
        if speech.out.first is None:
            words = (speech.out.noise or speech.err.noise).decode(errors="replace").strip()
            status = speech.signal or f"exit status {speech.status}"
            raise self.error(FailedAt.LOGIN, f"the login shell did not run the command ({status}): {_line(words)}")
        if speech.status is None:
            raise self.error(FailedAt.KILLED, f"the watchdog of the command was killed by SIG{speech.signal}")
        if speech.status in _TIMEOUT_STATUS and speech.seconds >= self._wrapped.limit:
            raise self.error(FailedAt.TIMEOUT, f"ended by the node after {self._wrapped.limit:g} s")
        output = self.output()
        if output.signal in _FROM_OUTSIDE:
            why = " (the kernel does so when memory runs out)" if output.signal == "KILL" else ""
            raise self.error(FailedAt.KILLED, f"{self._argv[0]} was killed by SIG{output.signal}, not by us{why}")
        return output

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
        return RemoteError(self.link.failure(stage, detail), self.output())

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
            node=self.link.node,
        )

    def _unfinished(self) -> RemoteError:
        if self.link.lost is not None or self.link.is_closing or self.speech.was_ordered_to_end:
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
