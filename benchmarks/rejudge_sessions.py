"""Large sessions for ``benchmarks.rejudge``: planned, judged round by round and stored as a live run does it.

Numbers of nodes and rates of flows are drawn around what is asked; a flow that is low gives ``LEFT`` of what the
fabric allows it, and so does each flow over the links of a slow switch.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchconsole.console.session.judged_rounds import JudgedRounds
from benchconsole.console.session.metadata import SessionChoice, make_new_session, name_judgement
from benchconsole.console.session.session import Session
from benchconsole.console.session.stored_verdict import make_stored_verdict
from benchconsole.console.view.session_verdict import decide
from benchconsole.probes.judging.round_flows import limit_flows
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Labels, Output, Reading, Result, Round, Test, labels
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.store.store import Store
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.units import Unit

PER_LEAF, SPINES = 40, 4
LEFT = 0.55
"""Share of what it should give that a low flow or node gives."""

LOW_NODES = 1e-3
"""Share of the tests on nodes that give too little."""

SLOW_SWITCH = "leaf02"
STARTED = 1.7e9

_RATES = dict.fromkeys(("stream.copy", "stream.scale", "stream.add", "stream.triad"), (100000000000.0, Unit.BYTE_RATE))
_FIO = {
    "fio.read": (2.0e9, Unit.BYTE_RATE),
    "fio.write": (1.5e9, Unit.BYTE_RATE),
    "fio.read_iops": (4.0e5, Unit.PER_SECOND),
    "fio.write_iops": (3.0e5, Unit.PER_SECOND),
    "fio.sync_latency": (1.0e-4, Unit.SECOND),
}
_PATTERNS = ("sequential", "random", "mixed")

OF_PROBE: Mapping[str, tuple[tuple[str, float, Unit, Labels], ...]] = {
    "stream": tuple((name, *usual, ()) for name, usual in _RATES.items()),
    "fio": tuple((name, *usual, labels(pattern=each)) for each in _PATTERNS for name, usual in _FIO.items()),
    "hpl": (("hpl.rate", 2.0e12, Unit.FLOP_RATE, labels(n=100_000, nb=192)),),
}
"""The numbers of one test on a node: metric, usual value, unit, labels."""

PER_PASS = sum(map(len, OF_PROBE.values()))
"""Values that stream, fio and hpl give of one node."""

_CRITERIA = """\
criteria:
  - {metric: stream.copy, at_least: 80 GB/s, round: 1 GB/s, source: 4.1.1}
  - {metric: stream.scale, at_least: 80 GB/s, round: 1 GB/s, source: 4.1.1}
  - {metric: stream.add, at_least: 80 GB/s, round: 1 GB/s, source: 4.1.1}
  - {metric: stream.triad, at_least: 80 GB/s, round: 1 GB/s, source: 4.1.1}
  - {metric: fio.read, at_least: 1.6 GB/s, source: 4.1.2}
  - {metric: fio.write, at_least: 1.2 GB/s, source: 4.1.2}
  - {metric: fio.read_iops, at_least: 320000 /s, source: 4.1.2}
  - {metric: fio.write_iops, at_least: 240000 /s, source: 4.1.2}
  - {metric: fio.sync_latency, at_most: 0.2 ms, source: 4.1.2}
  - {metric: hpl.rate, at_least: 80 %, of: peak, round: 1 %, source: 4.1.3}
"""


def describe_nodes(nodes: int, passes: int) -> str:
    """Nodes without links, and a suite that measures each of them ``passes`` times with every probe."""
    stages = "\n".join(f"    - {{{_write_stage(probe)}}}" for _ in range(passes) for probe in OF_PROBE)
    return (
        "schema: 1\nfabric: rejudge-values\n"
        "classes: {blade: {peak: 2.4 TFLOP/s, peak_basis: as bought}}\n"
        f'nodes: {{"n[00001-{nodes:05}]": {{class: blade}}}}\n'
        f"suites:\n  default:\n{stages}\n{_CRITERIA}"
    )


def _write_stage(probe: str) -> str:
    return "probe: hpl, size: 1" if probe == "hpl" else f"probe: {probe}"


def describe_fabric(nodes: int, flows: int) -> str:
    """Leaves of ``PER_LEAF`` nodes under spines, not oversubscribed, and a suite of some ``flows`` flows."""
    leaves = max(nodes // PER_LEAF, 2)
    lines = ["schema: 1", "fabric: rejudge-flows", "network: {mtu: 9000, hash: unknown}", "switches:"]
    lines += [f"  spine[1-{SPINES}]: {{role: spine}}", f"  leaf[01-{leaves:02}]: {{role: leaf}}", "nodes:"]
    lines += [f"  n[0001-{leaves * PER_LEAF:04}]: {{role: compute}}", "links:"]
    lines += [f'  - {{from: "leaf[01-{leaves:02}]", to: "spine[1-{SPINES}]", speed: 50 Gb/s, count: 2}}']
    for leaf in range(leaves):
        own = f"n[{PER_LEAF * leaf + 1:04}-{PER_LEAF * (leaf + 1):04}]"
        lines.append(f'  - {{from: "{own}", to: leaf{leaf + 1:02}, speed: 10 Gb/s}}')
    pairs = max(flows - 3 * leaves * PER_LEAF, PER_LEAF)
    lines += ["suites:", "  default:"]
    lines += [f"    - {{probe: iperf3, streams: 16, design: {each}}}" for each in ("trunks", "neighbours")]
    lines += [f"    - {{probe: iperf3, streams: 16, design: sample, pairs: {pairs}}}"]
    return "\n".join(lines) + "\n"


class Measured:
    """Plays what the tests of a fabric measure. ``low`` is the share of flows that are low, at random."""

    def __init__(self, fabric: Fabric, *, low: float = 0.0, slow_switch: str = "") -> None:
        self._fabric = fabric
        self._routes = Routes(fabric)
        self._chance = Random(f"{low}/{slow_switch}")  # drawn again alike
        self._low = low
        graph = self._routes.graph
        slow = fabric.links_at[slow_switch] if slow_switch else ()
        ways = (graph.direction(graph.way(link, end)) for link in slow for end in (link.a, link.b))
        links = fabric.links
        self._capacity = {way: LEFT * links[way.link].capacity for way in ways}

    def close(self, planned: Round) -> ClosedRound:
        """The round with its results, not judged."""
        at = STARTED + 60.0 * planned.number
        values = self._draw_flows(planned) if planned.probe == "iperf3" else map(self._draw_node, planned.tests)
        results = tuple(_make_result(test, found, at) for test, found in zip(planned.tests, values, strict=True))
        return ClosedRound(planned, results, CloseReason.COMPLETE, at, at + 10.0)

    def _draw_node(self, test: Test) -> list[Reading]:
        share = LEFT if self._chance.random() < LOW_NODES else 1.0
        found = []
        for metric, usual, unit, marks in OF_PROBE[test.probe]:
            value = usual * self._chance.uniform(0.97, 1.03)
            found.append(Reading(metric, value / share if unit is Unit.SECOND else value * share, unit, marks))
        return found

    def _draw_flows(self, planned: Round) -> Iterator[list[Reading]]:
        sent = [test.flows[0] for test in planned.tests]
        routes = [self._routes.route(flow) for flow in sent]
        streams = [test.sending.streams for test in planned.tests]
        flows = limit_flows(self._routes.graph, sent, routes, streams)
        allowed = expect(self._fabric, flows, routes=self._routes, capacity=self._capacity)
        for each in allowed:
            share = LEFT if self._chance.random() < self._low else 1.0
            value = each.value * share * self._chance.uniform(0.96, 1.0)
            yield [Reading("iperf3.throughput", value, Unit.BYTE_RATE, labels(direction="out"))]


def _make_result(test: Test, found: Iterable[Reading], at: float) -> Result:
    numbered = tuple(
        replace(each, id=f"{test.id}#{place}", raw=f"{each.value:.6g}", at=at + 9.0) for place, each in enumerate(found)
    )
    output = Output((test.probe, "--json"), b"as it was printed\n" * 10, seconds=8.0, node=test.target.node.id)
    return Result(test, (output,), numbered, started=at, seconds=9.0)


class Made(NamedTuple):
    """A stored session, and what its rounds cost live: seconds of judging and finding, the last rounds' and all."""

    key: str
    rounds: int
    values: int
    seconds: float
    last: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """A session to make: its topology, and what is wrong in it."""

    label: str
    topology: str
    low: float = 0.0
    slow_switch: str = ""


async def make_session(path: Path, wanted: Wanted) -> Made:
    """Plan, judge and store a session as a run does, round after round."""
    fabric = load_text(wanted.topology, f"{wanted.label}.yaml")
    probes = load_probes().probes
    planned = plan(fabric, find_suite(fabric, None), probes)
    measured = Measured(fabric, low=wanted.low, slow_switch=wanted.slow_switch)
    judged = JudgedRounds(fabric, probes)
    choice = SessionChoice(label=wanted.label)
    took, values = [], 0
    with Store.open(path) as store:
        key = await store.create_session(make_new_session(fabric, choice, STARTED), planned)
        session = store.session(key)
        for each in planned:
            attempt = await session.begin_round(each.number, at=STARTED + 60.0 * each.number)
            closed = measured.close(each)
            values += sum(len(result.measurements) for result in closed.results)
            began = time.process_time()
            again = replace(judged.judging.judge(closed), attempt=attempt, judged_by=name_judgement(fabric))
            judged.add(again)
            took.append(time.process_time() - began)
            await session.close_round(again)
        ended = STARTED + 60.0 * len(planned) + 60.0
        await session.end(at=ended, complete=True, findings=judged.findings, losses=judged.losses)
        verdict = decide(Session.stored(store, key, probes).view())
        await store.append_verdict(key, make_stored_verdict(verdict))
    return Made(key, len(planned), values, sum(took), max(took[-3:]))
