"""Spines as wires: each link once, below the name of its rack; nothing where that would not be seen at a glance."""

import re

import pytest

from benchconsole.console.tui.fabric_map.map_cells import MapPicture
from benchconsole.console.tui.fabric_map.map_layout import lay_out_map
from benchconsole.console.tui.fabric_map.shape import FabricShape, read_shape
from benchconsole.console.tui.fabric_map.spine_wires import MOST_RACKS, MOST_SPINES, list_spine_wires
from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.rows.themes import FAIL_CELL
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, LinkId, SwitchRole
from tests.console.tui.fabrics import Builder
from tests.console.tui.looking import boxes, faulty


def leaf_spine(spines: int, leaves: int, members: int = 2) -> Fabric:
    """Every leaf on every spine, one node below each."""
    made = Builder("wired")
    for spine in range(1, spines + 1):
        made.switch(f"spine{spine}", SwitchRole.SPINE)
    for leaf in range(1, leaves + 1):
        made.switch(f"leaf{leaf}", SwitchRole.LEAF)
        made.node(f"n{leaf:03}")
        made.link(f"n{leaf:03}", f"leaf{leaf}", 10)
        for spine in range(1, spines + 1):
            made.link(f"leaf{leaf}", f"spine{spine}", 40, members)
    return made.build()


def draw(fabric: Fabric, width: int) -> list[str]:
    lines = list_spine_wires(read_shape(fabric), width)
    return [plain_text(line.draw(MapPicture(RunView(fabric)), width)).rstrip() for line in lines]


@pytest.mark.parametrize(("spines", "leaves"), [(2, 2), (2, 8), (4, 12), (8, 8), (MOST_SPINES, MOST_RACKS)])
def test_each_link_stands_below_the_name_of_its_rack(spines: int, leaves: int) -> None:
    head, *rails = draw(leaf_spine(spines, leaves), 200)
    columns = [found.start() for found in re.finditer(r"leaf\d+", head)]
    assert len(columns) == leaves
    assert len(rails) == spines
    for number, rail in enumerate(rails, 1):
        assert rail.startswith(f" spine{number} ─ ")
        assert [found.start() for found in re.finditer("▮▮", rail)] == columns
    assert all(len(line) <= 200 for line in (head, *rails))


@pytest.mark.parametrize(
    ("spines", "leaves", "members", "width"),
    [
        (1, 8, 2, 200), (MOST_SPINES + 1, 8, 2, 200), (2, MOST_RACKS + 1, 2, 200), (2, 24, 10, 200), (2, 24, 2, 160),
        (2, 1, 2, 200),
    ],
)  # fmt: skip
def test_nothing_is_drawn_that_would_not_be_seen_at_a_glance(
    spines: int, leaves: int, members: int, width: int
) -> None:
    assert draw(leaf_spine(spines, leaves, members), width) == []


def test_a_middle_tier_and_a_second_link_to_one_spine_have_no_wires() -> None:
    assert list_spine_wires(read_shape(boxes().fabric), 200) == []
    shape = read_shape(leaf_spine(2, 4))
    (group,) = shape.groups
    first, *others = group.racks
    again = replace(first.uplinks[0], id=LinkId("again"))
    twice = replace(first, uplinks=(*first.uplinks, again))
    assert list_spine_wires(FabricShape(shape.tiers, (replace(group, racks=(twice, *others)),), ()), 200) == []


def test_a_lost_member_is_red_where_it_is_and_counted_at_its_spine() -> None:
    story = faulty()
    view = advance_all(RunView(story.fabric), story.events())
    lines = list_spine_wires(read_shape(story.fabric), 200)
    rows = [line.draw(MapPicture(view), 200) for line in lines]
    head, first, second = map(plain_text, rows)
    assert first[head.index("leaf3") :].startswith("▮▯ ─")
    assert first.rstrip().endswith("15 of 16 cables below")
    assert second.rstrip().endswith("all 16 cables below")
    assert [piece.text for row in rows for piece in row if piece.tone == FAIL_CELL] == ["▯"]


@pytest.mark.parametrize(("spines", "leaves"), [(2, 8), (8, 8), (2, 24)])
def test_a_map_in_the_height_that_it_asks_for_is_the_same_map(spines: int, leaves: int) -> None:
    fabric = leaf_spine(spines, leaves)
    shape = read_shape(fabric)
    for width in (160, 200):
        for room in range(12, 60):
            lines = len(lay_out_map(fabric, shape, width, room))
            assert lines > room or len(lay_out_map(fabric, shape, width, lines)) == lines
