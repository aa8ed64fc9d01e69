"""Records of up and down that a site keeps, as a CSV table, made into the time of each node.

A table has one of two forms. Spans: ``nodes,start,end`` with ``state`` (down, where it is not said) and ``reason``; an
empty ``end`` is not over. Where all spans are outages the rest of the time was up; where some say up, the rest is not
known. Changes: ``nodes,time,state``, each of which holds until the next one of its node; before the first nothing is
known. Moments have their zone, and overlaps that contradict each other are refused.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

from benchconsole.console.availability.evaluation import UptimeStretch
from benchconsole.console.text.moment import EXAMPLE, parse_moment
from benchconsole.console.view.wording import format_moment
from benchconsole.topology.capacity.csv_rows import read_rows
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.selection import choose

COLUMNS = ("nodes", "start", "end", "state", "time", "reason")
_STATES = {"up": True, "down": False}
_Parts = Sequence[tuple[float, float, bool]]


@dataclass(frozen=True, slots=True)
class UptimeRecord:
    """One row: its ``nodes`` were ``up`` or down from ``start`` to ``end`` (UTC seconds; None: not over).

    ``change``: the row tells a change, which holds until the next one of the node.
    """

    nodes: tuple[str, ...]
    start: float
    end: float | None
    up: bool
    change: bool


def read_records(path: Path, nodes: Sequence[str]) -> list[UptimeRecord]:
    """The rows of a table about ``nodes``. SelectionError with every bad row, each with its line."""
    records = read_rows(path, COLUMNS, ("nodes",), partial(_read_row, known=nodes), "records of up and down")
    if len({record.change for record in records}) > 1:
        raise SelectionError(f"{path}: rows with a time beside rows with a start, expected one form")
    return records


def make_recorded_stretches(
    records: Sequence[UptimeRecord], nodes: Sequence[str], span: tuple[float, float]
) -> dict[str, list[UptimeStretch]]:
    """The time of ``span`` (UTC seconds) of every node in order, without a gap.

    SelectionError where two spans contradict each other.
    """
    by_node: dict[str, list[UptimeRecord]] = {node: [] for node in nodes}
    for record in records:
        for node in record.nodes:
            by_node[node].append(record)
    elsewhere = None if any(record.up or record.change for record in records) else True
    return {node: list(_fill(_list_parts(node, own, span[1]), span, elsewhere)) for node, own in by_node.items()}


def _list_parts(node: str, records: Iterable[UptimeRecord], ends: float) -> _Parts:
    """Begin, end and state of what is told of a node, in order; overlaps of one state are one."""
    ordered = sorted(records, key=lambda record: record.start)
    found: list[tuple[float, float, bool]] = []
    for record, after in zip_longest(ordered, ordered[1:]):
        limit = after.start if record.change and after is not None else ends
        end = limit if record.end is None else record.end
        if not found or found[-1][1] < record.start or (found[-1][1] == record.start and found[-1][2] != record.up):
            found.append((record.start, end, record.up))
        elif found[-1][2] != record.up:
            raise SelectionError(
                f"{node} up and down at {format_moment(record.start)}, expected spans that do not contradict"
            )
        else:
            found[-1] = (found[-1][0], max(found[-1][1], end), record.up)
    return found


def _fill(parts: _Parts, span: tuple[float, float], elsewhere: bool | None) -> Iterator[UptimeStretch]:
    begins, ends = span
    at = begins
    for start, end, up in parts:
        first, last = max(start, at), min(end, ends)
        if last <= first:
            continue
        if first > at:
            yield UptimeStretch(at, first, elsewhere)
        yield UptimeStretch(first, last, up)
        at = last
    if at < ends:
        yield UptimeStretch(at, ends, elsewhere)


def _read_row(row: Mapping[str, str], known: Sequence[str]) -> UptimeRecord:
    nodes = tuple(choose(row["nodes"], known, {}))
    state = row.get("state", "").lower()
    if row.get("time"):
        if state not in _STATES:
            raise SelectionError(f"the state {row.get('state', '')!r}, expected up or down")
        return UptimeRecord(nodes, _read_moment(row["time"]), None, _STATES[state], change=True)
    if not row.get("start"):
        raise SelectionError("no start, expected nodes,start,end or nodes,time,state")
    if state not in ("", *_STATES):
        raise SelectionError(f"the state {row['state']!r}, expected up, down or nothing for down")
    start, end = _read_moment(row["start"]), _read_moment(row["end"]) if row.get("end") else None
    if end is not None and end <= start:
        raise SelectionError(f"the end {row['end']} for the start {row['start']}, expected a later one")
    return UptimeRecord(nodes, start, end, _STATES.get(state, False), change=False)


def _read_moment(text: str) -> float:
    found = parse_moment(text)
    if found is None:
        raise SelectionError(f"the moment {text!r}, expected one with its zone such as {EXAMPLE}")
    return found
