"""Commands on the machine that the console itself runs on: a ``Remote`` without a network.

The same watchdog as over SSH surrounds each command, its standard input held open by us: when the console
dies, the command is ended. No shell is run but that of the watchdog.
"""

import asyncio
import os
import secrets
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import Remote, RemoteError, Running
from benchconsole.probes.reach.command_records import record_command, record_server_end
from benchconsole.topology.model.fabric import Node, NodeId

_LOG = ModuleLog(__name__)
_LIMIT = 4 * 1024 * 1024
"""Bytes that one stream of a command may say, as over SSH."""
_ENDING = 8.0
"""Seconds that the watchdog has to end its command."""
_CLOSING = 1.0
"""Seconds that its output may stay open after its end."""
_NOT_FOUND = 127
_PIECE = 65536


class LocalRemote:
    """The machine that we run on, under the name ``node``; ``session`` is carried by every process that is started."""

    def __init__(self, session: str, node: str = "localhost", *, limit: int = _LIMIT) -> None:
        self._session = session
        self._node = NodeId(node)
        self._limit = limit

    @property
    def node(self) -> NodeId:
        """The name that it was given."""
        return self._node

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        """Run ``argv`` to its end; see ``probes.model.remote.Remote``."""
        return await record_command(_LOG, self._node, argv, self._run_to_end(argv, timeout, stdin, privileged))

    async def _run_to_end(self, argv: Sequence[str], timeout: float, stdin: bytes, privileged: bool) -> Output:
        command = await _Command.begin(self, argv, timeout, stdin=stdin, privileged=privileged)
        try:
            async with asyncio.timeout(timeout):
                await command.over()
        except TimeoutError:
            command.timed_out = command.process.returncode is None
        finally:
            await command.end()
        return command.result(timeout)

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator[Running]:
        """Start ``argv`` and leave it running inside the context; see ``probes.model.remote.Remote``."""
        command = await _Command.begin(self, argv, timeout)
        watch = asyncio.create_task(command.limit(timeout))
        try:
            yield LocalRunning(command, timeout)
        finally:
            watch.cancel()
            await command.end()
            record_server_end(_LOG, command.output())

    def failure(self, stage: FailedAt, detail: str) -> Failure:
        """A failure of this machine."""
        return Failure(stage, detail, self._node)

    def wrapped(self, argv: Sequence[str], timeout: float, stdin: bytes, privileged: bool) -> tuple[str, bytes, bytes]:
        """The text for the shell, what it is fed first, and the nonce that its output begins with."""
        from benchconsole.probes.reach.ssh.watchdog import wrap_command

        under = ("sudo", "-n", "--") if privileged and os.geteuid() != 0 else ()
        nonce = secrets.token_hex(12)
        made = wrap_command(argv, session=self._session, nonce=nonce, timeout=timeout, stdin=stdin, under=under)
        return made.text, made.feed, made.nonce

    @property
    def output_limit(self) -> int:
        """Bytes that one stream may say."""
        return self._limit


class LocalRunning:
    """A command that goes on while others run."""

    def __init__(self, command: "_Command", seconds: float) -> None:
        self._command = command
        self._seconds = seconds

    async def says(self, text: str, *, timeout: float) -> None:
        """Wait until its output holds ``text``; RemoteError when it ends first or time is over."""
        command, wanted = self._command, text.encode()
        try:
            async with asyncio.timeout(timeout):
                while not any(wanted in command.said(which) for which in (0, 1)):
                    if command.is_over:
                        raise command.ended_early(text, self._seconds)
                    command.changed.clear()
                    await command.changed.wait()
        except TimeoutError:
            raise command.error(FailedAt.TIMEOUT, f"did not say {text!r} within {timeout:g} s") from None

    async def output(self) -> Output:
        """Wait for its end and return everything that it said."""
        await self._command.over()
        await self._command.end()
        return self._command.result(self._seconds)


class _Command:
    """One command under way on this machine."""

    def __init__(
        self, remote: LocalRemote, argv: Sequence[str], nonce: bytes, process: asyncio.subprocess.Process
    ) -> None:
        self.process = process
        self.changed = asyncio.Event()
        self.timed_out = False
        self._remote = remote
        self._argv = tuple(argv)
        self._nonce = nonce
        self._heard = (bytearray(), bytearray())
        self._begun = time.monotonic()
        self._seconds = 0.0
        self._flooded = False
        self._ordered = False
        self._listening = [
            asyncio.create_task(self._listen(0, process.stdout)),
            asyncio.create_task(self._listen(1, process.stderr)),
        ]
        self._closed = False
        self._watching = asyncio.create_task(self._watch())

    @classmethod
    async def begin(
        cls, remote: LocalRemote, argv: Sequence[str], timeout: float, *, stdin: bytes = b"", privileged: bool = False
    ) -> "_Command":
        """Start it in a session of its own, so that keys pressed in our terminal are not meant for it."""
        text, feed, nonce = remote.wrapped(argv, timeout, stdin, privileged)
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", text, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        if process.stdin is not None and feed:
            process.stdin.write(feed)
        return cls(remote, argv, nonce, process)

    @property
    def is_over(self) -> bool:
        """Whether it has ended and all it said is read, or it says more than it may."""
        return self._closed or self._flooded

    def said(self, which: int) -> bytes:
        """What it said on stdout (0) or stderr (1), without what stands before it has begun."""
        heard = bytes(self._heard[which])
        _, found, after = heard.partition(self._nonce)
        return after.partition(b"\n")[2] if found else b""

    async def over(self) -> None:
        """Wait until it has ended, or says more than it may."""
        while not self.is_over:
            self.changed.clear()
            await self.changed.wait()

    async def limit(self, seconds: float) -> None:
        """End a command that was started for ``seconds``."""
        await asyncio.sleep(seconds)
        self.timed_out = self.process.returncode is None
        await self.end()

    async def end(self) -> None:
        """End it if it has not ended: the watchdog takes the end of its stdin for the order."""
        self._ordered = self._ordered or self.process.returncode is None
        self._order_end()
        try:
            async with asyncio.timeout(_ENDING):
                await self.process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)  # not waited for yet, so the number is still its own
            await self.process.wait()
        await self._watching

    def result(self, timeout: float) -> Output:
        """What it left behind, or RemoteError when it was not brought to its own end."""
        if self.timed_out:
            raise self.error(FailedAt.TIMEOUT, f"no end within {timeout:g} s")
        if self._flooded:
            raise self.error(FailedAt.FLOODED, f"more than {self._remote.output_limit / 1024**2:g} MiB of output")
        if self._ordered:
            raise self.error(FailedAt.CANCELLED, "the command was ended")
        if self._nonce not in self._heard[0]:
            words = bytes(self._heard[1]).decode(errors="replace").strip()[:300]
            raise self.error(
                FailedAt.TOOL, f"the shell did not run the command (status {self.process.returncode}): {words}"
            )
        return self.output()

    def ended_early(self, awaited: str, timeout: float) -> RemoteError:
        """Why a running command will not say what was awaited."""
        output = self.output()
        if self._flooded or self._ordered:
            return self.error(FailedAt.FLOODED if self._flooded else FailedAt.TIMEOUT, f"ended within {timeout:g} s")
        said = (output.error_text.strip() or output.text.strip() or "no output").splitlines()[0][:300]
        if output.exit_status == _NOT_FOUND:
            return self.error(FailedAt.MISSING_TOOL, said)
        return self.error(FailedAt.TOOL, f"ended with status {output.exit_status} before it said {awaited!r}: {said}")

    def error(self, stage: FailedAt, detail: str) -> RemoteError:
        """A failure with the output so far."""
        return RemoteError(self._remote.failure(stage, detail), self.output())

    def output(self) -> Output:
        """Everything so far."""
        status = self.process.returncode
        return Output(
            self._argv,
            stdout=self.said(0),
            stderr=self.said(1),
            exit_status=status if status is None or status >= 0 else None,
            signal=_signal_name(status),
            seconds=self._seconds or time.monotonic() - self._begun,
            truncated=self._flooded,
            node=self._remote.node,
        )

    def _order_end(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()

    async def _watch(self) -> None:
        """Notice its end, and that nothing more comes; what it left behind may hold its output open."""
        await self.process.wait()
        self._seconds = time.monotonic() - self._begun
        _, late = await asyncio.wait(self._listening, timeout=_CLOSING)
        for task in late:
            task.cancel()
        self._closed = True
        self.changed.set()

    async def _listen(self, which: int, stream: asyncio.StreamReader | None) -> None:
        """Take in what is said, up to the limit; at more the command is ended, and what still comes is dropped."""
        heard, limit = self._heard[which], self._remote.output_limit
        while stream is not None and (piece := await stream.read(_PIECE)):
            heard += piece
            if len(heard) > limit:
                del heard[limit:]
                self._flooded = True
                self._order_end()
            self.changed.set()


def _signal_name(status: int | None) -> str | None:
    """The signal that ended the shell (negative), or that it reports of its command (128 and more), as over SSH."""
    number = -status if status is not None and status < 0 else (status or 0) - 128
    try:
        return signal.Signals(number).name.removeprefix("SIG")
    except ValueError:
        return None


class LocalReach:
    """Reaches one machine, the one that the console runs on, whatever node is asked for."""

    def __init__(self, session: str) -> None:
        self._session = session

    async def remote(self, node: Node) -> Remote:
        """The machine that we run on, by the name of ``node``."""
        return LocalRemote(self._session, node.id)

    async def close(self) -> None:
        """Nothing is kept open: each command ends with its own caller."""
