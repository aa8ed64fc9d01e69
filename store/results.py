"""Owns the way between results and their rows, both directions side by side.

A result becomes rows once, before it has any number of the file; the writer and the spool take
the same rows. Speed matters here: a run stores thousands of results in a second. Refuses to know
SQL and connections.
"""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from probes.model import Fact, FailedAt, Failure, Labels, Measurement, Output, Reading, Result, Test
from store.errors import ConflictError
from store.rows import Row, labels_of
from store.values import dump, integer, members, number, strings, text
from topology.model import NodeId
from topology.units import Unit

_UNITS = members(Unit)
_FAULT = "report this as a fault of the runner"

Named = tuple[str, str, Labels, str, float, str, float]
"""A measurement before metric and labels have numbers: metric, unit, labels, key, value, raw, at."""

Told = tuple[Labels, str, str | None, float | None, str | None]
"""A fact before its labels have a number: labels, name, text, number, unit."""


class Kept(NamedTuple):
    """A result as rows. ``test`` is its key; ``result`` as ``result_row`` gives it."""

    test: str
    result: Row
    outputs: tuple[Row, ...]
    measurements: tuple[Named, ...]
    facts: tuple[Told, ...]


def kept(result: Result) -> Kept:
    """The rows of a result.

    RefusedError for a number that cannot be kept; ConflictError when a measurement comes twice or
    is of another test.
    """
    test = result.test.id
    keys = set()
    for found in result.measurements:
        if found.test.id != test or found.id in keys:
            raise ConflictError(
                f"measurement {found.id} in the result of {test} comes twice or is of {found.test.id}", _FAULT
            )
        keys.add(found.id)
    return Kept(
        text(test),
        result_row(result),
        tuple(map(output_row, result.outputs)),
        tuple(map(measurement_row, result.measurements)),
        tuple(map(fact_row, result.facts)),
    )


def size(result: Result) -> int:
    """About how many bytes wait in memory while this result waits for the disk."""
    return 1000 + sum(len(output.stdout) + len(output.stderr) for output in result.outputs)


def _finite(value: float, what: str, whose: str) -> float:
    """``number``, with the words put together only where they are needed."""
    if type(value) is float and isfinite(value):
        return value
    return number(value, f"{what} of {whose}")


def result_row(result: Result) -> Row:
    """started, seconds, drift, failed_at, failure_detail, failure_node."""
    failure, whose = result.failure, result.test.id
    clock = (
        _finite(result.started, "the start", whose),
        _finite(result.seconds, "the length", whose),
        _finite(result.drift, "the drift", whose),
    )
    if failure is None:
        return (*clock, None, None, None)
    return (*clock, failure.stage.value, text(failure.detail), text(failure.node))


def result_of(
    row: Row,
    test: Test,
    outputs: Sequence[Output],
    measurements: tuple[Measurement, ...],
    facts: Sequence[Fact],
) -> Result:
    """The other way, with its parts."""
    started, seconds, drift, stage, detail, node = row
    failure = None if stage is None else Failure(FailedAt(stage), detail, NodeId(node))
    return Result(test, outputs, measurements, facts, failure, started, seconds, drift)


def output_row(output: Output) -> Row:
    """node, argv, stdout, stderr, exit_status, signal, seconds, truncated."""
    status = output.exit_status
    return (
        text(output.node),
        dump(list(output.argv), "an argument list"),
        bytes(output.stdout),
        bytes(output.stderr),
        None if status is None else integer(status, "an exit status"),
        None if output.signal is None else text(output.signal),
        _finite(output.seconds, "the length of a command", "a test"),
        int(output.truncated),
    )


def output_of(row: Row) -> Output:
    """The other way."""
    node, argv, stdout, stderr, status, signal, seconds, truncated = row
    return Output(strings(argv), stdout, stderr, status, signal, seconds, bool(truncated), node)


def measurement_row(measurement: Measurement) -> Named:
    """metric, unit, labels, key, value, raw, at."""
    reading = measurement.reading
    return (
        reading.metric,
        reading.unit.value,
        reading.labels,
        text(measurement.id),
        _finite(reading.value, reading.metric, measurement.id),
        text(reading.raw),
        _finite(measurement.at, "the time", measurement.id),
    )


def measurement_of(row: Row, test: Test) -> Measurement:
    """The other way: key, value, raw, at, metric, unit, label pairs."""
    key, value, raw, at, metric, unit, pairs = row
    return Measurement(key, test, Reading(metric, value, _UNITS[unit], labels_of(pairs), raw), at)


def fact_row(fact: Fact) -> Told:
    """labels, name, text, number, unit."""
    return (
        fact.labels,
        text(fact.fact),
        text(fact.value) if isinstance(fact.value, str) else None,
        None if isinstance(fact.value, str) else _finite(fact.value, "the fact", fact.fact),
        None if fact.unit is None else fact.unit.value,
    )


def fact_of(row: Row) -> Fact:
    """The other way: name, text, number, unit, label pairs."""
    name, words, found, unit, pairs = row
    value: str | float = found if words is None else words
    return Fact(name, value, None if unit is None else Unit(unit), labels_of(pairs))
