"""The page of sweeps: a list of curves, one drawn, its numbers beside it or below, at every size and without colour."""

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest

from benchconsole.console.curves.curve_model import make_scale
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.rows.themes import TEXT, Depth
from benchconsole.console.tui.screens.run import RunScreen
from benchconsole.console.tui.screens.sweeps import SweepsScreen
from benchconsole.console.tui.widgets.curve import MARKS, CurveText, choose_labels
from benchconsole.console.view.events import RoundStarted, SessionEnded
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import FailedAt, Failure, LeftOutPoint
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Unit
from tests.console.curves.test_curve_model import FABRIC, Given, Told, failed, judged, rounds_of
from tests.console.tui.looking import Look, faulty, looking
from tests.console.tui.story import Story

SIZES = [(80, 24), (120, 40), (200, 60)]
WHY = "ended at tasks=16: ior.write gained less than 10 % since tasks=4"
SPARED = Failure(FailedAt.SKIPPED, WHY, "n001")  # type: ignore[arg-type]
TOLD: Told = {
    "1": [[1e9, 0.5e9], [1.1e9, 0.6e9], [0.9e9, 0.5e9]],
    "2": [[2e9, 1e9], [2.1e9, 1.1e9], [1.9e9, 1e9]],
    "4": [[4e9, 1.5e9], [3.8e9, 1.6e9], [4.1e9, 1.5e9]],
    "8": [[4.1e9, 1.5e9], [4.1e9, failed(FailedAt.TIMEOUT, "60 s")], [4.2e9, 1.6e9]],
    "16": [[4.1e9, 1.5e9]] * 3,
    "32": [[SPARED, SPARED]] * 3,
}


def told(what: Told = TOLD, cohorts: Sequence[str] = ("bare metal", "virtual"), axis: str = "tasks") -> Story:
    rounds = rounds_of(what, axis, cohorts, ending="yes")
    gave: list[Sequence[Given]] = [turn for turns in what.values() for turn in turns]
    story = Story(FABRIC, label="scaling")
    story.rounds = rounds
    story.closed = [judged(each, found, required=0.8e9) for each, found in zip(rounds, gave, strict=True)]
    return story


async def page(look: Look) -> SweepsScreen:
    await look.press("3", "w")
    screen = look.app.screen
    assert isinstance(screen, SweepsScreen)
    return screen


@pytest.mark.parametrize("size", SIZES)
async def test_the_curve_its_knees_and_its_numbers_are_in_sight(size: tuple[int, int]) -> None:
    async with looking(told(), size) as look:
        await page(look)
        text = look.text
        assert "scaling › sweeps" in text
        assert "5 of 6 points" in text
        assert "bare metal: knee at tasks=4, 4.00 GB/s: no later measured point gained 10 %" in text
        assert "ior.write, GB/s   ● bare metal   ◆ virtual" in text
        assert "┄ required" in text
        assert sum(any("⠀" < letter <= "⣿" for letter in line) for line in look.lines) >= 3
        values = next(line for line in look.lines if line.split()[:6] == ["1", "2", "4", "8", "16", "32"])
        places = [values.index(f" {value}") for value in ("1", "2", "4", "8")]
        steps = [after - before for before, after in pairwise(places)]
        assert max(steps) - min(steps) <= 1  # what multiplies stands at equal distances
        first = next(line for line in look.lines if "1.00 GB/s" in line and "●" in line)
        assert first.replace("▌", " ").split("●")[-1].split()[0] == "1"


@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
async def test_the_knee_is_named_at_its_point_and_the_plateau_is_a_band(size: tuple[int, int]) -> None:
    async with looking(told(), size) as look:
        screen = await page(look)
        assert "░ plateau" in look.text
        width = screen.plot.size.width
        picture = [line[:width] for line in look.lines if "│" in line[:9] or "┼" in line[:9]]
        assert sum("knee 4" in line for line in picture) == 2
        values = next(line for line in look.lines if line.split()[:6] == ["1", "2", "4", "8", "16", "32"])
        band = [column for line in picture for column, letter in enumerate(line) if letter == "░"]
        assert values.index(" 4") <= min(band)
        assert max(band) <= values.index("16") + 1


async def test_a_curve_that_still_grows_has_no_band() -> None:
    growing: Told = {str(2**power): [[2.0**power * 1e9]] for power in range(5)}
    async with looking(told(growing, ("",)), (120, 40)) as look:
        await page(look)
        assert "plateau" not in look.text
        assert "░" not in look.text


async def test_a_point_that_was_spared_has_a_sign_on_the_axis_no_line_and_its_reason() -> None:
    async with looking(told(), (120, 40)) as look:
        screen = await page(look)
        await look.press("tab", "G")
        assert screen.points.chosen is not None
        assert screen.points.chosen.value == "32"
        assert f"tasks=32: not needed any more: {WHY}" in look.text
        row = screen.charts.chosen
        assert row is not None
        assert [point.median for point in row.chart.curves[0].points][-1] is None
        bottom = next(line for line in look.lines if line.strip().startswith("0 ┼"))
        assert bottom[: screen.plot.size.width].rstrip().endswith("-")


async def test_what_one_test_lacks_is_counted_and_said() -> None:
    async with looking(told(), (200, 60)) as look:
        await page(look)
        row = next(line for line in look.lines if "1 test timed out: 60 s" in line)
        assert "2/3" in row
        assert "◆" in row


async def test_cohorts_are_told_apart_without_colour_and_in_ascii() -> None:
    async with looking(told(), (80, 24), terminal=Terminal(ascii=True, depth=Depth.NONE)) as look:
        await page(look)
        text = look.text
        assert text.isascii()
        assert "o bare metal   * virtual" in text
        assert "?" not in "".join(look.lines[9:-1])
        first = next(index for index, line in enumerate(look.lines) if "o bare metal" in line)
        last = next(index for index, line in enumerate(look.lines) if "`----" in line)
        picture = "".join(look.lines[first + 1 : last])
        assert (picture.count("o"), picture.count("*")) == (5, 5)


def test_the_signs_of_curves_are_different_in_both_forms() -> None:
    assert len({fine for fine, _ in MARKS}) == len({plain for _, plain in MARKS}) == len(MARKS)
    assert all(plain.isascii() for _, plain in MARKS)


async def test_points_appear_while_the_sweep_runs() -> None:
    story = told()
    events = list(story.events())
    third = next(i for i, each in enumerate(events) if isinstance(each, RoundStarted) and each.round.number == 4)
    async with looking(story, (120, 40), until=third) as look:
        screen = await page(look)
        assert "1 of 6 points" in look.text
        assert "not run yet" in look.text
        look.player.feed(*events[third:-1])
        await look.until(lambda: bool(screen.charts.every) and screen.charts.every[0].points == "5 of 6 points")
        look.player.feed(SessionEnded(900.0, complete=True))
        await look.settle()
        assert "not run yet" not in look.text


async def test_the_cursor_stays_on_its_chart_and_its_point_while_others_appear() -> None:
    story = told()
    events = list(story.events())
    half = next(i for i, each in enumerate(events) if isinstance(each, ClosedRound) and each.round.number == 9)
    async with looking(story, (120, 40), until=half) as look:
        screen = await page(look)
        await look.press("tab", "down", "down")
        before = screen.points.chosen
        look.player.feed(*events[half:])
        await look.until(lambda: look.app.session.latest.view is not None and look.app.session.latest.view.complete)
        await look.settle()
        after = screen.points.chosen
        assert before is not None
        assert after is not None
        assert (before.value, before.curve) == (after.value, after.curve)


async def test_where_nothing_was_swept_the_run_says_so() -> None:
    async with looking(faulty(), (80, 24)) as look:
        await look.press("3")
        assert "w sweeps" not in look.lines[-1]
        await look.press("w")
        assert isinstance(look.app.screen, RunScreen)
        assert "Nothing of this session was swept" in look.text


async def test_the_run_offers_the_page_where_something_was_swept() -> None:
    async with looking(told(), (80, 24)) as look:
        await look.press("3")
        assert "w sweeps" in look.lines[-1]
        await page(look)
        await look.press("escape")
        assert isinstance(look.app.screen, RunScreen)


async def test_filter_copy_and_the_way_back() -> None:
    async with looking(two_metrics(), (120, 40)) as look:
        screen = await page(look)
        assert screen.charts.count == 2
        await look.press("slash", *"latency", "enter")
        assert "1 of 2 shown" in look.text
        assert "ior.latency" in look.text
        await look.press("Y")
        assert look.app.clipboard.splitlines()[0] == "tasks\treps\ttests\tmedian\tmin\tmax\tgain"
        await look.press("escape")
        assert screen.charts.count == 2
        await look.press("right", "tab", "down", "y")
        assert look.app.clipboard.splitlines()[1].split("\t")[0] == "2"
        assert len(look.app.clipboard.splitlines()) == 2
        screen.commands["filter"].do("colour=red")
        await look.settle()
        assert screen.prompt.note[0].text.startswith("no such column")


def two_metrics() -> Story:
    """Throughput and a latency that spans decades."""
    story = told({"1": [[1e9]], "2": [[2e9]], "4": [[2e9]]}, ("",))
    story.closed = [replace(each, results=tuple(
        replace(result, measurements=(*result.measurements, *(
            replace(found, id=f"{found.id}+", metric="ior.latency", unit=Unit.SECOND, value=10.0 ** (index - 5))
            for found in result.measurements)))
        for result in each.results)) for index, each in enumerate(story.closed)]  # fmt: skip
    return story


async def test_a_latency_over_decades_has_decades_on_its_scale_and_no_knee() -> None:
    async with looking(two_metrics(), (120, 40)) as look:
        await page(look)
        await look.press("down")
        assert "ior.latency, " in look.text
        ticks = [line.split("┼")[0].strip() for line in look.lines if "┼" in line]
        assert ticks == ["1,000", "100", "10"]
        assert "knee at tasks=1" not in look.text


@pytest.mark.parametrize("size", [(60, 15), (40, 10), (20, 8), (300, 90)])
async def test_no_size_refuses_to_draw(size: tuple[int, int]) -> None:
    async with looking(told(), size) as look:
        await page(look)
        assert all(len(line) == size[0] for line in look.lines)


async def test_text_of_a_file_is_text() -> None:
    async with looking(told({"[b]1\x1b[31m": [[1e9]], "2": [[2e9]]}, ("[red]x", "")[:1]), (80, 24)) as look:
        await page(look)
        assert "\x1b" not in look.text
        assert "[b]1␛[31m" in look.text


@pytest.mark.parametrize(
    ("numbers", "top"), [([1.0, 9.0], 10.0), ([24.7], 30.0), ([0.0], 1.0), ([3e9], 3e9), ([1.21], 1.6)]
)
def test_the_scale_ends_at_a_round_number_above_all(numbers: list[float], top: float) -> None:
    found = make_scale(numbers, 1.0)
    assert found.low == 0
    assert found.high == pytest.approx(top)
    assert all(0 <= found.find_height(number) <= 1 for number in numbers)


def test_a_scale_by_decades_holds_every_number() -> None:
    numbers = [3e-6, 4e-5, 2e-3]
    found = make_scale(numbers, 1e-6)
    assert found.is_log
    assert found.ticks == pytest.approx((1e-6, 1e-5, 1e-4, 1e-3, 1e-2))
    assert [found.find_height(number) for number in numbers] == sorted(found.find_height(number) for number in numbers)


async def test_the_axis_says_that_it_is_logarithmic_and_x_turns_it() -> None:
    async with looking(told(), (120, 40)) as look:
        await page(look)
        assert " tasks, logarithmic" in look.text
        await look.press("x")
        assert "The axis is linear." in look.lines[-1]
        assert " tasks, logarithmic" not in look.text
        values = next(line for line in look.lines if line.split()[:2] in (["1", "4"], ["1", "2"]))
        assert values.index("32") - values.index("16") > values.index("16") - values.index(" 4")
        await look.press("x")
        assert "The axis is logarithmic again." in look.lines[-1]
        assert " tasks, logarithmic" in look.text


async def test_shift_x_turns_the_values_of_one_chart() -> None:
    async with looking(two_metrics(), (120, 40)) as look:
        await page(look)
        assert "ior.write, GB/s, logarithmic" not in look.text
        await look.press("X")
        assert "The axis of the values is logarithmic." in look.lines[-1]
        assert "ior.write, GB/s, logarithmic" in look.text
        await look.press("down")
        assert "ior.latency, µs, logarithmic" in look.text
        await look.press("X")
        assert "ior.latency, µs, logarithmic" not in look.text
        await look.press("up")
        assert "ior.write, GB/s, logarithmic" in look.text


async def test_an_axis_of_words_is_not_turned() -> None:
    async with looking(told({"direct": [[1e9]], "buffered": [[2e9]]}, ("",), "mode"), (120, 40)) as look:
        await page(look)
        await look.press("x")
        assert "A logarithmic axis takes two points or more, all of them numbers above 0." in look.lines[-1]
        assert "logarithmic" not in "\n".join(look.lines[:-1])


@pytest.mark.parametrize(
    ("spans", "wanted", "chosen"),
    [
        ([(1, 2), (4, 5), (7, 8)], [2], [0, 1, 2]),
        ([(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)], [4], [0, 1, 2, 3, 4]),  # a blank between them is enough
        ([(1, 3), (3, 5), (5, 7), (7, 9), (9, 11)], [4], [0, 2, 4]),  # every second
        ([(1, 3), (3, 5), (5, 7), (7, 9), (9, 11)], [1, 4], [1, 4]),  # those that are wanted come first
        ([(0, 2), (4, 6), (18, 22)], [2], [1]),  # over the edges
        ([], [-1], []),
    ],
)
def test_labels_below_an_axis_do_not_touch(
    spans: Sequence[tuple[int, int]], wanted: Sequence[int], chosen: Sequence[int]
) -> None:
    assert choose_labels(spans, wanted, 20) == chosen


async def test_of_many_sizes_each_so_many_th_is_told_and_the_last() -> None:
    sizes: Told = {str(2**power): [[2.0**power * 1e9]] for power in range(23)}
    async with looking(told(sizes, ("",), "size"), (120, 40)) as look:
        screen = await page(look)
        assert " size, logarithmic" in look.text
        below = look.lines[next(index for index, line in enumerate(look.lines) if " size, logarithmic" in line) + 1]
        shown = [math.log2(int(word)) for word in below[: screen.plot.size.width].split()]
        assert shown[-1] == 22
        assert len(shown) > 3
        assert len({after - before for before, after in pairwise(shown[:-1])}) == 1


def test_sentences_that_have_no_row_are_seen_to_be_cut() -> None:
    text = CurveText()
    text.show([("the first of two sentences", TEXT), ("the second of them is longer than what is left", TEXT)])
    assert [plain_text(row).strip() for row in text.draw(80, 3)][1].startswith("the second")
    (row,) = text.draw(60, 1)
    assert plain_text(row).strip().startswith("the first of two sentences the second")
    assert plain_text(row).rstrip().endswith("…")


@pytest.mark.parametrize("size", SIZES)
async def test_points_that_a_limit_left_out_are_in_sight_with_the_reason(size: tuple[int, int]) -> None:
    what: Told = {"1": [[1e9]], "2": [[1e9, 0.9e9]]}
    story = told(what, cohorts=("", ""), axis="clients")
    points = tuple(LeftOutPoint((("clients", value),), int(value), 2) for value in ("4", "8"))
    story.rounds = [
        replace(each, swept=replace(each.swept, left_out=points)) for each in story.rounds if each.swept is not None
    ]
    story.closed = [replace(each, round=of) for each, of in zip(story.closed, story.rounds, strict=True)]
    async with looking(story, size) as look:
        await page(look)
        text = " ".join(look.text.split())
        assert "2 of 4 points" in text
        assert "it rests on fewer points, without clients=4, 8" in text
        assert "8 tests skippe" in text
        await look.press("tab", "down", "down", "down")
        assert "clients=8: 8 tests skipped: the limit is --tests-at-once 2" in " ".join(look.text.split())
