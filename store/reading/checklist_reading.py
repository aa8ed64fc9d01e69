"""Reading checklists: their newest versions with the newest mark of every step, and the evidence.

A mark counts as long as its step says the same: with another text or another command it is another step, and not done.
"""

import sqlite3
from collections.abc import Iterator

from benchconsole.probes.model.checklist import Attachment, Checked, CheckedList, Evidence, Mark, Step, StepState
from benchconsole.store.codec.values import parse_strings
from benchconsole.store.errors import ConflictError


def read_checklists(connection: sqlite3.Connection, session: int) -> tuple[CheckedList, ...]:
    """The checklists of a session in their present state, in the order in which they were first kept."""
    newest = connection.execute(
        """SELECT checklist.id, name, source FROM checklist JOIN
            (SELECT max(id) AS newest, min(id) AS first FROM checklist WHERE session_id = ? GROUP BY name)
        ON checklist.id = newest ORDER BY first""",
        (session,),
    ).fetchall()
    return tuple(
        CheckedList(name, source, tuple(_read_steps(connection, number, _read_marks(connection, session, name))))
        for number, name, source in newest
    )


Marks = dict[tuple[str, str, str], list[tuple[int, Mark]]]
"""Marks with their number in the file, oldest first, by the id, text and command of their step."""


def _read_marks(connection: sqlite3.Connection, session: int, name: str) -> Marks:
    marks: Marks = {}
    for number, state, note, who, at, key, text, argv in connection.execute(
        """SELECT checklist_mark.id, state, note, who, checklist_mark.at, key, text, argv FROM checklist_mark
        JOIN checklist_step ON checklist_step.id = step_id JOIN checklist ON checklist.id = checklist_id
        WHERE session_id = ? AND name = ? ORDER BY checklist_mark.id""",
        (session, name),
    ):
        marks.setdefault((key, text, argv), []).append((number, Mark(StepState(state), who, at, note)))
    return marks


def _read_steps(connection: sqlite3.Connection, checklist: int, marks: Marks) -> Iterator[Checked]:
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


def read_attachment(connection: sqlite3.Connection, session: int, sha256: str) -> Evidence:
    """The bytes of an attachment of a session, by (the beginning of) its SHA-256; ConflictError for none or several."""
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
