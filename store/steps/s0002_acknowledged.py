"""Owns the second step: results that stand before their round is closed, notes, proofs, the newest verdicts.

``attempt`` is made again, for a round that runs has no end and no reason yet. Everything that was
stored is carried over, and ``latest`` is filled from the verdicts that count.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

_ATTEMPT = (
    # Both read tables that are about to change; they come again below.
    "DROP VIEW v_measurement",
    "DROP VIEW v_verdict",
    """CREATE TABLE attempt_next (          -- a round that was begun; closed where it has an end
        id INTEGER PRIMARY KEY,
        round_id INTEGER NOT NULL REFERENCES round (id),
        number INTEGER NOT NULL,
        started REAL NOT NULL,
        ended REAL,                       -- NULL while it runs, or when its console died
        reason TEXT,
        because TEXT NOT NULL,            -- why a rule stopped it
        tested INTEGER NOT NULL,          -- tests by what became of them, counted when it is closed
        failed INTEGER NOT NULL,
        unreachable INTEGER NOT NULL,
        skipped INTEGER NOT NULL,
        UNIQUE (round_id, number),
        CHECK ((ended IS NULL) = (reason IS NULL))
    )""",
    """INSERT INTO attempt_next (id, round_id, number, started, ended, reason, because, tested, failed,
            unreachable, skipped)
        SELECT id, round_id, number, started, ended, reason, '', tested, failed, unreachable, skipped
        FROM attempt""",
    "DROP TABLE attempt",
    "ALTER TABLE attempt_next RENAME TO attempt",
    "ALTER TABLE test ADD COLUMN members TEXT NOT NULL DEFAULT '[]'",  # JSON array: all nodes of a set
    "ALTER TABLE result ADD COLUMN drift REAL NOT NULL DEFAULT 0",  # seconds the wall clock moved meanwhile
)

_RECORDS = (
    """CREATE TABLE note (                  -- what was decided or happened while a session ran
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        at REAL NOT NULL
    )""",
    "CREATE INDEX note_of ON note (session_id, id)",
    """CREATE TABLE proof (                 -- what a node showed of ours at the end of a run
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        at REAL NOT NULL,
        node TEXT NOT NULL,
        asked INTEGER NOT NULL CHECK (asked IN (0, 1)),
        remains TEXT NOT NULL,            -- JSON array: what lives on
        ended INTEGER NOT NULL,
        detail TEXT NOT NULL
    )""",
    "CREATE INDEX proof_of ON proof (session_id, id)",
    """CREATE TABLE absorbed (              -- records of spools that came back; none comes twice
        id BLOB PRIMARY KEY,              -- its UUID
        at REAL NOT NULL
    ) WITHOUT ROWID""",
)

_LATEST = (
    """CREATE TABLE scope (                 -- what the newest verdicts are looked for in: a session, or a fabric
        id INTEGER PRIMARY KEY,
        fabric TEXT NOT NULL,
        simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
        session_id INTEGER UNIQUE REFERENCES session (id)
    )""",
    "CREATE UNIQUE INDEX scope_of_fabric ON scope (fabric, simulated) WHERE session_id IS NULL",
    """CREATE TABLE subject (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE
    )""",
    """CREATE TABLE nodes (
        id INTEGER PRIMARY KEY,
        names TEXT NOT NULL UNIQUE        -- JSON array
    )""",
    """CREATE TABLE series (                -- what numbers are compared over time: a metric with its labels
        id INTEGER PRIMARY KEY,
        metric_id INTEGER NOT NULL REFERENCES metric (id),
        labels_id INTEGER NOT NULL REFERENCES labels (id),
        UNIQUE (metric_id, labels_id)
    )""",
    """CREATE TABLE latest (                -- kept up with every judgement, computed from verdict alone
        scope_id INTEGER NOT NULL REFERENCES scope (id),
        subject_id INTEGER NOT NULL REFERENCES subject (id),
        series_id INTEGER NOT NULL REFERENCES series (id),
        attempt_id INTEGER NOT NULL REFERENCES attempt (id),
        nodes_id INTEGER NOT NULL REFERENCES nodes (id),
        severity INTEGER NOT NULL,        -- 0 pass, 1 unknown, 2 watch, 3 fail
        value REAL,
        verdict_id INTEGER NOT NULL REFERENCES verdict (id),
        PRIMARY KEY (scope_id, subject_id, series_id)
    ) WITHOUT ROWID""",
    "INSERT INTO scope (fabric, simulated) SELECT DISTINCT fabric, simulated FROM session",
    "INSERT INTO scope (fabric, simulated, session_id) SELECT fabric, simulated, id FROM session",
    "INSERT INTO subject (name) SELECT DISTINCT subject FROM verdict",
    "INSERT INTO nodes (names) SELECT DISTINCT nodes FROM verdict",
    "INSERT INTO series (metric_id, labels_id) SELECT DISTINCT metric_id, labels_id FROM verdict",
    """WITH judged AS (
        SELECT max(judging.id) AS id, attempt_id, round.session_id FROM judging
        JOIN attempt ON attempt.id = attempt_id JOIN round ON round.id = attempt.round_id GROUP BY attempt_id)
    INSERT INTO latest (scope_id, subject_id, series_id, attempt_id, nodes_id, severity, value, verdict_id)
    SELECT scope.id, subject.id, series.id, attempt_id, nodes.id,
        CASE level WHEN 'pass' THEN 0 WHEN 'unknown' THEN 1 WHEN 'watch' THEN 2 ELSE 3 END AS severity,
        value, verdict.id
    FROM judged JOIN verdict ON judging_id = judged.id
    JOIN session ON session.id = judged.session_id
    JOIN scope ON scope.fabric = session.fabric AND scope.simulated = session.simulated
        AND (scope.session_id IS NULL OR scope.session_id = session.id)
    JOIN subject ON subject.name = verdict.subject JOIN nodes ON nodes.names = verdict.nodes
    JOIN series ON series.metric_id = verdict.metric_id AND series.labels_id = verdict.labels_id
    WHERE true ORDER BY attempt_id, severity
    ON CONFLICT (scope_id, subject_id, series_id) DO UPDATE SET attempt_id = excluded.attempt_id,
        nodes_id = excluded.nodes_id, severity = excluded.severity, value = excluded.value,
        verdict_id = excluded.verdict_id
    WHERE excluded.attempt_id > attempt_id
        OR (excluded.attempt_id = attempt_id AND excluded.severity > severity)""",
)

_VIEWS = (
    # A promise to whoever opens the file with another tool: columns may be added.
    """CREATE VIEW v_measurement AS
        SELECT session.key AS session, session.label, session.fabric, session.simulated,
            round.number AS round, attempt.number AS attempt, round.stage, round.probe,
            test.key AS test, test.node, test.peer,
            metric.name AS metric, measurement.value, metric.unit, labels.shown AS labels,
            measurement.raw, measurement.at, measurement.key AS measurement,
            attempt.id IS (SELECT max(id) FROM attempt AS other
                WHERE other.round_id = round.id AND other.ended IS NOT NULL) AS current,
            attempt.ended IS NOT NULL AS closed, test.members, result.drift
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
            AND attempt.id = (SELECT max(id) FROM attempt AS other
                WHERE other.round_id = round.id AND other.ended IS NOT NULL) AS current
        FROM verdict
        JOIN judging ON judging.id = verdict.judging_id
        JOIN attempt ON attempt.id = judging.attempt_id
        JOIN round ON round.id = attempt.round_id
        JOIN session ON session.id = round.session_id
        JOIN metric ON metric.id = verdict.metric_id
        JOIN labels ON labels.id = verdict.labels_id""",
    """CREATE VIEW v_newest AS
        SELECT scope.fabric, scope.simulated, subject.name AS subject, nodes.names AS nodes,
            metric.name AS metric, labels.shown AS labels, verdict.level, latest.value, verdict.expected,
            nullif(metric.unit, '') AS unit, verdict.because, session.key AS session, round.number AS round,
            attempt.number AS attempt, attempt.ended AS at
        FROM latest
        JOIN scope ON scope.id = latest.scope_id AND scope.session_id IS NULL
        JOIN subject ON subject.id = latest.subject_id
        JOIN nodes ON nodes.id = latest.nodes_id
        JOIN series ON series.id = latest.series_id
        JOIN metric ON metric.id = series.metric_id
        JOIN labels ON labels.id = series.labels_id
        JOIN verdict ON verdict.id = latest.verdict_id
        JOIN attempt ON attempt.id = latest.attempt_id
        JOIN round ON round.id = attempt.round_id
        JOIN session ON session.id = round.session_id""",
)


def change(db: "Database") -> None:
    """The whole step."""
    for statement in (*_ATTEMPT, *_RECORDS, *_LATEST, *_VIEWS):
        db.execute(statement)
