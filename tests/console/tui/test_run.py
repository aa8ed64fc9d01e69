"""The run screen while it runs, stops and is done; plans before anything is sent."""

import re

import pytest

from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.screens.run import RunScreen
from benchconsole.console.tui.widgets.plan import PlanView
from benchconsole.console.view import events
from benchconsole.console.view.reducer import opened
from benchconsole.console.view.session_control import Proposal
from benchconsole.probes.model.judgement import ClosedRound, Level
from benchconsole.probes.model.measuring import FailedAt, Failure, Proof, Result
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.fabrics import mini
from tests.console.tui.looking import Look, faulty, healthy, looking
from tests.console.tui.story import Faults, tell
from tests.console.tui.test_round_tests import SIZES


def events_until_the_middle_of(stage: str) -> int:
    """How many events there are when half of the first round of a stage has ended."""
    seen, inside = 0, 0
    for number, event in enumerate(faulty().events(), 1):
        if isinstance(event, events.RoundStarted) and event.round.stage == stage:
            inside = len(event.round.tests)
        if inside and isinstance(event, Result):
            seen += 1
            if seen == inside // 2:
                return number
    raise AssertionError(stage)


async def test_a_finished_run_says_what_each_stage_found() -> None:
    async with looking(faulty()) as look:
        await look.press("3")
        assert "The run is complete." in look.lines[3]
        assert "leaf3 to spine1" in look.lines[3]
        rows = {line.split()[1]: line for line in look.lines if "━━━━━━━━━━━━" in line}
        assert "n093 at 88 %" in rows["inventory"]
        assert "st3 at 42 %" in rows["disk"]
        assert "0:52" in rows["inventory"]
        assert any(line.startswith(" ∅ not judged") and "None of them counts as passed." in line for line in look.lines)


async def test_a_run_that_ended_tells_its_work_and_its_length() -> None:
    story = tell(mini(), Faults())
    work = round(sum(each.ended - each.started for each in story.closed))
    assert 0 < work < 600
    opening, *later = story.events()
    assert isinstance(opening, events.SessionOpened)
    words = f"complete   {work // 60}:{work % 60:02d} of work"
    async with looking(story) as look:
        await look.press("3")
        assert look.lines[1].rstrip().endswith(words)  # a stored session does not tell when its last run began
        look.player.feed(replace(opening, anew=True, begins_run=True), *later)
        await look.until(lambda: f"{words} in 10:00" in look.lines[1])


async def test_an_open_round_is_measured_and_not_judged() -> None:
    async with looking(faulty(), until=events_until_the_middle_of("leave")) as look:
        await look.press("3")
        assert "▸ Round 6 of 7, leave:" in look.lines[3]
        assert "▸ running" in look.lines[1]
        assert any(line.startswith((" ○", "▌○")) for line in look.lines)
        assert any("load so far" in line for line in look.lines)
        assert any("of 16 tests in" in line for line in look.lines)
        assert "S stop, asks how" in look.lines[-1]


def events_until(wanted: type[events.Event], number: int = 1) -> int:
    """How many events there are when the n-th of a kind has come."""
    places = [place for place, event in enumerate(faulty().events(), 1) if isinstance(event, wanted)]
    return places[number - 1]


@pytest.mark.parametrize(
    ("closed", "words"),
    [(1, "1 of 7 rounds over, the next one has not begun."), (6, "6 of 7 rounds over, the next"), (7, "All 7 rounds")],
)
async def test_between_two_rounds_the_run_goes_on(closed: int, words: str) -> None:
    async with looking(faulty(), until=events_until(ClosedRound, closed)) as look:
        await look.press("3")
        assert f"▸ {words}" in look.lines[3]
        assert "▸ running" in look.lines[1]
        assert not re.search("[Ss]topped|not started|complete", look.text)


async def test_a_paused_run_is_not_said_to_run() -> None:
    async with looking(faulty(), until=events_until(ClosedRound, 3)) as look:
        look.player.running = True
        await look.press("3", "S", "p")
        assert look.lines[3].startswith(" = Paused after 3 of 7 rounds.")
        assert "S takes up the next one." in look.lines[3]
        assert "= paused" in look.lines[1]
        assert "running" not in look.lines[1]
        await look.press("S", "g")
        assert "▸ 3 of 7 rounds over" in look.lines[3]
        assert "▸ running" in look.lines[1]


async def test_a_round_that_is_open_when_the_run_is_paused_is_still_said_to_run() -> None:
    async with looking(faulty(), until=events_until_the_middle_of("leave")) as look:
        look.player.running = True
        await look.press("3", "S", "p")
        assert "▸ Round 6 of 7, leave:" in look.lines[3]
        assert "▸ running" in look.lines[1]


@pytest.mark.parametrize(
    ("closed", "cut", "words"),
    [
        (3, False, "Stopped with 4 of 7 rounds not run."),
        (6, False, "Stopped with 1 of 7 rounds not run."),
        (7, True, "Stopped with 2 tests not run."),
        (7, False, "Stopped after the last round, before the nodes were searched for what is left."),
    ],
)
async def test_a_stopped_run_says_what_it_left_out_and_its_verdict(closed: int, cut: bool, words: str) -> None:
    """The fault that is known by then gives the sign."""
    told = list(faulty().events())
    last = told[events_until(ClosedRound, closed) - 1]
    assert isinstance(last, ClosedRound)
    if cut:
        results = [
            replace(each, measurements=(), failure=Failure(FailedAt.CANCELLED, "stopped", each.test.target.node.id))
            for each in last.results[:2]
        ]
        last = replace(last, results=(*results, *last.results[2:]))
    async with looking(faulty(), until=events_until(ClosedRound, closed) - 1) as look:
        look.player.feed(last, events.SessionEnded(told[-1].at, False, "cancelled"))  # type: ignore[union-attr]
        await look.until(lambda: look.app.session.latest.view.ended is not None)  # type: ignore[union-attr]
        await look.press("3")
        both = " ".join(line.strip() for line in look.lines[3:5])
        assert words in both
        assert "R plans what is left." in both
        found = look.app.session.latest.view
        assert found is not None
        assert look.lines[3].startswith(" ✗ " if found.findings else " ? ")
        assert "stopped" in look.lines[1]


async def test_a_run_that_came_to_its_time_limit_says_so_once_and_what_is_left() -> None:
    told = list(faulty().events())
    ended = events.SessionEnded(told[-1].at, False, "stopped at its time limit, 4 of 7 rounds left")  # type: ignore[union-attr]
    async with looking(faulty(), until=events_until(ClosedRound, 3)) as look:
        look.player.feed(ended)
        await look.until(lambda: look.app.session.latest.view.ended is not None)  # type: ignore[union-attr]
        await look.press("3")
        assert "Stopped at its time limit, 4 of 7 rounds left." in look.lines[3]
        assert "R plans what is left." in " ".join(line.strip() for line in look.lines[3:5])
        assert "session stopped at its time limit, 4 of 7 rounds left" in look.text
        assert re.search("held back.*rounds", look.text)
        assert "Stopped with" not in look.text


async def test_nothing_is_counted_that_there_is_none_of() -> None:
    async with looking(healthy()) as look:
        await look.press("3")
        assert "findings" not in look.lines[4]
        assert "652 of 652 tests gave a result" in look.lines[3] + look.lines[4]


async def test_a_repeat_in_its_round_is_not_counted_beside_what_it_repeats() -> None:
    story = faulty()
    before = [replace(each, started=each.started - 1e5, ended=each.ended - 1e5) for each in story.closed]
    story = replace(story, closed=before)
    told = list(story.events())
    opening, end = told[0], told[-1]
    assert isinstance(opening, events.SessionOpened)
    first = opening.plan[0]
    tests = tuple(replace(test, id=f"again/{test.id}", round=99) for test in first.tests)
    again = replace(first, number=99, tests=tests)
    async with looking(story) as look:
        later = 1_700_000_000.0
        reopened = replace(opening, plan=(*opening.plan, again), at=later, live=True)
        done = (Result(test, started=later) for test in tests[:3])
        look.player.feed(reopened, events.RoundStarted(again, later), *done)
        await look.until(lambda: len(look.app.session.latest.view.fresh) == 3)  # type: ignore[union-attr]
        await look.press("3")
        assert "647 of 652 tests gave a result   ∅ 5 not reached" in look.lines[3] + look.lines[4]
        assert "running  1:40" in look.lines[1]  # of this run alone, not since the session was begun
    assert isinstance(end, events.SessionEnded)


async def test_a_round_in_which_a_tool_hangs_says_how_long_it_may_still_take_and_for_what() -> None:
    told = list(faulty().events())
    opening, begun = told[:2]
    assert isinstance(opening, events.SessionOpened)
    assert isinstance(begun, events.RoundStarted)
    (first, *others), later = begun.round.tests, 1_699_999_980.0  # the screen's clock stands 120 s after it
    async with looking(replace(faulty(), closed=[]), until=1) as look:
        tests = (events.TestStarted(test, later) for test in begun.round.tests)
        done = (Result(test, started=later) for test in others)
        reopened = replace(opening, at=later, live=True, anew=True)
        look.player.feed(reopened, events.RoundStarted(begun.round, later, 150.5), *tests, *done)
        await look.until(lambda: len(look.app.session.latest.view.fresh) == len(others))  # type: ignore[union-attr]
        await look.press("3")
        assert f"up to 31 s more for this round: {first.target.node.id} {first.probe}" in look.lines[1]
        assert "0:00" not in look.lines[1]
        assert "120 s of 0:52, up to 31 s more" in look.lines[3]
        (stage,) = (line for line in look.lines if line.startswith(f" ▸ {begun.round.stage}"))
        assert "2:00   ≤ 0:30" in stage


async def test_nodes_that_are_tested_now_are_marked_on_the_map() -> None:
    until = 3  # opened, the first round started, one test started
    async with looking(faulty(), until=until) as look:
        assert any("▸" in line and line.startswith(" leaf1") for line in look.lines)
        assert "Round 1 of 7" in look.lines[3]


async def test_a_plan_is_shown_before_it_starts() -> None:
    async with looking(faulty()) as look:
        await look.press("R")
        assert isinstance(look.app.screen, PlanSheet)
        assert "acceptance: 7 rounds, 652 tests, about 4:42." in look.text
        assert "Each round in which a tool hangs takes up to 0:29 longer." in look.text
        assert "fio writes 1 GiB" in look.text
        assert "Nothing is sent to any node before you press enter." in look.text
        assert look.player.started == []
        await look.press("tab")
        assert "network: 4 rounds" in look.text
        await look.press("enter")
        assert [len(rounds) for rounds in look.player.started] == [4]
        assert look.app.current_mode == "run"


async def test_esc_sends_nothing() -> None:
    async with looking(faulty()) as look:
        await look.press("R", "escape")
        assert look.player.started == []
        assert look.player.proposed[0] == ("acceptance", False, ())


async def test_r_plans_what_failed() -> None:
    async with looking(faulty()) as look:
        await look.press("3", "r")
        assert look.player.proposed[-1] == (None, True, ())
        assert "tab" not in look.lines[-1]
        await look.press("enter")
        assert len(look.player.started[0]) == 1


@pytest.mark.parametrize(("key", "stopped", "paused"), [("a", [False], False), ("n", [True], False), ("p", [], True)])
async def test_s_asks_how_to_stop(key: str, stopped: list[bool], paused: bool) -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        await look.press("3", "S")
        assert isinstance(look.app.screen, ChoiceSheet)
        await look.press(key)
        assert look.player.stopped == stopped
        assert look.player.paused is paused
        assert ("PAUSED" in look.lines[0]) is paused


async def test_a_paused_run_goes_on() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = look.player.paused = True
        await look.press("3", "S", "g")
        assert not look.player.paused


async def test_nothing_stops_where_nothing_runs() -> None:
    async with looking(faulty()) as look:
        await look.press("3", "S")
        assert "Nothing is running." in look.lines[-1]


async def test_a_second_run_is_refused_while_one_goes() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        await look.press("R")
        assert "S stops it first" in look.lines[-1]


async def test_enter_opens_the_raw_output_or_the_node_that_runs() -> None:
    async with looking(faulty()) as look:
        await look.press("3", "down", "enter")
        assert isinstance(look.app.screen, RawScreen)
    async with looking(faulty(), until=events_until_the_middle_of("inventory")) as look:
        await look.press("3", "end", "enter")
        assert isinstance(look.app.screen, NodeScreen)


async def test_f_freezes_the_picture_and_counts_what_waits() -> None:
    told = list(faulty().events())
    async with looking(faulty(), until=1) as look:
        await look.press("F")
        look.player.feed(*told[1:200])
        await look.until(lambda: look.app.session.latest.generation >= 200)
        assert "FROZEN 0:0" in look.lines[0]
        assert "+199" in look.lines[0]
        assert "Nothing has run on this fabric yet." in look.lines[3]
        await look.press("F")
        assert "FROZEN" not in look.lines[0]
        assert "Nothing has run" not in look.lines[3]


async def test_q_asks_when_a_run_is_going() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        await look.press("q")
        assert isinstance(look.app.screen, ChoiceSheet)
        await look.press("s")
        assert not look.app.exit_control._is_leaving
        await look.press("q", "a")
        assert look.player.stopped == [False]
        await look.until(lambda: look.app.return_value == 0)


async def test_ctrl_c_twice_stops_everything_and_leaves() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        await look.press("ctrl+c")
        assert "again" in look.lines[-1]
        await look.press("ctrl+c")
        assert look.player.stopped == [True]
        await look.until(lambda: look.app.return_value == 130)


def test_a_plan_says_in_full_what_a_stage_is_for() -> None:
    view, words = PlanView(), " ".join(f"word{place}" for place in range(12))
    rounds = [replace(each, because=words) for each in faulty().view().plan[:1]]
    view.show("default", Proposal(tuple(rounds)), ("default",))
    lines = ["".join(cell.text for cell in row) for row in view.lines(80)]
    place = next(i for i, line in enumerate(lines) if "word0" in line)
    column = lines[place].index("word0")
    assert " ".join(" ".join(line[column:] for line in lines[place:]).split()).startswith(words)
    assert all(len(line) < 80 for line in lines)


@pytest.mark.parametrize("asked", [True, False])
async def test_what_was_left_is_said_whole_on_a_small_terminal(asked: bool) -> None:
    proofs = tuple(Proof(NodeId(f"n{place:03}"), asked=asked or not place) for place in range(134))
    proofs = (replace(proofs[0], asked=not asked), *proofs[1:])
    async with looking(faulty(), (80, 24)) as look:
        look.player.feed(events.NodesProven(proofs, 1.7e9))
        await look.press("3")
        await look.until(lambda: any("could not be searched." in line for line in look.lines))


async def test_a_number_that_could_not_be_judged_is_told_with_its_reason() -> None:
    story = healthy()
    closed = list(story.closed)
    first = closed[1].verdicts[0]
    odd = first._replace(level=Level.UNKNOWN, because="the flows ended apart")
    closed[1] = replace(closed[1], verdicts=(odd, *closed[1].verdicts[1:]))
    async with looking(replace(story, closed=closed)) as look:
        await look.press("3")
        row = next(line for line in look.lines if "the flows ended apart (1 result)" in line)
        assert row.startswith(f" ? not judged  {first.subject}")


async def test_reasons_that_have_no_row_are_counted_on_a_small_terminal() -> None:
    story = healthy()
    closed = list(story.closed)
    odd = [
        each._replace(
            level=Level.UNKNOWN, because=f"{place}: between 76 % and 100 % of expected, the flows ended apart"
        )
        for place, each in enumerate(closed[1].verdicts[:3])
    ]
    closed[1] = replace(closed[1], verdicts=(*odd, *closed[1].verdicts[3:]))
    async with looking(replace(story, closed=closed), (80, 24)) as look:
        await look.press("3")
        assert "and 2 more reasons" in next(line for line in look.lines if "not judged" in line and "between" in line)


async def test_events_of_what_was_not_judged_have_no_sign_of_a_pass() -> None:
    story = healthy()
    closed = [replace(each, verdicts=(), findings=()) for each in story.closed]
    async with looking(replace(story, closed=closed)) as look:
        await look.press("3")
        log = look.lines[next(number for number, line in enumerate(look.lines) if line.startswith(" events")) : -1]
        assert "session complete" in log[0]
        assert any("○ round 7 closed" in line for line in log)
        assert not any("·" in line for line in log)
    async with looking(story) as look:
        await look.press("3")
        assert "· round 7 closed" in look.text


async def test_a_round_of_few_tests_leaves_room_to_the_events() -> None:
    async with looking(tell(mini(leaves=2, per_leaf=2), Faults())) as look:
        await look.press("3")
        first = next(number for number, line in enumerate(look.lines) if line.startswith(" events"))
        log = [line for line in look.lines[first:-1] if re.search(r"\d\d:\d\d:\d\d", line)]
        assert len(log) > 10
        assert all(any(f"round {number} closed" in line for line in log) for number in range(3, 8))
    async with looking(faulty()) as look:
        await look.press("3")
        first = next(number for number, line in enumerate(look.lines) if line.startswith(" events"))
        assert first == len(look.lines) - 6


async def go_back(look: Look) -> None:
    """Show the session as it was when it was begun, as a replay does."""
    opening = next(faulty().events())
    assert isinstance(opening, events.SessionOpened)
    look.player.feed(replace(opening, shown=opened(opening)))
    await look.until(lambda: not look.app.session.latest.view.closed)  # type: ignore[union-attr]
    await look.settle()


@pytest.mark.parametrize("size", SIZES)
async def test_a_replay_that_goes_back_to_its_beginning_has_no_tests_of_a_round(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        await look.press("3")
        assert "slowest first" in look.text
        await go_back(look)
        assert "0 of 7 rounds over" in look.text
        assert "slowest first" not in look.text
        run = look.app.screen
        assert isinstance(run, RunScreen)
        assert run.tests.chosen is None
        await look.press("y", "enter")
        assert look.app.screen is run
        assert "copied" not in look.lines[-1]


async def test_a_replay_that_goes_back_shows_no_output_of_a_test_that_has_not_run() -> None:
    async with looking(faulty()) as look:
        await look.press("3", "down", "enter")
        raw = look.app.screen
        assert isinstance(raw, RawScreen)
        assert raw.raw.evidence is not None
        line = raw.raw.evidence.command[:40]
        assert line in look.text
        await go_back(look)
        assert line not in look.text
        assert "this test has not run yet" in look.text
        await look.press("y", "Y", "tab")
        assert "copied" not in look.lines[-1]
        look.player.feed(*list(faulty().events())[1:])
        await look.until(lambda: line in look.text)


@pytest.mark.parametrize("closed", [0, 3, 7])
async def test_between_two_rounds_the_keys_are_those_of_a_run(closed: int) -> None:
    """Before the first one, too, while all nodes are asked; and after the last, while they are searched."""
    async with looking(faulty(), until=events_until(ClosedRound, closed) if closed else 1) as look:
        await look.press("3")
        assert look.lines[-1].split()[:2] == ["S", "stop,"]
        assert "plan a run" not in look.lines[-1]
        look.player.feed(events.SessionEnded(1_700_000_050.0, complete=False))
        await look.until(lambda: "plan a run" in look.lines[-1])
        assert "S stop" not in look.lines[-1]


async def test_before_anything_was_planned_the_keys_are_those_that_plan() -> None:
    async with looking(replace(faulty(), rounds=[]), until=1) as look:
        await look.press("3")
        assert look.lines[-1].split()[:2] == ["R", "plan"]


@pytest.mark.parametrize("size", SIZES)
async def test_a_run_that_waits_between_two_rounds_tells_no_end(size: tuple[int, int]) -> None:
    async with looking(faulty(), size, until=events_until(ClosedRound, 3)) as look:
        await look.press("3")
        assert "▸ running" in look.text
        look.player.feed(events.Held("ann uses n001.", 1.7e9))
        await look.until(lambda: "= waits" in look.text)
        assert "running" not in "".join(look.lines[:4])
        assert "ends" not in "".join(look.lines[:4])
        look.player.feed(events.Resumed(1.7e9))
        await look.until(lambda: "▸ running" in look.text)


async def test_a_run_that_waits_within_a_round_still_tells_its_time() -> None:
    async with looking(faulty(), until=events_until_the_middle_of("leave")) as look:
        await look.press("3")
        look.player.feed(events.Held("ann uses n001.", 1.7e9))
        await look.until(lambda: "The run waits, round 6 is not over." in look.text)
        assert "▸ running" in look.text


async def test_a_plan_that_grew_is_counted_before_its_first_round_begins() -> None:
    story = faulty()
    opening = next(story.events())
    assert isinstance(opening, events.SessionOpened)
    tests = tuple(replace(test, id=f"more/{test.id}", round=99) for test in opening.plan[0].tests)
    more = replace(opening.plan[0], number=99, tests=tests, stage="second survey", because="asked once more")
    async with looking(story) as look:
        await look.press("3")
        assert "of 652 tests gave a result" in look.text
        look.player.feed(replace(opening, plan=(*opening.plan, more), at=1_700_000_090.0))
        await look.until(lambda: "7 of 8 rounds over" in look.text)
        assert f"of {652 + len(tests):,} tests gave a result" in look.text
        (stage,) = (line for line in look.lines if "second survey" in line)
        assert "0/1" in stage
        assert "asked once more" in stage


@pytest.mark.parametrize("size", [(60, 15), *SIZES])
async def test_tests_of_a_large_round_that_have_no_row_are_counted(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchconsole.console.tui.widgets.round_tests.MOST_ROWS", 20)
    async with looking(faulty(), size) as look:
        await look.press("3")
        (head,) = (line for line in look.lines if " of 64 flows" in line)
        assert head.startswith(" 20 of 64 flows, slowest f")
        run = look.app.screen
        assert isinstance(run, RunScreen)
        assert len(run.tests.items) == 20
    async with looking(faulty(), size, until=1) as look:
        look.player.feed(events.RoundStarted(faulty().rounds[0], 1_700_000_000.0))
        await look.press("3")
        assert "slowest first" not in look.text


@pytest.mark.parametrize("because", ["", "the database is full: no room left on the device; " + "free some, " * 9])
async def test_every_test_of_a_small_round_has_a_row_beside_a_banner(because: str) -> None:
    async with looking(tell(mini(leaves=2, per_leaf=2), Faults())) as look:
        if because:
            look.player.feed(events.Held(because, 1.7e9))
        await look.press("3")
        run = look.app.screen
        assert isinstance(run, RunScreen)
        assert run.banner.size.height == (2 if because else 0)
        assert run.tests.page >= run.tests.count > 1
        assert run.events.size.height > 8


@pytest.mark.parametrize("way", ["1", "2", "3", "4", ":pairs", ":sessions", ":plot", "node"])
async def test_the_key_that_stops_is_the_same_on_every_page(way: str) -> None:
    async with looking(faulty(), (200, 60), until=8) as look:
        look.player.running = True
        if way == "node":
            await look.press("2", "enter")
        elif way.startswith(":"):
            await look.press("colon", *way[1:], "enter")
        else:
            await look.press(way)
        await look.press("S")
        assert isinstance(look.app.screen, ChoiceSheet)
        await look.press("n")
        assert look.player.stopped == [True]


@pytest.mark.parametrize("tab", ["1", "2", "3", "4"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_footer_offers_to_stop_while_a_run_goes_on_and_to_plan_when_none_does(
    tab: str, size: tuple[int, int]
) -> None:
    async with looking(faulty(), size, until=8) as look:
        await look.press(tab)
        assert "S stop" in look.lines[-1]
        assert "R plan" not in look.lines[-1]
    async with looking(faulty(), size) as look:
        await look.press(tab)
        assert "S stop" not in look.lines[-1]
        assert "R plan" in look.lines[-1] or size[0] == 80 or tab in "24"
