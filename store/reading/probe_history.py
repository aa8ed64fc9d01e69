"""The outcomes of all tests of one probe in a session, in few columns: a watch of days has a million of them.

Attempts that were never closed count too: their results were committed before the console died.
"""

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.store.codec.values import members_by_value
from benchconsole.store.files.database import Database
from benchconsole.store.model import ProbeOutcome
from benchconsole.store.reading.session_list import find_number

_STAGES = members_by_value(FailedAt)

_ATTEMPTS = """SELECT attempt.id FROM attempt JOIN round ON round.id = attempt.round_id
    WHERE session_id = ? AND probe = ? ORDER BY attempt.id"""
_RESULTS = """SELECT result.id, test.node, result.started, failed_at FROM result JOIN test ON test.id = result.test_id
    WHERE attempt_id = ? ORDER BY result.id"""
_NUMBERS = """SELECT result_id, metric.name, value FROM result JOIN measurement ON measurement.result_id = result.id
    JOIN metric ON metric.id = metric_id WHERE attempt_id = ? ORDER BY result_id, measurement.id"""
_FACTS = """SELECT result_id, name, coalesce(text, number) FROM result JOIN fact ON fact.result_id = result.id
    WHERE attempt_id = ? ORDER BY result_id, fact.id"""


def read_outcomes(database: Database, key: str, probe: str) -> Iterator[ProbeOutcome]:
    """The outcomes of the tests of ``probe`` in the order in which their attempts were begun."""
    with database.reading() as connection:
        attempts = connection.execute(_ATTEMPTS, (find_number(connection, key, database.path), probe)).fetchall()
    for (attempt,) in attempts:
        with database.reading() as connection:
            page = _read_attempt(connection, attempt)
        yield from page


def _read_attempt(connection: sqlite3.Connection, attempt: int) -> list[ProbeOutcome]:
    results = connection.execute(_RESULTS, (attempt,)).fetchall()
    numbers = _group_rows(connection, _NUMBERS, attempt)
    facts = _group_rows(connection, _FACTS, attempt)
    return [
        ProbeOutcome(
            node=node,
            at=started,
            failed_at=None if stage is None else _STAGES[stage],
            numbers=tuple((name, value) for _, name, value in numbers.get(result, ())),
            facts={name: value for _, name, value in facts.get(result, ())},
        )
        for result, node, started, stage in results
    ]


def _group_rows(connection: sqlite3.Connection, statement: str, attempt: int) -> dict[int, list[tuple[Any, ...]]]:
    rows = connection.execute(statement, (attempt,))
    return {result: list(group) for result, group in groupby(rows, key=lambda row: int(row[0]))}
