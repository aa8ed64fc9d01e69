"""The stages on Run: which have a row where not all have one, and how the others are told."""

import pytest

from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.widgets.stages import Stages, fold_stages
from benchconsole.console.view.run_view import StageView, State
from benchconsole.topology.copying import replace
from tests.console.tui.looking import faulty, looking
from tests.console.tui.test_round_tests import SIZES, running_round

F, P, M, R, W = State.FAIL, State.PASS, State.MEASURED, State.RUNNING, State.SKIPPED


def test_what_a_stage_found_has_room_before_what_it_runs() -> None:
    stages, found = Stages(), "leaf3 to spine1 at 50 %, 12 more of them"
    stage = StageView("iperf3 trunks", "iperf3", 11, 11, 300, 8.0, 0.0, State.FAIL)
    stages.show(
        [stage],
        {"iperf3 trunks": "links between switches and wide NICs, each filled by flows"},
        {"iperf3 trunks": found},
    )
    for width in (100, 120, 160):
        (_, row) = stages.draw(width, 2)
        assert found in plain_text(row)
        assert "links" in plain_text(row)


def make_stages(*states: State) -> list[StageView]:
    return [
        StageView(f"s{place}", "iperf3", 2, 0 if state is W else 1 if state is R else 2, 4, 1.0, 0.0, state)
        for place, state in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("states", "room", "done", "shown", "waiting"),
    [
        ([F, F, R, W], 4, [], [0, 1, 2, 3], 0),
        ([P, P, F, R, W], 4, [0, 1], [2, 3, 4], 0),
        ([P, F, F, R, W], 4, [0, 1], [2, 3, 4], 0),
        ([F, F, F, F, F, R], 4, [0, 1, 2], [3, 4, 5], 0),
        ([F, F, F, F, R, W, W, W], 5, [0, 1], [2, 3, 4], 3),  # one row each for those done and those that wait
        ([F, P, F, M, R, W, W], 5, [0, 1], [2, 3, 4], 2),
        ([F, F, R, W, W, W], 3, [0, 1], [2], 3),
        ([F, F, R, W], 3, [0, 1], [2, 3], 0),
        ([F, F, R, W, W], 2, [0, 1], [2], 2),
        ([R, W, W, W], 2, [], [0], 3),
        ([F, F, R, W], 1, [], [2], 0),
        ([F, R, W, W], 3, [], [0, 1], 2),
        ([F, F, W, W, W, W], 3, [0, 1], [2], 3),  # between two rounds: the next one
        ([F, F, M, F, P, P], 4, [0, 4, 5], [1, 2, 3], 0),
        ([P, P, P, P], 2, [0, 1, 2, 3], [], 0),
        ([F, F, F, F, F], 3, [0, 1, 2], [3, 4], 0),
        ([P, F, F, R], 3, [0, 1], [2, 3], 0),
    ],
)
def test_stages_without_a_row_are_counted_and_the_one_that_runs_has_one(
    states: list[State], room: int, done: list[int], shown: list[int], waiting: int
) -> None:
    stages = make_stages(*states)
    fold = fold_stages(stages, room)
    assert [[stages.index(each) for each in part] for part in (fold.done, fold.shown)] == [done, shown]
    assert fold.waiting == waiting
    widget = Stages()
    widget.show(stages, {}, {})
    assert len(widget.draw(80, room + 1)) <= room + 1


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ([M, F, P, R], "✗ 3 stages done, worst fail"),
        ([M, P, P, R, W, W], "○ 3 stages done, and 2 more"),
        ([P, P, P, R, W], "· 3 stages done and passed, and 1 more"),
    ],
)
def test_stages_that_share_a_row_tell_their_worst(states: list[State], words: str) -> None:
    widget = Stages()
    widget.show(make_stages(*states), {}, {})
    assert plain_text(widget.draw(80, 3)[1]).strip() == words


@pytest.mark.parametrize("size", [(60, 15), *SIZES])
async def test_the_stage_that_runs_is_in_sight_on_a_small_terminal(size: tuple[int, int]) -> None:
    story = faulty()
    named = [replace(each, stage=f"stage {each.number}") for each in story.rounds]
    more = [replace(named[-1], number=number, stage=f"stage {number}") for number in range(8, 14)]
    async with looking(replace(story, rounds=[*named, *more]), size, until=running_round("leave")) as look:
        await look.press("3")
        assert any(line.startswith(" ▸ stage 6") for line in look.lines)
        if not any("stage 13" in line for line in look.lines):
            assert any(("and" in line and "more" in line) or "more wait" in line for line in look.lines)
