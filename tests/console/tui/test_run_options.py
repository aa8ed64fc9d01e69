"""The options of a plan on the screen: a form, what was chosen in the head of the plan, and the command line."""

import pytest

from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.tui.screens.run_options import RunOptionsSheet
from tests.console.tui.looking import Look, faulty, looking

SIZES = ((60, 15), (80, 24), (120, 40))


async def ask(look: Look, *keys: str) -> RunOptionsSheet:
    """The form over the plan."""
    await look.press(*keys, "R")
    await look.until(lambda: isinstance(look.app.screen, PlanSheet) and look.app.screen.proposal is not None)
    await look.press("o")
    sheet = look.app.screen
    assert isinstance(sheet, RunOptionsSheet)
    return sheet


@pytest.mark.parametrize("size", SIZES)
async def test_options_are_typed_and_the_plan_says_them_before_anything_is_sent(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        await ask(look)
        assert "only these" in look.text
        await look.press("@", "tab", "down", *"trunks", "tab", "down", *"after", "enter")
        await look.until(lambda: isinstance(look.app.screen, PlanSheet) and look.app.screen.proposal is not None)
        await look.settle()
        assert look.player.planning.asked[-1] == ({"nodes": "@all", "only": "iperf3 trunks", "label": "after"}, "")
        assert "chosen" in look.text
        assert "nodes @all, only iperf3 trunks, label after" in look.text
        assert look.player.started == []
        await look.press("enter")
        assert len(look.player.started) == 1


async def test_what_is_wrong_is_said_and_the_form_stays() -> None:
    async with looking(faulty()) as look:
        sheet = await ask(look)
        await look.press("up", *"wrong", "enter")
        assert look.app.screen is sheet
        assert "--label: no" in look.text
        await look.press("escape")
        assert look.player.planning.asked == [(None, "")]


async def test_marked_nodes_are_in_the_form_and_what_is_typed_there_counts() -> None:
    async with looking(faulty()) as look:
        sheet = await ask(look, "2", "space", "space")
        marked = sheet.form.typed["nodes"]
        assert len(marked.split(",")) == 2
        await look.press("enter")
        await look.until(lambda: isinstance(look.app.screen, PlanSheet) and look.app.screen.proposal is not None)
        assert look.player.on == [tuple(sorted(marked.split(","))), None]
        await look.press("o")
        again = look.app.screen
        assert isinstance(again, RunOptionsSheet)
        assert again.form.typed["nodes"] == marked


async def test_a_second_name_is_completed_behind_the_comma() -> None:
    async with looking(faulty()) as look:
        sheet = await ask(look)
        await look.press("down", *"iperf3 trunks,nei", "tab")
        assert sheet.form.typed["only"] == "iperf3 trunks, iperf3 neighbours"


async def test_the_command_line_is_shown_and_copied() -> None:
    async with looking(faulty()) as look:
        await look.press("R")
        await look.until(lambda: isinstance(look.app.screen, PlanSheet) and look.app.screen.proposal is not None)
        await look.settle()
        assert "command    benchconsole run toy.yaml --suite acceptance" in look.text
        await look.press("y")
        assert look.app.clipboard == "benchconsole run toy.yaml --suite acceptance\n"
        assert "y copied" in look.lines[-1]


@pytest.mark.parametrize("size", SIZES)
async def test_the_plan_says_whether_it_fits_in_its_time(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        look.player.limits = ("round 5, leave, is the last that fits in 2:00:00; 2 rounds left for another run",)
        await look.press("R")
        await look.until(lambda: isinstance(look.app.screen, PlanSheet) and look.app.screen.proposal is not None)
        await look.settle()
        assert "time limit" in look.text
        assert "is the last that fits in 2:00:00" in " ".join(look.text.split())


async def test_one_test_is_typed_on_the_page_of_a_node_and_planned_alone() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "enter", ":")
        node = getattr(look.app.navigation.frame, "subject", "")
        await look.press(*"test ")
        assert f"test iperf3 {node}" in look.text
        await look.press("tab", *" n002 seconds=3", "enter")
        assert isinstance(look.app.screen, PlanSheet)
        assert look.player.planning.asked == [(None, f"iperf3 {node} n002 seconds=3")]
        assert look.player.proposed == [(None, False, ())]


async def test_a_test_without_words_says_what_it_takes_and_every_page_plans_one() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "enter", ":", *"test", "enter")
        assert "test takes PROBE NODE" in look.lines[-1]
        assert look.player.planning.asked == []
        await look.press("1", ":", *"test iperf3 n001 n002", "enter")
        await look.until(lambda: isinstance(look.app.screen, PlanSheet))
        assert len(look.player.planning.asked) == 1
