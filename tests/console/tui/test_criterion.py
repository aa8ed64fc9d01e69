"""A criterion on the screen: asked for in a form, shown as a diff, written after consent, judged with; a real database."""

from pathlib import Path

import pytest

from benchconsole.console.tui.actions import ACTIONS
from benchconsole.console.tui.app.console_app import LOOKS_ONLY
from benchconsole.console.tui.screens.criteria import CriteriaScreen
from benchconsole.console.tui.screens.criterion import FIELDS, CriterionSheet, DiffSheet
from tests.console.tui.looking import Look, looking
from tests.console.tui.test_area import judged
from tests.console.tui.test_hostile import NASTY
from tests.console.tui.test_keys import press_at_once
from tests.console.tui.test_sessions import opened
from tests.scenarios.test_judging_trials import WEAK, Site, stream

SIZES = [(60, 15), (80, 24), (120, 40), (200, 60)]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """50 GB/s measured on one node, of which 40 are asked."""
    site = Site(tmp_path, [WEAK])
    site.ingest("stream", stream(50.0), "--node", "n1")
    return site


async def page(look: Look) -> CriteriaScreen:
    await look.press("colon", *"criteria", "enter")
    screen = look.app.screen
    assert isinstance(screen, CriteriaScreen)
    await look.until(lambda: screen.table.area is not None)
    return screen


async def form(look: Look, key: str = "a") -> CriterionSheet:
    await look.press(key)
    await look.until(lambda: isinstance(look.app.screen, CriterionSheet))
    sheet = look.app.screen
    assert isinstance(sheet, CriterionSheet)
    await look.settle()
    return sheet


async def diff(look: Look) -> DiffSheet:
    """Enter on a form that is right."""
    await look.press("enter")
    await look.until(lambda: isinstance(look.app.screen, DiffSheet))
    sheet = look.app.screen
    assert isinstance(sheet, DiffSheet)
    await look.settle()
    return sheet


ADD = (*"triad", "tab", "down", *"65 GB/s", "down", "down", *"4.1.2")


@pytest.mark.parametrize("size", SIZES)
async def test_a_criterion_is_added_and_the_new_verdict_is_on_the_screen(site: Site, size: tuple[int, int]) -> None:
    before = site.topology.read_text()
    async with opened(site, size) as look:
        screen = await page(look)
        sheet = await form(look)
        await look.press(*ADD)
        assert sheet.form.typed["metric"] == "stream.triad"
        shown = await diff(look)
        assert any("at_least: 65 GB/s" in line for line in shown.diff.proposal.diff)
        assert site.topology.read_text() == before
        await look.press("w")
        await look.until(lambda: screen.table.count == 2)
        assert [row.words("state") for row in screen.table.items] == ["fail", "pass"]
        assert "written: " in look.lines[-1]
        assert "is written" not in look.text
        await look.press("2")
        assert "fail" in look.text
    assert site.topology.read_text() != before


async def test_the_criterion_under_the_cursor_is_changed(site: Site) -> None:
    async with opened(site) as look:
        screen = await page(look)
        sheet = await form(look, "C")
        assert sheet.form.typed["metric"] == "stream.triad"
        assert sheet.form.typed["source"] == "4.1.1"
        await look.press("down", "ctrl+u", *"60 GB/s")
        await diff(look)
        assert "-  - {metric: stream.triad, at_least: 40 GB/s, source: 4.1.1}" in look.text
        await look.press("w")
        await look.until(lambda: [row.words("state") for row in screen.table.items] == ["fail"])
    assert "at_least: 60 GB/s, source: 4.1.1}" in site.topology.read_text()


@pytest.mark.parametrize("keys", [("escape",), ("enter",), ("enter", "enter", "escape"), ("y", "escape")])
async def test_nothing_but_w_writes(site: Site, keys: tuple[str, ...]) -> None:
    before = site.topology.read_text()
    async with opened(site) as look:
        screen = await page(look)
        await form(look)
        await look.press(*ADD)
        await diff(look)
        await look.press(*keys)
        await look.settle()
        assert screen.table.count == 1
    assert site.topology.read_text() == before


async def test_keys_that_come_in_one_read_go_where_they_would_one_by_one(site: Site) -> None:
    async with opened(site) as look:
        await page(look)
        sheet = await form(look)
        press_at_once(look.app, *ADD, "enter")
        await look.until(lambda: isinstance(look.app.screen, DiffSheet))
        typed = sheet.form.typed
        assert (typed["metric"], typed["at_least"], typed["source"]) == ("stream.triad", "65 GB/s", "4.1.2")


async def test_enter_twice_in_one_read_shows_the_diff_and_writes_nothing(site: Site) -> None:
    before = site.topology.read_text()
    async with opened(site) as look:
        await page(look)
        await form(look)
        await look.press(*ADD)
        press_at_once(look.app, "enter", "enter")
        await look.until(lambda: isinstance(look.app.screen, DiffSheet))
        await look.settle()
        assert len(look.app.screen_stack) == 3
    assert site.topology.read_text() == before


@pytest.mark.parametrize("size", SIZES)
async def test_what_is_wrong_is_said_in_the_form_which_stays(site: Site, size: tuple[int, int]) -> None:
    async with opened(site, size) as look:
        await page(look)
        sheet = await form(look)
        await look.press(*"stream.triat", "down", *"65 GB/s", "enter")
        await look.until(lambda: bool(sheet.notes.wrong))
        await look.settle()
        assert look.app.screen is sheet
        assert "unknown metric" in look.text
        assert sheet.form.typed["at_least"] == "65 GB/s"
        await look.press("up", "backspace", "d")
        assert not sheet.notes.wrong
        await diff(look)


async def test_tab_completes_then_goes_on_and_the_numbers_that_were_measured_stand_beside_a_bound(site: Site) -> None:
    async with opened(site) as look:
        await page(look)
        sheet = await form(look)
        assert "stream.triad   1 number, 50.0 GB/s" in look.text
        await look.press(*"tri", "tab")
        assert (sheet.form.typed["metric"], sheet.form.here) == ("stream.triad", "metric")
        await look.press("tab")
        assert sheet.form.here == "at_least"
        assert "measured: 1 number, 50.0 GB/s" in look.text
        await look.press("shift+tab", "up")
        assert sheet.form.here == FIELDS[-1]
        await look.press("ctrl+u", "backspace", "backspace")
        assert look.app.screen is sheet


async def test_the_keys_are_in_the_footer_and_the_help_of_this_page_alone(site: Site) -> None:
    async with opened(site) as look:
        await page(look)
        assert "a add  C change" in look.lines[-1]
        assert {"add_criterion", "change_criterion"} <= set(look.app.navigation.valid_actions)
        await look.press("colon", *"results", "enter", "a")
        assert not isinstance(look.app.screen, CriterionSheet)
        assert "add_criterion" not in look.app.navigation.valid_actions


@pytest.mark.parametrize("key", ["a", "C"])
async def test_a_console_that_only_looks_shows_no_such_key_and_refuses_it(site: Site, key: str) -> None:
    async with opened(site) as look:
        await page(look)
        look.app.session.looks_only = LOOKS_ONLY
        await look.settle()
        assert "a add" not in look.lines[-1]
        await look.press(key)
        assert LOOKS_ONLY[:40] in look.lines[-1]
        assert set(look.app.navigation.valid_actions).isdisjoint({"add_criterion", "change_criterion"})


@pytest.mark.parametrize("key", ["a", "C"])
async def test_a_session_that_runs_or_that_another_console_drives_takes_none(key: str) -> None:
    async with looking(judged()) as look:
        await page(look)
        look.player.running = True
        await look.press(key)
        assert "A run is going; S stops it first." in look.lines[-1]
        look.player.running = False
        look.player.follows = "Another console drives it."
        await look.press(key)
        assert "Another console drives it." in look.lines[-1]
        assert isinstance(look.app.screen, CriteriaScreen)
        assert ACTIONS["add_criterion"].keys == "a"


async def test_no_run_is_planned_while_the_session_is_judged_again(site: Site) -> None:
    async with opened(site) as look:
        await page(look)
        look.app.session.front.is_judging = True
        for key in ("R", "a"):
            await look.press(key)
            assert "The session is being judged again." in look.lines[-1]
        assert isinstance(look.app.screen, CriteriaScreen)


async def test_why_none_is_taken_is_said_in_full(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(site) as look:
        await page(look)
        controls = look.app.session.controls
        monkeypatch.setattr(type(controls[0]._session), "running", True)
        monkeypatch.setattr(type(look.app.session.front), "running", False)
        monkeypatch.setattr(type(look.app.session), "running", False)
        await look.press("a")
        await look.until(lambda: "no criterion is taken" in look.text)
        await look.settle()
        assert "A run of this session goes on; it has to end first." in look.text


async def test_a_file_that_was_saved_after_the_diff_is_left_alone(site: Site) -> None:
    async with opened(site) as look:
        screen = await page(look)
        await form(look)
        await look.press(*ADD)
        await diff(look)
        site.topology.write_text("theirs")
        await look.press("w")
        await look.until(lambda: "is not written: it was changed meanwhile" in look.lines[-1])
        assert not look.app.session.front.is_judging
        assert screen.table.count == 1
    assert site.topology.read_text() == "theirs"


@pytest.mark.fault("F36", "I13")
@pytest.mark.parametrize("kind", NASTY)
async def test_hostile_words_of_a_file_are_only_text_in_form_and_diff(site: Site, kind: str) -> None:
    words = NASTY[kind].translate(dict.fromkeys((*range(32), 127, *range(128, 160), 55296))) + "\u202e"
    words = words.replace('"', "").replace("\\", "")
    hostile = site.topology.read_text().replace("4.1.1", f'"{words}"') + f"# {words}\n"
    site.topology.write_text(hostile)
    async with opened(site) as look:
        await page(look)
        await form(look)
        await look.press(*ADD)
        sheet = await diff(look)
        assert any(words[:5] in line for line in sheet.diff.proposal.diff)
        for row in look.lines:
            assert all(ord(character) >= 32 and not 127 <= ord(character) < 160 for character in row)
            assert not set(row) & set("\u202e\u2066\u200d\x1b\ud800")
        await look.press("w")
        await look.until(lambda: "written" in look.lines[-1])
        sheet_of_change = await form(look, "C")
        for row in look.lines:
            assert not set(row) & set("\u202e\u2066\u200d\x1b\ud800")
        await look.press("down", "ctrl+u", *"41 GB/s", "enter")
        await look.until(lambda: look.app.screen is not sheet_of_change or bool(sheet_of_change.notes.wrong))
    new = '  - {metric: stream.triad, at_least: 65 GB/s, source: "4.1.2"}\n'
    assert site.topology.read_text() == hostile.replace("\n# ", f"\n{new}# ")
