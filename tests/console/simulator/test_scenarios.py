"""Every scenario judged by the real plan, runner and judge, and every size of the generated cluster."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from benchconsole.console.cli import command as benchconsole
from benchconsole.console.simulator.cluster import SimulatedCluster, SimulatorError
from benchconsole.console.simulator.network import SimulatedNetwork, StreamLoad
from benchconsole.console.simulator.nodes import SimulatedNodes
from benchconsole.console.simulator.scenarios import (
    SCENARIOS,
    FaultKind,
    PlantedFault,
    Scenario,
    find_scenario,
    make_large,
)
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.reach.ssh import SshReach
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing.server import Reply
from benchconsole.probes.tools import bench_probes
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load
from benchconsole.topology.model.fabric import Fabric, LinkId, Node, NodeId, NodeRole
from tests.console.simulator.conftest import UNREACHABLE, fabric_of, machines_of


class _Running:
    def __init__(self, reply: Reply, node: NodeId) -> None:
        self.reply = reply
        self.node = node

    async def says(self, text: str, *, timeout: float) -> None:
        if text.encode() not in self.reply.stdout:  # a port that is taken: the probe takes another
            said = Output((), self.reply.stdout, self.reply.stderr, self.reply.exit_status, node=self.node)
            raise RemoteError(Failure(FailedAt.TOOL, said.error_text, self.node), said)

    async def output(self) -> Output:
        raise AssertionError("probes wait for what a server says, never for its end")

    def make_output(self) -> Output:
        return Output((), self.reply.stdout, self.reply.stderr, None, node=self.node)


class _Played:
    """A node asked without SSH in between."""

    def __init__(self, node: Node, machines: SimulatedNodes) -> None:
        self._node = node
        self._machines = machines

    @property
    def node(self) -> NodeId:
        return self._node.id

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        reply = await self._machines.answer(self._node.address, tuple(argv), stdin)
        return Output(tuple(argv), reply.stdout, reply.stderr, reply.exit_status, node=self._node.id)

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator[_Running]:
        reply = await self._machines.answer(self._node.address, tuple(argv), b"")
        yield _Running(reply, self._node.id)
        if reply.then is not None:
            await reply.then


class _Reach:
    def __init__(self, scenario: Scenario, machines: SimulatedNodes) -> None:
        self._away = scenario.select(*UNREACHABLE)
        self._machines = machines

    async def remote(self, node: Node) -> Remote:
        if node.id in self._away:
            raise RemoteError(Failure(FailedAt.UNREACHABLE, "planted", node.id))
        return _Played(node, self._machines)

    async def close(self) -> None:
        pass


async def run(
    fabric: Fabric, scenario: Scenario, machines: SimulatedNodes
) -> tuple[list[ClosedRound], tuple[Finding, ...]]:
    """The default suite on every node."""
    probes = {probe.name: probe for probe in bench_probes()}
    context = JudgingContext(fabric, {metric.name: metric for probe in probes.values() for metric in probe.metrics})
    runner = Runner(_Reach(scenario, machines), probes)
    closed = [await runner.run(each, RoundObserver()) for each in plan(fabric, find_suite(fabric, None), probes)]
    return closed, list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in closed])


def planted(faults: Sequence[PlantedFault]) -> set[tuple[object, str]]:
    return {(fault.suspect, fault.element) for fault in faults if fault.suspect is not None}


MERIDIAN = [scenario for scenario in SCENARIOS.values() if scenario.fabric == "meridian"]
SIZES = (16, 70, 200)


@pytest.mark.parametrize(
    "scenario", [*MERIDIAN, *(find_scenario("large", size) for size in SIZES)],
    ids=lambda scenario: f"{scenario.name}-{scenario.summary.split(' ')[0]}",
)  # fmt: skip
async def test_what_is_found_is_what_was_planted(scenario: Scenario) -> None:
    fabric = fabric_of(scenario)
    closed, found = await run(fabric, scenario, machines_of(fabric, scenario))
    assert {(finding.suspect, finding.element) for finding in found} == planted(scenario.faults)
    assert len(found) == len(planted(scenario.faults))
    failed = [result.failure for each in closed for result in each.results if result.failure]
    unreachable = {failure.node for failure in failed if failure.stage is FailedAt.UNREACHABLE}
    assert unreachable == set(scenario.select(*UNREACHABLE))
    others = {failure.node for failure in failed if failure.stage is not FailedAt.UNREACHABLE}
    assert others <= {fault.element for fault in scenario.faults}, [f for f in failed if f.node in others]


OFFERED = (16, 63, 64, 99, 100, 399, 400, 799, 800, 2499, 2500, 10_000, 10_240)


@pytest.mark.parametrize("size", OFFERED)
def test_every_size_is_a_fabric_of_so_many_nodes_with_its_faults_in_it(size: int) -> None:
    scenario = make_large(size)
    fabric = fabric_of(scenario)
    assert len(fabric.nodes) == size
    assert fabric.simulated
    assert len({node.address for node in fabric.nodes.values()}) == size
    elements = [fault.element for fault in scenario.faults]
    assert len(set(elements)) == len(elements)
    assert all(NodeId(name) in fabric.nodes or LinkId(name) in fabric.links for name in elements)
    broken = [name for name in elements if NodeId(name) in fabric.nodes]
    homes = [fabric.switch_of(NodeId(name)) for name in broken]
    assert len(set(homes)) == len(homes) or size < 700
    kinds = {fault.kind for fault in scenario.faults}
    assert kinds == set(FaultKind) or size < 64


@pytest.mark.parametrize("size", [10_240, 800, 64])
def test_every_spine_has_storage_so_that_each_lag_has_flows_of_its_own(size: int) -> None:
    fabric = fabric_of(make_large(size))
    storage = {fabric.switch_of(name)[0] for name, node in fabric.nodes.items() if node.role is NodeRole.STORAGE}
    assert storage == {name for name, switch in fabric.switches.items() if switch.role == "spine"}


@pytest.mark.parametrize("size", [15, 10_241])
def test_other_sizes_are_refused_with_those_that_there_are(size: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected 16 to 10,240"):
        make_large(size)
    with pytest.raises(SimulatorError, match="expected 16 to 10,240"):
        SimulatedCluster("large", tmp_path, nodes=size)


def test_the_command_line_says_what_sizes_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["demo", "--nodes", "5"], ["demo", "lag", "--nodes", "64"]):
        with pytest.raises(Exception, match="expected"):
            benchconsole.main(arguments, standalone_mode=False)


def test_shares_of_thousands_of_flows_fill_what_is_left_of_each_link() -> None:
    scenario = make_large(2500)
    fabric = fabric_of(scenario)
    network = SimulatedNetwork(fabric, scenario)
    compute = [name for name, node in fabric.nodes.items() if node.role is NodeRole.COMPUTE]
    half = len(compute) // 2
    loads = [StreamLoad(source, sink, 8) for source, sink in zip(compute[:half], compute[half:], strict=False)]
    shares = network.compute_shares(loads)
    carried: dict[str, float] = {}
    for load_, share in zip(loads, shares, strict=True):
        carried[load_.source] = carried.get(load_.source, 0.0) + share
    nic = fabric.links_at[compute[0]][0].capacity * fabric.goodput
    assert max(carried.values()) <= nic * (1 + 1e-9)
    assert min(shares) > 0


async def test_thousands_of_nodes_answer_and_each_odd_one_in_its_manner(tmp_path: Path) -> None:
    size = 1200
    async with SimulatedCluster("large", tmp_path, nodes=size) as cluster:
        fabric = load(cluster.topology_path)
        reach = SshReach(fabric.access, "large")
        away = cluster.scenario.select(*UNREACHABLE - {FaultKind.SILENT})
        silent = cluster.scenario.select(FaultKind.SILENT)
        asked = [node for node in fabric.nodes.values() if node.id not in silent][::12]
        asked += [fabric.nodes[NodeId(name)] for name in away]

        async def ask(node: Node) -> bool:
            try:
                remote = await reach.remote(node)
                return (await remote.run(("true",), timeout=60)).exit_status == 0
            except RemoteError:
                return False

        answers = await asyncio.gather(*(ask(node) for node in asked))
        assert {node.id for node, answer in zip(asked, answers, strict=True) if not answer} == set(away)
        await reach.close()
    assert cluster.log.read_text() == ""
