"""Judged rounds with the verdicts that passed in columns: reports on large sessions count them and list none."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from benchconsole.probes.model.judgement import ClosedRound, Verdict
from benchconsole.probes.model.measurement_table import Passes, choose_told, group_passes, list_plan_places
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.store.codec.verdict_rows import VerdictParser, VerdictRow
from benchconsole.store.reading.lazy_parts import AttemptAddress, StoredOutputs
from benchconsole.store.reading.measurement_columns import read_measurements
from benchconsole.store.reading.session_list import asking_session
from benchconsole.store.reading.session_reading import (
    VERDICTS_OF_JUDGING,
    AttemptRow,
    SessionReader,
    find_labels,
    find_metrics,
    index_plan,
    list_attempts,
    read_plan_after,
    read_round,
)
from benchconsole.store.sqlite import Connection
from benchconsole.topology.arrays import Indices
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric

_JUDGED = f"""SELECT id, test, value, metric_id, labels_id, expected, required, source, shown,
    level = 'pass' AND kind = 'criterion' AND probe = ?2 AND text = '' AND expected_text = '' AND limiting = ''
    AND least IS NULL AND typeof(value) = 'real' FROM verdict
    WHERE {VERDICTS_OF_JUDGING} ORDER BY id"""  # noqa: S608 - names of ours
_VERDICTS = f"""SELECT metric_id, labels_id, {", ".join(VerdictRow._fields)} FROM verdict
    WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"""  # noqa: S608 - names of ours
_UNJUDGED = """SELECT metric_id, test.key FROM result JOIN test ON test.id = test_id
    JOIN measurement ON measurement.result_id = result.id
    WHERE attempt_id = ? AND metric_id NOT IN (SELECT value FROM json_each(?))"""
_NUMBERS = """SELECT result.id, test.key FROM result JOIN test ON test.id = test_id WHERE attempt_id = ?"""
_OF_RESULTS = "result_id IN (SELECT value FROM json_each(?))"
_OUTPUTS = f"SELECT result_id, count(*), max(seconds) FROM output WHERE {_OF_RESULTS} GROUP BY result_id"  # noqa: S608
_MEASUREMENTS = f"""SELECT result_id, metric_id, labels_id, key, value, raw, at FROM measurement
    WHERE {_OF_RESULTS} ORDER BY id"""  # noqa: S608
_NEWEST = """SELECT max(judging.id) FROM round JOIN attempt ON round_id = round.id
    JOIN judging ON attempt_id = attempt.id WHERE session_id = ? GROUP BY attempt.id"""
_COUNT_MEASUREMENTS = """SELECT count(*) FROM round JOIN attempt ON round_id = round.id
    JOIN result ON attempt_id = attempt.id JOIN measurement ON result_id = result.id WHERE session_id = ?"""


def count_passed(session: SessionReader) -> int:
    """How many verdicts of the newest judgements of ``session`` passed."""
    with asking_session(session.database, session.id) as (connection, number):
        statement = f"SELECT coalesce(sum(passes), 0) FROM judging WHERE id IN ({_NEWEST})"  # noqa: S608
        return int(connection.execute(statement, (number,)).fetchone()[0])


def count_measurements(session: SessionReader) -> int:
    """How many measurements of ``session`` are stored."""
    with asking_session(session.database, session.id) as (connection, number):
        return int(connection.execute(_COUNT_MEASUREMENTS, (number,)).fetchone()[0])


def read_told(
    session: SessionReader, fabric: Fabric, in_columns: Callable[[Round], bool], *, plan: Sequence[Round] = ()
) -> Iterator[ClosedRound]:
    """The closed rounds of ``session`` as ``read_rounds`` gives them, those that are asked ``in_columns`` told so.

    These are rounds of tests on single nodes, each of them closed once. Results that are not told by themselves have
    neither outputs nor measurements. ``plan`` is what ``read_plan`` gave. Errors as ``SessionReader``.
    """
    with asking_session(session.database, session.id) as (connection, number):
        planned = index_plan(connection, number, plan) or read_plan_after(session, connection, number, fabric)
        attempts = list_attempts(connection, number)
    for attempt in attempts:
        if attempt.ended is not None:
            with session.database.reading() as connection:
                told = None
                if in_columns(planned[attempt.round_id]):
                    closed = read_round(session, connection, attempt, planned, judged=False, measured=False)
                    told = _tell(session, connection, attempt, closed)
                if told is None:
                    told = read_round(session, connection, attempt, planned)
            yield told


def read_full_results(session: SessionReader, closed: ClosedRound, tests: Collection[str]) -> tuple[Result, ...]:
    """The results of a stored round; those of ``tests`` with their outputs and measurements."""
    with asking_session(session.database, session.id) as (connection, number):
        (attempt,) = connection.execute(
            """SELECT attempt.id FROM round JOIN attempt ON round_id = round.id
            WHERE session_id = ? AND round.number = ? AND attempt.number = ?""",
            (number, closed.round.number, closed.attempt),
        ).fetchone()
        return _fill_results(session, connection, attempt, closed, tests)


def _tell(
    session: SessionReader, connection: Connection, attempt: AttemptRow, closed: ClosedRound
) -> ClosedRound | None:
    """A closed round with its verdicts, those that passed in columns; None where its rows are not as we write them."""
    newest = "SELECT id, judged_by FROM judging WHERE attempt_id = ? ORDER BY id DESC LIMIT 1"
    judging, judged_by = connection.execute(newest, (attempt.id,)).fetchone() or (None, "")
    rows = connection.execute(_JUDGED, (judging, closed.round.probe)).fetchall()
    places = {result.test.id: place for place, result in enumerate(closed.results)}
    passed = [row for row in rows if row[-1]]
    if not passed or not places.keys() >= {row[1] for row in passed}:
        return None
    others = [row for row in rows if not row[-1]]
    apart = {row[1] for row in others} | {result.test.id for result in closed.results if result.failure is not None}
    judged = json.dumps(list({row[3] for row in passed}))
    apart.update(dict(connection.execute(_UNJUDGED, (attempt.id, judged))).values())
    passes = _make_passes(passed, places)
    is_told = choose_told(
        list_plan_places(closed), passes, np.array([places[test] for test in apart if test in places], np.intp)
    )
    told = [passed[place][0] for place in np.flatnonzero(is_told[passes.result]).tolist()]
    names = list(places)
    return replace(
        closed,
        results=_fill_results(
            session, connection, attempt.id, closed, {names[place] for place in np.flatnonzero(is_told).tolist()}
        ),
        verdicts=tuple(_read_verdicts(connection, closed, [*told, *(row[0] for row in others)])),
        judged_by=judged_by,
        passed=group_passes(
            closed.results, passes, is_told, lambda place: next(_read_verdicts(connection, closed, [passed[place][0]]))
        ),
    )


def _make_passes(rows: Sequence[tuple[object, ...]], places: dict[str, int]) -> Passes:
    """Rows of ``_JUDGED`` in columns."""
    _, test, value, *shared, _ = zip(*rows, strict=True)
    result = np.fromiter(map(places.__getitem__, test), np.intp, len(rows))
    return Passes(result, _number(shared[:2]), _number(shared[2:]), np.array(value, np.float64))


def _number(columns: Sequence[tuple[object, ...]]) -> Indices:
    """A number for each row of ``columns``, the same of rows that are alike."""
    numbers: defaultdict[tuple[object, ...], int] = defaultdict(lambda: len(numbers))
    return np.fromiter(map(numbers.__getitem__, zip(*columns, strict=True)), np.intp, len(columns[0]))


def _read_verdicts(connection: Connection, closed: ClosedRound, numbers: Sequence[int]) -> Iterator[Verdict]:
    """The verdicts with these numbers in the file, in the order of storing."""
    metrics, labels = find_metrics(connection), find_labels(connection)
    parser = VerdictParser(closed.round.number, closed.round.tests)
    for metric, of, *row in connection.execute(_VERDICTS, (json.dumps(numbers),)):
        yield parser.parse_columns(metrics[metric], labels[of], row)


def _fill_results(
    session: SessionReader,
    connection: Connection,
    attempt: int,
    closed: ClosedRound,
    tests: Collection[str],
) -> tuple[Result, ...]:
    """The results of a closed round; those of ``tests`` with their outputs and measurements."""
    numbers = {test: number for number, test in connection.execute(_NUMBERS, (attempt,)) if test in tests}
    which = (json.dumps(sorted(numbers.values())),)
    outputs = {number: row for number, *row in connection.execute(_OUTPUTS, which)}
    keys = {number: test for test, number in numbers.items()}
    told = connection.execute(_MEASUREMENTS, which)
    measured = read_measurements(told, keys, find_metrics(connection), find_labels(connection))

    address = AttemptAddress(session.database, session.id, closed.attempt)

    def fill(result: Result, number: int) -> Result:
        found = StoredOutputs(address, result.test.id, *outputs[number]) if number in outputs else ()
        return replace(result, outputs=found, measurements=measured.get(number, ()))

    asked = ((result, numbers.get(result.test.id)) for result in closed.results)
    return tuple(result if number is None else fill(result, number) for result, number in asked)
