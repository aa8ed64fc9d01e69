"""Writing sessions, plans, verdicts, findings, notes, remarks and checklists; every function inside one transaction.

Nothing that was judged is updated or deleted, ever; a report that is kept makes place for the next one. Rounds and
results are in ``store.writing.round_rows``.
"""

import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchconsole.probes.model.checklist import MOST_BYTES, Checklist, Evidence, Mark
from benchconsole.probes.model.judgement import Finding, Level, Verdict
from benchconsole.probes.model.measuring import Proof, Round
from benchconsole.probes.model.remark import Remark, RemarkKind, list_standing
from benchconsole.store.codec.rows import (
    ProofRow,
    RoundRow,
    SessionRow,
    TestRow,
    dump_criteria,
    make_proof_row,
    make_round_row,
    make_test_row,
)
from benchconsole.store.codec.values import dump_document, dump_json, make_row, replace_surrogates, require_finite
from benchconsole.store.codec.verdict_rows import NamedVerdictRow, VerdictRow, make_verdict_row
from benchconsole.store.errors import ConflictError, RefusedError
from benchconsole.store.model import ChosenCriteria, JudgedMeasurements, NewSession
from benchconsole.store.reading.remark_reading import list_remarks
from benchconsole.store.reading.session_reading import NEWEST_JUDGING
from benchconsole.store.schema.tables import BASIS
from benchconsole.store.session_summary import SessionCounts, StoredVerdict
from benchconsole.store.sqlite import Connection, ConstraintError
from benchconsole.store.writing.bulk_insert import insert_rows, insert_values
from benchconsole.store.writing.write_cache import WriteCache

if TYPE_CHECKING:
    from benchconsole.probes.model.detectable_loss import DetectableLoss

_PLANNER = "report this as a fault of the planner"
_RESERVED = re.compile(r"last(-[0-9]+)?")


# -- session and plan


def create_session(connection: Connection, key: str, new: NewSession, plan: Sequence[Round]) -> int:
    """Write a session and its whole plan; the number of the session.

    ConflictError when a test id or round number comes twice or ``key`` is taken, RefusedError
    for a label that means something else (``last``, ``last-1``).
    """
    _require_free_label(new.label)
    _require_sound(plan)
    row = (key, *make_row(SessionRow, new, "the session"), len(plan), sum(len(planned.tests) for planned in plan))
    insert_rows(connection, "session", ("key", *SessionRow._fields, "rounds", "tests"), [row])
    (session,) = connection.execute("SELECT id FROM session WHERE key = ?", (key,)).fetchone()
    _write_plan(connection, session, plan)
    return int(session)


def _require_free_label(label: str) -> None:
    if _RESERVED.fullmatch(label):
        raise RefusedError(f"the label {label} means the latest sessions", "choose another label")


def change_label(connection: Connection, session: int, label: str, by: str, at: float) -> None:
    """Give a session another label, and note which it had and who changed it: reports that are kept rest on notes.

    RefusedError for a label that means something else (``last``, ``last-1``).
    """
    _require_free_label(label)
    (before,) = connection.execute("SELECT label FROM session WHERE id = ?", (session,)).fetchone()
    connection.execute("UPDATE session SET label = ? WHERE id = ?", (replace_surrogates(label), session))
    append_note(connection, session, "label", f"{before or 'none'} became {label or 'none'}, by {by}", at)


def extend_plan(connection: Connection, session: int, plan: Sequence[Round], began: float | None = None) -> None:
    """Write further rounds of a session, which began no later than ``began`` (None: than it did).

    ConflictError when a number or a test id is taken already.
    """
    _require_sound(plan)
    try:
        _write_plan(connection, session, plan)
    except ConstraintError as error:
        raise ConflictError("a round or test of this plan is in the session already", _PLANNER) from error
    connection.execute(
        """UPDATE session SET rounds = rounds + ?, tests = tests + ?, started = min(started, coalesce(?, started))
        WHERE id = ?""",
        (len(plan), sum(len(planned.tests) for planned in plan), began, session),
    )


def _write_plan(connection: Connection, session: int, plan: Sequence[Round]) -> None:
    (number,) = connection.execute("SELECT coalesce(max(id), 0) FROM round").fetchone()
    for round_id, planned in enumerate(plan, number + 1):
        row = (round_id, session, *make_round_row(planned))
        insert_rows(connection, "round", ("id", "session_id", *RoundRow._fields), [row])
        tests = ((session, round_id, *make_test_row(planned, test)) for test in planned.tests)
        insert_rows(connection, "test", ("session_id", "round_id", *TestRow._fields), tests)


def _require_sound(plan: Sequence[Round]) -> None:
    """ConflictError where ids come twice, or a test says another round or probe than its round."""
    ids = Counter(test.id for planned in plan for test in planned.tests)
    for kind, counts in (("round", Counter(planned.number for planned in plan)), ("test", ids)):
        for name, count in counts.items():
            if count > 1:
                raise ConflictError(f"{kind} {name} comes twice in the plan", _PLANNER)
    for planned in plan:
        probes = planned.probes
        for test in planned.tests:
            if test.round != planned.number or test.probe not in probes:
                raise ConflictError(
                    f"test {test.id} says round {test.round} and probe {test.probe}, "
                    f"its round is {planned.number} with {planned.probe}",
                    _PLANNER,
                )


# -- verdicts


class Judgement(NamedTuple):
    """The verdicts on one attempt at one time, by one program and its criteria."""

    judged_by: str
    at: float
    verdicts: tuple[NamedVerdictRow, ...]


def make_judgement(verdicts: Sequence[Verdict], *, judged_by: str, at: float) -> Judgement:
    """Verdicts as rows; RefusedError for a number that cannot be kept."""
    rows = tuple(map(make_verdict_row, verdicts))
    return Judgement(replace_surrogates(judged_by), require_finite(at, "the time of a judgement"), rows)


def append_verdicts(
    cache: WriteCache,
    attempt: int,
    verdicts: Sequence[Verdict],
    *,
    judged_by: str,
    at: float,
    measured: JudgedMeasurements | None = None,
) -> None:
    """Write one judgement of a closed round, ``measured`` after ``verdicts``; the latest one counts, the others stay.

    ConflictError when ``judged_by`` has judged this attempt before, or a verdict is about another round.
    """
    judgement = make_judgement(verdicts, judged_by=judged_by, at=at)
    (round_number,) = cache.connection.execute(
        "SELECT round.number FROM attempt JOIN round ON round.id = attempt.round_id WHERE attempt.id = ?", (attempt,)
    ).fetchone()
    if cache.connection.execute(
        "SELECT 1 FROM judging WHERE attempt_id = ? AND judged_by = ?", (attempt, judgement.judged_by)
    ).fetchone():
        raise ConflictError(
            f"round {round_number} was judged by {judgement.judged_by} before", "name the new judgement differently"
        )
    for verdict in verdicts:
        if verdict.round != round_number:
            raise ConflictError(
                f"a verdict on {verdict.subject} in round {verdict.round} stands under round {round_number}",
                "report this as a fault of the judge",
            )
    append_judgement(cache, attempt, judgement, measured)


def append_judgement(
    cache: WriteCache, attempt: int, judgement: Judgement, measured: JudgedMeasurements | None = None
) -> None:
    """Write a judgement of an attempt that ``judgement.judged_by`` has not judged yet."""
    connection, names = cache.connection, cache.names
    levels = Counter(row.verdict.level for row in judgement.verdicts)
    if measured is not None:
        levels += measured.verdicts.count_levels()
    counts = [levels[level.value] for level in (Level.FAIL, Level.WATCH, Level.UNKNOWN, Level.PASS)]
    connection.execute(
        """INSERT INTO judging (attempt_id, judged_by, at, fails, watches, unknowns, passes)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (attempt, judgement.judged_by, judgement.at, *counts),
    )
    judging = connection.last_insert_rowid()
    values: list[object] = []
    for metric, unit, labels, verdict in judgement.verdicts:
        values += (judging, names.metric(metric, unit), names.labels(labels), *verdict)
    insert_values(connection, "verdict", ("judging_id", "metric_id", "labels_id", *VerdictRow._fields), values)
    if measured is not None:
        _append_measured(connection, judging, measured)


_OF_FORM = tuple(name for name in VerdictRow._fields if name not in ("test", "subject", "nodes", "value", "evidence"))
"""Columns that verdicts of one form share; the others are those of the measurement."""

_MAKE_TEMPORARY = f"CREATE TEMPORARY TABLE form (id INTEGER PRIMARY KEY, {', '.join(_OF_FORM)})"
_FORM_BITS = 24
"""Of a number that is both a measurement and, in so many bits, the form of the verdict on it."""

_APPEND_MEASURED = f"""INSERT INTO verdict
    (judging_id, metric_id, labels_id, test, subject, nodes, value, evidence, {", ".join(_OF_FORM)})
    SELECT ?, metric_id, labels_id, test.key, node, json_array(node),
        CASE WHEN typeof(measurement.value) = 'real' AND abs(measurement.value) < 9e999 THEN measurement.value END,
        json_array(measurement.key), {", ".join(f"form.{name}" for name in _OF_FORM)}
    FROM json_each(?) AS judged
    CROSS JOIN measurement ON measurement.id = judged.value >> {_FORM_BITS}
    CROSS JOIN result ON result.id = result_id
    CROSS JOIN test ON test.id = test_id
    CROSS JOIN temp.form ON form.id = judged.value & {(1 << _FORM_BITS) - 1}"""  # noqa: S608 - names of ours
"""Joined in this order, so that the verdicts come in that of the numbers: sorting them would cost as much again."""


def _append_measured(connection: Connection, judging: int | None, measured: JudgedMeasurements) -> None:
    """Write verdicts on measurements of single nodes; these are copied within the file, and never become objects."""
    numbers, verdicts = measured
    connection.execute(_MAKE_TEMPORARY)
    forms = [make_verdict_row(form).verdict._asdict() for form in verdicts.forms]
    insert_rows(
        connection,
        "temp.form",
        ("id", *_OF_FORM),
        ((number, *map(form.get, _OF_FORM)) for number, form in enumerate(forms)),
    )
    # In one statement: thousands of them would each wait for the other threads.
    rows = (numbers[verdicts.place] << _FORM_BITS) | verdicts.form
    connection.execute(_APPEND_MEASURED, (judging, json.dumps(rows.tolist())))
    connection.execute("DROP TABLE temp.form")


def find_closed_attempt(connection: Connection, session: int, round_number: int, attempt: int) -> int:
    """The number of a closed attempt in the file; ConflictError when it is not stored, or not closed."""
    row = connection.execute(
        """SELECT attempt.id FROM attempt JOIN round ON round.id = attempt.round_id
        WHERE round.session_id = ? AND round.number = ? AND attempt.number = ? AND ended IS NOT NULL""",
        (session, round_number, attempt),
    ).fetchone()
    if row is None:
        raise ConflictError(
            f"attempt {attempt} at round {round_number} is not stored", "judge what list_closed_rounds names"
        )
    return int(row[0])


def append_criteria(connection: Connection, session: int, chosen: ChosenCriteria) -> None:
    """Write what a session is judged with from now on."""
    content = None if chosen.criteria is None else dump_criteria(chosen.criteria)
    connection.execute(
        "INSERT INTO criteria (session_id, at, source, content) VALUES (?, ?, ?, ?)",
        (session, require_finite(chosen.at, "the time of criteria"), replace_surrogates(chosen.source), content),
    )


# -- findings


def append_findings(connection: Connection, session: int, findings: Sequence[Finding]) -> None:
    """Write what is found over all judged rounds of a session, in this order; nothing where no round was judged.

    A finding is stored once as long as it does not change: a set names those that hold through one judgement.

    Findings follow from the verdicts: where a number in one is none, nothing is written, and readers compute them.
    """
    (judging,) = connection.execute(NEWEST_JUDGING, (session,)).fetchone()
    if judging is None:
        return
    try:
        contents = [dump_document(finding, "a finding") for finding in findings]
    except RefusedError:
        return
    stored = _read_numbers(connection, session)
    fresh = list(dict.fromkeys(content for content in contents if content not in stored))
    insert_rows(connection, "finding", ("session_id", "content"), ((session, content) for content in fresh))
    if fresh:
        stored = _read_numbers(connection, session)
    numbers = json.dumps([stored[content] for content in contents])
    connection.execute(
        "INSERT INTO finding_set (judging_id, findings) VALUES (?, ?) ON CONFLICT (judging_id) DO NOTHING",
        (judging, numbers),
    )


def append_losses(connection: Connection, session: int, losses: Sequence["DetectableLoss"]) -> None:
    """Write what all judged rounds of a session could have shown, under the same conditions as its findings."""
    (judging,) = connection.execute(NEWEST_JUDGING, (session,)).fetchone()
    if judging is None:
        return
    try:
        content = dump_document(tuple(losses), "a detectable loss")
    except RefusedError:
        return
    connection.execute(
        "INSERT INTO detectable_loss (judging_id, losses) VALUES (?, ?) ON CONFLICT (judging_id) DO NOTHING",
        (judging, content),
    )


def _read_numbers(connection: Connection, session: int) -> dict[str, int]:
    return dict(connection.execute("SELECT content, id FROM finding WHERE session_id = ?", (session,)))


# -- what happened beside the measuring


def append_session_verdict(connection: Connection, session: int, verdict: StoredVerdict) -> None:
    """Write the verdict on a session as it stands now; it holds until something that it rests on changes."""
    words = map(replace_surrogates, (verdict.outcome, verdict.sentence))
    names = SessionCounts._fields
    counts = verdict.counts or (None,) * len(names)
    connection.execute(
        f"""INSERT INTO session_verdict (session_id, rules, outcome, sentence, missing, {", ".join(names)}, basis)
        SELECT id, ?, ?, ?, ?, {", ".join("?" * len(names))}, {BASIS} FROM session WHERE id = ?""",  # noqa: S608 - ours
        (verdict.rules, *words, dump_json(list(verdict.missing), "a verdict"), *counts, session),
    )


def keep_report(connection: Connection, session: int, name: str, basis: str, text: str) -> None:
    """Keep a report that was made of a session as it stood at ``basis``, in the place of the one of that name."""
    content = zlib.compress(replace_surrogates(text).encode(), level=1)
    connection.execute(
        "INSERT OR REPLACE INTO kept_report (session_id, name, basis, content) VALUES (?, ?, ?, ?)",
        (session, replace_surrogates(name), basis, content),
    )


def append_note(connection: Connection, session: int, kind: str, text: str, at: float) -> None:
    """Write what was decided or happened while a session runs."""
    connection.execute(
        "INSERT INTO note (session_id, kind, text, at) VALUES (?, ?, ?, ?)",
        (session, replace_surrogates(kind), replace_surrogates(text), require_finite(at, "the time of a note")),
    )


def append_remark(connection: Connection, session: int, remark: Remark) -> int:
    """Write what somebody says of a session, or of a part of it; its number.

    ConflictError for a withdrawal of what does not stand, and for a finding that is accepted already: what stands is
    asked in the transaction that writes, so that of two consoles one is late.
    """
    known = list_remarks(connection, session)
    standing = list_standing(known)
    if remark.withdraws and remark.withdraws not in {each.number for each in standing}:
        raise ConflictError(
            f"the session has no remark {remark.withdraws} that stands", "list them with: benchconsole remarks"
        )
    if remark.kind is RemarkKind.ACCEPTED:
        _require_free_finding(standing, replace_surrogates(remark.subject))
    last = max((each.number for each in known), default=0)
    texts = (remark.kind.value, remark.about.value, *map(replace_surrogates, (remark.subject, remark.text, remark.by)))
    times = (require_finite(each, "the time of a remark") for each in (remark.at, remark.written))
    connection.execute(
        """INSERT INTO remark (session_id, number, kind, about, subject, text, who, at, written, withdraws)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (session, last + 1, *texts, *times, remark.withdraws),
    )
    return last + 1


def _require_free_finding(standing: Iterable[Remark], cause: str) -> None:
    accepted = next((each for each in standing if each.kind is RemarkKind.ACCEPTED and each.subject == cause), None)
    if accepted is not None:
        raise ConflictError(
            f"the finding is accepted already, by {accepted.by}", f"withdraw remark {accepted.number} first"
        )


def append_baseline(connection: Connection, fabric: str, session: int | None, by: str, at: float) -> None:
    """Name the session that later ones of a fabric are held against; None for none any more."""
    connection.execute(
        "INSERT INTO baseline (fabric, session_id, who, at) VALUES (?, ?, ?, ?)",
        (replace_surrogates(fabric), session, replace_surrogates(by), require_finite(at, "the time of a baseline")),
    )


def append_proofs(connection: Connection, session: int, proofs: Sequence[Proof], at: float) -> None:
    """Write what the nodes showed of ours at the end of a run."""
    append_proof_rows(connection, session, map(make_proof_row, proofs), require_finite(at, "the time of a proof"))


def append_proof_rows(connection: Connection, session: int, rows: Iterable[ProofRow], at: float) -> None:
    """``append_proofs`` with rows."""
    insert_rows(connection, "proof", ("session_id", "at", *ProofRow._fields), ((session, at, *row) for row in rows))


# -- checklists: every version of one, every mark of a step, every piece of evidence


def append_checklist(connection: Connection, session: int, checklist: Checklist, at: float) -> None:
    """Write a checklist, unless its newest version in this session is the same."""
    row = tuple(map(replace_surrogates, (checklist.name, checklist.source, checklist.file)))
    newest = connection.execute(
        "SELECT name, source, file FROM checklist WHERE session_id = ? AND name = ? ORDER BY id DESC LIMIT 1",
        (session, row[0]),
    ).fetchone()
    if newest == row:
        return
    connection.execute(
        "INSERT INTO checklist (session_id, name, source, file, at) VALUES (?, ?, ?, ?, ?)",
        (session, *row, require_finite(at, "the time of a checklist")),
    )
    number = connection.last_insert_rowid()
    insert_rows(
        connection,
        "checklist_step",
        ("checklist_id", "key", "text", "clause", "argv", "seconds"),
        (
            (
                number,
                *map(replace_surrogates, (step.id, step.text, step.clause)),
                dump_json(list(step.argv), "a command"),
                require_finite(step.seconds, "the time of a command"),
            )
            for step in checklist.steps
        ),
    )


def append_mark(
    connection: Connection, session: int, name: str, step: str, mark: Mark, evidence: Sequence[Evidence]
) -> None:
    """Write the state of a step of the newest version of a checklist, with the evidence for it.

    ConflictError for a checklist or step that is not there, RefusedError for evidence that is too large.
    """
    row = connection.execute(
        """SELECT checklist_step.id FROM checklist_step WHERE key = ? AND checklist_id =
            (SELECT max(id) FROM checklist WHERE session_id = ? AND name = ?)""",
        (replace_surrogates(step), session, replace_surrogates(name)),
    ).fetchone()
    if row is None:
        raise ConflictError(f"the session has no step {step} of a checklist {name}", "keep the checklist first")
    for each in evidence:
        if len(each.content) > MOST_BYTES:
            raise RefusedError(
                f"{each.name} has {len(each.content):,} bytes",
                f"attach at most {MOST_BYTES:,}, or name in the note where it lies",
            )
    note, who = replace_surrogates(mark.note), replace_surrogates(mark.by)
    connection.execute(
        "INSERT INTO checklist_mark (step_id, state, note, who, at) VALUES (?, ?, ?, ?, ?)",
        (row[0], mark.state.value, note, who, require_finite(mark.at, "the time of a mark")),
    )
    number = connection.last_insert_rowid()
    insert_rows(
        connection,
        "checklist_attachment",
        ("mark_id", "name", "sha256", "content"),
        (
            (number, replace_surrogates(each.name), hashlib.sha256(each.content).hexdigest(), each.content)
            for each in evidence
        ),
    )
