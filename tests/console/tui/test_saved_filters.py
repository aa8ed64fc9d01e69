"""Saved filters on the screen: kept by name, used after ``@``, completed with tab, listed and removed."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command
from benchconsole.console.cli.shown_area import AREAS as SHOWN
from benchconsole.console.session.saved_filters import AREAS, SavedFilters
from benchconsole.console.tui.app.keymap import list_pages
from benchconsole.console.tui.queries.filtering import FilterError, ReadRows, compile_filter, compile_words
from benchconsole.console.tui.screens.area import AreaScreen
from benchconsole.console.tui.screens.base.page import Page
from benchconsole.console.tui.screens.filters import FiltersScreen
from benchconsole.console.tui.screens.findings import FindingsScreen
from benchconsole.console.tui.screens.nodes import NodesScreen
from benchconsole.console.tui.screens.raw import RawScreen
from tests.console.tui.looking import Look, faulty, looking
from tests.console.tui.queries.test_node_sets import NODES, Row

ROWS = [Row({"node": f"n{number}", "why": "slow" if number % 2 else "fine"}) for number in range(1, 7)]


def find(known: dict[str, str]) -> object:
    def look_up(name: str) -> str:
        if name not in known:
            raise LookupError(f"no {name}")
        return known[name]

    return look_up


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("@odd", "n1 n3 n5"),
        ("!@odd", "n2 n4 n6"),
        ("@odd n[1-4]", "n1 n3"),
        ("@first & !n2", "n1 n3"),
        ("!@first", "n4 n5 n6"),
        ("@both", "n1 n3"),
        ("!@both", "n2 n4 n5 n6"),
        ("!@both & why=slow", "n5"),
    ],
)
def test_a_saved_filter_is_a_part_of_a_filter(text: str, kept: str) -> None:
    known = {"odd": "why=slow", "first": "n[1-3]", "both": "@odd & node=n[1-3]"}
    chosen = compile_filter(text, NODES, find(known))  # type: ignore[arg-type]
    assert " ".join(row.words("node") for row in chosen.select(ReadRows(ROWS))) == kept


@pytest.mark.parametrize(
    ("text", "word", "said"),
    [
        ("@away", "@away", "no away"),
        ("@", "@", "the name of a saved filter"),
        ("x & !@loop", "!@loop", "in @loop: @loop: @loop contains itself: @loop"),
        ("@ping", "@ping", "in @ping: @pong: in @pong: @ping: @ping contains itself: @pong in @ping"),
        ("@bad", "@bad", "in @bad: nope: no such column"),
        ("@nasty", "@nasty", "in @nasty: ␛[31m"),
    ],
)
def test_what_is_wrong_with_one_is_told_at_its_name(text: str, word: str, said: str) -> None:
    known = {"loop": "n1 @loop", "ping": "@pong", "pong": "@ping", "bad": "nope=1", "nasty": "node=~\x1b & \x1b[31m<5"}
    known["nasty"] = "~\x1b[31m["
    with pytest.raises(FilterError) as caught:
        compile_filter(text, NODES, find(known))  # type: ignore[arg-type]
    assert caught.value.word == word
    if text != "@nasty":
        assert said in caught.value.expected
    assert "\x1b" not in caught.value.expected


def test_lines_take_saved_filters_and_brackets_are_text_there() -> None:
    chosen = compile_words("@x [0", find({"x": "n[1-"}))  # type: ignore[arg-type]
    rows = [Row({"line": "n[1- [0]"}), Row({"line": "n1 [0]"})]
    assert chosen.select(ReadRows(rows)) == rows[:1]


def test_every_page_with_a_filter_keeps_them_for_an_area_of_its_own() -> None:
    list_pages()
    waiting, areas = [Page], {}
    while waiting:
        page = waiting.pop()
        waiting += page.__subclasses__()
        if "filter" in page.VALID and not page.__subclasses__():
            areas[page.__name__] = page.filter_area
    assert areas.pop("CriteriaScreen") == ""  # by its name, as all of AreaScreen
    listed_elsewhere = ("RunScreen", "NodeScreen", "PairMapScreen", "ChangeMapScreen")
    assert {areas.pop(name) for name in listed_elsewhere} == {""}  # there / opens a list
    assert areas.pop("FabricScreen") == areas.pop("ZoomScreen") == areas["NodesScreen"]  # they draw nodes
    assert set(areas.values()) <= set(AREAS)
    assert len(set(areas.values())) == len(areas)


def kept() -> SavedFilters:
    return SavedFilters()


def front(look: Look) -> NodesScreen:
    page = look.app.screen
    assert isinstance(page, NodesScreen)
    return page


async def command_line(look: Look, text: str) -> None:
    look.app.command_line.perform(text)
    await look.settle()


async def test_a_filter_is_kept_used_and_completed() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "slash", *"leaf3", "enter")
        await command_line(look, "save-filter rack3")
        await look.until(lambda: "@rack3 is kept for nodes: leaf3" in look.lines[-1])
        await look.press("escape", "slash", *"@ra", "tab")
        page = front(look)
        assert page.prompt.text == "@rack3 "
        assert page.table.count == 16
        assert "16 of 134 shown" in look.text
        await look.press(*"& node=n[047-050]", "enter")
        assert page.table.count == 2
        await command_line(look, "save-filter rack3")
        await look.until(lambda: "@rack3 would contain itself" in look.lines[-1])
        await command_line(look, "filter leaf4")
        await command_line(look, "save-filter @rack3")
        await look.until(lambda: "@rack3 is kept for nodes: leaf4, in place of leaf3" in look.lines[-1])
        assert kept().read() == {"nodes": {"rack3": "leaf4"}}


async def test_several_that_fit_are_named() -> None:
    for name in ("rack3", "rack4", "slow"):
        kept().save("nodes", name, "leaf3")
    async with looking(faulty()) as look:
        await look.press("2", "slash", *"leaf @r", "tab")
        assert front(look).prompt.text == "leaf @rack"
        assert "tab: @rack3  @rack4" in look.text
        await look.press("4", "tab")
        assert front(look).prompt.text == "leaf @rack4 "
        await look.press(*"@zz", "tab")
        assert "no saved filter here begins so" in look.text


async def test_one_of_another_area_is_not_known_here() -> None:
    kept().save("findings", "mine", "level=fail")
    async with looking(faulty()) as look:
        await look.press("2", "slash", *"@mine")
        assert "no filter of nodes is saved" in look.text
        assert front(look).table.count == 134
        await look.press("escape", "4", "slash", *"@m", "tab")
        page = look.app.screen
        assert isinstance(page, FindingsScreen)
        assert page.prompt.text == "@mine "
        assert page.filter.text == "@mine"


async def test_raw_output_has_its_own() -> None:
    kept().save("raw", "none", "zzzz")
    async with looking(faulty()) as look:
        look.app.push_screen(RawScreen(faulty().rounds[0].tests[0].id, None))
        await look.settle()
        await look.press("slash", *"@n", "tab")
        page = look.app.screen
        assert isinstance(page, RawScreen)
        assert page.prompt.text == "@none "
        assert page.raw.count == 0


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "There is no filter to keep"),
        ("nope=1", "not understood, and is not kept"),
    ],
)
async def test_what_cannot_be_kept_is_said(typed: str, said: str) -> None:
    async with looking(faulty()) as look:
        await look.press("2", "slash", *typed, "enter")
        await command_line(look, "save-filter x")
        assert said in look.lines[-1]
        await command_line(look, "save-filter")
        assert "save-filter takes a name" in look.lines[-1]
        await look.press("escape", "3")
        await command_line(look, "save-filter x")
        assert "This page has no filter" in look.lines[-1]
        await look.press("2", "slash", *"leaf3", "enter")
        await command_line(look, "save-filter a b")
        await look.until(lambda: "'a b' is no name of a filter" in look.lines[-1])
        assert kept().read() == {}


def break_file() -> Path:
    path = kept().path
    path.parent.mkdir(parents=True)
    path.write_text("nodes: [\n")
    path.chmod(0o600)
    return path


async def test_a_broken_file_is_told_and_the_console_goes_on() -> None:
    path = break_file()
    async with looking(faulty()) as look:
        await look.press("2", "slash", *"leaf3 @x")
        assert "saved filters are not used: " in look.text
        assert front(look).table.count == 16
        await look.press("escape", "slash", *"leaf3", "enter")
        await command_line(look, "save-filter x")
        await look.until(lambda: "Nothing was written: " in look.lines[-1])
        await command_line(look, "filters")
        assert isinstance(look.app.screen, FiltersScreen)
        assert "Saved filters are not used: " in look.text
        await look.press("x")
        assert path.read_text() == "nodes: [\n"


async def test_they_are_listed_used_and_removed() -> None:
    for area, name, text in (
        ("nodes", "rack3", "leaf3"), ("pairs", "low", "share<50"), ("facts", "mem", "memory"),
    ):  # fmt: skip
        kept().save(area, name, text)
    async with looking(faulty()) as look:
        await command_line(look, "filters")
        page = look.app.screen
        assert isinstance(page, FiltersScreen)
        assert [row.text for row in page.table.items][:2] == [
            {"name": "@rack3", "area": "nodes", "text": "leaf3"}, {"name": "@low", "area": "pairs", "text": "share<50"},
        ]  # fmt: skip
        await look.press("down", "down", "enter")
        assert "/ takes @mem on facts" in look.lines[-1]
        await look.press("x")
        await look.until(lambda: "@mem of facts is removed; it was memory" in look.lines[-1])
        assert page.table.count == 2
        assert kept().read() == {"nodes": {"rack3": "leaf3"}, "pairs": {"low": "share<50"}}
        await look.press("g", "enter")
        fabric = look.app.navigation.fabric
        await look.until(lambda: fabric.matching.line.text == "@rack3")
        assert len(fabric.map.matched or ()) == 16
        await look.press("2")
        await command_line(look, "filters")
        await look.press("g", "enter")
        await look.until(lambda: front(look).prompt.text == "@rack3")
        assert front(look).table.count == 16
        await command_line(look, "filters")
        await look.press("down", "enter")
        await look.settle()
        opened = look.app.screen
        assert isinstance(opened, AreaScreen)
        await look.until(lambda: opened.table.area is not None)
        assert (opened.name_of_area, opened.prompt.text, opened.filtered.filter.text) == ("pairs", "@low", "@low")


async def test_enter_goes_back_to_the_page_that_the_filter_is_of() -> None:
    kept().save("results", "low", "share<50")
    async with looking(faulty()) as look:
        await command_line(look, "results")
        page = look.app.screen
        assert isinstance(page, AreaScreen)
        await look.until(lambda: page.table.area is not None)
        await command_line(look, "filters")
        await look.press("enter")
        assert isinstance(look.app.screen, AreaScreen)
        assert page.filtered.filter.text == "@low"


async def test_a_console_that_only_looks_keeps_and_removes_none() -> None:
    kept().save("nodes", "rack3", "leaf3")
    async with looking(faulty()) as look:
        look.app.session.looks_only = "It only looks."
        await look.settle()
        await look.press("2", "slash", *"@rack3", "enter")
        assert front(look).table.count == 16
        await command_line(look, "save-filter x")
        assert "no command save-filter here" in look.lines[-1]
        look.app.filter_orders.save("x")
        await look.settle()
        assert "It only looks." in look.lines[-1]
        await command_line(look, "filters")
        await look.press("x")
        await look.settle()
        assert "It only looks." in look.lines[-1]
        assert kept().read() == {"nodes": {"rack3": "leaf3"}}


def test_the_command_line_has_them_too() -> None:
    kept().save("nodes", "rack3", "leaf3")
    done = CliRunner().invoke(command, ["show", "--area", "filters"])
    assert done.exit_code == 0
    assert "@rack3" in done.output
    assert "leaf3" in done.output
    done = CliRunner().invoke(command, ["show", "--area", "filters", "--filter", "~^zzz", "--json"])
    assert done.output.strip() == "[]"


async def test_tests_of_a_finding_have_no_filter_of_their_own_and_that_is_said() -> None:
    async with looking(faulty()) as look:
        await look.press("4", "tab", "slash")
        page = look.app.screen
        assert isinstance(page, FindingsScreen)
        assert page.tests.display
        assert "findings, not the tests of one: text" in look.text
        await look.press("escape", "tab", "slash")
        assert "not the tests" not in look.text


@pytest.mark.parametrize("area", SHOWN)
def test_every_area_that_is_printed_has_filters_or_says_that_it_keeps_none(area: str) -> None:
    with pytest.raises(LookupError) as caught:
        kept().find(area, "slow")
    keeps = f"no filter of {area} is saved"
    assert str(caught.value).startswith(keeps if area in AREAS else f"no filter is kept for {area}: ")
