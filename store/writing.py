"""Owns what is written, statement by statement; every function runs inside one transaction.

Nothing that was measured or judged is updated or deleted, ever. Refuses to open connections
and to begin or end transactions (``store.database``).
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from probes.judging.verdict import Level, Verdict
from probes.model import ClosedRound, Labels, Result, Round, Test
from store import rows
from store.errors import ConflictError, RefusedError
from store.model import NewSession
from store.values import integer, number, text

_PLANNER = "report this as a fault of the planner"
_RESERVED = re.compile(r"last(-[0-9]+)?")


class Names:
    """Numbers for metrics and label sets, looked up once in a transaction and made where missing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._metrics: dict[tuple[str, str], int] = {}
        self._labels: dict[Labels, int] = {}

    def metric(self, name: str, unit: str) -> int:
        """The number of a metric in a unit."""
        found = self._metrics.get((name, unit))
        if found is None:
            key = (text(name), unit)
            self._connection.execute("INSERT OR IGNORE INTO metric (name, unit) VALUES (?, ?)", key)
            (found,) = self._connection.execute("SELECT id FROM metric WHERE name = ? AND unit = ?", key).fetchone()
            self._metrics[name, unit] = found
        return int(found)

    def labels(self, labels: Labels) -> int:
        """The number of a label set."""
        found = self._labels.get(labels)
        if found is None:
            row = rows.labels_row(labels)
            self._connection.execute("INSERT OR IGNORE INTO labels (pairs, shown) VALUES (?, ?)", row)
            (found,) = self._connection.execute("SELECT id FROM labels WHERE pairs = ?", row[:1]).fetchone()
            self._labels[labels] = found
        return int(found)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a round stands in the file: its number there, and those of its tests by key."""

    round: int
    tests: Mapping[str, int]


# -- session and plan


def create_session(connection: sqlite3.Connection, key: str, new: NewSession, plan: Sequence[Round]) -> int:
    """Write a session and its whole plan; the number of the session.

    ConflictError when a test id or round number comes twice or ``key`` is taken, RefusedError
    for a label that means something else (``last``, ``last-1``).
    """
    if _RESERVED.fullmatch(new.label):
        raise RefusedError(f"the label {new.label} means the latest sessions", "choose another label")
    _require_sound(plan)
    cursor = connection.execute(
        """INSERT INTO session (key, label, fabric, suite, selection, options, topology, topology_path,
            simulated, program, started, rounds, tests) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            text(key),
            *rows.session_row(new),
            len(plan),
            sum(len(planned.tests) for planned in plan),
        ),
    )
    session = int(cursor.lastrowid or 0)
    _write_plan(connection, session, plan)
    return session


def extend_plan(connection: sqlite3.Connection, session: int, plan: Sequence[Round]) -> None:
    """Write further rounds of a session; ConflictError when a number or a test id is taken already."""
    _require_sound(plan)
    try:
        _write_plan(connection, session, plan)
    except sqlite3.IntegrityError as error:
        raise ConflictError("a round or test of this plan is in the session already", _PLANNER) from error
    connection.execute(
        "UPDATE session SET rounds = rounds + ?, tests = tests + ? WHERE id = ?",
        (len(plan), sum(len(planned.tests) for planned in plan), session),
    )


def _write_plan(connection: sqlite3.Connection, session: int, plan: Sequence[Round]) -> None:
    for planned in plan:
        cursor = connection.execute(
            """INSERT INTO round (session_id, number, stage, probe, seconds, because, bundles)
            VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (session, *rows.round_row(planned)),
        )
        connection.executemany(
            """INSERT INTO test (session_id, round_id, key, node, peer, options, bundle)
            VALUES (?, ?, ?, ?, ?, ?, ?)""",
            [(session, cursor.lastrowid, *rows.test_row(test)) for test in planned.tests],
        )


def _require_sound(plan: Sequence[Round]) -> None:
    """What the tables say once must be the same wherever the plan says it; ids come once."""
    numbers: set[int] = set()
    ids: set[str] = set()
    for planned in plan:
        if planned.number in numbers:
            raise ConflictError(f"round {planned.number} comes twice in the plan", _PLANNER)
        numbers.add(planned.number)
        for test in planned.tests:
            if test.id in ids:
                raise ConflictError(f"test {test.id} comes twice in the plan", _PLANNER)
            ids.add(test.id)
            if (test.round, test.probe) != (planned.number, planned.probe):
                raise ConflictError(
                    f"test {test.id} says round {test.round} and probe {test.probe}, "
                    f"its round is {planned.number} with {planned.probe}",
                    _PLANNER,
                )


# -- rounds


def append_round(connection: sqlite3.Connection, session: int, closed: ClosedRound, *, attempt: int) -> int:
    """Write a closed round with everything that was seen in it; the number of the attempt.

    ConflictError when it is not the round of the plan, when this attempt or a later one is
    stored, or when a measurement id is taken.
    """
    place = _place(connection, session, closed.round)
    (latest,) = connection.execute("SELECT max(number) FROM attempt WHERE round_id = ?", (place.round,)).fetchone()
    if latest is not None and attempt <= latest:
        raise ConflictError(
            f"attempt {attempt} at round {closed.round.number} comes after attempt {latest}, which is stored",
            f"store it as attempt {latest + 1}, or leave it: the round is there",
        )
    tested, failed, unreachable, skipped = tally(closed)
    cursor = connection.execute(
        """INSERT INTO attempt (round_id, number, reason, started, ended, tested, failed, unreachable, skipped)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            place.round,
            integer(attempt, "an attempt"),
            closed.reason.value,
            number(closed.started, "the start of a round"),
            number(closed.ended, "the end of a round"),
            tested,
            failed,
            unreachable,
            skipped,
        ),
    )
    stored = int(cursor.lastrowid or 0)
    _append_results(connection, place, stored, closed.results)
    return stored


def tally(closed: ClosedRound) -> tuple[int, int, int, int]:
    """Tests tested, failed, unreachable and skipped (not started, or without a result)."""
    tested = failed = unreachable = skipped = 0
    for result in closed.results:
        if result.failure is None:
            tested += 1
        elif result.failure.stage.means_skipped:
            skipped += 1
        elif result.failure.stage.means_unreachable:
            unreachable += 1
        else:
            failed += 1
    return tested, failed, unreachable, skipped + len(closed.round.tests) - len(closed.results)


def _place(connection: sqlite3.Connection, session: int, run: Round) -> _Place:
    """Where ``run`` stands in the plan; ConflictError when the plan has another round there."""
    row = connection.execute(
        "SELECT id, number, stage, probe, seconds, because, bundles FROM round WHERE session_id = ? AND number = ?",
        (session, run.number),
    ).fetchone()
    if row is None or row[1:] != rows.round_row(run):
        raise _not_planned(run)
    tests = connection.execute(
        "SELECT id, key, node, peer, options, bundle FROM test WHERE round_id = ? ORDER BY id", row[:1]
    ).fetchall()
    if [found[1:] for found in tests] != [rows.test_row(test) for test in run.tests]:
        raise _not_planned(run)
    return _Place(row[0], {key: test_id for test_id, key, *_ in tests})


def _not_planned(run: Round) -> ConflictError:
    return ConflictError(
        f"round {run.number} ({run.because}) is not the one that was planned",
        "run a session with its stored plan, or begin a new session",
    )


def _append_results(connection: sqlite3.Connection, place: _Place, attempt: int, results: Iterable[Result]) -> None:
    """Results with their outputs, measurements and facts, in their order."""
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM result").fetchone()
    names = Names(connection)
    seen: set[str] = set()
    result_rows: list[rows.Row] = []
    outputs: list[rows.Row] = []
    measurements: list[rows.Row] = []
    facts: list[rows.Row] = []
    for result_id, result in enumerate(results, last + 1):
        test = _planned_test(place, result.test)
        result_rows.append((result_id, attempt, test, *rows.result_row(result)))
        outputs.extend((result_id, *rows.output_row(output)) for output in result.outputs)
        for found in result.measurements:
            if found.test.id != result.test.id or found.id in seen:
                raise ConflictError(
                    f"measurement {found.id} in the result of {result.test.id} comes twice or is of {found.test.id}",
                    "report this as a fault of the runner",
                )
            seen.add(found.id)
            metric = names.metric(found.reading.metric, found.reading.unit.value)
            labels = names.labels(found.reading.labels)
            measurements.append((result_id, metric, labels, *rows.measurement_row(found)))
        facts.extend((result_id, names.labels(fact.labels), *rows.fact_row(fact)) for fact in result.facts)
    connection.executemany(
        """INSERT INTO result (id, attempt_id, test_id, started, seconds, failed_at, failure_detail, failure_node)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        result_rows,
    )
    connection.executemany(
        """INSERT INTO output (result_id, node, argv, stdout, stderr, exit_status, signal, seconds, truncated)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        outputs,
    )
    connection.executemany(
        """INSERT INTO measurement (result_id, metric_id, labels_id, key, value, raw, at)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        measurements,
    )
    connection.executemany(
        "INSERT INTO fact (result_id, labels_id, name, text, number, unit) VALUES (?, ?, ?, ?, ?, ?)", facts
    )


def _planned_test(place: _Place, test: Test) -> int:
    found = place.tests.get(text(test.id))
    if found is None:
        raise ConflictError(f"test {test.id} is not of this round", "report this as a fault of the runner")
    return found


# -- verdicts


def append_verdicts(
    connection: sqlite3.Connection, attempt: int, verdicts: Sequence[Verdict], *, judged_by: str, at: float
) -> None:
    """Write one judgement of a closed round; the latest one counts, the others stay.

    ConflictError when ``judged_by`` has judged this attempt before, or a verdict is about another round.
    """
    (round_number,) = connection.execute(
        "SELECT round.number FROM attempt JOIN round ON round.id = attempt.round_id WHERE attempt.id = ?", (attempt,)
    ).fetchone()
    if connection.execute(
        "SELECT 1 FROM judging WHERE attempt_id = ? AND judged_by = ?", (attempt, text(judged_by))
    ).fetchone():
        raise ConflictError(
            f"round {round_number} was judged by {judged_by} before", "name the new judgement differently"
        )
    for verdict in verdicts:
        if verdict.round != round_number:
            raise ConflictError(
                f"a verdict on {verdict.subject} in round {verdict.round} stands under round {round_number}",
                "report this as a fault of the judge",
            )
    count = {level: sum(verdict.level is level for verdict in verdicts) for level in Level}
    cursor = connection.execute(
        """INSERT INTO judging (attempt_id, judged_by, at, fails, watches, unknowns, passes)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (
            attempt,
            text(judged_by),
            number(at, "the time of a judgement"),
            count[Level.FAIL],
            count[Level.WATCH],
            count[Level.UNKNOWN],
            count[Level.PASS],
        ),
    )
    names = Names(connection)
    connection.executemany(
        """INSERT INTO verdict (judging_id, metric_id, labels_id, test, probe, subject, nodes, level, kind, because,
            shown, value, expected, required, text, expected_text, source, limiting, affected_by, evidence)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (
                cursor.lastrowid,
                names.metric(verdict.metric, verdict.unit.value if verdict.unit else ""),
                names.labels(verdict.labels),
                *rows.verdict_row(verdict),
            )
            for verdict in verdicts
        ],
    )


def attempt_number(connection: sqlite3.Connection, session: int, round_number: int, attempt: int) -> int:
    """The number of a stored attempt; ConflictError when it is not stored."""
    row = connection.execute(
        """SELECT attempt.id FROM attempt JOIN round ON round.id = attempt.round_id
        WHERE round.session_id = ? AND round.number = ? AND attempt.number = ?""",
        (session, round_number, attempt),
    ).fetchone()
    if row is None:
        raise ConflictError(
            f"attempt {attempt} at round {round_number} is not stored", "judge what closed_rounds names"
        )
    return int(row[0])
