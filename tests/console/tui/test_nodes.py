"""The node table: order, filter, sort, what is copied, and how little it draws."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.console.tui.queries import expression
from benchconsole.console.tui.queries.filtering import ReadRows, compile_filter
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, NodeRow
from benchconsole.console.tui.queries.view_queries import is_shared
from benchconsole.console.tui.rows.text_rows import Row
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.tui.widgets.node_table import NodeTable
from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import opened
from benchconsole.topology.copying import replace
from benchconsole.topology.units import counted as count
from tests.console.tui.looking import boxes, faulty, healthy, large, looking
from tests.console.tui.test_keys import press_at_once

SEEN = faulty().view()


async def test_the_worst_come_first_and_only_what_deviates_is_coloured() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        names = [row.view.node.id for row in look.app.navigation.tabs.nodes.table.items[:6]]
        assert names == ["n050", "n093", "st3", "n120", "n020", "n033"]
        assert "state¹" in look.lines[5]
        assert "node²" in look.lines[5]
        assert any("2.97" in line and "n050" in line for line in look.lines)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["", "n", "n0", "n00", "n001", "!n00", "st|n1", "state=fail", "state!=pass & leaf3", "n0 !n05"])
        | st.sampled_from([("node", False), ("state", False), ("under", True), ("throughput", False)]),
        min_size=1,
        max_size=6,
    )
)
def test_filter_and_sort_in_any_order_give_what_a_new_table_gives(steps: list[str | tuple[str, bool]]) -> None:
    kept = NodeTable()
    kept.show(SEEN)
    for step in steps:
        if isinstance(step, str):
            kept.filter = compile_filter(step, kept.filter_columns)
            kept.apply_filter()
        else:
            kept.sort_by(step[0], also=step[1])
    plain = NodeTable()
    plain.show(SEEN)
    rows = [row for row in plain.every if kept.filter.select(ReadRows([row]))]
    for column, descending in reversed(kept.sorts):
        rows.sort(key=plain.node_rows.find_sort_key(plain.arranged.shown, column), reverse=descending)
    assert [row.view.node.id for row in kept.items] == [row.view.node.id for row in rows]


def test_a_letter_of_a_filter_sorts_nothing_and_reads_no_row_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = NodeTable()
    table.show(SEEN)
    read: list[str] = []
    everything = NodeRow.everything

    def note(row: NodeRow) -> str:
        read.append(row.view.node.id)
        return str(everything.__get__(row))

    monkeypatch.setattr(NodeRow, "everything", property(note))
    monkeypatch.setattr(table.node_rows, "find_sort_key", lambda _columns, key: pytest.fail(f"sorts by {key}"))
    for text in ("n", "n0", "n00", "n0", "!n0", ""):
        table.filter = compile_filter(text, table.filter_columns)
        table.apply_filter()
    assert len(read) == len(table.every)


async def test_a_node_that_no_test_has_been_at_is_not_called_skipped() -> None:
    async with looking(healthy(), until=1) as look:
        await look.press("2")
        assert "untested" in next(line for line in look.lines if " n001 " in line)
        assert "skipped" not in look.text


async def test_a_node_shows_its_own_part_of_what_many_sent_together() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        row = next(line for line in look.lines if " n033 " in line)
        assert "7.43" in row
        assert "leaf3 to spi" in row
        assert "118" not in row


async def test_a_node_that_sends_two_of_the_flows_shows_their_sum() -> None:
    async with looking(faulty()) as look:
        view = look.app.session.view
        assert view is not None
        verdict = next(v for some in view.verdicts.values() for v in some if is_shared(v) and v.expected)
        one = next(r for r in view.results.values() if r.test.bundle == verdict.subject and r.measurements)
        test = replace(one.test, id="second")
        other = replace(one, test=test)
        node = view.nodes[one.test.target.node.id]
        alone = NodeRow(replace(node, results=(one,)), "", NO_COLUMNS)._own_part(verdict)
        both = NodeRow(replace(node, results=(one, other)), "", NO_COLUMNS)._own_part(verdict)
        assert alone is not None
        assert both is not None
        assert alone.value is not None
        assert both.value == 2 * alone.value
        assert both.share == pytest.approx(alone.share)


async def test_a_partner_is_not_blamed() -> None:
    async with looking(faulty()) as look:
        row = look.app.navigation.tabs.nodes.table
        await look.press("2")
        partner = row.node_rows.by_name["n114"]  # received from n050, whose NIC is slow
        assert partner.state.value == "pass"
        assert partner.deciding is None


async def test_a_filter_keeps_what_it_says_and_esc_clears_it() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "slash", *"state!=pass", "space", "ampersand", *"leave<9")
        assert "17 of 134 shown, 117 hidden" in look.lines[3]
        await look.press("enter")
        assert look.app.navigation.tabs.nodes.table.count == 17
        await look.press("escape")
        assert look.app.navigation.tabs.nodes.table.count == 134
        assert look.app.navigation.tabs.nodes.prompt.text == ""


async def test_an_invalid_word_is_named_and_the_last_valid_filter_stays() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "slash", *"leaf3")
        assert look.app.navigation.tabs.nodes.table.count == 16
        await look.press("space", "ampersand", *"leave<9,5")
        assert "a number uses a point: 9.5" in look.lines[3]
        assert "the last valid filter still applies" in look.lines[3]
        assert look.app.navigation.tabs.nodes.table.count == 16


async def test_an_expression_keeps_rows_and_one_that_is_none_says_where() -> None:
    async with looking(faulty()) as look:
        table = look.app.navigation.tabs.nodes.table
        await look.press("2", "slash", *"~^n05[0-3]$")
        assert [row.view.node.id for row in table.items] == ["n050", "n051", "n052", "n053"]
        await look.press(*"[")
        assert "character 11 of the expression: unterminated character set" in look.lines[3]
        assert table.count == 4


async def test_an_expression_that_takes_too_long_is_told_and_shows_all_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression, "SECONDS", 0.0)
    async with looking(faulty()) as look:
        await look.press("2", "slash", *"~^n05.*")
        table = look.app.navigation.tabs.nodes.table
        assert table.count == len(table.every)
        assert "takes too long" in look.lines[3]
        assert "all are shown" in look.lines[3]


async def test_letters_typed_into_the_filter_are_no_actions() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "slash", *"qseR")
        assert look.app.navigation.tabs.nodes.prompt.text == "qseR"
        assert len(look.app.screen_stack) == 1


async def test_sorting_by_a_picked_column() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        table = look.app.navigation.tabs.nodes.table
        column = table.columns.index("legs")
        for _ in range(column):
            await look.press("greater_than_sign")
        await look.press("s")
        assert table.sorts[0] == ("legs", False)
        assert table.items[0].view.node.id == "n050"
        await look.press("s")
        assert table.sorts[0] == ("legs", True)
        assert "legs¹▾" in look.lines[5]
        await look.press("less_than_sign", "S")
        assert len(table.sorts) == 3


async def test_what_was_not_measured_sorts_last() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        table = look.app.navigation.tabs.nodes.table
        table.sort_by("triad")
        values = [row.number("triad") for row in table.items]
        known = [value for value in values if value is not None]
        assert values[: len(known)] == sorted(known)


async def test_rows_and_tables_are_copied_as_tabs() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "y")
        assert look.app.clipboard.splitlines()[1].startswith("fail\tn050\tleaf4\t")
        await look.press("Y")
        assert len(look.app.clipboard.splitlines()) == 135
        assert "135" not in look.lines[-1]
        assert "134 rows" in look.lines[-1]


async def test_what_passes_folds() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "z")
        assert look.app.navigation.tabs.nodes.table.count == 21
        assert "113 that pass are folded" in look.lines[-2]


async def test_hidden_columns_are_announced_and_can_be_reached() -> None:
    async with looking(faulty(), (80, 24)) as look:
        await look.press("2")
        table = look.app.navigation.tabs.nodes.table
        assert table.hidden > 0
        assert f"{count(table.hidden, 'column')} hidden" in look.lines[-2]
        for _ in table.columns:
            await look.press("greater_than_sign")
            assert table.columns[table.picked] in table.fitting(80)


async def test_r_repeats_the_tests_of_the_node_after_showing_the_plan() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "r")
        assert isinstance(look.app.screen, PlanSheet)
        assert look.player.proposed[-1][2][0].endswith("n050")
        await look.press("escape")
        assert look.player.started == []


async def test_ten_thousand_rows_draw_no_more_than_what_is_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    original = NodeTable.row

    def counting(self: NodeTable, index: int, width: int) -> Row:
        drawn.append(index)
        return original(self, index, width)

    async with looking(large(), (200, 50)) as look:
        await look.press("2")
        monkeypatch.setattr(NodeTable, "row", counting)
        await look.press("down")
        assert look.app.navigation.tabs.nodes.table.cursor == 1
        assert 0 < len(drawn) <= 3 * 50
        drawn.clear()
        await look.press("end")
        assert look.app.navigation.tabs.nodes.table.cursor == 10_239
        assert len(drawn) <= 3 * 50
        assert "of 10,240" in look.lines[-2]


async def test_enter_opens_the_node_and_esc_comes_back() -> None:
    async with looking(boxes()) as look:
        await look.press("2", "enter")
        assert isinstance(look.app.screen, NodeScreen)
        assert look.app.screen.node == "c12n05"
        await look.press("escape")
        assert look.app.navigation.frame is look.app.navigation.tabs.nodes


def test_the_cursor_stays_on_the_worst_row_until_it_is_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first view of a session has no results yet: its first row is no node that anybody chose."""
    monkeypatch.setattr(NodeTable, "redraw", lambda self: None)
    monkeypatch.setattr(NodeTable, "post_message", lambda self, message: True)
    story = faulty()
    table = NodeTable()
    first = next(iter(story.events(tests=False)))
    assert isinstance(first, SessionOpened)
    table.show(opened(first))
    table.show(story.view())
    assert (table.cursor, table.chosen_node) == (0, "n050")
    table.go(table.items.index(table.node_rows.by_name["n033"]))
    table.sort_by("node")
    assert (table.chosen_node, table.items[0].view.node.id) == ("n033", "m1")


async def test_limits_that_no_finding_names_are_whole_where_there_is_room() -> None:
    """A verdict may name both ends of a pair where the finding names one."""
    long = "n050 out, n052 in, whichever was first"
    story = faulty()
    closed = [
        replace(
            each,
            verdicts=tuple(
                verdict._replace(limiting=long) if verdict.limiting == "n050 out" else verdict
                for verdict in each.verdicts
            ),
        )
        for each in story.closed
    ]
    async with looking(replace(story, closed=closed), (200, 50)) as look:
        await look.press("2")
        view = look.app.session.view
        assert view is not None
        assert all(len(each.where) < len(long) for each in view.findings)
        assert any(f"  {long}  " in line for line in look.lines)


async def test_names_of_what_limits_are_whole_where_there_is_room() -> None:
    async with looking(faulty(), (200, 50)) as look:
        await look.press("2")
        row = next(line for line in look.lines if " n033 " in line)
        assert "leaf3 to spine1" in row
        assert row.count("leaf3 to spine1") == 1  # and not said again as the reason


async def test_marked_nodes_are_what_r_plans_on_and_what_is_repeated() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "slash", *"under=leaf3", "enter", "asterisk")
        table = look.app.navigation.tabs.nodes.table
        assert table.marked == {f"n{number:03}" for number in range(33, 49)}
        assert "16 marked" in look.lines[-2]
        assert look.lines[8].startswith(("*", "▌"))
        await look.press("R")
        assert isinstance(look.app.screen, PlanSheet)
        assert look.player.on[-1] == tuple(sorted(table.marked))
        await look.press("escape", "r")
        assert isinstance(look.app.screen, PlanSheet)
        wanted = {*look.player.proposed[-1][2]}
        tests = [test for each in faulty().rounds for test in each.tests if test.id in wanted]
        assert len(tests) == len(wanted) >= 16
        assert all(table.marked & {node.id for node in test.target.nodes} for test in tests)
        assert look.player.on[-1] is None
        await look.press("escape", "asterisk")
        assert table.marked == set()


async def test_space_marks_one_node_and_goes_on_and_esc_clears_filter_then_marks() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "space", "space")
        table = look.app.navigation.tabs.nodes.table
        assert table.marked == {row.view.node.id for row in table.items[:2]}
        assert table.cursor == 2
        await look.press("up", "space")
        assert table.marked == {table.items[0].view.node.id}
        await look.press("slash", *"leaf3", "enter", "escape")
        assert table.marked
        await look.press("escape")
        assert not table.marked
        await look.press("R")
        assert look.player.on[-1] is None


async def test_marks_on_the_nodes_say_nothing_of_a_plan_from_another_page() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "space", "4", "R")
        assert look.player.on[-1] is None


@pytest.mark.parametrize("keys", [("2", "/", *"under=leaf3"), ("2", "/", *"export")])
async def test_a_filter_typed_before_the_page_is_there_is_no_action(keys: tuple[str, ...]) -> None:
    async with looking(faulty()) as look:
        press_at_once(look.app, *keys)
        await look.settle()
        assert look.app.screen is look.app.navigation.tabs.nodes
        assert look.app.navigation.tabs.nodes.prompt.text == "".join(keys[2:])
