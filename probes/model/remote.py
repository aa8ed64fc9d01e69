"""The border between a probe and a node: run a command, or keep one running.

Probes and the runner see only these protocols; ``probes.reach.ssh`` speaks them over asyncssh and
``probes.testing`` plays them. Commands are argument lists, never shell strings.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Protocol, TypeVar, runtime_checkable

from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.topology.model.fabric import Node, NodeId

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


class RemoteError(ProbeError):
    """A command that could not be brought to its end. ``output`` is what it had said by then."""

    def __init__(self, failure: Failure, output: Output | None = None) -> None:
        self.failure = failure
        self.output = output
        super().__init__(f"{failure.node}: {failure.stage}: {failure.detail}")


class Running(Protocol):
    """A command that goes on while others run (a server); it is ended when its context is left."""

    async def says(self, text: str, *, timeout: float) -> None:
        """Wait until its output holds ``text``; RemoteError when it ends first or time is over."""

    async def output(self) -> Output:
        """Wait for its end and return everything that it said."""

    def make_output(self) -> Output:
        """Everything that it has said so far; nothing is waited for."""


class Remote(Protocol):
    """One node, reached. Every command runs under the watchdog and within ``timeout`` seconds."""

    @property
    def node(self) -> NodeId:
        """The node's name."""

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        """Run ``argv`` to its end. A non-zero exit is an Output; RemoteError is for having no end.

        ``privileged``: as the administrator, where the login is not (``sudo``).
        """

    def start(self, argv: Sequence[str], *, timeout: float) -> AbstractAsyncContextManager[Running]:
        """Start ``argv`` and leave it running inside the context, at most ``timeout`` seconds."""


@runtime_checkable
class Joining(Protocol):
    """A ``Remote`` whose Unix sockets can be joined with another node's; not every way to a node offers that."""

    def joined(self, path: str, far: Remote, far_path: str) -> AbstractAsyncContextManager[None]:
        """While the context lasts, whoever connects to ``path`` here speaks with ``far_path`` on ``far``.

        ``path`` must not exist yet, and something must listen at ``far_path``. RemoteError where a node refuses.
        """


class Reach(Protocol):
    """Opens and keeps the connections of a session: one per node, reused until ``close``."""

    async def remote(self, node: Node) -> Remote:
        """The connection to ``node``, opened at first use; RemoteError says at which stage it failed."""

    async def close(self) -> None:
        """End everything that was opened; nothing of ours runs on afterwards."""


async def ask_all(items: Iterable[_Item], ask: Callable[[_Item], Awaitable[_Answer]], at_once: int) -> list[_Answer]:
    """The answer of ``ask`` for each of ``items``, in their order; at most ``at_once`` are asked at the same time."""
    gate = asyncio.Semaphore(at_once)

    async def ask_in_turn(item: _Item) -> _Answer:
        async with gate:
            return await ask(item)

    return await asyncio.gather(*map(ask_in_turn, items))


async def wait_for_most(tasks: "Collection[asyncio.Task[_Answer]]", patience: float) -> "set[asyncio.Task[_Answer]]":
    """Wait for ``tasks``, but not for a few that are late; these are returned, and go on.

    Late is what has not ended when at least half of the others have, and none of them in the last ``patience`` seconds,
    nor in half the time that they all took. So the slowest of many that answer one after the other is not late, and a
    node that keeps silent holds nobody up.
    """
    loop = asyncio.get_running_loop()
    began = last = loop.time()
    left = len(tasks)
    changed = asyncio.Event()

    def note_end(_: "asyncio.Task[_Answer]") -> None:
        nonlocal left, last
        left, last = left - 1, loop.time()
        changed.set()

    for task in tasks:
        task.add_done_callback(note_end)
    while left:
        is_most = 2 * left <= len(tasks)
        limit = last + max(patience, (last - began) / 2) if is_most else None
        if limit is not None and limit <= loop.time():
            break
        changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(limit):
                await changed.wait()
    return {task for task in tasks if not task.done()}


class Contact(Protocol):
    """The nodes of one test while it runs."""

    @property
    def here(self) -> Remote:
        """The target's node (the sender, of a pair)."""

    @property
    def there(self) -> Remote:
        """The target's peer (the receiver); ProbeError when the target has none."""

    @property
    def everyone(self) -> Sequence[Remote]:
        """Every node of the target, in its order: one, two, or the members of a set."""

    async def together(self) -> None:
        """Wait until every test of the round is ready to send, so that their loads overlap."""


__all__ = ["Contact", "FailedAt", "Joining", "Reach", "Remote", "RemoteError", "Running", "ask_all", "wait_for_most"]
