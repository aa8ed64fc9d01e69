"""Costs of a round beyond its commands, from 100 to 10,000 tests at once: python -m benchmarks.runner [RUNS].

Nodes are played and answer at once. ``bare`` is the same commands in one gather, without any of the guards; the
ratio of a row to the first shows whether anything grows faster than the number of tests. Medians.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Callable, Coroutine, Sequence

from benchconsole.probes.api import Output, Probe, Reading, Target
from benchconsole.probes.model.measuring import Result, Round, Test
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.running.guards.guard import Guard
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing import FakeRemote
from benchconsole.probes.testing.fake import a_node
from benchconsole.topology.model.fabric import Node

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
SIZES = (100, 1_000, 10_000)


class Asks(Probe):
    name = "asks"
    summary = "one command"

    def command(self, target: Target) -> list[str]:
        return ["true"]

    def parse(self, output: Output) -> Sequence[Reading]:
        return ()


class Instant(FakeRemote):
    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        await asyncio.sleep(0)
        return Output(tuple(argv), node=self.node)


class Reaching:
    async def remote(self, node: Node) -> Remote:
        return Instant(node.id)

    async def close(self) -> None:
        """Nothing was opened."""


async def stored(result: Result) -> Result:
    await asyncio.sleep(0)
    return result


def a_round(size: int) -> Round:
    tests = tuple(Test(f"1/asks/{index}", "asks", Target(a_node(f"n{index}")), 1) for index in range(size))
    return Round(1, "asks", "asks", tests, 1.0, "benchmark")


async def bare(each: Round) -> None:
    async def one(test: Test) -> Output:
        return await Instant(test.target.node.id).run(["true"], timeout=1)

    await asyncio.gather(*(one(test) for test in each.tests))


async def plain(each: Round) -> None:
    await Runner(Reaching(), {"asks": Asks()}).run(each, RoundObserver())


async def guarded(each: Round) -> None:
    await Runner(Reaching(), {"asks": Asks()}).run(each, RoundObserver(store=stored), guard=Guard())


async def stopped(each: Round) -> None:
    """Ended by its guard when every test is under way."""
    guard = Guard()
    left = len(each.tests)

    def started(test: Test) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            guard.trip("benchmark")

    await Runner(Reaching(), {"asks": Asks()}).run(each, RoundObserver(on_start=started, store=stored), guard=guard)


def microseconds(work: Callable[[Round], Coroutine[None, None, None]], size: int) -> float:
    """Median processor time for each test."""
    taken = []
    for _ in range(RUNS):
        each = a_round(size)
        began = time.process_time()
        asyncio.run(work(each))
        taken.append((time.process_time() - began) / size * 1e6)
    return statistics.median(taken)


def main() -> None:
    print("microseconds of processor time for each test")
    print(f"{'tests':>7}  {'bare':>8}  {'round':>8}  {'guarded, stored':>16}  {'stopped':>8}")
    first: list[float] = []
    for size in SIZES:
        row = [microseconds(work, size) for work in (bare, plain, guarded, stopped)]
        first = first or row
        growth = "  ".join(f"{now / then:.2f}" for now, then in zip(row, first, strict=True))
        print(
            f"{size:>7,}  {row[0]:8.1f}  {row[1]:8.1f}  {row[2]:16.1f}  {row[3]:8.1f}   against the first row: {growth}"
        )


if __name__ == "__main__":
    main()
