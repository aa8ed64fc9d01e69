"""Owns the running of commands over one connection: under the watchdog, one channel each, to a sure end.

Implements ``Remote`` and ``Running``. However a call ends (answer, time over, flood, cancellation),
the command on the node has been ended by then, or the failure says that it could not be.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from probes.model import FailedAt, Output
from probes.remote import Remote, RemoteError, Running
from probes.ssh.beginning import begun, nonce
from probes.ssh.ending import Call
from probes.ssh.joining import joined
from probes.ssh.lanes import Lanes
from probes.ssh.link import Link
from probes.ssh.privilege import Administrator, Question
from probes.ssh.watchdog import STDIN_LIMIT, Wrapped, wrap
from topology.model import NodeId

Explain = Callable[[Link, RemoteError], Awaitable[RemoteError]]
"""Says what became of a node whose connection was lost while a command ran."""


_TIMEOUT = 20.0


class SshRemote:
    """A node reached over one connection, or several while one does not hold all its commands."""

    def __init__(self, lanes: Lanes, administrator: Administrator, explain: Explain) -> None:
        self._lanes = lanes
        self._administrator = administrator
        self._explain = explain

    @property
    def node(self) -> NodeId:
        """The node's name."""
        return self._lanes.first.node

    @property
    def link(self) -> Link:
        """The first of its connections, which lasts as long as the node is reached."""
        return self._lanes.first

    @property
    def boot(self) -> str:
        """The node's boot id; empty before its first command, and where it has none."""
        return self._lanes.first.boot

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        """Run ``argv`` to its end; see ``probes.remote.Remote``."""
        if len(stdin) > STDIN_LIMIT:
            raise ValueError(f"stdin of {len(stdin)} bytes; at most {STDIN_LIMIT} can be passed to a command")
        link = self._lanes.ready() or await self._lanes.pick()
        if privileged and not await self._is_root():
            return await self._administrator.run(link, self._as_root, argv, timeout, stdin)
        wrapped = wrap(argv, session=link.session, nonce=nonce(), timeout=timeout, stdin=stdin)
        call = await self._run(link, argv, wrapped, timeout, None)
        return call.result()

    async def _is_root(self) -> bool:
        """Whether the login is root, by what its first command showed; asked where a node shows nothing."""
        if self._lanes.is_root is None:
            known = next((link.is_root for link in self._lanes.links if link.is_root is not None), None)
            if known is None:
                output = await self.run(("id", "-u"), timeout=_TIMEOUT)
                known = output.exit_status == 0 and output.text.strip() == "0"
            self._lanes.is_root = known
        return self._lanes.is_root

    async def _as_root(self, link: Link, argv: Sequence[str], timeout: float, stdin: bytes, question: Question) -> Call:
        """Run ``argv`` under ``sudo``; the caller reads from the call whether sudo let it."""
        wrapped = wrap(argv, session=link.session, nonce=nonce(), timeout=timeout, stdin=stdin, under=question.words)
        question.feed = wrapped.feed
        return await self._run(link, argv, wrapped, timeout, question)

    async def _run(
        self, link: Link, argv: Sequence[str], wrapped: Wrapped, timeout: float, question: Question | None
    ) -> Call:
        speech = await begun(link, wrapped, question)
        call = Call(link, tuple(argv), wrapped, speech, is_elevated=question is not None)
        try:
            async with asyncio.timeout(timeout):
                await speech.until_over()
        except TimeoutError:
            if not await call.has_ended_after_all():
                call.timed_out = timeout
        finally:
            await call.end()
        if call.was_cut_off:
            call.explained = await self._explain(link, call.lost())
        return call

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator[Running]:
        """Start ``argv`` and leave it running inside the context; see ``probes.remote.Remote``."""
        link = self._lanes.ready() or await self._lanes.pick()
        wrapped = wrap(argv, session=link.session, nonce=nonce(), timeout=timeout)
        call = Call(link, tuple(argv), wrapped, await begun(link, wrapped, None))
        watch = asyncio.create_task(_limit(call, timeout))
        try:
            yield SshRunning(call, self._explain)
        finally:
            watch.cancel()
            await call.end()

    @asynccontextmanager
    async def joined(self, path: str, far: Remote, far_path: str) -> AsyncIterator[None]:
        """Join the socket ``path`` with ``far_path`` on ``far``; see ``probes.remote.Joining``."""
        if not isinstance(far, SshRemote):
            detail = f"its Unix sockets cannot be joined with those of {far.node}, which is not reached over SSH"
            raise RemoteError(self.link.failure(FailedAt.REFUSED, detail))
        async with joined(self.link, path, far.link, far_path):
            yield


class SshRunning:
    """A command that goes on while others run."""

    def __init__(self, call: Call, explain: Explain) -> None:
        self._call = call
        self._explain = explain

    async def says(self, text: str, *, timeout: float) -> None:
        """Wait until its output holds ``text``; RemoteError when it ends first or time is over."""
        speech, wanted = self._call.speech, text.encode()
        try:
            async with asyncio.timeout(timeout):
                while not (speech.out.holds(wanted) or speech.err.holds(wanted)):
                    if speech.closed or speech.is_flooded or self._call.timed_out is not None:
                        break
                    speech.changed.clear()
                    await speech.changed.wait()
                else:
                    return
        except TimeoutError:
            detail = f"did not say {text!r} within {timeout:g} s"
            raise self._call.error(FailedAt.TIMEOUT, detail) from None
        await self._understand()
        raise self._call.ended_early(text)

    async def output(self) -> Output:
        """Wait for its end and return everything that it said."""
        await self._call.speech.until_over()
        await self._call.end()
        await self._understand()
        return self._call.result()

    async def _understand(self) -> None:
        if self._call.was_cut_off and self._call.explained is None:
            self._call.explained = await self._explain(self._call.link, self._call.lost())


async def _limit(call: Call, seconds: float) -> None:
    """End a command that was started for ``seconds``."""
    await asyncio.sleep(seconds)
    if not call.speech.has_exited:
        call.timed_out = seconds
        await call.end()
