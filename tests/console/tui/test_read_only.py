"""A console that only looks: every key that acts is hidden on every page, and refused where it is pressed."""

import re
from pathlib import Path

import pytest

from benchconsole.console.cli.open import make_archive
from benchconsole.console.tui.actions import ACTING, ACTIONS, DRIVING
from benchconsole.console.tui.app.console_app import LOOKS_ONLY, ConsoleApp
from benchconsole.console.view.events import SessionEnded
from benchconsole.store.store import Store
from tests.console.tui.looking import PLAIN, Look, faulty, looking, undecided
from tests.console.tui.playing import Player
from tests.console.tui.test_sessions import listed, opened, site
from tests.scenarios.test_judging_trials import Site

__all__ = ["site"]

PLACES = ("1", "2", "3", "4")
REFUSED = (
    *((place, key) for place in PLACES for key in "Re"),
    ("3", "S"),
    ("3", "r"),
    ("4", "r"),
    ("4", "A"),
    ("4", "m"),
    ("2", "m"),
)
"""Pages, and the keys there that act."""


async def _only_look(look: Look) -> None:
    look.app.session.looks_only = LOOKS_ONLY
    await look.settle()


def test_every_action_that_only_shows_is_kept() -> None:
    assert ACTING.issubset(ACTIONS)
    assert ACTING.isdisjoint(("fabric", "nodes", "filter", "compare", "replay", "copy", "enter", "back", "quit"))


@pytest.mark.parametrize("place", PLACES)
async def test_no_key_that_acts_is_shown(place: str) -> None:
    async with looking(faulty(), (200, 60)) as look:
        await look.press(place)
        before = look.lines[-1]
        assert any(f" {ACTIONS[each].shown} " in f" {before} " for each in ("repeat", "plan", "export", "mark"))
        await _only_look(look)
        assert "READ-ONLY" in look.lines[0]
        shown = look.lines[-1].split("  ")
        keys = {each.strip().split(" ")[0] for each in shown}
        assert keys.isdisjoint(ACTIONS[each].shown for each in ("repeat", "plan", "export", "mark", "mark_shown"))
        assert "filter" in look.lines[-1] or "command" in look.lines[-1]
        assert set(look.app.navigation.valid_actions).isdisjoint(ACTING)


async def test_enter_on_a_suite_is_hidden_and_refused() -> None:
    async with looking(faulty(), (200, 60)) as look:
        await look.press("colon", *"suites", "enter")
        assert " enter plan it" in look.lines[-1]
        await _only_look(look)
        for _ in range(3):
            assert "plan it" not in look.lines[-1]
            assert " copy" in look.lines[-1]
            await look.settle()
        await look.press("enter")
        assert LOOKS_ONLY[:40] in look.lines[-1]
        assert look.player.proposed == []


async def test_a_console_that_follows_shows_no_key_that_drives_until_it_may() -> None:
    """Marks and reports are its own; only what the other console decides is hidden."""
    async with looking(faulty(), (200, 60)) as look:
        await look.press("4")
        assert " repeat" in look.lines[-1]
        assert {"plan", "repeat"} <= set(look.app.navigation.valid_actions)
        look.player.follows = "Another console drives it."
        await look.settle()
        assert set(look.app.navigation.valid_actions).isdisjoint(DRIVING)
        assert " repeat" not in look.lines[-1]
        assert " export" in look.lines[-1]
        look.player.follows = ""
        await look.settle()
        assert " repeat" in look.lines[-1]


@pytest.mark.parametrize(("place", "key"), REFUSED)
async def test_a_key_that_acts_is_refused_in_words(place: str, key: str) -> None:
    async with looking(faulty()) as look:
        await look.press(place)
        await _only_look(look)
        await look.press(key)
        assert LOOKS_ONLY[:40] in look.lines[-1]
        assert look.player.started == []
        assert look.player.stopped == []


async def test_a_typed_command_that_acts_is_none_of_the_commands() -> None:
    async with looking(faulty()) as look:
        await _only_look(look)
        await look.press("colon", *"export md", "enter")
        assert look.player.exported == []


HINT = re.compile(r"(?<![\w'])([RrSeaCxLm])(?= (?:plans?|repeats?|shows?|stops?|takes?|writes?|removes?|adds?|is)\b)")
"""A key that is named beside what it does, outside the footer."""


def _find_hints(look: Look) -> set[str]:
    return {key for line in look.lines[:-1] for key in HINT.findall(line)}


async def _see_every_hint(look: Look) -> set[str]:
    """The keys that are named on the tabs, on a node, below marked nodes, and in what is said of a reason."""
    found: set[str] = set()
    for keys in (["1"], ["3"], ["4"], ["4", "G", "r"], ["4", "n", "n", "n", "n", "n"], ["2", "space"], ["2", "enter"]):
        await look.press(*keys)
        found |= _find_hints(look)
        found |= set(HINT.findall(look.lines[-1])) if keys[-1] == "r" else set()
        if keys[:1] == ["4"]:
            await look.press("t")
            found |= _find_hints(look)
            await look.press("escape")
        await look.press("1")
    return found


@pytest.mark.parametrize(
    ("until", "is_stopped", "named"),
    [(1, False, {"R"}), (400, True, {"R", "r"}), (None, False, {"R", "r"})],
    ids=["nothing has run", "stopped", "complete"],
)
async def test_no_sentence_names_a_key_that_is_refused(until: int | None, is_stopped: bool, named: set[str]) -> None:
    async with looking(faulty(), until=until) as look:
        if is_stopped:
            look.player.feed(SessionEnded(1_700_000_100.0, False, "cancelled"))
            await look.until(lambda: look.app.session.latest.view.ended is not None)  # type: ignore[union-attr]
        assert await _see_every_hint(look) >= named
        await look.press("2", "escape", "escape")
        await _only_look(look)
        assert await _see_every_hint(look) == set()


@pytest.mark.parametrize("looks_only", ["", LOOKS_ONLY])
async def test_marked_sessions_and_kept_filters_name_no_key_that_is_refused(site: Site, looks_only: str) -> None:
    async with opened(site) as look:
        look.app.session.looks_only = looks_only
        await listed(look)
        for keys, words, removes in (
            (["space"], "1 marked", ": x removes it"),
            (["space"], "2 marked: c compares the two", ", x removes them"),
            (["space"], "3 marked", ": x removes them"),
        ):
            await look.press(*keys)
            said = look.lines[-2].strip().split("  ")[0]
            assert said == words + ("" if looks_only else removes)
        await look.press("escape", "colon", *"filters", "enter")
        assert "No filter is saved yet." in look.text
        assert (":save-filter NAME keeps it" in look.text) is not bool(looks_only)


async def test_what_is_copied_of_a_reason_names_no_key() -> None:
    async with looking(undecided()) as look:
        await look.press("4", "y")
        assert "do: Enter shows what was measured" in look.app.clipboard
        assert "then run just these tests again" in look.app.clipboard


@pytest.mark.parametrize("looks_only", ["", LOOKS_ONLY])
async def test_a_list_without_sessions_offers_a_run_only_where_one_may_begin(tmp_path: Path, looks_only: str) -> None:
    archive = make_archive(tmp_path / "s.db")
    Store.open(archive.path).close()
    app = ConsoleApp(lambda: Player(faulty()), PLAIN, analyse=lambda _: (), make_archive=lambda: archive)
    app.session.looks_only = looks_only
    async with app.run_test(size=(120, 40)) as pilot:
        look = Look(app, pilot, Player(faulty()))
        await look.until(lambda: app.session.latest.has_begun)
        await look.press("colon", *"sessions", "enter")
        await look.until(lambda: "No session is stored yet" in look.text)
        assert ("R plans a run" in look.text) is not bool(looks_only)
