"""The outline of a fabric: what is folded, with which multiplicities, and that nothing is lost on the way."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.outline.equivalence import MOST_CLASSES
from benchconsole.topology.outline.fold import Box, Edge, Join, Outline, Span, make_outline, make_unfolded_outline
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import SMALL, fabric
from tests.topology.wild import MAX_SEED, wild

GIGABIT = 1.25e8

CHASSIS = """\
schema: 1
fabric: blades
network: {mtu: 9000, hash: l3l4}
classes: {m630: {memory: 128 GiB}}
switches:
  tor: {role: leaf, model: S6000}
templates:
  chassis:
    nodes: {"b{n}-[1-4]": {class: m630}}
    switches: {"mxl{n}-[1-2]": {role: chassis, model: MXL}}
    mlag: {"vlt{n}": {switches: "mxl{n}-[1-2]"}}
    chassis: {"c{n}": {members: "b{n}-[1-4],mxl{n}-[1-2]", model: M1000e}}
    links:
      - {from: "b{n}-[1-4]", to: "mxl{n}-[1-2]", speed: 10 Gb/s, bond: lacp}
      - {from: "mxl{n}-1", to: "mxl{n}-2", speed: 40 Gb/s}
      - {from: "mxl{n}-[1-2]", to: tor, speed: 40 Gb/s, count: 2}
use: [{template: chassis, n: 1-3}]
nodes: {}
links: []
"""


def _box(drawn: Outline, name: str) -> Box:
    return next(box for box in drawn.boxes if box.name == name)


def _edges(drawn: Outline, lower: str, upper: str) -> list[Edge]:
    ends = (_box(drawn, lower).id, _box(drawn, upper).id)
    return [edge for edge in drawn.edges if (edge.lower, edge.upper) == ends]


def test_equal_devices_are_one_box_with_its_number(tmp_path: Path) -> None:
    drawn = make_outline(make_tables(fabric(tmp_path, SMALL)))
    assert [(box.name, box.count, box.sort) for box in drawn.boxes] == [
        ("spine[1-2]", 2, "spine switches"),
        ("leaf[1-2]", 2, "leaf switches"),
        ("n[1-8]", 8, "compute nodes"),
        ("st[1-2]", 2, "storage nodes"),
    ]
    (uplink,) = _edges(drawn, "leaf[1-2]", "spine[1-2]")
    assert (uplink.uppers, uplink.lowers, uplink.each) == (Span(2, 2), Span(2, 2), Span(2, 2))
    assert (uplink.cables, uplink.capacity, uplink.speed) == (8, 80 * GIGABIT, Span(10 * GIGABIT, 10 * GIGABIT))
    assert uplink.words == ("2 x 10 Gb/s LAG to each of 2", "8 cables, 80 Gb/s")
    (access,) = _edges(drawn, "n[1-8]", "leaf[1-2]")
    assert access.words == ("10 Gb/s to 1 of 2", "4 on each", "8 cables, 80 Gb/s")
    leaf = _box(drawn, "leaf[1-2]")
    assert (leaf.down, leaf.up, leaf.ratio, leaf.worst) == (80 * GIGABIT, 80 * GIGABIT, 1.0, 1.0)
    assert leaf.carried == ("down 80 Gb/s, up 80 Gb/s", "1.00:1 down:up")
    assert (drawn.islands, drawn.worst) == (1, None)


def test_pairs_and_chassis_are_named_with_their_number(tmp_path: Path) -> None:
    drawn = make_outline(make_tables(fabric(tmp_path, CHASSIS)))
    assert [box.name for box in drawn.boxes] == ["tor", "mxl[1-3]-[1-2]", "b[1-3]-[1-4]"]
    mxl, blades = drawn.boxes[1:]
    assert mxl.notes == ("MLAG pairs vlt[1-3]", "2 in each of 3 chassis")
    assert mxl.carried == ("down 240 Gb/s, up 480 Gb/s", "0.50:1 down:up")
    assert (blades.notes, blades.carried) == (("4 in each of 3 chassis",), ("20 Gb/s each",))
    (peer,) = _edges(drawn, mxl.name, mxl.name)
    assert peer.words == ("40 Gb/s in pairs", "3 cables, 120 Gb/s", "MLAG peer")
    (legs,) = _edges(drawn, blades.name, mxl.name)
    assert legs.words == ("10 Gb/s to 2 of 6", "4 on each", "24 cables, 240 Gb/s", "MLAG", "bond lacp", "hash l3l4")
    (uplink,) = _edges(drawn, mxl.name, "tor")
    assert uplink.words == ("2 x 40 Gb/s LAG", "12 cables, 480 Gb/s", "hash l3l4")


def test_a_single_missing_cable_takes_what_it_touches_out_of_the_fold(tmp_path: Path) -> None:
    text = SMALL.replace('"n[5-8]", to: leaf2', '"n[5-7]", to: leaf2')
    drawn = make_outline(make_tables(fabric(tmp_path, text)))
    assert [box.name for box in drawn.boxes] == ["spine[1-2]", "leaf1", "leaf2", "n[1-4]", "n[5-7]", "n8", "st[1-2]"]
    assert _box(drawn, "n8").carried == ("no cable",)


def test_a_standby_leg_is_an_edge_of_its_own_and_no_capacity(tmp_path: Path) -> None:
    text = SMALL.replace(
        '  - {from: "n[1-4]", to: leaf1, speed: 10 Gb/s}\n',
        '  - {from: "n[1-4]", to: "leaf[1-2]", speed: 10 Gb/s, bond: active-backup}\n',
    )
    drawn = make_outline(make_tables(fabric(tmp_path, text)))
    nodes = _box(drawn, "n[1-4]")
    assert nodes.each == Span(10 * GIGABIT, 10 * GIGABIT)
    (standby,) = _edges(drawn, "n[1-4]", "leaf2")
    assert standby.standby
    assert standby.words == ("10 Gb/s", "4 cables, 40 Gb/s", "standby", "bond active-backup")
    (active,) = _edges(drawn, "n[1-4]", "leaf1")
    assert not active.standby
    assert _box(drawn, "leaf2").down == 40 * GIGABIT


def test_members_of_different_speed_are_a_range(tmp_path: Path) -> None:
    text = SMALL.replace(
        "criteria:",
        '  - {from: leaf1, to: "spine[1-2]", speed: 40 Gb/s, lag: more}\n'
        '  - {from: leaf1, to: "spine[1-2]", speed: 100 Mb/s, lag: more}\ncriteria:',
    )
    drawn = make_outline(make_tables(fabric(tmp_path, text)))
    words = [edge.words for edge in _edges(drawn, "leaf1", "spine[1-2]")]
    assert words == [
        ("2 x 10 Gb/s LAG to each of 2", "4 cables, 40 Gb/s"),
        ("2 x 100 Mb/s to 40 Gb/s LAG to each of 2", "4 cables, 80.2 Gb/s"),
    ]


def test_sites_are_told_apart_although_they_are_equal(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: wan
switches: {ra: {role: core}, rb: {role: core}}
nodes: {"a[1-3]": {}, "b[1-3]": {}}
links:
  - {from: "a[1-3]", to: ra, speed: 10 Gb/s}
  - {from: "b[1-3]", to: rb, speed: 10 Gb/s}
  - {from: ra, to: rb, speed: 100 Gb/s, rtt: 50.5 ms, available: 40 Gb/s, channels: {265: 50 Gb/s, 266: 50 Gb/s}}
"""
    folded = make_outline(make_tables(fabric(tmp_path, text)))
    assert [box.name for box in folded.boxes] == ["ra,rb", "a[1-3],b[1-3]"]
    assert folded.edges[0].words == (
        "100 Gb/s between the two",
        "rtt 50.5 ms",
        "40 Gb/s available",
        "VLAN 265: 50 Gb/s, VLAN 266: 50 Gb/s",
    )
    sites = 'sites: {west: {members: "a[1-3],ra"}, east: {members: "b[1-3],rb"}}\n'
    apart = make_outline(make_tables(fabric(tmp_path, text + sites)))
    assert [(box.name, box.place, box.notes) for box in apart.boxes] == [
        ("ra", "west", ("site west",)),
        ("rb", "east", ("site east",)),
        ("a[1-3]", "west", ("site west",)),
        ("b[1-3]", "east", ("site east",)),
    ]
    assert apart.islands == 1


def test_islands_are_told_apart_and_counted(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: islands
switches: {"sw[1-2]": {role: leaf}}
nodes: {"a[1-3]": {}, "b[1-3]": {}, "lone[1-2]": {role: login}}
links:
  - {from: "a[1-3]", to: sw1, speed: 10 Gb/s}
  - {from: "b[1-3]", to: sw2, speed: 10 Gb/s}
"""
    drawn = make_outline(make_tables(fabric(tmp_path, text)))
    assert drawn.islands == 2
    assert [box.name for box in drawn.boxes] == ["sw1", "sw2", "a[1-3]", "b[1-3]", "lone[1-2]"]


def test_machines_on_hosts_and_storage_on_servers_hang_below_them(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: below
switches: {sw: {role: leaf}}
nodes: {"n[1-4]": {}, "vm[1-8]": {host: "n[1-4]"}, "s[1-2]": {role: storage}, "gw[1-2]": {role: gateway, forwards: true}}
links: [{from: "n[1-4],s[1-2],gw[1-2]", to: sw, speed: 10 Gb/s}]
storage:
  scratch:
    vendor: DDN
    version: SFA
    protocol: Lustre
    size: 20 TB
    servers: "s[1-2]"
    layers: [{name: FC port, units: 4, write: 150 MB/s, read: 110 MB/s}, {name: controller, units: 1, rate: 1.5 GB/s}]
    clients: {all: {nodes: "n[1-4]", gateways: "gw[1-2]"}}
"""
    drawn = make_outline(make_tables(fabric(tmp_path, text)))
    machines, storage = _box(drawn, "vm[1-8]"), _box(drawn, "scratch")
    assert (machines.tier, storage.tier) == (-1, -1)
    assert storage.sort == "storage system, DDN SFA"
    assert storage.notes == (
        "Lustre",
        "20 TB",
        "4 x FC port: write 150 MB/s, read 110 MB/s",
        "1 x controller of 1.5 GB/s",
        "client all: 4 nodes over 2 gateways",
    )
    (on,) = _edges(drawn, "vm[1-8]", "n[1-4]")
    assert (on.join, on.words, on.cables) == (Join.HOST, ("2 on each",), 0)
    (over,) = _edges(drawn, "scratch", "s[1-2]")
    assert (over.join, over.words) == (Join.STORAGE, ("over all 2",))
    assert _box(drawn, "gw[1-2]").notes == ("routes between its networks",)


def test_clients_of_different_sets_are_told_apart(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: shared
switches: {sw: {role: leaf}}
nodes: {"a[1-4]": {}, "b[1-4]": {}, "s[1-2]": {role: storage}}
links: [{from: "a[1-4],b[1-4],s[1-2]", to: sw, speed: 10 Gb/s}]
storage: {fs: {servers: "s[1-2]", clients: {one: {nodes: "a[1-4]"}, two: {nodes: "b[1-4]"}}}}
"""
    assert [box.name for box in make_outline(make_tables(fabric(tmp_path, text))).boxes] == [
        "sw",
        "a[1-4]",
        "b[1-4]",
        "s[1-2]",
        "fs",
    ]


def _irregular(racks: int, border: bool = True) -> str:
    """A rack of 1, 2, 3 ... nodes on leaf 1, 2, 3 ..., each with its own number of cables upward."""
    lines = [
        "schema: 1",
        "fabric: irregular",
        f'switches: {{spine: {{role: spine}}, "leaf[1-{racks}]": {{role: leaf}}}}',
    ]
    nodes, links = [], []
    for rack in range(1, racks + 1):
        nodes.append(f'"r{rack}n[1-{rack}]": {{}}')
        links.append(f'  - {{from: "r{rack}n[1-{rack}]", to: leaf{rack}, speed: 10 Gb/s}}')
        links.append(f"  - {{from: leaf{rack}, to: spine, speed: 40 Gb/s, count: {1 + rack % 2}}}")
    if border:
        nodes.append("gw: {role: gateway}")
        links.append("  - {from: gw, to: leaf1, speed: 10 Gb/s}")
    return "\n".join([*lines, f"nodes: {{{', '.join(nodes)}}}", "links:", *links, ""])


def test_up_to_twelve_classes_of_a_tier_are_drawn_as_they_are(tmp_path: Path) -> None:
    drawn = make_outline(make_tables(fabric(tmp_path, _irregular(MOST_CLASSES, border=False))))
    assert len([box for box in drawn.boxes if box.role == "leaf"]) == MOST_CLASSES
    assert all(box.exact for box in drawn.boxes)


def test_more_are_merged_by_what_they_are_and_what_they_join_and_say_how_far_they_differ(tmp_path: Path) -> None:
    drawn = make_outline(make_tables(fabric(tmp_path, _irregular(20))))
    leaves = [box for box in drawn.boxes if box.role == "leaf"]
    assert [(box.name, box.exact) for box in leaves] == [("leaf1", True), ("leaf[2-20]", False)]
    nodes = next(box for box in drawn.boxes if box.role == "compute")
    assert (nodes.count, nodes.exact) == (210, False)
    links = [edge for edge in drawn.edges if edge.lower == nodes.id]
    assert [(edge.uppers, edge.lowers, edge.cables) for edge in links] == [
        (Span(0, 1), Span(1, 1), 1),
        (Span(0, 1), Span(2, 20), 209),
    ]
    assert links[1].cabling == "10 Gb/s to 0-1 of 19"
    up = [edge.words for edge in drawn.edges if edge.lower == leaves[1].id]
    assert up == [
        ("40 Gb/s to 0-1 of 1", "10 on each", "10 cables, 400 Gb/s"),
        ("2 x 40 Gb/s LAG to 0-1 of 1", "9 on each", "18 cables, 720 Gb/s"),
    ]
    assert leaves[1].worst == pytest.approx(5.0)
    assert leaves[1].carried[1] == f"{209 / 112:.2f}:1 down:up, highest 5.00:1"


def test_many_kinds_of_cabling_become_one_edge_with_ranges(tmp_path: Path) -> None:
    text = SMALL.replace(
        "criteria:",
        "".join(f"  - {{from: leaf{leaf}, to: spine1, speed: {speed} Gb/s, count: {speed}, lag: x{speed}}}\n"
                for leaf in (1, 2) for speed in (1, 2, 3)) + "criteria:",
    )  # fmt: skip
    (edge,) = _edges(make_outline(make_tables(fabric(tmp_path, text))), "leaf[1-2]", "spine1")
    assert (edge.cables, edge.speed, edge.members) == (16, Span(GIGABIT, 10 * GIGABIT), Span(1, 3))
    assert edge.cabling == "8 x 1-10 Gb/s, LAGs of up to 3"


def test_names_that_are_many_are_still_folded(tmp_path: Path) -> None:
    text = SMALL.replace("n[1-4]: {role: compute}", "x[001-040]y[01-30]: {role: compute}").replace(
        "n[1-4]", "x[001-040]y[01-30]"
    )
    assert "x[001-040]y[01-30]" in [box.name for box in make_outline(make_tables(fabric(tmp_path, text))).boxes]


def test_unfolded_has_a_box_for_every_device(tmp_path: Path) -> None:
    small = fabric(tmp_path, SMALL)
    drawn = make_unfolded_outline(make_tables(small))
    assert sorted(box.name for box in drawn.boxes) == sorted([*small.nodes, *small.switches])
    assert len(drawn.edges) == len(small.links)
    assert {edge.words for edge in drawn.edges} == {
        ("10 Gb/s",),
        ("40 Gb/s",),
        ("2 x 10 Gb/s LAG", "2 cables, 20 Gb/s"),
    }


@settings(max_examples=150, deadline=None)
@given(st.integers(0, MAX_SEED), st.booleans())
def test_nothing_is_lost_and_nothing_is_counted_twice(seed: int, fold: bool) -> None:
    described = wild(seed)
    drawn = make_outline(make_tables(described)) if fold else make_unfolded_outline(make_tables(described))
    members = Counter(name for box in drawn.boxes for name in box.members if box.what != "storage")
    assert members == Counter([*described.nodes, *described.switches])
    assert sum(edge.cables for edge in drawn.edges) == sum(link.count for link in described.links.values())
    capacity = sum(edge.capacity for edge in drawn.edges)
    assert capacity == pytest.approx(sum(link.capacity for link in described.links.values()))
    assert len({box.id for box in drawn.boxes}) == len(drawn.boxes)
    assert all(higher.tier >= lower.tier for higher, lower in pairwise(drawn.boxes))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, MAX_SEED))
def test_multiplicities_are_those_of_the_cables(seed: int) -> None:
    described = wild(seed)
    drawn = make_outline(make_tables(described))
    box = {name: each.id for each in drawn.boxes for name in each.members if each.what != "storage"}
    for edge in drawn.edges:
        if edge.join is not Join.CABLE or len(_same_ends(drawn, edge)) > 1:
            continue
        uppers: dict[str, set[str]] = {}
        for link in described.links.values():
            for low, high in ((link.a, link.b), (link.b, link.a)):
                if (box[low], box[high]) == (edge.lower, edge.upper):
                    uppers.setdefault(low, set()).add(high)
        numbers = [len(uppers.get(name, ())) for name in _members(drawn, edge.lower)]
        assert edge.uppers == Span(min(numbers), max(numbers))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, MAX_SEED))
def test_what_is_called_equal_sees_the_same(seed: int) -> None:
    described = wild(seed, most=12)
    drawn = make_outline(make_tables(described))
    assume(all(box.exact for box in drawn.boxes))
    box = {name: each.id for each in drawn.boxes for name in each.members if each.what != "storage"}
    for each in drawn.boxes:
        if each.what != "storage":
            assert len({frozenset(_sees(described, name, box).items()) for name in each.members}) == 1


def _sees(described: Fabric, name: str, box: dict[str, str]) -> Counter[tuple[object, ...]]:
    peers = {link for pair in described.mlags for link in pair.peer}
    return Counter(
        (box[link.other(name)], sorted(link.members)[0], link.count, link.standby, link.network, link.id in peers)
        for link in described.links_at[name]
    )


def _same_ends(drawn: Outline, edge: Edge) -> list[Edge]:
    return [each for each in drawn.edges if (each.lower, each.upper) == (edge.lower, edge.upper)]


def _members(drawn: Outline, box: str) -> tuple[str, ...]:
    return next(each.members for each in drawn.boxes if each.id == box)
