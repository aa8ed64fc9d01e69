"""The map of changes on the screen: opened from a comparison, read without colour, walked, left again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from benchconsole.console.text.cells import to_ascii
from benchconsole.console.tui.queries.area import Row
from benchconsole.console.tui.queries.change_matrix import ChangeCell, Turn
from benchconsole.console.tui.screens.change_map import NO_MAP, ChangeMapScreen
from benchconsole.console.tui.screens.comparison import ComparisonScreen, SubjectsScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.change_map import ChangeMap
from tests.console.cli.test_compare import measure
from tests.console.tui.looking import Look
from tests.console.tui.test_sessions import compared, opened
from tests.scenarios.test_judging_trials import FABRIC, Site

NAMES = tuple(f"n{number}" for number in range(1, 9))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """n1 lost a fifth, n2 gained, the next ones are as they were, n8 was measured before alone."""
    site = Site(tmp_path, text=FABRIC.replace("n[1-4]", "n[1-8]"))
    measure(site, "before", *[100.0] * 8, nodes=NAMES)
    measure(site, "after", 80.0, 130.0, 101.0, 100.0, 100.5, 99.5, 100.0, nodes=NAMES[:7])
    return site


@asynccontextmanager
async def mapped(site: Site, size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Look, ChangeMapScreen]]:
    """The map of the bandwidth of STREAM."""
    async with opened(site, size) as look:
        await compared(look)
        await look.press("slash", *"stream.triad", "enter", "v")
        screen = look.app.screen
        assert isinstance(screen, ChangeMapScreen)
        await look.settle()
        yield look, screen


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_loss_gain_no_change_and_one_side_alone_are_told_apart_without_colour(
    site: Site, size: tuple[int, int]
) -> None:
    async with mapped(site, size) as (look, screen):
        row = next(line for line in look.lines if "▾-20" in line)
        assert [*filter(None, row.replace("▌", " ").split())][1:9] == ["▾-20", "▴+30", *"·····A"]
        assert "v-20" in to_ascii(row)
        assert "^+30" in to_ascii(row)
        legend = "▾ worse  ▴ better  · same, no effect  ? not comparable  A B in one alone  in %"
        assert any(legend in line for line in look.lines)
        assert screen.map.place is not None
        assert "n1: A 100 GB/s, B 80.0 GB/s, -20.0 %: worse" in look.lines[-2]
        assert all(len(line) <= size[0] for line in look.lines)


async def test_n_walks_loss_and_what_is_missing_and_enter_opens_the_output(site: Site) -> None:
    async with mapped(site) as (look, screen):
        await look.press("n")
        assert "n8: A 100 GB/s, B –: in A alone" in look.lines[-2]
        await look.press("enter")
        assert "The session on the screen did not measure it" in look.lines[-1]
        await look.press("n", "enter")
        assert isinstance(look.app.screen, RawScreen)
        await look.press("escape", "v")
        assert isinstance(look.app.screen, ComparisonScreen)
        await look.press("enter")
        assert isinstance(look.app.screen, SubjectsScreen)
        await look.press("v")
        assert isinstance(look.app.screen, ChangeMapScreen)
        assert screen is not look.app.screen


async def test_a_row_without_a_metric_has_no_map(site: Site) -> None:
    async with opened(site) as look:
        page = await compared(look)
        await look.press("slash", *"no such row", "enter", "v")
        assert NO_MAP[:40] in look.lines[-1]
        assert look.app.screen is page


def drawn(turn: Turn, change: float | None) -> str:
    return ChangeMap().draw_cell(ChangeCell(turn, {turn: 1}, Row({}, {}, {}), change, change)).text


@pytest.mark.parametrize(
    ("turn", "change", "text"),
    [
        (Turn.WORSE, -0.999, "▾-100"),
        (Turn.WORSE, 0.2, "▾+20"),
        (Turn.WORSE, None, "▾"),
        (Turn.BETTER, 9.994, "▴+999"),
        (Turn.BETTER, 1e9, "▴>999"),
        (Turn.HIGHER, 0.05, "+5"),
        (Turn.LOWER, -0.05, "-5"),
        (Turn.HIGHER, None, "high"),
        (Turn.SAME, 0.01, "·"),
        (Turn.B_ALONE, None, "B"),
    ],
)
def test_a_cell_is_its_sign_and_its_percentage_in_six_columns(turn: Turn, change: float | None, text: str) -> None:
    assert drawn(turn, change) == text.rjust(6)
