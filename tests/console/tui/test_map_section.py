"""The parts of a fabric that can be drawn alone: which there are, what is in them, and how one is drawn."""

from pathlib import Path

import pytest

from benchconsole.console.tui.fabric_map.map_cells import MapMark, MapPicture
from benchconsole.console.tui.fabric_map.map_section import (
    MapSection,
    find_inner_section,
    list_named_sections,
    list_sections,
)
from benchconsole.console.tui.fabric_map.section_map import lay_out_section
from benchconsole.console.tui.fabric_map.shape import FabricShape, read_shape
from benchconsole.console.tui.queries.node_numbers import WorstNumbers
from benchconsole.console.tui.rows.text_rows import plain_text, row_width
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId, SwitchId
from tests.console.tui.fabrics import chassis, mini, ten_thousand
from tests.console.tui.looking import boxes, faulty
from tests.console.tui.test_layout import FABRICS, described
from tests.fabrics import fabric

SITES = """\
schema: 1
fabric: two
switches: {"spine[1-2]": {role: spine}, "leaf[1-4]": {role: leaf}}
nodes: {"n[1-8]": {}, "st[1-2]": {role: storage}}
links:
  - {from: "n[1-2]", to: leaf1, speed: 10G}
  - {from: "n[3-4]", to: leaf2, speed: 10G}
  - {from: "n[5-6]", to: leaf3, speed: 10G}
  - {from: "n[7-8]", to: leaf4, speed: 10G}
  - {from: "leaf[1-2]", to: spine1, speed: 40G}
  - {from: "leaf[3-4]", to: spine2, speed: 40G}
  - {from: st1, to: spine1, speed: 10G}
  - {from: st2, to: spine2, speed: 10G}
  - {from: spine1, to: spine2, speed: 100G}
sites:
  hall: {members: "spine1,leaf[1-2],n[1-4],st1"}
  yard: {members: "spine2,leaf[3-4],n[5-8],st2"}
"""


def node(name: str) -> MapMark:
    return MapMark(node=NodeId(name))


def switch(name: str) -> MapMark:
    return MapMark(switch=SwitchId(name))


def paths(fabric: Fabric, mark: MapMark) -> list[tuple[str, ...]]:
    return [each.path for each in list_sections(fabric, read_shape(fabric), mark)]


def test_a_leaf_is_the_only_level_of_two_tiers() -> None:
    made = mini()
    assert paths(made, node("n050")) == [("leaf4",)]
    assert paths(made, switch("leaf4")) == [("leaf4",)]
    assert paths(made, MapMark(link=LinkId("leaf4--spine1"))) == [("leaf4",)]
    assert paths(made, node("st2")) == [("storage",)]
    assert paths(made, switch("spine1")) == []
    assert paths(made, MapMark(link=LinkId("spine1--spine2"))) == []


def test_a_middle_tier_is_a_level_and_a_chassis_the_next() -> None:
    made = chassis()
    assert paths(made, node("c07n03")) == [("t2",), ("t2", "c07")]
    assert paths(made, switch("c07b")) == [("t2",), ("t2", "c07")]
    assert paths(made, switch("t2")) == [("t2",)]
    assert paths(made, MapMark(link=LinkId("t2--sp1"))) == [("t2",)]
    pods = ten_thousand(pods=3, leaves=4, per_leaf=2)
    assert paths(pods, node("p02l03n01")) == [("p02",), ("p02", "p02l03")]


def test_a_site_is_the_outermost_level(tmp_path: Path) -> None:
    made = fabric(tmp_path, SITES)
    shape = read_shape(made)
    assert paths(made, node("n5")) == [("yard",), ("yard", "leaf3")]
    assert paths(made, node("st1")) == [("hall",), ("hall", "storage spine1")]
    (site, *_) = list_sections(made, shape, node("n1"))
    assert site.name == "hall"
    assert {*site.nodes} == {"n1", "n2", "n3", "n4", "st1"}
    assert site.shape.top == ("spine1",)
    assert {link.a for link in site.uplinks} == {"leaf1", "leaf2"}


def test_z_goes_one_level_in_from_a_node_and_to_a_name_at_once() -> None:
    made = chassis()
    shape = read_shape(made)

    def inner(mark: MapMark, *path: str) -> tuple[str, ...] | None:
        found = find_inner_section(made, shape, mark, path)
        return None if found is None else found.path

    assert inner(node("c07n03")) == ("t2",)
    assert inner(node("c07n03"), "t2") == ("t2", "c07")
    assert inner(node("c07n03"), "t2", "c07") is None
    assert inner(switch("c07a")) == ("t2", "c07")
    assert inner(switch("t2"), "t2") is None
    assert inner(node("c07n03"), "t3") is None


@pytest.mark.parametrize("name", FABRICS)
def test_every_node_with_a_place_is_in_each_of_its_parts(name: str, tmp_path: Path) -> None:
    made = described(name, tmp_path)
    shape = read_shape(made)
    placed = [*(n for rack in shape.racks for n in rack.nodes), *(n for each in shape.servers for n in each.nodes)]
    for each in placed[:: max(len(placed) // 25, 1)]:
        sections = list_sections(made, shape, MapMark(node=each))
        assert sections
        assert sections[-1].rack is not None
        assert [len(section.path) for section in sections] == list(range(1, len(sections) + 1))
        sizes = [len(section.nodes) for section in sections]
        assert sizes == sorted(sizes, reverse=True)
        assert all(section.nodes.count(each) == 1 for section in sections)


def draw(section: MapSection, view: RunView, size: tuple[int, int], mark: MapMark | None = None) -> list[str]:
    """The lines of the innermost part as text; none is wider than the screen."""
    numbers = WorstNumbers(Blame(view.findings))
    made = lay_out_section(view.fabric, section.shape, *size)
    rows = [line.draw(MapPicture(view, mark, numbers=numbers), size[0]) for line in made]
    assert all(row_width(row) <= size[0] for row in rows)
    return [plain_text(row) for row in rows]


def named(shape: FabricShape, view: RunView, name: str) -> MapSection:
    return list_named_sections(view.fabric, shape)[name]


@pytest.mark.parametrize("size", [(80, 20), (120, 33), (200, 53), (40, 9)])
def test_a_leaf_of_forty_nodes_has_every_node_by_name(size: tuple[int, int]) -> None:
    view = RunView(mini(leaves=2, per_leaf=40))
    section = named(read_shape(view.fabric), view, "leaf2")
    text = "\n".join(draw(section, view, size))
    assert all(text.count(f" {each}") == 1 for each in section.nodes)
    if size[0] >= 80:
        assert len(lay_out_section(view.fabric, section.shape, *size)) <= size[1]


def test_every_member_of_an_uplink_has_a_slot_and_each_node_its_worst_number() -> None:
    view = faulty().view()
    shape = read_shape(view.fabric)
    lines = draw(named(shape, view, "leaf3"), view, (120, 33))
    assert lines[0].startswith(" leaf3  S4048   16 nodes   down:up 2.67:1 built 2.00   leaves at 118.9 of 158.4 Gb/s")
    assert lines[1].startswith(
        " up  spine1  ▮▯    1 of 2 members up  ━━━━━━━━━━××××××××××   39.6 of 79.2 Gb/s   2 x 40 G"
    )
    assert lines[2].startswith(" up  spine2  ▮▮    2 members ")
    (slow,) = [line for line in draw(named(shape, view, "leaf4"), view, (120, 33)) if "n050" in line]
    assert slow.split()[:9] == ["✗", "n050", "throughput", "2.97", "Gb/s", "of", "9.90", "Gb/s", "30"]
    (low,) = [line for line in lines if "n033" in line]
    assert low.split()[:4] == ["▵", "n033", "throughput", "7.43"]  # its own part, not the sum of the leaf
    (silent,) = [line for line in draw(named(shape, view, "leaf8"), view, (120, 33)) if "n120" in line]
    assert "no answer on port 22" in silent


def test_a_pair_of_switches_names_both_ends_and_the_cursor_stands_on_slots() -> None:
    view = boxes().view()
    section = named(read_shape(view.fabric), view, "c07")
    mark = MapMark(link=LinkId("c07a--t2"))
    lines = draw(section, view, (120, 33), mark)
    assert lines[1].startswith(" up  c07a to t2 [▮▯]")
    assert lines[2].startswith(" up  c07b to t2  ▮▮ ")
    assert named(read_shape(view.fabric), view, "t2/c07").path == section.path
