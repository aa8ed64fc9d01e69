"""Elements by name: the cursor of Fabric goes to links and switches, and parts of the map are drawn alone."""

import pytest

from benchconsole.console.tui.screens.zoom import ZoomScreen
from tests.console.tui.looking import Look, boxes, faulty, looking


async def type_command(look: Look, text: str) -> None:
    await look.press("colon", *(look_up(letter) for letter in text), "enter")


def look_up(letter: str) -> str:
    return {" ": "space", "-": "minus"}.get(letter, letter)


@pytest.mark.parametrize("name", ["leaf5--spine2", "leaf5 to spine2"])
async def test_a_link_is_shown_by_its_id_and_as_sentences_name_it(name: str) -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        await type_command(look, f"link {name}")
        assert look.app.screen is look.app.navigation.fabric
        mark = look.app.navigation.fabric.map.mark
        assert mark is not None
        assert mark.link == "leaf5--spine2"


async def test_a_switch_is_shown() -> None:
    async with looking(faulty()) as look:
        await type_command(look, "switch leaf3")
        mark = look.app.navigation.fabric.map.mark
        assert mark is not None
        assert mark.switch == "leaf3"


async def test_a_chassis_is_drawn_alone_and_esc_leads_back() -> None:
    async with looking(boxes()) as look:
        await look.press("3")
        await type_command(look, "chassis c07")
        screen = look.app.screen
        assert isinstance(screen, ZoomScreen)
        assert screen.section.name == "c07"
        assert len(screen.section.nodes) == 16
        await look.press("escape")
        assert look.app.screen is look.app.navigation.fabric


async def test_zoom_takes_the_name_of_any_part() -> None:
    async with looking(faulty()) as look:
        await type_command(look, "zoom leaf2")
        screen = look.app.screen
        assert isinstance(screen, ZoomScreen)
        assert screen.section.name == "leaf2"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("link leaf5--spine9", "no link leaf5--spine9; did you mean leaf5--spine"),
        ("switch leaf33", "no switch leaf33; did you mean leaf3"),
        ("switch qqqq", "no switch qqqq"),
        ("chassis leaf3", "no chassis leaf3"),
        ("zoom leaf33", "no part of the map leaf33; did you mean leaf"),
        ("link", "link takes the name of a link"),
    ],
)
async def test_a_name_that_is_none_is_said_with_what_was_meant(typed: str, said: str) -> None:
    async with looking(faulty()) as look:
        await type_command(look, typed)
        assert look.app.screen is look.app.navigation.fabric
        assert said in look.lines[-1]


@pytest.mark.parametrize(
    ("begun", "offered"), [("link leaf3--", "leaf3--spine1"), ("switch spi", "spine1"), ("chassis c0", "c01")]
)
async def test_names_are_offered(begun: str, offered: str) -> None:
    async with looking(boxes() if "chassis" in begun else faulty()) as look:
        await look.press("colon", *map(look_up, begun))
        assert offered in look.text
