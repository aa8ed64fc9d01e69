"""The run screen while it runs, stops and is done; plans before anything is sent."""

import pytest

from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.view import events
from benchconsole.probes.model.measuring import Result
from tests.console.tui.looking import faulty, looking


def events_until_the_middle_of(stage: str) -> int:
    """How many events there are when half of the first round of a stage has ended."""
    seen, inside = 0, 0
    for number, event in enumerate(faulty().events(), 1):
        if isinstance(event, events.RoundStarted) and event.round.stage == stage:
            inside = len(event.round.tests)
        if inside and isinstance(event, Result):
            seen += 1
            if seen == inside // 2:
                return number
    raise AssertionError(stage)


async def test_a_finished_run_says_what_each_stage_found() -> None:
    async with looking(faulty()) as look:
        await look.press("3")
        assert "The run is complete." in look.lines[3]
        assert "leaf3 to spine1" in look.lines[3]
        rows = {line.split()[1]: line for line in look.lines if "━━━━━━━━━━━━" in line}
        assert "n093 at 88 %" in rows["inventory"]
        assert "st3 at 42 %" in rows["disk"]
        assert "0:52" in rows["inventory"]
        assert any(line.startswith(" ∅ not judged") and "None of them counts as passed." in line for line in look.lines)


async def test_an_open_round_is_measured_and_not_judged() -> None:
    async with looking(faulty(), until=events_until_the_middle_of("leave")) as look:
        await look.press("3")
        assert "▸ Round 6 of 7, leave:" in look.lines[3]
        assert "▸ running" in look.lines[1]
        assert any(line.startswith((" ○", "▌○")) for line in look.lines)
        assert any("load so far" in line for line in look.lines)
        assert any("of 16 tests in" in line for line in look.lines)
        assert "S stop, asks how" in look.lines[-1]


async def test_nodes_that_are_tested_now_are_marked_on_the_map() -> None:
    until = 3  # opened, the first round started, one test started
    async with looking(faulty(), until=until) as look:
        assert any("▸" in line and line.startswith(" leaf1") for line in look.lines)
        assert "Round 1 of 7" in look.lines[3]


async def test_a_plan_is_shown_before_it_starts() -> None:
    async with looking(faulty()) as look:
        await look.press("R")
        assert isinstance(look.app.screen, PlanSheet)
        assert "acceptance: 7 rounds, 652 tests, about 4:42." in look.text
        assert "fio writes 1 GiB" in look.text
        assert "Nothing is sent to any node before you press enter." in look.text
        assert look.player.started == []
        await look.press("tab")
        assert "network: 4 rounds" in look.text
        await look.press("enter")
        assert [len(rounds) for rounds in look.player.started] == [4]
        assert look.app.current_mode == "run"


async def test_esc_sends_nothing() -> None:
    async with looking(faulty()) as look:
        await look.press("R", "escape")
        assert look.player.started == []
        assert look.player.proposed[0] == ("acceptance", False, ())


async def test_r_plans_what_failed() -> None:
    async with looking(faulty()) as look:
        await look.press("3", "r")
        assert look.player.proposed[-1] == (None, True, ())
        assert "tab" not in look.lines[-1]
        await look.press("enter")
        assert len(look.player.started[0]) == 1


@pytest.mark.parametrize(("key", "stopped", "paused"), [("a", [False], False), ("n", [True], False), ("p", [], True)])
async def test_s_asks_how_to_stop(key: str, stopped: list[bool], paused: bool) -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        await look.press("3", "S")
        assert isinstance(look.app.screen, ChoiceSheet)
        await look.press(key)
        assert look.player.stopped == stopped
        assert look.player.paused is paused
        assert ("PAUSED" in look.lines[0]) is paused


async def test_a_paused_run_goes_on() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = look.player.paused = True
        await look.press("3", "S", "g")
        assert not look.player.paused


async def test_nothing_stops_where_nothing_runs() -> None:
    async with looking(faulty()) as look:
        await look.press("3", "S")
        assert "Nothing is running." in look.lines[-1]


async def test_a_second_run_is_refused_while_one_goes() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        await look.press("R")
        assert "S stops it first" in look.lines[-1]


async def test_enter_opens_the_raw_output_or_the_node_that_runs() -> None:
    async with looking(faulty()) as look:
        await look.press("3", "down", "enter")
        assert isinstance(look.app.screen, RawScreen)
    async with looking(faulty(), until=events_until_the_middle_of("inventory")) as look:
        await look.press("3", "end", "enter")
        assert isinstance(look.app.screen, NodeScreen)


async def test_space_freezes_the_picture_and_counts_what_waits() -> None:
    told = list(faulty().events())
    async with looking(faulty(), until=1) as look:
        await look.press("space")
        look.player.feed(*told[1:200])
        await look.until(lambda: look.app.session.latest.generation >= 200)
        assert "FROZEN 0:0" in look.lines[0]
        assert "+199" in look.lines[0]
        assert "Nothing has run on this fabric yet." in look.lines[3]
        await look.press("space")
        assert "FROZEN" not in look.lines[0]
        assert "Nothing has run" not in look.lines[3]


async def test_q_asks_when_a_run_is_going() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        await look.press("q")
        assert isinstance(look.app.screen, ChoiceSheet)
        await look.press("s")
        assert not look.app.exit_control._is_leaving
        await look.press("q", "a")
        assert look.player.stopped == [False]
        await look.until(lambda: look.app.return_value == 0)


async def test_ctrl_c_twice_stops_everything_and_leaves() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        await look.press("ctrl+c")
        assert "again" in look.lines[-1]
        await look.press("ctrl+c")
        assert look.player.stopped == [True]
        await look.until(lambda: look.app.return_value == 130)
