"""Played nodes: scripted answers by command, and a list of everything that was asked.

They speak the protocols of ``probes.model.remote``. A command without a script fails, unless the node is
``lenient``: a test should say what it expects to be asked.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import Enum

from benchconsole.probes.api import Node, NodeRole, Output, ProbeError, Remote, RemoteError
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Hardware, NodeId


class _Hangs(Enum):
    HANGS = "hangs"


HANGS = _Hangs.HANGS
"""The answer of a command that never ends by itself and says nothing."""

Answer = Output | RemoteError | _Hangs
"""The answer of a command: it leaves an output, fails to be brought to its end, or hangs."""

Matcher = Callable[[tuple[str, ...]], bool]


@dataclass(frozen=True, slots=True)
class Call:
    """One command that was asked for; ``started`` tells ``start`` from ``run``."""

    node: NodeId
    argv: tuple[str, ...]
    stdin: bytes
    timeout: float
    started: bool


def a_node(name: str = "n1", address: str = "192.0.2.1", data_address: str | None = None) -> Node:
    """A node to aim at; the addresses are of a range that no machine has."""
    return Node(NodeId(name), NodeRole.COMPUTE, Hardware("played"), address, data_address or address)


class FakeRemote:
    """One played node. ``calls`` is what was asked, in order; ``running`` what has not ended yet.

    With ``lenient`` a command without a scripted answer leaves an empty output, and a started
    one says whatever is waited for. ``strict`` (the default) fails it as a missing tool.
    """

    def __init__(self, node: str = "n1", *, lenient: bool = False) -> None:
        self._node = NodeId(node)
        self._lenient = lenient
        self._answers: list[tuple[Matcher, list[Answer]]] = []
        self.calls: list[Call] = []
        self.running: list[Call] = []

    @property
    def node(self) -> NodeId:
        return self._node

    def when(self, *words: str, answers: Answer | Sequence[Answer]) -> "FakeRemote":
        """Script commands that hold ``words`` in this order: one answer each time, the last one for good."""

        def matches(argv: tuple[str, ...]) -> bool:
            rest = iter(argv)
            return all(word in rest for word in words)

        return self.when_matching(matches, answers=answers)

    def when_matching(self, matches: Matcher, *, answers: Answer | Sequence[Answer]) -> "FakeRemote":
        """Script commands that ``matches`` accepts; what was scripted first is asked first."""
        queue = list(answers) if isinstance(answers, Sequence) else [answers]
        if not queue:
            raise ValueError("found no answer, expected at least one")
        self._answers.append((matches, queue))
        return self

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        """Answer as scripted; a hanging command is ended by cancellation only."""
        call = Call(self._node, tuple(argv), stdin, timeout, started=False)
        going = FakeRunning(self, call, lenient=self._lenient)
        going.begin()
        try:
            return await going.output()
        finally:
            self.running.remove(call)

    def start(self, argv: Sequence[str], *, timeout: float) -> AbstractAsyncContextManager["FakeRunning"]:
        """Keep a command running inside the context, its answer being what it says meanwhile."""
        return FakeRunning(self, Call(self._node, tuple(argv), b"", timeout, started=True), lenient=self._lenient)

    def answer(self, call: Call) -> Answer:
        """Write ``call`` down as running and look up what it does."""
        self.calls.append(call)
        self.running.append(call)
        for matches, queue in self._answers:
            if matches(call.argv):
                return queue.pop(0) if len(queue) > 1 else queue[0]
        if self._lenient:
            return Output(call.argv, node=self._node)
        return self.failure(FailedAt.MISSING_TOOL, f"nothing scripted for {' '.join(call.argv[:3])}")

    def failure(self, stage: FailedAt, detail: str, output: Output | None = None) -> RemoteError:
        """The error of this node that a script may raise."""
        return RemoteError(Failure(stage, detail, self._node), output)


class FakeRunning:
    """A played command: it has said its whole answer from the beginning, and goes on inside ``async with``.

    No generator, so that one that is forgotten stays among the running.
    """

    def __init__(self, remote: FakeRemote, call: Call, *, lenient: bool) -> None:
        self._remote = remote
        self._call = call
        self._lenient = lenient

    def begin(self) -> None:
        self._answer = self._remote.answer(self._call)

    async def __aenter__(self) -> "FakeRunning":
        self.begin()
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._remote.running.remove(self._call)

    async def says(self, text: str, *, timeout: float) -> None:
        """Return when the scripted output holds ``text``; else fail as an ended or a silent command does."""
        output = await self._said()
        if self._lenient or text in output.text + output.error_text:
            return
        if output.exit_status is None:
            raise self._remote.failure(FailedAt.TIMEOUT, f"did not say {text!r} within {timeout:g} s", output)
        said = (output.error_text.strip() or output.text.strip() or "no output").splitlines()[0]
        detail = f"ended with status {output.exit_status} before it said {text!r}: {said}"
        raise self._remote.failure(FailedAt.TOOL, detail, output)

    async def output(self) -> Output:
        """The scripted output; of a command that goes on (``exit_status`` None) as if it ended now."""
        return replace(await self._said(), argv=self._call.argv, node=self._call.node)

    def make_output(self) -> Output:
        """The scripted output; nothing of a command that fails or hangs."""
        answer = self._answer if isinstance(self._answer, Output) else Output(())
        return replace(answer, argv=self._call.argv, node=self._call.node)

    async def _said(self) -> Output:
        await asyncio.sleep(0)
        if isinstance(self._answer, RemoteError):
            raise self._answer
        if isinstance(self._answer, _Hangs):
            await asyncio.Event().wait()
            raise AssertionError("a command that hangs has ended")
        return self._answer


class FakeContact:
    """The nodes of one test, played. ``gathered`` counts how often the probe waited for its round."""

    def __init__(self, here: Remote, *others: Remote | None) -> None:
        self.everyone: Sequence[Remote] = (here, *(other for other in others if other is not None))
        self.gathered = 0

    @property
    def here(self) -> Remote:
        return self.everyone[0]

    @property
    def there(self) -> Remote:
        """The target's peer; ProbeError when there is none."""
        if len(self.everyone) < 2:
            raise ProbeError("this target has no peer")
        return self.everyone[1]

    async def together(self) -> None:
        """Return at once: there is nobody else in the round."""
        self.gathered += 1
        await asyncio.sleep(0)


class FakeReach:
    """A session's connections, played: nodes by name, and errors for those that cannot be reached."""

    def __init__(self, remotes: Mapping[str, Remote | RemoteError]) -> None:
        self._remotes = dict(remotes)
        self.opened: list[NodeId] = []
        self.closed = False

    async def remote(self, node: Node) -> Remote:
        """The played node; RemoteError as scripted, or for a name that nobody plays."""
        await asyncio.sleep(0)
        self.opened.append(node.id)
        found = self._remotes.get(node.id)
        if found is None:
            raise RemoteError(Failure(FailedAt.UNREACHABLE, "nobody plays this node", node.id))
        if isinstance(found, RemoteError):
            raise found
        return found

    async def close(self) -> None:
        self.closed = True
