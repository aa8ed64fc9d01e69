"""Every kind of fabric at every size: all that is described has one place on the map, and no line is too long."""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.console.tui.fabric_map import cards
from benchconsole.console.tui.fabric_map.blocks import RackBlock, blocks_of
from benchconsole.console.tui.fabric_map.cards import choose_cards
from benchconsole.console.tui.fabric_map.map_cells import MapMark, MapPicture, find_places
from benchconsole.console.tui.fabric_map.map_layout import lay_out_map
from benchconsole.console.tui.fabric_map.shape import FabricShape, read_shape
from benchconsole.console.tui.rows.text_rows import plain_text, row_width
from benchconsole.console.view.run_view import NodeView, RunView
from benchconsole.topology.model.fabric import Fabric, NodeId, SwitchId
from tests.console.tui.fabrics import chassis, mini
from tests.console.tui.looking import boxes, looking
from tests.console.tui.story import Faults, tell
from tests.fabrics import fabric

EXAMPLES = sorted((Path(topology.__file__).parent / "examples").glob("*.yaml"))
SIZES = ((80, 17), (120, 33), (200, 53))

MIXED = """\
schema: 1
fabric: mixed
networks: {ib: {goodput: 80 %}, mgmt: {mtu: 1500}}
switches:
  leaf[1-4]: {role: leaf}
  spine[1-2]: {role: spine}
  ibsw: {role: leaf}
  m[1-2]: {role: leaf}
  spare: {role: leaf}
  island: {role: core}
nodes:
  n[01-24]: {}
  vm[01-12]: {host: "n[01-06]"}
  login[1-2]: {role: login}
  gw[1-2]: {role: gateway, forwards: true}
  st[1-4]: {role: storage}
  lonely: {}
mlag: {pair1: {switches: "leaf[1-2]"}}
links:
  - {from: "n[01-12]", to: "leaf[1-2]", speed: 25 Gb/s, bond: lacp}
  - {from: "n[13-18]", to: leaf3, speed: 25 Gb/s}
  - {from: "n[19-24]", to: leaf4, speed: 25 Gb/s}
  - {from: leaf1, to: leaf2, speed: 100 Gb/s, count: 2}
  - {from: "leaf[1-4],spare", to: "spine[1-2]", speed: 100 Gb/s}
  - {from: "login[1-2]", to: leaf1, speed: 25 Gb/s}
  - {from: "st[1-2]", to: "spine[1-2]", speed: 100 Gb/s}
  - {from: "st[3-4]", to: spine1, speed: 100 Gb/s}
  - {from: "n[01-24]", to: ibsw, speed: 100 Gb/s, network: ib}
  - {from: "n[01-12]", to: m1, speed: 1 Gb/s, network: mgmt}
  - {from: "n[13-24]", to: m2, speed: 1 Gb/s, network: mgmt}
  - {from: "gw[1-2]", to: "leaf3,ibsw", speed: 25 Gb/s}
"""
BACK_TO_BACK = """\
schema: 1
fabric: pair
nodes: {a: {}, b: {}, c: {role: storage}, "v[1-2]": {host: a}}
links: [{from: a, to: b, speed: 10 Gb/s, count: 2}]
"""
STRAIGHT = """\
schema: 1
fabric: straight
switches: {core1: {role: core}, "leaf[1-2]": {role: leaf}}
nodes: {"n[01-90]": {}, "big[001-120]": {role: storage}}
links:
  - {from: "n[01-45]", to: leaf1, speed: 10 Gb/s}
  - {from: "n[46-90]", to: leaf2, speed: 10 Gb/s}
  - {from: "leaf[1-2]", to: core1, speed: 100 Gb/s, count: 12}
  - {from: "big[001-120]", to: core1, speed: 10 Gb/s}
"""
BOTH = """\
schema: 1
fabric: both
switches: {"spine[1-2]": {role: spine}, "tor[1-2]": {role: leaf}, "box[1-4]": {role: chassis}}
nodes: {"b[01-32]": {}, "n[1-8]": {}}
links:
  - {from: "b[01-08]", to: box1, speed: 10 Gb/s}
  - {from: "b[09-16]", to: box2, speed: 10 Gb/s}
  - {from: "b[17-24]", to: box3, speed: 10 Gb/s}
  - {from: "b[25-32]", to: box4, speed: 10 Gb/s}
  - {from: "box[1-2]", to: tor1, speed: 40 Gb/s}
  - {from: "box[3-4]", to: tor2, speed: 40 Gb/s}
  - {from: "n[1-8]", to: tor1, speed: 10 Gb/s}
  - {from: "tor[1-2]", to: "spine[1-2]", speed: 40 Gb/s}
"""


def described(name: str, folder: Path) -> Fabric:
    """An example of the project, or one of the texts above."""
    texts = {"mixed": MIXED, "back to back": BACK_TO_BACK, "straight": STRAIGHT, "both": BOTH}
    if name in texts:
        return fabric(folder, texts[name])
    made = {"mini": mini, "chassis": chassis}
    return made[name]() if name in made else topology.load(next(path for path in EXAMPLES if path.stem == name))


FABRICS = [*(path.stem for path in EXAMPLES), "mixed", "back to back", "straight", "both", "mini", "chassis"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FABRICS)
def test_every_node_has_one_place_and_every_switch_at_least_one(
    name: str, size: tuple[int, int], tmp_path: Path
) -> None:
    shown = described(name, tmp_path)
    lines = lay_out_map(shown, read_shape(shown), *size)
    places = Counter(mark for line in lines for spot in line.spots for mark in spot.marks)
    assert {node: places[MapMark(node=node)] for node in shown.nodes} == dict.fromkeys(shown.nodes, 1)
    assert [switch for switch in shown.switches if not places[MapMark(switch=switch)]] == []
    found = find_places(lines)
    assert found.keys() == places.keys()
    assert all(mark in {*lines[line].spots[spot].marks} for mark, (line, spot) in found.items())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FABRICS)
def test_no_line_is_longer_than_the_screen_and_every_spot_is_on_it(
    name: str, size: tuple[int, int], tmp_path: Path
) -> None:
    shown = described(name, tmp_path)
    view = RunView(shown, nodes={node: NodeView(shown.nodes[node]) for node in shown.nodes})
    for line in lay_out_map(shown, read_shape(shown), *size):
        assert row_width(line.draw(MapPicture(view), size[0])) <= size[0]
        for spot in line.spots:
            assert 0 < spot.x < size[0]
            drawn = plain_text(line.draw(MapPicture(view, next(spot.marks)), size[0]))
            assert "[" in drawn or spot.nodes or spot.x + spot.width >= size[0], (drawn, spot)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FABRICS)
def test_every_example_fits_but_where_it_cannot(name: str, size: tuple[int, int], tmp_path: Path) -> None:
    shown = described(name, tmp_path)
    assert len(lay_out_map(shown, read_shape(shown), *size)) <= size[1]


@pytest.mark.parametrize("name", FABRICS)
def test_the_height_of_cards_is_known_before_they_are_made(name: str, tmp_path: Path) -> None:
    shown = described(name, tmp_path)
    shape = read_shape(shown)
    steps = [(*step, number) for step in cards._STEPS for number in cards._line_lengths(shape)]
    plans = [
        cards._plan(shown, shape, cards._all_ports(shown, shape), step, width)
        for width in (80, 120, 200)
        for step in steps
        if shape.racks
    ]
    for plan in plans:
        assert plan is None or cards._height(plan) == len(cards._card_lines(plan))


def racks(shape: FabricShape) -> dict[str, dict[str, int]]:
    return {rack.name: {part.name: len(part.nodes) for part in rack.parts} for rack in shape.racks}


def test_a_mixed_fabric(tmp_path: Path) -> None:
    shape = read_shape(fabric(tmp_path, MIXED))
    assert racks(shape) == {
        "leaf[1-2]": {"compute": 12, "virtual": 12, "login": 2},
        "leaf3": {"compute": 6},
        "leaf4": {"compute": 6},
        "spare": {},
    }
    assert [(tier.role.value, tier.switches) for tier in shape.tiers] == [
        ("core", ("island",)),
        ("spine", ("spine1", "spine2")),
    ]
    assert [(row.name, row.switches, len(row.nodes)) for row in shape.servers] == [
        ("storage spine1 spine2", ("spine1", "spine2"), 2),
        ("storage spine1", ("spine1",), 2),
        ("compute", (), 1),
        ("gateway", ("leaf3", "ibsw"), 2),
    ]
    assert [(plane.network, plane.switches, len(plane.links)) for plane in shape.planes] == [
        ("ib", ("ibsw",), 24),
        ("mgmt", ("m1", "m2"), 24),
    ]
    assert [link.id for link in shape.racks[0].peers] == ["leaf1--leaf2"]
    assert shape.joins == ()


def test_a_way_out_above_the_spines_makes_no_group_of_them() -> None:
    shown = described("jetstream", Path())
    shape = read_shape(shown)
    assert [tier.switches for tier in shape.tiers] == [("dmz",), ("spine1", "spine2")]
    assert [group.name for group in shape.groups] == [f"tor{index}" for index in range(1, 6)]
    assert [rack.name for rack in shape.racks][:2] == ["c01", "c02"]  # the chassis, not its switches
    assert [(row.kind, len(row.nodes)) for row in shape.servers] == [("management", 7), ("storage", 20)]


def test_two_sites_are_joined_by_their_line(tmp_path: Path) -> None:
    shape = read_shape(described("sc11", tmp_path))
    assert racks(shape) == {"mlxe-sea": {"compute": 31, "storage": 16}, "mlxe-ind": {"compute": 31, "storage": 16}}
    assert [link.id for link in shape.joins] == ["mlxe-sea--mlxe-ind"]
    assert shape.tiers == ()


def test_gateways_stand_between_their_networks(tmp_path: Path) -> None:
    shape = read_shape(described("llnl", tmp_path))
    assert racks(shape)["elan"] == {"compute": 140}
    assert [(row.kind, row.switches, len(row.nodes)) for row in shape.servers] == [("gateway", ("elan", "gige"), 16)]


def test_nodes_on_a_middle_switch_are_a_rack_of_its_group_without_uplinks_of_their_own(tmp_path: Path) -> None:
    shape = read_shape(fabric(tmp_path, BOTH))
    assert [(group.name, [rack.name for rack in group.racks]) for group in shape.groups] == [
        ("tor1", ["box1", "box2", "tor1"]),
        ("tor2", ["box3", "box4"]),
    ]
    assert [len(rack.uplinks) for rack in shape.groups[0].racks] == [1, 1, 0]
    assert len(shape.groups[0].uplinks) == 2


def test_nodes_cabled_to_each_other(tmp_path: Path) -> None:
    shape = read_shape(fabric(tmp_path, BACK_TO_BACK))
    assert shape.racks == ()
    assert [link.id for link in shape.joins] == ["a--b"]
    assert [(row.kind, row.nodes) for row in shape.servers] == [
        ("compute", ("a", "b")), ("storage", ("c",)), ("virtual", ("v1", "v2")),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("height", "kinds"),
    [
        (40, {"title", "funnel", "port", "cells", "remark"}),
        (28, {"title", "funnel", "port", "cells"}),
        (20, {"title", "cells"}),
    ],
)
def test_cards_give_up_what_matters_least(height: int, kinds: set[str]) -> None:
    shown = described("jetstream", Path())
    lines = choose_cards(shown, read_shape(shown), 200, height)
    assert lines is not None
    assert len(lines) <= height
    parts = [part for line in lines[1:] if isinstance(line.draw, partial) for part in line.draw.args[0]]
    assert {part.draw.func.__name__.removeprefix("_draw_") for part in parts} == kinds


def test_there_are_no_cards_where_the_cells_have_no_room() -> None:
    shown = described("jetstream", Path())
    assert choose_cards(shown, read_shape(shown), 200, 9) is None


async def test_a_lost_member_on_a_card() -> None:
    async with looking(boxes(), (200, 60)) as look:
        at = next(index for index, line in enumerate(look.lines) if " c07 " in line)
        left, right = look.lines[at].index("c07"), look.lines[at].index("c11")
        card = [line[left:right].rstrip() for line in look.lines[at : at + 5]]
        assert card[0].endswith("2.67:1")
        assert card[1].count("▵") == 16
        assert card[3] == "a ▮▯ ━━━━━━━━━━××××××××××   39.6 1/2"
        assert card[4].endswith("79.2")
        await look.press("n")
        assert "a[▮▯]━" in look.lines[at + 3]
        look.app.navigation.fabric.show_element("c07b")
        await look.settle()
        assert "[c07]" in look.lines[at]


async def test_a_name_leads_along_the_row() -> None:
    async with looking(tell(mini(), Faults(), most=0), until=1) as look:
        screen = look.app.navigation.fabric
        screen.show_element("leaf2")
        await look.settle()
        assert any(line.startswith("[leaf2]") for line in look.lines)
        await look.press("right")
        assert screen.map.mark == MapMark(node=NodeId("n017"))
        await look.press("left", "down")
        assert screen.map.mark == MapMark(switch=SwitchId("leaf3"))
        screen.show_element("n017--leaf2")
        assert screen.map.mark == MapMark(node=NodeId("n017"))
        screen.show_element("nothing")
        await look.settle()
        assert "nothing has no place on the map." in look.lines[-1]


@pytest.mark.parametrize(
    ("room", "name"), [(18, "leaf001 to leaf032"), (17, "leaf001-032"), (10, "001-032"), (7, "001-032"), (5, "001-…")]
)
def test_a_block_is_called_by_the_longest_name_that_fits(room: int, name: str) -> None:
    assert RackBlock("leaf001 to leaf032", (), ("leaf001-032", "001-032")).called(room) == name


def test_blocks_of_many_leaves_have_a_name_for_every_width() -> None:
    first, *_ = blocks_of(read_shape(mini(leaves=100, per_leaf=1)))
    assert first.name == "leaf1 to leaf32"
    assert first.shorter == ("leaf1-32", "1-32")
