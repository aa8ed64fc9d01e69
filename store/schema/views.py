"""The views of the database, as SQL with a place for each part that later shapes changed."""

MEASUREMENT_VIEW = """CREATE VIEW v_measurement AS
    SELECT session.key AS session, session.label, session.fabric, session.simulated,
        round.number AS round, attempt.number AS attempt, round.stage, {probe},
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
    JOIN labels ON labels.id = measurement.labels_id"""
"""The view of measurements; ``probe`` is where that of a test stands."""

VERDICT_VIEW = """CREATE VIEW v_verdict AS
        SELECT session.key AS session, session.label, session.fabric, session.simulated,
            round.number AS round, attempt.number AS attempt, round.stage, verdict.probe,
            verdict.test, verdict.subject, verdict.nodes, metric.name AS metric,
            verdict.value, verdict.expected, verdict.required, nullif(metric.unit, '') AS unit,
            labels.shown AS labels, verdict.level, verdict.kind, verdict.because,
            verdict.text, verdict.expected_text, verdict.source, verdict.limiting,
            verdict.evidence, judging.judged_by, judging.at AS judged_at,
            judging.id = (SELECT max(id) FROM judging AS other WHERE other.attempt_id = attempt.id)
            AND attempt.id = (SELECT max(id) FROM attempt AS other
                WHERE other.round_id = round.id AND other.ended IS NOT NULL) AS current{more}
        FROM verdict
        JOIN judging ON judging.id = verdict.judging_id
        JOIN attempt ON attempt.id = judging.attempt_id
        JOIN round ON round.id = attempt.round_id
        JOIN session ON session.id = round.session_id
        JOIN metric ON metric.id = verdict.metric_id
        JOIN labels ON labels.id = verdict.labels_id"""
"""The view of verdicts; ``more`` are the columns that later shapes added."""
