"""Commands on the machine that the console itself runs on: a ``Remote`` without a network.

The same watchdog as over SSH surrounds each command, its standard input held open by us: when the console
dies, the command is ended. No shell is run but that of the watchdog.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import cast

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.model.remote import Remote, Running
from benchconsole.probes.model.time_limits import COMMAND_ENDING
from benchconsole.probes.reach.watchdog import wrap_command
from benchconsole.probes.reach.watched_command import (
    OUTPUT_LIMIT,
    CommandChannel,
    SessionOutput,
    WatchedCommand,
    keep_running,
    record_command,
)
from benchconsole.topology.model.fabric import Node, NodeId

_LOG = ModuleLog(__name__)


class LocalRemote:
    """The machine that we run on, under the name ``node``; ``session`` is carried by every process that is started."""

    def __init__(self, session: str, node: str = "localhost", *, limit: int = OUTPUT_LIMIT) -> None:
        self._session = session
        self._limit = limit
        self._together = SessionOutput()
        self.node = NodeId(node)

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        return await record_command(_LOG, self.node, argv, self._run_to_end(argv, timeout, stdin, privileged))

    async def _run_to_end(self, argv: Sequence[str], timeout: float, stdin: bytes, privileged: bool) -> Output:
        command = await self._begin(argv, timeout, stdin, privileged=privileged)
        await command.run_to_end(timeout)
        return command.result()

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator[Running]:
        async with keep_running(await self._begin(argv, timeout), timeout, _LOG) as running:
            yield running

    async def _begin(
        self, argv: Sequence[str], timeout: float, stdin: bytes = b"", *, privileged: bool = False
    ) -> WatchedCommand:
        """Start it in a session of its own, so that keys pressed in our terminal are not meant for it."""
        under = ("sudo", "-n", "--") if privileged and os.geteuid() != 0 else ()
        wrapped = wrap_command(argv, session=self._session, timeout=timeout, stdin=stdin, under=under)
        _, channel = await asyncio.get_running_loop().subprocess_exec(
            lambda: _ProcessChannel(wrapped, self._limit, self._together),
            "/bin/sh",
            "-c",
            wrapped.write_text(),
            start_new_session=True,
        )
        channel.write(wrapped.feed)
        return WatchedCommand(self.node, argv, wrapped, channel, ending=COMMAND_ENDING)


class _ProcessChannel(CommandChannel, asyncio.SubprocessProtocol):
    """The pipes of a process, with the methods that asyncio calls."""

    _transport: asyncio.SubprocessTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def write(self, line: bytes) -> None:
        cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0)).write(line)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.take_in(self.out if fd == 1 else self.err, data)

    def process_exited(self) -> None:
        self.close_stdin()  # who waits there for a line of ours ends, and lets go of the pipe
        status = self._transport.get_returncode() or 0
        if status < 0:
            self.note_exit(None, signal.Signals(-status).name.removeprefix("SIG"))
        else:
            self.note_exit(status)

    def connection_lost(self, exc: Exception | None) -> None:
        self.note_close()

    def close_stdin(self) -> None:
        stdin = self._transport.get_pipe_transport(0)
        if stdin is not None:
            stdin.close()

    def abort(self) -> None:
        if not self.has_exited:
            with suppress(ProcessLookupError):
                os.killpg(self._transport.get_pid(), signal.SIGKILL)  # not waited for, so the number is its own
        self._transport.close()


class LocalReach:
    """Reaches one machine, the one that the console runs on, whatever node is asked for."""

    def __init__(self, session: str) -> None:
        self._session = session

    async def remote(self, node: Node) -> Remote:
        return LocalRemote(self._session, node.id)

    async def close(self) -> None:
        """Nothing is kept open: each command ends with its own caller."""
