"""Zoom: one level in with Z, one out with esc, the cursor where it was, and each part with a headline of its own."""

import re
from collections.abc import Sequence

import pytest

from benchconsole.console.tui.fabric_map.map_cells import CellContent, MapMark
from benchconsole.console.tui.queries.section_state import count_words
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.rows.themes import Depth
from benchconsole.console.tui.screens.fabric import FabricScreen
from benchconsole.console.tui.screens.findings import FindingsScreen
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.tui.screens.nodes import NodesScreen
from benchconsole.console.tui.screens.zoom import ZoomScreen
from benchconsole.console.view.run_view import NodeView, State
from benchconsole.probes.model.measuring import FailedAt, Failure, Result
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import LinkId, NodeId, SwitchId
from tests.console.tui.looking import Look, boxes, faulty, healthy, large, looking
from tests.console.tui.test_heat import choose


def here(look: Look) -> FabricScreen | ZoomScreen:
    screen = look.app.screen
    assert isinstance(screen, FabricScreen | ZoomScreen)
    return screen


async def go(look: Look, mark: MapMark) -> None:
    here(look).map.go(mark)
    await look.settle()


async def test_z_and_esc_go_in_and_out_by_a_level_with_the_cursor() -> None:
    async with looking(boxes()) as look:
        mark = MapMark(node=NodeId("c07n03"))
        await go(look, mark)
        before = look.lines[5:30]
        await look.press("Z")
        assert look.lines[1].startswith(" jetstream › fabric › t2 ")
        assert "c05" in look.text
        assert "c09" not in look.text
        assert here(look).map.mark == mark
        await look.press("Z")
        assert look.lines[1].startswith(" jetstream › fabric › t2 › c07 ")
        assert "c05" not in look.text
        assert here(look).map.mark == mark
        await look.press("down", "escape")
        assert look.lines[1].startswith(" jetstream › fabric › t2 ")
        assert here(look).map.mark == mark
        await look.press("escape")
        assert isinstance(look.app.screen, FabricScreen)
        assert here(look).map.mark == mark
        assert look.lines[5:30] == before


async def test_a_name_goes_to_its_part_at_once_and_a_node_at_last_to_itself() -> None:
    async with looking(boxes()) as look:
        await go(look, MapMark(switch=SwitchId("c07a")))
        await look.press("Z")
        assert look.lines[1].startswith(" jetstream › fabric › t2 › c07 ")
        await look.press("Z")
        assert "innermost level" in look.lines[-1]
        await go(look, MapMark(node=NodeId("c07n09")))
        await look.press("Z")
        assert isinstance(look.app.screen, NodeScreen)
        await look.press("escape")
        assert isinstance(look.app.screen, ZoomScreen)


async def test_without_a_cursor_it_goes_to_the_fault_of_the_headline() -> None:
    async with looking(faulty()) as look:
        assert "leaf3" in look.lines[3]
        await look.press("Z")
        assert isinstance(look.app.screen, ZoomScreen)
        assert look.lines[1].startswith(" mini › fabric › leaf3 ")


async def test_the_last_row_offers_a_level_further_in_only_where_there_is_one() -> None:
    async with looking(boxes()) as look:
        await go(look, MapMark(switch=SwitchId("c07a")))
        await look.press("Z")
        assert "Z one level in" not in look.lines[-1]
        await go(look, MapMark(node=NodeId("c07n09")))
        await look.settle()
        assert "Z one level in" in look.lines[-1]


async def test_without_a_cursor_and_above_all_levels_it_says_so() -> None:
    async with looking(healthy()) as look:
        await look.press("Z")
        assert "Nothing is chosen" in look.lines[-1]
        await go(look, MapMark(switch=SwitchId("spine1")))
        await look.press("Z")
        assert "above all levels" in look.lines[-1]
        assert isinstance(look.app.screen, FabricScreen)


async def test_the_headline_counts_the_part_alone() -> None:
    async with looking(faulty()) as look:
        await go(look, MapMark(node=NodeId("n050")))
        await look.press("Z")
        assert look.lines[3].startswith(
            " ✗ leaf4: 16 nodes: 1 fail, 15 pass; 2 links of 4 members, none known to be down."
        )
        assert "n050 out: gives 2.97 of 9.90 Gb/s" in look.lines[4]
        assert look.lines[1].rstrip().endswith("✗ 1  · 15  of 16 nodes")
        await look.press("escape")
        await go(look, MapMark(node=NodeId("n033")))
        await look.press("Z")
        assert look.lines[3].startswith(" ✗ leaf3: 16 nodes: 16 affected; 2 links of 4 members, 1 of them down.")


async def test_nodes_and_links_that_no_test_has_been_at_are_untested_in_a_part_too() -> None:
    async with looking(healthy(), until=1) as look:
        await go(look, MapMark(node=NodeId("n050")))
        await look.press("Z")
        assert "leaf4: 16 nodes: 16 untested; " in look.text
        assert "n050  - untested" in look.text
        await go(look, MapMark(link=LinkId("leaf4--spine1")))
        assert "leaf4 to spine1  - untested" in look.text
        assert "skipped" not in look.text


def test_of_the_nodes_of_a_part_those_that_were_skipped_are_told_from_those_that_were_not_asked() -> None:
    view = healthy().view()
    first, second, third = list(view.nodes)[:3]
    failure = Failure(FailedAt.SKIPPED, "the limit is --tests-at-once 2", first)
    spared = replace(view.nodes[first], state=State.SKIPPED, failures=(failure,))
    unasked = NodeView(view.nodes[second].node)
    changed = replace(view, nodes={first: spared, second: unasked, third: view.nodes[third]})
    assert count_words(changed, [third, second, first]) == {"skipped": 1, "untested": 1, "pass": 1}


async def test_enter_opens_nodes_and_findings() -> None:
    async with looking(faulty()) as look:
        await go(look, MapMark(node=NodeId("n033")))
        await look.press("Z", "enter")
        assert isinstance(look.app.screen, NodeScreen)
        await look.press("escape", "n")
        assert here(look).map.mark == MapMark(link=LinkId("leaf3--spine1"))
        await look.press("enter")
        assert isinstance(look.app.screen, FindingsScreen)


async def test_faults_of_other_parts_are_not_walked() -> None:
    async with looking(faulty()) as look:
        await go(look, MapMark(node=NodeId("n001")))
        await look.press("Z", "n")
        assert "No fault is known in leaf1." in look.lines[-1]


async def test_the_heat_map_goes_in_too() -> None:
    async with looking(faulty()) as look:
        await choose(look, "triad")
        await go(look, MapMark(node=NodeId("n093")))
        await look.press("Z")
        assert here(look).map.content is CellContent.HEAT
        assert "[0]n093  87.9 GB/s" in look.text
        assert "rank 1 of 127, the lowest first   ✗ fail" in look.text
        await look.press("v")
        assert "[✗]n093" in look.text
        await look.press("escape")
        assert here(look).map.content is CellContent.HEAT


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_a_leaf_among_ten_thousand_nodes_shows_each_of_its_nodes(size: tuple[int, int]) -> None:
    async with looking(large(), size) as look:
        await go(look, MapMark(node=NodeId("p04l11n03")))
        top = look.app.navigation.fabric.map.top
        await look.press("Z")
        assert look.lines[1].startswith(" meridian › fabric › p04 ")
        assert "✗ 1  · 1,023  of 1,024 nodes" in look.lines[1]
        await look.press("Z")
        assert look.lines[1].startswith(" meridian › fabric › p04 › p04l11 ")
        for index in range(1, 33):
            assert look.text.count(f"p04l11n{index:02d} ") >= 1
        assert look.text.count("128 GiB") >= 30
        await look.press("escape", "escape")
        assert look.app.navigation.fabric.map.top == top


async def test_it_reads_in_ascii_and_without_colour() -> None:
    plain = Terminal(ascii=True, depth=Depth.NONE)
    async with looking(faulty(), (80, 24), terminal=plain) as look:
        await go(look, MapMark(node=NodeId("n033")))
        await look.press("Z")
        assert look.text.isascii()
        assert "up  spine1  #_" in look.text
        assert "[~]n033" in look.text


async def test_a_line_below_tells_the_number_that_gave_the_node_its_sign() -> None:
    async with looking(faulty()) as look:
        await go(look, MapMark(node=NodeId("n050")))
        await look.press("Z")
        assert any(
            line.startswith(" n050  ✗ fail   iperf3.throughput 2.97 Gb/s of 9.90 Gb/s, 30 %") for line in look.lines
        )
        await go(look, MapMark(node=NodeId("n049")))
        (line,) = [line for line in look.lines if line.startswith(" n049  · pass")]
        assert "of 9.90 Gb/s" in line
        await go(look, MapMark(link=LinkId("leaf4--spine1")))
        assert any(line.startswith(" leaf4 to spine1  · pass") for line in look.lines)
        here(look).heat.choose_typed("triad")
        await look.until(lambda: here(look).map.heat is not None)
        assert not any(line.startswith(" leaf4 to spine1  ·") for line in look.lines)


async def test_a_node_that_is_dragged_down_by_others_shows_no_good_number_beside_its_sign() -> None:
    story = faulty()
    closed = [replace(each, results=_drop_parts(each.results, "n033")) for each in story.closed]
    async with looking(replace(story, closed=closed), (200, 60)) as look:
        await go(look, MapMark(node=NodeId("n033")))
        await look.press("Z")
        rows = [line for line in look.lines if "n033" in line and not line.startswith("▌")]
        assert rows
        assert all("leaf3 to spine1: 1 of 2 members up" in row and "Gb/s" not in row for row in rows)
        other = next(line for line in look.lines if line.startswith(" ▵ n034"))
        assert "7.43 Gb/s of 9.90 Gb/s" in other


def _drop_parts(results: Sequence[Result], node: str) -> tuple[Result, ...]:
    """Without what a node sent beside others."""
    return tuple(each for each in results if not (each.test.bundle and each.test.target.node.id == node))


async def test_other_faults_of_the_part_stand_below_it_and_open_their_own_findings() -> None:
    async with looking(boxes(), (200, 60)) as look:
        await go(look, MapMark(switch=SwitchId("t2")))
        await look.press("Z")
        page = here(look)
        assert isinstance(page, ZoomScreen)
        listed = [place for place, _ in page.also.faults]
        assert [look.app.navigation.fabric.faults[place] for place in listed] == [*page.faults[1:]]
        assert ("also" in look.text) is bool(listed)


async def test_a_high_screen_has_the_numbers_of_each_node_and_the_worst_finding_in_full() -> None:
    async with looking(faulty(), (200, 60)) as look:
        await go(look, MapMark(node=NodeId("n033")))
        await look.press("Z")
        page = here(look)
        assert isinstance(page, ZoomScreen)
        head = next(index for index, line in enumerate(look.lines) if line.startswith(" expected"))
        rows = look.lines[head + 1 : head + 17]
        assert [row.split()[1] for row in rows] == [f"n{number:03d}" for number in range(33, 49)]
        assert rows[0].startswith("▌▵ n033")
        assert re.search(r"finding \d+ of \d+, \w+", look.text)
        assert any(line.startswith(" do ") for line in look.lines)
        assert sum(not line.strip() for line in look.lines) <= 12
        assert "legend" in look.lines[-2]
        await look.press("down")
        assert [line[:7] for line in look.lines if line.startswith("▌")] == ["▌▵ n034"]


async def test_the_numbers_are_those_of_the_nodes_page() -> None:
    async with looking(faulty(), (200, 60)) as look:
        await go(look, MapMark(node=NodeId("n050")))
        await look.press("Z")
        page = here(look)
        assert isinstance(page, ZoomScreen)
        await look.press("2")
        nodes = look.app.screen
        assert isinstance(nodes, NodesScreen)
        columns = {each.choice: each for each in nodes.table.arranged.columns.chosen}
        rows = {row.view.node.id: row for row in nodes.table.every}
        assert len(page.numbers.columns) >= 2
        for row in page.numbers.items:
            for column in page.numbers.columns:
                assert column.number(row) == columns[column.choice].number(rows[row.view.node.id])


async def test_a_part_without_a_fault_has_its_numbers_and_no_finding() -> None:
    async with looking(faulty(), (200, 60)) as look:
        await go(look, MapMark(node=NodeId("n001")))
        await look.press("Z")
        page = here(look)
        assert isinstance(page, ZoomScreen)
        assert page.detail.size.height == 0
        assert any(line.startswith(" expected") for line in look.lines)
        assert "legend" in look.lines[-2]


async def test_numbers_that_do_not_all_fit_are_not_drawn() -> None:
    async with looking(faulty(), (200, 44)) as look:
        await go(look, MapMark(node=NodeId("n033")))
        await look.press("Z")
        assert not any(line.startswith(" expected") for line in look.lines)
