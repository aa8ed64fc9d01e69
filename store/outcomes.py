"""Owns what became of every test of one probe in a session, in few columns: a watch of days has a million of them.

Attempts that were never closed count too: what was seen before a console died was seen. Refuses to build plans.
"""

import sqlite3
from collections.abc import Iterator
from itertools import groupby

from probes.model import FailedAt
from store.database import Database
from store.listing import session_number
from store.model import Outcome
from store.rows import Row
from store.values import members

_STAGES = members(FailedAt)

_ATTEMPTS = """SELECT attempt.id FROM attempt JOIN round ON round.id = attempt.round_id
    WHERE session_id = ? AND probe = ? ORDER BY attempt.id"""
_RESULTS = """SELECT result.id, test.node, result.started, failed_at FROM result JOIN test ON test.id = result.test_id
    WHERE attempt_id = ? ORDER BY result.id"""
_NUMBERS = """SELECT result_id, metric.name, value FROM result JOIN measurement ON measurement.result_id = result.id
    JOIN metric ON metric.id = metric_id WHERE attempt_id = ? ORDER BY result_id, measurement.id"""
_FACTS = """SELECT result_id, name, coalesce(text, number) FROM result JOIN fact ON fact.result_id = result.id
    WHERE attempt_id = ? ORDER BY result_id, fact.id"""


def outcomes(database: Database, key: str, probe: str) -> Iterator[Outcome]:
    """What became of the tests of ``probe`` in the order in which their attempts were begun."""
    with database.reading() as connection:
        found = connection.execute(_ATTEMPTS, (session_number(connection, key, database.path), probe)).fetchall()
    for (attempt,) in found:
        with database.reading() as connection:
            page = _of_attempt(connection, attempt)
        yield from page


def _of_attempt(connection: sqlite3.Connection, attempt: int) -> list[Outcome]:
    results = connection.execute(_RESULTS, (attempt,)).fetchall()
    numbers = _grouped(connection, _NUMBERS, attempt)
    facts = _grouped(connection, _FACTS, attempt)
    return [
        Outcome(
            node=node,
            at=started,
            failed_at=None if stage is None else _STAGES[stage],
            numbers=tuple((name, value) for _, name, value in numbers.get(result, ())),
            facts={name: value for _, name, value in facts.get(result, ())},
        )
        for result, node, started, stage in results
    ]


def _grouped(connection: sqlite3.Connection, statement: str, attempt: int) -> dict[int, list[Row]]:
    rows = connection.execute(statement, (attempt,))
    return {result: list(group) for result, group in groupby(rows, key=lambda row: int(row[0]))}
