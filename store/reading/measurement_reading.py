"""The measurements of stored rounds in columns, for judging them again: objects for a million would fill the memory."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measurement_table import MeasurementKind, MeasurementTable
from benchconsole.probes.model.measuring import Labels, Round
from benchconsole.store.codec.values import members_by_value, read_number
from benchconsole.store.model import StoredMeasurements
from benchconsole.store.reading.session_list import asking_session
from benchconsole.store.reading.session_reading import (
    SessionReader,
    find_labels,
    find_metrics,
    index_plan,
    list_attempts,
    read_plan_after,
    read_round,
)
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import Unit

_UNITS = members_by_value(Unit)
_RESULTS = "SELECT id FROM result WHERE attempt_id = ? ORDER BY id"
_MEASUREMENTS = """SELECT measurement.id, result_id, metric_id, labels_id, value, measurement.key
    FROM result JOIN measurement ON measurement.result_id = result.id
    WHERE attempt_id = ? ORDER BY measurement.id"""


def read_unjudged(
    session: SessionReader, fabric: Fabric, in_columns: Callable[[Round], bool], *, plan: Sequence[Round] = ()
) -> Iterator[tuple[ClosedRound, StoredMeasurements | None]]:
    """The closed rounds of ``session`` in the order of storing, every attempt, without verdicts.

    Of a round that is asked ``in_columns`` the measurements come beside it: its results have neither measurements nor
    outputs. ``plan`` is what ``read_plan`` gave. Errors as ``SessionReader``.
    """
    with asking_session(session.database, session.id) as (connection, number):
        planned = index_plan(connection, number, plan) or read_plan_after(session, connection, number, fabric)
        attempts = list_attempts(connection, number)
    for attempt in attempts:
        if attempt.ended is not None:
            asked = in_columns(planned[attempt.round_id])
            with session.database.reading() as connection:
                stored = read_round(session, connection, attempt, planned, judged=False, measured=not asked)
                measured = _read_measurements(connection, attempt.id) if asked else None
            yield stored, measured


def _read_measurements(connection: sqlite3.Connection, attempt: int) -> StoredMeasurements:
    results = np.array([number for (number,) in connection.execute(_RESULTS, (attempt,))], np.int64)
    rows = connection.execute(_MEASUREMENTS, (attempt,)).fetchall()
    numbers, of_result, metric, labels, value, ids = zip(*rows, strict=True) if rows else ((),) * 6
    places: dict[tuple[int, int], int] = {}
    kind = [places.setdefault(each, len(places)) for each in zip(metric, labels, strict=True)]
    metrics, marks = find_metrics(connection), find_labels(connection)
    kinds = tuple(_make_kind(*metrics[of], marks[marked]) for of, marked in places)
    result = np.searchsorted(results, np.array(of_result, np.int64))
    table = MeasurementTable(
        kinds, np.array(kind, np.intp), result, np.array(list(map(read_number, value)), np.float64), ids
    )
    return StoredMeasurements(table, np.array(numbers, np.int64))


def _make_kind(metric: str, unit: str, labels: Labels) -> MeasurementKind:
    return MeasurementKind(metric, _UNITS[unit], labels)
