"""The generated cluster: every size is a fabric, faults lie apart, and thousands of nodes answer from one process."""

import asyncio
from pathlib import Path

import pytest

from benchconsole.console.cli import command as benchconsole
from benchconsole.console.simulator import large_cluster
from benchconsole.console.simulator.cluster import SimulatedCluster, SimulatorError
from benchconsole.console.simulator.faults import UNREACHABLE, FaultKind
from benchconsole.console.simulator.network import SimulatedNetwork, StreamLoad
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh import SshReach
from benchconsole.topology.description.resolve import load
from benchconsole.topology.model.fabric import LinkId, Node, NodeId, NodeRole
from tests.console.simulator.conftest import fabric_of

SIZES = (16, 63, 64, 99, 100, 399, 400, 799, 800, 2499, 2500, 10_000, 10_240)


@pytest.mark.parametrize("size", SIZES)
def test_every_size_is_a_fabric_of_so_many_nodes_with_its_faults_in_it(size: int) -> None:
    scenario = large_cluster.make_scenario(size)
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
    fabric = fabric_of(large_cluster.make_scenario(size))
    storage = {fabric.switch_of(name)[0] for name, node in fabric.nodes.items() if node.role is NodeRole.STORAGE}
    assert storage == {name for name, switch in fabric.switches.items() if switch.role == "spine"}


@pytest.mark.parametrize("size", [15, 10_241])
def test_other_sizes_are_refused_with_those_that_there_are(size: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected 16 to 10,240"):
        large_cluster.make_scenario(size)
    with pytest.raises(SimulatorError, match="expected 16 to 10,240"):
        SimulatedCluster("large", tmp_path, nodes=size)


def test_the_command_line_says_what_sizes_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["demo", "--nodes", "5"], ["demo", "lag", "--nodes", "64"]):
        with pytest.raises(Exception, match="expected"):
            benchconsole.main(arguments, standalone_mode=False)


def test_shares_of_thousands_of_flows_fill_what_is_left_of_each_link() -> None:
    scenario = large_cluster.make_scenario(2500)
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
