"""Who stands under whom: rows, pairs of switches, middle tiers, servers on the spines."""

from benchconsole.console.tui.fabric_map.shape import read_shape
from benchconsole.topology.model.fabric import LinkId, SwitchRole
from tests.console.tui.fabrics import Builder, chassis, mini, ten_thousand


def test_leaves_and_spines() -> None:
    shape = read_shape(mini())
    assert shape.top == ("spine1", "spine2")
    assert [link.count for tier in shape.tiers for link in tier.cross] == [3]
    assert [rack.name for rack in shape.racks] == [f"leaf{index}" for index in range(1, 9)]
    assert not shape.tiered
    assert [(row.kind, len(row.nodes)) for row in shape.servers] == [("storage", 4), ("management", 2)]
    rack = shape.racks[2]
    assert rack.down / rack.up() == 2.0
    assert round(rack.down / rack.up({LinkId("leaf3--spine1"): 1}), 2) == 2.67


def test_a_pair_of_switches_over_the_same_nodes_is_one_row() -> None:
    shape = read_shape(chassis())
    assert shape.tiered
    assert [group.name for group in shape.groups] == ["t1", "t2", "t3", "t4", "t5"]
    rack = shape.groups[1].racks[2]
    assert (rack.name, rack.switches, len(rack.nodes)) == ("c07", ("c07a", "c07b"), 16)
    assert rack.down / rack.up() == 2.0
    lost = {LinkId("c07a--t2"): 1}
    group = shape.groups[1]
    assert group.down / group.up() == 4.0
    assert group.down_now(lost) / group.up(lost) == 3.75


def test_pods_become_groups() -> None:
    shape = read_shape(ten_thousand(pods=3, leaves=4, per_leaf=2))
    assert [group.name for group in shape.groups] == ["p01", "p02", "p03"]
    assert len(shape.racks) == 12


def test_one_switch_alone_is_a_row_without_uplinks() -> None:
    made = Builder("star")
    made.switch("sw", SwitchRole.LEAF)
    for name in ("n1", "n2", "lonely"):
        made.node(name)
    made.link("n1", "sw", 10)
    made.link("n2", "sw", 10)
    shape = read_shape(made.build())
    assert shape.top == ()
    assert [(rack.name, len(rack.nodes), rack.uplinks) for rack in shape.racks] == [("sw", 2, ())]
    assert [row.nodes for row in shape.servers] == [("lonely",)]


def test_every_node_stands_in_exactly_one_row() -> None:
    for fabric in (mini(), chassis(), ten_thousand(pods=2)):
        shape = read_shape(fabric)
        seen = [node for rack in shape.racks for node in rack.nodes]
        seen += [node for row in shape.servers for node in row.nodes]
        assert sorted(seen) == sorted(fabric.nodes)
