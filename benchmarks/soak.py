"""Runs one after the other into one database, with random faults: does anything grow that should not?

    python -m benchmarks.soak [MINUTES] [--nodes 200] [--seed 1]

A farm of real SSH servers on the loopback, in a process of its own. One of twenty nodes is silent, refuses, shows a
changed or an unknown key, or refuses the login; of the commands on the others one in twenty is slow, killed, answers
garbage, floods, finds its disk full, or loses its connection. Each run is two rounds of one command on every node, then
the search of the nodes, as ``run`` does it, in this one process; each reaches the nodes anew.

A line every minute; then for memory, descriptors, threads and the database a plot over the runs, and by how much each
grew a run over the second half (Theil and Sen's slope, the median over all pairs). Memory, descriptors and threads
should be flat once SQLite's cache of pages is full (16 MiB), the database grow by the same from run to run. ``lost`` is
what was planned and is not stored.
"""

import argparse
import asyncio
import gc
import random
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.console.view.events import SessionEnded
from benchconsole.probes.api import Metric, Output, Probe, Reading, Target, Unit
from benchconsole.store.store import Store
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric

ODD = ("SILENT", "REFUSES", "CHANGED_KEY", "UNKNOWN_KEY", "NO_LOGIN")
FAULTS = ("slow", "killed", "garbage", "flood", "disk full", "reset")
SHARE = 20
"""One of so many nodes, and of so many commands, is faulty."""
PAGE = resource.getpagesize()
BARS = "▁▂▃▄▅▆▇█"
WIDTH = 60


class Asks(Probe):
    name = "asks"
    summary = "asks for a number"
    metrics = (Metric("asks.number", Unit.ONE, "what it said"),)
    timeout = 10.0

    def command(self, target: Target) -> list[str]:
        return ["ask"]

    def parse(self, output: Output) -> Sequence[Reading]:
        return (Reading("asks.number", float(output.stdout), Unit.ONE),)


class Usage(NamedTuple):
    """Resources that this process holds after a run: bytes, numbers, and bytes of the database with its journal."""

    memory: float
    descriptors: float
    threads: float
    database: float


def measure_usage(folder: Path) -> Usage:
    """The usage now, after what nobody refers to is gone."""
    gc.collect()
    fields = Path("/proc/self/statm").read_text().split()
    size = sum(path.stat().st_size for path in folder.glob("soak.db*"))
    return Usage(int(fields[1]) * PAGE, sum(1 for _ in Path("/proc/self/fd").iterdir()), threading.active_count(), size)


# -- the farm


async def serve(directory: Path, nodes: int, seed: int) -> None:
    """The farm's process, until its standard input ends."""
    from benchconsole.probes.testing.server import Manner, Reply, ScriptedSshd

    chance = random.Random(seed)

    async def finish(reply: Reply, seconds: float) -> Reply:
        await asyncio.sleep(seconds)
        return reply

    async def answer(address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
        if argv[:1] != ("ask",):
            return Reply()
        fault = chance.choice(FAULTS) if chance.randrange(SHARE) == 0 else ""
        if fault == "reset":
            farm.hang_up(address)
        replies = {
            "slow": Reply(then=finish(Reply(b"42\n"), 1.0)) if fault == "slow" else Reply(),
            "killed": Reply(exit_status=137),
            "garbage": Reply(chance.randbytes(2000)),
            "flood": Reply(b"x" * 2**20),
            "disk full": Reply(stderr=b"ask: write: No space left on device\n", exit_status=1),
        }
        return replies.get(fault, Reply(b"42\n"))

    manners = {name: Manner[ODD[place // SHARE % len(ODD)]] if place % SHARE == 0 else Manner.ANSWERS
               for place, name in enumerate(list_addresses(nodes))}  # fmt: skip
    farm = ScriptedSshd(answer, manners, directory)
    async with farm:
        print(farm.port, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def list_addresses(nodes: int) -> list[str]:
    """The loopback addresses of the farm."""
    return [f"127.9.{place // 250}.{1 + place % 250}" for place in range(nodes)]


def describe(directory: Path, port: int, nodes: int) -> Fabric:
    """The farm as a fabric."""
    named = "".join(f"  n{place:03d}: {{address: {name}}}\n" for place, name in enumerate(list_addresses(nodes), 1))
    text = (
        "schema: 1\nfabric: farm\n"
        f"ssh: {{user: bench, port: {port}, identity: {directory}/id_ed25519, known_hosts: {directory}/known_hosts}}\n"
        f"switches: {{leaf: {{role: leaf}}}}\nnodes:\n{named}"
        f'links: [{{from: "n[001-{nodes:03d}]", to: leaf, speed: 10 Gb/s}}]\n'
        "criteria: [{metric: asks.number, at_least: 40}]\n"
        "suites: {default: [{probe: asks}, {probe: asks}]}\n"
    )
    return load_text(text, directory / "farm.yaml")


# -- the runs


async def run_once(fabric: Fabric, store: Store, name: str) -> tuple[Counter[str], int]:
    """One run to its end: how its tests ended, and how many of them the store does not have."""
    session = Session(fabric, {"asks": Asks()}, store, SessionChoice(label=name))
    rounds = session.propose()
    session.start(rounds)
    async for event in session.live():
        if isinstance(event, SessionEnded):
            break
    await session.finished()
    outcomes: Counter[str] = Counter()
    for closed in store.session(session.id).read_rounds(fabric):
        outcomes.update("number" if each.failure is None else each.failure.stage.value for each in closed.results)
    planned = sum(len(each.tests) for each in session.plan)
    return outcomes, planned - outcomes.total()


async def soak(fabric: Fabric, folder: Path, seconds: float) -> tuple[list[Usage], int, Counter[str]]:
    """Run until the time is over; the usage after each run, results lost, and how all tests ended."""
    usages: list[Usage] = []
    outcomes: Counter[str] = Counter()
    lost, began, told = 0, time.monotonic(), 0.0
    with Store.open(folder / "soak.db") as store:
        while time.monotonic() - began < seconds:
            found, missing = await run_once(fabric, store, f"run {len(usages) + 1}")
            outcomes += found
            lost += missing
            usages.append(measure_usage(folder))
            if time.monotonic() - told >= 60:
                told = time.monotonic()
                report_progress(told - began, usages, lost)
    return usages, lost, outcomes


def report_progress(seconds: float, usages: Sequence[Usage], lost: int) -> None:
    """One line of what is held now."""
    now = usages[-1]
    print(
        f"{seconds / 60:6.1f} min {len(usages):5} runs  {now.memory / 1e6:7.1f} MB {now.descriptors:4.0f} descriptors "
        f"{now.threads:3.0f} threads  database {now.database / 1e6:7.1f} MB  lost {lost}",
        flush=True,
    )


def find_slope(values: Sequence[float]) -> float:
    """The growth a step: the median over all pairs (H. Theil, 1950; P. K. Sen, 1968), of 200 values at most."""
    step = max(1, len(values) // 200)
    thinned = list(enumerate(values))[::step]
    slopes = [(b - a) / (j - i) for (i, a), (j, b) in combinations(thinned, 2)]
    return statistics.median(slopes) if slopes else 0.0


def plot(values: Sequence[float]) -> str:
    """Values as bars from 0 on, the mean of as many as fall into one."""
    groups = [values[place * len(values) // WIDTH : (place + 1) * len(values) // WIDTH] for place in range(WIDTH)]
    means = [statistics.fmean(group) for group in groups if group]
    top = max(means) or 1.0
    return "".join(BARS[round(each / top * (len(BARS) - 1))] for each in means)


def main() -> None:
    """Build the farm, soak, print the plots."""
    parser = argparse.ArgumentParser()
    parser.add_argument("minutes", nargs="?", type=float, default=60)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", type=Path)
    given = parser.parse_args()
    if given.serve is not None:
        asyncio.run(serve(given.serve, given.nodes, given.seed))
        return
    asyncio.run(measure(given.minutes, given.nodes, given.seed))


async def measure(minutes: float, nodes: int, seed: int) -> None:
    """One soak, and its plots."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        farm = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.soak", "--serve", name, "--nodes", str(nodes), "--seed", str(seed),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert farm.stdin is not None
        assert farm.stdout is not None
        try:
            port = int(await farm.stdout.readline())
            usages, lost, outcomes = await soak(describe(folder, port, nodes), folder, 60 * minutes)
        finally:
            farm.stdin.close()
            await farm.wait()
    print(f"\n{len(usages)} runs of {nodes} nodes, {outcomes.total():,} tests, lost {lost}")
    print("  " + ", ".join(f"{name} {number:,}" for name, number in outcomes.most_common()))
    half = usages[len(usages) // 2 :]
    units = {"memory": (1e6, "MB"), "descriptors": (1, ""), "threads": (1, ""), "database": (1e6, "MB")}
    for place, (name, (scale, unit)) in enumerate(units.items()):
        values = [each[place] / scale for each in usages]
        slope = find_slope([each[place] / scale for each in half])
        print(f"{name:12} {values[0]:9.1f} to {values[-1]:9.1f} {unit:2}  {slope:+.4f} a run  {plot(values)}")


if __name__ == "__main__":
    main()
