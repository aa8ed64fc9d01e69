from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.tables.fabric_tables import make_tables
from benchconsole.topology.tables.separation import find_separation
from tests.fabrics import fabric
from tests.topology.fabrics import networks
from tests.topology.slowly import Ways, cut_without, has_other_plane, machines, network_of, switches_of
from tests.topology.wild import MAX_SEED, wild

HEAD = "schema: 1\nfabric: x\n"
TREE = HEAD + (
    'switches: {"leaf[1-3]": {role: leaf}, "mid[1-2]": {role: spine}, core: {role: core}}\n'
    'nodes: {"a[1-4]": {}, "b[1-2]": {}, c: {}, both: {}, vm: {host: c}}\nlinks:\n'
    '  - {from: "a[1-4]", to: leaf1, speed: 10G}\n  - {from: "b[1-2]", to: leaf2, speed: 10G}\n'
    '  - {from: c, to: leaf3, speed: 10G}\n  - {from: both, to: "leaf[2-3]", speed: 10G}\n'
    '  - {from: "leaf[1-2]", to: mid1, speed: 40G}\n  - {from: leaf3, to: mid2, speed: 40G}\n'
    '  - {from: "mid[1-2]", to: core, speed: 40G, count: 2}\n'
)


def test_a_tree_falls_apart_at_every_switch(tmp_path: Path) -> None:
    found = make_tables(fabric(tmp_path, TREE))
    apart = find_separation(found)
    cut = dict(zip(found.names, apart.device.tolist(), strict=True))
    # c counts for two: it carries a virtual machine. both is cabled to two leaves.
    assert {name: cut[name] for name in ("leaf1", "leaf2", "leaf3", "mid1", "mid2")} == {
        "leaf1": 4, "leaf2": 2, "leaf3": 2, "mid1": 6, "mid2": 2
    }  # fmt: skip
    # Without the core no top switch is left; mid1 keeps most: its six nodes and both.
    assert cut["core"] == 2
    assert found.devices(apart.points) == ("mid1", "mid2", "core")
    assert [found.ids[link] for link in found.trunks.first[apart.bridges].tolist()] == [
        "leaf1--mid1", "leaf2--mid1", "leaf3--mid2", "mid1--core", "mid2--core"
    ]  # fmt: skip
    assert apart.trunk[apart.bridges].tolist() == [4, 2, 2, 6, 2]
    leg = dict(zip(apart.leg.tolist(), found.node_groups.owner.tolist(), strict=False))
    assert 2 in leg


def test_a_gateway_holds_two_networks_together(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {one: {role: leaf}, two: {role: leaf}}\nnodes: {"a[1-3]": {}, b: {}, gw: {role: gateway, forwards: true}}\n'
        'links: [{from: "a[1-3],gw", to: one, speed: 10G}, {from: "b,gw", to: two, speed: 10G, lag: x}]\n'
    )
    found = make_tables(fabric(tmp_path, text))
    apart = find_separation(found)
    assert apart.device[found.index["gw"]] == 1
    groups = found.node_groups
    legs = np.arange(groups.start[2], groups.start[3])
    # Without its leg to one it still reaches b; the three nodes on one stay, b and the gateway are cut off.
    assert apart.leg[legs].tolist() == [2, 1]


def reached(described: Fabric, tops: set[str], node: str) -> bool:
    """Whether a cable of ``node`` leads to something that leads to a top switch."""
    return any(tops & network_of(described, switch) for switch in switches_of(described, node))


@given(networks())
@settings(max_examples=40, deadline=None)
def test_a_bridge_disconnects_exactly_the_nodes_told(described: Fabric) -> None:
    found = make_tables(described)
    apart = find_separation(found)
    slow = Ways(described)
    tops: set[str] = {name for name in described.switches if slow.top(name)}
    for trunk in range(len(found.trunks.low)):
        low, high = (found.names[ends[trunk]] for ends in (found.trunks.low, found.trunks.high))
        links = [link.id for link in described.links.values() if {link.a, link.b} == {low, high}]
        worn = remove_elements(described, links=links)
        joined = high in network_of(worn, low)
        assert joined == (trunk not in apart.bridges)
        if not {low, high} <= tops:
            assert apart.trunk[trunk] == sum(not reached(worn, tops, node) for node in described.nodes)


@given(st.integers(0, MAX_SEED))
@settings(max_examples=80, deadline=None)
def test_dead_devices_and_bridges_in_wild_fabrics(seed: int) -> None:
    described = wild(seed, 15)
    found = make_tables(described)
    apart = find_separation(found)
    slow = Ways(described)
    counted = machines(described)

    def count(nodes: set[str], within: frozenset[str]) -> int:
        return sum(counted[node] for node in nodes if not has_other_plane(described, slow, node, within))

    for name in described.switches:
        assert apart.device[found.index[name]] == cut_without(described, slow, name)
    for node in described.nodes.values():
        if node.forwards and switches_of(described, node.id) and node.id in counted:
            assert apart.device[found.index[node.id]] == cut_without(described, slow, node.id)
    for trunk in range(len(found.trunks.low)):
        low, high = (found.names[ends[trunk]] for ends in (found.trunks.low, found.trunks.high))
        links = [link.id for link in described.links.values() if {link.a, link.b} == {low, high}]
        worn = remove_elements(described, links=links)
        parts = {frozenset(network_of(worn, low)), frozenset(network_of(worn, high))}
        whole = slow.network[low]
        assert (len(parts) == 2) == (trunk in apart.bridges)
        held = [
            (
                sum(switch in described.switches and slow.top(switch) for switch in part),
                count({node for node in counted if set(switches_of(described, node)) & part}, whole),
            )
            for part in parts
        ]
        total = count({node for node in counted if set(switches_of(described, node)) & whole}, whole)
        assert apart.trunk[trunk] == total - max(held)[1]
