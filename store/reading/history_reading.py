"""The numbers of nodes over the sessions of a fabric: of one node all metrics, or of one metric all nodes.

A node is asked for in all sessions at once; a metric in one, so that whoever asks for many can tell how far it is.
Outputs are never read.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchconsole.probes.model.judgement import Level
from benchconsole.store.codec.rows import parse_unit
from benchconsole.store.codec.values import members_by_value, parse_strings, read_number
from benchconsole.store.files.database import Database
from benchconsole.store.model import HistorySession, HistoryValue, NumberVerdict
from benchconsole.store.reading.session_list import asking_session, find_number
from benchconsole.store.reading.session_reading import find_labels
from benchconsole.store.sqlite import Connection
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import Shown

_LEVELS, _SHOWN = members_by_value(Level), members_by_value(Shown)

_Same = tuple[object, ...]
"""Alike in two tests of one stage of which the later one repeats the other: the columns ``_SAME``."""

_NODES = "test.node, test.peer, test.members, test.bundle"
_SAME = f"{_NODES}, test.labels, test.sending, coalesce(nullif(test.probe, ''), round.probe)"
_CLOSED = """attempt.id = (SELECT max(id) FROM attempt AS other
    WHERE other.round_id = round.id AND other.ended IS NOT NULL)"""

# -- sessions

_SESSIONS = """SELECT key, label, started FROM session WHERE fabric = ? AND simulated = ? AND EXISTS
    (SELECT 1 FROM round JOIN attempt ON round_id = round.id WHERE session_id = session.id AND ended IS NOT NULL)
    ORDER BY started, id"""


def list_history_sessions(database: Database, fabric: str, *, simulated: bool) -> tuple[HistorySession, ...]:
    """The sessions of the fabric of this name with a closed round, oldest first: simulated ones, or real ones."""
    with database.reading() as connection:
        return tuple(HistorySession._make(row) for row in connection.execute(_SESSIONS, (fabric, int(simulated))))


# -- all metrics of one node


class _TestOfNode(NamedTuple):
    """A test of the node with its result in the last closed attempt; numbers are those of the file."""

    session: int
    attempt: int
    round_id: int
    number: int
    stage: str
    result: int
    key: str
    node: str
    peer: str | None
    members: str
    bundle: str
    labels: str
    sending: str
    probe: str

    @property
    def same(self) -> _Same:
        """Alike in this test and in those that repeat it, or that it repeats."""
        return self.session, self.stage, self[7:]


_OF_NODE = """SELECT test.id FROM json_each(?1) AS asked CROSS JOIN test ON session_id = asked.value AND node = ?2
    UNION SELECT test.id FROM json_each(?1) AS asked CROSS JOIN test ON session_id = asked.value AND peer = ?2
    UNION SELECT test.id FROM json_each(?1) AS asked CROSS JOIN test ON session_id = asked.value AND members <> '[]'
        CROSS JOIN json_each(members) AS member ON member.value = ?2"""
_TESTS_OF_NODE = f"""SELECT test.session_id, attempt.id, round.id, round.number, round.stage, result.id, test.key,
        {_SAME}
    FROM ({_OF_NODE}) AS own CROSS JOIN test ON test.id = own.id CROSS JOIN round ON round.id = test.round_id
    CROSS JOIN attempt ON {_CLOSED} CROSS JOIN result ON attempt_id = attempt.id AND test_id = test.id
    ORDER BY round.number DESC, result.id"""  # noqa: S608 - names of ours
_NUMBERS = """SELECT measurement.id, result_id, measurement.key, metric.name, unit, labels_id, measurement.value
    FROM json_each(?) AS asked CROSS JOIN measurement ON result_id = asked.value
    CROSS JOIN metric ON metric.id = metric_id"""
_BUNDLED = """SELECT asked.value ->> 0, test.key FROM json_each(?) AS asked CROSS JOIN test
    ON round_id = asked.value ->> 1 AND bundle = asked.value ->> 2"""
_VERDICTS_OF_TESTS = """SELECT asked.value ->> 0, evidence, level, expected, shown
    FROM json_each(?) AS asked CROSS JOIN verdict
    ON judging_id = (SELECT max(id) FROM judging WHERE attempt_id = asked.value ->> 0) AND test = asked.value ->> 1"""


def read_node_values(database: Database, sessions: Sequence[str], node: str) -> tuple[tuple[HistoryValue, ...], ...]:
    """The numbers that count of all tests that ``node`` takes part in, for each of ``sessions``.

    Those of the newest round come first. UnknownSessionError where one of the sessions is not there.
    """
    with database.reading() as connection:
        numbers = [find_number(connection, key, database.path) for key in sessions]
        rows = connection.execute(_TESTS_OF_NODE, (json.dumps(numbers), node))
        # None of a round repeats another of it; one that gave no number replaces what it repeats, too.
        newest: dict[_Same, int] = {}
        every = map(_TestOfNode._make, rows)
        tests = [each for each in every if newest.setdefault(each.same, each.attempt) == each.attempt]
        found = _read_tests(connection, tests) if tests else {}
    return tuple(tuple(found.get(number, ())) for number in numbers)


def _read_tests(connection: Connection, tests: Sequence[_TestOfNode]) -> dict[int, list[HistoryValue]]:
    """The numbers of these tests with their verdicts, by the number of their session."""
    asked = json.dumps([each.result for each in tests])
    told = group_by_key((row[1], row[2:]) for row in sorted(connection.execute(_NUMBERS, (asked,))))
    verdicts = _read_verdicts(connection, tests)
    labels = find_labels(connection)
    found: dict[int, list[HistoryValue]] = {}
    for each in tests:
        members, judged = parse_strings(each.members), verdicts.get(each.attempt, {})
        found.setdefault(each.session, []).extend(
            HistoryValue(
                *(each.key, each.number, each.stage, each.node, each.peer, members, each.bundle),
                *(name, parse_unit(unit), labels[of], read_number(value), judged.get(key)),
            )
            for key, name, unit, of, value in told.get(each.result, ())
        )
    return found


def _read_verdicts(connection: Connection, tests: Sequence[_TestOfNode]) -> dict[int, dict[str, NumberVerdict]]:
    """The verdicts of the last judgements on these tests and on their bundles: by attempt, then by number judged."""
    keys = {(each.attempt, each.key) for each in tests}
    bundles = {(each.attempt, each.round_id, each.bundle) for each in tests if each.bundle}
    if bundles:  # the verdict on a bundle stands with one of its tests
        keys.update(connection.execute(_BUNDLED, (json.dumps(sorted(bundles)),)))
    rows = connection.execute(_VERDICTS_OF_TESTS, (json.dumps(sorted(keys)),))
    return {attempt: _list_by_number(own) for attempt, own in group_by_key((row[0], row[1:]) for row in rows).items()}


# -- one metric of all nodes


class _Place(NamedTuple):
    """A round of a session, and the number of its last closed attempt in the file."""

    attempt: int
    round_id: int
    number: int
    stage: str


_ROUNDS = f"""SELECT attempt.id, round.id, round.number, round.stage FROM round JOIN attempt ON {_CLOSED}
    WHERE session_id = ?1 AND (?2 IS NULL OR stage = ?2) ORDER BY round.number DESC"""  # noqa: S608
_METRICS = "SELECT id, unit FROM metric WHERE name = ?"
_SPAN = """SELECT
    (SELECT min(id) FROM measurement WHERE result_id = (SELECT min(result_id) FROM measurement
        WHERE result_id >= (SELECT min(id) FROM result WHERE attempt_id = ?1))),
    (SELECT max(id) FROM measurement WHERE result_id = (SELECT max(result_id) FROM measurement
        WHERE result_id <= (SELECT max(id) FROM result WHERE attempt_id = ?1)))"""
"""Results and their numbers are numbered in the order of storing, so that those of an attempt stand together, but for
what another console stored meanwhile. To read them in their order costs half of looking up each."""
_NUMBERS_OF_METRIC = f"""SELECT measurement.key, labels_id, value, test.key, {_NODES}
    FROM measurement CROSS JOIN result ON result.id = result_id AND attempt_id = ?1
    CROSS JOIN test ON test.id = test_id
    WHERE measurement.id BETWEEN ?2 AND ?3 AND metric_id = ?4 ORDER BY measurement.id"""  # noqa: S608
_NUMBERS_WITH_SAME = f"""SELECT measurement.key, labels_id, value, test.key, {_SAME}
    FROM measurement CROSS JOIN result ON result.id = result_id AND attempt_id = ?1
    CROSS JOIN test ON test.id = test_id CROSS JOIN round ON round.id = test.round_id
    WHERE measurement.id BETWEEN ?2 AND ?3 AND metric_id = ?4 ORDER BY measurement.id"""  # noqa: S608
_LAST_JUDGING = "SELECT max(id) FROM judging WHERE attempt_id = ?"
_SPAN_OF_VERDICTS = "SELECT min(id), max(id) FROM verdict WHERE judging_id = ?"
_VERDICTS_OF_METRIC = """SELECT evidence, level, expected, shown FROM verdict
    WHERE id BETWEEN ?2 AND ?3 AND metric_id = ?4 AND +judging_id = ?1"""

_NumberRow = tuple[str, int, object, str, str, str | None, str, str]
"""Key, number of labels and value of a number; key, node, peer, members and bundle of its test."""


def read_metric_values(
    database: Database, session: str, metric: str, stage: str | None = None
) -> tuple[HistoryValue, ...]:
    """The numbers of ``metric`` that count, of all tests or of those of ``stage``, those of the newest round first.

    UnknownSessionError where there is no such session.
    """
    found: list[HistoryValue] = []
    with asking_session(database, session) as (connection, number):
        metrics = connection.execute(_METRICS, (metric,)).fetchall()
        places = [_Place._make(row) for row in connection.execute(_ROUNDS, (number, stage))] if metrics else []
        rounds = Counter(place.stage for place in places)
        repeats = {each: _Repeats(connection) for each, many in rounds.items() if many > 1}
        for place in places:
            of_stage = repeats.get(place.stage)
            if of_stage is not None and of_stage.hold_all_of(place):
                continue
            for id, unit in metrics:
                rows = _read_numbers(connection, place, id, of_stage)
                if rows:
                    found += _make_values(connection, place, (id, metric, unit), rows)
    return tuple(found)


def _read_numbers(
    connection: Connection, place: _Place, metric: int, repeats: "_Repeats | None"
) -> Sequence[_NumberRow]:
    """The numbers of one metric in one round that no newer round repeats."""
    span = connection.execute(_SPAN, (place.attempt,)).fetchone()
    asked = (place.attempt, *span, metric)
    if repeats is None:
        return connection.execute(_NUMBERS_OF_METRIC, asked).fetchall()
    rows = connection.execute(_NUMBERS_WITH_SAME, asked).fetchall()
    repeated = repeats.list_before(place) if rows else ()
    return [row[:8] for row in rows if not repeated or row[4:] not in repeated]


def _make_values(
    connection: Connection, place: _Place, metric: tuple[int, str, str], rows: Iterable[_NumberRow]
) -> list[HistoryValue]:
    """The values of one metric (its number in the file, its name and its unit) in one round."""
    number, name, unit_text = metric
    unit, labels = parse_unit(unit_text), find_labels(connection)
    verdicts = _read_metric_verdicts(connection, place, number)
    round_number, stage, make = place.number, place.stage, HistoryValue._make
    return [
        make(
            (
                test, round_number, stage, node, peer, () if members == "[]" else parse_strings(members), bundle,
                name, unit, labels[of], read_number(value), verdicts.get(key),
            )
        )
        for key, of, value, test, node, peer, members, bundle in rows
    ]  # fmt: skip


def _read_metric_verdicts(connection: Connection, place: _Place, metric: int) -> dict[str, NumberVerdict]:
    """The verdicts of the last judgement on one metric, by the keys of the numbers judged."""
    (judging,) = connection.execute(_LAST_JUDGING, (place.attempt,)).fetchone()
    span = connection.execute(_SPAN_OF_VERDICTS, (judging,)).fetchone()
    return _list_by_number(connection.execute(_VERDICTS_OF_METRIC, (judging, *span, metric)))


_FIRST_TEST = f"""SELECT test.id, {_SAME} FROM test JOIN round ON round.id = round_id
    WHERE round_id = ? ORDER BY test.id LIMIT 1"""  # noqa: S608
_HAS_ALL_RESULTS = """SELECT (SELECT count(*) FROM result WHERE attempt_id = ?)
    = (SELECT count(*) FROM test WHERE round_id = ?)"""
_IS_REPEATED = """SELECT NOT EXISTS (SELECT 1 FROM test AS own
    LEFT JOIN test AS later ON later.id = own.id + ?3 AND later.round_id = ?2 WHERE own.round_id = ?1 AND (
        later.id IS NULL OR later.node <> own.node OR later.peer IS NOT own.peer OR later.members <> own.members
        OR later.bundle <> own.bundle OR later.labels <> own.labels OR later.sending <> own.sending
        OR coalesce(nullif(later.probe, ''), (SELECT probe FROM round WHERE id = ?2))
            <> coalesce(nullif(own.probe, ''), (SELECT probe FROM round WHERE id = ?1))))"""
_SAME_OF_ATTEMPT = f"""SELECT {_SAME} FROM result CROSS JOIN test ON test.id = test_id
    CROSS JOIN round ON round.id = test.round_id WHERE attempt_id = ?"""  # noqa: S608


class _Repeats:
    """Which tests the newer rounds of one stage repeat; asked from the newest round to the oldest.

    A test that gave no number replaces what it repeats, too. Most rounds that repeat another have all of its tests in
    the same order: SQLite compares them, and nothing of the older round is read.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._whole: dict[_Same, tuple[_Place, int]] = {}
        """Rounds all of whose tests have a result, by their first test, with its number in the file."""
        self._unread: list[_Place] = []
        self._same: set[_Same] = set()

    def hold_all_of(self, place: _Place) -> bool:
        """Whether a newer round repeats every test of this one; where none does, this one may repeat older ones."""
        row = self._connection.execute(_FIRST_TEST, (place.round_id,)).fetchone()
        if row is None:
            return True
        first, same = row[0], row[1:]
        known = self._whole.get(same)
        if known is not None:
            newer, first_of_newer = known
            asked = (place.round_id, newer.round_id, first_of_newer - first)
            if self._connection.execute(_IS_REPEATED, asked).fetchone()[0]:
                return True
        elif self._connection.execute(_HAS_ALL_RESULTS, (place.attempt, place.round_id)).fetchone()[0]:
            self._whole[same] = place, first
        self._unread.append(place)
        return False

    def list_before(self, place: _Place) -> set[_Same]:
        """The keys of the tests that rounds newer than ``place`` repeat."""
        for each in self._unread:
            if each is not place:
                self._same.update(self._connection.execute(_SAME_OF_ATTEMPT, (each.attempt,)))
        self._unread = [each for each in self._unread if each is place]
        return self._same


# -- what both have in common


def _list_by_number(rows: Iterable[tuple[str, str, float | None, str]]) -> dict[str, NumberVerdict]:
    """Verdicts by the keys of the numbers that they are on: of several those on fewer numbers, then the worst."""
    found: dict[str, NumberVerdict] = {}
    alike: dict[tuple[str, float | None, str, int], NumberVerdict] = {}
    for evidence, level, expected, shown in rows:
        keys = parse_strings(evidence)
        form = (level, expected, shown, len(keys))
        verdict = alike.get(form)
        if verdict is None:
            verdict = alike[form] = NumberVerdict(_LEVELS[level], expected, _SHOWN[shown], len(keys))
        for key in keys:
            known = found.setdefault(key, verdict)
            if known is not verdict and _rank(verdict) < _rank(known):
                found[key] = verdict
    return found


def _rank(verdict: NumberVerdict) -> tuple[int, int]:
    return verdict.numbers, -verdict.level.severity
