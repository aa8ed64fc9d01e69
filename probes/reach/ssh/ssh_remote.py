"""Commands on one node: under the watchdog, one channel each.

Implements ``Remote``. However a call ends (answer, time-out, flood, cancellation),
the command on the node has been ended by then, or the failure says that it could not be.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Output
from benchconsole.probes.model.remote import Remote, RemoteError, Running
from benchconsole.probes.reach.ssh.command import Explain, SshCommand, start_command
from benchconsole.probes.reach.ssh.connection import SshConnection
from benchconsole.probes.reach.ssh.connection_pool import ConnectionPool
from benchconsole.probes.reach.ssh.socket_relay import join_sockets
from benchconsole.probes.reach.ssh.sudo import SudoPrompt, SudoRunner
from benchconsole.probes.reach.watchdog import STDIN_LIMIT, WrappedCommand, wrap_command
from benchconsole.probes.reach.watched_command import keep_running, make_nonce, record_command
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
        """The node's name."""
        return self._pool.first.node

    @property
    def link(self) -> SshConnection:
        """The first of its connections, which lasts as long as the node is reached."""
        return self._pool.first

    @property
    def boot(self) -> str:
        """The node's boot id; empty before its first command, and where it has none."""
        return self._pool.first.boot

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        """Run ``argv`` to its end; see ``probes.model.remote.Remote``."""
        if len(stdin) > STDIN_LIMIT:
            raise ValueError(f"stdin of {len(stdin)} bytes; at most {STDIN_LIMIT} can be passed to a command")
        return await record_command(_LOG, self.node, argv, self._run_to_end(argv, timeout, stdin, privileged))

    async def _run_to_end(self, argv: Sequence[str], timeout: float, stdin: bytes, privileged: bool) -> Output:
        link = self._pool.find_free() or await self._pool.wait_for_free()
        if privileged and not await self._is_root():
            return await self._administrator.run(link, self._as_root, argv, timeout, stdin)
        wrapped = wrap_command(argv, session=link.session, nonce=make_nonce(), timeout=timeout, stdin=stdin)
        call = await self._run(link, argv, wrapped, timeout, None)
        return call.result()

    async def _is_root(self) -> bool:
        """Whether the login is root, by what its first command showed; asked where a node shows nothing."""
        if self._pool.is_root is None:
            known = next((link.is_root for link in self._pool.connections if link.is_root is not None), None)
            if known is None:
                output = await self.run(("id", "-u"), timeout=_TIMEOUT)
                known = output.exit_status == 0 and output.text.strip() == "0"
            self._pool.is_root = known
        return self._pool.is_root

    async def _as_root(
        self, link: SshConnection, argv: Sequence[str], timeout: float, stdin: bytes, question: SudoPrompt
    ) -> SshCommand:
        """Run ``argv`` under ``sudo``; the caller reads from the call whether sudo let it."""
        wrapped = wrap_command(
            argv, session=link.session, nonce=make_nonce(), timeout=timeout, stdin=stdin, under=question.words
        )
        question.feed = wrapped.feed
        return await self._run(link, argv, wrapped, timeout, question)

    async def _run(
        self,
        link: SshConnection,
        argv: Sequence[str],
        wrapped: WrappedCommand,
        timeout: float,
        question: SudoPrompt | None,
    ) -> SshCommand:
        channel = await start_command(link, wrapped, question)
        call = SshCommand(link, argv, wrapped, channel, self._explain, is_elevated=question is not None)
        await call.run_to_end(timeout)
        await call.learn_loss()
        return call

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator[Running]:
        link = self._pool.find_free() or await self._pool.wait_for_free()
        wrapped = wrap_command(argv, session=link.session, nonce=make_nonce(), timeout=timeout)
        call = SshCommand(link, argv, wrapped, await start_command(link, wrapped, None), self._explain)
        async with keep_running(call, timeout, _LOG) as running:
            yield running

    @asynccontextmanager
    async def joined(self, path: str, far: Remote, far_path: str) -> AsyncIterator[None]:
        """Join the socket ``path`` with ``far_path`` on ``far``; see ``probes.model.remote.Joining``."""
        if not isinstance(far, SshRemote):
            detail = f"its Unix sockets cannot be joined with those of {far.node}, which is not reached over SSH"
            raise RemoteError(self.link.failure(FailedAt.REFUSED, detail))
        async with join_sockets(self.link, path, far.link, far_path):
            yield
