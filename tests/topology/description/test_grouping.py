"""MLAG pairs, VLANs, chassis, racks, sites and networks; contradictions are refused with their place."""

from pathlib import Path

import pytest

from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.device_group import Group
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import select
from tests.fabrics import fabric

HEAD = """\
schema: 1
fabric: x
switches:
  a[1-2]: {role: leaf}
  spine1: {role: spine}
nodes:
  n[1-8]: {}
links:
  - {from: "n[1-8]", to: "a[1-2]", speed: 10 Gb/s}
  - {from: a1, to: a2, speed: 40 Gb/s, count: 2}
"""


def described(folder: Path, text: str) -> Fabric:
    return fabric(folder, HEAD + text)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(TopologyError) as caught:
        described(folder, text)
    return [str(problem).split("topology.yaml:")[1] for problem in caught.value.problems]


def test_a_pair_knows_its_peer_link(tmp_path: Path) -> None:
    found = described(tmp_path, 'mlag: {vlt: {switches: "a[1-2]"}}\n')
    assert found.mlag_of["a1"].peer == ("a1--a2",)
    assert found.mlag_of["a1"].other("a1") == "a2"


def test_groups_are_shared_out_in_order_and_can_be_selected(tmp_path: Path) -> None:
    found = described(tmp_path, 'racks: {"r[1-2]": {members: "n[1-8]"}}\nsites: {west: {members: "n[1-8],a[1-2]"}}\n')
    assert found.groups[:2] == (
        Group("rack", "r1", ("n1", "n2", "n3", "n4")),
        Group("rack", "r2", ("n5", "n6", "n7", "n8")),
    )
    assert found.group_of("rack")["n5"].name == "r2"
    assert select(found, "@rack:r2!n8") == ("n5", "n6", "n7")
    assert len(select(found, "@site:west")) == 8


def test_vlans(tmp_path: Path) -> None:
    found = described(tmp_path, 'vlans:\n  10: {name: odd, members: "n[1-7/2]"}\n  20: {members: "n[1-2]"}\n  30: {}\n')
    assert found.vlans_of == {"n1": (10, 20), "n3": (10,), "n5": (10,), "n7": (10,), "n2": (20,)}
    assert found.vlans[30].members == frozenset()
    assert select(found, "@vlan:20") == ("n1", "n2")
    assert found.node_groups["vlan:10"] == ["n1", "n3", "n5", "n7"]


def test_networks(tmp_path: Path) -> None:
    found = described(
        tmp_path, "network: {mtu: 9000}\nnetworks: {elan: {type: Elan3, goodput: 90 %}, ge: {mtu: 1500}}\n"
    )
    assert {name: round(each.goodput, 3) for name, each in found.networks.items()} == {
        "data": 0.99, "elan": 0.9, "ge": 0.941,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ('mlag: {v: {switches: "a1"}}\n', "11:22", "1 switches, expected two switches"),
        ('mlag: {v: {switches: "a[1-2]"}, w: {switches: "a2,spine1"}}\n', "11:47", "a2, which is in the pair v"),
        ('mlag: {v: {switches: "n1,a1"}}\n', "11:22", "'n1', which is no switch"),
        ('chassis: {c1: {members: "n[1-4]"}, c2: {members: "n[4-6]"}}\n', "11:50", "n4, which is in chassis c1"),
        ('racks: {"r[1-3]": {members: "n[1-8]"}}\n', "11:29", "8 members for 3 groups"),
        ('racks: {r1: {members: "m[1-8]"}}\n', "11:23", "unknown device 'm1' (and 7 more of this place)"),
        ("vlans: {5000: {members: n1}}\n", "11:9", "the VLAN '5000'"),
        ("vlans: {ten: {members: n1}}\n", "11:9", "the VLAN 'ten'"),
        ("vlans: {10: {members: a1}}\n", "11:23", "'a1', which is no node"),
        ("networks: {data: {}}\n", "11:12", "a network named 'data'"),
        ("networks: {x: {goodput: 120 %}}\n", "11:25", "at most 100 %"),
    ],
)
def test_contradictions(tmp_path: Path, text: str, place: str, what: str) -> None:
    found = problems(tmp_path, text)
    assert any(line.startswith(f"{place}:") and what in line for line in found), found
