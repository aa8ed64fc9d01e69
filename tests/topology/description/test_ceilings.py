"""Ceilings of nodes and switches as they are written; what would limit nothing, or cannot be, is refused with its place."""

from pathlib import Path

import pytest

from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.ceiling import Ceiling, compute_pcie_rate
from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.routing.passed_ceilings import list_inside
from tests.fabrics import fabric

WIRE = 1448 / 1538  # of MTU 1500

TEXT = """\
schema: 1
fabric: x
switches: {{"rail[1-2]": {{}}, s1: {{role: spine, ports: {{"1/[1-4]": 400G}}, ceilings: {{{switch}}}}}}}
nodes: {{"g[1-4]": {{ceilings: {{{node}}}}}, "vm[1-4]": {{host: "g[1-4]"{guest}}}}}
links:
  - {{from: "g[1-4]:p1", to: rail1, speed: 100G}}
  - {{from: "g[1-2]:p2", to: rail2, speed: 100G}}
  - {{from: rail1, to: "s1:1/1", speed: 400G}}
  - {{from: rail2, to: "s1{port}", speed: 400G}}
"""


def text_of(node: str = "", switch: str = "", guest: str = "", port: str = ":1/2") -> str:
    return TEXT.format(node=node, switch=switch, guest=guest, port=port)


def test_ports_are_shared_out_over_ceilings_evenly_in_order(tmp_path: Path) -> None:
    node = '"numa[0-1]": {rate: 200G}'
    with pytest.raises(TopologyError, match=r"topology.yaml:4:.*2 ceilings of all ports, expected ports, which they"):
        fabric(tmp_path, text_of(node))
    card = '"card[1-2]": {ports: "1/[1-4]", rate: 600G}, plane: {rate: 1 Tb/s}'
    found = fabric(tmp_path, text_of("slot: {ports: p1, pcie: {generation: 4, lanes: 8}}", card)).ceilings
    assert found["s1"] == (
        Ceiling("card1", 75e9, frozenset(("1/1", "1/2"))),
        Ceiling("card2", 75e9, frozenset(("1/3", "1/4"))),
        Ceiling("plane", 125e9),
    )
    assert found["g4"] == (Ceiling("slot", compute_pcie_rate(4, 8), frozenset(("p1",)), "PCIe 4.0 x8"),)
    assert set(found) == {"s1", "g1", "g2", "g3", "g4"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            text_of("slot: {pcie: {generation: 9, lanes: 8}}"),
            "PCI Express generation 9, expected one of 1, 2, 3, 4, 5, 6, 7",
        ),
        (text_of("slot: {pcie: {generation: 4, lanes: 3}}"), "PCI Express lanes 3, expected one of 1, 2, 4, 8, 16"),
        (text_of("slot: {ports: p1}"), "neither rate nor pcie, expected rate: 200 Gb/s, or pcie: {generation: 4, lanes: 8}"),
        (text_of("slot: {rate: 5G, pcie: {generation: 4, lanes: 8}}"), "both rate and pcie, expected rate"),
        (text_of("slot: {rate: 5 GB/s}"), "5 GB/s"),
        (
            text_of("slot: {ports: p2, rate: 50G}"),
            'the port p2, which has no cable at 2 of 4, g[3-4], expected a port that links name, as in "g3:p2"',
        ),
        (text_of('"slot[1-2]": {ports: "p[1-3]", rate: 50G}'), "3 ports for 2 ceilings, expected as many ports for each"),
        (text_of('a: {ports: p1, rate: 5G}, "a,b": {ports: "p1,p2", rate: 5G}'), "the ceiling a a second time"),
        (text_of("slot: {ports: '', rate: 50G}"), "'' is no set of ports"),
        (text_of(switch="card: {ports: 1/9, rate: 50G}"), "the port 1/9, which has no cable at s1"),
        (
            text_of(switch="card: {ports: 1/1, rate: 50G}", port=""),
            'ports, where the link rail2--s1 names none at s1, expected the port of every cable, as in "s1:p1"',
        ),
        (text_of(guest=", ceilings: {cpu: {rate: 5G}}"), "ceilings of the virtual machine vm1, expected ceilings of its host g1"),
        (text_of("slot: {rate: 5G, lanes: 8}"), "unknown key 'lanes', expected one of ports, rate, pcie"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(TopologyError) as caught:
        fabric(tmp_path, text)
    (first, *_) = [str(each) for each in caught.value.problems]
    assert "topology.yaml:" in first
    assert problem in first


SPLIT = """\
schema: 1
fabric: x
switches: {{l: {{ports: {{"Eth[1-2]": {{speed: 400G, breakout: 4}}, "Eth[3-4]": 400G}}, ceilings: {{{ceilings}}}}}}}
nodes: {{"n[1-6]": {{}}}}
links:
  - {{from: "n[1-6]", to: "l:Eth1/[1-3],Eth2/1,Eth[3-4]", speed: 100G}}
"""


@pytest.mark.parametrize(
    ("ports", "passing"),
    [
        ("Eth1", {"n1", "n2", "n3"}),
        ("Eth[1-2]", {"n1", "n2", "n3", "n4"}),
        ("Eth[1,3]", {"n1", "n2", "n3", "n5"}),
        ("Eth1/2", {"n2"}),
        ("Eth2/1,Eth4", {"n4", "n6"}),
        ("Eth3", {"n5"}),
    ],
)
def test_a_ceiling_of_a_split_port_is_passed_by_every_part_of_it(tmp_path: Path, ports: str, passing: set[str]) -> None:
    text = SPLIT.format(ceilings=f'asic: {{ports: "{ports}", rate: 50G}}')
    described = fabric(tmp_path, text)
    (asic,) = described.ceilings["l"]
    found = {link.a for link in described.links.values() if any(list_inside(link, "l", asic))}
    assert found == passing


def test_what_parts_of_split_ports_send_is_held_by_their_ceiling(tmp_path: Path) -> None:
    described = fabric(tmp_path, SPLIT.format(ceilings='asic: {ports: "Eth[1-2]", rate: 100G}'))
    flows = [Flow(NodeId(f"n{number}"), NodeId("n5")) for number in (1, 2)] + [Flow(NodeId("n3"), NodeId("n6"))]
    assert [rate.value for rate in expect(described, flows)] == pytest.approx([100 * 1.25e8 * WIRE / 3] * 3)
