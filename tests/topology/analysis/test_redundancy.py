import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis import redundancy
from benchconsole.topology.analysis.redundancy import ElementLoss, analyse_redundancy, list_findings
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.tables import single_failures
from benchconsole.topology.tables.fabric_tables import make_tables
from benchconsole.topology.tables.single_failures import Effect, FailureKind
from tests.fabrics import fabric
from tests.topology.fabrics import networks
from tests.topology.slowly import Ways, cut_without, has_other_plane, machines, quotient, sums
from tests.topology.wild import MAX_SEED, wild

HEAD = "schema: 1\nfabric: x\n"

SQUARE = (
    HEAD
    + """\
switches: {"leaf[1-2]": {role: leaf}, "leaf[3-4]": {role: leaf}, "spine[1-2]": {role: spine}}
nodes: {"a[1-4]": {}, "b[1-4]": {}, orphan: {}}
mlag: {p: {switches: "leaf[1-2]"}, q: {switches: "leaf[3-4]"}}
links:
  - {from: "a[1-4]", to: "leaf[1-2]", speed: 10 Gb/s, bond: lacp}
  - {from: "b[1-4]", to: "leaf[3-4]", speed: 10 Gb/s, bond: active-backup}
  - {from: orphan, to: leaf4, speed: 10 Gb/s, count: 2}
  - {from: "leaf[1,3]", to: spine1, speed: 40 Gb/s}
  - {from: "leaf[2,4]", to: spine2, speed: 40 Gb/s}
  - {from: leaf1, to: leaf2, speed: 20 Gb/s}
  - {from: leaf3, to: leaf4, speed: 10 Gb/s}
"""
)


def of(report: tuple[ElementLoss, ...], element: str, kind: FailureKind | None = None) -> Effect:
    return next(loss.effect for loss in report if element in loss.elements and (kind is None or loss.kind is kind))


def test_a_switch_whose_only_spine_is_dead_goes_over_its_peer_link(tmp_path: Path) -> None:
    report = analyse_redundancy(make_tables(fabric(tmp_path, SQUARE)))
    found = of(report, "spine1")
    # leaf1 has 20 of 40 left over its peer link, leaf3 10 of 40; b sends by leaf3 only, a by both leaves.
    assert (found.cut, found.degraded, found.left) == (0, 8, 0.25)
    # Both leaves offer 40 and have the peer link left: 40 over 10.
    assert (found.ratio, found.load, found.redundant) == (4.0, 4.0, False)
    spine2 = of(report, "spine2")
    # leaf4 carries only the orphan: 20 over 10.
    assert (spine2.cut, spine2.degraded, spine2.left, spine2.ratio) == (0, 5, 0.25, 2.0)


def test_standby_legs_keep_everything_and_bring_their_load(tmp_path: Path) -> None:
    report = analyse_redundancy(make_tables(fabric(tmp_path, SQUARE)))
    leaf3, leaf4 = of(report, "leaf3"), of(report, "leaf4")
    assert (leaf3.cut, leaf3.degraded, leaf3.ratio, leaf3.load) == (0, 0, 60 / 40, 1.0)
    assert (leaf4.cut, leaf4.degraded, leaf4.ratio) == (1, 0, None)
    active, waiting = of(report, "b1--leaf3"), of(report, "b1--leaf4")
    assert active == Effect(cut=0, degraded=0, left=1.0, ratio=None, load=1.0)
    assert active.redundant
    assert waiting == Effect()


def test_legs_and_their_members(tmp_path: Path) -> None:
    report = analyse_redundancy(make_tables(fabric(tmp_path, SQUARE)))
    assert of(report, "a1--leaf1") == Effect(cut=0, degraded=1, left=0.5, ratio=None, load=2.0)
    assert of(report, "orphan--leaf4", FailureKind.LEG) == Effect(
        cut=1, degraded=0, left=1.0, ratio=None, load=math.inf
    )
    assert of(report, "orphan--leaf4", FailureKind.LEG_MEMBER) == Effect(
        cut=0, degraded=1, left=0.5, ratio=None, load=2.0
    )


def test_elements_that_fail_alike_are_one_entry(tmp_path: Path) -> None:
    report = analyse_redundancy(make_tables(fabric(tmp_path, SQUARE)))
    legs = [list(loss.elements) for loss in report if loss.kind is FailureKind.LEG]
    assert legs[0] == [f"a{node}--leaf{leaf}" for node in range(1, 5) for leaf in (1, 2)]
    # leaf1 has the spine of b, leaf2 has not: flows over them differ, though their tiers do not.
    switches = [list(loss.elements) for loss in report if loss.kind is FailureKind.SWITCH]
    assert switches[:2] == [["leaf1"], ["leaf2"]]
    every = [
        element
        for loss in report
        if loss.kind in (FailureKind.LINK, FailureKind.PEER, FailureKind.LEG)
        for element in loss.elements
    ]
    assert sorted(every) == sorted(fabric(tmp_path, SQUARE).links)
    peers = [list(loss.elements) for loss in report if loss.kind is FailureKind.PEER]
    assert peers == [["leaf1--leaf2"], ["leaf3--leaf4"]]


def test_a_single_point_of_failure_is_said(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}\nnodes: {"a[1-3]": {}, "b[1-2]": {}}\nlinks:\n'
        '  - {from: "a[1-3]", to: leaf1, speed: 10G}\n  - {from: "b[1-2]", to: leaf2, speed: 10G}\n'
        '  - {from: "leaf[1-2]", to: spine, speed: 40G}\n'
    )
    described = fabric(tmp_path, text)
    report = analyse_redundancy(make_tables(described))
    assert of(report, "leaf1").cut == 3
    # No top switch is left: the leaf with most nodes stays, with nothing upward.
    assert of(report, "spine") == Effect(cut=2, degraded=3, left=0.0, ratio=math.inf, load=math.inf)
    assert of(report, "leaf2--spine") == Effect(cut=2, degraded=0, left=1.0, ratio=math.inf, load=math.inf)
    said = [each.text for each in list_findings(report) if each.code == "single-point-of-failure"]
    assert "the loss of spine parts the fabric into 2 pieces: 2 nodes are outside the one that stays" in said
    assert "5 nodes have no second leg (node to leaf)" in [each.text for each in list_findings(report)]


def test_a_gateway_is_an_element(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {one: {role: leaf}, two: {role: leaf}}\nnodes: {"a[1-3]": {}, b: {}, gw: {role: gateway, forwards: true}}\n'
        'links: [{from: "a[1-3],gw", to: one, speed: 10G}, {from: "b,gw", to: two, speed: 10G}]\n'
    )
    report = analyse_redundancy(make_tables(fabric(tmp_path, text)))
    gateway = next(loss for loss in report if loss.kind is FailureKind.GATEWAY)
    assert (list(gateway.elements), gateway.effect.cut) == (["gw"], 1)


def test_a_virtual_machine_falls_with_its_host(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {leaf: {role: leaf}}\nnodes: {"n[1-2]": {}, "vm[1-4]": {host: "n[1-2]"}}\n'
        'links: [{from: "n[1-2]", to: leaf, speed: 10G}]\n'
    )
    report = analyse_redundancy(make_tables(fabric(tmp_path, text)))
    assert of(report, "n1--leaf").cut == 3
    assert of(report, "leaf").cut == 6


PLANES = HEAD + (
    'switches: {"la[1-2],lb[1-2]": {role: leaf}, "sa,sb": {role: spine}}\nnodes: {"n[1-4]": {}, "m[1-4]": {}, orphan: {}}\n'
    'links:\n  - {from: "n[1-4]", to: "la1,lb1", speed: 10G}\n  - {from: "m[1-4]", to: "la2,lb2", speed: 10G}\n'
    "  - {from: orphan, to: la1, speed: 10G}\n"
    '  - {from: "la[1-2]", to: sa, speed: 40G}\n  - {from: "lb[1-2]", to: sb, speed: 40G}\n'
)


def test_planes_of_one_network_stand_in_for_each_other(tmp_path: Path) -> None:
    report = analyse_redundancy(make_tables(fabric(tmp_path, PLANES)))
    leaf, spine = of(report, "la1"), of(report, "sa")
    # By tiers, too: of two planes of 10 Gb/s one is left. The orphan is in one plane alone.
    assert (leaf.cut, leaf.degraded, leaf.left) == (1, 4, 0.5)
    assert spine.cut == 0
    assert (of(report, "n1--la1").cut, of(report, "orphan--la1").cut) == (0, 1)
    assert [each.text for each in list_findings(report) if each.code == "single-leg"] == [
        "1 node has no second leg (node to leaf)"
    ]
    # Networks with names of their own are no planes of each other.
    apart = PLANES.replace('to: "la1,lb1", speed: 10G', "to: la1, speed: 10G") + (
        '  - {from: "n[1-4]", to: lb1, speed: 10G, network: mgmt}\n'
    )
    apart = apart.replace("fabric: x\n", "fabric: x\nnetworks: {mgmt: {role: management}}\n")
    assert of(analyse_redundancy(make_tables(fabric(tmp_path, apart))), "la1").cut == 5


def losses(report: tuple[ElementLoss, ...], kinds: tuple[FailureKind, ...]) -> dict[str, Effect]:
    return {element: loss.effect for loss in report if loss.kind in kinds for element in loss.elements}


def analyse_by_tiers(described: Fabric) -> tuple[ElementLoss, ...]:
    """The report without flows, which take most of its time; what they say is held in ``test_failure_flows``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redundancy, "MOST_ELEMENTS", -1)
        return analyse_redundancy(make_tables(described))


def check_switches(described: Fabric) -> None:
    """Each dead switch, node by node."""
    slow = Ways(described)
    counted = machines(described)
    for name, effect in losses(analyse_by_tiers(described), (FailureKind.SWITCH,)).items():
        assert effect.cut == cut_without(described, slow, name)
        network = slow.network[name]
        left = {node: slow.left(node, name, network) for node in counted if slow.up(node, network)}
        worse = {node: part for node, part in left.items() if part < 1 - 1e-9}
        # The tiers do not follow the capacity that a standby leg into another plane saves.
        if any(has_other_plane(described, slow, node, network) for node in worse):
            continue
        if effect.cut == sum(counted[node] for node, part in worse.items() if part < 1e-9):
            worse = {node: part for node, part in worse.items() if part >= 1e-9}
            assert effect.degraded == sum(counted[node] for node in worse)
            assert effect.left == pytest.approx(min(worse.values(), default=1.0))


@given(networks())
@settings(max_examples=25, deadline=None)
def test_dead_switches_node_by_node(described: Fabric) -> None:
    check_switches(described)


@given(st.integers(0, MAX_SEED))
@settings(max_examples=50, deadline=None)
def test_dead_switches_in_wild_fabrics(seed: int) -> None:
    check_switches(wild(seed, 12))


@given(networks())
@settings(max_examples=25, deadline=None)
def test_links_and_members_by_the_fabric_without_them(described: Fabric) -> None:
    report = analyse_by_tiers(described)
    slow = Ways(described)
    counted = machines(described)
    for kinds, whole in (((FailureKind.LINK,), True), ((FailureKind.MEMBER,), False)):
        for name, effect in losses(report, kinds).items():
            link = described.links[name]  # type: ignore[index]
            low, high = sorted((link.a, link.b), key=described.tier)
            if described.tier(low) == described.tier(high):
                continue
            worn = remove_elements(described, links=[name]) if whole else remove_elements(described, members={name: 1})
            down, up, _ = sums(worn, low)
            beside = 0.0 if up else slow.beside(low, None)
            if effect.ratio is None:
                assert not down
                continue
            assert effect.ratio == pytest.approx(quotient(down, up or beside))
            before = sums(described, low)[1]
            part = 1 - (up or min(beside, before)) / before
            network = slow.network[low]
            lost = [
                (counted[node], slow.crossing(node, low, network) * part) for node in counted if slow.up(node, network)
            ]
            if low in described.switches and slow.up(low) and not effect.cut:
                assert effect.degraded == sum(number for number, share in lost if share > 1e-9)
                assert effect.left == pytest.approx(1 - max((share for _, share in lost), default=0.0))


@given(networks())
@settings(max_examples=20, deadline=None)
def test_many_elements_are_grouped_as_few_are(described: Fabric) -> None:
    """The sorting for large fabrics and the dictionary for small ones find the same."""
    small = analyse_by_tiers(described)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_failures, "_FEW", 0)
        large = analyse_by_tiers(described)
    assert [content(loss) for loss in small] == [content(loss) for loss in large]


def content(loss: ElementLoss) -> tuple[object, ...]:
    return loss.kind, loss.role, list(loss.elements), loss.effect
