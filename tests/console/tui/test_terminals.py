"""Every size, ASCII, sixteen colours, none: the same facts, nothing that a terminal cannot show."""

import pytest

from benchconsole.console.text.cells import ASCII_OF
from benchconsole.console.tui.rows.strips import to_ascii
from benchconsole.console.tui.rows.terminal import Terminal, detect
from benchconsole.console.tui.rows.themes import THEMES, Depth
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.looking import Look, boxes, faulty, large, looking, painted

pytestmark = pytest.mark.fault("F33")

SIZES = ((1, 1), (7, 3), (20, 5), (60, 15), (80, 24), (120, 40), (200, 60))
SHEETS = (("question_mark",), ("colon",), ("e",), ("R",))
TABS = ("1", "2", "3", "4")


async def everything(look: Look) -> list[str]:
    """Every screen and sheet, as text."""
    seen = []
    for key in TABS:
        await look.press(key)
        seen.append(look.text)
    for keys in SHEETS:
        await look.press(*keys)
        seen.append(look.text)
        await look.press("escape")
    look.app.navigation.open_node(NodeId("n050" if "n050" in look.player.story.fabric.nodes else "c12n05"))
    await look.settle()
    seen.append(look.text)
    await look.press("enter")
    seen.append(look.text)
    return seen


@pytest.mark.parametrize("size", SIZES)
async def test_every_screen_at_every_size(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        for text in await everything(look):
            rows = text.split("\n")
            assert len(rows) == size[1]
            if size[0] >= 60:
                assert "SIMULATED" in text
        if size[0] >= 60:
            await look.press("1")
            await look.press("1")
            assert any("leaf3 to spine1" in line for line in look.lines)
            assert any("▮▯" in line for line in look.lines)
            assert "? help" in look.lines[-1]


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
async def test_a_machine_of_chassis_at_every_size(size: tuple[int, int]) -> None:
    async with looking(boxes(), size) as look:
        at = next(index for index, line in enumerate(look.lines) if " c07 " in line)
        block = look.lines[at : at + (4 if size[0] >= 160 else 1)]  # a card, where there is room for one
        assert any(line.count("▵") == 16 for line in block)
        assert any("▮▯" in line for line in block)
        await look.press("n")
        assert any("[▮▯]" in line for line in look.lines)


async def test_the_badge_is_there_at_sixty_columns_with_everything_else_on() -> None:
    async with looking(faulty(), (60, 15)) as look:
        look.player.paused = True
        await look.press("4", "F")
        assert look.lines[0].rstrip().endswith("SIMULATED")
        assert "FROZEN" in look.lines[0]
        assert "PAUSED" in look.lines[0]
        assert "4 Findings" in look.lines[0]


@pytest.mark.parametrize("story", [faulty, boxes])
async def test_ascii_has_no_character_above_126(story: object) -> None:
    async with looking(story(), terminal=Terminal(ascii=True)) as look:  # type: ignore[operator]
        for text in await everything(look):
            strange = {character for character in text if ord(character) > 126}
            assert not strange
        await look.press("1")
        await look.press("1")
        assert "#_" in look.text  # a member that is down is seen without any sign


@pytest.mark.parametrize("depth", [Depth.NONE, Depth.SIXTEEN])
async def test_every_fault_is_found_without_24_bit_colour(depth: Depth, monkeypatch: pytest.MonkeyPatch) -> None:
    if depth is Depth.NONE:
        monkeypatch.setenv("NO_COLOR", "1")
    async with looking(faulty(), terminal=Terminal(depth=depth)) as look:
        assert look.app.no_color is (depth is Depth.NONE)
        texts = await everything(look)
        assert all(sign in texts[0] for sign in "✗∅▲▵▯×")
        for row in painted(look.app):
            for segment in row:
                assert segment.style is not None
                for colour in (segment.style.color, segment.style.bgcolor):
                    assert colour is None or colour.is_default or (depth is Depth.SIXTEEN and colour.number is not None)


async def test_no_color_alone_does_not_crash_full_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with looking(faulty()) as look:
        assert look.app.no_color
        await everything(look)


async def test_resizing_keeps_the_cursor_in_sight() -> None:
    async with looking(large(), (200, 60)) as look:
        await look.press("n")
        for size in ((120, 40), (80, 24), (60, 15), (200, 60)):
            await look.pilot.resize_terminal(*size)
            await look.settle()
            assert any("[▯]" in line for line in look.lines), size


async def test_a_storm_of_sizes_loses_neither_the_focus_nor_the_cursor_nor_a_row() -> None:
    storm = [(1, 1), (20, 5), (500, 200), (3, 60), (200, 2), (80, 24), (79, 23), (1, 200), (500, 1), (120, 40)]
    async with looking(faulty()) as look:
        await look.press("2", "down", "down", "down")
        table = look.app.navigation.tabs.nodes.table
        chosen = table.chosen_node
        for size in storm * 2:
            await look.pilot.resize_terminal(*size)
            look.app.tick()
        await look.until(lambda: len(look.lines) == 40)
        assert look.app.focused is table
        assert table.chosen_node == chosen
        assert any(line.startswith("▌") for line in look.lines)
        await look.pilot.resize_terminal(500, 200)
        for mode in ("fabric", "run", "findings"):
            look.app.navigation.go_to(mode)
            await look.settle()
            assert "SIMULATED" in look.lines[0]
            assert len(look.lines) == 200


@pytest.mark.parametrize(
    ("environment", "encoding", "expected"),
    [
        ({"TERM": "xterm-256color"}, "UTF-8", Terminal()),
        ({"TERM": "xterm-256color"}, "ANSI_X3.4-1968", Terminal(ascii=True)),
        ({"BENCHCONSOLE_ASCII": "1", "TERM": "tmux-256color"}, "utf-8", Terminal(ascii=True)),
        ({"BENCHCONSOLE_ASCII": "0", "TERM": "tmux-256color"}, "utf8", Terminal()),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, "utf-8", Terminal(depth=Depth.NONE)),
        ({"NO_COLOR": "", "COLORTERM": "truecolor"}, "utf-8", Terminal()),
        ({"TERM": "linux"}, "utf-8", Terminal(depth=Depth.SIXTEEN)),
        ({"TERM": "linux", "BENCHCONSOLE_COLOR": "full"}, "utf-8", Terminal()),
        ({"TERM": "dumb"}, "utf-8", Terminal(depth=Depth.NONE)),
        ({"BENCHCONSOLE_THEME": "light"}, "utf-8", Terminal(theme="bench-light")),
        ({"BENCHCONSOLE_THEME": "bench-tritan"}, "utf-8", Terminal(theme="bench-tritan")),
        ({"BENCHCONSOLE_THEME": "contrast"}, "utf-8", Terminal(theme="bench-contrast")),
        ({"BENCHCONSOLE_THEME": ""}, "utf-8", Terminal()),
        (
            {"BENCHCONSOLE_THEME": "non\x1bsense"},
            "utf-8",
            Terminal(refused=f"BENCHCONSOLE_THEME: no theme non␛sense; there are {' '.join(THEMES)}"),
        ),
    ],
)
def test_the_terminal_is_read_from_its_environment(
    environment: dict[str, str], encoding: str, expected: Terminal
) -> None:
    assert detect(environment, encoding) == expected


def test_every_sign_has_its_own_ascii_stand_in() -> None:
    for character in ASCII_OF:
        assert to_ascii(chr(character)) != "?"
