"""Management NICs that LLDP tells of: in a network of their own, and never a port that data may take."""

from pathlib import Path

import pytest

from benchconsole.topology.description.document import Imported
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.importers.asked_nodes import AskedNode, BondedPort, describe_fabric
from benchconsole.topology.importers.lldp import read
from benchconsole.topology.importers.management_cables import NOTE
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.model.network import NetworkRole
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.writing.topology_file import write
from tests.topology.importers.sources import described, heard, told

G = 1e9 / 8
MAU = {1: "1000BaseTFD - Four-pair Category 5 UTP, full duplex mode", 25: "25GbaseCR - SFP28"}

Port = tuple[str, str, float]
"""A port of a node, the switch that it leads to, and its Gb/s."""


def describe(nodes: dict[str, list[Port]], **bonds: dict[str, BondedPort]) -> Imported:
    asked = [
        AskedNode(
            name,
            told(*(heard(port, switch, f"{name}-{port}") for port, switch, _ in ports)),
            speeds={port: speed * G for port, _, speed in ports},
            bonds=bonds.get(name, {}),
            data_address=f"10.9.0.{number}",
        )
        for number, (name, ports) in enumerate(nodes.items(), 1)
    ]
    return describe_fabric("small", asked, {}).imported


def list_moved(machine: Fabric) -> set[str]:
    return {link.id for link in machine.links.values() if link.network == "mgmt"}


def every(number: int, *ports: Port) -> dict[str, list[Port]]:
    return {f"n{node}": list(ports) for node in range(1, number + 1)}


TWO: list[Port] = [("eno1", "msw1", 1.0), ("ens1", "leaf1", 25.0)]
SLOW: list[Port] = [("ens1", "leaf1", 10.0)]


@pytest.mark.parametrize(
    ("nodes", "moved"),
    [
        (every(4, *TWO), {f"n{node}--msw1" for node in range(1, 5)}),
        (every(1, *TWO), {"n1--msw1"}),
        (every(2, ("eno1", "msw1", 1), ("ens1", "leaf1", 3.9)), set()),
        (every(2, ("eno1", "msw1", 1), ("ens1", "leaf1", 4)), {"n1--msw1", "n2--msw1"}),
        (every(2, ("eno1", "msw1", 10), ("ens1", "leaf1", 100)), {"n1--msw1", "n2--msw1"}),
        (every(2, ("eno1", "msw1", 25), ("ens1", "leaf1", 100)), set()),  # faster than ports for management are
        (every(2, ("eno1", "leaf1", 1), ("ens1", "leaf1", 25)), set()),  # one switch for both
        # one with its only cable there is one of management as well, two of three such nodes make it a switch for data
        ({**every(2, *TWO), "adm": [("eno1", "msw1", 1)]}, {"n1--msw1", "n2--msw1", "adm--msw1"}),
        ({**every(1, *TWO), "a1": [("eno1", "msw1", 1)], "a2": [("eno1", "msw1", 1)]}, set()),
        ({**every(2, *TWO), "adm": [("eno1", "msw1", 10)]}, set()),  # faster than the slow ports there
        # storage that is cabled to the switches of two kinds of machines: nobody manages over the leaf of the others
        ({"st1": [("a", "leaf1", 10), ("b", "leaf2", 100)], "n1": SLOW, "n2": SLOW}, set()),
        (every(2, ("p1", "leaf1", 25), ("p2", "leaf2", 25)), set()),
    ],
)
def test_slow_ports_to_switches_of_their_own_are_for_management(nodes: dict[str, list[Port]], moved: set[str]) -> None:
    found = describe(nodes)
    machine = described(found)
    assert list_moved(machine) == moved
    assert ("mgmt" in machine.networks) is bool(moved)
    assert sum(NOTE in note for note in found.notes.values()) == len(moved)
    assert list_moved(load_text(write(found, []), "written.yaml")) == moved
    if moved:
        assert machine.networks["mgmt"].role is NetworkRole.MANAGEMENT


def test_flows_take_the_ports_for_data_and_no_others() -> None:
    machine = described(describe(every(2, *TWO)))
    routes = Routes(machine)
    links = {way.link for way in routes.shares_of(Flow(NodeId("n1"), NodeId("n2")))}
    assert links == {"n1--leaf1", "n2--leaf1"}


def test_a_slow_leg_that_stands_by_for_the_fast_one_is_of_its_network() -> None:
    bonds = {port: BondedPort("bond0", "active-backup", "ens1") for port in ("eno1", "ens1")}
    machine = described(describe(every(2, *TWO), n1=bonds, n2=bonds))
    assert list_moved(machine) == set()
    assert {link.id for link in machine.links.values() if link.standby} == {"n1--msw1", "n2--msw1"}


def test_slow_ports_in_a_bond_of_their_own_are_for_management() -> None:
    bonds = {port: BondedPort("bond1", "active-backup", "eno1") for port in ("eno1", "eno2")}
    ports: list[Port] = [("eno1", "msw1", 1.0), ("eno2", "msw2", 1.0), ("ens1", "leaf1", 25.0)]
    machine = described(describe(every(2, *ports), n1=bonds, n2=bonds))
    assert list_moved(machine) == {"n1--msw1", "n1--msw2", "n2--msw1", "n2--msw2"}


def test_files_of_lldpctl_are_parted_as_well(tmp_path: Path) -> None:
    for node in ("n1", "n2"):
        text = told(heard("eno1", "msw1", f"{node}a", MAU[1]), heard("ens1", "leaf1", f"{node}b", MAU[25]))
        (tmp_path / f"{node}.json").write_text(text)
    assert list_moved(described(read([tmp_path]))) == {"n1--msw1", "n2--msw1"}
