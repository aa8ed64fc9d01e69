"""Commands on one node, under the watchdog, one channel each; and its Unix sockets, joined with those of another.

However a call ends (answer, time-out, flood, cancellation), the command on the node has been ended by then, or the
failure says that it could not be. Both ends of a relay are sockets that only the login's own user can open where they
lie in a directory of that user. No port is opened, and no node logs in to another. A node whose sshd forwards no
sockets is named in the error.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import asyncssh

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Output
from benchconsole.probes.model.remote import Remote, RemoteError, Running
from benchconsole.probes.reach.kept_shell import write_request
from benchconsole.probes.reach.ssh.command import Explain, SshCommand, SudoPrompt, start_command
from benchconsole.probes.reach.ssh.connection import ConnectionPool, SshConnection
from benchconsole.probes.reach.ssh.sudo import SudoRunner
from benchconsole.probes.reach.watchdog import STDIN_LIMIT, WrappedCommand, wrap_command
from benchconsole.probes.reach.watched_command import keep_running, record_command
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId

_LOG = ModuleLog(__name__)
_TIMEOUT = 20.0


class SshRemote:
    """A node reached over one connection, or several while one does not hold all its commands."""

    def __init__(self, pool: ConnectionPool, administrator: SudoRunner, explain: Explain) -> None:
        self._pool = pool
        self._administrator = administrator
        self._explain = explain

    @property
    def node(self) -> NodeId:
        return self._pool.first.node

    @property
    def link(self) -> SshConnection:
        """The first of its connections, which lasts as long as the node is reached."""
        return self._pool.first

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        if len(stdin) > STDIN_LIMIT:
            raise ValueError(f"stdin of {len(stdin)} bytes; at most {STDIN_LIMIT} can be passed to a command")
        return await record_command(_LOG, self.node, argv, self._run_to_end(argv, timeout, stdin, privileged))

    async def _run_to_end(self, argv: Sequence[str], timeout: float, stdin: bytes, privileged: bool) -> Output:
        await self._pool.first.shared.calls.take_brief_turn()
        link = await self._pool.wait_for_free()

        async def run(prompt: SudoPrompt | None = None) -> SshCommand:
            return await self._bring_to_end(link, argv, self._wrap(link, argv, timeout, stdin, prompt), timeout, prompt)

        if privileged and not await self._is_root():
            return await self._administrator.run(link, run)
        if link.can_keep_shell and (request := write_request(argv, timeout=timeout, stdin=stdin)) is not None:
            call = await self._bring_to_end(link, argv, request, timeout)
            if not call.was_never_started:
                return call.result()
            # Its login shell, or what it lacks, is found out in the plain way, and told in its words.
            link.can_keep_shell = False
            _LOG.debug(self.node, "no shell is kept open there: %s", call.explain_no_start())
        return (await run()).result()

    async def _bring_to_end(
        self,
        link: SshConnection,
        argv: Sequence[str],
        wrapped: WrappedCommand,
        timeout: float,
        prompt: SudoPrompt | None = None,
    ) -> SshCommand:
        call = await self._begin(link, argv, wrapped, prompt)
        await call.run_to_end(timeout)
        await call.learn_loss()
        return call

    def _wrap(
        self, link: SshConnection, argv: Sequence[str], timeout: float, stdin: bytes, prompt: SudoPrompt | None
    ) -> WrappedCommand:
        """The command for a channel of its own."""
        under = prompt.words if prompt is not None else ()
        silence = link.limits.heartbeat
        return wrap_command(argv, session=link.session, timeout=timeout, stdin=stdin, under=under, silence=silence)

    async def _begin(
        self, link: SshConnection, argv: Sequence[str], wrapped: WrappedCommand, prompt: SudoPrompt | None = None
    ) -> SshCommand:
        if prompt is not None:
            prompt.feed = wrapped.feed
        channel = await start_command(link, wrapped, prompt)
        return SshCommand(link, argv, wrapped, channel, self._explain, is_elevated=prompt is not None)

    async def _is_root(self) -> bool:
        """Whether the login is root, by what its first command showed; asked where a node shows nothing."""
        if self._pool.is_root is None:
            known = next((link.is_root for link in self._pool.connections if link.is_root is not None), None)
            if known is None:
                output = await self.run(("id", "-u"), timeout=_TIMEOUT)
                known = output.exit_status == 0 and output.text.strip() == "0"
            self._pool.is_root = known
        return self._pool.is_root

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator[Running]:
        link = await self._pool.wait_for_free()
        call = await self._begin(link, argv, self._wrap(link, argv, timeout, b"", None))
        async with keep_running(call, timeout, _LOG) as running:
            yield running

    @asynccontextmanager
    async def joined(self, path: str, far: Remote, far_path: str) -> AsyncIterator[None]:
        if not isinstance(far, SshRemote):
            detail = f"its Unix sockets cannot be joined with those of {far.node}, which is not reached over SSH"
            raise RemoteError(self.link.failure(FailedAt.REFUSED, detail))
        async with join_sockets(self.link, path, far.link, far_path):
            yield


_SEARCHING = 10.0
_PAUSE = 0.5
"""Seconds before a node that refused is asked again, within the time that it has."""
_LEFT = (
    "for w in 0 .1 .2 .5 1 1; do sleep $w; n=0; "
    'for f in $(grep -lsF "BENCHCONSOLE_SESSION=$1" /proc/[0-9]*/environ); do '
    'grep -qsF "BENCHCONSOLE_RUN=$BENCHCONSOLE_RUN" "$f" || { [ -e "$f" ] && n=$((n+1)); }; done; '
    "[ $n = 0 ] && break; done; echo $n"
)
"""How many processes carry the session's marker, besides those of this search, when their watchdogs have had time."""


class RebootCheck:
    """Asks nodes whose connection was lost under a command, and that come back within ``seconds``, what became of them.

    One reconnection and one command for each lost connection, however many commands it carried, in bounded time,
    because a round waits for its slowest test. The lost command is not run again.
    """

    def __init__(self, session: str, seconds: float) -> None:
        self._session = session
        self._seconds = seconds
        self._asked: dict[SshConnection, asyncio.Task[tuple[FailedAt, str]]] = {}

    async def explain(
        self, lost: SshConnection, error: RemoteError, again: Callable[[], Awaitable[Remote]]
    ) -> RemoteError:
        """``error`` with what the node says after it; REBOOTED instead of LOST when it is another boot."""
        if lost not in self._asked:
            self._asked[lost] = asyncio.create_task(self._ask(lost, again))
        task = self._asked[lost]
        await asyncio.wait((task,))
        if task.cancelled():
            return error
        stage, words = task.result()
        _LOG.info(lost.node, "%s: %s", stage, words)
        return RemoteError(replace(error.failure, stage=stage, detail=f"{error.failure.detail}; {words}"), error.output)

    async def close(self) -> None:
        for task in self._asked.values():
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._asked.values(), return_exceptions=True)

    async def _ask(self, lost: SshConnection, again: Callable[[], Awaitable[Remote]]) -> tuple[FailedAt, str]:
        said = ""
        try:
            async with asyncio.timeout(self._seconds):
                while True:
                    try:
                        remote = await again()
                        break
                    except RemoteError as error:
                        if error.failure.stage is not FailedAt.UNREACHABLE:
                            raise
                        said = f": {error.failure.detail}"  # a node that boots refuses for a while
                    _LOG.debug(lost.node, "retry in %g s%s", _PAUSE, said)
                    await asyncio.sleep(_PAUSE)
                output = await remote.run(("sh", "-c", _LEFT, "left", self._session), timeout=_SEARCHING)
        except TimeoutError:
            return FailedAt.LOST, f"the node did not come back within {self._seconds:g} s{said}"
        except RemoteError as error:
            return FailedAt.LOST, f"the node did not come back: {error.failure.detail}"
        boot = remote.link.boot if isinstance(remote, SshRemote) else ""
        left = output.text.strip()
        leftovers = f"{left} processes of this session run there" if left not in ("0", "") else "nothing of ours runs"
        if boot and lost.boot and boot != lost.boot:
            return FailedAt.REBOOTED, f"the node has rebooted meanwhile; {leftovers}"
        return FailedAt.LOST, f"the node is there again and has not rebooted; {leftovers}"


_GOODBYE = 2.0
_UNABLE = (asyncssh.Error, asyncssh.ChannelListenError, OSError)
_FORBIDDEN = "does its configuration say AllowStreamLocalForwarding no or DisableForwarding yes, or its key restrict?"


@asynccontextmanager
async def join_sockets(here: SshConnection, path: str, there: SshConnection, far: str) -> AsyncIterator[None]:
    """Inside the context ``path`` of ``here`` leads to ``far`` of ``there``; RemoteError REFUSED where one may not."""
    for link in (here, there):
        if link.lost is not None or link.is_closing:
            raise RemoteError(link.make_lost_failure())
    # once to hang up, so that a refusal is told by the node and not by the tool that runs into it
    async with _explaining(there, f"did not connect to {far}"):
        (await _connect_socket(there, far)).close()
    opened: list[asyncssh.SSHForwarder] = []

    async def accept() -> asyncssh.SSHForwarder:
        opened.append(asyncssh.SSHForwarder(await _connect_socket(there, far)))
        return opened[-1]

    async with _explaining(here, f"does not listen at {path}"):
        listener = await here.client.create_unix_server(cast("Callable[[], Any]", accept), path)
    try:
        yield
    finally:
        for end in opened:
            end.close()
        listener.close()
        if here.lost is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GOODBYE):
                    await listener.wait_closed()


@asynccontextmanager
async def _explaining(link: SshConnection, what: str) -> AsyncIterator[None]:
    """Bound the time for one step with a socket; RemoteError REFUSED, with ``what`` the node did, where it fails."""
    try:
        async with asyncio.timeout(link.limits.login):
            yield
    except _UNABLE as error:
        if link.lost is not None:
            raise RemoteError(link.make_lost_failure()) from error
        detail = f"its sshd {what} ({str(error)[:100] or 'no answer'}): {_FORBIDDEN}"
        raise RemoteError(link.failure(FailedAt.REFUSED, detail)) from error


async def _connect_socket(link: SshConnection, path: str) -> asyncssh.SSHForwarder:
    session = cast("Callable[[], Any]", asyncssh.SSHForwarder)
    _, end = await link.client.create_unix_connection(session, path)
    return cast(asyncssh.SSHForwarder, end)
