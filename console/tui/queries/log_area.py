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
    days = {time.localtime(line.at)[:3] for line in view.log}
    form = "%H:%M:%S" if len(days) == 1 else "%m-%d %H:%M"  # in twelve columns, which a narrow screen has
    return Area("Logs", columns, tuple(_make_line(line, form) for line in view.log), {})


def _make_line(line: Line, form: str) -> Row:
    record: Record = {"at": line.at, "state": None if line.state is None else line.state.value, "text": line.text}
    text = {
        "state": "" if line.state is None else SIGNS[line.state].word,
        "at": time.strftime(form, time.localtime(line.at)),
        "text": sanitize(line.text),
    }
    return Row(text, {}, record)
