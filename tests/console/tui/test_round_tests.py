"""The tests of the round that runs, on Run: intervals, loads, what failed, and where the cursor stays."""

import re
from collections.abc import Mapping

from benchconsole.console.view import events
from benchconsole.console.view.interval_rates import ToldInterval
from benchconsole.probes.api import Interval, Unit
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import FailedAt, Failure, Result, Round
from tests.console.tui.looking import Look, faulty, looking

SIZES = ((80, 24), (120, 40), (200, 60))


def running_round(stage: str) -> int:
    """How many events there are when every test of the first round of a stage has begun, and none has ended."""
    left = -1
    for number, event in enumerate(faulty().events(), 1):
        if isinstance(event, events.RoundStarted) and event.round.stage == stage:
            left = len(event.round.tests)
        if left > 0 and isinstance(event, events.TestStarted):
            left -= 1
            if not left:
                return number
    raise AssertionError(stage)


def current_round(look: Look) -> Round:
    view = look.app.session.latest.view
    assert view is not None
    assert view.current is not None
    return view.current


def tell_intervals(look: Look, rates: Mapping[int, float], *, expected: float | None = 1.2e9, until: float = 3) -> None:
    """Intervals of tests of the round that runs, by their place, in byte/s."""
    current = current_round(look)
    told = {current.tests[place].id: rate for place, rate in rates.items()}
    found = tuple(
        ToldInterval(test, Interval("iperf3.throughput", rate, Unit.BYTE_RATE, until, 1.0), expected)
        for test, rate in told.items()
    )
    look.player.feed(events.IntervalsTold(found, 1.0))


async def test_a_test_that_runs_shows_its_last_interval_beside_what_is_expected() -> None:
    async with looking(faulty(), until=running_round("leave")) as look:
        await look.press("3")
        assert not any("no result:" in line for line in look.lines)
        tell_intervals(look, {0: 1.2e9, 1: 0.3e9})
        await look.until(lambda: "no result:" in look.text)
        slow, fast = (line for line in look.lines if "no result:" in line)
        assert re.search(r"▸ \S+ → \S+ +2\.40 +9\.60 +25 % +━━━─+ +interval 3 s, no result: iperf3\.thro", slow)
        assert re.search(r" 9\.60 +9\.60 +100 % ", fast)
        assert any("of tests that run: the last interval, smoothed over 2 s" in line for line in look.lines)
        assert any("interval of" in line and "0 of 16 tests in" in line for line in look.lines)


async def test_an_interval_without_a_yardstick_has_no_share_and_no_bar() -> None:
    async with looking(faulty(), until=running_round("leave")) as look:
        await look.press("3")
        tell_intervals(look, {0: 0.3e9}, expected=None)
        await look.until(lambda: "no result:" in look.text)
        line = next(line for line in look.lines if "no result:" in line)
        assert re.search(r" 2\.40 +– +– +interval 3 s", line)


async def test_the_result_takes_the_place_of_the_interval() -> None:
    async with looking(faulty(), until=running_round("leave")) as look:
        await look.press("3")
        tell_intervals(look, {0: 0.3e9})
        await look.until(lambda: "no result:" in look.text)
        current = current_round(look)
        look.player.feed(
            next(e for e in faulty().events() if isinstance(e, Result) and e.test.id == current.tests[0].id)
        )
        await look.until(lambda: "no result:" not in look.text)
        assert any(line.startswith((" ○", "▌○")) for line in look.lines)


async def test_the_slowest_stays_in_sight_while_nobody_has_moved_the_cursor() -> None:
    async with looking(faulty(), until=running_round("leave"), size=(80, 24)) as look:
        await look.press("3")
        tell_intervals(look, {place: 1.2e9 - 1e7 * place for place in range(16)})
        await look.until(lambda: "interval 3 s" in look.text)
        assert any(line.rstrip().endswith("limit, interval over 2 s") for line in look.lines)
        first = next(line for line in look.lines if line.startswith("▌"))
        assert "interval 3 s, no result" in first
        assert "8.40" in first
        tell_intervals(look, {0: 0.1e9}, until=9)
        await look.until(lambda: any(line.startswith("▌") and line != first for line in look.lines))
        assert next(line for line in look.lines if "▸" in line and "→" in line).startswith("▌")


def fail(look: Look, place: int) -> Result:
    """A test of the round that runs, which could not reach its node."""
    test = current_round(look).tests[place]
    return Result(test, failure=Failure(FailedAt.UNREACHABLE, "nothing listens there", test.target.node.id))


async def test_a_test_that_failed_is_in_sight_before_and_after_others_tell_numbers() -> None:
    async with looking(faulty(), until=running_round("leave"), size=(80, 24)) as look:
        await look.press("3")
        look.player.feed(fail(look, 5))
        await look.until(lambda: any(line.startswith("▌∅") for line in look.lines))
        tell_intervals(look, {place: 1.2e9 - 1e7 * place for place in range(5)})
        await look.until(lambda: "interval 3 s" in look.text)
        assert any(line.startswith("▌∅") for line in look.lines)


async def test_the_cursor_follows_the_test_that_somebody_has_put_it_on() -> None:
    async with looking(faulty(), until=running_round("leave")) as look:
        await look.press("3", "down", "down")
        here = next(line for line in look.lines if line.startswith("▌")).split("→")[0].split()[-1]
        look.player.feed(fail(look, 5))
        await look.until(lambda: any("nothing listens there" in line for line in look.lines))
        assert next(line for line in look.lines if line.startswith("▌")).split("→")[0].split()[-1] == here


async def test_a_test_that_runs_shows_the_fullest_core_of_its_nodes_where_load_is_sampled() -> None:
    async with looking(faulty(), until=running_round("leave")) as look:
        await look.press("3")
        first, second = current_round(look).tests[:2]
        loads = [NodeLoad(first.target.nodes[0].id, "1", 0.2, 0.1), NodeLoad(first.target.nodes[1].id, "5", 0.98, 0.97)]
        look.player.feed(events.IntervalsTold((), 1.0, (*loads, NodeLoad(second.target.node.id, "\x1b[2J", 0.5, 0.0))))
        words = f"core 5 of {first.target.nodes[1].id} 98 % busy, 97 % softirq"
        await look.until(lambda: words in look.text)
        assert "\x1b" not in look.text
        tell_intervals(look, {0: 0.3e9})
        await look.until(lambda: "no result: core 5 of" in look.text)
