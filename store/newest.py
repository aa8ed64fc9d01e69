"""Owns the newest verdict of every subject and series: kept up as verdicts are written, read at once.

A series is a metric with its labels. The newest is of the attempt that was begun last; where one
judgement says several things of a subject and series, the worst counts. Subjects of verdicts are
kept apart, not nodes: a pair that passes today must not hide another pair that failed yesterday.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from probes.judging.verdict import Level, Verdict
from store import rows
from store.database import Database
from store.inserting import insert
from store.ledger import Ledger
from store.listing import session_number
from store.model import Newest, Series
from store.values import strings
from topology.units import Unit

_LATEST = "latest (scope_id, subject_id, series_id, attempt_id, nodes_id, severity, value, verdict_id)"
_NEWER = """ON CONFLICT (scope_id, subject_id, series_id) DO UPDATE SET attempt_id = excluded.attempt_id,
    nodes_id = excluded.nodes_id, severity = excluded.severity, value = excluded.value,
    verdict_id = excluded.verdict_id
    WHERE excluded.attempt_id > attempt_id
        OR (excluded.attempt_id = attempt_id AND excluded.severity > severity)"""
_SEVERITY = {level.value: level.severity for level in Level}


class Told(NamedTuple):
    """A verdict that was written just now: its number in the file, that of its series, and what it says."""

    id: int
    series: int
    subject: str
    nodes: str
    level: str
    value: float | None


def make_scopes(connection: sqlite3.Connection, session: int) -> None:
    """Make room for the newest verdicts of a new session, and of its fabric where it is the first one."""
    connection.execute(
        """INSERT INTO scope (fabric, simulated) SELECT fabric, simulated FROM session AS new WHERE id = ?
        AND NOT EXISTS (SELECT 1 FROM scope WHERE session_id IS NULL AND fabric = new.fabric
            AND simulated = new.simulated)""",
        (session,),
    )
    connection.execute(
        "INSERT INTO scope (fabric, simulated, session_id) SELECT fabric, simulated, id FROM session WHERE id = ?",
        (session,),
    )


def keep_up(ledger: Ledger, session: int, attempt: int, told: Sequence[Told]) -> None:
    """Let the verdicts of an attempt count, in its session and in its fabric."""
    names = ledger.names
    common = [
        (names.subject(each.subject), each.series, attempt, names.nodes(each.nodes), _SEVERITY[each.level], each.value)
        for each in told
    ]
    for scope in ledger.scopes(session):
        values: list[object] = []
        for row, each in zip(common, told, strict=True):
            values += (scope, *row, each.id)
        insert(ledger.connection, _LATEST, 8, values, otherwise=_NEWER)


def compute_again(ledger: Ledger, session: int) -> None:
    """Forget the newest verdicts of a session and of its fabric, and find them anew: it was judged again.

    A new judgement may say nothing of what an older one spoke of, and then that one counts no more.
    """
    own, whole = ledger.scopes(session)
    connection = ledger.connection
    connection.execute("DELETE FROM latest WHERE scope_id IN (?, ?)", (own, whole))
    connection.execute(f"INSERT INTO {_LATEST} {_OF_SESSION} {_NEWER}", (own, session))
    connection.execute(f"INSERT INTO {_LATEST} {_OF_FABRIC} {_NEWER}", (whole, whole))


_OF_SESSION = """SELECT ?1, subject.id, series.id, attempt_id, nodes.id,
        CASE level WHEN 'pass' THEN 0 WHEN 'unknown' THEN 1 WHEN 'watch' THEN 2 ELSE 3 END AS severity,
        value, verdict.id
    FROM (SELECT max(judging.id) AS id, attempt_id FROM judging JOIN attempt ON attempt.id = attempt_id
        JOIN round ON round.id = attempt.round_id WHERE session_id = ?2 GROUP BY attempt_id) AS judged
    JOIN verdict ON judging_id = judged.id
    JOIN subject ON subject.name = verdict.subject JOIN nodes ON nodes.names = verdict.nodes
    JOIN series ON series.metric_id = verdict.metric_id AND series.labels_id = verdict.labels_id
    WHERE true ORDER BY attempt_id, severity"""
_OF_FABRIC = """SELECT ?1, subject_id, series_id, attempt_id, nodes_id, severity, value, verdict_id
    FROM latest JOIN scope ON scope.id = scope_id JOIN scope AS whole ON whole.id = ?2
    WHERE scope.session_id IS NOT NULL AND scope.fabric = whole.fabric AND scope.simulated = whole.simulated
    ORDER BY attempt_id, severity"""


def of_session(database: Database, key: str) -> Newest:
    """The newest verdicts of one session; UnknownSessionError when there is none."""
    with database.reading() as connection:
        number = session_number(connection, key, database.path)
        return _read(connection, connection.execute("SELECT id FROM scope WHERE session_id = ?", (number,)).fetchone())


def of_fabric(database: Database, fabric: str, *, simulated: bool) -> Newest:
    """The newest verdicts over all sessions of a fabric, simulated ones apart; empty when there is none."""
    with database.reading() as connection:
        scope = connection.execute(
            "SELECT id FROM scope WHERE session_id IS NULL AND fabric = ? AND simulated = ?", (fabric, int(simulated))
        ).fetchone()
        return _read(connection, scope)


def _read(connection: sqlite3.Connection, scope: tuple[int] | None) -> Newest:
    # Four plain columns: every further one costs a sixth more, and a cluster has a third of a million of these rows.
    cells = connection.execute(
        "SELECT subject_id, series_id, severity, value FROM latest WHERE scope_id = ?", scope or (None,)
    ).fetchall()
    subjects = connection.execute(
        """SELECT subject.id, name, names FROM subject JOIN nodes ON nodes.id = (
            SELECT nodes_id FROM latest WHERE scope_id = ? AND subject_id = subject.id LIMIT 1)""",
        scope or (None,),
    ).fetchall()
    series = connection.execute(
        """SELECT series.id, metric.name, metric.unit, pairs FROM series
        JOIN metric ON metric.id = metric_id JOIN labels ON labels.id = labels_id"""
    ).fetchall()
    return Newest(
        {number: (name, strings(nodes)) for number, name, nodes in subjects},
        {
            number: Series(name, Unit(unit) if unit else None, rows.labels_of(pairs))
            for number, name, unit, pairs in series
        },
        cells,
    )


def verdicts_on(database: Database, subject: str, *, session: str) -> tuple[Verdict, ...]:
    """The newest verdicts on one subject of a session in full, by metric."""
    with database.reading() as connection:
        number = session_number(connection, session, database.path)
        found = connection.execute(
            """SELECT round.number, test, verdict.probe, subject, verdict.nodes, level, kind, verdict.because,
                verdict.shown, verdict.value, expected, required, text, expected_text, source, limiting, affected_by,
                evidence, metric.name, metric.unit, pairs
            FROM latest JOIN scope ON scope.id = scope_id JOIN verdict ON verdict.id = verdict_id
            JOIN attempt ON attempt.id = latest.attempt_id JOIN round ON round.id = attempt.round_id
            JOIN metric ON metric.id = verdict.metric_id JOIN labels ON labels.id = verdict.labels_id
            WHERE scope.session_id = ? AND subject_id = (SELECT id FROM subject WHERE name = ?)
            ORDER BY metric.name, labels.id""",
            (number, subject),
        ).fetchall()
    return tuple(rows.verdict_of(row[1:], row[0]) for row in found)
