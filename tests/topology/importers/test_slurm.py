"""Slurm's topology files: lines as Slurm reads them, trees and blocks in YAML, and what Slurm refuses too."""

import pytest

from benchconsole.topology.description.document import Imported
from benchconsole.topology.importers import import_text
from benchconsole.topology.model.fabric import Fabric, SwitchRole
from tests.topology.importers.sources import CONF, TREE, described, problems

SPEED = "25 Gb/s"


def read(text: str) -> Imported:
    return import_text("slurm", text, "topology.conf", SPEED)


def tree(text: str) -> dict[str, list[str]]:
    """Each switch with what is below it."""
    fabric = described(read(text))
    return {name: sorted(link.a for link in fabric.links.values() if link.b == name) for name in fabric.switches}


def nodes(*numbers: int) -> list[str]:
    return sorted(f"n{number}" for number in numbers)


SAMPLE = {"leaf1": nodes(1, 2, 3, 4, 9), "leaf12": nodes(*range(10, 17)), "spine1": ["leaf1", "leaf12"]}


def test_keys_in_any_case_quotes_comments_and_lines_that_go_on() -> None:
    assert tree(CONF) == SAMPLE
    assert tree(CONF.replace("\n", "\r\n")) == SAMPLE
    fabric = described(read(CONF))
    assert fabric.switches.keys() == SAMPLE.keys()
    assert [switch.role for switch in fabric.switches.values()] == [SwitchRole.LEAF, SwitchRole.LEAF, SwitchRole.SPINE]


def test_the_yaml_says_the_same_and_the_default_tree_is_taken() -> None:
    assert tree(TREE) == SAMPLE
    other = "- topology: other\n  tree:\n    switches:\n      - {switch: x, nodes: n1}\n"
    assert tree(other + TREE.removeprefix("---\n")) == SAMPLE
    assert any(remark.startswith("one tree is taken") for remark in read(other + TREE.removeprefix("---\n")).remarks)


def test_blocks_are_pods_with_and_without_a_tree() -> None:
    assert [(group.kind, group.name, group.members) for group in described(read(TREE)).groups] == [
        ("pod", "b1", ("n1", "n2", "n3", "n4"))
    ]
    fabric = described(read("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2\n"))
    assert {group.name: group.members for group in fabric.groups} == {"b1": ("n1", "n2"), "b2": ("n3", "n4")}
    assert not fabric.links


def test_a_link_speed_of_slurm_is_no_speed() -> None:
    assert any(remark.startswith("LinkSpeed is left out") for remark in read(CONF).remarks)
    found = problems(lambda text: import_text("slurm", text, "f"), CONF)
    assert found[0].startswith("f:2:24: no speed for n[1-4,9] to leaf1; n[10-16] to leaf12; leaf[1,12] to spine1")


def test_a_node_under_two_switches_is_cabled_to_both_and_a_switch_may_have_nothing_below() -> None:
    text = "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\nSwitchName=c\n"
    assert tree(text) == {"a": ["n1"], "b": ["n1"], "c": []}
    assert ("switches", "c") in read(text).notes


def test_hostlists_of_many_kinds_of_nodes_are_not_taken_for_too_many() -> None:
    fabric = described(read("SwitchName=s Nodes=cn[0001-0400],gpu[001-100],big[01-10],x\n"))
    assert len(fabric.nodes) == 511


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SwitchName=a Nodes=n[1-2", "f:1:20: 'n[1-2'"),
        ("SwitchName=a Nodes=n[1-2\n", "f:1:20: 'n[1-2'"),
        ("SwitchName=a Nodes=n[3-1]\n", "f:1:20: 'n[3-1]' is not a node set: range 3-1 runs backwards"),
        ("SwitchName=a Nodes=\n", "f:1:14: 'Nodes=', expected Key=value"),
        ("SwitchName=a Nodse=n1\n", "f:1:14: unknown key 'Nodse', expected one of SwitchName, Switches, Nodes"),
        ("SwitchName=a nodes n1\n", "f:1:14: 'nodes n1', expected Key=value"),
        ("SwitchName=a Nodes=n1 Switches=b\nSwitchName=b\n", "f:1:12: nodes and switches under a"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "f:2:12: the name 'a' a second time (first in line 1)"),
        ("SwitchName=a Nodes=a\n", "f:1:20: the name 'a' a second time"),
        ("SwitchName=a Switches=leaf\nSwitchName=leaf1 Nodes=n1\n", "f:1:23: unknown device 'leaf'"),
        ("SwitchName=a Switches=n1\nSwitchName=b Nodes=n1\n", "f:1:23: the node n1 among the switches"),
        ("SwitchName=a Switches=a\n", "f:1:12: a loop: a is below itself"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a\nSwitchName=c Nodes=n1\n", "f:2:12: a loop: b"),
        ("SwitchName=a Nodes=ALL\n", "f:1:20: ALL, expected names"),
        ("BlockName=b Nodes=n1\nBlockName=b Nodes=n2\n", "f:2:11: the block 'b' a second time"),
        ("SwitchName=a \\\nNodes=n[1-\n", "f:2:7: 'n[1-'"),
        ("# nothing\n", "f:1:1: an empty file"),
        ("just words\n", "f:1:1: no list of topologies"),
        ("- topology: x\n  flat: true\n", "f:1:1: no switch and no block, only x (flat), expected SwitchName="),
        ("- topology: x\n  tree: {switch: []}\n", "f:2:9: no switches"),
        ("- topology: x\n  tree: {switches: [y]}\n", "f:2:21: an entry that is no mapping"),
        ("- topology: x\n  tree: {switches: [{nodes: n1}]}\n", "f:2:21: an entry without a name"),
        ("- topology: x\n  tree: {switches: [{switch: a, node: n1}]}\n", "f:2:33: unknown key 'node'"),
        ("- topology: x\n  tree: {switches: [{switch: a, nodes: [n1]}]}\n", "f:2:40: nodes: no text"),
        ("- topology: x\n\ttree: {}\n", "f:2:1: broken YAML"),
    ],
)
def test_every_mistake_is_told_with_its_place(text: str, expected: str) -> None:
    found = problems(lambda each: import_text("slurm", each, "f", SPEED), text)
    assert any(expected in line for line in found), found


@pytest.mark.parametrize("name", ["[spine1", "s[bold]"])
def test_a_switch_whose_name_is_no_name_is_told_beside_those_below_it(name: str) -> None:
    text = f"SwitchName=a Nodes=n1\nSwitchName={name} Switches=a\n"
    found = problems(read, text)
    assert found[0].startswith(f"topology.conf:2:12: the name '{name}', expected letters, digits, '-', '_' and '.'")


def test_a_fabric_read_from_slurm_is_named_after_the_file() -> None:
    fabric: Fabric = described(import_text("slurm", CONF, "/etc/slurm/topology.conf", SPEED))
    assert fabric.name == "topology"


def test_how_many_cables_join_two_switches_is_not_known() -> None:
    found = read(CONF)
    counted = {link.id: link.counted for link in described(found).links.values()}
    assert {name for name, known in counted.items() if not known} == {"leaf1--spine1", "leaf12--spine1"}
    assert (
        "how many cables lead from one switch to another is not in the source: written as count: unknown for "
        "leaf[1,12] to spine1"
    ) in found.remarks


def test_a_node_under_two_leaf_switches_is_remarked() -> None:
    found = read("SwitchName=s2 Nodes=n[1-4]\nSwitchName=s4 Nodes=n[4-6]\n")
    assert "nodes that stand under several switches have a cable to each: n4, as n4 under s2 and s4" in found.remarks


def test_rings_and_tori_are_pods_and_flat_topologies_are_named() -> None:
    text = "- topology: t1\n  flat: true\n- topology: t2\n  ring:\n    rings:\n      - {ring: a, nodes: 'n[1-4]'}\n"
    found = read(text)
    assert [(group.name, group.members) for group in described(found).groups] == [("a", ("n1", "n2", "n3", "n4"))]
    said = "rings are taken as pods, their cables are not in the source: read from t1 (flat), t2 (ring)"
    assert said in found.remarks
    torus = "- topology: t\n  torus3d: {toruses: [{dims: {x: 2}, nodes: 'n[1-8]'}]}\n"
    assert [group.name for group in described(read(torus)).groups] == ["torus3d1"]
    assert "topologies of other kinds are left out: f (flat)" in read(TREE + "- topology: f\n  flat: true\n").remarks


def test_a_last_line_that_stops_before_what_is_below_its_switch_is_a_cut() -> None:
    found = problems(read, "SwitchName=a Nodes=n1\nSwitchName=b")
    assert found == ["topology.conf:2:12: b in a last line without end, expected Nodes or Switches: this file is cut"]
    assert tree("SwitchName=a Nodes=n1\nInclude more.conf\nSwitchName=b Nodes=n2") == {"a": ["n1"], "b": ["n2"]}


def test_what_scontrol_prints_is_the_same_tree() -> None:
    text = """\
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[3-4]
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[0-1]
"""
    assert tree(text) == {"s0": nodes(1, 2), "s1": nodes(3, 4), "top": ["s0", "s1"]}
    blocks = "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n"
    assert [group.name for group in described(read(blocks)).groups] == ["b1"]
