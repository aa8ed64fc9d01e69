"""Jump letters: over what stands there, without a shift, and each goes where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.text.cells import measure_width
from benchconsole.console.tui.rows.text_rows import CellText, plain_text, put_over, row_width
from benchconsole.console.tui.rows.themes import JUMP, TEXT
from benchconsole.console.tui.screens.fabric import FabricScreen
from benchconsole.console.tui.screens.findings import FindingsScreen
from benchconsole.console.tui.screens.jump import HINT, LETTERS, JumpScreen, list_places, make_codes
from benchconsole.console.tui.screens.nodes import NodesScreen
from benchconsole.console.tui.screens.pair_map import PairMapScreen
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.tabs import Tabs
from tests.console.tui.looking import Look, faulty, looking
from tests.console.tui.test_keys import press_at_once


async def jump(look: Look) -> JumpScreen:
    await look.press("J")
    assert isinstance(look.app.screen, JumpScreen)
    return look.app.screen


def find_code(screen: JumpScreen, widget: type, y: int | None = None, at: int = 0) -> str:
    codes = [
        code
        for code, place in screen.places.items()
        if isinstance(place.widget, widget) and (y is None or place.y == y)
    ]
    return codes[at]


@given(st.integers(0, 600))
def test_no_code_begins_another(number: int) -> None:
    codes = make_codes(number)
    assert len(codes) == len(set(codes)) == number
    assert not any(one != other and other.startswith(one) for one in codes for other in codes)
    assert set("".join(codes)) <= set(LETTERS)


def test_there_are_no_more_codes_than_letters_give() -> None:
    assert len(make_codes(10_000)) == 26 * 26


_PIECES = st.lists(st.text("ab 日e\u0301─", max_size=6).map(CellText), max_size=5).map(tuple)


@given(_PIECES, st.integers(0, 20), st.sampled_from(["a", "ab"]))
def test_a_letter_over_a_row_moves_nothing(row: tuple[CellText, ...], column: int, text: str) -> None:
    width = 80
    made = put_over(row, column, text, JUMP, width)
    cells = _spread(plain_text(made))
    assert "".join(cells[column : column + len(text)]) == text
    before = _spread(plain_text(row))
    for place, cell in enumerate(before[:width]):
        if not column - 1 <= place <= column + len(text):
            assert cells[place] == cell
    assert row_width(made) == max(row_width(row), column + len(text))
    assert [piece.text for piece in made if piece.tone == JUMP] == [text]


def _spread(text: str) -> list[str]:
    """A character for each cell, what takes none left out."""
    cells: list[str] = []
    for character in text:
        cells += [character] * measure_width(character)
    return cells


def test_of_a_wide_character_no_half_is_left() -> None:
    row = (CellText("日本", TEXT),)
    assert plain_text(put_over(row, 1, "a", JUMP, 10)) == " a本"
    assert plain_text(put_over(row, 0, "a", JUMP, 10)) == "a 本"
    assert plain_text(put_over((), 3, "a", JUMP, 10)) == "   a"
    assert plain_text(put_over((), 9, "ab", JUMP, 10)) == " " * 9 + "…"


async def test_no_letter_stays_where_something_else_ends_the_jump() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        before = look.text
        await jump(look)
        assert look.text != before
        look.app.pop_screen()
        await look.settle()
        assert look.text == before


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("key", ["1", "2", "3", "4"])
async def test_letters_shift_nothing_and_esc_takes_them_away(size: tuple[int, int], key: str) -> None:
    async with looking(faulty(), size) as look:
        await look.press(key)
        before = look.lines
        screen = await jump(look)
        during = look.lines
        assert HINT in during[-1]
        assert len(screen.places) > 4
        covered = {
            (place.widget.region.x + place.x + at, place.widget.region.y + place.y): letter
            for code, place in screen.places.items()
            for at, letter in enumerate(code)
        }
        for y, (old, new) in enumerate(zip(before[:-1], during[:-1], strict=True)):
            for x, (one, other) in enumerate(zip(old, new, strict=True)):
                assert other == covered.get((x, y), one), (x, y)
        await look.press("escape")
        assert look.lines == before
        assert look.app.screen is look.app.navigation.frame


async def test_a_letter_goes_to_a_tab() -> None:
    async with looking(faulty()) as look:
        screen = await jump(look)
        await look.press(find_code(screen, Tabs, at=1))
        assert isinstance(look.app.screen, NodesScreen)
        await look.press(find_code(await jump(look), Tabs, at=3))
        assert isinstance(look.app.screen, FindingsScreen)


async def test_a_letter_goes_to_a_row_and_to_the_filter() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        page = look.app.screen
        assert isinstance(page, NodesScreen)
        screen = await jump(look)
        head = len(page.table.heading(page.table.size.width))
        await look.press(*find_code(screen, Listing, head + 12))
        assert page.table.cursor == page.table.top + 12
        assert isinstance(look.app.screen, NodesScreen)
        screen = await jump(look)
        await look.press(*find_code(screen, LineInput))
        await look.press(*"leaf3")
        assert page.prompt.text == "leaf3"
        assert page.table.count == 16


async def test_the_row_that_stands_under_the_letter_is_meant_when_the_table_has_scrolled() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "G")
        page = look.app.screen
        assert isinstance(page, NodesScreen)
        await jump(look)
        head = len(page.table.heading(page.table.size.width))
        screen = look.app.screen
        assert isinstance(screen, JumpScreen)
        await look.press(*find_code(screen, Listing, head))
        assert page.table.cursor == page.table.top > 0


async def test_two_letters_are_typed_one_by_one_and_backspace_begins_again() -> None:
    async with looking(faulty(), (200, 60)) as look:
        await look.press("2")
        screen = await jump(look)
        code = next(code for code in screen.places if len(code) == 2)
        await look.press(code[0])
        assert look.app.screen is screen
        assert screen.typed == code[0]
        shown = [letter.text for letter in screen.places[code].widget.letters]
        assert shown
        assert all(len(text) == 1 for text in shown)
        await look.press("backspace")
        assert screen.typed == ""
        await look.press("!", *code.upper())
        assert isinstance(look.app.screen, NodesScreen)


async def test_a_letter_goes_to_a_rack_of_the_fabric() -> None:
    async with looking(faulty()) as look:
        page = look.app.screen
        assert isinstance(page, FabricScreen)
        screen = await jump(look)
        places = [(code, place) for code, place in screen.places.items() if place.widget is page.map]
        code, place = places[-1]
        spot = next(spot for y, spot in page.map.spots_in_sight if y == place.y and max(spot.x - 1, 0) == place.x)
        await look.press(*code)
        assert page.map.mark is not None
        assert spot.holds(page.map.mark)


async def test_a_letter_goes_to_a_row_of_a_matrix() -> None:
    async with looking(faulty()) as look:
        look.app.push_screen(PairMapScreen())
        await look.settle()
        page = look.app.screen
        assert isinstance(page, PairMapScreen)
        await look.until(lambda: bool(page.matrix_map.rows_in_sight))
        screen = await jump(look)
        y, row = page.matrix_map.rows_in_sight[-1]
        await look.press(*find_code(screen, type(page.matrix_map), y))
        assert page.matrix_map.row == row


async def test_keys_that_come_in_one_read_jump() -> None:
    async with looking(faulty()) as look:
        code = find_code(await jump(look), Tabs, at=3)
        await look.press("escape")
        press_at_once(look.app, "J", code)
        await look.settle()
        assert isinstance(look.app.screen, FindingsScreen)


async def test_another_size_and_a_click_leave() -> None:
    async with looking(faulty()) as look:
        await jump(look)
        await look.pilot.resize_terminal(100, 30)
        await look.settle()
        assert isinstance(look.app.screen, FabricScreen)
        await jump(look)
        await look.pilot.click(offset=(5, 5))
        await look.settle()
        assert isinstance(look.app.screen, FabricScreen)
        assert not any(place.widget.letters for place in list_places(look.app.screen))


async def test_j_is_text_where_one_types() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "slash", "J")
        page = look.app.screen
        assert isinstance(page, NodesScreen)
        assert page.prompt.text == "J"
