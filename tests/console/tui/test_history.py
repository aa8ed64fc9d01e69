"""The history of a node and of a column: read from a real database, walked, opened, and taken away again."""

import asyncio
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from benchconsole.console.tui.app.history_orders import WHERE
from benchconsole.console.tui.queries.history_area import ABOUT, DIFFERS
from benchconsole.console.tui.queries.node_row import DEFAULT
from benchconsole.console.tui.queries.over_sessions import OVER, OverSessions
from benchconsole.console.tui.queries.peer_columns import PeerShareColumn
from benchconsole.console.tui.screens.history import HistoryScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.view.run_view import State
from benchconsole.store.errors import LockedError
from tests.console.tui.looking import Look, faulty, looking
from tests.console.tui.test_sessions import opened
from tests.scenarios.test_judging_trials import FABRIC, TRIAD, Site, stream

NASTY = "[@click=app.quit]x[/]\x1b]52;c;aGVsbG8=\x07\u202e"


def ingest(site: Site, label: str, *values: float) -> None:
    """A session of one output of STREAM a node, in GB/s, whatever the verdicts on it."""
    for place, value in enumerate(values):
        into = ("--session", label) if place else ("--label", label)
        code, said = site.ingest("stream", stream(value), "--node", f"n{place + 1}", *into)
        assert code != Exit.BAD_INPUT, said


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Two sessions of one machine, between them one of another; the last expects less."""
    site = Site(tmp_path)
    site.topology = site.write("site.yaml", [TRIAD])
    ingest(site, "before", 80.0, 100.0, 80.0, 80.0)
    site.topology = site.write("pony.yaml", (), FABRIC.replace("fabric: toy", "fabric: pony"))
    ingest(site, "pony", 113.0, 113.3, 112.9, 113.1)
    site.topology = site.write("site.yaml", [TRIAD.replace("65 GB/s", "70 GB/s")])
    ingest(site, "after", 100.0, 66.0, 99.0, 100.5)
    return site


async def open_history(look: Look, node: str = "n2") -> HistoryScreen:
    """The history of a node, with its rows."""
    await look.press("colon", *f"node {node}", "enter", "H")
    page = look.app.screen
    assert isinstance(page, HistoryScreen)
    await look.until(lambda: page.table.count > 0)
    await look.settle()
    return page


async def test_each_number_has_a_row_and_its_sessions_stand_below(site: Site) -> None:
    async with opened(site) as look:
        page = await open_history(look)
        row = page.table.items[0]
        assert (row.record["metric"], row.words("over"), row.words("verdicts")) == ("stream.triad", "█▁", "·✗")
        assert (row.words("first"), row.words("last")) == ("100 GB/s", "66.0 GB/s")
        assert row.words("moved") == "-34.0 %"
        assert (row.words("lowest_in"), row.words("highest_in")) == ("after", "before")
        assert row.words("otherwise") == "≠ in 1"
        told = [
            [each.words(name) for name in ("state", "session", "value", "expected", "is")]
            for each in page.sessions.items
        ]
        assert told == [
            ["pass", "before", "100 GB/s", "≠ 65.0 GB/s", ""],
            ["fail", "after", "66.0 GB/s", "70.0 GB/s", "on screen"],
        ]
        assert ABOUT in look.text
        assert DIFFERS in look.text
        assert "pony" not in look.text
        assert "2 sessions" in look.lines[-2]


async def test_enter_goes_to_the_sessions_and_opens_one_or_the_raw_output_of_the_shown_one(site: Site) -> None:
    async with opened(site) as look:
        page = await open_history(look)
        await look.press("enter")
        assert page.sessions.has_focus
        await look.press("escape")
        assert page.table.has_focus
        await look.press("tab", "down", "enter")
        assert isinstance(look.app.screen, RawScreen)
        assert look.app.screen.test == page.sessions.items[1].record["test"]
        await look.press("escape", "up", "enter")
        await look.until(lambda: look.app.session.latest.has_begun and len(look.app.session.behind) == 1)
        await look.settle()
        assert "before" in look.lines[1]
        await look.press("escape")
        assert page.is_current
        await look.press("escape", "escape")
        assert not page.is_current


async def test_n_goes_to_the_next_number_that_did_not_pass_last(site: Site) -> None:
    async with opened(site) as look:
        page = await open_history(look)
        await look.press("G", "n")
        row = page.table.chosen
        assert row is not None
        assert row.record["state"] == State.FAIL.value


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (200, 60)])
async def test_numbers_and_sessions_are_in_sight_at_every_size(site: Site, size: tuple[int, int]) -> None:
    async with opened(site, size) as look:
        page = await open_history(look)
        assert page.table.page >= 1
        assert page.sessions.page >= 2
        assert any("█▁" in line for line in look.lines) or size[0] < 80
        assert any("fail" in line for line in look.lines)


async def test_a_database_that_cannot_be_read_is_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise LockedError("another process has locked it", "wait", site.folder)

    async with opened(site) as look:
        monkeypatch.setattr("benchconsole.console.session.session_archive.read_node_history", refuse)
        monkeypatch.setattr("benchconsole.console.session.session_archive.list_last_sessions", refuse)
        await look.press("colon", *"node n2", "enter", "H")
        page = look.app.screen
        assert isinstance(page, HistoryScreen)
        await look.until(lambda: "cannot be read" in page.table.absent)
        await look.press("2", "H")
        await look.until(lambda: "the history cannot be read" in look.lines[-1])
        assert "not read" in look.text


async def test_a_label_is_only_text(site: Site) -> None:
    await asyncio.to_thread(site.call, "label", "before", NASTY)
    async with opened(site) as look:
        await open_history(look)
        assert "[@click=app.quit]x[/]" in look.text
        assert not set(look.text) & set("\x1b\x07\u202e")


async def test_what_all_sessions_have_in_common_is_told_above_them(site: Site) -> None:
    await asyncio.to_thread(site.call, "label", "before", "after")
    async with opened(site) as look:
        page = await open_history(look)
        assert "session" not in page.sessions.columns
        (line,) = (line for line in look.lines if "left out: " in line)
        assert "with the same in every row (" in line
        assert "session after" in line


async def test_a_column_is_shown_over_sessions_and_taken_away(site: Site) -> None:
    async with opened(site) as look:
        await look.press("2", "greater_than_sign", "greater_than_sign", "greater_than_sign")
        table = look.app.navigation.tabs.nodes.table
        before, picked = table.columns, table.columns[table.picked]
        assert picked == "triad"
        await look.press("H")
        over = table.arranged.over
        assert over is not None
        await look.until(lambda: over.is_read)
        await look.settle()
        assert table.columns[table.picked] == picked
        assert table.columns[table.picked + 1] == OVER
        row = next(line for line in look.lines if " n2 " in line)
        assert "█▁" in row
        assert "▁█" in next(line for line in look.lines if " n1 " in line)
        assert "over sessions" in look.text
        assert "of 2" in look.text
        await look.press("greater_than_sign", "s")
        assert [each.view.node.id for each in table.items] == ["n2", "n3", "n1", "n4"]
        assert "█▁" in table.as_text()
        await look.press("H")
        assert table.arranged.over is None
        assert table.columns == before
        assert table.columns[table.picked] == picked
        assert OVER not in dict(table.sorts)


async def test_the_value_of_the_shown_session_is_that_of_the_table(site: Site) -> None:
    async with opened(site) as look:
        await look.press("2", "H")
        table = look.app.navigation.tabs.nodes.table
        over = table.arranged.over
        assert over is not None
        await look.until(lambda: bool(over.values))
        over.values = {"n2": (80e9, 1.0)}
        row = table.node_rows.by_name["n2"]
        assert over.list_values(row) == [80e9, row.number("triad")]
        assert over.list_values(table.node_rows.by_name["n1"])[0] is None


async def test_it_is_hidden_while_its_column_is_not_chosen(site: Site) -> None:
    async with opened(site) as look:
        await look.press("2", "H")
        table = look.app.navigation.tabs.nodes.table
        await look.until(lambda: OVER in table.columns)
        table.sort_by(OVER)
        table.take_columns((), ())
        assert OVER not in (*table.columns, *dict(table.sorts))
        await look.press("H")
        assert "No metric is among the columns" in look.lines[-1]
        table.take_columns((DEFAULT,), ())
        assert table.columns[table.columns.index("triad") + 1] == OVER


async def test_elsewhere_it_says_where_and_without_a_database_that_there_is_none(site: Site) -> None:
    async with opened(site) as look:
        await look.press("H")
        assert WHERE in look.lines[-1]
    async with looking(faulty()) as look:
        await look.press("2", "H")
        assert "without a database" in look.lines[-1]
        assert look.app.navigation.tabs.nodes.table.arranged.over is None


async def test_before_anything_was_judged_nodes_have_no_history(site: Site) -> None:
    site.topology = site.write("site.yaml")
    await asyncio.to_thread(ingest, site, "unjudged", 80.0, 80.0, 80.0, 80.0)
    async with opened(site) as look:
        await look.press("2", "H")
        assert "No number was judged yet" in look.lines[-1]
        await look.press("colon", *"columns triad", "enter")
        table = look.app.navigation.tabs.nodes.table
        await look.until(lambda: "triad" in table.columns)
        await look.press("H")
        await look.until(lambda: table.arranged.over is not None and bool(table.arranged.over.values))
        assert table.arranged.over is not None
        assert len(table.arranged.over.list_values(table.node_rows.by_name["n1"])) == 3
        page = await open_history(look)
        assert page.table.items[0].words("verdicts") == "·✗○"


def test_a_column_is_read_when_its_values_are_there() -> None:
    """When the last session has been read, they are still put together."""
    over = OverSessions(PeerShareColumn())
    assert (over.is_read, over.symbol) == (False, "being read")
    over.sessions = over.read = 2
    assert (over.is_read, over.symbol) == (False, "2 of 2")
    over.values = {}
    assert (over.is_read, over.symbol) == (True, "of 2")
