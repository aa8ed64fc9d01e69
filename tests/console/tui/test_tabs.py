"""The tabs beside badges: names go before places, from the right, and never those of the tab that is open."""

import pytest

from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.widgets.tabs import Badges, Tabs
from tests.console.tui.looking import faulty, looking

CROWDED = Badges(simulated=True, read_only=True, paused=True, replay=1.0)


@pytest.mark.parametrize(
    ("width", "active", "words"),
    [
        (90, "Fabric", ["1 Fabric", "2 Nodes", "3 Run", "4 Findings"]),
        (80, "Fabric", ["1 Fabric", "2 Nodes", "3 Run", "4"]),
        (80, "Findings", ["1 Fabric", "2 Nodes", "3", "4 Findings"]),
        (66, "Fabric", ["1 Fabric", "2", "3", "4"]),
        (61, "Findings", ["1", "4 Findings"]),
    ],
)
def test_every_tab_keeps_its_key_as_long_as_there_is_room(width: int, active: str, words: list[str]) -> None:
    tabs = Tabs(active)
    tabs.show(CROWDED)
    (row,) = tabs.draw(width, 1)
    text = plain_text(row)
    assert [each.strip() for each in text[: text.index(" REPLAY")].split("  ") if each.strip()] == words
    assert text.rstrip().endswith("SIMULATED")


async def test_a_click_on_a_key_without_its_name_opens_the_tab() -> None:
    async with looking(faulty(), (80, 24)) as look:
        tabs = look.app.screen.query_one(Tabs)
        tabs.show(CROWDED)
        x = next(x for x, tab in tabs.list_places() if tab == "Findings")
        await look.pilot.click(Tabs, offset=(x, 0))
        await look.settle()
        assert "4 Findings" in look.lines[0]
