"""Owns the questions about one session, in domain words; answers are domain objects, never rows.

Each question fetches what it needs and lets go of the file before it answers, so that nobody
who looks keeps the writer waiting. Refuses to write; which sessions there are is for
``store.listing``.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from probes.judging.verdict import Verdict
from probes.model import ClosedRound, CloseReason, Proof, Result, Round, Test
from store import results, rows
from store.database import Database
from store.errors import ConflictError
from store.left import LeftFacts, LeftOutputs, Place
from store.listing import session_number
from store.model import Note, OpenRound, Proven, StoredMeasurement, StoredRound
from store.values import strings
from topology.model import Fabric
from topology.units import Unit

Placing = Callable[[str], Place]
"""From the id of a test to where its outputs and facts stay in the file."""


class _Attempt(NamedTuple):
    """One round that was begun, as far as it takes to fetch the rest; open without ``reason`` and ``ended``."""

    id: int
    round: int
    number: int
    reason: str | None
    started: float
    ended: float | None
    because: str


def plan(database: Database, key: str, fabric: Fabric) -> tuple[Round, ...]:
    """The rounds of a session as they were planned; nodes are those of ``fabric``.

    ConflictError when ``fabric`` lacks a node of the plan.
    """
    with database.reading() as connection:
        return tuple(_plan(connection, database, key, fabric).values())


def _plan(connection: sqlite3.Connection, database: Database, key: str, fabric: Fabric) -> dict[int, Round]:
    return planned_since(connection, session_number(connection, key, database.path), fabric, database=database, after=0)


def planned_since(
    connection: sqlite3.Connection, session: int, fabric: Fabric, *, database: Database, after: int
) -> dict[int, Round]:
    """The rounds of a session by their number in the file, those above ``after``; ConflictError as ``plan``."""
    tests: defaultdict[int, list[rows.Row]] = defaultdict(list)
    for round_id, *row in connection.execute(
        """SELECT round_id, test.key, node, peer, options, bundle, members, labels FROM round
        JOIN test ON test.round_id = round.id WHERE round.session_id = ? AND round.id > ? ORDER BY test.id""",
        (session, after),
    ):
        tests[round_id].append(tuple(row))
    _require_nodes(database, tests, fabric)
    planned = {}
    for round_id, *row in connection.execute(
        """SELECT id, number, stage, probe, seconds, because, bundles, swept FROM round
        WHERE session_id = ? AND id > ? ORDER BY id""",
        (session, after),
    ):
        of_round = tuple(
            rows.test_of(test, probe=row[2], round_number=row[0], fabric=fabric) for test in tests.pop(round_id, ())
        )
        planned[round_id] = rows.round_of(tuple(row), of_round)
    return planned


def _require_nodes(database: Database, tests: Mapping[int, list[rows.Row]], fabric: Fabric) -> None:
    named = {name for found in tests.values() for row in found for name in row[1:3] if name is not None}
    members = {row[5] for found in tests.values() for row in found}
    missing = sorted(named.union(*map(strings, members)) - fabric.nodes.keys())
    if missing:
        raise ConflictError(
            f"the plan names {', '.join(missing[:5])}, which the fabric {fabric.name} does not have",
            "read it with the topology that is stored with the session",
            database.path,
        )


def rounds(database: Database, key: str, fabric: Fabric) -> Iterator[StoredRound]:
    """The closed rounds of a session in the order in which they were stored, every attempt.

    ConflictError when ``fabric`` lacks a node of the plan.
    """
    with database.reading() as connection:
        planned = _plan(connection, database, key, fabric)
        found = _attempts(connection, session_number(connection, key, database.path))
    for attempt in found:
        if attempt.ended is None:
            continue
        with database.reading() as connection:
            stored = _stored_round(connection, attempt, planned[attempt.round], _placing(database, key, attempt))
        yield stored


_ATTEMPT = "attempt.id, round_id, attempt.number, reason, attempt.started, ended, attempt.because"


def _attempts(connection: sqlite3.Connection, number: int) -> list[_Attempt]:
    """Everything that was begun of the session with this number, in the order in which it was begun."""
    return [
        _Attempt(*row)
        for row in connection.execute(
            f"SELECT {_ATTEMPT} FROM attempt JOIN round ON round.id = round_id "  # noqa: S608 - a text of ours
            "WHERE session_id = ? ORDER BY attempt.id",
            (number,),
        )
    ]


def stored_round(
    connection: sqlite3.Connection, number: int, planned: Mapping[int, Round], *, database: Database, key: str
) -> StoredRound:
    """The closed round with this number of an attempt in the file; ValueError when it is not closed."""
    row = connection.execute(
        f"SELECT {_ATTEMPT} FROM attempt WHERE id = ?",  # noqa: S608 - a text of ours
        (number,),
    ).fetchone()
    attempt = _Attempt(*row)
    return _stored_round(connection, attempt, planned[attempt.round], _placing(database, key, attempt))


def _placing(database: Database, key: str, attempt: _Attempt) -> Placing:
    return partial(Place, database, key, attempt.number)


def _stored_round(connection: sqlite3.Connection, attempt: _Attempt, planned: Round, placing: Placing) -> StoredRound:
    if attempt.ended is None or attempt.reason is None:
        raise ValueError("a round without an end")
    judging = connection.execute(
        "SELECT id, judged_by FROM judging WHERE attempt_id = ? ORDER BY id DESC LIMIT 1", (attempt.id,)
    ).fetchone()
    found = tuple(results_of(connection, attempt.id, {test.id: test for test in planned.tests}, placing).values())
    closed = ClosedRound(planned, found, CloseReason(attempt.reason), attempt.started, attempt.ended, attempt.because)
    if judging is None:
        return StoredRound(closed, (), attempt.number, "")
    return StoredRound(closed, _verdicts(connection, judging[0], planned.number), attempt.number, judging[1])


def results_of(
    connection: sqlite3.Connection, attempt: int, tests: Mapping[str, Test], placing: Placing, *, after: int = 0
) -> dict[int, Result]:
    """The results of an attempt by their number in the file, those above ``after``, in the order of storing.

    What their commands said and their nodes told is left where it is: at ``placing`` of their tests.
    """
    said = {number: row for number, *row in connection.execute(_SAID, (attempt, after))}
    measured = _grouped(connection, _MEASUREMENTS, (attempt, after))
    told = dict(connection.execute(_TOLD, (attempt, after)))
    found = {}
    for number, key, *row in connection.execute(
        """SELECT result.id, test.key, started, seconds, drift, failed_at, failure_detail, failure_node
        FROM result JOIN test ON test.id = result.test_id WHERE attempt_id = ? AND result.id > ?
        ORDER BY result.id""",
        (attempt, after),
    ):
        test, place = tests[key], placing(key)
        found[number] = results.result_of(
            tuple(row),
            test,
            LeftOutputs(place, *said[number]) if number in said else (),
            tuple(results.measurement_of(row, test) for row in measured.get(number, ())),
            LeftFacts(place, told[number]) if number in told else (),
        )
    return found


_SAID = """SELECT result_id, count(*), max(output.seconds)
    FROM result JOIN output ON output.result_id = result.id WHERE attempt_id = ? AND result.id > ?
    GROUP BY result_id"""
_MEASUREMENTS = """SELECT result_id, key, value, raw, at, metric.name, metric.unit, pairs
    FROM result JOIN measurement ON measurement.result_id = result.id
    JOIN metric ON metric.id = metric_id JOIN labels ON labels.id = labels_id
    WHERE attempt_id = ? AND result.id > ? ORDER BY measurement.id"""
_TOLD = """SELECT result_id, count(*) FROM result JOIN fact ON fact.result_id = result.id
    WHERE attempt_id = ? AND result.id > ? GROUP BY result_id"""


def _grouped(connection: sqlite3.Connection, statement: str, attempt: tuple[int, int]) -> Mapping[int, list[rows.Row]]:
    """Rows of an attempt by the number of their result, which stands first."""
    found: defaultdict[int, list[rows.Row]] = defaultdict(list)
    for result, *row in connection.execute(statement, attempt):
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
                WHERE session_id = ? AND ended IS NOT NULL""",
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
                AND attempt.id IN (SELECT max(id) FROM attempt WHERE ended IS NOT NULL GROUP BY round_id)""",
                (session_number(connection, key, database.path), CloseReason.COMPLETE.value),
            )
        )


def open_rounds(database: Database, key: str, fabric: Fabric) -> tuple[OpenRound, ...]:
    """Rounds whose last attempt was begun and never closed, with the results that are stored of it.

    ConflictError as ``plan``.
    """
    with database.reading() as connection:
        last = {
            attempt.round: attempt for attempt in _attempts(connection, session_number(connection, key, database.path))
        }
        left = [attempt for attempt in last.values() if attempt.ended is None]
        planned = _plan(connection, database, key, fabric) if left else {}
        return tuple(
            OpenRound(
                planned[attempt.round],
                attempt.number,
                attempt.started,
                tuple(
                    results_of(
                        connection,
                        attempt.id,
                        {test.id: test for test in planned[attempt.round].tests},
                        _placing(database, key, attempt),
                    ).values()
                ),
            )
            for attempt in left
        )


def notes(database: Database, key: str) -> tuple[Note, ...]:
    """What was decided or happened while a session ran, in order."""
    with database.reading() as connection:
        return tuple(notes_since(connection, session_number(connection, key, database.path), 0).values())


def notes_since(connection: sqlite3.Connection, session: int, after: int) -> dict[int, Note]:
    """Notes by their number in the file, those above ``after``."""
    return {
        number: Note(*row)
        for number, *row in connection.execute(
            "SELECT id, kind, text, at FROM note WHERE session_id = ? AND id > ? ORDER BY id", (session, after)
        )
    }


def proofs(database: Database, key: str) -> tuple[Proven, ...]:
    """What the nodes showed of ours at the end of the runs of a session, in order."""
    with database.reading() as connection:
        return proofs_since(connection, session_number(connection, key, database.path), 0)[0]


def proofs_since(connection: sqlite3.Connection, session: int, after: int) -> tuple[tuple[Proven, ...], int]:
    """Proofs above the number ``after`` in the file, by the time they were stored at, and the last number."""
    found: dict[float, list[Proof]] = {}
    for number, at, *row in connection.execute(
        """SELECT id, at, node, asked, remains, ended, detail FROM proof WHERE session_id = ? AND id > ?
        ORDER BY id""",
        (session, after),
    ):
        found.setdefault(at, []).append(rows.proof_of(tuple(row)))
        after = number
    return tuple(Proven(at, tuple(each)) for at, each in found.items()), after


def measurements(database: Database, key: str) -> Iterator[StoredMeasurement]:
    """Every number of a session in the order in which its rounds were begun, every attempt."""
    with database.reading() as connection:
        found = _attempts(connection, session_number(connection, key, database.path))
    current = {attempt.round: attempt.id for attempt in found if attempt.ended is not None}
    for attempt in found:
        with database.reading() as connection:
            page = connection.execute(_NUMBERS, (attempt.id,)).fetchall()
            numbers = [_number_of(row, current=current.get(attempt.round) == attempt.id) for row in page]
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
