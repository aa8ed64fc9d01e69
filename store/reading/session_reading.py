"""Questions about one session; answers are domain objects, never rows.

Each question fetches what it needs and lets go of the file before it answers, so that no
reader keeps the writer waiting.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Verdict
from benchconsole.probes.model.measuring import Proof, Reading, Result, Round
from benchconsole.store.codec.result_rows import MeasurementRow, ResultRow, parse_measurement, parse_result
from benchconsole.store.codec.rows import (
    NamedVerdictRow,
    ProofRow,
    RoundRow,
    TestRow,
    VerdictRow,
    parse_labels,
    parse_proof,
    parse_round,
    parse_test,
    parse_verdict,
)
from benchconsole.store.codec.values import parse_strings
from benchconsole.store.errors import ConflictError
from benchconsole.store.files.database import Database
from benchconsole.store.model import OpenRound, ProofSet, SessionNote
from benchconsole.store.reading.lazy_parts import ResultAddress, StoredFacts, StoredOutputs
from benchconsole.store.reading.session_list import find_number
from benchconsole.topology.model.fabric import Fabric

MakeAddress = Callable[[str], ResultAddress]
"""From the id of a test to where its outputs and facts stay in the file."""


def _columns(table: str, fields: Iterable[str]) -> str:
    return ", ".join(f"{table}.{field}" for field in fields)


# -- the plan


def read_plan(database: Database, key: str, fabric: Fabric) -> tuple[Round, ...]:
    """The rounds of a session as they were planned; nodes are those of ``fabric``.

    ConflictError when ``fabric`` lacks a node of the plan.
    """
    with database.reading() as connection:
        return tuple(_read_plan(connection, database, key, fabric).values())


def _read_plan(connection: sqlite3.Connection, database: Database, key: str, fabric: Fabric) -> dict[int, Round]:
    number = find_number(connection, key, database.path)
    return read_plan_after(connection, number, fabric, database=database, after=0)


_TESTS = f"""SELECT round_id, {_columns("test", TestRow._fields)} FROM round
    JOIN test ON test.round_id = round.id WHERE round.session_id = ? AND round.id > ? ORDER BY test.id"""  # noqa: S608
_ROUNDS = f"""SELECT id, {_columns("round", RoundRow._fields)} FROM round
    WHERE session_id = ? AND id > ? ORDER BY id"""  # noqa: S608


def read_plan_after(
    connection: sqlite3.Connection, session: int, fabric: Fabric, *, database: Database, after: int
) -> dict[int, Round]:
    """The rounds of a session by their number in the file, those above ``after``; ConflictError as ``read_plan``."""
    tests: defaultdict[int, list[TestRow]] = defaultdict(list)
    for round_id, *row in connection.execute(_TESTS, (session, after)):
        tests[round_id].append(TestRow._make(row))
    _require_nodes(database, tests, fabric)
    planned = {}
    for round_id, *row in connection.execute(_ROUNDS, (session, after)):
        round_row = RoundRow._make(row)
        planned[round_id] = parse_round(
            round_row,
            tuple(
                parse_test(test, probe=round_row.probe, round_number=round_row.number, fabric=fabric)
                for test in tests.pop(round_id, ())
            ),
        )
    return planned


def _require_nodes(database: Database, tests: Mapping[int, list[TestRow]], fabric: Fabric) -> None:
    rows = [row for rows in tests.values() for row in rows]
    named = {row.node for row in rows} | {row.peer for row in rows if row.peer is not None}
    missing = sorted(named.union(*map(parse_strings, {row.members for row in rows})) - fabric.nodes.keys())
    if missing:
        raise ConflictError(
            f"the plan names {', '.join(missing[:5])}, which the fabric {fabric.name} does not have",
            "read it with the topology that is stored with the session",
            database.path,
        )


# -- rounds


class _AttemptRow(NamedTuple):
    """One round that was begun; open without ``reason`` and ``ended``."""

    id: int
    round_id: int
    number: int
    reason: str | None
    started: float
    ended: float | None
    because: str


_ATTEMPT = _columns("attempt", _AttemptRow._fields)
_ATTEMPTS = f"""SELECT {_ATTEMPT} FROM attempt JOIN round ON round.id = round_id
    WHERE session_id = ? ORDER BY attempt.id"""  # noqa: S608 - names of ours


def _list_attempts(connection: sqlite3.Connection, session: int) -> list[_AttemptRow]:
    """Everything that was begun of the session with this number, in the order in which it was begun."""
    return [_AttemptRow._make(row) for row in connection.execute(_ATTEMPTS, (session,))]


def read_rounds(database: Database, key: str, fabric: Fabric) -> Iterator[ClosedRound]:
    """The closed rounds of a session in the order in which they were stored, every attempt, with their last judgement.

    ConflictError when ``fabric`` lacks a node of the plan.
    """
    with database.reading() as connection:
        planned = _read_plan(connection, database, key, fabric)
        attempts = _list_attempts(connection, find_number(connection, key, database.path))
    for attempt in attempts:
        if attempt.ended is None:
            continue
        with database.reading() as connection:
            stored = _read_round(connection, attempt, planned, database=database, key=key)
        yield stored


def read_round(
    connection: sqlite3.Connection, number: int, planned: Mapping[int, Round], *, database: Database, key: str
) -> ClosedRound:
    """The closed round with this number of an attempt in the file; ValueError when it is not closed."""
    row = connection.execute(
        f"SELECT {_ATTEMPT} FROM attempt WHERE id = ?",  # noqa: S608 - names of ours
        (number,),
    ).fetchone()
    return _read_round(connection, _AttemptRow._make(row), planned, database=database, key=key)


def _read_round(
    connection: sqlite3.Connection,
    attempt: _AttemptRow,
    plan: Mapping[int, Round],
    *,
    database: Database,
    key: str,
) -> ClosedRound:
    if attempt.ended is None or attempt.reason is None:
        raise ValueError("a round without an end")
    planned = plan[attempt.round_id]
    judging, judged_by = connection.execute(
        "SELECT id, judged_by FROM judging WHERE attempt_id = ? ORDER BY id DESC LIMIT 1", (attempt.id,)
    ).fetchone() or (None, "")
    results = read_results(connection, attempt.id, planned, partial(ResultAddress, database, key, attempt.number))
    return ClosedRound(
        planned,
        tuple(results.values()),
        CloseReason(attempt.reason),
        attempt.started,
        attempt.ended,
        attempt.because,
        _read_verdicts(connection, judging, planned.number),
        attempt=attempt.number,
        judged_by=judged_by,
    )


def read_results(
    connection: sqlite3.Connection, attempt: int, planned: Round, make_address: MakeAddress, *, after: int = 0
) -> dict[int, Result]:
    """The results of an attempt by their number in the file, those above ``after``, in the order of storing.

    Outputs and facts stay in the file, at ``make_address`` of their tests.
    """
    tests = {test.id: test for test in planned.tests}
    outputs = {number: row for number, *row in connection.execute(_OUTPUTS, (attempt, after))}
    measurements = _read_measurements(connection, attempt, after=after)
    facts = dict(connection.execute(_FACTS, (attempt, after)))
    results = {}
    for number, key, *row in connection.execute(_RESULTS, (attempt, after)):
        address = make_address(key)
        results[number] = parse_result(
            ResultRow._make(row),
            tests[key],
            StoredOutputs(address, *outputs[number]) if number in outputs else (),
            tuple(measurements.get(number, ())),
            StoredFacts(address, facts[number]) if number in facts else (),
        )
    return results


_OF_ATTEMPT = "WHERE attempt_id = ? AND result.id > ?"
_RESULTS = f"""SELECT result.id, test.key, {_columns("result", ResultRow._fields)}
    FROM result JOIN test ON test.id = result.test_id {_OF_ATTEMPT} ORDER BY result.id"""  # noqa: S608
_OUTPUTS = f"""SELECT result_id, count(*), max(output.seconds)
    FROM result JOIN output ON output.result_id = result.id {_OF_ATTEMPT} GROUP BY result_id"""  # noqa: S608
_MEASUREMENTS = f"""SELECT result_id, metric.name, metric.unit, pairs, measurement.key, value, raw, at
    FROM result JOIN measurement ON measurement.result_id = result.id
    JOIN metric ON metric.id = metric_id JOIN labels ON labels.id = labels_id
    {_OF_ATTEMPT} ORDER BY measurement.id"""  # noqa: S608
_FACTS = f"""SELECT result_id, count(*) FROM result JOIN fact ON fact.result_id = result.id
    {_OF_ATTEMPT} GROUP BY result_id"""  # noqa: S608


def _read_measurements(connection: sqlite3.Connection, attempt: int, *, after: int) -> Mapping[int, list[Reading]]:
    """The measurements of an attempt by the number of their result."""
    measurements: defaultdict[int, list[Reading]] = defaultdict(list)
    for result, metric, unit, pairs, *row in connection.execute(_MEASUREMENTS, (attempt, after)):
        measurements[result].append(parse_measurement(MeasurementRow(metric, unit, parse_labels(pairs), *row)))
    return measurements


_VERDICTS = f"""SELECT metric.name, metric.unit, pairs, {_columns("verdict", VerdictRow._fields)}
    FROM verdict JOIN metric ON metric.id = metric_id JOIN labels ON labels.id = labels_id
    WHERE judging_id = ? ORDER BY verdict.id"""  # noqa: S608 - names of ours


def _read_verdicts(connection: sqlite3.Connection, judging: int | None, round_number: int) -> tuple[Verdict, ...]:
    return tuple(
        parse_verdict(NamedVerdictRow(metric, unit, parse_labels(pairs), VerdictRow._make(row)), round_number)
        for metric, unit, pairs, *row in connection.execute(_VERDICTS, (judging,))
    )


def list_closed_rounds(database: Database, key: str) -> frozenset[tuple[int, int]]:
    """Number of the round and of the attempt, for every round that was closed and stored."""
    with database.reading() as connection:
        return frozenset(
            connection.execute(
                """SELECT round.number, attempt.number FROM attempt JOIN round ON round.id = attempt.round_id
                WHERE session_id = ? AND ended IS NOT NULL""",
                (find_number(connection, key, database.path),),
            ).fetchall()
        )


def read_open_rounds(database: Database, key: str, fabric: Fabric) -> tuple[OpenRound, ...]:
    """Rounds whose last attempt was begun and never closed, with the results that are stored of it.

    ConflictError as ``read_plan``.
    """
    with database.reading() as connection:
        attempts = _list_attempts(connection, find_number(connection, key, database.path))
        last = {attempt.round_id: attempt for attempt in attempts}
        open_attempts = [attempt for attempt in last.values() if attempt.ended is None]
        plan = _read_plan(connection, database, key, fabric) if open_attempts else {}
        rounds = []
        for attempt in open_attempts:
            planned, address = plan[attempt.round_id], partial(ResultAddress, database, key, attempt.number)
            results = tuple(read_results(connection, attempt.id, planned, address).values())
            rounds.append(OpenRound(planned, attempt.number, attempt.started, results))
        return tuple(rounds)


# -- notes and proofs


def read_notes(database: Database, key: str) -> tuple[SessionNote, ...]:
    """What was decided or happened while a session ran, in order."""
    with database.reading() as connection:
        return tuple(read_notes_after(connection, find_number(connection, key, database.path), 0).values())


def read_notes_after(connection: sqlite3.Connection, session: int, after: int) -> dict[int, SessionNote]:
    """Notes by their number in the file, those above ``after``."""
    return {
        number: SessionNote(*row)
        for number, *row in connection.execute(
            "SELECT id, kind, text, at FROM note WHERE session_id = ? AND id > ? ORDER BY id", (session, after)
        )
    }


def read_proofs(database: Database, key: str) -> tuple[ProofSet, ...]:
    """What the nodes showed of ours at the end of the runs of a session, in order."""
    with database.reading() as connection:
        return read_proofs_after(connection, find_number(connection, key, database.path), 0)[0]


_PROOFS = f"""SELECT id, at, {_columns("proof", ProofRow._fields)} FROM proof
    WHERE session_id = ? AND id > ? ORDER BY id"""  # noqa: S608 - names of ours


def read_proofs_after(connection: sqlite3.Connection, session: int, after: int) -> tuple[tuple[ProofSet, ...], int]:
    """Proofs above the number ``after`` in the file, by the time they were stored at, and the last number."""
    proofs: dict[float, list[Proof]] = {}
    for number, at, *row in connection.execute(_PROOFS, (session, after)):
        proofs.setdefault(at, []).append(parse_proof(ProofRow._make(row)))
        after = number
    return tuple(ProofSet(at, tuple(of_moment)) for at, of_moment in proofs.items()), after
