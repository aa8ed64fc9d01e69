"""The sheet of a plan: its keys while it is worked out, and on terminals where not all of it fits."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchconsole.console.cli.common import load_installed_probes
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.session import Session
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.screens.base.sheet import SheetKeys
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.tui.widgets.field_notes import FieldNotes
from benchconsole.console.view.session_control import PlanNotes, Proposal, RunForm
from benchconsole.probes.blank_devices import Confirmation
from benchconsole.probes.model.errors import PlanError
from benchconsole.store.store import Store
from tests.console.tui.looking import PLAIN, Look, faulty, looking
from tests.console.tui.playing import Player
from tests.console.tui.test_consent import DISKS
from tests.fabrics import SMALL, fabric
from tests.probes.played import PlayedReach


async def test_enter_waits_while_the_plan_is_worked_out() -> None:
    async with looking(faulty()) as look:
        planned, propose = asyncio.Event(), look.player.propose

        async def plan(*args: Any, **options: Any) -> Proposal:
            await planned.wait()
            return await propose(*args, **options)

        look.player.propose = plan  # type: ignore[method-assign]
        await look.press("R", "enter")
        sheet = look.app.screen
        assert isinstance(sheet, PlanSheet)
        assert "the plan is being worked out" in look.text
        assert "start" not in look.lines[-1]
        assert look.player.started == []
        planned.set()
        await look.until(lambda: sheet.proposal is not None)
        await look.settle()
        assert look.lines[-1].split()[:2] == ["enter", "start"]
        await look.press("enter")
        assert len(look.player.started) == 1


def refuse() -> Proposal:
    raise PlanError("no node can be asked")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (refuse, "no node can be asked"),
        (lambda: Proposal(()), "There is nothing to run."),
        (lambda: Proposal((), PlanNotes(held_back=("fio: no disk",))), "There is nothing to run."),
    ],
)
async def test_enter_does_nothing_where_nothing_can_be_started(make: Callable[[], Proposal], words: str) -> None:
    async with looking(faulty()) as look:

        async def plan(*_: Any, **__: Any) -> Proposal:
            return make()

        look.player.propose = plan  # type: ignore[method-assign]
        await look.press("R", "enter")
        assert isinstance(look.app.screen, PlanSheet)
        assert words in look.text
        assert "enter" not in look.lines[-1]
        await look.press("escape")
        assert not isinstance(look.app.screen, PlanSheet)
        assert look.player.started == []


def lines_hidden(sheet: PlanSheet) -> int:
    return sheet.plan.count - sheet.plan.size.height


@pytest.mark.parametrize("disks", [(), DISKS])
@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
async def test_the_last_row_of_a_plan_says_how_to_leave_and_how_many_lines_are_out_of_sight(
    size: tuple[int, int], disks: tuple[Confirmation, ...]
) -> None:
    async with looking(faulty(), size) as look:
        look.player.disks = disks
        await look.press("R")
        sheet = look.app.screen
        assert isinstance(sheet, PlanSheet)
        await look.until(lambda: sheet.proposal is not None)
        await look.settle()
        keys = look.lines[-1]
        assert "enter start" in keys
        assert "esc send nothing" in keys
        assert "…" not in keys
        assert size[0] < 80 or "tab next suite" in keys
        hidden = lines_hidden(sheet)
        assert (f"up down {hidden} more" in keys) is (hidden > 0)
        assert ("up down" in keys) is (hidden > 0)
        await look.press(*["down"] * hidden)
        assert "Nothing is sent to any node before you press enter." in look.text
        await look.press("y")
        assert "y copied" in look.lines[-1]
        assert "esc send nothing" in look.lines[-1]


async def test_where_the_whole_plan_is_in_sight_again_no_line_is_counted() -> None:
    async with looking(faulty(), (120, 18)) as look:
        await look.press("R")
        sheet = look.app.screen
        assert isinstance(sheet, PlanSheet)
        await look.until(lambda: sheet.proposal is not None)
        await look.settle()
        assert f"up down {lines_hidden(sheet)} more" in look.lines[-1]
        await look.pilot.resize_terminal(120, 50)
        await look.settle()
        assert "up down" not in look.lines[-1]
        assert "y copy command" in look.lines[-1]


PAIRS = (("enter", "start"), ("tab", "next"), ("esc", "leave"), ("y", "copy"))


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (38, "enter start  tab next  esc leave"),
        (41, "enter start  tab next  esc leave  y copy"),
        (32, "enter start  esc leave  y copy"),
        (25, "enter start  esc leave"),
        (23, "enter start  esc leave"),
    ],
)
def test_keys_of_a_sheet_without_room_are_left_out_whole(width: int, shown: str) -> None:
    (row,) = SheetKeys(PAIRS).draw(width, 1)
    assert plain_text(row).strip() == shown


@pytest.mark.parametrize(
    ("candidates", "height", "rows"),
    [
        ((), 5, ["a meaning that has", "more words than one", "row has room for"]),
        ((), 2, ["a meaning that has", "more words than on…"]),
        (
            (("one", ""), ("two", "")),
            5,
            ["a meaning that has", "more words than one", "row has room for", "tab one", "two"],
        ),
        ((("one", ""), ("two", "")), 3, ["a meaning that has", "more words than on…", "tab one"]),
        ((("one", ""),), 1, ["a meaning that has…"]),
    ],
)
def test_the_meaning_of_a_field_has_the_rows_that_stay_free(
    candidates: Sequence[tuple[str, str]], height: int, rows: list[str]
) -> None:
    notes = FieldNotes("")
    notes.show("a meaning that has more words than one row has room for", candidates)
    assert [plain_text(row).strip() for row in notes.draw(22, height)] == rows


STEERED = SMALL.replace("mtu: 1500}", "mtu: 1500, hash: steered}").replace(
    "  default:\n", "  own:\n    - {probe: inventory}\n  default:\n"
)


async def test_tab_takes_suites_of_the_file_then_ours_and_comes_to_lag(tmp_path: Path) -> None:
    with Store.open(tmp_path / "sessions.db") as store:
        session = Session(
            fabric(tmp_path, STEERED), load_installed_probes(), store, make_reach=lambda *_: PlayedReach()
        )
        control = SessionController(session, LoopThread())
        app = ConsoleApp(lambda: control, PLAIN, analyse=lambda _: ())
        async with app.run_test(size=(120, 40)) as pilot:
            look = Look(app, pilot, Player(faulty()))
            await look.until(lambda: app.session.latest.has_begun)
            await look.press("R")
            sheet = app.screen
            assert isinstance(sheet, PlanSheet)
            for suite in ("default", "own", "quick", "network", "lag"):
                await look.until(lambda: sheet.proposal is not None)
                await look.settle()
                assert sheet.suite == suite
                assert any(line.startswith(f" {suite}: ") and "tab one of 8 suites" in line for line in look.lines)
                await look.press(*["tab"] * (suite != "lag"))
            assert "iperf3 steered" in look.text
            await look.press("escape", "colon", *"plan lag", "enter")
            await look.until(lambda: "lag: " in look.text and "tab one of 8 suites" in look.text)
        await control.close()


async def test_a_plan_whose_place_a_mistake_has_taken_is_not_started() -> None:
    def refuse(*_: object) -> RunForm:
        raise PlanError("no suite of this name")

    async with looking(faulty()) as look:
        await look.press("R")
        sheet = look.app.screen
        assert isinstance(sheet, PlanSheet)
        await look.until(lambda: sheet.proposal is not None)
        sheet.make_form = refuse
        await look.press("o")
        assert "no suite of this name" in look.text
        assert "enter start" not in look.lines[-1]
        await look.press("enter")
        assert look.app.screen is sheet
        assert look.player.started == []
