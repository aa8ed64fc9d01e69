"""Numbers typed from paper: a CSV table whose rows are judged like captured outputs, and marked as typed.

A row that stands for several values (a mean of 320) is no value of a node: only criteria on that statistic ask it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchconsole.console.session.ingest import store_rounds
from benchconsole.console.session.metadata import SessionChoice, make_new_session
from benchconsole.console.text.moment import parse_moment, parse_past
from benchconsole.console.view.run_view import INGESTED
from benchconsole.probes.api import Output, Probe, Shape, Target
from benchconsole.probes.model.labels import TYPED, TYPED_VALUE, TypedStatistic, name_typed
from benchconsole.probes.model.measuring import Labels, Reading, Result, Round, Test
from benchconsole.probes.planning.plan_rounds import make_test_id
from benchconsole.probes.planning.sweeps import REPETITION, label_tests
from benchconsole.topology.capacity.csv_rows import read_rows
from benchconsole.topology.errors import SelectionError, find_near
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.cohorts import VALUE_WORDS, is_value
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.model.statistic import NAMES, is_statistic
from benchconsole.topology.model.sweep import CLIENTS
from benchconsole.topology.selection import fold, select
from benchconsole.topology.units import Unit, UnitError, parse

if TYPE_CHECKING:
    from benchconsole.store.store import Store

COLUMNS = (
    "metric", "value", "unit", "nodes", "statistic", "n", "error", "deviation", "labels", "cohort", "date", "round",
    "source",
)  # fmt: skip
_NEEDED = COLUMNS[:2]


@dataclass(frozen=True, slots=True)
class TypedValue:
    """One row: ``value`` in the base unit of ``metric``, of ``nodes`` (of a pair sender and receiver).

    ``statistic`` is what it stands for, None of a single value. ``at`` is UTC seconds. Rows with the same ``together``
    ran at once; empty: by itself.
    ``text`` is the row as it was typed.
    """

    metric: str
    unit: Unit
    value: float
    nodes: tuple[NodeId, ...]
    is_pair: bool
    statistic: TypedStatistic | None
    labels: Labels
    at: float
    together: str
    text: str


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reads rows against a fabric and the probes of their metrics; ``now`` stands for a date that is not typed."""

    fabric: Fabric
    probes: Mapping[str, Probe]
    now: float

    def read(self, path: Path) -> list[TypedValue]:
        """The rows of a table. SelectionError with every bad row, each with its line."""
        seen: dict[tuple[object, ...], str] = {}
        rounds: dict[tuple[str, str], str] = {}

        def read_row(row: Mapping[str, str]) -> TypedValue:
            made, date = self._read_row(row, seen), row.get("date", "")
            before = rounds.setdefault((made.metric.partition(".")[0], made.together), date)
            if made.together and before != date:
                raise SelectionError(f"round {made.together!r} of {date or 'no date'}, and above of "
                                     f"{before or 'no date'}, expected one date: its tests ran at once")  # fmt: skip
            return made

        return read_rows(path, COLUMNS, _NEEDED, read_row, "values")

    def _read_row(self, row: Mapping[str, str], seen: dict[tuple[object, ...], str]) -> TypedValue:
        metric, unit = self._find_metric(row["metric"])
        nodes, is_pair = self._find_nodes(row.get("nodes", ""), metric)
        statistic = _read_statistic(row, unit)
        made = TypedValue(
            metric,
            unit,
            _read_value(_write_cell(row, "value"), unit),
            nodes,
            is_pair,
            statistic,
            self._read_labels(row, metric),
            self._read_date(row.get("date", "")),
            row.get("round", ""),
            ", ".join(f"{name} {text}" for name, text in row.items() if text),
        )
        if statistic is None and len(nodes) > 1 and self._shape(metric) is Shape.NODE:
            raise SelectionError(f"one value of {fold(nodes)}, expected one node, or a statistic of them with its n")
        key = (made.metric, made.nodes, made.labels, made.statistic, made.at)
        if key in seen:
            raise SelectionError(f"{metric} of {fold(nodes)} a second time (first {seen[key]}), expected each once")
        seen[key] = row["value"]
        return made

    def _shape(self, metric: str) -> Shape:
        return self.probes[metric.partition(".")[0]].shape

    def _find_metric(self, name: str) -> tuple[str, Unit]:
        known = {metric.name: metric.unit for probe in self.probes.values() for metric in probe.metrics}
        if name not in known:
            near = find_near(name, known)
            raise SelectionError(f"unknown metric {name!r}, expected a metric of the probes"
                                 + (f", did you mean {near}?" if near else ""))  # fmt: skip
        return name, known[name]

    def _find_nodes(self, text: str, metric: str) -> tuple[tuple[NodeId, ...], bool]:
        shape = self._shape(metric)
        if shape is Shape.PAIR:
            ends = [end.strip() for end in text.split(">")]
            if len(ends) != 2 or any(end not in self.fabric.nodes for end in ends) or ends[0] == ends[1]:
                raise SelectionError(f"nodes {text!r}, expected sender>receiver, two nodes of the file, for {metric}")
            return (NodeId(ends[0]), NodeId(ends[1])), True
        found = tuple(select(self.fabric, text)) if text else tuple(self.fabric.nodes)
        if not found:
            raise SelectionError(f"nodes {text!r}, expected nodes of the file")
        return found, False

    def _read_labels(self, row: Mapping[str, str], metric: str) -> Labels:
        """The labels and cohorts of a row, and what it stands for; only those that numbers of the metric may carry."""
        probe = self.probes[metric.partition(".")[0]]
        own = probe.label_names
        dimensions = {name for node in self.fabric.nodes.values() for name, _ in node.cohorts}
        known = None if own is None else {*own, *probe.options, *dimensions, CLIENTS}
        found: dict[str, str] = {}
        written = f"{row.get('labels', '')};{row.get('cohort', '')}".split(";")
        for text in filter(None, map(str.strip, written)):
            name, equals, value = (part.strip() for part in text.partition("="))
            if not equals or not is_value(value) or name in found:
                raise SelectionError(f"label {text!r}, expected NAME=VALUE, each name once, the value {VALUE_WORDS}")
            if known is not None and name not in known:
                near = find_near(name, known)
                hint = f", did you mean {near}?" if near else ""
                raise SelectionError(f"label {name!r} of {metric}, expected one of {', '.join(sorted(known))}{hint}")
            found[name] = value
        return tuple(sorted(found.items()))

    def _read_date(self, text: str) -> float:
        if not text:
            return self.now
        if parse_moment(text) is None:
            raise SelectionError(f"date {text!r}, expected a moment with its zone, such as 2016-04-20T12:00:00Z")
        found = parse_past(text, self.now)
        if found is None:
            raise SelectionError(f"date {text!r}, expected a moment of the past")
        return found


def _read_value(text: str, unit: Unit) -> float:
    try:
        return parse(text, unit)
    except UnitError as error:
        raise SelectionError(f"value {error}") from None


def _write_cell(row: Mapping[str, str], column: str) -> str:
    """The text of a number with its unit, which may stand in a column of its own."""
    return " ".join(filter(None, (row.get(column, ""), row.get("unit", "") if row.get(column) else "")))


def _read_statistic(row: Mapping[str, str], unit: Unit) -> TypedStatistic | None:
    """The statistic that a row stands for; None for a single value."""
    name, number = row.get("statistic", ""), row.get("n", "")
    error, deviation = (_write_cell(row, column) for column in ("error", "deviation"))
    for column, text in (("error", error), ("deviation", deviation)):
        if text and name != "mean":
            raise SelectionError(f"{column} {text!r} of {name or 'a single value'}, expected one of a mean with its n")
        if text and _read_value(text, unit) < 0:
            raise SelectionError(f"{column} {text!r}, expected 0 or more")
    if error and deviation:
        raise SelectionError(f"error {error!r} and deviation {deviation!r}, expected one: error is deviation / √n")
    if not name and number in ("", "1"):
        return None
    if not is_statistic(name):
        raise SelectionError(f"statistic {name!r}, expected one of {', '.join(NAMES)}")
    if not number.isdecimal() or int(number) < 1:
        raise SelectionError(f"n {number!r}, expected how many values the {name} is of")
    return TypedStatistic(name, int(number), error, deviation)


# -- a session


async def ingest_tables(
    store: "Store",
    fabric: Fabric,
    probes: Mapping[str, Probe],
    tables: Mapping[str, Sequence[TypedValue]],
    choice: SessionChoice,
) -> str:
    """Store the values of tables, by the names of their files, as a session of its own; its id."""
    values = [each for found in tables.values() for each in found]
    groups = group_by_key((_name_round(each), each) for each in values)
    files = ", ".join(tables)
    repetitions = _count_repetitions(values)
    rounds = [
        _make_round(fabric, probes[probe], own, number, files, repetitions)
        for number, ((probe, _), own) in enumerate(groups.items(), 1)
    ]
    first, last = min(each.at for each in values), max(each.at for each in values)
    plan = tuple(planned for planned, _ in rounds)
    key = await store.create_session(make_new_session(fabric, choice, first, is_planned=False), plan)
    session = store.session(key)
    await store_rounds(session, fabric, probes, rounds, last)
    await session.end(at=last, complete=True)
    return key


def _name_test(value: TypedValue) -> tuple[object, ...]:
    """The key that the values of one test share."""
    return value.nodes, value.labels, value.statistic, value.at


def _name_round(value: TypedValue) -> tuple[str, tuple[object, ...]]:
    """The probe and what else the values of one round have in common: nobody knows that tests ran at once unless their
    rows say so.
    """
    return value.metric.partition(".")[0], (value.together,) if value.together else _name_test(value)


def _count_repetitions(values: Sequence[TypedValue]) -> dict[tuple[object, ...], str]:
    """Which repetition each test is of those with the same nodes and labels; without those that ran once."""
    tests = dict.fromkeys((each.metric.partition(".")[0], *_name_test(each)) for each in values)
    alike = group_by_key((test[:-1], test) for test in tests)
    return {test: str(turn) for own in alike.values() if len(own) > 1 for turn, test in enumerate(own, 1)}


def _make_round(
    fabric: Fabric,
    probe: Probe,
    values: Sequence[TypedValue],
    number: int,
    files: str,
    repetitions: Mapping[tuple[object, ...], str],
) -> tuple[Round, tuple[Result, ...]]:
    """A round: a test for the values of the same nodes, labels, statistic and moment."""
    alike = group_by_key((_name_test(each), each) for each in values)
    tests, results = [], []
    for index, own in enumerate(alike.values()):
        target = _make_target(fabric, probe, own[0])
        test = Test(make_test_id(number, probe.name, index, target), probe.name, target, number)
        tests.append(test)
    planned = Round(number, f"{probe.name} {INGESTED}", probe.name, tuple(tests), 0.0, f"typed from {files}")
    labelled = label_tests((planned,), {})[0]
    for test, own in zip(labelled.tests, alike.values(), strict=True):
        results.append(_make_result(test, own, repetitions.get((probe.name, *_name_test(own[0])), "")))
    told = tuple(result.test for result in results)
    return Round(number, labelled.stage, probe.name, told, 0.0, labelled.because), tuple(results)


def _make_target(fabric: Fabric, probe: Probe, value: TypedValue) -> Target:
    nodes = tuple(fabric.nodes[name] for name in value.nodes)
    members = nodes if not value.is_pair and (len(nodes) > 1 or probe.shape is Shape.SET) else ()
    return Target(nodes[0], nodes[1] if value.is_pair else None, MappingProxyType(dict(probe.options)), members)


def _make_result(test: Test, values: Sequence[TypedValue], repetition: str) -> Result:
    first = values[0]
    own_labels = {TYPED: name_typed(first.statistic) if first.statistic else TYPED_VALUE}
    if repetition:
        own_labels[REPETITION] = repetition
    labels = tuple(sorted({**dict(test.target.labels), **dict(first.labels), **own_labels}.items()))
    own = Test(test.id, test.probe, Target(
        test.target.node, test.target.peer, test.target.options, test.target.members, labels
    ), test.round)  # fmt: skip
    readings = tuple(
        Reading(each.metric, each.value, each.unit, labels, each.text, id=f"{test.id}#{index}", at=each.at)
        for index, each in enumerate(values)
    )
    output = Output(("typed",), "\n".join(each.text for each in values).encode(), node=test.target.node.id)
    return Result(own, (output,), readings, started=first.at)
