"""The area of the log: its lines as they came, with their moment and sign."""

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
    assert not area.columns["at"].least, "a moment is shown whole or not at all"
    assert len(area.filter("closed").rows) == sum("closed" in line.text for line in view.log)


def test_a_line_is_only_text_whatever_a_node_said() -> None:
    view = RunView(faulty().fabric, log=(Line(0.0, None, "said \x1b]0;x\x07[red]\u202e"),))
    (row,) = list_log(view).rows
    assert "\x1b" not in row.words("text")
    assert "\u202e" not in row.words("text")
    assert row.words("state") == ""
