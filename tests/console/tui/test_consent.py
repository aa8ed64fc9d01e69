"""The consents of the operator on the screen: to overwritten disks, to sudo's password, to an end that is owed."""

import asyncio

import pytest
from textual.message import Message

from benchconsole.console.tui.screens.disk import DiskFacts, DiskSheet, seen
from benchconsole.console.tui.screens.password import PasswordSheet
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.view.run_view import NodeView, RunView
from benchconsole.probes.blank_devices import Confirmation
from benchconsole.probes.model.measuring import Fact, Result, labels
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit
from tests.console.tui.looking import Look, faulty, looking

SECRET = "xkcd-936!"
DISKS = tuple(
    Confirmation(NodeId(node), serial, f"everything on the disk with serial number {serial} of node {node}")
    for node, serial in (("n001", "WD-1"), ("n002", "WD-2"))
)
SIZES = ((60, 15), (80, 24), (120, 40))


async def planning(look: Look) -> PlanSheet:
    """The plan sheet over a suite that would overwrite two disks."""
    look.player.disks = DISKS
    await look.press("R")
    sheet = look.app.screen
    assert isinstance(sheet, PlanSheet)
    await look.until(lambda: sheet.proposal is not None)
    await look.settle()
    return sheet


@pytest.mark.parametrize("size", SIZES)
async def test_a_disk_is_shown_with_what_is_lost_and_wants_its_serial_number_exactly(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        sheet = await planning(look)
        assert "confirm disks" in look.lines[-1] or size[0] < 80
        await look.press("c")
        assert isinstance(look.app.screen, DiskSheet)
        flat = " ".join(look.text.split())
        for words in ("n001", "WD-1", "everything on the disk with serial number WD-1", "not known: no inventory"):
            assert words in flat
        await look.press(*"wd-1", "enter")
        assert isinstance(look.app.screen, DiskSheet)
        assert "that is not it" in look.text
        await look.press("ctrl+u", "W", "D", "minus", "1", "enter")
        assert isinstance(look.app.screen, DiskSheet)
        assert "n002" in look.text
        await look.press("W", "D", "minus", "2", "enter")
        await look.until(lambda: look.app.screen is sheet and sheet.proposal is not None)
        assert look.player.typed[-1] == ("WD-1", "WD-2")
        assert "nobody confirmed it" not in look.text


async def test_who_leaves_starts_the_plan_without_the_disk_and_reads_why() -> None:
    async with looking(faulty()) as look:
        sheet = await planning(look)
        assert "fio-device is not run" in look.text
        await look.press("c", "escape", "escape")
        assert look.app.screen is sheet
        assert set(look.player.typed) == {()}
        await look.press("c", "W", "D", "minus", "1", "enter", "escape")
        await look.until(lambda: look.app.screen is sheet and sheet.proposal is not None)
        await look.settle()
        assert look.player.typed[-1] == ("WD-1",)
        assert "number WD-2" in look.text
        assert "number WD-1" not in look.text
        await look.press("enter")
        assert look.player.started


async def test_what_was_typed_counts_for_one_plan_only() -> None:
    async with looking(faulty()) as look:
        sheet = await planning(look)
        await look.press("c", "W", "D", "minus", "1", "enter", "escape")
        await look.until(lambda: look.app.screen is sheet and sheet.proposal is not None)
        await look.press("escape")
        await planning(look)
        assert look.player.typed[-1] == ()


async def test_without_disks_there_is_no_such_key() -> None:
    async with looking(faulty()) as look:
        await look.press("R", "c")
        assert isinstance(look.app.screen, PlanSheet)
        assert "confirm disks" not in look.text


def test_device_and_size_are_those_of_the_newest_inventory_that_shows_the_serial() -> None:
    story = faulty()
    node = NodeId("n001")
    facts = [
        Fact(name, value, unit, labels(disk=disk))
        for disk, size, serial in (("sda", 1e12, "WD-0"), ("sdb", 4e12, "WD-1"))
        for name, value, unit in (("disk.size", size, Unit.BYTE), ("disk.serial", serial, None))
    ]
    view = RunView(story.fabric)
    result = Result(story.rounds[0].tests[0], facts=tuple(facts))
    known = NodeView(story.fabric.nodes[node], results=(result,))
    view = replace(view, nodes={**view.nodes, node: known})
    assert seen(view, node, "WD-1") == DiskFacts("/dev/sdb", "4.00 TB")
    assert seen(view, node, "WD-9") == DiskFacts()
    assert seen(view, NodeId("nobody"), "WD-1") == DiskFacts()
    assert seen(None, node, "WD-1") == DiskFacts()


async def asked(look: Look) -> "asyncio.Future[str | None]":
    """The question of a run, when it stands on the screen."""
    assert look.player.ask is not None
    answer = asyncio.ensure_future(look.player.ask("[sudo] password of ops on the nodes (first wanted by n007): "))
    await look.until(lambda: isinstance(look.app.screen, PasswordSheet))
    await look.settle()
    return answer


@pytest.mark.fault("I08")
@pytest.mark.parametrize("size", SIZES)
async def test_a_password_goes_to_who_asked_and_is_never_seen(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with looking(faulty(), size) as look:
        answer = await asked(look)
        assert "password of ops on the nodes (first wanted by n007)" in look.text
        sheet = look.app.screen
        assert isinstance(sheet, PasswordSheet)
        heard: list[object] = []
        post = sheet.prompt.post_message

        def told(message: Message) -> bool:
            heard.append(message)
            return post(message)

        monkeypatch.setattr(sheet.prompt, "post_message", told)
        for key in SECRET:
            await look.pilot.press("exclamation_mark" if key == "!" else "minus" if key == "-" else key)
            await look.settle()
            assert SECRET[:4] not in look.text
        assert "*" * len(SECRET) in look.text
        await look.press("enter")
        assert await answer == SECRET
        assert heard
        assert not any(SECRET[:4] in repr(message) for message in heard)
        assert sheet.prompt.text == ""


@pytest.mark.parametrize("keys", [("escape",), ("enter",), (*"abc", "escape")])
async def test_no_password_is_an_answer(keys: tuple[str, ...]) -> None:
    async with looking(faulty()) as look:
        answer = await asked(look)
        await look.press(*keys)
        assert await answer is None
        assert not isinstance(look.app.screen, PasswordSheet)


async def test_a_question_that_nobody_waits_for_leaves_the_screen() -> None:
    async with looking(faulty()) as look:
        answer = await asked(look)
        answer.cancel()
        await look.until(lambda: not isinstance(look.app.screen, PasswordSheet))
        assert answer.cancelled()


async def test_a_question_that_comes_while_the_run_begins_is_not_lost_with_the_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with looking(faulty()) as look:
        questions: list[asyncio.Task[str | None]] = []

        async def start(_rounds: object) -> None:
            assert look.player.ask is not None
            questions.append(asyncio.create_task(look.player.ask("password of ops: ")))
            for _ in range(20):
                await asyncio.sleep(0)

        monkeypatch.setattr(look.player, "start", start)
        await look.press("R", "enter")
        await look.until(lambda: isinstance(look.app.screen, PasswordSheet))
        assert look.app.current_mode == "run"
        await look.press(*"abc", "enter")
        assert await questions[0] == "abc"


async def test_what_an_interrupted_session_owes_is_proposed_first_and_tab_gives_the_suites() -> None:
    async with looking(faulty()) as look:
        look.player.resumable = True
        look.player.owed = tuple(look.player.story.rounds[-1:])
        await look.press("R")
        await look.until(lambda: "what this session still owes: 1 round" in look.text)
        assert "tab a suite instead" in look.text
        await look.press("tab")
        assert [each[0] for each in look.player.proposed] == [None, "acceptance"]
        await look.press("tab", "tab", "enter")
        assert look.player.started == [look.player.owed]


async def test_a_session_whose_rounds_are_all_closed_is_ended_with_enter() -> None:
    async with looking(faulty()) as look:
        look.player.resumable = True
        await look.press("R")
        assert "interrupted after its last round" in look.text
        await look.press("enter")
        assert look.player.started == [()]
