"""A table of ``scale.py``: what nodes that accept a connection and never say a word cost all others.

The same plan runs three times on the simulated cluster: everybody answers, one node is silent, one of twenty is.
Sockets of our own stand for the silent nodes: the kernel accepts for them, and nobody reads. The nodes of the cluster
that cannot be asked anyhow are left out. "The others" are the tests that touch none of the nodes that fall silent in
any of the three; what they wait is the time from the start of the run to the end of the last of them.
"""

import os
import socket
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import NamedTuple

from benchconsole.console.cli.common import read_topology
from benchconsole.console.session.metadata import CONFIRM, SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.console.simulator.cluster import SimulatedCluster
from benchconsole.console.simulator.scenarios import FaultKind
from benchconsole.console.view.events import SessionEnded
from benchconsole.probes.api import Probe
from benchconsole.probes.model.measuring import Result, Test
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId

ONE_OF = 20
UNASKED = (FaultKind.REFUSES, FaultKind.SILENT, FaultKind.HOST_KEY_CHANGED)


class Waited(NamedTuple):
    """One run: seconds until the last test of the others ended, and until the run did; how many tests they had."""

    others: float
    end: float
    tests: int


@contextmanager
def open_mute(nodes: Sequence[NodeId], port: int) -> Iterator[dict[NodeId, str]]:
    """An address for each node where a connection is accepted and nothing is said."""
    sockets: dict[NodeId, socket.socket] = {}
    try:
        for place, node in enumerate(nodes):
            sockets[node] = made = socket.socket()
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # a large farm listens at every address
            made.bind((f"127.98.{place // 250}.{1 + place % 250}", port))
            made.listen(64)
        yield {node: made.getsockname()[0] for node, made in sockets.items()}
    finally:
        for made in sockets.values():
            made.close()


def move(fabric: Fabric, addresses: Mapping[NodeId, str]) -> Fabric:
    """The fabric with these nodes at other addresses."""
    nodes = {name: replace(node, address=addresses.get(name, node.address)) for name, node in fabric.nodes.items()}
    return replace(fabric, nodes=MappingProxyType(nodes))


def choose_silent(asked: Sequence[NodeId]) -> list[NodeId]:
    """One of twenty nodes, evenly spread."""
    return list(asked[ONE_OF // 2 :: ONE_OF]) or [asked[0]]


def touches(test: Test, nodes: Collection[NodeId]) -> bool:
    target = test.target
    return any(node is not None and node.id in nodes for node in (target.node, target.peer, *target.members))


async def wait_for_others(session: Session, silent: Collection[NodeId]) -> Waited:
    """Run the suite to its end."""
    began, last, tests = time.perf_counter(), 0.0, 0
    session.start(session.propose())
    async for event in session.live():
        if isinstance(event, Result) and not touches(event.test, silent):
            last, tests = time.perf_counter() - began, tests + 1
        elif isinstance(event, SessionEnded):
            break
    await session.finished()
    return Waited(last, time.perf_counter() - began, tests)


async def run_with(nodes: int, number: int | None, probes: Mapping[str, Probe], folder: Path) -> Waited:
    """One run on a new cluster, in which so many of the chosen nodes are silent (None: all of them)."""
    async with SimulatedCluster("large", folder, nodes=nodes) as cluster:
        fabric = read_topology(cluster.topology_path, probes)
        asked = tuple(name for name in fabric.nodes if name not in cluster.scenario.select(*UNASKED))
        chosen = choose_silent(asked)
        with open_mute(chosen[:number], cluster.port) as addresses, Store.open(folder / "silence.db") as store:
            # rounds that confirm differ from run to run
            choice = SessionChoice(label="silence", nodes=asked, options={CONFIRM: 0})
            return await wait_for_others(Session(move(fabric, addresses), probes, store, choice), set(chosen))


async def measure_silence(nodes: int, runs: int, folder: Path) -> None:
    """The table of one size."""
    probes = load_probes().probes
    told: dict[int | None, list[Waited]] = {0: [], 1: [], None: []}
    for run in range(runs):
        for number, each in told.items():
            each.append(await run_with(nodes, number, probes, folder / f"{run}-{number}"))
    print(f"\n{nodes:,} nodes, some accept and say nothing, medians of {runs} (load {os.getloadavg()[0]:.1f})")
    print(f"  {'silent':16} {'others, tests':>14} {'s':>8} {'added':>8} {'ratio':>6} {'run, s':>8} {'added':>8}")
    names = {0: "none", 1: "1 node", None: f"1 of {ONE_OF}"}
    others, end = (median(run[place] for run in told[0]) for place in (0, 1))
    for number, each in told.items():
        waited, ended, tests = (median(run[place] for run in each) for place in (0, 1, 2))
        print(
            f"  {names[number]:16} {tests:14,.0f} {waited:8.1f} {waited - others:+8.1f} {waited / others:6.2f}", end=""
        )
        print(f" {ended:8.1f} {ended - end:+8.1f}")
