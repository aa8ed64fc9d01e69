"""The area of sessions: every session of the database, with its verdict, its state, its size and its remark."""

import time
from collections.abc import Iterable

from msgspec import to_builtins

from benchconsole.console.session.listed_sessions import ListedSession
from benchconsole.console.session.listed_verdict import list_verdict
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row
from benchconsole.console.tui.rows.clock import lasting
from benchconsole.console.tui.rows.scales import scale_for
from benchconsole.console.view.run_view import State
from benchconsole.console.view.session_verdict import STATES
from benchconsole.console.view.wording import NOT_MEASURED, SIGNS
from benchconsole.store.session_summary import SessionState, SessionSummary
from benchconsole.topology.units import Shown, Unit, disk_size

_SCALES = {
    "lasted": scale_for(Unit.SECOND, Shown.PLAIN, (1.0,)),
    "nodes": scale_for(Unit.ONE, Shown.PLAIN, ()),
    "holds": scale_for(Unit.BYTE, Shown.STORAGE, (1e6,)),
}


def list_session_rows(listed: Iterable[ListedSession], shown: str, now: float) -> Area:
    """The sessions, newest first. ``shown`` is the id of the one on the screen, ``now`` is in UTC seconds."""
    columns = {
        "state": Column("state"), "id": Column("id", least=8), "label": words("label"),
        "began": Column("began", least=16), "lasted": number("lasted"), "run": Column("run"),
        "verdict": words("verdict", 16), "tested": number("tested"), "nodes": number("nodes"),
        "holds": number("holds"), "is": words("is", 8), "fabric": words("fabric"), "cluster": words("cluster", 9),
        "remark": words("remark"),
    }  # fmt: skip
    return Area("Sessions", columns, tuple(_make_row(each, shown, now) for each in listed), _SCALES)


def _make_row(each: ListedSession, shown: str, now: float) -> Row:
    summary, verdict = each.summary, list_verdict(each.summary)
    state = None if verdict.outcome is None else STATES[verdict.outcome]
    lasted = _find_length(summary, now)
    marks = _list_marks(summary, shown)
    text = {
        "state": "" if state is None else SIGNS[state].word, "id": summary.id, "label": sanitize(summary.label),
        "began": time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.started)),
        "lasted": NOT_MEASURED if lasted is None else lasting(lasted), "run": summary.state.value,
        "verdict": sanitize(verdict.words), "tested": f"{summary.tested:,} of {summary.planned:,}",
        "nodes": "" if each.nodes is None else f"{each.nodes:,}",
        "holds": "" if each.size is None else disk_size(each.size), "is": ", ".join(marks),
        "fabric": sanitize(summary.fabric), "cluster": "SIMULATED" if summary.simulated else "real",
        "remark": sanitize(" ".join(each.remark.split())),
    }  # fmt: skip
    numbers = {"lasted": lasted, "nodes": each.nodes, "holds": each.size}
    record: Record = {
        **to_builtins(summary), "state": None if state is None else state.value, "run": summary.state.value,
        "verdict": verdict.words, "lasted": lasted, "nodes": each.nodes, "bytes": each.size,
        "shown": summary.id == shown, "remark": each.remark,
    }  # fmt: skip
    return Row(text, numbers, record)


def _find_length(summary: SessionSummary, now: float) -> float | None:
    """Seconds from the beginning to the end, or to ``now`` while it runs; None where its console died."""
    if summary.ended is not None:
        return max(summary.ended - summary.started, 0.0)
    return max(now - summary.started, 0.0) if summary.state is SessionState.RUNNING else None


def _list_marks(summary: SessionSummary, shown: str) -> list[str]:
    marks = (("shown", summary.id == shown), ("baseline", summary.is_baseline))
    return [words for words, is_so in marks if is_so]


def is_running(row: Row) -> bool:
    """Whether a console drives the session of a row."""
    return row.record["state"] == State.RUNNING.value
