"""The numbers of nodes over the sessions of a fabric: of one node all metrics, or of one metric all nodes.

Each question is about one session, so that whoever asks for many can tell how far it is. Outputs are never read.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchconsole.probes.model.judgement import Level
from benchconsole.store.codec.rows import parse_unit
from benchconsole.store.codec.values import members_by_value, parse_strings, read_number
from benchconsole.store.files.database import Database
from benchconsole.store.model import HistorySession, HistoryValue, NumberVerdict
from benchconsole.store.reading.session_list import asking_session
from benchconsole.store.reading.session_reading import VERDICTS_OF_JUDGING, find_labels, find_metrics
from benchconsole.store.sqlite import Connection
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import Shown

_LEVELS, _SHOWN = members_by_value(Level), members_by_value(Shown)


class _Place(NamedTuple):
    """A round of a session, and the number of its last closed attempt in the file."""

    attempt: int
    round_id: int
    number: int
    stage: str


class _Test(NamedTuple):
    """A test; ``same`` is alike in those of its stage that repeat it, None where nobody asked."""

    key: str
    node: str
    peer: str | None
    members: str
    bundle: str
    same: str | None


_TEST = "test.key, node, peer, members, bundle"
_SAME = "json_array(coalesce(nullif(test.probe, ''), round.probe), node, peer, members, bundle, test.labels, sending)"
_CLOSED = """attempt.id = (SELECT max(id) FROM attempt AS other
    WHERE other.round_id = round.id AND other.ended IS NOT NULL)"""

_LAST_JUDGING = "SELECT max(id) FROM judging WHERE attempt_id = ?"

# -- sessions

_SESSIONS = """SELECT key, label, started FROM session WHERE fabric = ? AND simulated = ? AND EXISTS
    (SELECT 1 FROM round JOIN attempt ON round_id = round.id WHERE session_id = session.id AND ended IS NOT NULL)
    ORDER BY started, id"""


def list_history_sessions(database: Database, fabric: str, *, simulated: bool) -> tuple[HistorySession, ...]:
    """The sessions of the fabric of this name with a closed round, oldest first: simulated ones, or real ones."""
    with database.reading() as connection:
        return tuple(HistorySession._make(row) for row in connection.execute(_SESSIONS, (fabric, int(simulated))))


# -- all metrics of one node

_OF_NODE = """SELECT id FROM test WHERE session_id = ?1 AND node = ?2
    UNION SELECT id FROM test WHERE session_id = ?1 AND peer = ?2
    UNION SELECT test.id FROM test, json_each(members) WHERE session_id = ?1 AND members <> '[]' AND value = ?2"""
_TESTS_OF_NODE = f"""SELECT result.id, attempt.id, round.id, round.number, round.stage, {_TEST}, {_SAME}
    FROM ({_OF_NODE}) AS own CROSS JOIN test ON test.id = own.id CROSS JOIN round ON round.id = test.round_id
    CROSS JOIN attempt ON {_CLOSED} CROSS JOIN result ON attempt_id = attempt.id AND test_id = test.id
    ORDER BY round.number DESC, result.id"""  # noqa: S608 - names of ours
_NUMBERS = "SELECT key, metric_id, labels_id, value FROM measurement WHERE result_id = ? ORDER BY id"
_BUNDLED = "SELECT key FROM test WHERE round_id = ? AND bundle IN (SELECT value FROM json_each(?))"
_VERDICTS_OF_TESTS = f"""SELECT evidence, level, expected, shown FROM json_each(?) AS asked CROSS JOIN verdict
    ON judging_id = ({_LAST_JUDGING}) AND test = asked.value"""  # noqa: S608


def read_node_values(database: Database, session: str, node: str) -> tuple[HistoryValue, ...]:
    """The numbers that count of all tests that ``node`` takes part in, those of the newest round first.

    UnknownSessionError where there is no such session.
    """
    found: list[HistoryValue] = []
    with asking_session(database, session) as (connection, number):
        rows = connection.execute(_TESTS_OF_NODE, (number, node)).fetchall()
        results = [(_Place._make(row[1:5]), (_Test._make(row[5:]), int(row[0]))) for row in rows]
        repeated: set[tuple[str, str | None]] = set()
        for place, tests in group_by_key(results).items():
            counted = [(test, result) for test, result in tests if (place.stage, test.same) not in repeated]
            verdicts = _read_verdicts(connection, place, [test for test, _ in counted])
            values = _Values(connection, place, verdicts)
            for test, result in counted:
                found += [values.make(test, *row) for row in connection.execute(_NUMBERS, (result,))]
            # None of a round repeats another of it; one that gave no number replaces what it repeats, too.
            repeated.update((place.stage, test.same) for test, _ in tests)
    return tuple(found)


def _read_verdicts(connection: Connection, place: _Place, tests: Sequence[_Test]) -> dict[str, NumberVerdict]:
    """The verdicts of the last judgement on these tests and on their bundles, by the keys of the numbers judged."""
    keys = {test.key for test in tests}
    bundles = {test.bundle for test in tests if test.bundle}
    if bundles:  # the verdict on a bundle stands with one of its tests
        keys.update(key for (key,) in connection.execute(_BUNDLED, (place.round_id, json.dumps(sorted(bundles)))))
    return _list_by_number(connection.execute(_VERDICTS_OF_TESTS, (json.dumps(sorted(keys)), place.attempt)))


# -- one metric of all nodes

_ROUNDS = f"""SELECT attempt.id, round.id, round.number, round.stage FROM round JOIN attempt ON {_CLOSED}
    WHERE session_id = ?1 AND (?2 IS NULL OR stage = ?2) ORDER BY round.number DESC"""  # noqa: S608
_METRICS = "SELECT id FROM metric WHERE name = ?"
_SPAN = """SELECT
    (SELECT min(id) FROM measurement WHERE result_id = (SELECT min(result_id) FROM measurement
        WHERE result_id >= (SELECT min(id) FROM result WHERE attempt_id = ?1))),
    (SELECT max(id) FROM measurement WHERE result_id = (SELECT max(result_id) FROM measurement
        WHERE result_id <= (SELECT max(id) FROM result WHERE attempt_id = ?1)))"""
"""Results and their numbers are numbered in the order of storing, so that those of an attempt stand together, but for
what another console stored meanwhile. To read them in their order costs half of looking up each."""
_NUMBERS_OF_METRIC = f"""SELECT measurement.key, metric_id, labels_id, value, {_TEST}, CASE WHEN ?5 THEN {_SAME} END
    FROM measurement CROSS JOIN result ON result.id = result_id AND attempt_id = ?1
    CROSS JOIN test ON test.id = test_id CROSS JOIN round ON round.id = test.round_id
    WHERE measurement.id BETWEEN ?2 AND ?3 AND metric_id = ?4 ORDER BY measurement.id"""  # noqa: S608
_WITHOUT_NUMBERS = f"""SELECT {_SAME} FROM attempt JOIN result ON attempt_id = attempt.id
    JOIN test ON test.id = test_id JOIN round ON round.id = test.round_id
    WHERE attempt.id = ? AND attempt.tested < (SELECT count(*) FROM result WHERE attempt_id = attempt.id)
    AND failed_at IS NOT NULL"""  # noqa: S608
_VERDICTS_OF_METRIC = f"""SELECT evidence, level, expected, shown FROM verdict
    WHERE {VERDICTS_OF_JUDGING} AND metric_id = ?2"""  # noqa: S608


def read_metric_values(
    database: Database, session: str, metric: str, stage: str | None = None
) -> tuple[HistoryValue, ...]:
    """The numbers of ``metric`` that count, of all tests or of those of ``stage``, those of the newest round first.

    UnknownSessionError where there is no such session.
    """
    found: list[HistoryValue] = []
    with asking_session(database, session) as (connection, number):
        metrics = [id for (id,) in connection.execute(_METRICS, (metric,))]
        places = [_Place._make(row) for row in connection.execute(_ROUNDS, (number, stage))]
        rounds = Counter(place.stage for place in places)
        repeated: set[tuple[str, str | None]] = set()
        for place in places:
            may_repeat = rounds[place.stage] > 1
            numbers = [each for id in metrics for each in _read_numbers(connection, place, id, may_repeat=may_repeat)]
            counted = [each for each in numbers if not repeated or (place.stage, each[1].same) not in repeated]
            if counted:
                values = _Values(connection, place, _read_metric_verdicts(connection, place, metrics))
                found += [values.make(test, *row) for row, test in counted]
            if may_repeat:
                repeated.update((place.stage, test.same) for _, test in numbers)
                failed = connection.execute(_WITHOUT_NUMBERS, (place.attempt,))
                repeated.update((place.stage, same) for (same,) in failed)
    return tuple(found)


_NumberRow = tuple[str, int, int, object]
"""The key of a number, the numbers of its metric and its labels in the file, and its value."""


def _read_numbers(
    connection: Connection, place: _Place, metric: int, *, may_repeat: bool
) -> Iterator[tuple[_NumberRow, _Test]]:
    """The numbers of one metric in one round, with their tests."""
    span = connection.execute(_SPAN, (place.attempt,)).fetchone()
    asked = (place.attempt, *span, metric, may_repeat)
    for key, of, labels, value, *test in connection.execute(_NUMBERS_OF_METRIC, asked):
        yield (key, of, labels, value), _Test._make(test)


def _read_metric_verdicts(connection: Connection, place: _Place, metrics: Sequence[int]) -> dict[str, NumberVerdict]:
    """The verdicts of the last judgement on some metrics, by the keys of the numbers judged."""
    (judging,) = connection.execute(_LAST_JUDGING, (place.attempt,)).fetchone()
    return _list_by_number(
        row for metric in metrics for row in connection.execute(_VERDICTS_OF_METRIC, (judging, metric))
    )


# -- what both have in common


class _Values:
    """Makes the values of one round."""

    def __init__(self, connection: Connection, place: _Place, verdicts: dict[str, NumberVerdict]) -> None:
        self._place = place
        self._verdicts = verdicts
        self._metrics = find_metrics(connection)
        self._labels = find_labels(connection)

    def make(self, test: _Test, key: str, metric: int, labels: int, value: object) -> HistoryValue:
        name, unit = self._metrics[metric]
        return HistoryValue(
            test.key,
            self._place.number,
            self._place.stage,
            test.node,
            test.peer,
            parse_strings(test.members),
            test.bundle,
            name,
            parse_unit(unit),
            self._labels[labels],
            read_number(value),
            self._verdicts.get(key),
        )


def _list_by_number(rows: Iterable[tuple[str, str, float | None, str]]) -> dict[str, NumberVerdict]:
    """Verdicts by the keys of the numbers that they are on: of several those on fewer numbers, then the worst."""
    found: dict[str, NumberVerdict] = {}
    for evidence, level, expected, shown in rows:
        keys = parse_strings(evidence)
        verdict = NumberVerdict(_LEVELS[level], expected, _SHOWN[shown], len(keys))
        for key in keys:
            known = found.setdefault(key, verdict)
            if known is not verdict and _rank(verdict) < _rank(known):
                found[key] = verdict
    return found


def _rank(verdict: NumberVerdict) -> tuple[int, int]:
    return verdict.numbers, -verdict.level.severity
