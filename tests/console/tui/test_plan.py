"""The sheet of a plan: its keys while it is worked out, and on terminals where not all of it fits."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.view.session_control import PlanNotes, Proposal
from benchconsole.probes.model.errors import PlanError
from tests.console.tui.looking import faulty, looking


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
