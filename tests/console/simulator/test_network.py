"""Shares of the simulated network, held against numbers counted by hand and against the product's own."""

from itertools import pairwise

import pytest

from benchconsole.console.simulator.network import SimulatedNetwork, StreamLoad, noise
from benchconsole.console.simulator.scenarios import SCENARIOS
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage, Suite
from benchconsole.topology.routing.routes import Routes

GB = 1e9 / 8


def rack(number: int) -> list[NodeId]:
    return [NodeId(f"n{index:03d}") for index in range(16 * number - 15, 16 * number + 1)]


def between(first: int, second: int, streams: int = 8) -> list[StreamLoad]:
    """Every node of one rack sending to its like in the other."""
    return [StreamLoad(source, sink, streams) for source, sink in zip(rack(first), rack(second), strict=True)]


def test_a_lone_pair_gets_its_nic_less_the_headers(fabric: Fabric) -> None:
    (share,) = SimulatedNetwork(fabric, SCENARIOS["healthy"]).compute_shares(
        [StreamLoad(NodeId("n001"), NodeId("n002"))]
    )
    assert share == pytest.approx(25 * GB * (9000 - 52) / (9000 + 38))


def test_a_rack_that_leaves_at_once_fills_its_uplinks(fabric: Fabric) -> None:
    shares = SimulatedNetwork(fabric, SCENARIOS["healthy"]).compute_shares(between(3, 4))
    assert shares == pytest.approx([200 / 16 * GB * fabric.goodput] * 16)


@pytest.mark.parametrize("racks", [(3, 4), (4, 3)])
def test_half_a_lag_costs_a_quarter_of_the_rack_both_ways(fabric: Fabric, racks: tuple[int, int]) -> None:
    # Two of a node's streams fall on each spine: 50 Gb/s over one, 100 Gb/s over the other.
    shares = SimulatedNetwork(fabric, SCENARIOS["lag"]).compute_shares(between(*racks))
    assert shares == pytest.approx([150 / 16 * GB * fabric.goodput] * 16)


def test_storage_behind_the_damaged_lag_sees_half(fabric: Fabric) -> None:
    network = SimulatedNetwork(fabric, SCENARIOS["lag"])
    to_first = network.compute_shares([StreamLoad(source, NodeId("st1"), 4) for source in rack(3)])
    to_third = network.compute_shares([StreamLoad(source, NodeId("st3"), 4) for source in rack(3)])
    assert sum(to_first) == pytest.approx(50 * GB * fabric.goodput)
    assert sum(to_third) == pytest.approx(100 * GB * fabric.goodput)


def test_a_slow_nic_is_slow_one_way_only(fabric: Fabric) -> None:
    network = SimulatedNetwork(fabric, SCENARIOS["default"])
    out, back = network.compute_shares(
        [StreamLoad(NodeId("n090"), NodeId("n091")), StreamLoad(NodeId("n091"), NodeId("n090"))]
    )
    assert (out, back) == pytest.approx((7.5 * GB * fabric.goodput, 25 * GB * fabric.goodput))


def test_what_a_poor_flow_leaves_goes_to_the_others(fabric: Fabric) -> None:
    # n090 can send 7.5 of the 25 Gb/s of its receiver; two others share the rest.
    loads = [StreamLoad(NodeId(name), NodeId("n081")) for name in ("n090", "n091", "n092")]
    shares = SimulatedNetwork(fabric, SCENARIOS["default"]).compute_shares(loads)
    assert shares == pytest.approx([part * GB * fabric.goodput for part in (7.5, 8.75, 8.75)])


def test_a_flow_that_is_held_to_a_rate_leaves_the_rest_to_others(fabric: Fabric) -> None:
    held = [StreamLoad(source, NodeId("st1"), 4, most=0.25 * GB) for source in rack(3)[:8]]
    free = [StreamLoad(source, NodeId("st1"), 4) for source in rack(3)[8:]]
    shares = SimulatedNetwork(fabric, SCENARIOS["healthy"]).compute_shares([*held, *free])
    assert shares[:8] == pytest.approx([1 * GB] * 8)
    assert sum(shares) == pytest.approx(100 * GB * fabric.goodput)


def test_a_rate_above_the_share_of_a_flow_bounds_nothing(fabric: Fabric) -> None:
    network = SimulatedNetwork(fabric, SCENARIOS["healthy"])
    above = [replace(each, most=20 * GB) for each in between(3, 4)]
    assert network.compute_shares(above) == pytest.approx(network.compute_shares(between(3, 4)))


@pytest.mark.parametrize("design", ["neighbours", "trunks", "permutation"])
def test_a_healthy_network_gives_what_the_product_expects(fabric: Fabric, design: str) -> None:
    """Two programs, one answer: this is what keeps the healthy demo free of findings."""
    network = SimulatedNetwork(fabric, SCENARIOS["healthy"])
    routes = Routes(fabric)
    stage = Stage("iperf3", tuple(fabric.nodes), {"design": design, "streams": 8})
    for each in plan(fabric, Suite("one", (stage,)), {"iperf3": Iperf3()}):
        shares = network.compute_shares([StreamLoad(flow.source, flow.sink, 8) for flow in each.flows])
        wanted = expect(fabric, each.flows, routes=routes)
        assert shares == pytest.approx([each.value for each in wanted], rel=1e-6)


def test_a_path_that_does_not_exist_carries_nothing(fabric: Fabric) -> None:
    network = SimulatedNetwork(fabric, SCENARIOS["healthy"])
    assert network.find_paths("n001", "nowhere") == ()
    assert network.compute_shares([StreamLoad(NodeId("n001"), NodeId("n001"), 0)]) == (0.0,)


def test_paths_never_cross_a_node(fabric: Fabric) -> None:
    network = SimulatedNetwork(fabric, SCENARIOS["healthy"])
    paths = [[network._directions[step] for step in path] for path in network.find_paths("n001", "n128")]
    assert len(paths) == 2
    for path in paths:
        assert all(fabric.links[step.link].other(step.source) == after.source for step, after in pairwise(path))
        assert not any(step.source in fabric.nodes for step in path[1:])


def test_noise_is_small_and_always_the_same() -> None:
    found = [noise("n001", number) for number in range(1000)]
    assert found == [noise("n001", number) for number in range(1000)]
    assert 0.995 <= min(found) < 0.9955
    assert 0.9995 < max(found) <= 1.0
