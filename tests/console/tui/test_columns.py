"""The chooser of columns on Nodes: by key, by name, for the session, sorted, filtered and beside peers."""

import threading

import pytest

from benchconsole.console.tui.queries import told_readings
from benchconsole.console.tui.queries.node_row import DEFAULT
from benchconsole.console.tui.rows.text_rows import Row
from benchconsole.console.tui.screens.columns import ColumnsSheet
from benchconsole.console.tui.screens.nodes import NodesScreen
from benchconsole.console.tui.widgets.node_table import NodeTable
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Fact
from benchconsole.store.errors import StoreError
from tests.console.tui.looking import Look, faulty, large, looking
from tests.console.tui.queries.test_column_reader import ask_again
from tests.console.tui.test_keys import press_at_once


def table_of(look: Look) -> NodeTable:
    return look.app.navigation.tabs.nodes.table


async def open_chooser(look: Look) -> ColumnsSheet:
    await look.press("2", "K")
    sheet = look.app.screen
    assert isinstance(sheet, ColumnsSheet)
    await look.until(lambda: not sheet.note)
    return sheet


async def type_columns(look: Look, names: str) -> None:
    await look.press("2")
    look.app.command_line.perform(f"columns {names}")
    wanted = names.split()
    await look.until(lambda: all(name in table_of(look).columns for name in wanted if name != "default"))
    await look.settle()


def row_of(look: Look, node: str) -> str:
    return next(line for line in look.lines if f" {node} " in line)


async def test_k_lists_metrics_by_stage_and_facts_with_their_counts() -> None:
    async with looking(faulty()) as look:
        sheet = await open_chooser(look)
        assert [offer.group for offer in sheet.list.items][-1] == "facts"
        assert "127 nodes, judged: stream.triad" in look.text
        await look.press(*"kernel")
        assert "133 nodes, 1 value: kernel.release" in look.text
        assert sheet.list.count == 1


async def test_typed_text_counts_what_holds_it() -> None:
    async with looking(faulty()) as look:
        sheet = await open_chooser(look)
        await look.press(*"memory")
        assert f", {sheet.list.count} hold the text" in look.text


async def test_space_toggles_enter_applies_and_the_columns_stay() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        before = table_of(look).columns
        await open_chooser(look)
        await look.press(*"kernel", "space", "ctrl+u", *"memory.total", "space", "enter")
        await look.until(lambda: "kernel" in table_of(look).columns)
        assert [key for key in table_of(look).columns if key not in before] == ["kernel", "memory.total"]
        assert "6.1.0-28-amd64" in look.text
        await look.press("1", "2")
        assert "kernel" in table_of(look).columns
        await open_chooser(look)
        await look.press(*"kernel", "space", "enter")
        await look.until(lambda: "kernel" not in table_of(look).columns)
        assert "memory.total" in table_of(look).columns


async def test_esc_leaves_the_columns_as_they_are() -> None:
    async with looking(faulty()) as look:
        await open_chooser(look)
        before = table_of(look).columns
        await look.press(*"kernel", "space", "escape")
        assert isinstance(look.app.screen, NodesScreen)
        assert table_of(look).columns == before
        assert table_of(look).arranged.wanted == (DEFAULT,)


async def test_names_are_typed_and_default_goes_back() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        before = table_of(look).columns
        await type_columns(look, "kernel memory.total")
        assert table_of(look).columns == ("state", "node", "under", "kernel", "memory.total", "limit", "why")
        await type_columns(look, "default kernel")
        assert set(table_of(look).columns) == {*before, "kernel"}
        look.app.command_line.perform("columns default")
        await look.until(lambda: table_of(look).columns == before)


async def test_a_name_that_is_none_is_said_and_changes_nothing() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        before = table_of(look).columns
        look.app.command_line.perform("columns kernl")
        await look.until(lambda: "no such column, did you mean kernel?" in look.lines[-1])
        assert table_of(look).columns == before


async def test_the_last_of_several_names_is_completed() -> None:
    async with looking(faulty()) as look:
        await type_columns(look, "kernel")
        await look.press("colon", *"columns kernel nic.m")
        assert "columns kernel nic.mtu" in look.text
        await look.press("enter")


async def test_what_is_not_as_declared_and_unlike_peers_is_marked_and_told_in_words() -> None:
    async with looking(faulty()) as look:
        await type_columns(look, "memory.total kernel")
        assert "112 GiB ≠ 128 ◇" in row_of(look, "n093")
        assert "128 GiB ·" in row_of(look, "n050")
        assert "◇" not in row_of(look, "n050")
        table = table_of(look)
        table.go(table.items.index(table.node_rows.by_name["n093"]))
        while table.columns[table.picked] != "memory.total":
            await look.press("greater_than_sign")
        assert "memory.total 112 GiB, 128 GiB declared: not as declared, differs: 12" in look.lines[-2]


async def test_a_filter_and_a_sort_work_on_facts() -> None:
    async with looking(faulty()) as look:
        await type_columns(look, "memory.total kernel")
        table = table_of(look)
        await look.press("slash", *"kernel~6.1 & memory.total<120 & under~leaf", "enter")
        assert [row.view.node.id for row in table.items] == ["n093"]
        await look.press("escape", "slash", *"kernel!=6.1.0-28-amd64", "enter")
        assert [row.view.node.id for row in table.items] == ["n120"]  # could not be asked
        await look.press("escape", "slash", *"amd64", "enter")
        assert table.count == 133
        await look.press("escape")
        table.sort_by("memory.total")
        assert [row.number("memory.total") for row in table.items[:2]] == [64 * 2.0**30] * 2
        assert table.items[-1].view.node.id == "n120"
        look.app.command_line.perform("columns default")
        await look.until(lambda: "kernel" not in table.columns)
        assert [name for name, _ in table.sorts] == ["state", "node"]


async def test_of_peers_follows_the_column_under_the_cursor() -> None:
    async with looking(faulty()) as look:
        await type_columns(look, "triad legs of.peers")
        table = table_of(look)
        while table.columns[table.picked] != "legs":
            await look.press("greater_than_sign")
        assert "of legs" in look.lines[7]
        number = table.node_rows.by_name["n050"].number("of.peers")
        assert number == pytest.approx(0.3, abs=0.01)
        assert "of peers: legs median 9.89 Gb/s of 128 nodes of" in look.lines[-2]
        await look.press("slash", *"of.peers<50", "enter")
        assert [row.view.node.id for row in table.items] == ["n050"]
        await look.press("less_than_sign")
        assert table.columns[table.picked] == "triad"
        assert table.count == 0  # the filter holds the numbers of the other column


async def test_the_table_is_there_while_facts_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, over = threading.Event(), threading.Event()
    original = told_readings.ReadingsCache._take

    def wait(self: told_readings.ReadingsCache, *of: object) -> None:
        begun.set()
        assert over.wait(60)
        original(self, *of)  # type: ignore[arg-type] # as it was called

    monkeypatch.setattr(told_readings.ReadingsCache, "_take", wait)
    async with looking(faulty()) as look:
        try:
            await look.press("2", "K")
            await look.until(begun.is_set)
            sheet = look.app.screen
            assert isinstance(sheet, ColumnsSheet)
            await look.until(lambda: "what the nodes told is being read" in look.text)
            assert "judged: stream.triad" in look.text  # for metrics nothing has to be read
            await look.press("escape", "down")
            assert table_of(look).cursor == 1
        finally:
            over.set()


async def test_facts_that_cannot_be_read_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object, *_: object) -> None:
        raise StoreError("the file has gone", "look for it")

    monkeypatch.setattr(told_readings.ReadingsCache, "_take", refuse)
    async with looking(faulty()) as look:
        await look.press("2", "K")
        await look.until(lambda: "cannot be read now: the file has gone" in look.text)
        assert "judged: stream.triad" in look.text
        await look.press("escape")
        look.app.command_line.perform("columns kernel")
        await look.until(lambda: "the file has gone" in look.lines[-1])


async def test_k_twice_in_one_read_opens_one_sheet_and_text_is_for_it() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        press_at_once(look.app, "K", "K")
        await look.settle()
        assert len(look.app.screen_stack) == 2
        assert isinstance(look.app.screen, ColumnsSheet)
        assert look.app.screen.prompt.text in ("", "K")


async def test_a_round_that_tells_more_is_read_without_being_asked() -> None:
    story = ask_again(faulty(), "n001", Fact("kernel.release", "6.6"))
    last = max(place for place, event in enumerate(story.events()) if isinstance(event, ClosedRound))
    async with looking(story, until=last) as look:
        await type_columns(look, "kernel")
        assert table_of(look).node_rows.by_name["n001"].words("kernel") == "6.1.0-28-amd64"
        look.player.feed(*look.player.waiting)
        await look.until(lambda: table_of(look).node_rows.by_name["n001"].words("kernel") == "6.6")


async def test_ten_thousand_rows_with_facts_draw_no_more_than_what_is_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    async with looking(large(), (200, 50)) as look:
        await type_columns(look, "default kernel memory.total of.peers")
        drawn: list[int] = []
        original = NodeTable.row

        def count(self: NodeTable, index: int, width: int) -> Row:
            drawn.append(index)
            return original(self, index, width)

        monkeypatch.setattr(NodeTable, "row", count)
        await look.press("down")
        assert 0 < len(drawn) <= 3 * 50


async def test_a_saved_filter_is_not_one_of_columns_and_that_is_said() -> None:
    async with looking(faulty()) as look:
        await open_chooser(look)
        await look.press(*"@slow")
        assert "columns are found by their text; saved filters are of rows" in look.text
