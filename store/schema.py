"""Owns the shape of the database: numbered steps, append-only, each applied once and for good.

The newest shape is what ``STEPS`` add up to. A step that was released is never edited; a change
is a new file in ``store.steps`` and its line at the end. Refuses to know what the rows mean
(``store.rows``).

Ids are small integers inside the file; ``session.key``, ``test.key`` and ``measurement.key``
hold the ids that people and programs see. Times are UTC seconds since 1970, durations seconds,
values base units. Columns that hold JSON say so in their comment. Rows are only ever inserted,
but for ``driver``, which says who is at work now, the two counts of a plan that grows, the end of
an ``attempt``, and ``latest``, which is computed from the verdicts.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.steps import s0002_acknowledged, s0003_left_outputs, s0004_labels, s0005_checklist

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION = 0x424E4348
"""``BNCH`` in the header of the file: this database is ours."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change of shape. ``change`` gets a database inside a transaction and must not end it."""

    name: str
    change: "Callable[[Database], None]"


_FIRST = (
    """CREATE TABLE session (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        label TEXT NOT NULL,
        fabric TEXT NOT NULL,
        suite TEXT NOT NULL,
        selection TEXT NOT NULL,
        options TEXT NOT NULL,            -- JSON object
        topology TEXT NOT NULL,           -- the file as it was written
        topology_path TEXT NOT NULL,
        simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
        program TEXT NOT NULL,            -- version of the program that made it
        started REAL NOT NULL,
        rounds INTEGER NOT NULL,          -- planned
        tests INTEGER NOT NULL            -- planned
    )""",
    """CREATE TABLE driver (                -- who runs a session; the last row of a session counts
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        born TEXT NOT NULL,               -- boot and start time of the process: pids are used again
        token TEXT NOT NULL,              -- which store within that process
        since REAL NOT NULL,
        heartbeat REAL NOT NULL,
        ended REAL,                       -- NULL while at work, or when it died
        complete INTEGER CHECK (complete IN (0, 1)),
        because TEXT NOT NULL DEFAULT '',
        CHECK ((ended IS NULL) = (complete IS NULL))
    )""",
    "CREATE INDEX driver_of ON driver (session_id, id)",
    """CREATE TABLE round (                 -- the plan
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        number INTEGER NOT NULL,
        stage TEXT NOT NULL,
        probe TEXT NOT NULL,
        seconds REAL NOT NULL,
        because TEXT NOT NULL,
        bundles TEXT NOT NULL,            -- JSON [{"name", "elements": [{"link", "source"}], "fill"}]
        UNIQUE (session_id, number)
    )""",
    """CREATE TABLE test (                  -- the plan; in order of id within a round
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        round_id INTEGER NOT NULL REFERENCES round (id),
        key TEXT NOT NULL,
        node TEXT NOT NULL,
        peer TEXT,
        options TEXT NOT NULL,            -- JSON object
        bundle TEXT NOT NULL,
        UNIQUE (session_id, key)
    )""",
    "CREATE INDEX test_of ON test (round_id)",
    """CREATE TABLE attempt (               -- a round that was run and closed
        id INTEGER PRIMARY KEY,
        round_id INTEGER NOT NULL REFERENCES round (id),
        number INTEGER NOT NULL,
        reason TEXT NOT NULL,
        started REAL NOT NULL,
        ended REAL NOT NULL,
        tested INTEGER NOT NULL,          -- tests by what became of them
        failed INTEGER NOT NULL,
        unreachable INTEGER NOT NULL,
        skipped INTEGER NOT NULL,
        UNIQUE (round_id, number)
    )""",
    """CREATE TABLE result (
        id INTEGER PRIMARY KEY,
        attempt_id INTEGER NOT NULL REFERENCES attempt (id),
        test_id INTEGER NOT NULL REFERENCES test (id),
        started REAL NOT NULL,
        seconds REAL NOT NULL,
        failed_at TEXT,                   -- NULL when there was no failure
        failure_detail TEXT,
        failure_node TEXT,
        UNIQUE (attempt_id, test_id)
    )""",
    """CREATE TABLE output (                -- what a command said, byte for byte
        id INTEGER PRIMARY KEY,
        result_id INTEGER NOT NULL REFERENCES result (id),
        node TEXT NOT NULL,
        argv TEXT NOT NULL,               -- JSON array
        stdout BLOB NOT NULL,
        stderr BLOB NOT NULL,
        exit_status INTEGER,
        signal TEXT,
        seconds REAL NOT NULL,
        truncated INTEGER NOT NULL CHECK (truncated IN (0, 1))
    )""",
    "CREATE INDEX output_of ON output (result_id)",
    """CREATE TABLE metric (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        unit TEXT NOT NULL,               -- base unit; empty where a verdict is about words
        UNIQUE (name, unit)
    )""",
    """CREATE TABLE labels (
        id INTEGER PRIMARY KEY,
        pairs TEXT NOT NULL UNIQUE,       -- JSON [[name, value]]
        shown TEXT NOT NULL               -- name=value, name=value
    )""",
    """CREATE TABLE measurement (
        id INTEGER PRIMARY KEY,
        result_id INTEGER NOT NULL REFERENCES result (id),
        key TEXT NOT NULL,                -- unique within an attempt; comes again in the next one
        metric_id INTEGER NOT NULL REFERENCES metric (id),
        labels_id INTEGER NOT NULL REFERENCES labels (id),
        value REAL NOT NULL,
        raw TEXT NOT NULL,
        at REAL NOT NULL,
        UNIQUE (result_id, key)
    )""",
    """CREATE TABLE fact (
        id INTEGER PRIMARY KEY,
        result_id INTEGER NOT NULL REFERENCES result (id),
        name TEXT NOT NULL,
        text TEXT,
        number REAL,
        unit TEXT,
        labels_id INTEGER NOT NULL REFERENCES labels (id),
        CHECK ((text IS NULL) <> (number IS NULL))
    )""",
    "CREATE INDEX fact_of ON fact (result_id)",
    """CREATE TABLE judging (               -- one judgement of a closed round; the last id counts
        id INTEGER PRIMARY KEY,
        attempt_id INTEGER NOT NULL REFERENCES attempt (id),
        judged_by TEXT NOT NULL,
        at REAL NOT NULL,
        fails INTEGER NOT NULL,           -- verdicts by level
        watches INTEGER NOT NULL,
        unknowns INTEGER NOT NULL,
        passes INTEGER NOT NULL,
        UNIQUE (attempt_id, judged_by)
    )""",
    """CREATE TABLE verdict (
        id INTEGER PRIMARY KEY,
        judging_id INTEGER NOT NULL REFERENCES judging (id),
        test TEXT NOT NULL,
        probe TEXT NOT NULL,
        subject TEXT NOT NULL,
        nodes TEXT NOT NULL,              -- JSON array
        metric_id INTEGER NOT NULL REFERENCES metric (id),
        labels_id INTEGER NOT NULL REFERENCES labels (id),
        level TEXT NOT NULL,
        kind TEXT NOT NULL,
        because TEXT NOT NULL,
        shown TEXT NOT NULL,
        value REAL,
        expected REAL,
        required REAL,
        text TEXT NOT NULL,
        expected_text TEXT NOT NULL,
        source TEXT NOT NULL,
        limiting TEXT NOT NULL,
        affected_by TEXT NOT NULL,
        evidence TEXT NOT NULL            -- JSON array of measurement keys
    )""",
    "CREATE INDEX verdict_of ON verdict (judging_id)",
    # The views are a promise to whoever opens the file with another tool: columns may be added.
    """CREATE VIEW v_measurement AS
        SELECT session.key AS session, session.label, session.fabric, session.simulated,
            round.number AS round, attempt.number AS attempt, round.stage, round.probe,
            test.key AS test, test.node, test.peer,
            metric.name AS metric, measurement.value, metric.unit, labels.shown AS labels,
            measurement.raw, measurement.at, measurement.key AS measurement,
            attempt.id = (SELECT max(id) FROM attempt AS other WHERE other.round_id = round.id) AS current
        FROM measurement
        JOIN result ON result.id = measurement.result_id
        JOIN attempt ON attempt.id = result.attempt_id
        JOIN round ON round.id = attempt.round_id
        JOIN test ON test.id = result.test_id
        JOIN session ON session.id = round.session_id
        JOIN metric ON metric.id = measurement.metric_id
        JOIN labels ON labels.id = measurement.labels_id""",
    """CREATE VIEW v_verdict AS
        SELECT session.key AS session, session.label, session.fabric, session.simulated,
            round.number AS round, attempt.number AS attempt, round.stage, verdict.probe,
            verdict.test, verdict.subject, verdict.nodes, metric.name AS metric,
            verdict.value, verdict.expected, verdict.required, nullif(metric.unit, '') AS unit,
            labels.shown AS labels, verdict.level, verdict.kind, verdict.because,
            verdict.text, verdict.expected_text, verdict.source, verdict.limiting,
            verdict.affected_by, verdict.evidence, judging.judged_by, judging.at AS judged_at,
            judging.id = (SELECT max(id) FROM judging AS other WHERE other.attempt_id = attempt.id)
            AND attempt.id = (SELECT max(id) FROM attempt AS other WHERE other.round_id = round.id) AS current
        FROM verdict
        JOIN judging ON judging.id = verdict.judging_id
        JOIN attempt ON attempt.id = judging.attempt_id
        JOIN round ON round.id = attempt.round_id
        JOIN session ON session.id = round.session_id
        JOIN metric ON metric.id = verdict.metric_id
        JOIN labels ON labels.id = verdict.labels_id""",
)


def _first(db: "Database") -> None:
    for statement in _FIRST:
        db.execute(statement)


STEPS: tuple[Step, ...] = (
    Step("0001_first", _first),
    Step("0002_acknowledged", s0002_acknowledged.change),
    Step("0003_left_outputs", s0003_left_outputs.change),
    Step("0004_labels", s0004_labels.change),
    Step("0005_checklist", s0005_checklist.change),
)
"""Every change of shape there ever was. Only ever longer; a released step is never edited."""


_COLUMNS = """
session: id key label fabric suite selection options topology topology_path simulated program started rounds tests
driver: id session_id host pid born token since heartbeat ended complete because
round: id session_id number stage probe seconds because bundles swept
test: id session_id round_id key node peer options bundle members labels
attempt: id round_id number started ended reason because tested failed unreachable skipped
result: id attempt_id test_id started seconds failed_at failure_detail failure_node drift
output: id result_id node argv stdout stderr exit_status signal seconds truncated
metric: id name unit
labels: id pairs shown
measurement: id result_id key metric_id labels_id value raw at
fact: id result_id name text number unit labels_id
judging: id attempt_id judged_by at fails watches unknowns passes
verdict: id judging_id test probe subject nodes metric_id labels_id level kind because shown value expected required \
text expected_text source limiting affected_by evidence
note: id session_id kind text at
proof: id session_id at node asked remains ended detail
absorbed: id at
scope: id fabric simulated session_id
subject: id name
nodes: id names
series: id metric_id labels_id
latest: scope_id subject_id series_id attempt_id nodes_id severity value verdict_id
checklist: id session_id name source file at
checklist_step: id checklist_id key text clause argv seconds
checklist_mark: id step_id state note who at
checklist_attachment: id mark_id name sha256 content
"""
TABLES: Mapping[str, tuple[str, ...]] = {
    table: tuple(columns.split()) for table, columns in (line.split(":") for line in _COLUMNS.strip().splitlines())
}
"""The tables of the newest shape and their columns, to hold a file against that somebody else may have made."""


def version(connection: sqlite3.Connection) -> int:
    """How many steps this database has behind it; 0 for an empty file."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    return int(found)


def apply(connection: sqlite3.Connection, steps: Sequence[Step] = STEPS) -> None:
    """Bring a database up to the last of ``steps``; call it inside one write transaction.

    Each step is a savepoint of that transaction, so after a crash the file has its old shape or
    the new one. ``_sqlite_migrations`` says which step was applied when, as sqlite-utils keeps it.
    """
    from sqlite_utils import Database, Migrations  # loaded only here: it costs 90 ms of a start

    migrations = Migrations("benchconsole")
    for step in steps:
        migrations(name=step.name)(_named(step))
    # Other people's sqlite-utils plugins have no business in this file.
    migrations.apply(Database(connection, execute_plugins=False))
    # A pragma takes no parameters; both are numbers of this program.
    connection.execute(f"PRAGMA user_version = {len(steps):d}")
    connection.execute(f"PRAGMA application_id = {APPLICATION:d}")


def _named(step: Step) -> "Callable[[Database], None]":
    def change(db: "Database", /) -> None:
        step.change(db)

    return change
