from pathlib import Path

from benchconsole.topology.analysis.bottlenecks import find_bottlenecks
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric

HEAD = "schema: 1\nfabric: x\n"

RACKS = (
    HEAD
    + """\
switches: {"leaf[1-4]": {role: leaf, model: S5248F}, spine: {role: spine}, border: {role: core}}
nodes: {"n[01-32]": {}}
links:
  - {from: "n[01-16]", to: "leaf[1-2]", speed: 10 Gb/s, bond: lacp}
  - {from: "n[17-32]", to: "leaf[3-4]", speed: 10 Gb/s, bond: lacp}
  - {from: "leaf[1-2]", to: spine, speed: 40 Gb/s, count: 2}
  - {from: "leaf[3-4]", to: spine, speed: 40 Gb/s}
  - {from: spine, to: border, speed: 100 Gb/s}
"""
)


def said(described: Fabric) -> list[str]:
    return [each.text for each in find_bottlenecks(make_tables(described))]


def test_the_costliest_comes_first_and_equal_switches_are_one(tmp_path: Path) -> None:
    described = fabric(tmp_path, RACKS)
    assert [each.where for each in find_bottlenecks(make_tables(described))[:2]] == ["leaf[3-4]", "leaf[1-2]"]
    assert said(described)[:3] == [
        "Each of 2 S5248F (leaf[3-4]) takes 160 Gb/s from below and passes on 40.0 Gb/s: 4.00:1",
        "Each of 2 S5248F (leaf[1-2]) takes 160 Gb/s from below and passes on 80.0 Gb/s: 2.00:1",
        "32 nodes can send 640 Gb/s, and 100 Gb/s lead out of the fabric above spine: 6.40:1",
    ]


def test_one_stream_per_node_hides_what_one_leg_does_not_fill(tmp_path: Path) -> None:
    # 16 x 10 are as much as the 160 of leaf[1-2]; of leaf[3-4] they are twice the 80: that one is seen.
    (found,) = said(fabric(tmp_path, RACKS))[3:]
    assert found == (
        "A single stream of 10.0 Gb/s per node offers 16 x 10.0 Gb/s = 160 Gb/s, as much as the uplinks of leaf[1-2]: "
        "it cannot show the 2.00:1; 2 streams per node on both legs are needed"
    )


def test_other_nodes_on_the_same_switches_are_no_such_place(tmp_path: Path) -> None:
    text = RACKS.replace('"n[01-32]": {}', '"n[01-32]": {}, st: {}') + "  - {from: st, to: leaf1, speed: 100 Gb/s}\n"
    assert "single-stream" not in {each.code for each in find_bottlenecks(make_tables(fabric(tmp_path, text)))}


def test_a_line_between_sites(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {west: {role: core}, east: {role: core}}\nnodes: {"w[1-8]": {}, "e[1-8]": {}}\nlinks:\n'
        '  - {from: "w[1-8]", to: west, speed: 10G}\n  - {from: "e[1-8]", to: east, speed: 10G}\n'
        "  - {from: west, to: east, speed: 40G}\n"
    )
    assert said(fabric(tmp_path, text)) == [
        "Each of 2 core switches (east,west) takes 80.0 Gb/s from below and has for the other switches of its tier 40.0 Gb/s: 2.00:1"
    ]


def test_a_peer_link_that_is_not_needed_is_no_bottleneck(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"spine[1-2]": {role: spine}, "leaf[1-2]": {role: leaf}}\nnodes: {"n[1-8]": {}}\nlinks:\n'
        '  - {from: "n[1-4]", to: leaf1, speed: 10G}\n  - {from: "n[5-8]", to: leaf2, speed: 10G}\n'
        '  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 40G}\n  - {from: spine1, to: spine2, speed: 10G}\n'
    )
    assert said(fabric(tmp_path, text)) == []


def test_one_switch_is_named_alone(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {a: {role: leaf}, b: {role: leaf}, s: {role: spine}}\nnodes: {"n[1-4]": {}, m: {}}\nlinks:\n'
        '  - {from: "n[1-4]", to: a, speed: 10G}\n  - {from: m, to: b, speed: 10G}\n  - {from: "a,b", to: s, speed: 10G}\n'
    )
    assert said(fabric(tmp_path, text)) == [
        "a (leaf switch) takes 40.0 Gb/s from below and passes on 10.0 Gb/s: 4.00:1"
    ]


def test_nothing_to_say_of_a_single_switch(tmp_path: Path) -> None:
    text = HEAD + 'switches: {a: {role: leaf}}\nnodes: {"n[1-4]": {}}\nlinks: [{from: "n[1-4]", to: a, speed: 10G}]\n'
    assert said(fabric(tmp_path, text)) == []
