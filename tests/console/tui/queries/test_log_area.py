"""The area of the log: its lines as they came, with their moment and sign."""

import re

import pytest

from benchconsole.console.tui.queries.area import find_state
from benchconsole.console.tui.queries.log_area import list_log
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import Line, RunView, State
from tests.console.tui.looking import faulty


def test_every_line_is_a_row_in_the_order_of_time() -> None:
    story = faulty()
    view = advance_all(RunView(story.fabric), story.events())
    area = list_log(view)
    assert [each["text"] for each in area.records] == [line.text for line in view.log]
    assert [each["at"] for each in area.records] == sorted(line.at for line in view.log)
    assert {find_state(row) for row in area.rows} >= {State.FAIL}
    assert area.filter("state=fail").rows
    assert len(area.filter("closed").rows) == sum("closed" in line.text for line in view.log)


def test_a_line_is_only_text_whatever_a_node_said() -> None:
    view = RunView(faulty().fabric, log=(Line(0.0, None, "said \x1b]0;x\x07[red]\u202e"),))
    (row,) = list_log(view).rows
    assert "\x1b" not in row.words("text")
    assert "\u202e" not in row.words("text")
    assert row.words("state") == ""


@pytest.mark.parametrize(("later", "shape"), [(60.0, r"\d\d:\d\d:\d\d"), (3 * 86400.0, r"\d\d-\d\d \d\d:\d\d")])
def test_moments_have_their_day_where_there_are_several(later: float, shape: str) -> None:
    noon = 1_700_000_000.0 - 1_700_000_000.0 % 86400.0 + 43200.0
    log = tuple(Line(at, None, "said") for at in (noon, noon + later))
    moments = [row.words("at") for row in list_log(RunView(faulty().fabric, log=log)).rows]
    assert all(re.fullmatch(shape, each) for each in moments)
    assert len({*moments}) == 2
    assert max(map(len, moments)) <= 12
