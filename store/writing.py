"""Owns how sessions, plans, verdicts, notes and proofs are written; every function inside one transaction.

Nothing that was judged is updated or deleted, ever. Rounds and results are for ``store.rounds``.
Refuses to open connections and to begin or end transactions (``store.database``).
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from probes.judging.verdict import Level, Verdict
from probes.model import Labels, Proof, Round
from store import newest, rows
from store.errors import ConflictError, RefusedError
from store.inserting import flat, insert
from store.ledger import Ledger
from store.model import NewSession
from store.values import number, text

_PLANNER = "report this as a fault of the planner"
_RESERVED = re.compile(r"last(-[0-9]+)?")


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
    newest.make_scopes(connection, session)
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
            """INSERT INTO round (session_id, number, stage, probe, seconds, because, bundles, swept)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (session, *rows.round_row(planned)),
        )
        insert(
            connection,
            "test (session_id, round_id, key, node, peer, options, bundle, members, labels)",
            9,
            flat((session, cursor.lastrowid, *rows.test_row(test)) for test in planned.tests),
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


# -- verdicts


def append_verdicts(
    ledger: Ledger, session: int, attempt: int, verdicts: Sequence[Verdict], *, judged_by: str, at: float
) -> None:
    """Write one judgement of a closed round; the latest one counts, the others stay.

    ConflictError when ``judged_by`` has judged this attempt before, or a verdict is about another round.
    """
    _require_judgeable(ledger.connection, attempt, verdicts, judged_by)
    append_judgement(ledger, session, attempt, Judgement(judged_by, at, tuple(map(judged, verdicts))))


Judged = tuple[str, str, Labels, rows.Row]
"""A verdict before metric and labels have numbers: metric, unit (or nothing), labels, ``rows.verdict_row``."""


class Judgement(NamedTuple):
    """What was said of one attempt at one time, by which program and criteria."""

    judged_by: str
    at: float
    verdicts: Sequence[Judged]


def judged(verdict: Verdict) -> Judged:
    """A verdict as a row and what it needs numbers for; RefusedError for a number that cannot be kept."""
    unit = verdict.unit.value if verdict.unit else ""
    return text(verdict.metric), unit, verdict.labels, rows.verdict_row(verdict)


def append_judgement(ledger: Ledger, session: int, attempt: int, found: Judgement) -> None:
    """Write a judgement of an attempt that ``found.judged_by`` has not judged yet."""
    connection, names = ledger.connection, ledger.names
    levels = Counter(row[_LEVEL] for *_, row in found.verdicts)
    counts = [levels[level.value] for level in (Level.FAIL, Level.WATCH, Level.UNKNOWN, Level.PASS)]
    cursor = connection.execute(
        """INSERT INTO judging (attempt_id, judged_by, at, fails, watches, unknowns, passes)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (attempt, text(found.judged_by), number(found.at, "the time of a judgement"), *counts),
    )
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM verdict").fetchone()
    written: list[object] = []
    told: list[newest.Told] = []
    for verdict_id, (metric, unit, labels, row) in enumerate(found.verdicts, last + 1):
        numbers = (names.metric(metric, unit), names.labels(labels))
        written += (verdict_id, cursor.lastrowid, *numbers, *row)
        told.append(
            newest.Told(verdict_id, names.series(*numbers), row[_SUBJECT], row[_NODES], row[_LEVEL], row[_VALUE])
        )
    insert(connection, _VERDICT, 21, written)
    newest.keep_up(ledger, session, attempt, told)


_SUBJECT, _NODES, _LEVEL, _VALUE = 2, 3, 4, 8
"""Where they stand in ``rows.verdict_row``."""

_VERDICT = """verdict (id, judging_id, metric_id, labels_id, test, probe, subject, nodes, level, kind, because,
    shown, value, expected, required, text, expected_text, source, limiting, affected_by, evidence)"""


def _require_judgeable(
    connection: sqlite3.Connection, attempt: int, verdicts: Sequence[Verdict], judged_by: str
) -> None:
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


def attempt_number(connection: sqlite3.Connection, session: int, round_number: int, attempt: int) -> int:
    """The number of a closed attempt in the file; ConflictError when it is not stored, or not closed."""
    row = connection.execute(
        """SELECT attempt.id FROM attempt JOIN round ON round.id = attempt.round_id
        WHERE round.session_id = ? AND round.number = ? AND attempt.number = ? AND ended IS NOT NULL""",
        (session, round_number, attempt),
    ).fetchone()
    if row is None:
        raise ConflictError(
            f"attempt {attempt} at round {round_number} is not stored", "judge what closed_rounds names"
        )
    return int(row[0])


# -- what happened beside the measuring


def note(connection: sqlite3.Connection, session: int, kind: str, words: str, at: float) -> None:
    """Write what was decided or happened while a session runs."""
    connection.execute(
        "INSERT INTO note (session_id, kind, text, at) VALUES (?, ?, ?, ?)",
        (session, text(kind), text(words), number(at, "the time of a note")),
    )


def append_proofs(connection: sqlite3.Connection, session: int, proofs: Sequence[Proof], at: float) -> None:
    """Write what the nodes showed of ours at the end of a run."""
    when = number(at, "the time of a proof")
    insert(connection, PROOF, 7, flat((session, when, *rows.proof_row(proof)) for proof in proofs))


PROOF = "proof (session_id, at, node, asked, remains, ended, detail)"
