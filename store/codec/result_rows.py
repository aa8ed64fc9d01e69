"""Results to rows and back, both directions side by side.

A result becomes rows once, before it has any number of the file; the writer and the spool take
the same rows. Speed matters here: a run stores thousands of results in a second.
"""

from typing import NamedTuple

from benchconsole.probes.model.measuring import (
    Fact,
    FailedAt,
    Failure,
    Labels,
    Output,
    Reading,
    Result,
)
from benchconsole.store.codec.rows import clean_labels
from benchconsole.store.codec.values import (
    Flag,
    Integer,
    make_row,
    members_by_value,
    parse_strings,
    replace_surrogates,
    require_finite,
)
from benchconsole.store.errors import ConflictError
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit

_UNITS = members_by_value(Unit)
_FAULT = "report this as a fault of the runner"


class ResultRow(NamedTuple):
    """The times of a result, and its failure if there is one."""

    started: float
    seconds: float
    drift: float
    failed_at: str | None
    failure_detail: str | None
    failure_node: str | None


class OutputRow(NamedTuple):
    """What one command printed."""

    node: str
    argv: str
    stdout: bytes
    stderr: bytes
    exit_status: Integer | None
    signal: str | None
    seconds: float
    truncated: Flag


class MeasurementRow(NamedTuple):
    """A measurement before its metric and labels have numbers."""

    metric: str
    unit: str
    labels: Labels
    key: str
    value: float
    raw: str
    at: float


class FactRow(NamedTuple):
    """A fact, a ``text`` or a ``number``, before its labels have a number."""

    labels: Labels
    name: str
    text: str | None
    number: float | None
    unit: str | None


class ResultRows(NamedTuple):
    """A result as rows. ``test`` is the key of its test."""

    test: str
    result: ResultRow
    outputs: tuple[OutputRow, ...]
    measurements: tuple[MeasurementRow, ...]
    facts: tuple[FactRow, ...]


def make_result_rows(result: Result) -> ResultRows:
    """The rows of a result.

    RefusedError for a number that cannot be kept; ConflictError when a measurement comes twice or has no id.
    """
    test = result.test.id
    keys = [measurement.id for measurement in result.measurements]
    if "" in keys:
        raise ConflictError(f"a measurement in the result of {test} has no id", _FAULT)
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ConflictError(f"measurement {twice} comes twice in the result of {test}", _FAULT)
    return ResultRows(
        replace_surrogates(test),
        make_result_row(result),
        tuple(map(make_output_row, result.outputs)),
        tuple(map(make_measurement_row, result.measurements)),
        tuple(map(make_fact_row, result.facts)),
    )


def estimate_size(result: Result) -> int:
    """About how many bytes wait in memory while this result waits for the disk."""
    return 1000 + sum(len(output.stdout) + len(output.stderr) for output in result.outputs)


def make_result_row(result: Result) -> ResultRow:
    """The row of a result alone."""
    failure = result.failure
    return make_row(
        ResultRow,
        result,
        result.test.id,
        failed_at=failure and failure.stage,
        failure_detail=failure and failure.detail,
        failure_node=failure and failure.node,
    )


def parse_failure(row: ResultRow) -> Failure | None:
    """The failure of a result; ValueError where it has no stage but details."""
    if row.failed_at is None and row.failure_detail is None and row.failure_node is None:
        return None
    if row.failed_at is None or row.failure_detail is None or row.failure_node is None:
        raise ValueError("a failure that is not whole")
    return Failure(FailedAt(row.failed_at), row.failure_detail, NodeId(row.failure_node))


def make_output_row(output: Output) -> OutputRow:
    """The row of an output."""
    return make_row(OutputRow, output, "a command")


def parse_output(row: OutputRow) -> Output:
    """The output of a row."""
    node, argv, stdout, stderr, status, signal, seconds, truncated = row
    return Output(parse_strings(argv), stdout, stderr, status, signal, seconds, bool(truncated), node)


def make_measurement_row(reading: Reading) -> MeasurementRow:
    """The row of a measurement."""
    return MeasurementRow(
        replace_surrogates(reading.metric),
        reading.unit.value,
        clean_labels(reading.labels),
        replace_surrogates(reading.id),
        require_finite(reading.value, f"{reading.metric} of {reading.id}"),
        replace_surrogates(reading.raw),
        require_finite(reading.at, f"the time of {reading.id}"),
    )


def parse_measurement(row: MeasurementRow) -> Reading:
    """The measurement of a row."""
    metric, unit, labels, key, value, raw, at = row
    return Reading(metric, value, _UNITS[unit], labels, raw, key, at)


def make_fact_row(fact: Fact) -> FactRow:
    """The row of a fact."""
    is_text = isinstance(fact.value, str)
    return FactRow(
        clean_labels(fact.labels),
        replace_surrogates(fact.fact),
        replace_surrogates(str(fact.value)) if is_text else None,
        None if is_text else require_finite(float(fact.value), f"the fact of {fact.fact}"),
        None if fact.unit is None else fact.unit.value,
    )


def parse_fact(row: FactRow) -> Fact:
    """The fact of a row; ValueError where it is neither a text nor a number, or both."""
    value = row.number if row.text is None else row.text
    if value is None or (row.text is not None and row.number is not None):
        raise ValueError("a fact is a text or a number")
    return Fact(row.name, value, None if row.unit is None else Unit(row.unit), row.labels)
