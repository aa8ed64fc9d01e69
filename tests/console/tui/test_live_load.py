"""The load of links on the map while a round runs: both directions, the place under the cursor, and no old numbers."""

from collections.abc import Mapping

import pytest
from textual.geometry import Region

from benchconsole.console.tui.fabric_map.map_cells import CellContent, MapMark
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.rows.themes import THEMES, Depth
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view import events
from benchconsole.console.view.interval_rates import ToldInterval
from benchconsole.probes.api import Interval, Target, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.round_ways import RoundWays
from benchconsole.probes.judging.running_round import RunningRound
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.model.sending import Sending
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import LinkId, NodeId
from tests.console.tui.fabrics import G
from tests.console.tui.looking import Look, boxes, colours, faulty, healthy, large, looking, painted
from tests.console.tui.story import Story
from tests.fabrics import METRICS

SIZES = [(80, 24), (120, 40), (200, 60)]


def until_round(story: Story, stage: str) -> int:
    """How many events there are when all tests of the first round of a stage run."""
    for number, event in enumerate(story.events(), 1):
        if isinstance(event, events.RoundStarted) and event.round.stage == stage:
            return number + len(event.round.tests)
    raise AssertionError(stage)


def find_ways(story: Story, each: Round) -> RoundWays:
    running = RunningRound(JudgingContext(story.fabric, METRICS), each)
    running.prepare()
    assert running.ways is not None
    return running.ways


def current_round(look: Look) -> Round:
    view = look.app.session.latest.view
    assert view is not None
    assert view.current is not None
    return view.current


def tell(look: Look, rates: Mapping[int, float], at: float = 1.0, until: float = 3.0) -> None:
    """Numbers of tests of the round that runs by their place, in Gb/s."""
    current = current_round(look)
    found = tuple(
        ToldInterval(current.tests[place].id, Interval("iperf3.throughput", rate * G, Unit.BYTE_RATE, until, 1.0), None)
        for place, rate in rates.items()
    )
    ways = find_ways(look.player.story, current)
    look.player.feed(events.IntervalsTold(found, at, ways=ways))


def row(look: Look, name: str) -> str:
    return next(line for line in look.lines if line.lstrip(" ▌").startswith(name))


def shown(look: Look) -> CellContent:
    return look.app.navigation.fabric.map.content


EVERYONE = dict.fromkeys(range(16), 4.95)
"""Half of what the two uplinks of leaf1 carry, 2 x 79.2 Gb/s, sent by all of its nodes."""


@pytest.mark.parametrize(
    ("size", "where", "drawn"),
    [
        ((80, 24), " leaf1 ", "  0 ────│━━──  50 "),
        ((120, 40), " leaf1 ", "  0 ──────────│━━━━━─────  50 "),
        ((200, 60), " spine1 ▮▮", "  0 ────────│━━━━────  50 "),
    ],
)
async def test_the_wires_show_what_goes_in_and_out_now(size: tuple[int, int], where: str, drawn: str) -> None:
    async with looking(healthy(), size, until=until_round(healthy(), "leave")) as look:
        assert "now, %" not in look.text
        assert "no test of this round has told a rate; wires show what was measured" in look.text
        tell(look, EVERYONE)
        await look.until(lambda: "│" in look.text)
        assert drawn in next(line for line in look.lines if where in line)
        assert "in│out, %" in look.text or "in │ out now, %" in look.text
        assert "has told a rate" not in look.text


async def test_a_console_that_hears_no_test_says_nothing_of_the_load_now() -> None:
    async with looking(healthy(), until=until_round(healthy(), "leave")) as look:
        assert "load now" in look.text
        look.player.follows = "Another console drives it."
        await look.press("2", "1")
        await look.until(lambda: "load now" not in look.text)


async def test_every_size_reads_in_ascii_and_without_colour() -> None:
    plain = Terminal(ascii=True, depth=Depth.NONE)
    async with looking(healthy(), (80, 24), terminal=plain, until=until_round(healthy(), "leave")) as look:
        tell(look, EVERYONE)
        await look.until(lambda: "  0 ----|==--  50 " in look.text)
        assert look.text.isascii()
        await look.press("v", "v")
        assert "2222 2222" in row(look, "leaf1")
        assert look.text.isascii()


async def test_a_load_has_no_colour_of_a_verdict() -> None:
    async with looking(healthy(), until=until_round(healthy(), "leave")) as look:
        tell(look, dict.fromkeys(range(16), 0.1))
        await look.until(lambda: "│" in look.text)
        tokens = THEMES["bench-dark"]
        seen = colours(painted(look.app))
        assert seen.isdisjoint({tokens["fail"], tokens["fill"], tokens["watch"], tokens["unreachable"]})


async def test_the_line_tells_the_place_under_the_cursor_and_who_limits_it() -> None:
    async with looking(healthy(), until=until_round(healthy(), "leave")) as look:
        tell(look, EVERYONE)
        await look.until(lambda: "fullest: " in look.text)
        look.app.navigation.fabric.map.go(MapMark(link=LinkId("leaf1--spine1")))
        await look.until(lambda: "fullest" not in look.text)
        place = look.lines.index(row(look, "load now"))
        told, limit = look.lines[place : place + 2]
        assert "leaf1 to spine1   up 39.6 of 79.2 Gb/s (50 %), expected 79.2   down 0" in told
        assert "limit: leaf1 to spine1 (16 flows)" in limit
        assert "16 of 16 flows tell, by ideal split" in limit
        look.app.navigation.fabric.map.go(MapMark(node=NodeId("n001")))
        await look.until(lambda: "n001   out 4.95 of 19.8 Gb/s" in look.text)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (80, 15), (60, 15)])
async def test_who_limits_is_never_cut_away(size: tuple[int, int]) -> None:
    async with looking(healthy(), size, until=until_round(healthy(), "leave")) as look:
        tell(look, EVERYONE)
        look.app.navigation.fabric.map.go(MapMark(link=LinkId("leaf1--spine1")))
        await look.until(lambda: "up 39.6 of 79.2 Gb/s" in look.text)
        assert "limit: leaf1 to spine1 (16 flows)" in look.text
        assert len([line for line in look.lines if "load now" in line]) == 1


async def test_some_that_tell_are_the_least_and_none_is_no_zero() -> None:
    async with looking(healthy(), until=until_round(healthy(), "leave")) as look:
        tell(look, dict.fromkeys(range(8), 4.95))
        await look.until(lambda: "  0 ──────────│━━╾───────  25+" in look.text)
        tell(look, {}, at=9.0)
        await look.until(lambda: "none of 64 flows tells a number now" in look.text)
        assert "  0 ──────────│──────────   – " in row(look, "leaf1")
        assert "leaves at" not in look.text


async def test_between_rounds_the_wires_are_those_that_were_measured_and_it_is_said() -> None:
    story = healthy()
    started = until_round(story, "leave")
    tests = next(each for each in story.rounds if each.stage == "leave").tests
    async with looking(story, until=started) as look:
        tell(look, EVERYONE)
        await look.until(lambda: "│" in look.text)
        look.player.feed(*list(story.events())[started : started + len(tests) + 1])
        await look.until(lambda: "leaves at, Gb/s" in look.text)
        assert "no round runs; wires show what was measured" in look.text
        assert "│" not in look.text


async def test_the_numbers_of_tests_that_are_all_over_are_not_shown_on() -> None:
    story = healthy()
    started = until_round(story, "leave")
    tests = next(each for each in story.rounds if each.stage == "leave").tests
    async with looking(story, until=started) as look:
        tell(look, EVERYONE)
        await look.until(lambda: " 50 " in row(look, "leaf1"))
        look.player.feed(*list(story.events())[started : started + len(tests)])
        await look.until(lambda: " 50 " not in row(look, "leaf1"))
        assert current_round(look).stage == "leave"
        assert "leaves at" not in look.text


async def test_a_session_that_is_over_has_no_line_of_loads() -> None:
    async with looking(healthy()) as look:
        assert "load now" not in look.text


async def test_cells_show_the_load_of_nodes_only_while_a_round_tells_it() -> None:
    async with looking(faulty(), until=until_round(faulty(), "leave")) as look:
        await look.press("v", "v")
        assert shown(look) is CellContent.STATES
        tell(look, {0: 19.8, 1: 10.0, 2: 1.0})
        await look.until(lambda: "│" in look.text)
        await look.press("v", "v")
        assert shown(look) is CellContent.LOADS
        assert "F 5 0 –" in row(look, "leaf1")
        assert "0-9 tenths of the fullest link" in look.text
        await look.press("v")
        assert shown(look) is CellContent.STATES


async def test_the_slots_of_a_lost_member_and_its_share_stay_in_sight() -> None:
    async with looking(faulty(), (200, 60)) as look:
        view = look.app.session.latest.view
        assert view is not None
        each = next(each for each in faulty().rounds if each.stage == "leave")
        live = replace(view, current=each, live=True, ended=None, ways=find_ways(faulty(), each))
        look.app.navigation.fabric.paint(live)
        await look.pilot.pause()
        assert any("spine1 ▮▯" in line and "×××" in line and "│" in line for line in look.lines)


async def test_chassis_and_their_middle_tier_show_it_too() -> None:
    for size in SIZES:
        async with looking(boxes(), size) as look:
            view = look.app.session.latest.view
            assert view is not None
            each = next(each for each in boxes().rounds if find_ways_or_none(each))
            live = replace(view, current=each, live=True, ended=None, ways=find_ways(boxes(), each))
            look.app.navigation.fabric.paint(live)
            await look.pilot.pause()
            assert "now" in look.text
            assert "load now" in look.text


def find_ways_or_none(each: Round) -> bool:
    return any(test.target.peer is not None for test in each.tests)


async def test_a_second_of_loads_paints_only_what_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with looking(healthy(), until=until_round(healthy(), "leave")) as look:
        tell(look, EVERYONE)
        await look.until(lambda: "│" in look.text)
        seen: list[Region] = []
        refresh = CellWidget.refresh

        def note(self: CellWidget, *regions: Region, **options: bool) -> CellWidget:
            seen.extend(regions or [self.size.region])
            return refresh(self, *regions, **options)

        monkeypatch.setattr(CellWidget, "refresh", note)
        tell(look, EVERYONE, at=2.0, until=4.0)
        await look.settle()
        assert seen == []
        tell(look, {0: 9.0}, at=3.0, until=5.0)
        await look.settle()
        assert 0 < sum(region.area for region in seen) <= 3 * 120


async def test_of_ten_thousand_nodes_the_loads_are_drawn_in_their_blocks() -> None:
    async with looking(large(), (200, 60)) as look:
        view = look.app.session.latest.view
        assert view is not None
        nodes = [*view.fabric.nodes.values()]
        test = Test("t", "iperf3", Target(nodes[0], nodes[-1]), 1, sending=Sending(4))
        each = Round(1, "far", "iperf3", (test,), 5.0, "to see")
        live = replace(view, current=each, running=frozenset("t"), live=True, ended=None, ways=find_ways(large(), each))
        look.app.navigation.fabric.paint(live)
        await look.pilot.pause()
        assert "none of 1 flow tells a number now" in look.text
        await look.press("v", "v")
        assert shown(look) is CellContent.LOADS
