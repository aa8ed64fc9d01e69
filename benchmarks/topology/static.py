"""The static report: milliseconds of each question and of all, memory, and the same graph work by networkx.

    python -m benchmarks.topology.static [RUNS [MOST]]      (5 runs; fabrics of more than MOST nodes are left out)

Medians and best runs; the first line is what a million additions take here and now. "from the
Fabric" is everything after loading: tables, every question, report; findings are the sentences
about them and come on top, "static_report" is all of topology.analysis with its findings. The
large fabric has 100,000 nodes, 6,500 switches and 300,000 cables in 200,000 links (pods of 50
leaves and 10 spines below 500 cores), the paired one 100,000 nodes on both leaves of 2,500 MLAG
pairs; they are generated in memory. Memory is the growth of the peak of a fresh process over
what it has with the fabric. networkx answers for 10,000 nodes: cut vertices of the same graph,
and the flow between the same halves; for fewer below MOST. With one run, jetstream is asked once, too.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import MappingProxyType

import networkx as nx

from benchconsole import topology
from benchconsole.topology.analysis import (
    bisection,
    bottlenecks,
    connectivity,
    end_to_end,
    oversubscription,
    ports,
    redundancy,
)
from benchconsole.topology.analysis.static_analysis import make_static_report
from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import (
    Fabric,
    Hardware,
    Link,
    LinkId,
    Mlag,
    Node,
    NodeId,
    NodeRole,
    Switch,
    SwitchId,
    SwitchRole,
)
from benchconsole.topology.tables.fabric_tables import Tables, make_tables
from benchconsole.topology.tables.separation import find_separation

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 5
MOST = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 100_000
RATE = 3.125e9
QUESTIONS: dict[str, Callable[[Tables], object]] = {
    "oversubscription": oversubscription.analyse_oversubscription,
    "end to end": end_to_end.analyse_end_to_end,
    "redundancy": redundancy.analyse_redundancy,
    "bisection": bisection.analyse_bisection,
    "ports": ports.analyse_ports,
    "connectivity": connectivity.check_connectivity,
    "bottlenecks": bottlenecks.find_bottlenecks,
}
FINDINGS: dict[str, Callable[..., Iterable[object]]] = {
    "oversubscription": oversubscription.list_findings,
    "end to end": end_to_end.list_findings,
    "redundancy": redundancy.list_findings,
    "bisection": bisection.list_findings,
    "ports": ports.list_findings,
}
"""Of those questions whose answer is not a list of findings itself."""


class _Drawing:
    """A fabric while it is generated."""

    def __init__(self) -> None:
        self.hardware = Hardware("node")
        self.nodes: dict[NodeId, Node] = {}
        self.switches: dict[SwitchId, Switch] = {}
        self.links: dict[LinkId, Link] = {}
        self.mlags: list[Mlag] = []

    def switch(self, name: str, role: SwitchRole) -> str:
        self.switches[SwitchId(name)] = Switch(SwitchId(name), role)
        return name

    def node(self) -> str:
        name = NodeId(f"n{len(self.nodes) + 1:06d}")
        self.nodes[name] = Node(name, NodeRole.COMPUTE, self.hardware, name, name)
        return name

    def link(self, a: str, b: str, cables: int) -> None:
        link = Link(LinkId(f"{a}--{b}"), a, b, RATE, count=cables)
        self.links[link.id] = link

    def fabric(self, name: str) -> Fabric:
        return Fabric(
            name, MappingProxyType(self.nodes), MappingProxyType(self.switches), MappingProxyType(self.links),
            (), MappingProxyType({}), Access(), 9000, "", mlags=tuple(self.mlags),
        )  # fmt: skip


def clos(pods: int, spines: int, per_plane: int, leaves: int = 50) -> Fabric:
    """Pods of leaves with 20 nodes each, two cables to each of ``spines`` spines, two from each to its cores."""
    drawing = _Drawing()
    cores = [drawing.switch(f"core{i + 1}", SwitchRole.CORE) for i in range(spines * per_plane)]
    for pod in range(pods):
        above = [drawing.switch(f"spine{pod * spines + i + 1}", SwitchRole.SPINE) for i in range(spines)]
        for plane, spine in enumerate(above):
            for core in cores[plane * per_plane : (plane + 1) * per_plane]:
                drawing.link(spine, core, 2)
        for number in range(leaves):
            leaf = drawing.switch(f"leaf{pod * leaves + number + 1}", SwitchRole.LEAF)
            for spine in above:
                drawing.link(leaf, spine, 2)
            for _ in range(20):
                drawing.link(drawing.node(), leaf, 1)
    return drawing.fabric("clos")


def paired() -> Fabric:
    """2,500 MLAG pairs with 40 nodes on both leaves, each leaf with eight uplinks to 8 of 256 spines."""
    drawing = _Drawing()
    spines = [drawing.switch(f"spine{i + 1}", SwitchRole.SPINE) for i in range(256)]
    for pair in range(2500):
        leaves = [drawing.switch(f"leaf{pair * 2 + i + 1}", SwitchRole.LEAF) for i in range(2)]
        drawing.link(leaves[0], leaves[1], 4)
        first, second = SwitchId(leaves[0]), SwitchId(leaves[1])
        drawing.mlags.append(Mlag(f"pair{pair + 1}", (first, second), (LinkId(f"{first}--{second}"),)))
        for leaf in leaves:
            for number in range(8):
                drawing.link(leaf, spines[(pair + number * 32) % 256], 1)
        for _ in range(40):
            node = drawing.node()
            for leaf in leaves:
                drawing.link(node, leaf, 1)
    return drawing.fabric("paired")


def static(fabric: Fabric) -> dict[str, object]:
    """Every question about ``fabric``, over one set of tables."""
    cabled = make_tables(fabric)
    used = ports.analyse_ports(cabled)
    found: dict[str, object] = {
        "ports": used,
        "oversubscription": oversubscription.analyse_oversubscription(cabled, used=used),
    }
    for name, question in QUESTIONS.items():
        if name not in found:
            found[name] = question(cabled)
    return found


def said(report: dict[str, object]) -> list[list[object]]:
    return [list(findings(report[name])) for name, findings in FINDINGS.items()]


def timed(call: Callable[[], object], runs: int = RUNS) -> tuple[float, float]:
    """Milliseconds: median and best."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), min(times)


def line(name: str, call: Callable[[], object], runs: int = RUNS) -> None:
    median, best = timed(call, runs)
    print(f"  {name:30} {median:9.2f} ms {best:9.2f} ms")


def questions(fabric: Fabric, runs: int) -> None:
    """The table of one fabric. The first question that needs the ways up pays for them: all others share them."""
    cables = sum(link.count for link in fabric.links.values())
    devices = len(fabric.nodes) + len(fabric.switches)
    size = f"{len(fabric.nodes):,} nodes, {devices:,} devices, {len(fabric.links):,} links, {cables:,} cables"
    print(f"\n{fabric.name}: {size}")
    static(fabric)
    line("tables", lambda: make_tables(fabric), runs)
    cabled = shared(fabric)
    line("tables and ways up", lambda: shared(fabric), runs)
    for name, question in QUESTIONS.items():
        line(name, partial(question, cabled), runs)
    report = static(fabric)
    line("all, from the Fabric", lambda: static(fabric), runs)
    line("their findings", lambda: said(report), runs)
    line("static_report", lambda: make_static_report(fabric), max(runs // 5, 1))


def shared(fabric: Fabric) -> Tables:
    cabled = make_tables(fabric)
    assert cabled.uplinks.batches
    return cabled


def resident(field: str) -> int:
    """Bytes of this process, VmRSS now or VmHWM at most since the last reset."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) * 1024


def memory(make: str) -> float:
    """Bytes by which a fresh process grows at most between its fabric and the report."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.topology.static", "memory", make], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def measured(make: str) -> None:
    fabric = clos(100, 10, 50) if make == "clos" else paired()
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    static(fabric)
    print(resident("VmHWM") - before)


def compared(fabric: Fabric) -> None:
    """The same cut vertices and the same flow between halves, ours and networkx's; the answers must be equal."""
    graph = nx.Graph()
    for link in fabric.links.values():
        graph.add_edge(link.a, link.b, capacity=link.capacity)
    cabled = make_tables(fabric)
    points = set(cabled.devices(find_separation(cabled).points))
    theirs = {device for device in nx.articulation_points(graph) if device in fabric.switches}
    # With the nodes in the graph every leaf parts its nodes from the rest; ours tells that per device.
    held = {name for name, cut in zip(cabled.names, find_separation(cabled).device.tolist(), strict=True) if cut}
    assert theirs == points | held
    names = list(fabric.nodes)
    flow = nx.DiGraph()
    for link in fabric.links.values():
        flow.add_edge(link.a, link.b, capacity=link.capacity)
        flow.add_edge(link.b, link.a, capacity=link.capacity)
    near, far = names[: len(names) // 2], names[len(names) // 2 :]
    flow.add_edges_from((("source", name) for name in near), capacity=RATE)
    flow.add_edges_from(((name, "sink") for name in far), capacity=RATE)
    halves = bisection.analyse_bisection(cabled).halves
    assert halves is not None
    assert abs(nx.maximum_flow_value(flow, "source", "sink") - halves.bound) < 1
    cabled.uplinks  # noqa: B018 - shared by all questions, paid for above
    source = (flow, "source", "sink")
    pairs = [
        ("cut vertices", lambda: find_separation(cabled), lambda: list(nx.articulation_points(graph))),
        (
            "flow between halves",
            lambda: bisection.analyse_bisection(cabled),
            lambda: nx.maximum_flow_value(*source),
        ),
    ]
    print(f"\n{len(fabric.nodes):,} nodes, ours beside networkx {nx.__version__} (its graph already built)")
    for name, ours, other in pairs:
        mine, peer = timed(ours)[0], timed(other, max(RUNS // 2, 1))[0]
        print(f"  {name:30} {mine:9.2f} ms {peer:9.2f} ms  {peer / mine:6.1f} x")


def main() -> None:
    print(f"a million additions: {timed(lambda: sum(range(1_000_000)))[1]:.1f} ms")
    questions(topology.load("topology/examples/jetstream.yaml"), RUNS * 20 if RUNS > 1 else 1)
    if MOST >= 100_000:
        questions(clos(100, 10, 50), RUNS)
        questions(paired(), RUNS)
        print()
        for make in ("clos", "paired"):
            print(f"peak memory of the {make} report, over the fabric: {memory(make) / 1e6:.0f} MB")
    pods = max(min(10, MOST // 1000), 1)
    compared(clos(pods, 10, 50, leaves=min(50, MOST // 20)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory"]:
        measured(sys.argv[2])
    else:
        main()
