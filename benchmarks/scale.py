"""The default suite over a simulated cluster, headless: what it costs, and that nothing is lost.

    python -m benchmarks.scale [NODES ...] [--tables suite,screen,silence] [--runs 3]

For each size the farm is started once; a bare asyncssh client logs in to it and runs commands, which
gives the limit of this machine in this run; then the suite runs as ``run`` does it. Everything is
then judged and folded once more from the store, to time these alone. CPU seconds are the figure to trust.

``--tables`` names other tables, too: ``screen`` runs the demo as a command, with the screen and without it
(``scale_screen``), ``silence`` the suite with nodes that accept a connection and say nothing (``scale_silence``).
These two are medians of ``--runs``; the first is one run.
"""

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from benchconsole.console.cli.common import read_topology
from benchconsole.console.session.collector import tune_collector
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.round_judging import make_judging_context
from benchconsole.console.session.session import Session
from benchconsole.console.simulator.cluster import SimulatedCluster
from benchconsole.console.view.events import Event, NodesProven, SessionEnded, SessionOpened, TestStarted
from benchconsole.console.view.reducer import advance_all, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.probes.model.measuring import Result
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import Fabric
from benchmarks.scale_screen import measure_screen
from benchmarks.scale_silence import measure_silence

SIZES = (1000, 10_000)
TABLES = ("suite", "screen", "silence")
BARE = 600
"""Nodes that the bare client logs in to; its costs a login and a command do not depend on how many."""

TICK = os.sysconf("SC_CLK_TCK")


def cpu() -> float:
    """CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@dataclass
class Farm:
    """Processor time and memory of the process of the simulated cluster."""

    pid: int

    @property
    def cpu(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    @property
    def peak(self) -> float:
        """Megabytes."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024 / 1e6


@dataclass
class Bare:
    """Costs of asyncssh alone here, CPU seconds."""

    login: float = 0.0
    command: float = 0.0


async def bare(access: Access, addresses: Sequence[str]) -> Bare:
    """Log in to each address and run commands, with nothing around it."""
    known = asyncssh.read_known_hosts(access.known_hosts or "")
    options = asyncssh.SSHClientConnectionOptions(
        config=[], username=access.user, client_keys=[access.identity], known_hosts=known, agent_path=None,
        preferred_auth="publickey", encryption_algs="aes128-gcm@openssh.com", kex_algs="curve25519-sha256",
        server_host_key_algs="ssh-ed25519", compression_algs=None, login_timeout=5,  # one node keeps silent
    )  # fmt: skip
    slots = asyncio.Semaphore(64)
    connections: list[asyncssh.SSHClientConnection] = []

    async def login(address: str) -> None:
        async with slots:
            try:
                connections.append(await asyncssh.connect(address, access.port, options=options))
            except (OSError, asyncssh.Error):
                return

    async def command(connection: asyncssh.SSHClientConnection) -> None:
        async with slots:
            await connection.run("true", encoding=None)

    before = cpu()
    await asyncio.gather(*map(login, addresses))
    logged_in = cpu()
    for _ in range(2):
        await asyncio.gather(*map(command, connections))
    ended = cpu()
    for connection in connections:
        connection.abort()
    await asyncio.gather(*(connection.wait_closed() for connection in connections))
    return Bare((logged_in - before) / len(connections), (ended - logged_in) / (2 * len(connections)))


@dataclass
class Told:
    """Results of a run; ``peak`` megabytes that the process held at most until its end."""

    wall: float = 0.0
    peak: float = 0.0
    cpu: float = 0.0
    farm: float = 0.0
    fold: float = 0.0
    ended: int = 0
    judged: int = 0
    complete: bool = False
    proven: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)


async def run(session: Session, farm: Farm) -> Told:
    """The whole suite, folded as it is told."""
    told = Told()
    began, used, served = time.perf_counter(), cpu(), farm.cpu
    session.start(session.propose())
    view, unfolded = RunView(session.fabric), list[Event]()
    async for event in session.live():
        at = time.perf_counter()
        unfolded.append(event)
        if not isinstance(event, (TestStarted, Result)):  # as ``run`` does
            view, unfolded = advance_all(view, unfolded), []
        told.fold += time.perf_counter() - at
        if isinstance(event, Result):
            told.ended += 1
            failure = event.failure
            told.outcomes["number" if failure is None else failure.stage.value] += 1
        elif isinstance(event, ClosedRound):
            told.judged += len(event.results)
        elif isinstance(event, NodesProven):
            told.proven = sum(proof.clean for proof in event.proofs)
        elif isinstance(event, SessionEnded):
            told.complete = event.complete
            break
    await session.finished()
    told.wall, told.cpu, told.farm = time.perf_counter() - began, cpu() - used, farm.cpu - served
    told.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return told


def kept_megabytes(folder: Path) -> float:
    """The database with what its journal still holds."""
    return sum(path.stat().st_size for path in folder.glob("scale.db*")) / 1e6


def again(store: Store, session: Session, fabric: Fabric) -> tuple[int, dict[str, float], int]:
    """Results in the store; CPU seconds of judging, of findings and of folding them; how many findings."""
    bench = make_judging_context(fabric, session.probes)
    found: tuple[Finding, ...] = ()
    kept, spent = Findings(bench), dict.fromkeys(("judge", "findings", "fold again"), 0.0)
    view = opened(SessionOpened(session.id, "", fabric, "", session.plan, 0.0))
    results = 0
    for closed in store.session(session.id).read_rounds(fabric):
        results += len(closed.results)
        first = cpu()
        verdicts = judge_round(bench, closed)
        second = cpu()
        kept.add_round(replace(closed, verdicts=verdicts))
        found = kept.rank()
        third = cpu()
        view = advance_all(view, [*closed.results, replace(closed, verdicts=verdicts, findings=found)])
        for name, seconds in zip(spent, (second - first, third - second, cpu() - third), strict=True):
            spent[name] += seconds
    covered = compute_totals(view).covered
    counted = covered.tested + covered.failed + covered.unreachable + covered.skipped
    assert counted == results - len(view.replaced), "a test that a later one repeats is counted once"
    return results, spent, len(found)


async def measure(nodes: int, folder: Path) -> None:
    """One size."""
    probes = load_probes().probes
    async with SimulatedCluster("large", folder, nodes=nodes) as cluster:
        assert cluster.pid is not None
        farm = Farm(cluster.pid)
        fabric = read_topology(cluster.topology_path, probes)
        limit = await bare(fabric.access, [node.address for node in list(fabric.nodes.values())[5 : 5 + BARE]])
        with Store.open(folder / "scale.db") as store:
            session = Session(fabric, probes, store, SessionChoice(label="scale"))
            before = cpu()
            rounds = len(session.propose())
            planning = cpu() - before
            told = await run(session, farm)
            stored, spent, findings = again(store, session, fabric)
            size = kept_megabytes(folder)
        tests = [test for each in session.plan for test in each.tests]  # with those that confirm or repeat
        planned, pairs = len(tests), sum(test.target.peer is not None for test in tests)
        asked = len(fabric.nodes)
        least = asked * limit.login + (planned + pairs + asked) * limit.command
        planted = sum(fault.suspect is not None for fault in cluster.scenario.faults)
        rows = [
            ("rounds, planned in CPU s", f"{rounds:,}", f"{planning:.1f}"),
            ("wall s, tests per second", f"{told.wall:,.0f}", f"{planned / told.wall:,.0f}"),
            ("CPU s of the console, bare asyncssh", f"{told.cpu:,.0f}", f"{least:,.0f}"),
            ("  x bare, ms of CPU a test", f"{told.cpu / least:.2f}", f"{1e3 * told.cpu / planned:.2f}"),
            ("CPU s of the farm", f"{told.farm:,.0f}", ""),
            ("peak MB: console, farm", f"{told.peak:,.0f}", f"{farm.peak:,.0f}"),
            ("fold, s, us an event", f"{told.fold:.1f}", f"{1e6 * told.fold / (2 * planned):.0f}"),
            ("findings, planted", f"{findings}", f"{planted}"),
            ("nodes proven clean, of", f"{told.proven:,}", f"{len(fabric.nodes):,}"),
            ("database MB, kB a test", f"{size:,.0f}", f"{1e3 * size / planned:.1f}"),
        ]
        share = "share of the console's"
        rows += [(f"CPU s: {name}; {share}", f"{took:.1f}", f"{took / told.cpu:.1%}") for name, took in spent.items()]
        report(nodes, (planned, stored), told, rows)


def report(nodes: int, counted: tuple[int, int], told: Told, rows: Sequence[tuple[str, str, str]]) -> None:
    """The table of one size; ``counted`` are the tests that were planned and those that are stored."""
    planned, stored = counted
    print(f"\n{nodes:,} nodes, {'complete' if told.complete else 'NOT COMPLETE'}")
    print(f"  planned {planned:,}, ended {told.ended:,}, judged {told.judged:,}, stored {stored:,}", end=": ")
    print(f"lost {planned - stored:,}")
    print("  " + ", ".join(f"{name} {number:,}" for name, number in told.outcomes.most_common()))
    for name, first, second in rows:
        print(f"  {name:44} {first:>10} {second:>10}")
    sys.stdout.flush()


def main() -> None:
    """Every table of every size in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, metavar="NODES")
    parser.add_argument("--tables", default=TABLES[0])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    tables = given.tables.split(",")
    if unknown := set(tables) - set(TABLES):
        parser.error(f"found table {', '.join(sorted(unknown))}, expected some of {', '.join(TABLES)}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # children find their bytecode, as an installed program does
    tune_collector()
    for nodes in given.sizes or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            if "suite" in tables:
                asyncio.run(measure(nodes, Path(folder)))
            if "screen" in tables:
                measure_screen(nodes, given.runs)
            if "silence" in tables:
                asyncio.run(measure_silence(nodes, given.runs, Path(folder)))


if __name__ == "__main__":
    main()
