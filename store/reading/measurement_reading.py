"""The measurements of stored rounds in columns, for judging them again: objects for a million would fill the memory."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import overload

import numpy as np

from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measurement_table import MeasurementKind, MeasurementTable
from benchconsole.probes.model.measuring import Labels, Round
from benchconsole.store.codec.values import members_by_value, read_number
from benchconsole.store.files.database import Database
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
from benchconsole.store.sqlite import Connection
from benchconsole.topology.arrays import Indices
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import Unit

_UNITS = members_by_value(Unit)
_RESULTS = "SELECT id FROM result WHERE attempt_id = ? ORDER BY id"
_MEASUREMENTS = """SELECT measurement.id, result_id, metric_id, labels_id, value
    FROM result JOIN measurement ON measurement.result_id = result.id WHERE attempt_id = ?"""
_KEYS = "SELECT id, key FROM measurement WHERE id IN (SELECT value FROM json_each(?))"
_AT_ONCE = 512
"""Ids that are read in one go."""


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
                measured = _read_measurements(session.database, connection, attempt.id) if asked else None
            yield stored, measured


def _read_measurements(database: Database, connection: Connection, attempt: int) -> StoredMeasurements:
    results = np.array([number for (number,) in connection.execute(_RESULTS, (attempt,))], np.int64)
    rows = connection.execute(_MEASUREMENTS, (attempt,)).fetchall()
    columns = zip(*rows, strict=True) if rows else ((),) * 5
    number, of_result, metric, labels, value = columns
    places: dict[tuple[int, int], int] = {}
    kind = [places.setdefault(each, len(places)) for each in zip(metric, labels, strict=True)]
    metrics, marks = find_metrics(connection), find_labels(connection)
    kinds = tuple(_make_kind(*metrics[of], marks[marked]) for of, marked in places)
    numbers = np.array(number, np.int64)
    order = np.argsort(numbers, kind="stable")  # by SQLite it costs more
    numbers = numbers[order]
    table = MeasurementTable(
        kinds,
        np.array(kind, np.intp)[order],
        np.searchsorted(results, np.array(of_result, np.int64)[order]),
        np.array(list(map(read_number, value)), np.float64)[order],
        _StoredIds(database, numbers),
    )
    return StoredMeasurements(table, numbers)


class _StoredIds(Sequence[str]):
    """The ids of measurements, by their numbers in the file: of a million, few are told. Reading raises StoreError."""

    def __init__(self, database: Database, numbers: Indices) -> None:
        self._database = database
        self._numbers = numbers
        self._read: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        block, place = divmod(range(len(self))[index], _AT_ONCE)
        if block not in self._read:
            self._read[block] = self._read_block(self._numbers[block * _AT_ONCE : (block + 1) * _AT_ONCE].tolist())
        return self._read[block][place]

    def _read_block(self, numbers: Sequence[int]) -> list[str]:
        with self._database.reading() as connection:
            keys = dict(connection.execute(_KEYS, (json.dumps(numbers),)).fetchall())
        return [keys[number] for number in numbers]


def _make_kind(metric: str, unit: str, labels: Labels) -> MeasurementKind:
    return MeasurementKind(metric, _UNITS[unit], labels)
