"""A console that only looks: every key that acts is hidden on every page, and refused where it is pressed."""

import pytest

from benchconsole.console.tui.actions import ACTING, ACTIONS, DRIVING
from benchconsole.console.tui.app.console_app import LOOKS_ONLY
from tests.console.tui.looking import Look, faulty, looking

PLACES = ("1", "2", "3", "4")
REFUSED = (*((place, key) for place in PLACES for key in "Re"), ("3", "S"), ("3", "r"), ("4", "r"))
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
