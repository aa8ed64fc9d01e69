"""The machine that the demo describes, and what its scenarios plant in it."""

from ipaddress import IPv4Address

import pytest

from benchconsole.console.simulator.scenarios import SCENARIOS, Scenario
from benchconsole.console.simulator.serve import list_manners
from benchconsole.probes.testing.server import LOOPBACK, Manner
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId, NodeRole
from benchconsole.topology.units import parse_link_speed
from tests.console.simulator.conftest import fabric_of


def test_meridian_has_128_nodes_in_eight_racks_at_two_to_one(fabric: Fabric) -> None:
    compute = [node for node in fabric.nodes.values() if node.role is NodeRole.COMPUTE]
    assert (len(compute), len(fabric.nodes), len(fabric.switches)) == (128, 134, 10)
    for leaf in (switch for switch in fabric.switches if switch.startswith("leaf")):
        down = sum(link.capacity for link in fabric.links_at[leaf] if link.a in fabric.nodes)
        up = sum(link.capacity for link in fabric.links_at[leaf] if link.a == leaf)
        assert (down, up) == (parse_link_speed("400 Gb/s"), parse_link_speed("200 Gb/s"))


def test_it_says_that_it_is_simulated_and_stays_on_loopback(fabric: Fabric) -> None:
    assert fabric.simulated
    assert all(IPv4Address(node.address) in LOOPBACK for node in fabric.nodes.values())


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda scenario: scenario.name)
def test_every_fault_is_planted_in_something_that_exists(scenario: Scenario) -> None:
    fabric = fabric_of(scenario)
    for fault in scenario.faults:
        assert NodeId(fault.element) in fabric.nodes or LinkId(fault.element) in fabric.links
        assert all(end in fault.words for end in fault.element.split("--"))


def test_the_scenarios_that_are_promised_are_there() -> None:
    assert {"default", "healthy", "lag", "hostile"} <= SCENARIOS.keys()
    assert not SCENARIOS["healthy"].faults
    assert len({fault.kind for fault in SCENARIOS["default"].faults}) == 5


def test_a_node_that_cannot_be_asked_has_its_manner(fabric: Fabric) -> None:
    found = list_manners(fabric, SCENARIOS["access"])
    odd = {fabric.nodes[node.id].id: found[node.address] for node in fabric.nodes.values()}
    assert {node: manner for node, manner in odd.items() if manner is not Manner.ANSWERS} == {
        "n066": Manner.REFUSES,
        "n067": Manner.SILENT,
        "n068": Manner.CHANGED_KEY,
    }
