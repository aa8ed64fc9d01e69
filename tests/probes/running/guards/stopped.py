"""A round in a process of its own, to be stopped and continued: says ``asked``, reads its answer, says what came of it."""

import asyncio
import sys
from collections.abc import Sequence

from benchconsole.probes.model import time_limits
from benchconsole.probes.model.measuring import Output, Round, Target, Test
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.plugins import loop_watchdog
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing import FakeRemote
from benchconsole.probes.testing.fake import a_node
from benchconsole.topology.model.fabric import Node
from tests.probes.played import Alone


class Instant(Alone):
    def estimate(self, options: object) -> float:
        return 0.0


class Answering(FakeRemote):
    """A node whose answer comes over standard input."""

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        answers = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(answers), sys.stdin)
        print("asked", flush=True)
        return Output(tuple(argv), await answers.readline(), node=self.node)


class Reaching:
    async def remote(self, node: Node) -> Remote:
        return Answering(node.id)

    async def close(self) -> None:
        """Nothing was opened."""


async def main() -> None:
    time_limits.OVERTIME, loop_watchdog.LIMIT = float(sys.argv[1]), 0.1
    each = Round(1, "s", "inventory", (Test("t", "inventory", Target(a_node()), 1),), 1.0, "x")
    closed = await Runner(Reaching(), {"inventory": Instant()}).run(each, RoundObserver(on_notice=print))
    (result,) = closed.results
    print(result.failure.detail if result.failure else f"read {result.measurements[0].value:g}")


asyncio.run(main())
