"""Max-min filling beside the textbook's and linear programs: milliseconds, rounds, ratios, memory.

    python -m benchmarks.topology.maxmin [RUNS [MOST]]      (5 runs; cases of more than MOST hosts are left out)

Flows are random permutations unless named otherwise. ``hash`` puts each on one next hop and one
member, ``fluid`` divides it over all. The textbook raises all rates together and stops at one
level per pass (vectorised like ours); linear programs find one level each (HiGHS). Medians of
RUNS (5), in one run; the machine may be noisy, so compare ratios. Every result is certified
max-min fair before its time is printed. Hosts up to 10,000 are read from topology text and
routed (``paths``: CPU milliseconds that it took, from nothing, and ``known``: once more on the same
routes, as every round of a session after the first does); the paths of 100,000 are drawn as
arrays. MB is the most that the process has held so far, imports and all.
"""

import math
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib.resources import as_file, files
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

from benchconsole import topology
from benchconsole.topology.arrays import Floats
from benchconsole.topology.capacity.expect import compute_capacities
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.flow_streams import trace_flows
from benchconsole.topology.capacity.maxmin import Usage, certify, fill
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.routing.routes import Routes

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
MOST = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
"""Cases of more hosts are left out."""
SMALL = "347 nodes, hash"
BAR = 300.0
"""Milliseconds that 100,000 flows may take."""


class Case(NamedTuple):
    name: str
    used: Usage
    capacity: Floats
    flows: int
    paths: float = math.nan
    known: float = math.nan
    compared: bool = False  # the textbook takes minutes on the largest

    @property
    def demand(self) -> Floats:
        return np.full(self.flows, math.inf)


def jetstream() -> Fabric:
    with as_file(files("benchconsole.topology").joinpath("examples", "jetstream.yaml")) as path:
        return topology.load(path)


def clos(leaves: int, hosts: int, spines: int, members: int) -> Fabric:
    """Leaves with as much capacity up as down when hosts are spines times members."""
    lines = [
        "schema: 1",
        "fabric: clos",
        f'switches: {{"leaf[1-{leaves}]": {{role: leaf}}, "spine[1-{spines}]": {{role: spine}}}}',
        f'nodes: {{"n[1-{leaves * hosts}]": {{}}}}',
        "links:",
        f'  - {{from: "leaf[1-{leaves}]", to: "spine[1-{spines}]", speed: 10G, count: {members}}}',
    ]
    lines += [
        f'  - {{from: "n[{leaf * hosts + 1}-{(leaf + 1) * hosts}]", to: leaf{leaf + 1}, speed: 10G}}'
        for leaf in range(leaves)
    ]
    return load_text("\n".join(lines) + "\n", "clos.yaml")


def permutation(fabric: Fabric, times: int = 1) -> list[Flow]:
    nodes, chance = list(fabric.nodes), random.Random(1)
    return [
        Flow(source, sink)
        for _ in range(times)
        for source, sink in zip(nodes, chance.sample(nodes, len(nodes)), strict=True)
        if source != sink
    ]


def routed(name: str, fabric: Fabric, flows: list[Flow], model: Model, *, compared: bool = True) -> Case:
    """Flows of a described fabric, with the CPU milliseconds that their paths took: medians of RUNS."""
    paths, known = [], []
    for _ in range(RUNS):
        started = time.process_time()
        routes = Routes(fabric)
        crossed = trace_flows(routes, flows, model, seed=1)
        traced = time.process_time()
        trace_flows(routes, flows, model, seed=1)
        paths.append((traced - started) * 1000)
        known.append((time.process_time() - traced) * 1000)
    limits = compute_capacities(fabric, crossed.parts, {})
    return Case(
        name, crossed.used, limits, len(flows), statistics.median(paths), statistics.median(known), compared=compared
    )


def drawn(name: str, sinks: np.ndarray, *, up: int) -> Case:
    """Paths over 2,000 leaves of 50 hosts and 50 spines, ``up`` cables from each leaf, hashed."""
    chance, hosts, per_leaf = np.random.default_rng(1), 100_000, 50
    flows = len(sinks)
    sources = np.arange(flows)
    inner = sources // per_leaf != sinks // per_leaf
    climbing = 2 * hosts + sources // per_leaf * up + chance.integers(0, up, flows)
    falling = 2 * hosts + hosts // per_leaf * up + sinks // per_leaf * up + chance.integers(0, up, flows)
    flow = np.concatenate((sources, sources, sources[inner], sources[inner]))
    link = np.concatenate((sources, hosts + sinks, climbing[inner], falling[inner]))
    order = np.argsort(flow, kind="stable")
    capacity = np.full(2 * hosts + 2 * hosts // per_leaf * up, 10e9 / 8)
    return Case(name, Usage(flow[order], link[order], np.ones(len(flow))), capacity, flows)


def one_level_at_a_time(case: Case) -> tuple[Floats, int]:
    """Textbook progressive filling; each pass stops those that meet the next full link."""
    used, capacity = case.used, case.capacity
    rate, active, residual = np.zeros(case.flows), np.ones(case.flows, bool), capacity.copy()
    level, passes = 0.0, 0
    while active.any():
        passes += 1
        live = active[used.flow]
        weight = np.bincount(used.link[live], used.share[live], len(capacity))
        busy = weight > 0
        step = (residual[busy] / weight[busy]).min()
        level += step
        residual -= weight * step
        full = busy & (residual <= capacity * 1e-9)
        stopped = np.unique(used.flow[full[used.link] & live])
        rate[stopped] = level
        active[stopped] = False
    return rate, passes


def by_linear_programs(case: Case) -> tuple[Floats, int]:
    """Sequential linear programs; the dual values tell whom each level binds."""
    used, flows, links = case.used, case.flows, len(case.capacity)
    crossed = coo_array((used.share, (used.link, used.flow)), shape=(links, flows + 1)).tolil()
    unit = case.capacity.max()
    fixed = np.full(flows, math.nan)
    programs = 0
    while np.isnan(fixed).any():
        programs += 1
        free = np.flatnonzero(np.isnan(fixed))
        count = len(free)
        floor = coo_array(
            (np.r_[-np.ones(count), np.ones(count)], (np.r_[0:count, 0:count], np.r_[free, np.full(count, flows)])),
            shape=(count, flows + 1),
        )
        bounds = [(0, None) if math.isnan(each) else (each, each) for each in fixed]
        answer = linprog(
            np.r_[np.zeros(flows), -1.0],
            A_ub=vstack([crossed, floor]).tocsr(),
            b_ub=np.r_[case.capacity / unit, np.zeros(count)],
            bounds=[*bounds, (0, None)],
            method="highs",
        )
        bound = answer.ineqlin.marginals[links:] < -1e-9
        fixed[free[bound]] = answer.x[-1]
    return fixed * unit, programs


def timed(work: Callable[[], tuple[Floats, int]], runs: int = RUNS) -> tuple[float, Floats, int]:
    """Median milliseconds with the last result."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        rate, rounds = work()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), rate, rounds


def peak() -> int:
    """MB that the process has held at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 // 1_000_000


def cases() -> Iterator[Case]:
    """Every case when its turn comes, so that the memory of one is not that of the next."""
    if MOST >= 100_000:
        hosts = np.arange(100_000)
        shuffled = np.random.default_rng(2).permutation(hosts)
        yield drawn("100,000 hosts 1:1, hash", shuffled, up=50)
        yield drawn("100,000 hosts 2:1, hash", shuffled, up=25)
        yield drawn("100,000 hosts to 1,000, hash", 99_000 + hosts[:99_000] % 1000, up=50)
    fabric = jetstream()
    flows = permutation(fabric)
    servers = [NodeId(f"st{number:02}") for number in range(1, 21)]
    to_servers = [Flow(node, servers[i % 20]) for i, node in enumerate(fabric.nodes) if node not in servers]
    yield routed(SMALL, fabric, flows, Model.HASH)
    yield routed("347 nodes, fluid", fabric, flows, Model.FLUID)
    yield routed("347 nodes to 20 servers, hash", fabric, to_servers, Model.HASH)
    if MOST < 10_000:
        return
    large = clos(200, 50, 25, 2)
    yield routed("10,000 hosts 1:1, hash", large, permutation(large), Model.HASH)
    yield routed("10,000 hosts 1:1, fluid", large, permutation(large), Model.FLUID)
    yield routed("10,000 hosts, 10 flows each, hash", large, permutation(large, 10), Model.HASH, compared=False)


def row(case: Case) -> float:
    """Measure and print one case; its milliseconds."""
    took, rate, rounds = timed(lambda: fill(case.used, case.capacity, case.demand))
    assert certify(case.used, case.capacity, case.demand, rate), case.name
    paths, known = ("drawn" if math.isnan(each) else f"{each:.0f}" for each in (case.paths, case.known))
    print(f"{case.name:34} {case.flows:7} {len(case.used.flow):7} {paths:>6} {known:>6} {rounds:6} {took:7.1f}", end="")
    print(f" {rate.mean() * 8e-9:6.2f} {rate.min() * 8e-9:5.2f} {peak():5}", end="")
    if case.compared:
        textbook, other, passes = timed(lambda: one_level_at_a_time(case), 1)
        assert np.allclose(other, rate, rtol=1e-6), case.name
        print(f" {passes:6} {textbook:8.1f} {textbook / took:6.1f}", end="")
    print()
    return took


def against_linear_programs(case: Case) -> None:
    """Print how long sequential linear programs take for the same rates."""
    programs, rate, count = timed(lambda: by_linear_programs(case), 1)
    ours, exact, _ = timed(lambda: fill(case.used, case.capacity, case.demand))
    worst = float(np.max(np.abs(rate / exact - 1)))
    beside = f"{count} linear programs {programs:.0f} ms, {programs / ours:,.0f} x ours"
    print(f"\n{case.name}: {beside}; rates within {worst:.0e}")


def main() -> None:
    """Print the table and what it is held against."""
    print(f"{'case':34} {'flows':>7} {'uses':>7} {'paths':>6} {'known':>6} {'rounds':>6} {'ms':>7}", end="")
    print(f" {'mean':>6} {'min':>5} {'MB':>5} {'passes':>6} {'textbook':>8} {'x ours':>6}   (mean, min: Gb/s)")
    slowest = 0.0
    small = None
    for case in cases():
        took = row(case)
        slowest = max(slowest, took if case.flows > 90_000 else 0.0)
        small = case if case.name == SMALL else small
    if small is not None:
        against_linear_programs(small)
    if slowest:
        print(f"100,000 flows: {slowest:.0f} ms at most, bar {BAR:.0f} ms: {'held' if slowest < BAR else 'MISSED'}")


if __name__ == "__main__":
    main()
