"""Owns the questions about one session, in domain words; answers are domain objects, never rows.

Each question fetches what it needs and lets go of the file before it answers, so that nobody
who looks keeps the writer waiting. Refuses to write; which sessions there are is for
``store.listing``.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from probes.judging.verdict import Verdict
from probes.model import ClosedRound, CloseReason, Output, Result, Round, Test
from store import rows
from store.database import Database
from store.errors import ConflictError
from store.listing import session_number
from store.model import StoredMeasurement, StoredRound
from topology.model import Fabric
from topology.units import Unit


class _Attempt(NamedTuple):
    """One closed round, as far as it takes to fetch the rest."""

    id: int
    round: int
    number: int
    reason: str
    started: float
    ended: float


def plan(database: Database, key: str, fabric: Fabric) -> tuple[Round, ...]:
    """The rounds of a session as they were planned; nodes are those of ``fabric``.

    ConflictError when ``fabric`` lacks a node of the plan.
    """
    with database.reading() as connection:
        return tuple(_plan(connection, database, key, fabric).values())


def _plan(connection: sqlite3.Connection, database: Database, key: str, fabric: Fabric) -> dict[int, Round]:
    number = session_number(connection, key, database.path)
    tests: defaultdict[int, list[rows.Row]] = defaultdict(list)
    for round_id, *row in connection.execute(
        "SELECT round_id, key, node, peer, options, bundle FROM test WHERE session_id = ? ORDER BY id", (number,)
    ):
        tests[round_id].append(tuple(row))
    _require_nodes(database, tests, fabric)
    planned = {}
    for round_id, *row in connection.execute(
        """SELECT id, number, stage, probe, seconds, because, bundles FROM round
        WHERE session_id = ? ORDER BY id""",
        (number,),
    ):
        of_round = tuple(
            rows.test_of(test, probe=row[2], round_number=row[0], fabric=fabric) for test in tests[round_id]
        )
        planned[round_id] = rows.round_of(tuple(row), of_round)
    return planned


def _require_nodes(database: Database, tests: Mapping[int, list[rows.Row]], fabric: Fabric) -> None:
    wanted = {name for found in tests.values() for row in found for name in row[1:3] if name is not None}
    missing = sorted(wanted - fabric.nodes.keys())
    if missing:
        raise ConflictError(
            f"the plan names {', '.join(missing[:5])}, which the fabric {fabric.name} does not have",
            "read it with the topology that is stored with the session",
            database.path,
        )


def rounds(database: Database, key: str, fabric: Fabric, *, outputs: bool = True) -> Iterator[StoredRound]:
    """The closed rounds of a session in the order in which they were stored, every attempt.

    Without ``outputs`` results come without what the commands said, which is most of the bytes.
    ConflictError when ``fabric`` lacks a node of the plan.
    """
    with database.reading() as connection:
        planned = _plan(connection, database, key, fabric)
        found = _attempts(connection, session_number(connection, key, database.path))
    for attempt in found:
        with database.reading() as connection:
            stored = _stored_round(connection, attempt, planned[attempt.round], outputs=outputs)
        yield stored


def _attempts(connection: sqlite3.Connection, number: int) -> list[_Attempt]:
    """The closed rounds of the session with this number, in the order in which they were stored."""
    return [
        _Attempt(*row)
        for row in connection.execute(
            """SELECT attempt.id, round_id, attempt.number, reason, started, ended
            FROM attempt JOIN round ON round.id = attempt.round_id WHERE session_id = ? ORDER BY attempt.id""",
            (number,),
        )
    ]


def _stored_round(connection: sqlite3.Connection, attempt: _Attempt, planned: Round, *, outputs: bool) -> StoredRound:
    judging = connection.execute(
        "SELECT id, judged_by FROM judging WHERE attempt_id = ? ORDER BY id DESC LIMIT 1", (attempt.id,)
    ).fetchone()
    results = _results(connection, attempt, {test.id: test for test in planned.tests}, outputs=outputs)
    closed = ClosedRound(planned, results, CloseReason(attempt.reason), attempt.started, attempt.ended)
    if judging is None:
        return StoredRound(closed, (), attempt.number, "")
    return StoredRound(closed, _verdicts(connection, judging[0], planned.number), attempt.number, judging[1])


def _results(
    connection: sqlite3.Connection, attempt: _Attempt, tests: Mapping[str, Test], *, outputs: bool
) -> tuple[Result, ...]:
    said = _grouped(connection, _OUTPUTS, attempt.id) if outputs else {}
    measured = _grouped(connection, _MEASUREMENTS, attempt.id)
    facts = _grouped(connection, _FACTS, attempt.id)
    found = []
    for number, key, started, seconds, *failure in connection.execute(
        """SELECT result.id, test.key, started, seconds, failed_at, failure_detail, failure_node
        FROM result JOIN test ON test.id = result.test_id WHERE attempt_id = ? ORDER BY result.id""",
        (attempt.id,),
    ):
        test = tests[key]
        found.append(
            Result(
                test,
                tuple(rows.output_of(row) for row in said.get(number, ())),
                tuple(rows.measurement_of(row, test) for row in measured.get(number, ())),
                tuple(rows.fact_of(row) for row in facts.get(number, ())),
                rows.failure_of(*failure),
                started,
                seconds,
            )
        )
    return tuple(found)


_OUTPUTS = """SELECT result_id, node, argv, stdout, stderr, exit_status, signal, output.seconds, truncated
    FROM result JOIN output ON output.result_id = result.id WHERE attempt_id = ? ORDER BY output.id"""
_MEASUREMENTS = """SELECT result_id, key, value, raw, at, metric.name, metric.unit, pairs
    FROM result JOIN measurement ON measurement.result_id = result.id
    JOIN metric ON metric.id = metric_id JOIN labels ON labels.id = labels_id
    WHERE attempt_id = ? ORDER BY measurement.id"""
_FACTS = """SELECT result_id, name, text, number, unit, pairs
    FROM result JOIN fact ON fact.result_id = result.id JOIN labels ON labels.id = labels_id
    WHERE attempt_id = ? ORDER BY fact.id"""


def _grouped(connection: sqlite3.Connection, statement: str, attempt: int) -> Mapping[int, list[rows.Row]]:
    """Rows of an attempt by the number of their result, which stands first."""
    found: defaultdict[int, list[rows.Row]] = defaultdict(list)
    for result, *row in connection.execute(statement, (attempt,)):
        found[result].append(tuple(row))
    return found


def _verdicts(connection: sqlite3.Connection, judging: int, round_number: int) -> tuple[Verdict, ...]:
    return tuple(
        rows.verdict_of(row, round_number)
        for row in connection.execute(
            """SELECT test, probe, subject, nodes, level, kind, because, verdict.shown, value, expected, required,
                text, expected_text, source, limiting, affected_by, evidence, metric.name, metric.unit, pairs
            FROM verdict JOIN metric ON metric.id = metric_id JOIN labels ON labels.id = labels_id
            WHERE judging_id = ? ORDER BY verdict.id""",
            (judging,),
        )
    )


def closed_rounds(database: Database, key: str) -> frozenset[tuple[int, int]]:
    """Number of the round and of the attempt, for every round that was closed and stored."""
    with database.reading() as connection:
        return frozenset(
            connection.execute(
                """SELECT round.number, attempt.number FROM attempt JOIN round ON round.id = attempt.round_id
                WHERE session_id = ?""",
                (session_number(connection, key, database.path),),
            ).fetchall()
        )


def complete_rounds(database: Database, key: str) -> frozenset[int]:
    """Numbers of the rounds in whose last attempt all answered: a resume need not run them again."""
    with database.reading() as connection:
        return frozenset(
            number
            for (number,) in connection.execute(
                """SELECT round.number FROM attempt JOIN round ON round.id = attempt.round_id
                WHERE session_id = ? AND reason = ?
                AND attempt.id IN (SELECT max(id) FROM attempt GROUP BY round_id)""",
                (session_number(connection, key, database.path), CloseReason.COMPLETE.value),
            )
        )


def outputs(database: Database, key: str, test: str, *, attempt: int | None = None) -> tuple[Output, ...]:
    """What the commands of one test said, in ``attempt`` or else in the last one; empty when it did not run."""
    with database.reading() as connection:
        found = connection.execute(
            """SELECT result.id FROM result JOIN test ON test.id = result.test_id
            JOIN attempt ON attempt.id = result.attempt_id
            WHERE session_id = ? AND test.key = ? AND (attempt.number = ? OR ? IS NULL)
            ORDER BY result.id DESC LIMIT 1""",
            (session_number(connection, key, database.path), test, attempt, attempt),
        ).fetchone()
        if found is None:
            return ()
        said = connection.execute(
            """SELECT node, argv, stdout, stderr, exit_status, signal, seconds, truncated
            FROM output WHERE result_id = ? ORDER BY id""",
            found,
        )
        return tuple(rows.output_of(row) for row in said)


def measurements(database: Database, key: str) -> Iterator[StoredMeasurement]:
    """Every number of a session in the order in which it was stored, every attempt."""
    with database.reading() as connection:
        found = _attempts(connection, session_number(connection, key, database.path))
    current = {attempt.round: attempt.id for attempt in found}
    for attempt in found:
        with database.reading() as connection:
            page = connection.execute(_NUMBERS, (attempt.id,)).fetchall()
            numbers = [_number_of(row, current=current[attempt.round] == attempt.id) for row in page]
        yield from numbers


_NUMBERS = """SELECT measurement.key, round.number, attempt.number, stage, probe, test.key, node, peer,
        metric.name, metric.unit, value, pairs, raw, at
    FROM attempt JOIN round ON round.id = attempt.round_id JOIN result ON result.attempt_id = attempt.id
    JOIN test ON test.id = result.test_id JOIN measurement ON measurement.result_id = result.id
    JOIN metric ON metric.id = metric_id JOIN labels ON labels.id = labels_id
    WHERE attempt.id = ? ORDER BY measurement.id"""


def _number_of(row: rows.Row, *, current: bool) -> StoredMeasurement:
    key, number, attempt, stage, probe, test, node, peer, metric, unit, value, pairs, raw, at = row
    return StoredMeasurement(
        id=key,
        round=number,
        attempt=attempt,
        stage=stage,
        probe=probe,
        test=test,
        node=node,
        peer=peer,
        metric=metric,
        unit=Unit(unit),
        value=value,
        labels=rows.labels_of(pairs),
        raw=raw,
        at=at,
        current=current,
    )
