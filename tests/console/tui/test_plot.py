"""The page of plots: every picture of a metric, its cursor, what enter opens, and two sessions in one picture."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from benchconsole.console.conclusions.metric_samples import SampleKey
from benchconsole.console.conclusions.plotted_metric import ClassNumbers, Plot, PlotBounds, PlottedMetric, list_plots
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.rows.text_rows import plain_text, row_width
from benchconsole.console.tui.rows.themes import FAIL, Depth, Ground
from benchconsole.console.tui.screens import plot as plot_page
from benchconsole.console.tui.screens.base import page as base
from benchconsole.console.tui.screens.base.page import PlotWish
from benchconsole.console.tui.screens.plot import PlotScreen, find_telling
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.plot import MOST_CLASSES, ClassStrips
from benchconsole.console.tui.widgets.plot_drawing import Picture, draw_plot
from benchconsole.console.tui.widgets.plot_frame import PlotLook
from benchconsole.console.view.events import SessionEnded
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import ClosedRound, Level
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Comparator, Hardware
from benchconsole.topology.units import Shown, Unit
from tests.console.conclusions.test_plotted_metric import judged, told
from tests.console.reports.building import Story as Built
from tests.console.reports.building import fabric
from tests.console.tui.looking import Look, faulty, looking
from tests.console.tui.queries.test_comparison_area import report, worse
from tests.console.tui.story import Story

SIZES = [(80, 24), (120, 40), (200, 60)]
LOOK = PlotLook(80, 20)


@pytest.fixture(autouse=True)
def stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of a page stay until it says something else: a loaded machine may be slower than a reader."""
    monkeypatch.setattr(base, "SAID_FOR", 600.0)


async def page(look: Look, *keys: str) -> PlotScreen:
    await look.press(*keys)
    screen = look.app.screen
    assert isinstance(screen, PlotScreen)
    await look.until(lambda: screen.plots.count > 0)
    await look.settle()
    return screen


def draw(plot: Plot, picture: Picture, number: int | None = None, look: PlotLook = LOOK) -> list[str]:
    return [plain_text(row).rstrip() for row in draw_plot(plot, picture, number, look)]


def plot_of(values: Sequence[float], required: float | None = 9.0) -> Plot:
    (plot,) = list_plots(told(judged(*values) if required is not None else [(each, None, None) for each in values]))
    return plot


def picture_of(lines: Sequence[str]) -> list[str]:
    """The cells of a picture alone."""
    return [line[max(line.find("┼"), line.find("│")) + 1 :] for line in lines if "┼" in line[:9] or "│" in line[:9]]


# -- pictures


def test_the_bars_of_a_distribution_are_as_high_as_their_counts() -> None:
    rows = picture_of(draw(plot_of([10.0] * 8 + [20.0] * 4, None), Picture.DISTRIBUTION))
    heights = [sum(row[column : column + 1] == "█" for row in rows) for column in (0, max(map(len, rows)) - 1)]
    assert heights[0] == len(rows)
    assert heights[1] == pytest.approx(len(rows) / 2, abs=1)


def test_a_bin_with_one_value_beside_one_of_thousands_is_seen() -> None:
    metric = replace(plot_of([1.0, 2.0]).first, values=np.array([1.0] * 5000 + [2.0]))
    metric = replace(metric, ids=[""] * 5001, tests=[metric.tests[0]] * 5001, moments=np.zeros(5001))
    rows = picture_of(draw(Plot((metric,)), Picture.DISTRIBUTION))
    assert rows[-1].rstrip()[-1] == "▁"


@pytest.mark.parametrize("picture", [Picture.DISTRIBUTION, Picture.ECDF])
def test_the_bound_is_a_line_with_its_number_where_it_stands(picture: Picture) -> None:
    lines = draw(plot_of([8.0, 10.0, 11.0, 12.0]), picture)
    label = next(line for line in lines if "required" in line)
    assert "┊ required 9.00 B/s" in label
    column = label.index("┊")
    cells = [line[column] for line in lines if "│" in line[:9]]
    assert cells.count("┊") >= len(cells) - 2
    ticks = next(line for line in lines if line.split()[:2] == ["8", "9"])
    assert abs(ticks.index("9") - column) <= 1


@pytest.mark.parametrize(
    ("values", "words"), [([100.0, 101.0], "◂ required 9.00 B/s"), ([1.0, 1.1], "required 9.00 B/s ▸")]
)
def test_a_bound_that_is_far_away_is_told_at_its_end_and_not_drawn(values: list[float], words: str) -> None:
    for picture in (Picture.DISTRIBUTION, Picture.ECDF):
        lines = draw(plot_of(values), picture)
        assert any(words in line for line in lines)
        assert not any("┊" in line for line in lines)
    assert any("required 9.00 B/s, outside" in line for line in draw(plot_of(values), Picture.SERIES))


def test_values_that_fail_are_red_and_others_are_not() -> None:
    rows = draw_plot(plot_of([1.0, *np.linspace(20, 22, 11).tolist()]), Picture.DISTRIBUTION, None, LOOK)
    red = {text for row in rows for text, tone in row if tone == FAIL and set(text) & set("▁▂▃▄▅▆▇█")}
    assert red
    healthy = draw_plot(plot_of([10.0, 20.0]), Picture.DISTRIBUTION, None, LOOK)
    assert not any(tone == FAIL and set(text) & set("▁▂▃▄▅▆▇█") for row in healthy for text, tone in row)


def test_the_shares_begin_below_the_lowest_value_and_end_at_all_of_them() -> None:
    rows = picture_of(draw(plot_of([1.0, 2.0, 3.0, 4.0], None), Picture.ECDF))
    tops = [
        next((index for index, row in enumerate(rows) if row[column : column + 1].strip()), None)
        for column in range(max(map(len, rows)))
    ]
    known = [top for top in tops if top is not None]
    assert known == sorted(known, reverse=True)  # it never falls
    assert (known[0], known[-1]) == (round(0.75 * (len(rows) - 1)), 0)


def test_each_value_over_time_has_the_sign_of_its_level_and_the_worst_of_a_cell_is_seen() -> None:
    lines = draw(plot_of([10.0, 8.0, 10.0]), Picture.SERIES)
    assert any("✗ fail 1   · pass 2   ┄ required 9.00 B/s" in line for line in lines)
    assert sum(row.count("✗") for row in picture_of(lines)) == 1
    alike = list_plots(told([(10.0, Level.PASS, 9.0), (10.0, Level.FAIL, 12.0)]))[0]
    cells = "".join(picture_of(draw(alike, Picture.SERIES)))
    assert (cells.count("✗"), cells.count("·")) == (1, 0)


def test_values_over_time_on_few_rows_have_a_tick_beside_them() -> None:
    lines = draw(plot_of([7.4, 24.7, 99.0], None), Picture.SERIES, None, PlotLook(80, 8))
    assert [line.split("┼")[0].strip() for line in lines if "┼" in line] == ["50"]


def test_a_pause_is_a_gap_of_the_axis() -> None:
    metric = replace(plot_of([10.0, 11.0, 12.0]).first, moments=np.array([0.0, 50.0, 10_000.0]))
    busy = [(0.0, 50.0), (9_950.0, 10_000.0)]
    foot = next(line for line in draw(Plot((metric,), started=0.0, busy=busy), Picture.SERIES) if "└" in line)
    assert "─  " in foot
    whole = next(line for line in draw(Plot((metric,), started=0.0), Picture.SERIES) if "└" in line)
    assert "─  " not in whole


def test_what_has_no_moment_is_told_and_not_drawn() -> None:
    metric = plot_of([10.0, 11.0, 12.0]).first
    some_known = Plot((replace(metric, moments=np.array([1.0, np.nan, 3.0])),))
    assert any("1 value without a moment not drawn" in line for line in draw(some_known, Picture.SERIES))
    none = Plot((replace(metric, moments=np.full(3, np.nan)),))
    assert draw(none, Picture.SERIES)[-1] == " Of none of these values is known when it was measured."


VALUES = some.lists(some.floats(-1e20, 1e20) | some.floats(1e-21, 1e20), min_size=2, max_size=30)


@settings(max_examples=60)
@given(
    VALUES, some.sampled_from(list(Picture)), some.integers(20, 130), some.integers(4, 40), some.booleans(), some.data()
)
def test_nothing_is_drawn_outside_whatever_the_values_are(
    values: list[float], picture: Picture, width: int, height: int, fine: bool, data: some.DataObject
) -> None:
    bound = data.draw(some.none() | some.floats(-1e20, 1e20))
    many = len(values)
    moments = np.array(data.draw(some.lists(some.floats(0, 1e9) | some.just(np.nan), min_size=many, max_size=many)))
    like = plot_of([1.0, 2.0], None).first
    metric = replace(
        like, values=np.array(values), tests=[like.tests[0]] * many, ids=[""] * many, moments=moments,
        bounds=PlotBounds(bound, bound, None, 1, 0.0, 0.0, Comparator.AT_LEAST),
    )  # fmt: skip
    number = data.draw(some.integers(0, many - 1))
    look = PlotLook(width, height, not fine, fine, turned=data.draw(some.booleans()))
    rows = draw_plot(Plot((metric,)), picture, number, look)
    assert len(rows) <= height
    assert all(row_width(row) <= width for row in rows)
    if picture is Picture.DISTRIBUTION and rows and height > 9:
        assert any(set(text) & set("▁▂▃▄▅▆▇█") for row in rows for text, _ in row)


def test_two_sessions_have_a_sign_of_their_own_each() -> None:
    first = plot_of([10.0, 11.0, 12.0], None).first
    both = Plot((first, replace(first, values=first.values + 1.0)), ("A before", "B after"))
    lines = draw(both, Picture.ECDF)
    assert "● A before   ◆ B after" in lines[0]
    cells = "".join(picture_of(lines))
    assert min(cells.count("●"), cells.count("◆")) >= 2
    plain = draw(both, Picture.ECDF, None, PlotLook(80, 20, ascii=True, fine=False))
    assert {"o", "*"} <= set("".join(plain))
    assert not any("⠀" < letter <= "⣿" for letter in "".join(plain))


# -- the axis of values


@pytest.mark.parametrize(
    ("values", "turned", "is_log"),
    [
        ([1.0, 100.0], False, True),  # two decades
        ([1.0, 99.0], False, False),
        ([1.0, 50.0, 100.0], True, False),
        ([1.0, 99.0], True, True),
        ([0.0, 100.0], False, False),  # 0 has no logarithm
        ([0.0, 100.0], True, False),
        ([-1.0, 100.0], True, False),
    ],
)
def test_values_over_two_decades_stand_on_a_logarithmic_axis_that_says_so(
    values: list[float], turned: bool, is_log: bool
) -> None:
    plot = plot_of(values, None)
    for picture in Picture:
        lines = draw(plot, picture, None, PlotLook(80, 20, turned=turned))
        assert any("logarithmic" in line for line in lines) is is_log
    assert plot.is_log(turned=turned) is is_log


def test_ticks_of_a_logarithmic_axis_are_as_far_apart_as_their_powers() -> None:
    lines = draw(plot_of([1.0, 30.0, 60.0, 1000.0], None), Picture.ECDF)
    ticks = next(line for line in lines if line.split() == ["1", "10", "100", "1,000"])
    one, ten, hundred = ticks.index("1"), ticks.index(" 10") + 2, ticks.index(" 100") + 2
    assert abs((hundred - ten) - (ten - one)) <= 1


def test_a_value_stands_at_its_logarithm_and_bins_are_told_by_their_ratio() -> None:
    foot = next(line for line in draw(plot_of([1.0, 32.0, 1024.0], None), Picture.ECDF, 1) if "└" in line)
    assert abs(foot.index("▴") - foot.index("└") - 1 - 35) <= 1  # of 70 columns
    assert any("bins growing ×" in line for line in draw(plot_of([1.0] * 8 + [500.0], None), Picture.DISTRIBUTION))


def test_the_name_of_the_axis_makes_room_for_the_cursor() -> None:
    plot = plot_of([1.0, 10.0, 1000.0], None)
    for number in (0, 2):
        foot = next(line for line in draw(plot, Picture.ECDF, number) if "└" in line)
        assert "B/s, logarithmic" in foot
        assert "▴" in foot


async def test_x_turns_the_axis_of_one_metric_and_back() -> None:
    async with looking(faulty(), (120, 40)) as look:
        await page(look, "colon", *"plot stream.triad", "enter")
        assert "logarithmic" not in look.text
        await look.press("x")
        assert "The axis is logarithmic." in look.lines[-1]
        assert "GB/s, logarithmic" in look.text
        await look.press("down")
        assert "GB/s, logarithmic" not in look.text
        await look.press("up")
        assert "GB/s, logarithmic" in look.text
        await look.press("x")
        assert "The axis is linear again." in look.lines[-1]
        assert "GB/s, logarithmic" not in look.text


# -- the page


@pytest.mark.parametrize("size", SIZES)
async def test_a_metric_is_named_drawn_and_explained_at_every_size(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        screen = await page(look, "colon", *"plot iperf3.throughput", "enter")
        assert screen.picture.plot is not None
        assert screen.picture.plot.first.key.stage == "legs"
        assert "1 of 127 below the required 7.92 Gb/s (0.8 %)." in look.text
        assert "┊ required 7.92 Gb/s" in look.text
        assert look.lines[-2].startswith(
            " n050>n114   2.97 Gb/s   percentile 0.787   fail: 30 % of expected, below 80 %"[: size[0] - 4]
        )
        for picture in (Picture.ECDF, Picture.SERIES, Picture.DISTRIBUTION):
            await look.press("v")
            assert screen.picture.picture is picture
            assert all(len(line) == size[0] for line in look.lines)


@pytest.mark.parametrize("size", [(60, 15), (40, 10), (20, 8), (300, 90)])
async def test_no_size_refuses_to_draw(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        look.app.navigation.open_plot("stream.triad")
        await look.settle()
        for _ in Picture:
            await look.press("v")
            assert all(len(line) == size[0] for line in look.lines)


async def test_without_colour_and_braille_all_is_ascii() -> None:
    async with looking(faulty(), (100, 30), terminal=Terminal(ascii=True, depth=Depth.NONE)) as look:
        await page(look, "colon", *"plot iperf3.throughput", "enter")
        for _ in Picture:
            await look.press("v")
            assert look.text.isascii()
            assert "?" not in "".join(look.lines[:-1])


async def test_arrows_go_along_the_values_in_the_order_of_the_picture() -> None:
    async with looking(faulty(), (120, 40)) as look:
        screen = await page(look, "colon", *"plot stream.triad", "enter")
        plot = screen.picture.plot
        assert plot is not None
        for _ in range(200):
            screen.action_shift(-1)
        assert screen.picture.number == plot.order[0]
        seen = []
        for _ in range(len(plot.order)):
            assert screen.picture.number is not None
            seen.append(plot.first.values[screen.picture.number])
            screen.action_shift(1)
        assert seen == sorted(plot.first.values)
        assert screen.picture.number == plot.order[-1]


async def test_n_walks_the_values_that_fail_and_enter_opens_what_one_was_read_from() -> None:
    async with looking(faulty(), (120, 40)) as look:
        screen = await page(look, "colon", *"plot iperf3.throughput", "enter")
        await look.press("right", "right", "n")
        assert look.lines[-2].startswith(" n050>n114   2.97 Gb/s")
        await look.press("enter")
        assert isinstance(look.app.screen, RawScreen)
        assert look.app.screen.test == "q-iperf3-n050"
        assert look.app.screen.measurement is not None
        await look.press("escape", "down")
        assert screen.picture.plot is not None
        assert screen.picture.plot.first.key.stage == "leave"
        await look.press("n")
        assert "No value of it was judged by itself." in look.lines[-1]


async def test_a_metric_of_one_value_is_told_in_words_and_one_that_is_none_too() -> None:
    story = Story(faulty().fabric)
    stage = faulty().rounds[1]
    one = replace(stage, tests=stage.tests[:1])
    gave = faulty().closed[1]
    kept = gave.results[:1]
    verdicts = tuple(each for each in gave.verdicts if each.test == kept[0].test.id)
    story.rounds, story.closed = [one], [replace(gave, round=one, results=kept, verdicts=verdicts)]
    async with looking(story, (100, 30)) as look:
        await look.press("colon", *"plot stream.triad", "enter")
        await look.until(lambda: "has one value" in look.lines[-1])
        assert "stream.triad has one value, 99.9 GB/s of n001; a picture needs 2" in look.lines[-1]
        assert "No metric was measured twice yet: a picture needs two values." in look.text
        assert "1 metric with fewer than 2 values not listed" in look.text
        await look.press("enter", "left", "n", "y", "Y", "v")
        for metric, said in (
            ("odd.rate", "no value of odd.rate was measured"),
            ("stream.triad", "has one value, 99.9"),
        ):
            look.app.navigation.open_plot(metric)
            await look.settle()
            assert said in look.lines[-1]


async def test_d_draws_the_metric_under_the_cursor_of_each_page() -> None:
    async with looking(faulty(), (160, 40)) as look:
        await look.press("2", *([">"] * 4))
        nodes = look.app.navigation.tabs.nodes
        picked = nodes.table.columns[nodes.table.picked]
        chosen = await page(look, "D")
        assert chosen.picture.plot is not None
        assert chosen.picture.plot.first.key.metric.rpartition(".")[2].startswith(picked.split(".")[-1][:3])
        for area in ("results", "pairs", "criteria"):
            look.app.navigation.go_to("run", base=True)
            look.app.navigation.open_area(area)
            list_page = look.app.screen
            await look.until(lambda shown=list_page: shown.table.area is not None)  # type: ignore[misc]
            await look.press("down")
            record = {} if list_page.table.chosen is None else list_page.table.chosen.record  # type: ignore[attr-defined]
            await look.press("D")
            screen = look.app.screen
            assert isinstance(screen, PlotScreen)
            await look.until(lambda shown=screen: shown.plots.count > 0)  # type: ignore[misc]
            if record:
                assert screen.picture.plot is not None
                assert screen.picture.plot.first.key.metric == record["metric"]
            await look.press("escape")
            assert look.app.screen is list_page


async def test_d_on_a_finding_draws_what_it_rests_on_with_its_value() -> None:
    async with looking(faulty(), (120, 40)) as look:
        await look.press("4")
        findings = look.app.navigation.tabs.findings
        rests = next(i for i, each in enumerate(findings.list.faults) if each.probe == "stream")
        findings.choose(rests)
        screen = await page(look, "D")
        assert screen.picture.plot is not None
        assert screen.picture.plot.first.key.metric == "stream.triad"
        assert look.lines[-2].startswith(" n020   92.4 GB/s")


async def test_the_page_of_a_comparison_draws_both_sessions() -> None:
    async with looking(faulty(), (120, 40)) as look:
        wish = PlotWish("stream.triad", report=report([worse()]))
        look.app.navigation.open(PlotScreen(wish, tab="Run"))
        screen = await page(look)
        assert screen.picture.picture is Picture.ECDF
        assert "● A before   ◆ B after" in look.text
        assert "A before: 12 values" in look.text
        assert "not judged" not in look.lines[-2]
        await look.press("v")
        assert "Two sessions are drawn as their shares alone." in look.lines[-1]
        await look.press("enter")
        assert "Neither session is on the screen" in look.lines[-1]
        await look.press("Y")
        assert len(look.app.clipboard.splitlines()) == 1 + 24


async def test_filter_copy_and_the_way_back() -> None:
    async with looking(faulty(), (120, 40)) as look:
        screen = await page(look, "D")
        every = screen.plots.count
        await look.press("slash", *"metric~triad", "enter")
        assert f"1 of {every} shown" in look.text
        await look.press("y")
        assert look.app.clipboard.startswith("n020   92.4 GB/s") or "GB/s" in look.app.clipboard
        await look.press("Y")
        lines = look.app.clipboard.splitlines()
        assert lines[0] == "of\tmeasured\tverdict"
        assert len(lines) == 1 + 127
        await look.press("escape")
        assert screen.plots.count == every
        await look.press("escape")
        assert not isinstance(look.app.screen, PlotScreen)


async def test_values_come_in_while_the_run_goes_on_and_the_cursor_stays() -> None:
    story = faulty()
    events = list(story.events())
    half = next(i for i, each in enumerate(events) if isinstance(each, ClosedRound) and each.round.number == 4) + 1
    async with looking(story, (120, 40), until=half) as look:
        screen = await page(look, "colon", *"plot iperf3.throughput", "enter")
        plot = screen.picture.plot
        assert plot is not None
        before = len(plot.first.values)
        await look.press("right", "right")
        assert screen.picture.number is not None
        here = plot.first.tests[screen.picture.number].id
        look.player.feed(*events[half:-1], SessionEnded(9e9, complete=True))
        await look.until(lambda: screen.picture.plot is not None and len(screen.picture.plot.first.values) > before)
        now = screen.picture.plot
        assert now is not None
        assert screen.picture.number is not None
        assert now.first.tests[screen.picture.number].id == here


async def test_values_of_a_round_that_is_judged_while_others_are_put_together_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def list_late(view: RunView) -> Sequence[Plot]:
        begun.set()
        go_on.wait(60)
        return list_plots(view)

    monkeypatch.setattr(plot_page, "list_plots", list_late)
    events = list(faulty().events())
    half = next(i for i, each in enumerate(events) if isinstance(each, ClosedRound) and each.round.number == 4) + 1
    async with looking(faulty(), (120, 40), until=half) as look:
        await look.press("D")
        screen = look.app.screen
        assert isinstance(screen, PlotScreen)
        await look.until(begun.is_set)
        look.player.feed(*events[half:-1], SessionEnded(9e9, complete=True))
        await look.until(lambda: getattr(screen.run_view, "ended", None) is not None)
        await look.settle()
        go_on.set()
        view = screen.run_view
        assert view is not None
        whole = sum(len(plot.first.values) for plot in list_plots(view))
        await look.until(lambda: sum(len(plot.first.values) for plot in screen.every) == whole)


def test_a_hundred_thousand_values_are_put_into_cells_and_not_walked() -> None:
    many = 100_000
    like = plot_of([1.0, 2.0], None).first
    values = np.linspace(1.0, 2.0, many)
    metric = PlottedMetric(
        SampleKey("s", "p", "p.m", Unit.ONE, ()), Shown.PLAIN, values, [like.tests[0]] * many, [""] * many,
        1e9 + np.arange(many) / 10, {}, {}, PlotBounds(),
    )  # fmt: skip
    for picture in Picture:
        rows = draw_plot(Plot((metric,)), picture, 5, PlotLook(190, 45))
        assert 20 < len(rows) <= 45


def test_classes_that_do_not_fit_are_counted_and_a_strip_is_never_cut() -> None:
    story = tell_classes(9)
    strips = ClassStrips()
    (plot,) = list_plots(story)
    strips.show(plot, is_turned=False)
    assert strips.wanted == MOST_CLASSES
    rows = [plain_text(row) for row in strips.draw(100, MOST_CLASSES)]
    assert rows[-1].strip() == "4 more classes"
    assert len(rows) == MOST_CLASSES
    assert all(row_width(row) <= 62 for row in strips.draw(62, MOST_CLASSES))
    assert "━" not in "".join(plain_text(row) for row in strips.draw(62, MOST_CLASSES))
    assert sum("│" in row for row in rows) == MOST_CLASSES - 1


def test_strips_of_classes_are_logarithmic_where_the_axis_is() -> None:
    metric = replace(plot_of([1.0, 10.0, 100.0], None).first, shown=Shown.PLAIN)
    plot, strips = Plot((metric,)), ClassStrips()
    assert plot.is_log()
    for is_turned, share in ((False, 0.5), (True, 0.09)):
        strips.show(plot, is_turned=is_turned)
        strips.parts = [ClassNumbers("compute", 3, 37.0, 54.7, (1.0, 5.5, 10.0, 55.0, 100.0))]
        (row,) = strips.draw(100, 1)
        text = plain_text(row)
        start = text.index("─")
        assert (text.index("│") - start) / (len(text) - start) == pytest.approx(share, abs=0.04)


def tell_classes(number: int) -> RunView:
    """A session with nodes of so many classes, two of each."""
    on = fabric()
    nodes = {
        name: replace(each, hardware=Hardware(f"class {place % number}"))
        for place, (name, each) in enumerate(on.nodes.items())
    }
    names = list(on.nodes)[: 2 * number][:12]
    story = Built(replace(on, nodes=nodes))
    for value, test in enumerate(story.round("stage", "fio", names)):
        story.answer(test, "fio.write", float(value + 1), Unit.BYTE_RATE)
    return story.view()


async def test_the_page_begins_on_a_metric_that_fails_else_on_one_that_was_judged() -> None:
    async with looking(faulty(), (120, 40)) as look:
        screen = await page(look, "colon", *"plot", "enter")
        assert screen.plots.chosen is not None
        assert screen.plots.chosen.fails.startswith("1 of")
    plain, held = plot_of([1.0, 2.0], None), plot_of([10.0, 11.0])
    assert find_telling([plain, held]) == 1
    assert find_telling([plain, held, plot_of([1.0, 10.0])]) == 2
    assert find_telling([plain]) == 0


def test_the_ground_of_the_cursor_is_no_wider_than_its_value() -> None:
    rows = draw_plot(plot_of([10.0, 11.0, 12.0]), Picture.SERIES, 1, LOOK)
    chosen = [text for row in rows for text, tone in row if tone.ground is Ground.SEL]
    assert [len(text) for text in chosen] == [1]
