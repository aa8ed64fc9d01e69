"""The output to the terminal: only the cells that changed, with the override as well as without it."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate
from textual.geometry import Region
from textual.strip import Strip

from benchconsole.console.tui import textual_patches
from benchconsole.console.tui.widgets.canvas import CellWidget
from tests.console.tui.looking import faulty, large, looking


def update(spans: list[tuple[int, int, int]]) -> ChopsUpdate:
    """One line of two widgets, 20 cells each."""
    style = Style(color="red")
    line = {0: Strip([Segment("a" * 20, style)], 20), 20: Strip([Segment("b" * 20, style)], 20)}
    return ChopsUpdate([line], spans, [[20, 40]])


def sent(spans: list[tuple[int, int, int]]) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor")
    return update(spans).render_segments(console)


def test_a_span_is_cropped_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sent([(0, 15, 16)])
    monkeypatch.setattr(ChopsUpdate, "render_segments", ChopsUpdate.render_segments)
    assert textual_patches.apply()
    after = sent([(0, 15, 16)])
    assert after.count("a") == 1
    assert after.count("b") == 0
    assert "\x1b[1;16H" in after
    assert len(after) <= len(before)
    across = sent([(0, 18, 22)])
    assert (across.count("a"), across.count("b")) == (2, 2)


@pytest.mark.parametrize(
    ("release", "is_known"), [("8.2.0", True), ("8.2.11", True), ("8.3.0", False), ("8.20.1", False), ("9.0.0", False)]
)
def test_another_textual_is_left_alone(
    release: str, is_known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"textual-{release}.dist-info").mkdir()
    monkeypatch.setattr(textual_patches, "find_packages", lambda: tmp_path)
    monkeypatch.setattr(ChopsUpdate, "render_segments", ChopsUpdate.render_segments)
    assert textual_patches.apply() is is_known


def watching(monkeypatch: pytest.MonkeyPatch) -> list[Region]:
    seen: list[Region] = []
    original = CellWidget.refresh

    def refresh(self: CellWidget, *regions: Region, **options: bool) -> CellWidget:
        seen.extend(regions or [self.size.region])
        return original(self, *regions, **options)

    monkeypatch.setattr(CellWidget, "refresh", refresh)
    return seen


async def test_a_key_on_the_map_repaints_a_handful_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    async with looking(large(), (200, 60)) as look:
        await look.press("down", "down")
        seen = watching(monkeypatch)
        await look.press("right")
        assert 0 < sum(region.area for region in seen) <= 40


async def test_a_key_in_the_table_repaints_two_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    async with looking(faulty()) as look:
        await look.press("2", "down")
        seen = watching(monkeypatch)
        await look.press("down")
        assert 0 < sum(region.area for region in seen) <= 2 * 120
        seen.clear()
        await look.settle()
        assert seen == []
