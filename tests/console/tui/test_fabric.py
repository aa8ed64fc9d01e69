"""The fabric screen: the fault where it sits, the walk to it, and nothing that shouts where all is well."""

import pytest

from benchconsole.console.tui.fabric_map.map_cells import CellContent, MapMark
from benchconsole.console.tui.fabric_map.shape import read_shape
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.rows.text_rows import Row
from benchconsole.console.tui.rows.themes import THEMES
from benchconsole.console.tui.screens.base.page import OPENING
from benchconsole.console.tui.screens.findings import FindingsScreen
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.fabric_map import FabricMap
from benchconsole.console.tui.widgets.other_faults import OtherFaults
from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import advance_all, opened
from benchconsole.console.view.run_view import State
from benchconsole.probes.model.judgement import Level
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import LinkId, NodeId
from benchconsole.topology.units import counted
from tests.console.tui.looking import boxes, colours, faulty, healthy, large, looking, painted, reading, undecided


async def test_the_headline_names_the_first_finding_with_both_numbers() -> None:
    async with looking(faulty()) as look:
        finding = faulty().findings[0]
        assert finding.where in look.lines[3]
        assert "118.8 of 158.4 Gb/s" in look.lines[3]
        assert "fault 1 of 6" in look.lines[3]


async def test_a_map_is_not_drawn_for_a_size_that_it_is_about_to_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[int, int]] = []
    draw = FabricMap.draw

    def note(drawn_map: FabricMap, width: int, height: int) -> list[Row]:
        if drawn_map.view is not None:
            drawn.append((width, height))
        return draw(drawn_map, width, height)

    monkeypatch.setattr(FabricMap, "draw", note)
    async with looking(faulty(), size=(120, 40)) as look:
        size = look.app.navigation.fabric.map.size
        assert drawn
        assert set(drawn) == {(size.width, size.height)}


async def test_a_lost_member_is_one_red_slot_and_hollow_nodes() -> None:
    async with looking(faulty()) as look:
        row = next(line for line in look.lines if line.startswith(" leaf3"))
        assert row.count("▵") == 16
        assert "▮▯" in row
        assert "2.67:1 built 2.00" in row
        assert "××" in row
        assert "118.9" in row
        other = next(line for line in look.lines if line.startswith(" leaf1"))
        assert "built" not in other


async def test_that_all_cables_carry_is_said_only_where_all_links_were_filled() -> None:
    async with looking(healthy(), until=1) as look:
        assert "32 cables of 16 links below" in look.text
        assert "all 32 cables" not in look.text
    async with looking(healthy()) as look:
        assert "all 32 cables of 16 links below" in look.text


async def test_before_anything_ran_the_cables_alone_are_there() -> None:
    async with looking(faulty(), until=1) as look:
        assert "Nothing has run on this fabric yet." in look.lines[3]
        row = next(line for line in look.lines if line.startswith(" leaf3"))
        assert "2.00:1" in row
        assert "✗" not in look.text
        tokens = THEMES["bench-dark"]
        seen = colours(painted(look.app))
        assert seen.isdisjoint({tokens["fail"], tokens["fill"], tokens["watch"], tokens["pass"]})


@pytest.mark.parametrize("theme", THEMES)
async def test_a_healthy_fabric_has_no_colour_of_a_fault(theme: str) -> None:
    async with looking(healthy(), terminal=Terminal(theme=theme)) as look:
        tokens = THEMES[theme]
        assert "Everything was judged and passed" in look.lines[3]
        seen = colours(painted(look.app))
        assert seen.isdisjoint({tokens["fail"], tokens["fill"], tokens["watch"], tokens["unreachable"]} - {"#ffffff"})
        assert "SIMULATED" not in look.text


async def test_three_keys_lead_to_the_raw_output_of_the_worst_finding() -> None:
    async with looking(faulty()) as look:
        await look.press("n", "enter", "enter")
        assert isinstance(look.app.screen, RawScreen)
        assert "7.43 Gbits/sec" in look.text
        assert "the value was read here" in look.text


async def test_three_keys_lead_from_a_failing_node_to_its_raw_output() -> None:
    async with looking(faulty()) as look:
        look.app.navigation.fabric.fault, look.app.navigation.fabric.walked = 1, True
        await look.press("n")
        assert look.app.navigation.fabric.map.mark == MapMark(node=NodeId("n050"))
        await look.press("enter")
        assert isinstance(look.app.screen, NodeScreen)
        assert look.app.screen.node == "n050"
        await look.press("enter")
        assert isinstance(look.app.screen, RawScreen)
        assert "2.97 Gbits/sec" in look.text


async def test_n_walks_every_fault_and_comes_back() -> None:
    async with looking(faulty()) as look:
        screen, seen = look.app.navigation.fabric, []
        for _ in range(len(screen.faults) + 1):
            await look.press("n")
            seen.append(screen.map.mark)
        assert seen[0] == MapMark(link=LinkId("leaf3--spine1")) == seen[-1]
        assert MapMark(node=NodeId("n120")) in seen
        assert len(set(seen)) == len(screen.faults)
        await look.press("N")
        assert screen.map.mark == seen[-2]


async def test_enter_on_a_slot_opens_the_finding_of_that_link() -> None:
    async with looking(faulty()) as look:
        await look.press("n", "enter")
        assert isinstance(look.app.screen, FindingsScreen)
        assert look.app.navigation.tabs.findings.list.cursor == 0


async def test_arrows_go_over_cells_and_slots() -> None:
    async with looking(faulty()) as look:
        screen = look.app.navigation.fabric
        await look.press("down")
        assert screen.map.mark == MapMark(node=NodeId("n001"))
        await look.press("down", "right")
        assert screen.map.mark == MapMark(node=NodeId("n018"))
        assert "[·]" in next(line for line in look.lines if line.startswith(" leaf2"))
        for _ in range(20):
            await look.press("l")
        assert screen.map.mark == MapMark(link=LinkId("leaf2--spine2"))
        await look.press("up")
        assert screen.map.mark == MapMark(link=LinkId("leaf1--spine2"))
        await look.press("G")
        assert screen.map.mark == MapMark(node=NodeId("m2"))
        await look.press("g", "k")
        assert screen.map.mark == MapMark(link=LinkId("spine1--spine2"))


async def test_v_shows_the_share_of_what_was_expected() -> None:
    async with looking(faulty()) as look:
        await look.press("v")
        row = next(line for line in look.lines if line.startswith(" leaf4"))
        assert "▇" in row  # n050 at 30 %
        assert "97 % or more" in look.text
        await look.press("v")
        assert "✗" in next(line for line in look.lines if line.startswith(" leaf4"))


def test_lines_that_are_kept_are_those_that_would_be_drawn_now() -> None:
    story, kept = faulty(), FabricMap()
    events = list(story.events())
    assert isinstance(events[0], SessionOpened)
    view, shape = opened(events[0]), read_shape(story.fabric)
    for first in range(1, len(events), 40):
        view = advance_all(view, events[first : first + 40])
        for content in CellContent:
            fresh = FabricMap()
            for each in (kept, fresh):
                each.show(view, shape)
                each.mark, each.content = MapMark(node=NodeId("n050")), content
            assert kept.draw(120, 40) == fresh.draw(120, 40), first


async def test_a_middle_tier_stands_beside_its_racks() -> None:
    async with looking(boxes()) as look:
        row = next(line for line in look.lines if " c07 " in line)
        assert "[▮▯]" not in row
        assert "▮▯" in row
        assert row.count("▵") == 16
        assert any(line.startswith(" t2   3.75:1") for line in look.lines)
        assert any("built 4.00" in line for line in look.lines)


async def test_what_passes_folds_where_it_is_low() -> None:
    async with looking(faulty(), (60, 15)) as look:
        assert any("all pass" in line for line in look.lines)
        for name in ("leaf2", "leaf3", "leaf4", "leaf6", "leaf8", "storage"):
            assert any(line.startswith(f" {name}") for line in look.lines), name


async def test_ten_thousand_nodes_fold_into_cells_that_show_the_worst() -> None:
    async with looking(large(), (200, 60)) as look:
        assert "1 cell = 2 nodes, the worst is shown" in look.text
        row = next(line for line in look.lines if line.count("▵") > 3)
        assert row.count("▵") == 16
        assert "▯" in row
        await look.press("n")
        assert "[▯]" in look.text
        await look.press("minus")
        assert "1 cell = 4 nodes" in look.text
        await look.press("plus", "plus")
        assert "1 cell = 1 node" in look.text


async def test_f_and_c_say_where_they_go() -> None:
    async with looking(healthy()) as look:
        await look.press("n")
        assert "No fault is known." in look.lines[-1]
        await look.press("down", "enter")
        assert isinstance(look.app.screen, NodeScreen)
        assert "n001 passes" in look.lines[3]


async def test_no_session_that_is_being_read_is_said_to_be_without_a_fault() -> None:
    async with reading(faulty()) as (look, over):
        await look.press("n")
        assert OPENING in look.lines[-1]
        assert "No fault" not in look.text
        await look.press("Z")
        await look.press("n")
        assert "No fault" not in look.text
        over.set()


async def test_a_full_value_does_not_hide_a_fault_of_another_kind() -> None:
    """The processor of n093 is another one than declared, which is no share of anything; its rates are as expected."""
    story = faulty()
    closed = [
        replace(
            each,
            verdicts=tuple(
                verdict._replace(expected=None)
                if verdict.level is Level.FAIL and verdict.nodes == ("n093",)
                else verdict
                for verdict in each.verdicts
            ),
        )
        for each in story.closed
    ]
    async with looking(replace(story, closed=closed)) as look:
        await look.press("v")
        row = next(line for line in look.lines if line.startswith(" leaf6"))
        assert row.count("✗") == 1


async def test_n_stops_at_nodes_that_could_not_be_judged() -> None:
    async with looking(undecided()) as look:
        view = look.app.session.latest.view
        assert view is not None
        unknown = [name for name, node in view.nodes.items() if node.state is State.UNKNOWN]
        assert unknown
        assert look.lines[3].startswith(" ? Not everything was judged")
        assert look.lines[3].count("unknown 1 of") == 0
        stops = []
        for place in (1, 2):
            await look.press("n")
            assert f"unknown {place} of 2" in look.lines[3]
            assert f"the flows ended {place} s apart" in look.lines[3]
            mark = look.app.navigation.fabric.map.mark
            assert mark is not None
            stops.append(mark.node)
        assert set(stops) <= set(unknown)
        assert len(set(stops)) == 2
        await look.press("enter")
        assert isinstance(look.app.screen, NodeScreen)


async def test_what_could_not_be_judged_stands_under_the_map_after_the_faults() -> None:
    async with looking(undecided()) as look:
        also = next(number for number, line in enumerate(look.lines) if line.startswith(" also"))
        assert "the flows ended 1 s apart" in look.lines[also]
        assert look.lines[also + 1].strip() == "its tests are not counted as passed"
        assert "the flows ended 2 s apart" in look.lines[also + 2]


async def test_a_high_screen_says_of_the_other_faults_what_they_mean_and_what_to_do() -> None:
    async with looking(faulty(), (200, 60)) as look:
        first, *others = faulty().findings
        for each in others:
            assert each.means in look.text
            assert f"do: {each.do}" in look.text
        assert f"do: {first.do}" not in look.text
        assert "under Findings" not in look.text
        (row,) = [line for line in look.lines if others[0].where in line and others[0].what in line]
        assert row.rstrip().endswith(counted(len(others[0].tests), "test"))
        await look.pilot.click(OtherFaults, offset=(12, 2))
        await look.settle()
        assert isinstance(look.app.screen, FindingsScreen)
        assert look.app.navigation.tabs.findings.list.cursor == 1


async def test_a_wide_map_tells_the_number_of_each_node_in_no_rack() -> None:
    async with looking(faulty(), (200, 60)) as look:
        (row,) = [line for line in look.lines if line.startswith(" storage")]
        assert "✗ st3" in row
        assert "690 MB/s" in row
        assert "42 %" in row
        await look.press("N")
        look.app.navigation.fabric.map.go(MapMark(node=NodeId("st3")))
        await look.settle()
        assert "[✗]st3" in look.text


async def test_what_the_description_shows_stands_below_a_map_that_leaves_room() -> None:
    found = tuple(
        StaticFinding(Severity.WARNING, "slow", f"leaf{number}", f"sentence {number}") for number in range(40)
    )
    async with looking(healthy(), (200, 60), static=found[:3]) as look:
        assert "from the description  □ 3 warnings" in look.text
        assert all(each.text in look.text for each in found[:3])
        assert "under Findings" not in look.text
    async with looking(healthy(), (200, 60), static=found) as look:
        shown = sum(f"sentence {number} " in look.text for number in range(40))
        assert 0 < shown < 40
        assert f"and {40 - shown} more under Findings" in look.text
    async with looking(healthy(), (80, 24), static=found) as look:
        assert "from the description" not in look.text
