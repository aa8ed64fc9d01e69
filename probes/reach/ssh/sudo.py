"""Commands as the administrator of a node whose login is not root: ``sudo``.

``sudo -n`` is tried first. Where it wants a password, a person is asked once for the session, and the answer goes to
the stdin of ``sudo -S`` and nowhere else. It is sent only when sudo has printed its prompt, so that no command can
read it by mistake, and only once for each command. The first node that gets it is alone until sudo has accepted or
refused it: a wrong password is refused by one node and known to be wrong for all. The watchdog itself runs under sudo,
because an ordinary user may not signal a process of root; the end of its stdin is the order to end.
"""

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextlib import suppress

from benchconsole.probes.model.measuring import FailedAt, Output
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.model.secret import Secret, keep_out_of_dumps, mask_secrets
from benchconsole.probes.reach.ssh.command import SshCommand, SudoPrompt
from benchconsole.probes.reach.ssh.connection import SshConnection
from benchconsole.topology.model.fabric import NodeId

AskPassword = Callable[[str], "str | Awaitable[str | None] | None"]
"""Asks a person. Called once a session, in a thread; may be a coroutine function, then it runs on the loop."""

RunUnderSudo = Callable[[SudoPrompt], Awaitable[SshCommand]]

_WANTS_PASSWORD = re.compile(rb"a (?:password|terminal) is required|no password was provided|no askpass program")
_REFUSALS = (
    (re.compile(rb"must have a tty"), "it insists on a terminal (requiretty); take that out for this user"),
    (re.compile(rb"not in the sudoers|may not run sudo"), "this user may not use it on this node"),
    (re.compile(rb"not allowed to (?:execute|run)"), "it does not allow this user to run /bin/sh as root"),
    (re.compile(rb"is not allowed to run|unknown user"), "this user may not use it on this node"),
)
_IN_A_ROW = 3
"""Nodes in a row that refuse a password which others took, after which it is tried nowhere else."""


class SudoRunner:
    """Runs commands as root, whatever that takes on each node."""

    def __init__(self, ask: AskPassword | None, threads: Executor) -> None:
        self._ask = ask
        self._threads = threads
        self._asking: asyncio.Task[Secret | None] | None = None
        self._with_password: set[NodeId] = set()
        self._refused_by: list[NodeId] = []
        self._in_a_row = 0
        self._is_right = False
        self._is_tried = False
        self._changed = asyncio.Event()

    async def run(self, link: SshConnection, run: RunUnderSudo) -> Output:
        """A command as root, under sudo, on a node whose login is not root."""
        if link.node not in self._with_password:
            call = await run(SudoPrompt())
            noise = call.channel.err.preamble
            if call.channel.out.first_line is not None or not _WANTS_PASSWORD.search(noise):
                return _result(call)
            self._with_password.add(link.node)
        secret = await self._secret(link)
        is_first = await self._turn(link)
        question = SudoPrompt(secret, lambda accepted: self._decided(link.node, accepted))
        try:
            call = await run(question)
        finally:
            if is_first:  # nothing was decided: the next one tries it alone
                self._is_tried = False
                self._changed.set()
        if question.refused:
            raise RemoteError(link.failure(FailedAt.TOOL, "sudo refused the password; it is not tried again"))
        return _result(call)

    async def _secret(self, link: SshConnection) -> Secret:
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_once(link))
        await asyncio.wait((self._asking,))
        secret = self._asking.result()
        if secret is None:
            raise RemoteError(link.failure(FailedAt.NO_PASSWORD, "sudo wants a password there, and none was given"))
        return secret

    async def _ask_once(self, link: SshConnection) -> Secret | None:
        if self._ask is None:
            return None
        user = link.client.get_extra_info("username")
        prompt = f"[sudo] password of {user} on the nodes (first wanted by {link.node}): "
        with suppress(OSError):  # a sandbox may forbid it, and the password is wanted there too
            keep_out_of_dumps()
        given = await asyncio.get_running_loop().run_in_executor(self._threads, self._ask, prompt)
        if inspect.isawaitable(given):
            given = await given
        return None if given is None else Secret(given)

    async def _turn(self, link: SshConnection) -> bool:
        """Wait until the password is known to be right, or to be the one who tries it; whether it is the latter."""
        while True:
            if link.node in self._refused_by or (self._in_a_row and not self._is_right):
                where = ", ".join(self._refused_by[-_IN_A_ROW:])
                words = f"not tried: sudo refused the password on {where}"
                raise RemoteError(link.failure(FailedAt.NO_PASSWORD, words))
            if self._is_right:
                return False
            if not self._is_tried:
                self._is_tried = True
                return True
            self._changed.clear()
            await self._changed.wait()

    def _decided(self, node: NodeId, accepted: bool) -> None:
        if accepted:
            self._is_right, self._in_a_row = True, 0
        else:
            self._refused_by.append(node)
            self._in_a_row += 1
            self._is_right = self._is_right and self._in_a_row < _IN_A_ROW
        self._changed.set()


def _result(call: SshCommand) -> Output:
    """The output of the command; a refusal of sudo to start it is a failure of its own."""
    channel = call.channel
    if channel.out.first_line is not None or not channel.has_exited or call.timed_out is not None:
        return call.result()
    noise = channel.err.preamble
    if channel.status == 127 and b"sudo" in noise:
        raise RemoteError(call.link.failure(FailedAt.MISSING_TOOL, "sudo is not installed, and the login is not root"))
    known = next((words for pattern, words in _REFUSALS if pattern.search(noise)), None)
    lines = mask_secrets(noise.decode(errors="replace")).strip().splitlines() or ["it said nothing"]
    raise RemoteError(call.link.failure(FailedAt.TOOL, f"sudo did not run the command: {known or lines[-1][:300]}"))
