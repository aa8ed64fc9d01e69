"""The filter of a map: it draws the nodes that Nodes would show for it, and no others; escape draws all again.

Pages without a list of their own open that of their results.
"""

import pytest

from benchconsole.console.session.saved_filters import SavedFilters
from benchconsole.console.tui.fabric_map.map_cells import MapMark
from benchconsole.console.tui.screens.area import AreaScreen
from benchconsole.console.tui.screens.base.map_heat import HeatPage
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.tui.screens.nodes import NodesScreen
from benchconsole.console.tui.screens.pair_map import PairMapScreen
from benchconsole.console.tui.screens.zoom import ZoomScreen
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.looking import Look, faulty, large, looking


async def type_filter(look: Look, text: str) -> None:
    await look.press("slash", *text)


def find_page(look: Look) -> HeatPage:
    page = look.app.screen
    assert isinstance(page, HeatPage)
    return page


def draw_cell(look: Look, node: str) -> str:
    """The character at the place of a node on the map in front."""
    page = find_page(look)
    spot = page.map.find_spot(MapMark(node=NodeId(node)))
    assert spot is not None
    line = next(y for y, row in enumerate(page.map._lines) if any(NodeId(node) in each.nodes for each in row.spots))
    return look.lines[page.map.region.y + line - page.map.top][spot.x]


@pytest.mark.parametrize(
    "text", ["under=leaf3", "n[033-048]", "!state=pass", "state=fail|watch", "~n0[0-4]", "throughput<5 & n0", "nothing"]
)
async def test_the_nodes_that_are_drawn_are_those_that_nodes_shows(text: str) -> None:
    async with looking(faulty(), (120, 40)) as look:
        await type_filter(look, text)
        matched = find_page(look).map.matched
        await look.press("enter", "2")
        page = look.app.screen
        assert isinstance(page, NodesScreen)
        await type_filter(look, text)
        shown = {row.view.node.id for row in page.table.items}
        assert matched == frozenset(shown)
        assert len(shown) < len(page.table.every)


async def test_places_of_other_nodes_are_empty_and_escape_draws_them_again() -> None:
    async with looking(faulty(), (120, 40)) as look:
        before = look.lines
        assert draw_cell(look, "n001") == "·"
        await type_filter(look, "under=leaf3")
        assert "16 of 134 nodes shown   esc clears" in look.text
        assert (draw_cell(look, "n001"), draw_cell(look, "n033")) == (" ", "▵")
        await look.press("enter", "v")
        assert draw_cell(look, "n001") == " " != draw_cell(look, "n033")
        await look.press("v", "escape")
        assert look.lines == before
        assert len(look.app.screen_stack) == 1


async def test_a_word_that_is_not_understood_leaves_the_last_filter() -> None:
    async with looking(faulty(), (120, 40)) as look:
        for text in ("n033", "nope=1"):
            find_page(look).commands["filter"].do(text)
            await look.settle()
        assert "the last valid filter still applies" in look.text
        assert find_page(look).map.matched == frozenset([NodeId("n033")])


async def test_enter_on_nothing_leaves_the_filter_and_arrows_go_on_the_map() -> None:
    async with looking(faulty(), (120, 40)) as look:
        before = look.lines
        await look.press("slash")
        assert "a filter of Nodes" in look.text
        await look.press("down")
        assert find_page(look).map.mark is not None
        await look.press("enter")
        assert not find_page(look).matching.line.display
        assert find_page(look).map.has_focus
        assert look.lines[3] == before[3]


async def test_a_node_that_comes_to_match_is_drawn() -> None:
    story = faulty()
    async with looking(story, (120, 40), until=1) as look:
        await type_filter(look, "state=fail")
        await look.press("enter")
        assert find_page(look).map.matched == frozenset()
        look.player.feed(*look.player.waiting[1:])
        await look.until(lambda: find_page(look).map.matched == frozenset(map(NodeId, ("n050", "n093", "st3"))))
        assert "3 of 134 nodes shown" in look.text


async def test_a_filter_that_is_typed_again_sees_the_results_that_came_meanwhile() -> None:
    async with looking(faulty(), (120, 40), until=1) as look:
        await type_filter(look, "state=fail")
        assert find_page(look).map.matched == frozenset()
        await look.press("escape")
        look.player.feed(*look.player.waiting[1:])
        await look.until(lambda: "fault 1 of 6" in look.text)
        await type_filter(look, "state=fail")
        assert find_page(look).map.matched == frozenset(map(NodeId, ("n050", "n093", "st3")))


async def test_racks_that_pass_are_unfolded_where_a_node_of_them_matches() -> None:
    async with looking(faulty(), (60, 15)) as look:
        assert not any(line.startswith(" leaf5") for line in look.lines)
        await type_filter(look, "under=leaf5")
        await look.press("enter")
        await look.settle()
        assert any(line.startswith(" leaf5") for line in look.lines)


async def test_a_cell_of_several_nodes_shows_the_worst_of_those_that_match() -> None:
    async with looking(large(), (80, 24)) as look:
        view = look.app.session.latest.view
        assert view is not None
        failing = next(name for name, seen in view.nodes.items() if seen.state.value == "fail")
        spot = find_page(look).map.find_spot(MapMark(node=failing))
        assert spot is not None
        beside = next(node for node in spot.nodes if node != failing)
        for node, drawn in ((failing, "✗"), (beside, "·")):
            await type_filter(look, node)
            await look.press("enter")
            find_page(look).map.go(MapMark(node=failing))
            await look.settle()
            assert draw_cell(look, failing) == drawn
            await look.press("escape")


async def test_a_part_that_is_drawn_large_has_the_filter_and_escape_clears_it_first() -> None:
    async with looking(faulty(), (120, 40)) as look:
        await type_filter(look, "n[034-036]")
        await look.press("enter")
        find_page(look).map.go(MapMark(node=NodeId("n034")))
        await look.press("Z")
        page = look.app.screen
        assert isinstance(page, ZoomScreen)
        assert "3 of 134 nodes shown" in look.text
        assert (draw_cell(look, "n033"), draw_cell(look, "n035")) == (" ", "▵")
        await look.press("escape")
        assert look.app.screen is page
        assert draw_cell(look, "n033") == "▵"
        await look.press("escape")
        assert look.app.navigation.frame is look.app.navigation.fabric
        assert "3 of 134 nodes shown" in look.text


async def test_a_filter_is_kept_for_nodes_and_used_by_its_name() -> None:
    async with looking(faulty(), (120, 40)) as look:
        await type_filter(look, "under=leaf3")
        await look.press("enter", "colon", *"save-filter third", "enter")
        await look.until(lambda: SavedFilters().read().get("nodes") == {"third": "under=leaf3"})
        await look.press("escape")
        await type_filter(look, "@thi")
        await look.press("tab")
        assert "/ @third" in look.text
        assert "16 of 134 nodes shown" in look.text


async def test_a_filter_is_typed_as_a_command() -> None:
    async with looking(faulty(), (120, 40)) as look:
        await look.press("colon", *"filter n050", "enter")
        assert "1 of 134 nodes shown" in look.text
        await look.press("colon", *"filter", "enter")
        assert find_page(look).map.has_focus or find_page(look).matching.line.has_focus


async def test_run_filters_the_list_of_its_results() -> None:
    async with looking(faulty(), (120, 40)) as look:
        await look.press("3", "slash")
        page = look.app.screen
        assert isinstance(page, AreaScreen)
        await look.until(lambda: page.table.area is not None)
        assert page.prompt.has_focus
        await look.press(*"state=fail", "enter")
        assert {row.words("state") for row in page.table.items} == {"fail"}
        await look.press("escape", "escape")
        assert look.app.navigation.frame is look.app.navigation.tabs.run


async def test_a_node_filters_the_results_that_name_it() -> None:
    async with looking(faulty(), (120, 40)) as look:
        await look.press("2", "enter")
        node = look.app.screen
        assert isinstance(node, NodeScreen)
        await look.press("slash")
        page = look.app.screen
        assert isinstance(page, AreaScreen)
        await look.until(lambda: page.table.area is not None)
        assert page.prompt.text == f"{node.node} "
        assert page.table.count
        assert all(node.node in row.everything for row in page.table.items)
        await look.press(*"& state=fail", "enter")
        assert {row.words("state") for row in page.table.items} == {"fail"}
        await look.press("escape", "escape")
        assert look.app.screen is node


async def test_a_map_of_pairs_goes_back_to_its_list_with_the_filter() -> None:
    async with looking(faulty(), (120, 40)) as look:
        await look.press("colon", *"pairs", "enter")
        page = look.app.screen
        assert isinstance(page, AreaScreen)
        await look.until(lambda: page.table.area is not None)
        await look.press("v")
        assert isinstance(look.app.screen, PairMapScreen)
        await look.press("slash", *"n05")
        assert look.app.navigation.frame is page
        assert page.prompt.text == "n05"
