"""The area of the log: what happened in the session, the newest last."""

import time

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, words
from benchconsole.console.tui.queries.area import Area, Record, Row
from benchconsole.console.view.run_view import Line, RunView
from benchconsole.console.view.wording import SIGNS


def list_log(view: RunView) -> Area:
    """Every line that is kept, with its moment and what it says of the state of something."""
    columns = {"state": Column("state"), "at": Column("at"), "text": words("text", 24)}
    return Area("Logs", columns, tuple(map(_make_line, view.log)), {})


def _make_line(line: Line) -> Row:
    record: Record = {"at": line.at, "state": None if line.state is None else line.state.value, "text": line.text}
    text = {
        "state": "" if line.state is None else SIGNS[line.state].word,
        "at": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(line.at)),
        "text": sanitize(line.text),
    }
    return Row(text, {}, record)
