"""Writing a round: begun, result after result, closed; every function inside one transaction.

Results of a whole group go in together. Nothing that was measured is updated or deleted, ever.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Round, TestOutcome
from benchconsole.store.codec.rows import (
    FactRow,
    MeasurementRow,
    OutputRow,
    ResultRow,
    ResultRows,
    RoundRow,
    TestRow,
    make_result_rows,
    make_round_row,
    make_test_row,
)
from benchconsole.store.codec.values import Count, make_row, require_finite, require_integer
from benchconsole.store.errors import ConflictError
from benchconsole.store.sqlite import Connection
from benchconsole.store.writing.bulk_insert import insert_values
from benchconsole.store.writing.write_cache import KnownAttempt, WriteCache

_RUNNER = "report this as a fault of the runner"


class RoundEnd(NamedTuple):
    """The end of an attempt, as a row: its times, why it ended, and its tests counted by their outcome."""

    started: float
    ended: float
    reason: str
    because: str
    tested: Count
    failed: Count
    unreachable: Count
    skipped: Count


def begin_round(cache: WriteCache, session: int, round_number: int, *, at: float, attempt: int | None = None) -> int:
    """Begin an attempt at a planned round; its number, one after the last unless ``attempt`` names it.

    ConflictError when the round is not of the plan, or ``attempt`` is not higher than any stored one.
    """
    row = cache.connection.execute(
        """SELECT id, (SELECT coalesce(max(number), 0) FROM attempt WHERE round_id = round.id)
        FROM round WHERE session_id = ? AND number = ?""",
        (session, round_number),
    ).fetchone()
    if row is None:
        raise ConflictError(f"round {round_number} is not of the plan of this session", "write the plan first")
    round_id, latest = row
    if attempt is not None and attempt <= latest:
        raise ConflictError(
            f"attempt {attempt} at round {round_number} comes after attempt {latest}, which is stored",
            f"store it as attempt {latest + 1}, or leave it: the round is there",
        )
    number = latest + 1 if attempt is None else require_integer(attempt, "an attempt")
    cache.connection.execute(
        """INSERT INTO attempt (round_id, number, started, because, tested, failed, unreachable, skipped)
        VALUES (?, ?, ?, '', 0, 0, 0, 0)""",
        (round_id, number, require_finite(at, "the start of a round")),
    )
    cache.forget_round(session, round_number)
    return int(number)


def append_results(cache: WriteCache, results: Iterable[tuple[KnownAttempt, ResultRows]]) -> None:
    """Write results with their outputs, measurements and facts, in their order.

    ConstraintError when one is stored already; call it inside a savepoint.
    """
    connection, names = cache.connection, cache.names
    (number,) = connection.execute("SELECT coalesce(max(id), 0) FROM result").fetchone()
    result_values: list[object] = []
    output_values: list[object] = []
    measurement_values: list[object] = []
    fact_values: list[object] = []
    written: list[tuple[KnownAttempt, int]] = []
    for attempt, result in results:
        number += 1
        test = attempt.find_test(result.test)
        result_values += (number, attempt.attempt, test, *result.result)
        for output in result.outputs:
            output_values += (number, *output._replace(argv=names.command(output.argv)))
        for metric, unit, labels, *rest in result.measurements:
            measurement_values += (number, names.metric(metric, unit), names.labels(labels), *rest)
        for labels, *rest in result.facts:
            fact_values += (number, names.labels(labels), *rest)
        written.append((attempt, test))
    insert_values(connection, "result", _RESULT, result_values)
    insert_values(connection, "output", _OUTPUT, output_values)
    insert_values(connection, "measurement", _MEASUREMENT, measurement_values)
    insert_values(connection, "fact", _FACT, fact_values)
    for attempt, test in written:
        attempt.stored.add(test)


_RESULT = ("id", "attempt_id", "test_id", *ResultRow._fields)
_OUTPUT = ("result_id", *OutputRow._fields)
_MEASUREMENT = ("result_id", "metric_id", "labels_id", *MeasurementRow._fields[3:])
_FACT = ("result_id", "labels_id", *FactRow._fields[1:])


def close_round(cache: WriteCache, session: int, closed: ClosedRound) -> int:
    """Write what is missing of a closed round, and its end; the number of the attempt in the file.

    ConflictError when it is not the round of the plan, was not begun, is closed already, or a
    result comes twice.
    """
    _require_planned(cache.connection, session, closed.round)
    twice = [test for test, count in Counter(result.test.id for result in closed.results).items() if count > 1]
    if twice:
        raise ConflictError(f"the result of test {twice[0]} comes twice in a round", _RUNNER)
    known = cache.require_open(session, closed.round.number, closed.attempt)
    missing = [result for result in closed.results if known.find_test(result.test.id) not in known.stored]
    append_results(cache, [(known, make_result_rows(result)) for result in missing])
    write_end(cache, known, make_round_end(closed))
    cache.forget_round(session, closed.round.number)
    return known.attempt


def write_end(cache: WriteCache, attempt: KnownAttempt, end: RoundEnd) -> None:
    """Write the end of an attempt."""
    cache.connection.execute(
        """UPDATE attempt SET started = ?, ended = ?, reason = ?, because = ?,
            tested = ?, failed = ?, unreachable = ?, skipped = ?
        WHERE id = ? AND ended IS NULL""",
        (*end, attempt.attempt),
    )


def make_round_end(closed: ClosedRound) -> RoundEnd:
    """The end of a closed round as a row; a test without a result counts as skipped."""
    count = Counter(result.outcome.value for result in closed.results)
    count[TestOutcome.SKIPPED] += len(closed.round.tests) - len(closed.results)
    outcomes = {outcome.value: count[outcome] for outcome in TestOutcome}
    return make_row(RoundEnd, closed, f"round {closed.round.number}", **outcomes)


_ROUND = f"SELECT id, {', '.join(RoundRow._fields)} FROM round WHERE session_id = ? AND number = ?"  # noqa: S608
_TESTS = f"SELECT {', '.join(TestRow._fields)} FROM test WHERE round_id = ? ORDER BY id"  # noqa: S608


def _require_planned(connection: Connection, session: int, run: Round) -> None:
    """ConflictError when the plan has another round under this number."""
    row = connection.execute(_ROUND, (session, run.number)).fetchone()
    if row is not None and row[1:] == make_round_row(run):
        tests = connection.execute(_TESTS, row[:1]).fetchall()
        if tests == [make_test_row(run, test) for test in run.tests]:
            return
    raise ConflictError(
        f"round {run.number} ({run.because}) is not the one that was planned",
        "run a session with its stored plan, or begin a new session",
    )
