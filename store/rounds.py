"""Owns how a round is written: begun, result after result, closed; every function inside one transaction.

Results of a whole group go in together. Nothing that was measured is updated or deleted, ever.
Refuses to open connections and to begin or end transactions (``store.database``).
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from probes.model import ClosedRound, Result, Round
from store import rows
from store.errors import ConflictError
from store.inserting import insert
from store.ledger import Ledger, Running
from store.pieces import Row
from store.results import Kept, kept, size
from store.values import integer, number, text

_RUNNER = "report this as a fault of the runner"


class End(NamedTuple):
    """How a round went, as a row: its times, why it ended, then its tests by what became of them."""

    started: float
    ended: float
    reason: str
    because: str
    tested: int
    failed: int
    unreachable: int
    skipped: int


def begin_round(ledger: Ledger, session: int, round_number: int, *, at: float, attempt: int | None = None) -> int:
    """Begin an attempt at a planned round; its number, one after the last unless ``attempt`` names it.

    ConflictError when the round is not of the plan, or ``attempt`` is not higher than any stored one.
    """
    found = ledger.connection.execute(
        """SELECT id, (SELECT coalesce(max(number), 0) FROM attempt WHERE round_id = round.id)
        FROM round WHERE session_id = ? AND number = ?""",
        (session, round_number),
    ).fetchone()
    if found is None:
        raise ConflictError(f"round {round_number} is not of the plan of this session", "write the plan first")
    round_id, latest = found
    if attempt is not None and attempt <= latest:
        raise ConflictError(
            f"attempt {attempt} at round {round_number} comes after attempt {latest}, which is stored",
            f"store it as attempt {latest + 1}, or leave it: the round is there",
        )
    count = latest + 1 if attempt is None else integer(attempt, "an attempt")
    ledger.connection.execute(
        """INSERT INTO attempt (round_id, number, started, because, tested, failed, unreachable, skipped)
        VALUES (?, ?, ?, '', 0, 0, 0, 0)""",
        (round_id, count, number(at, "the start of a round")),
    )
    ledger.over(session, round_number)
    return int(count)


def append_results(ledger: Ledger, found: Iterable[tuple[Running, Kept]]) -> None:
    """Write results with their outputs, measurements and facts, in their order.

    sqlite3.IntegrityError when one is stored already; call it inside a savepoint.
    """
    connection, names = ledger.connection, ledger.names
    (number,) = connection.execute("SELECT coalesce(max(id), 0) FROM result").fetchone()
    results: list[object] = []
    outputs: list[object] = []
    measurements: list[object] = []
    facts: list[object] = []
    done: list[tuple[Running, int]] = []
    for running, result in found:
        number += 1
        test = running.test(result.test)
        results += (number, running.attempt, test, *result.result)
        for output in result.outputs:
            outputs += (number, *output)
        for metric, unit, labels, *rest in result.measurements:
            measurements += (number, names.metric(metric, unit), names.labels(labels), *rest)
        for labels, *rest in result.facts:
            facts += (number, names.labels(labels), *rest)
        done.append((running, test))
    insert(connection, _RESULT, 9, results)
    insert(connection, _OUTPUT, 9, outputs)
    insert(connection, _MEASUREMENT, 7, measurements)
    insert(connection, _FACT, 6, facts)
    for running, test in done:
        running.stored.add(test)


_RESULT = "result (id, attempt_id, test_id, started, seconds, drift, failed_at, failure_detail, failure_node)"
_OUTPUT = "output (result_id, node, argv, stdout, stderr, exit_status, signal, seconds, truncated)"
_MEASUREMENT = "measurement (result_id, metric_id, labels_id, key, value, raw, at)"
_FACT = "fact (result_id, labels_id, name, text, number, unit)"


class Finished(Row):
    """One result on its way into an attempt that runs."""

    __slots__ = ("_key", "_result", "rows", "running", "size")

    def __init__(self, session: str, round_number: int, attempt: int, result: Result) -> None:
        super().__init__()
        self._key = (session, round_number, attempt)
        self._result = result
        self.size = size(result)

    def prepare(self) -> None:
        """Turn it into rows."""
        self.rows = kept(self._result)

    def check(self, ledger: Ledger) -> None:
        """That the session is driven here and the attempt runs, without this result."""
        session, round_number, attempt = self._key
        self.running = ledger.running(ledger.driven(session), round_number, attempt)
        require_new(self.running, self.rows.test)

    @classmethod
    def together(cls, ledger: Ledger, rows: Sequence["Finished"]) -> None:
        """Write them."""
        append_results(ledger, [(each.running, each.rows) for each in rows])


def require_new(running: Running, test: str) -> None:
    """ConflictError when this test has its result already: a repetition is never counted twice."""
    if running.test(test) in running.stored:
        raise ConflictError(f"the result of test {test} is stored already", _RUNNER)


def close_round(ledger: Ledger, session: int, closed: ClosedRound, *, attempt: int) -> int:
    """Write what is missing of a closed round, and its end; the number of the attempt in the file.

    ConflictError when it is not the round of the plan, was not begun, is closed already, or a
    result comes twice.
    """
    _require_planned(ledger.connection, session, closed.round)
    twice = [test for test, count in Counter(result.test.id for result in closed.results).items() if count > 1]
    if twice:
        raise ConflictError(f"the result of test {twice[0]} comes twice in a round", _RUNNER)
    running = ledger.running(session, closed.round.number, attempt)
    missing = [result for result in closed.results if running.test(result.test.id) not in running.stored]
    append_results(ledger, [(running, kept(result)) for result in missing])
    finish(ledger, running, end_of(closed))
    ledger.over(session, closed.round.number)
    return running.attempt


def finish(ledger: Ledger, running: Running, end: End) -> None:
    """Write the end of an attempt."""
    ledger.connection.execute(
        """UPDATE attempt SET started = ?, ended = ?, reason = ?, because = ?,
            tested = ?, failed = ?, unreachable = ?, skipped = ?
        WHERE id = ? AND ended IS NULL""",
        (*end, running.attempt),
    )


def end_of(closed: ClosedRound) -> End:
    """The end of a closed round as a row."""
    return End(
        number(closed.started, "the start of a round"),
        number(closed.ended, "the end of a round"),
        closed.reason.value,
        text(closed.because),
        *tally(closed.round, closed.results),
    )


def tally(each: Round, results: Sequence[Result]) -> tuple[int, int, int, int]:
    """Tests tested, failed, unreachable and skipped (not started, or without a result)."""
    tested = failed = unreachable = skipped = 0
    for result in results:
        if result.failure is None:
            tested += 1
        elif result.failure.stage.means_skipped:
            skipped += 1
        elif result.failure.stage.means_unreachable:
            unreachable += 1
        else:
            failed += 1
    return tested, failed, unreachable, skipped + len(each.tests) - len(results)


def _require_planned(connection: sqlite3.Connection, session: int, run: Round) -> None:
    """ConflictError when the plan has another round under this number."""
    found = connection.execute(
        """SELECT id, number, stage, probe, seconds, because, bundles, swept FROM round
        WHERE session_id = ? AND number = ?""",
        (session, run.number),
    ).fetchone()
    if found is not None and found[1:] == rows.round_row(run):
        tests = connection.execute(
            "SELECT key, node, peer, options, bundle, members, labels FROM test WHERE round_id = ? ORDER BY id",
            found[:1],
        ).fetchall()
        if tests == [rows.test_row(test) for test in run.tests]:
            return
    raise ConflictError(
        f"round {run.number} ({run.because}) is not the one that was planned",
        "run a session with its stored plan, or begin a new session",
    )
