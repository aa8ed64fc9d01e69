"""Command line, help, export: one table of actions feeds them all."""

from pathlib import Path

import pytest

from benchconsole.console.reports import ReportError
from benchconsole.console.tui.actions import ACTIONS, GLOBAL, NOUNS, USES, matching
from benchconsole.console.tui.fabric_map.map_cells import CellContent
from benchconsole.console.tui.screens.base.page import Page
from benchconsole.console.tui.screens.base.sheet import find_most_rows
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.screens.command import MOST, CommandSheet
from benchconsole.console.tui.screens.export import ExportSheet
from benchconsole.console.tui.screens.fabric import FabricScreen
from benchconsole.console.tui.screens.findings import FindingsScreen
from benchconsole.console.tui.screens.help import HelpSheet
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.tui.screens.nodes import NodesScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.screens.run import RunScreen
from tests.console.tui.looking import faulty, looking
from tests.console.tui.test_keys import press_at_once

SCREENS: tuple[type[Page], ...] = (FabricScreen, NodesScreen, NodeScreen, RunScreen, FindingsScreen, RawScreen)


def test_every_valid_action_is_in_the_table_bound_and_done_by_its_owner() -> None:
    for screen in SCREENS:
        bound = {binding.id: binding for binding in screen.BINDINGS}  # type: ignore[union-attr]
        for name in screen.VALID:
            method = ACTIONS[name].method.partition("(")[0]
            assert method == "app.do" or hasattr(screen, f"action_{method}"), (screen, name)
            assert name in bound
        shown = [each if isinstance(each, str) else each[0] for each in screen.KEYS]
        assert set(shown) <= {*screen.VALID, *GLOBAL}, screen


async def test_every_action_of_the_application_is_done_by_one_of_its_parts() -> None:
    async with looking(faulty()) as look:
        handed_on = {name for name, action in ACTIONS.items() if action.method == f"app.do('{name}')"}
        assert handed_on | set(GLOBAL) <= set(look.app._actions)


def test_no_key_means_two_things_on_one_screen() -> None:
    for screen in SCREENS:
        keys = [key for name in {*screen.VALID, *GLOBAL} for key in ACTIONS[name].keys.split(",") if key]
        assert len(keys) == len(set(keys)), screen


def test_help_finds_by_key_and_by_word() -> None:
    ids = tuple(ACTIONS)
    assert [each.id for each in matching(ids, "clipboard table")] == []
    assert "copy" in [each.id for each in matching(ids, "clipboard")]
    assert "freeze" in [each.id for each in matching(ids, "stop painting")]
    assert matching((), "copy") == []


async def test_help_searches_and_does_what_is_chosen() -> None:
    async with looking(faulty()) as look:
        await look.press("question_mark")
        assert isinstance(look.app.screen, HelpSheet)
        await look.press(*"state")
        assert "cells as states" in look.text
        await look.press("enter")
        await look.settle()
        assert look.app.navigation.fabric.map.content is CellContent.SHARES


async def test_commands_go_where_they_say() -> None:
    async with looking(faulty()) as look:
        await look.press("colon", *"nodes", "enter")
        await look.settle()
        assert look.app.screen is look.app.navigation.tabs.nodes
        await look.press("colon", *"filter", "space", *"leaf3", "enter")
        assert look.app.navigation.tabs.nodes.table.count == 16
        await look.press("colon", *"sort", "space", *"node", "enter")
        assert look.app.navigation.tabs.nodes.table.sorts[0] == ("node", False)
        await look.press("colon", *"node", "space", *"n093", "enter")
        assert isinstance(look.app.screen, NodeScreen)
        assert look.app.screen.node == "n093"


async def test_commands_complete_with_tab_and_remember() -> None:
    async with looking(faulty()) as look:
        await look.press("colon", *"the", "tab")
        sheet = look.app.screen
        assert isinstance(sheet, CommandSheet)
        assert sheet.prompt.text == "theme "
        assert "bench-tritan" in look.text
        await look.press(*"bench-d", "down", "tab", "enter")
        assert look.app.painter.palette.theme == "bench-deutan"
        await look.press("colon", "up")
        assert isinstance(look.app.screen, CommandSheet)
        assert look.app.screen.prompt.text == "theme bench-deutan"
        await look.press("escape")


async def test_what_is_no_command_is_said() -> None:
    async with looking(faulty()) as look:
        for text, said in (
            ("zzz", "no command zzz here"),
            ("theme none", "no theme none"),
            ("export doc", "no format doc"),
            ("node nobody", "no node nobody"),
            ("fabric now", "takes nothing"),
        ):
            look.app.command_line.perform(text)
            await look.settle()
            assert said in look.lines[-1], text


async def test_export_asks_for_format_and_path() -> None:
    async with looking(faulty()) as look:
        await look.press("e")
        assert isinstance(look.app.screen, ExportSheet)
        assert look.app.screen.prompt.text == "acceptance-12.html"
        await look.press("down", "down")
        assert look.app.screen.prompt.text == "acceptance-12.csv"
        await look.press("enter")
        await look.until(lambda: "written: acceptance-12.csv" in look.lines[-1])
        assert [(kind, str(path)) for kind, path in look.player.exported] == [("csv", "acceptance-12.csv")]
        look.app.command_line.perform("export json out.json")
        await look.until(lambda: len(look.player.exported) == 2)
        assert str(look.player.exported[-1][1]) == "out.json"


@pytest.mark.parametrize(
    ("keys", "replaced", "words"),
    [
        (("enter",), False, "is left as it is."),
        (("escape",), False, "is left as it is."),
        (("k",), False, "is left as it is."),
        (("r",), True, "written: "),
    ],
)
async def test_a_report_that_is_there_is_replaced_only_when_asked(
    keys: tuple[str, ...], replaced: bool, words: str, tmp_path: Path
) -> None:
    there = tmp_path / "r.md"
    there.write_text("of yesterday", encoding="utf-8")
    async with looking(faulty(), (200, 40)) as look:
        look.app.command_line.perform(f"export md {there}")
        await look.until(lambda: isinstance(look.app.screen, ChoiceSheet))
        await look.until(lambda: f"{there} is there already." in look.text)
        assert look.player.exported == []
        await look.press(*keys)
        await look.until(lambda: words in look.lines[-1])
        assert look.player.replaced == ([there] if replaced else [])
        assert len(look.player.exported) == replaced


async def test_the_sheet_of_exports_asks_before_it_replaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "acceptance-12.html"
    there.write_text("of yesterday", encoding="utf-8")
    async with looking(faulty()) as look:
        await look.press("e", "enter")
        await look.until(lambda: isinstance(look.app.screen, ChoiceSheet))
        await look.press("r")
        await look.until(lambda: "written: acceptance-12.html" in look.lines[-1])
        assert look.app.screen is look.app.navigation.fabric


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (PermissionError(13, "Permission denied"), "not written, Permission denied: x.md"),
        (ReportError("x.md", "it is there already", "Choose another name"), "x.md: it is there already. Choose an"),
    ],
)
async def test_an_export_that_fails_says_why(trouble: Exception, words: str) -> None:
    async with looking(faulty()) as look:

        async def refuse(kind: str, view: object, path: object, *, force: bool) -> None:
            raise trouble

        look.player.export = refuse  # type: ignore[method-assign, assignment]
        look.app.command_line.perform("export md x.md")
        await look.until(lambda: words in look.lines[-1])


async def test_what_ends_the_session_is_shown_and_raised() -> None:
    class Broken(Exception):
        pass

    async with looking(faulty()) as look:

        def broken() -> None:
            raise Broken("the disk is full")

        look.app.following.follow(look.app.session.front, broken, look.app.navigation.say)  # type: ignore[arg-type]
        await look.settle()
        assert "The session ended: Broken: the disk is full" in look.lines[-1]
        assert isinstance(look.app.failure, Broken)


async def test_a_tab_is_found_again_as_it_was_left() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "enter")
        assert isinstance(look.app.screen, NodeScreen)
        await look.press("4")
        assert look.app.current_mode == "findings"
        await look.press("2")
        assert isinstance(look.app.screen, NodeScreen)
        await look.press("2")
        assert look.app.current_mode == "nodes"
        assert len(look.app.screen_stack) == 1


@pytest.mark.parametrize(
    ("name", "said"), [("x" * 300, "File name too long"), ("~nobody-of-that-name/r.md", ""), ("a/" * 3000, "too long")]
)
async def test_a_name_that_no_file_can_have_is_told_and_ends_nothing(name: str, said: str) -> None:
    async with looking(faulty()) as look:
        look.app.command_line.perform(f"export md {name}")
        await look.settle()
        assert said in look.lines[-1]
        assert [str(path) for _, path in look.player.exported] == ([] if said else [name])
        assert look.app._exception is None


async def test_a_command_typed_in_one_read_is_a_command_and_none_of_its_letters_an_action() -> None:
    async with looking(faulty()) as look:
        press_at_once(look.app, "colon", *"theme night", "enter")
        await look.settle()
        assert look.app.screen is look.app.navigation.fabric
        assert "no theme night" in look.lines[-1]


async def test_a_filter_typed_in_one_read_holds_every_letter() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        press_at_once(look.app, "slash", *"RunSe:4", "enter")
        await look.settle()
        assert look.app.screen is look.app.navigation.tabs.nodes
        assert look.app.navigation.tabs.nodes.prompt.text == "RunSe:4"


def test_help_finds_a_key_exactly_and_first() -> None:
    ids = tuple(ACTIONS)
    assert matching(ids, "G")[0].id == "last"
    assert matching(ids, "g")[0].id == "first"
    assert matching(ids, "/")[0].id == "filter"
    assert matching(ids, "esc")[0].id == "back"
    assert matching(ids, "k")[0].id == "up"
    assert {each.id for each in matching(ids, "w")[:3]} == {"swap", "write_file", "sweeps"}


def test_every_action_is_for_one_thing_and_help_is_in_their_order() -> None:
    named = [name for names in USES.values() for name in names]
    assert sorted(named) == sorted(ACTIONS)
    assert [each.id for each in matching(tuple(ACTIONS), "")] == named
    assert list(USES) == ["move", "open", "filter", "act", "session", "global", "start"]


async def test_help_is_grouped_and_says_how_much_is_out_of_sight() -> None:
    async with looking(faulty(), (80, 24)) as look:
        await look.press("2", "question_mark")
        sheet = look.app.screen
        assert isinstance(sheet, HelpSheet)
        page, total = sheet.options.page, sheet.options.count
        assert total == len(sheet.valid)
        assert f"{total} of {total}   {total - page} more below" in look.text
        heads = [line.strip(" ▌").split(" ")[0] for line in look.lines]
        groups = [head for head in heads if head in USES]
        assert groups[:2] == ["move", "open"]
        for _ in range(total):
            await look.pilot.press("down")
        await look.settle()
        assert f"{total - page} more above" in look.text
        assert "below" not in look.text.split("more above")[0].splitlines()[-1]
        await look.press(*"clipboard")
        assert f"1 of {total}" in look.text
        assert "more" not in next(line for line in look.lines if line.lstrip().startswith("?"))


async def test_commands_offer_nouns_first_with_their_keys() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "colon")
        sheet = look.app.screen
        assert isinstance(sheet, CommandSheet)
        words = [option.word.split()[0] for option in sheet.options.items]
        assert words[:4] == ["fabric", "nodes", "run", "findings"]
        assert "sort" not in words[: len(NOUNS) - 2]
        assert sheet.options.items[1].key == "2"
        prompt = look.lines.index(next(line for line in look.lines if line.lstrip().startswith(":")))
        assert f"{len(words) - MOST:,} more below" in look.lines[prompt]
        await look.press(*["down"] * (len(words) - 1))
        assert look.lines[prompt].split() == [":", f"{len(words) - MOST}", "more", "above"]
        await look.press(*"fi")
        assert [option.word.split()[0] for option in sheet.options.items][:3] == ["findings", "filters", "filter"]
        await look.press(*"ndi")
        assert "more" not in look.lines[prompt]


@pytest.mark.parametrize(
    ("height", "most"), [(3, 1), (10, 7), (24, 21), (27, 24), (37, 24), (39, 26), (60, 40), (120, 80)]
)
def test_lists_of_sheets_grow_with_the_screen(height: int, most: int) -> None:
    assert find_most_rows(height) == most


async def test_the_help_of_a_high_screen_has_more_rows() -> None:
    async with looking(faulty(), (200, 60)) as look:
        await look.press("question_mark")
        sheet = look.app.screen
        assert isinstance(sheet, HelpSheet)
        assert sheet.options.size.height == 40
