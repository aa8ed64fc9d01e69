"""The areas of a history: one row for each number over sessions, and one for each session of a number."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence

from benchconsole.console.conclusions.number_history import HistoryPoint, NumberHistory, SessionHistory
from benchconsole.console.text.cells import clip_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row, take_finite
from benchconsole.console.tui.rows.scales import scale_for
from benchconsole.console.tui.rows.sparkline import draw_sparkline
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import NOT_MEASURED, SIGNS, format_quantity
from benchconsole.probes.model.labels import tell_labels
from benchconsole.store.model import HistorySession
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import Shown, Unit, counted, show_change

_SCALES = {"moved": scale_for(Unit.ONE, Shown.PERCENT, ())}
_WIDEST_NAME = 20
"""Cells of the label of a session beside a number."""

ABOUT = "Changes are shown, not judged; each sign is the verdict of its session."
"""The note on every history."""

OTHERWISE = "≠"
"""Before an expected value that is not that of the last session: another topology, or another criterion."""

DIFFERS = f"{OTHERWISE} is expected otherwise than in the last session, by topology or criterion."


def list_histories(history: SessionHistory, of: str) -> Area:
    """One row for each number. ``of`` is the node or metric that the history is of."""
    # Numbers are never told once for all rows, as words that are alike are.
    columns = {
        "node": words("node"), "stage": words("stage"), "metric": words("metric", 20), "labels": words("labels"),
        "over": number("over sessions"), "verdicts": number("verdicts"), "otherwise": number("expected"),
        "first": number("first"), "last": number("last"), "moved": number("change"), "lowest": number("lowest"),
        "lowest_in": number("in"), "highest": number("highest"), "highest_in": number("in"),
        "conditions": words("conditions"),
    }  # fmt: skip
    names = name_sessions(history.sessions)
    common = _find_common_labels(history.numbers)
    rows = tuple(_make_number(each, history.sessions, names, common) for each in history.numbers)
    return Area(f"History of {sanitize(of)}", columns, rows, _SCALES, tell_sessions(history))


_Common = dict[tuple[str, str], set[tuple[str, str]]]
"""The labels that all numbers of a stage and metric have."""


def _find_common_labels(numbers: Iterable[NumberHistory]) -> _Common:
    labels = group_by_key(((each.key.stage, each.key.metric), set(each.key.labels)) for each in numbers)
    return {key: set.intersection(*own) for key, own in labels.items()}


def tell_sessions(history: SessionHistory) -> str:
    """Which sessions a history is of, and how many are left out."""
    if not history.sessions:
        return ""
    count = counted(len(history.sessions), "session")
    began = [time.strftime("%d %b %Y", time.localtime(each.started)) for each in history.sessions]
    span = " to ".join(dict.fromkeys((began[0], began[-1])))
    older = f", {history.older:,} older not read" if history.older else ""
    return f"{count}, {span}{older}"


def name_sessions(sessions: Sequence[HistorySession]) -> list[str]:
    """Their labels where one session has it, else their ids."""
    labels = Counter(each.label for each in sessions)
    return [
        clip_text(sanitize(each.label), _WIDEST_NAME) if each.label and labels[each.label] == 1 else each.id
        for each in sessions
    ]


def _make_number(each: NumberHistory, sessions: Sequence[HistorySession], names: Sequence[str], common: _Common) -> Row:
    (first_in, first), (last_in, last) = each.measured[0], each.measured[-1]
    (lowest_in, lowest), (highest_in, highest) = each.lowest, each.highest
    values = [None if point is None else point.value for point in each.points]
    signs = [State.SKIPPED if point is None else point.state for point in each.points]
    telling = tuple(pair for pair in each.key.labels if pair not in common[each.key.stage, each.key.metric])
    differing = sum(point.differs for _, point in each.measured)
    text = {
        "node": sanitize(each.key.node), "stage": sanitize(each.key.stage), "metric": sanitize(each.key.metric),
        "labels": sanitize(" ".join(tell_labels(telling))), "over": draw_sparkline(values),
        "conditions": sanitize(" ".join(tell_labels(each.key.labels))),
        "verdicts": "".join(SIGNS[state].glyph for state in signs), "first": _tell(each, first.value),
        "last": _tell(each, last.value), "moved": NOT_MEASURED if each.change is None else show_change(each.change),
        "lowest": _tell(each, lowest.value), "lowest_in": names[lowest_in], "highest": _tell(each, highest.value),
        "highest_in": names[highest_in], "otherwise": f"{OTHERWISE} in {differing:,}" if differing else "",
    }  # fmt: skip
    record: Record = {
        "node": each.key.node, "stage": each.key.stage, "metric": each.key.metric, "labels": dict(each.key.labels),
        "unit": each.unit.value, "state": last.state.value, "first": take_finite(first.value),
        "last": take_finite(last.value), "first_in": sessions[first_in].id, "last_in": sessions[last_in].id,
        "change": each.change, "lowest": take_finite(lowest.value), "lowest_in": sessions[lowest_in].id,
        "highest": take_finite(highest.value), "highest_in": sessions[highest_in].id,
        "sessions": [_record_point(*pair) for pair in zip(sessions, each.points, strict=True)],
    }  # fmt: skip
    return Row(text, {"moved": each.change}, record, source=each.key)


def _tell(each: NumberHistory, value: float | None) -> str:
    return format_quantity(value, each.unit, each.shown)


def _record_point(session: HistorySession, point: HistoryPoint | None) -> Record:
    found: Record = {"session": session.id, "label": session.label, "started": session.started}
    if point is None:
        return {**found, "state": None, "value": None, "expected": None, "of": 0, "differs": False, "test": None}
    return {
        **found, "state": point.state.value, "value": take_finite(point.value),
        "expected": take_finite(point.expected), "of": point.number, "differs": point.differs, "test": point.test,
    }  # fmt: skip


def list_points(each: NumberHistory, sessions: Sequence[HistorySession], shown: str) -> Area:
    """One row for each session, the oldest first. ``shown`` is the id of the one on the screen."""
    columns = {
        "state": Column("verdict"), "began": Column("began", least=16), "session": words("session"),
        "id": Column("id", least=8), "value": number("value"), "expected": number("expected"), "of": number("of"),
        "is": Column("is"),
    }  # fmt: skip
    rows = (_make_point(each, *pair, shown) for pair in zip(sessions, each.points, strict=True))
    return Area("Sessions", columns, tuple(rows), {})


def _make_point(each: NumberHistory, session: HistorySession, point: HistoryPoint | None, shown: str) -> Row:
    expected = NOT_MEASURED if point is None else _tell(each, point.expected)
    text = {
        "state": "not measured" if point is None else SIGNS[point.state].word,
        "began": time.strftime("%Y-%m-%d %H:%M", time.localtime(session.started)),
        "session": sanitize(session.label), "id": session.id,
        "value": NOT_MEASURED if point is None else _tell(each, point.value),
        "expected": f"{OTHERWISE} {expected}" if point is not None and point.differs else expected,
        "of": "" if point is None or point.number < 2 else f"1 of {point.number:,}",
        "is": "on screen" if session.id == shown else "",
    }  # fmt: skip
    sign = State.SKIPPED if point is None else point.state
    return Row(text, {}, _record_point(session, point), sign, source=session.id)
