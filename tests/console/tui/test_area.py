"""Areas as pages: what stands in the rows, what enter opens, how columns and orders are chosen, and what is too much."""

import gc
import threading
from functools import partial

import pytest

from benchconsole.console.text.table import number, words
from benchconsole.console.tui.actions import AREA_PAGES
from benchconsole.console.tui.queries.area import Area, Row
from benchconsole.console.tui.queries.areas import AREAS
from benchconsole.console.tui.queries.filtering import compile_filter
from benchconsole.console.tui.queries.result_areas import list_pairs, list_results
from benchconsole.console.tui.screens import area
from benchconsole.console.tui.screens.area import AreaScreen
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.area_table import AreaTable
from benchconsole.console.view.events import make_noticed
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion
from benchconsole.topology.units import Unit
from tests.console.tui.looking import Look, faulty, healthy, looking, reading
from tests.console.tui.story import Story


async def page(look: Look, name: str) -> AreaScreen:
    """The page of an area, with its rows."""
    await look.press("colon", *name, "enter")
    return await front(look)


async def front(look: Look) -> AreaScreen:
    screen = look.app.screen
    assert isinstance(screen, AreaScreen)
    await look.until(lambda: screen.table.area is not None)
    await look.settle()
    return screen


def judged() -> Story:
    """The faulty cluster with a criterion in its file."""
    story = faulty()
    criterion = Criterion("iperf3.throughput", Comparator.AT_LEAST, 0.8, Unit.BYTE_RATE, Basis.CAPACITY, source="1.1")
    return replace(story, fabric=replace(story.fabric, criteria=(criterion,)))


@pytest.mark.parametrize("name", AREA_PAGES)
async def test_every_area_has_a_page_and_esc_leaves_it(name: str) -> None:
    async with looking(judged()) as look:
        screen = await page(look, name)
        assert f"› {name}" in look.lines[1]
        assert screen.table.count == len(screen.table.every) > 0
        await look.press("escape")
        assert look.app.screen is look.app.navigation.fabric


async def test_the_slowest_pair_is_first_and_what_all_rows_share_is_told_once() -> None:
    async with looking(faulty()) as look:
        screen = await page(look, "pairs")
        row = screen.table.chosen
        assert row is not None
        assert (row.words("from"), row.words("state")) == ("n050", "fail")
        shares = [each.number("share") for each in screen.table.items]
        known = [share for share in shares if share is not None]
        assert shares == sorted(known)
        assert "metric iperf3.throughput" in look.lines[-2]
        assert "metric" not in look.lines[5]


async def test_results_begin_with_the_worst_and_another_order_can_be_asked_for() -> None:
    async with looking(faulty()) as look:
        screen = await page(look, "results")
        ranks = [State(str(row.record["state"])).rank for row in screen.table.items]
        assert ranks == sorted(ranks)
        assert ranks[0] == State.FAIL.rank
        await look.press("colon", *"sort", "space", *"share", "enter")
        shares = [row.number("share") for row in screen.table.items]
        known = [share for share in shares if share is not None]
        assert shares[: len(known)] == sorted(known)
        assert "sorted by share¹" in look.text


async def test_what_is_judged_while_rows_are_made_is_shown_though_no_other_view_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    make = AREAS["rounds"]

    def make_late(view: RunView) -> Area:
        begun.set()
        go_on.wait(60)
        return make(view)

    monkeypatch.setitem(AREAS, "rounds", make_late)
    story = faulty()
    events = list(story.events())
    half = next(place for place, each in enumerate(events) if isinstance(each, ClosedRound)) + 1
    async with looking(story, until=half) as look:
        await look.press("colon", *"rounds", "enter")
        screen = look.app.screen
        assert isinstance(screen, AreaScreen)
        await look.until(begun.is_set)
        look.player.feed(*events[half:])
        await look.until(lambda: len(getattr(screen.run_view, "closed", ())) == len(story.closed))
        await look.settle()
        go_on.set()
        view = screen.run_view
        assert view is not None
        whole = make(view).records
        await look.until(lambda: screen.table.area is not None and screen.table.area.records == whole)


async def test_enter_on_a_result_opens_what_its_test_printed() -> None:
    async with looking(faulty()) as look:
        screen = await page(look, "results")
        row = screen.table.chosen
        assert row is not None
        await look.press("enter")
        raw = look.app.screen
        assert isinstance(raw, RawScreen)
        assert raw.test == row.record["test"]
        await look.press("escape")
        assert look.app.screen is screen
        assert screen.table.chosen is row


async def test_enter_on_a_link_shows_it_in_the_fabric() -> None:
    async with looking(faulty()) as look:
        await page(look, "links")
        await look.press("colon", *"sort", "space", *"link", "enter", "slash", *"leaf3&spine1", "enter")
        await look.press("enter")
        assert look.app.screen is look.app.navigation.fabric
        assert "leaf3 to spine1" in look.text


async def test_enter_on_a_criterion_and_on_a_round_lists_their_results() -> None:
    async with looking(judged()) as look:
        screen = await page(look, "criteria")
        row = screen.table.chosen
        assert row is not None
        metric = row.words("metric")
        await look.press("enter")
        results = await front(look)
        assert results.prompt.text == f"metric={metric}"
        assert {each.words("metric") for each in results.table.items} == {metric}
        await look.press("escape", "escape")
        assert look.app.screen is screen
        await look.press("escape")
        rounds = await page(look, "rounds")
        chosen = rounds.table.chosen
        assert chosen is not None
        await look.press("enter")
        results = await front(look)
        assert {each.record["round"] for each in results.table.items} == {chosen.record["round"]}


async def test_n_walks_from_fault_to_fault_and_says_where_there_is_none() -> None:
    async with looking(faulty()) as look:
        screen = await page(look, "pairs")
        await look.press("n")
        row = screen.table.chosen
        assert row is not None
        assert row.words("state") != "pass"
    async with looking(healthy()) as look:
        await page(look, "pairs")
        await look.press("n")
        assert "No row has a fault." in look.lines[-1]


async def test_r_repeats_the_test_of_a_row_after_showing_the_plan() -> None:
    async with looking(faulty()) as look:
        screen = await page(look, "pairs")
        row = screen.table.chosen
        assert row is not None
        await look.press("r")
        assert isinstance(look.app.screen, PlanSheet)
        assert look.player.proposed[-1][2] == (row.record["test"],)


async def test_a_row_is_read_in_full_and_copied_with_every_column() -> None:
    async with looking(faulty(), (80, 24)) as look:
        screen = await page(look, "results")
        assert "stage" not in screen.table.fitting(80)
        await look.press("t")
        assert "stage" in look.text
        await look.press("escape", "y")
        heading, row = look.app.clipboard.splitlines()
        assert heading.split("\t")[:3] == ["state", "of", "metric"]
        assert row.split("\t")[0] == "fail"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("name", AREA_PAGES)
async def test_columns_stay_within_the_width_and_the_picked_one_is_always_drawn(
    name: str, size: tuple[int, int]
) -> None:
    async with looking(judged(), size) as look:
        screen = await page(look, name)
        for column in screen.table.columns:
            fitting = screen.table.fitting(size[0])
            assert screen.table.columns[screen.table.picked] == column
            assert column in fitting
            places = screen.table._planned(size[0])
            assert all(x + wide <= size[0] for _, x, wide in places)
            assert [x for _, x, _ in places] == sorted({x for _, x, _ in places})
            await look.press("greater_than_sign")


async def test_while_a_session_is_read_it_says_so_and_lists_nothing() -> None:
    async with reading(faulty()) as (look, over):
        await look.press("colon", *"pairs", "enter")
        screen = look.app.screen
        assert isinstance(screen, AreaScreen)
        assert screen.table.area is None
        assert "being read" in look.lines[1]
        over.set()
        await look.until(lambda: screen.table.area is not None)
        assert screen.table.count > 0


@pytest.mark.parametrize("name", ["pairs", "results"])
async def test_of_more_rows_than_fit_those_that_pass_are_left_out_and_that_is_said(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(area.LIMITED, name, partial({"pairs": list_pairs, "results": list_results}[name], most=10))
    async with looking(faulty(), (200, 60)) as look:
        screen = await page(look, name)
        assert "pass" not in {row.words("state") for row in screen.table.every}
        assert "that pass are not listed" in look.lines[-2]


async def test_a_page_that_was_left_lets_its_rows_go() -> None:
    gc.collect()  # rows of tests before
    async with looking(faulty()) as look:
        before = _count_rows()
        screen = await page(look, "results")
        assert _count_rows() >= before + screen.table.count > before
        await look.press("escape")
        await look.until(lambda: not screen.is_attached)
        await look.settle()
        assert _count_rows() == before


def _count_rows() -> int:
    """Rows of areas that are in memory."""
    return sum(isinstance(each, Row) for each in gc.get_objects())


async def test_a_filter_stays_when_new_rows_come() -> None:
    async with looking(faulty()) as look:
        screen = await page(look, "pairs")
        await look.press("slash", *"state=fail", "enter")
        assert {row.words("state") for row in screen.table.items} == {"fail"}
        screen._known = ()
        await look.settle()
        await look.until(lambda: not screen._is_making)
        assert {row.words("state") for row in screen.table.items} == {"fail"}


@pytest.mark.parametrize(("width", "wide"), [(200, 150), (100, 52)])
def test_words_are_cut_only_where_there_is_no_room_for_them(width: int, wide: int) -> None:
    """A column may be wider than 60 when the others have what they need."""
    table = AreaTable()
    columns = {"name": words("name"), "why": words("why"), "number": number("number")}
    rows = [Row({"name": name, "why": name * 75, "number": "1"}, {}, {}) for name in ("ab", "cd")]
    table.show(Area("Things", columns, tuple(rows), {}))
    assert {name: room for name, _, room in table._planned(width)}["why"] >= wide


def test_a_long_column_does_not_take_what_another_needs() -> None:
    table = AreaTable()
    rows = [Row({"one": name * 200, "other": name * 50}, {}, {}) for name in "ab"]
    table.show(Area("Things", {"one": words("one"), "other": words("other")}, tuple(rows), {}))
    assert {name: room for name, _, room in table._planned(160)} == {"one": 105, "other": 50}


def test_the_cursor_stays_on_its_row_and_in_a_new_area_on_the_one_like_it() -> None:
    def make(*names: str) -> Area:
        rows = [Row({"of": name, "why": name * 2}, {}, {"of": name}) for name in names]
        return Area("Things", {"of": words("of"), "why": words("why")}, tuple(rows), {})

    table = AreaTable()
    table.show(make("a", "b", "c", "d"))
    table.cursor = 2
    table.filter = compile_filter("!a", table.filter_columns)
    table.apply_filter()
    assert (table.cursor, table.items[table.cursor].words("of")) == (1, "c")
    table.show(make("x", "y", "c"))
    assert (table.cursor, table.items[table.cursor].words("of")) == (2, "c")
    table.filter = compile_filter("!c", table.filter_columns)
    table.apply_filter()
    assert table.items[table.cursor].words("of") == "y"


@pytest.mark.parametrize(
    ("width", "stages", "said"),
    [
        (80, ("legs", "legs"), "left out: 1 column with the same in every row (in stage legs)"),
        (80, ("legs", "leave"), ""),
        (40, ("legs", "leave"), "left out: 1 column for want of room"),
        (40, ("legs", "legs"), "left out: 1 column for want of room,…"),
    ],
)
def test_a_table_that_is_alone_says_which_columns_it_leaves_out(width: int, stages: tuple[str, str], said: str) -> None:
    columns = {"name": words("name"), "stage": words("in stage"), "why": words("why", 20), "number": number("number")}
    rows = [
        Row({"name": f"{place}", "stage": stage, "why": f"{place}" * 20, "number": "1"}, {}, {})
        for place, stage in enumerate(stages)
    ]
    table, beside = AreaTable(is_alone=True), AreaTable()
    for each in (table, beside):
        each.show(Area("Things", columns, tuple(rows), {}))
    *above, heading = ["".join(piece.text for piece in line).strip() for line in table.heading(width)]
    assert above == ([said] if said else [])
    assert heading.startswith("name")
    assert len(beside.heading(width)) == 1


@pytest.mark.parametrize(
    ("name", "offered", "spared"),
    [
        ("pairs", "v as a map", "m remark"), ("links", "m remark", "D plot"), ("rounds", "t in full", "n next fault"),
        ("results", "D plot", "v as a map"),
    ],
)  # fmt: skip
async def test_the_last_row_offers_what_the_rows_of_an_area_have(name: str, offered: str, spared: str) -> None:
    async with looking(faulty(), (160, 40)) as look:
        await look.press("colon", *name, "enter")
        await look.settle()
        assert offered in look.lines[-1]
        assert spared not in look.lines[-1]


async def test_enter_on_a_suite_shows_its_plan() -> None:
    async with looking(faulty()) as look:
        screen = await page(look, "suites")
        await look.press("slash", *"quick", "enter", "enter")
        sheet = look.app.screen
        assert isinstance(sheet, PlanSheet)
        assert look.player.proposed[-1][0] == "quick"
        await look.press("escape")
        assert look.app.screen is screen


async def test_enter_on_a_probe_lists_its_results_and_on_one_that_did_not_run_says_so() -> None:
    async with looking(faulty()) as look:
        await page(look, "probes")
        await look.press("slash", *"probe=iperf3", "enter", "enter")
        results = await front(look)
        assert results.name_of_area == "results"
        assert {row.words("metric").partition(".")[0] for row in results.table.items} == {"iperf3"}
        await look.press("escape", "escape", "escape", "slash", *"probe=hpl", "enter", "enter")
        assert "Nothing was run for this row." in look.lines[-1]


async def test_enter_on_a_line_of_the_log_shows_it_in_full() -> None:
    async with looking(faulty()) as look:
        screen = await page(look, "logs")
        row = screen.table.chosen
        assert row is not None
        await look.press("enter")
        assert look.app.screen is not screen
        assert row.words("text")[:30] in look.text


async def test_a_line_that_comes_while_the_log_is_open_is_shown() -> None:
    async with looking(faulty()) as look:
        screen = await page(look, "logs")
        before = screen.table.count
        look.player.feed(make_noticed("criteria", "judged again by ann", 1_700_000_050.0))
        await look.until(lambda: screen.table.count == before + 1)
        assert screen.table.items[-1].words("text").endswith("judged again by ann")
