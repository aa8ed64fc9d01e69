from pathlib import Path

import pytest
from hypothesis import given, settings

from benchconsole.topology.analysis.end_to_end import analyse_end_to_end, list_findings
from benchconsole.topology.analysis.oversubscription import WorstFailure
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric
from tests.topology.fabrics import networks
from tests.topology.slowly import Ways

GIGABIT = 1.25e8
HEAD = "schema: 1\nfabric: x\n"

PODS = (
    HEAD
    + """\
switches: {"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}, core: {role: core}}
nodes: {"a[1-8]": {}, "b[1-2]": {}}
links:
  - {from: "a[1-8]", to: leaf1, speed: 10 Gb/s}
  - {from: "b[1-2]", to: leaf2, speed: 10 Gb/s}
  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 10 Gb/s, wiring: one-to-one, count: 4}
  - {from: "spine[1-2]", to: core, speed: 10 Gb/s, count: 2}
"""
)


def test_the_product_along_the_worst_way(tmp_path: Path) -> None:
    found = analyse_end_to_end(make_tables(fabric(tmp_path, PODS)))[0]
    assert (found.worst.node, found.worst.switches, found.worst.ratio) == ("a1", ("leaf1", "spine1", "core"), 4.0)
    assert (found.nodes, found.top) == (10, ("core",))
    assert found.share.node == "a1"
    assert found.share.fair / GIGABIT == pytest.approx(2.5)
    assert found.cable == WorstFailure("spine1--core", 8.0)
    assert found.switch_lost is None


def test_the_product_is_not_the_share_where_wiring_is_uneven(tmp_path: Path) -> None:
    """One leaf of two at a spine sends nothing: the product still counts its cable, the share does not."""
    text = HEAD + (
        'switches: {"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}}\nnodes: {"a[1-8]": {}, b: {}}\nlinks:\n'
        '  - {from: "a[1-8]", to: leaf1, speed: 10G}\n  - {from: b, to: leaf2, speed: 10G}\n'
        "  - {from: leaf1, to: spine1, speed: 10G, count: 3}\n  - {from: leaf1, to: spine2, speed: 10G}\n"
        '  - {from: leaf2, to: "spine[1-2]", speed: 10G}\n'
    )
    described = fabric(tmp_path, text)
    report = analyse_end_to_end(make_tables(described))
    found = report[0]
    # 80 over 40, but half of what leaf1 sends goes over the single cable to spine2.
    assert found.worst.ratio == 2.0
    assert found.share.ratio == pytest.approx(4.0)
    said = {each.code: each.text for each in list_findings(report)}
    assert said["end-to-end"] == "a1 to spine1: 2.00:1 end to end, by leaf1, spine1"
    assert said["not-uniform"].endswith("2.50 Gb/s of 10.0 Gb/s: 4.00:1, not 2.00:1 as the product says")


def test_networks_without_a_gateway_are_told_apart(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {data: {role: leaf}, admin: {role: leaf}}\nnodes: {"n[1-4]": {}, m: {}}\nnetworks: {gige: {}}\n'
        'links: [{from: "n[1-4]", to: data, speed: 100G}, {from: "n[1-2],m", to: admin, speed: 1G, network: gige}]\n'
    )
    found = analyse_end_to_end(make_tables(fabric(tmp_path, text)))
    assert [(each.nodes, each.top, each.share.legs / GIGABIT) for each in found] == [
        (4, ("data",), 100), (3, ("admin",), 1)
    ]  # fmt: skip


def test_a_leaf_with_a_dead_spine_goes_over_the_peer_link(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"leaf[1-2]": {role: leaf}, "leaf[3-4]": {role: leaf}, "spine[1-2]": {role: spine}}\n'
        'nodes: {"a[1-4]": {}, "b[1-4]": {}}\nmlag: {p: {switches: "leaf[1-2]"}, q: {switches: "leaf[3-4]"}}\nlinks:\n'
        '  - {from: "a[1-4]", to: "leaf[1-2]", speed: 10G, bond: lacp}\n  - {from: "b[1-4]", to: "leaf[3-4]", speed: 10G, bond: lacp}\n'
        '  - {from: "leaf[1,3]", to: spine1, speed: 40G}\n  - {from: "leaf[2,4]", to: spine2, speed: 40G}\n'
        "  - {from: leaf1, to: leaf2, speed: 20G}\n  - {from: leaf3, to: leaf4, speed: 20G}\n"
    )
    found = analyse_end_to_end(make_tables(fabric(tmp_path, text)))[0]
    assert found.worst.ratio == 1.0
    # 40 of leaf1 over a peer link of 20.
    assert found.switch_lost == WorstFailure("spine1", 2.0)


def test_a_fabric_without_cables_has_no_network(tmp_path: Path) -> None:
    described = fabric(tmp_path, HEAD + "switches: {s: {role: leaf}}\nnodes: {n: {}}\n")
    assert analyse_end_to_end(make_tables(described)) == ()
    assert list(list_findings(analyse_end_to_end(make_tables(described)))) == []


def product(slow: Ways, node: str, network: frozenset[str]) -> float:
    """The worst product of the ways up of a node, device by device."""

    def down(switch: str) -> float:
        ways = sum(capacity for other in slow.fabric.switches for upper, capacity in slow.up(other) if upper == switch)
        legs = sum(
            capacity for name in slow.fabric.nodes for upper, capacity in slow.up(name, network) if upper == switch
        )
        return ways + legs

    def onward(switch: str) -> float:
        ways = slow.up(switch)
        if not ways:
            return 1.0
        return max(1.0, down(switch) / sum(c for _, c in ways)) * max(onward(upper) for upper, _ in ways)

    return max((onward(switch) for switch, _ in slow.up(node, network)), default=1.0)


def worst(described: Fabric) -> dict[frozenset[str], float]:
    slow = Ways(described)
    found: dict[frozenset[str], float] = {}
    for network in set(slow.network.values()):
        ratios = [product(slow, node, network) for node in described.nodes if slow.up(node, network)]
        if ratios:
            found[network] = max(ratios)
    return found


@given(networks())
@settings(max_examples=25, deadline=None)
def test_the_worst_way_is_that_of_the_fabric(described: Fabric) -> None:
    found = analyse_end_to_end(make_tables(described))
    assert sorted(each.worst.ratio for each in found) == pytest.approx(sorted(worst(described).values()))
    for each in found:
        assert each.share.fair <= each.share.legs * (1 + 1e-9)


@given(networks())
@settings(max_examples=8, deadline=None)
def test_a_lost_cable_is_told_as_the_fabric_without_it_has_it(described: Fabric) -> None:
    """Where a way is left everywhere, the network after the failure named has the ratio that was told."""
    for network in analyse_end_to_end(make_tables(described)):
        if network.cable is None:
            continue
        ratios = []
        for link in described.links.values():
            if link.a in described.switches and described.tier(link.a) < described.tier(link.b) and link.count > 1:
                ratios += [
                    each.worst.ratio
                    for each in analyse_end_to_end(make_tables(remove_elements(described, members={link.id: 1})))
                ]
        if described.links[network.cable.element].count > 1 and ratios:  # type: ignore[index]
            assert max(ratios) <= network.cable.ratio * (1 + 1e-9)


def test_the_fair_share_is_what_flows_to_the_top_would_reach(tmp_path: Path) -> None:
    """A sink on the core that takes everything: each node's expectation is its share."""
    text = (
        PODS.replace('"b[1-2]": {}', '"b[1-2]": {}, "sink[1-10]": {}')
        + '  - {from: "sink[1-10]", to: core, speed: 400 Gb/s}\n'
    )
    described = fabric(tmp_path, text)
    nodes = [f"a{i}" for i in range(1, 9)] + ["b1", "b2"]
    flows = [Flow(NodeId(node), NodeId(f"sink{number}")) for number, node in enumerate(nodes, start=1)]
    rates = [each.value / described.goodput for each in expect(described, flows)]
    assert rates == pytest.approx([2.5 * GIGABIT] * 8 + [10 * GIGABIT] * 2)
    assert analyse_end_to_end(make_tables(described))[0].share.fair == pytest.approx(min(rates))
