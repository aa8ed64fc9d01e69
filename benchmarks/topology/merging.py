"""Equal flows computed once, beside the same flows one by one, a linear program and networkx: CPU seconds and ratios.

    python -m benchmarks.topology.merging [NODES ...]

All nodes of a three-level fabric (leaves of 25 nodes, 4 spines for 10 leaves, 8 cores) send to 16 storage servers with
four legs each; 1,000 and 10,000 nodes unless others are named. ``one by one`` is the same filling without merging, and
its rates must be the same within 1e-9; it is left out above 20,000 flows. ``program`` is the lowest rate of the same
flows on the same routes by HiGHS, one variable for each group: the first level of the filling. ``maximum flow`` is
networkx's bound of the sum, between all senders and all servers, whichever the routes. MB is the most that the process
has held so far. CPU seconds of a busy machine grow with its load: compare ratios.
"""

import resource
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import networkx as nx
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

from benchconsole.topology.capacity.expect import MergedExpectation, compute_capacities, expect, expect_merged
from benchconsole.topology.capacity.flow_groups import FlowSet, trace_groups
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.routing.routes import Routes

MOST_BY_ONE = 20_000
_T = TypeVar("_T")


def describe(nodes: int) -> str:
    leaves = nodes // 25
    pods = -(-leaves // 10)
    lines = [
        "schema: 1", "fabric: three", "network: {mtu: 9000}",
        (f'switches: {{"core[1-8]": {{role: core}}, "spine[1-{4 * pods}]": {{role: spine}}, '
        f'"leaf[1-{leaves}]": {{role: leaf}}}}'),
        f'nodes: {{"n[1-{leaves * 25}]": {{}}, "st[1-16]": {{role: storage}}}}',
        "links:",
        '  - {from: "st[1-8]", to: "core[1-4]", speed: 100 Gb/s}',
        '  - {from: "st[9-16]", to: "core[5-8]", speed: 100 Gb/s}',
        f'  - {{from: "spine[1-{4 * pods}]", to: "core[1-8]", speed: 100 Gb/s}}',
    ]  # fmt: skip
    for leaf in range(1, leaves + 1):
        pod = (leaf - 1) // 10
        lines += [
            f'  - {{from: "n[{25 * leaf - 24}-{25 * leaf}]", to: leaf{leaf}, speed: 25 Gb/s}}',
            f'  - {{from: leaf{leaf}, to: "spine[{4 * pod + 1}-{4 * pod + 4}]", speed: 100 Gb/s}}',
        ]
    return "\n".join(lines) + "\n"


def timed(call: Callable[[], _T]) -> tuple[float, _T]:
    """CPU seconds of this process, and what came out."""
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def find_lowest(fabric: Fabric, merged: MergedExpectation) -> float:
    """The highest rate that all flows can have at once on their routes, in byte/s: one linear program."""
    crossed = trace_groups(Routes(fabric), merged.merged.groups, merged.merged.members)
    limits = compute_capacities(fabric, crossed.parts, {})
    groups, links = len(merged.rates), len(limits)
    rows = coo_array((crossed.used.share, (crossed.used.link, crossed.used.flow)), shape=(links, groups + 1))
    floor = coo_array(
        (
            np.concatenate((-np.ones(groups), np.ones(groups))),
            (np.tile(np.arange(groups), 2), np.concatenate((np.arange(groups), np.full(groups, groups)))),
        ),
        shape=(groups, groups + 1),
    )
    gain = np.zeros(groups + 1)
    gain[-1] = -1.0
    unit = limits.max()
    matrix = vstack((rows, floor)).tocsr()
    found = linprog(gain, A_ub=matrix, b_ub=np.concatenate((limits / unit, np.zeros(groups))), method="highs")
    return float(found.x[-1] * unit)


def find_maximum_flow(fabric: Fabric) -> float:
    """byte/s of payload between all nodes and all servers, over any ways."""
    graph = nx.DiGraph()
    for link in fabric.links.values():
        for a, b in ((link.a, link.b), (link.b, link.a)):
            graph.add_edge(a, b, capacity=fabric.payload(link))
    for node in fabric.nodes:
        graph.add_edge(*(("all", node) if node.startswith("n") else (node, "servers")))
    return float(nx.maximum_flow_value(graph, "all", "servers", flow_func=nx.algorithms.flow.boykov_kolmogorov))


def row(nodes: int) -> None:
    reading, fabric = timed(lambda: load_text(describe(nodes), "three.yaml"))
    senders = tuple(node for node in fabric.nodes if node.startswith("n"))
    asked = FlowSet(senders, tuple(node for node in fabric.nodes if node.startswith("st")))
    ours, merged = timed(lambda: expect_merged(fabric, [asked]))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    by_one = "-"
    if len(asked) <= MOST_BY_ONE:
        took, alone = timed(lambda: expect(fabric, list(asked)))
        worst = max(abs(rate.value / each.value - 1) for (_, rate), each in zip(merged, alone, strict=True))
        assert worst < 1e-9, worst
        by_one = f"{took:.2f} ({took / ours:.1f} x)"
    lowest = min(rate.value for rate in merged.rates)
    total = sum(group.count * rate.value for group, rate in zip(merged.merged.groups, merged.rates, strict=True))
    program, level = timed(lambda: find_lowest(fabric, merged))
    assert abs(level / lowest - 1) < 1e-6, (level, lowest)
    peer, bound = timed(lambda: find_maximum_flow(fabric))
    assert total <= bound * (1 + 1e-9), (total, bound)
    print(
        f"{len(senders):>7,} {len(asked):>9,} {len(merged.rates):>6,} {reading:>7.2f} {ours:>6.2f} {memory:>5.0f} "
        f"{by_one:>16} {f'{program:.2f} ({program / ours:.1f} x)':>16} {f'{peer:.2f} ({peer / ours:.1f} x)':>17} "
        f"{total / bound:>6.0%}"
    )


def main() -> None:
    """Print the table; every row is checked against its peers first."""
    addition, _ = timed(lambda: sum(range(1_000_000)))
    print(f"a million additions: {addition * 1000:.1f} ms")
    print(
        f"{'nodes':>7} {'flows':>9} {'groups':>6} {'reading':>7} {'merged':>6} {'MB':>5} "
        f"{'one by one':>16} {'program':>16} {'maximum flow':>17} {'of it':>6}"
    )
    for nodes in [int(each) for each in sys.argv[1:]] or [1_000, 10_000]:
        row(nodes)


if __name__ == "__main__":
    main()
