"""Questions about one session. Each fetches what it needs, lets go of the file, and then answers in domain objects."""

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from benchconsole.probes.model.checklist import Attachment, Checked, CheckedList, Evidence, Mark, Step, StepState
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Finding, Verdict
from benchconsole.probes.model.measuring import FailedAt, Labels, Proof, Reading, Result, Round, Test
from benchconsole.store.codec.rows import (
    ProofRow,
    ResultRow,
    RoundRow,
    SessionRow,
    TestRow,
    name_nodes,
    parse_failure,
    parse_labels,
    parse_proof,
    parse_round,
    parse_session,
    parse_test,
)
from benchconsole.store.codec.values import members_by_value, parse_document, parse_strings
from benchconsole.store.codec.verdict_rows import VerdictParser, VerdictRow
from benchconsole.store.errors import ConflictError
from benchconsole.store.files import ownership
from benchconsole.store.files.database import Database
from benchconsole.store.model import OpenRound, ProbeOutcome, ProofSet, SessionNote, StoredSession
from benchconsole.store.reading.lazy_parts import AttemptAddress, StoredFacts, StoredOutputs
from benchconsole.store.reading.measurement_columns import read_measurements
from benchconsole.store.reading.session_list import asking_session
from benchconsole.store.session_summary import SessionState
from benchconsole.store.sqlite import Connection
from benchconsole.topology.model.fabric import Fabric

_SESSION = f"SELECT {', '.join(SessionRow._fields)}, rounds, tests FROM session WHERE id = ?"  # noqa: S608 - ours
NEWEST_JUDGING = """SELECT max(judging.id) FROM judging JOIN attempt ON attempt.id = attempt_id
    JOIN round ON round.id = round_id WHERE session_id = ?"""


class SessionReader:
    """A stored session; UnknownSessionError where there is none, ConflictError where ``fabric`` lacks a node of it."""

    def __init__(self, id: str, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self.id = id
        self.database = database
        self._clock = clock

    def describe(self) -> StoredSession:
        """The session as it was created, and its state."""
        with asking_session(self.database, self.id) as (connection, number):
            *row, rounds, tests = connection.execute(_SESSION, (number,)).fetchone()
            driver = ownership.read_driver(connection, number)
            return StoredSession(
                id=self.id,
                new=parse_session(SessionRow._make(row)),
                state=driver.state(self._clock()) if driver else SessionState.INTERRUPTED,
                ended=driver.ended if driver else None,
                because=driver.because if driver else "",
                rounds=rounds,
                tests=tests,
            )

    def read_plan(self, fabric: Fabric) -> tuple[Round, ...]:
        with asking_session(self.database, self.id) as (connection, session):
            return tuple(read_plan_after(self, connection, session, fabric).values())

    def read_rounds(self, fabric: Fabric, *, judged: bool = True, plan: Sequence[Round] = ()) -> Iterator[ClosedRound]:
        """Its closed rounds in the order of storing, every attempt; with their last judgement where ``judged``.

        ``plan`` is what ``read_plan`` gave: where it still is the plan, its rounds and tests are those of the result.
        """
        with asking_session(self.database, self.id) as (connection, session):
            planned = index_plan(connection, session, plan) or read_plan_after(self, connection, session, fabric)
            attempts = list_attempts(connection, session)
        for attempt in attempts:
            if attempt.ended is not None:
                with self.database.reading() as connection:
                    stored = read_round(self, connection, attempt, planned, judged=judged)
                yield stored

    def read_findings(self) -> tuple[Finding, ...] | None:
        """The findings over all its judged rounds; None where they were not stored since the newest judgement."""
        with asking_session(self.database, self.id) as (connection, session):
            newest = connection.execute(NEWEST_JUDGING, (session,)).fetchone()
            row = connection.execute("SELECT findings FROM finding_set WHERE judging_id = ?", newest).fetchone()
            if row is None:
                return None
            contents = dict(connection.execute("SELECT id, content FROM finding WHERE session_id = ?", (session,)))
            return tuple(parse_document(Finding, contents[number]) for number in json.loads(row[0]))

    def list_closed_rounds(self) -> frozenset[tuple[int, int]]:
        """(round, attempt) of everything that was closed and stored."""
        with asking_session(self.database, self.id) as (connection, session):
            return frozenset(
                connection.execute(
                    """SELECT round.number, attempt.number FROM attempt JOIN round ON round.id = attempt.round_id
                    WHERE session_id = ? AND ended IS NOT NULL""",
                    (session,),
                ).fetchall()
            )

    def read_open_rounds(self, fabric: Fabric) -> tuple[OpenRound, ...]:
        """Rounds whose last attempt was begun and never closed, with the results that are stored of it."""
        with asking_session(self.database, self.id) as (connection, session):
            last = {attempt.round_id: attempt for attempt in list_attempts(connection, session)}
            open_attempts = [attempt for attempt in last.values() if attempt.ended is None]
            plan = read_plan_after(self, connection, session, fabric) if open_attempts else {}
            rounds = []
            for attempt in open_attempts:
                planned = plan[attempt.round_id]
                results = tuple(read_results(self, connection, attempt, planned).values())
                rounds.append(OpenRound(planned, attempt.number, attempt.started, results))
            return tuple(rounds)

    def read_notes(self) -> tuple[SessionNote, ...]:
        with asking_session(self.database, self.id) as (connection, session):
            return tuple(read_notes_after(connection, session, 0).values())

    def read_proofs(self) -> tuple[ProofSet, ...]:
        """The proofs of the nodes at the end of each of its runs, in order."""
        with asking_session(self.database, self.id) as (connection, session):
            return read_proofs_after(connection, session, 0)[0]

    def read_checklists(self) -> tuple[CheckedList, ...]:
        """Its checklists in their present state, in the order in which they were first kept.

        A mark counts as long as its step says the same: with another text or command it is another step, not done.
        """
        with asking_session(self.database, self.id) as (connection, session):
            newest = connection.execute(
                """SELECT checklist.id, name, source FROM checklist JOIN
                    (SELECT max(id) AS newest, min(id) AS first FROM checklist WHERE session_id = ? GROUP BY name)
                ON checklist.id = newest ORDER BY first""",
                (session,),
            ).fetchall()
            found = []
            for number, name, source in newest:
                marks = _read_marks(connection, session, name)
                found.append(CheckedList(name, source, tuple(_read_steps(connection, number, marks))))
            return tuple(found)

    def read_attachment(self, sha256: str) -> Evidence:
        """One attachment of its checklists by (the beginning of) its SHA-256; ConflictError for none or several."""
        with asking_session(self.database, self.id) as (connection, session):
            sums = connection.execute(
                """SELECT DISTINCT sha256 FROM checklist_attachment JOIN checklist_mark ON checklist_mark.id = mark_id
                JOIN checklist_step ON checklist_step.id = step_id JOIN checklist ON checklist.id = checklist_id
                WHERE session_id = ? AND substr(sha256, 1, ?) = ?""",
                (session, len(sha256), sha256.lower()),
            ).fetchall()
            if len(sums) != 1 or not sha256:
                raise ConflictError(f"{len(sums)} attachments begin with {sha256!r}", "name one by its SHA-256")
            name, content = connection.execute(
                "SELECT name, content FROM checklist_attachment WHERE sha256 = ? LIMIT 1", sums[0]
            ).fetchone()
            return Evidence(name, bytes(content))

    def read_outcomes(self, probe: str) -> Iterator[ProbeOutcome]:
        """The outcomes of the tests of one probe, every attempt, in the order in which those were begun.

        In few columns: a watch of days has a million of them. Attempts that were never closed count too: their
        results were committed before the console died.
        """
        with asking_session(self.database, self.id) as (connection, session):
            attempts = connection.execute(_ATTEMPTS_OF_PROBE, (session, probe)).fetchall()
        for (attempt,) in attempts:
            with self.database.reading() as connection:
                page = _read_outcomes(connection, attempt)
            yield from page


def _columns(table: str, fields: Iterable[str]) -> str:
    return ", ".join(f"{table}.{field}" for field in fields)


# -- the plan


_TESTS = f"""SELECT round_id, {_columns("test", TestRow._fields)} FROM round
    JOIN test ON test.round_id = round.id WHERE round.session_id = ? AND round.id > ? ORDER BY test.id"""  # noqa: S608
_ROUNDS = f"""SELECT id, {_columns("round", RoundRow._fields)} FROM round
    WHERE session_id = ? AND id > ? ORDER BY id"""  # noqa: S608


def read_plan_after(
    reader: SessionReader, connection: Connection, session: int, fabric: Fabric, *, after: int = 0
) -> dict[int, Round]:
    """The rounds of a session by their number in the file, those above ``after``; ConflictError as ``read_plan``."""
    rounds = {id: RoundRow._make(row) for id, *row in connection.execute(_ROUNDS, (session, after))}
    tests: dict[int, list[Test]] = {id: [] for id in rounds}
    missing: set[str] = set()
    for id, *row in connection.execute(_TESTS, (session, after)):
        if id not in rounds:  # planned since: it comes with its round the next time
            continue
        test_row = TestRow._make(row)
        missing.update(name for name in name_nodes(test_row) if name not in fabric.nodes)
        if not missing:
            tests[id].append(parse_test(test_row, rounds[id], fabric))
    _refuse_missing(reader.database, missing, fabric)
    return {id: parse_round(row, tuple(tests[id])) for id, row in rounds.items()}


def index_plan(connection: Connection, session: int, plan: Sequence[Round]) -> dict[int, Round]:
    """The rounds of ``plan`` by their number in the file; empty where the session has others or more."""
    known = {each.number: each for each in plan}
    numbers = connection.execute("SELECT id, number FROM round WHERE session_id = ? ORDER BY id", (session,)).fetchall()
    return {id: known[number] for id, number in numbers} if {number for _, number in numbers} == known.keys() else {}


def _refuse_missing(database: Database, missing: Collection[str], fabric: Fabric) -> None:
    if missing:
        raise ConflictError(
            f"the plan names {', '.join(sorted(missing)[:5])}, which the fabric {fabric.name} does not have",
            "read it with the topology that is stored with the session",
            database.path,
        )


# -- rounds


class AttemptRow(NamedTuple):
    """One round that was begun; open without ``reason`` and ``ended``."""

    id: int
    round_id: int
    number: int
    reason: str | None
    started: float
    ended: float | None
    because: str


_ATTEMPT = _columns("attempt", AttemptRow._fields)
_ATTEMPTS = f"""SELECT {_ATTEMPT} FROM attempt JOIN round ON round.id = round_id
    WHERE session_id = ? ORDER BY attempt.id"""  # noqa: S608 - names of ours


def list_attempts(connection: Connection, session: int) -> list[AttemptRow]:
    """Everything that was begun of the session with this number, in the order in which it was begun."""
    return [AttemptRow._make(row) for row in connection.execute(_ATTEMPTS, (session,))]


def read_round(
    reader: SessionReader,
    connection: Connection,
    attempt: AttemptRow,
    plan: Mapping[int, Round],
    *,
    judged: bool = True,
    measured: bool = True,
) -> ClosedRound:
    """The closed round of an attempt in the file, without verdicts unless ``judged``; ValueError when not closed.

    Without outputs and measurements unless ``measured``.
    """
    if attempt.ended is None or attempt.reason is None:
        raise ValueError("a round without an end")
    planned = plan[attempt.round_id]
    verdicts, judged_by = _read_verdicts(connection, attempt, planned) if judged else ((), "")
    return ClosedRound(
        planned,
        tuple(read_results(reader, connection, attempt, planned, measured=measured).values()),
        CloseReason(attempt.reason),
        attempt.started,
        attempt.ended,
        attempt.because,
        verdicts,
        attempt=attempt.number,
        judged_by=judged_by,
    )


def _read_verdicts(connection: Connection, attempt: AttemptRow, planned: Round) -> tuple[tuple[Verdict, ...], str]:
    """The verdicts of the last judgement of an attempt, and who gave it; none and empty where there is none."""
    judging, judged_by = connection.execute(
        "SELECT id, judged_by FROM judging WHERE attempt_id = ? ORDER BY id DESC LIMIT 1", (attempt.id,)
    ).fetchone() or (None, "")
    metrics, labels = find_metrics(connection), find_labels(connection)
    parser = VerdictParser(planned.number, planned.tests)
    verdicts = tuple(
        parser.parse_columns(metrics[metric], labels[of], row)
        for metric, of, *row in connection.execute(_VERDICTS, (judging,))
    )
    return verdicts, judged_by


VERDICTS_OF_JUDGING = """+judging_id = ?1 AND verdict.id BETWEEN (SELECT min(id) FROM verdict WHERE judging_id = ?1)
    AND (SELECT max(id) FROM verdict WHERE judging_id = ?1)"""
"""The condition on the verdicts of the judgement ``?1``, in the order of their ids without sorting.

They were stored at once and stand together in the file; the plus keeps SQLite from looking up each of them.
"""

_VERDICTS = f"""SELECT metric_id, labels_id, {_columns("verdict", VerdictRow._fields)}
    FROM verdict WHERE {VERDICTS_OF_JUDGING} ORDER BY verdict.id"""  # noqa: S608 - names of ours

T = TypeVar("T")


class _Names(dict[int, T]):
    """Metrics or labels by their numbers in the file, each read when it is first met and the same object."""

    def __init__(self, connection: Connection, statement: str, parse: Callable[..., T]) -> None:
        super().__init__()
        self._connection = connection
        self._statement = statement
        self._parse = parse

    def __missing__(self, number: int) -> T:
        found = self[number] = self._parse(*self._connection.execute(self._statement, (number,)).fetchone())
        return found


def find_metrics(connection: Connection) -> _Names[tuple[str, str]]:
    """Names and units of metrics by their numbers."""
    return _Names(connection, "SELECT name, unit FROM metric WHERE id = ?", lambda name, unit: (name, unit))


def find_labels(connection: Connection) -> _Names[Labels]:
    """Labels by their numbers."""
    return _Names(connection, "SELECT pairs FROM labels WHERE id = ?", parse_labels)


def read_results(
    reader: SessionReader,
    connection: Connection,
    attempt: AttemptRow,
    planned: Round,
    *,
    after: int = 0,
    measured: bool = True,
) -> dict[int, Result]:
    """Results by their number in the file, those above ``after``, in their order; outputs and facts stay there.

    Without outputs and measurements unless ``measured``.
    """
    tests = {test.id: test for test in planned.tests}
    which = (attempt.id, after)
    outputs = {number: row for number, *row in connection.execute(_OUTPUTS, which)} if measured else {}
    facts = dict(connection.execute(_FACTS, which))
    rows = connection.execute(_RESULTS, which).fetchall()
    measurements: Mapping[int, Sequence[Reading]] = {}
    if measured:
        keys = {number: key for number, key, *_ in rows}
        told = connection.execute(_MEASUREMENTS, which)
        measurements = read_measurements(told, keys, find_metrics(connection), find_labels(connection))
    results = {}
    address = AttemptAddress(reader.database, reader.id, attempt.number)
    for number, key, *row in rows:
        results[number] = Result(
            tests[key],
            StoredOutputs(address, key, *outputs[number]) if number in outputs else (),
            measurements.get(number, ()),
            StoredFacts(address, key, facts[number]) if number in facts else (),
            None if row[3] is row[4] is row[5] is None else parse_failure(ResultRow._make(row)),
            *row[:3],
        )
    return results


_OF_ATTEMPT = "WHERE attempt_id = ? AND result.id > ?"
_RESULTS = f"""SELECT result.id, test.key, {_columns("result", ResultRow._fields)}
    FROM result JOIN test ON test.id = result.test_id {_OF_ATTEMPT} ORDER BY result.id"""  # noqa: S608
_OUTPUTS = f"""SELECT result_id, count(*), max(output.seconds)
    FROM result JOIN output ON output.result_id = result.id {_OF_ATTEMPT} GROUP BY result_id"""  # noqa: S608
_MEASUREMENTS = f"""SELECT result_id, metric_id, labels_id, measurement.key, value, raw, at
    FROM result JOIN measurement ON measurement.result_id = result.id
    {_OF_ATTEMPT} ORDER BY measurement.id"""  # noqa: S608
_FACTS = f"""SELECT result_id, count(*) FROM result JOIN fact ON fact.result_id = result.id
    {_OF_ATTEMPT} GROUP BY result_id"""  # noqa: S608


# -- notes and proofs


def read_notes_after(connection: Connection, session: int, after: int) -> dict[int, SessionNote]:
    """Notes by their number in the file, those above ``after``."""
    return {
        number: SessionNote(*row)
        for number, *row in connection.execute(
            "SELECT id, kind, text, at FROM note WHERE session_id = ? AND id > ? ORDER BY id", (session, after)
        )
    }


_PROOFS = f"""SELECT id, at, {_columns("proof", ProofRow._fields)} FROM proof
    WHERE session_id = ? AND id > ? ORDER BY id"""  # noqa: S608 - names of ours


def read_proofs_after(connection: Connection, session: int, after: int) -> tuple[tuple[ProofSet, ...], int]:
    """Proofs above the number ``after`` in the file, by the time they were stored at, and the last number."""
    proofs: dict[float, list[Proof]] = {}
    for number, at, *row in connection.execute(_PROOFS, (session, after)):
        proofs.setdefault(at, []).append(parse_proof(ProofRow._make(row)))
        after = number
    return tuple(ProofSet(at, tuple(of_moment)) for at, of_moment in proofs.items()), after


# -- the outcomes of one probe

_STAGES = members_by_value(FailedAt)

_ATTEMPTS_OF_PROBE = """SELECT attempt.id FROM attempt JOIN round ON round.id = attempt.round_id
    WHERE session_id = ? AND probe = ? ORDER BY attempt.id"""
_OUTCOMES = """SELECT result.id, test.node, result.started, failed_at FROM result JOIN test ON test.id = result.test_id
    WHERE attempt_id = ? ORDER BY result.id"""
_NUMBERS = """SELECT result_id, metric.name, value FROM result JOIN measurement ON measurement.result_id = result.id
    JOIN metric ON metric.id = metric_id WHERE attempt_id = ? ORDER BY result_id, measurement.id"""
_FACTS_OF_OUTCOME = """SELECT result_id, name, coalesce(text, number) FROM result
    JOIN fact ON fact.result_id = result.id WHERE attempt_id = ? ORDER BY result_id, fact.id"""


def _read_outcomes(connection: Connection, attempt: int) -> list[ProbeOutcome]:
    results = connection.execute(_OUTCOMES, (attempt,)).fetchall()
    numbers = _group_rows(connection, _NUMBERS, attempt)
    facts = _group_rows(connection, _FACTS_OF_OUTCOME, attempt)
    return [
        ProbeOutcome(
            node=node,
            at=started,
            failed_at=None if stage is None else _STAGES[stage],
            numbers=tuple((name, value) for _, name, value in numbers.get(result, ())),
            facts={name: value for _, name, value in facts.get(result, ())},
        )
        for result, node, started, stage in results
    ]


def _group_rows(connection: Connection, statement: str, attempt: int) -> dict[int, list[tuple[Any, ...]]]:
    rows = connection.execute(statement, (attempt,))
    return {result: list(group) for result, group in groupby(rows, key=lambda row: int(row[0]))}


# -- checklists

_Marks = dict[tuple[str, str, str], list[tuple[int, Mark]]]
"""_Marks with their number in the file, oldest first, by the id, text and command of their step."""


def _read_marks(connection: Connection, session: int, name: str) -> _Marks:
    marks: _Marks = {}
    for number, state, note, who, at, key, text, argv in connection.execute(
        """SELECT checklist_mark.id, state, note, who, checklist_mark.at, key, text, argv FROM checklist_mark
        JOIN checklist_step ON checklist_step.id = step_id JOIN checklist ON checklist.id = checklist_id
        WHERE session_id = ? AND name = ? ORDER BY checklist_mark.id""",
        (session, name),
    ):
        marks.setdefault((key, text, argv), []).append((number, Mark(StepState(state), who, at, note)))
    return marks


def _read_steps(connection: Connection, checklist: int, marks: _Marks) -> Iterator[Checked]:
    for key, text, clause, argv, seconds in connection.execute(
        "SELECT key, text, clause, argv, seconds FROM checklist_step WHERE checklist_id = ? ORDER BY id", (checklist,)
    ).fetchall():
        step = Step(key, text, clause, parse_strings(argv) if argv != "[]" else (), seconds)
        marks_of_step = marks.get((key, text, argv))
        if marks_of_step is None:
            yield Checked(step)
            continue
        newest, mark = marks_of_step[-1]
        attachments = connection.execute(
            "SELECT name, length(content), sha256 FROM checklist_attachment WHERE mark_id = ? ORDER BY id", (newest,)
        )
        yield Checked(step, mark, tuple(Attachment(*row) for row in attachments), len(marks_of_step) - 1)
