"""Owns how checklists are written and read: every version of one, every change of a step, every piece of evidence.

Nothing is updated or deleted. What was said of a step counts as long as the step says the same: with another text
or another command it is another step, and not done. Refuses to open connections for writing (``store.database``).
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence

from probes.checklist import (
    MOST_BYTES,
    Attachment,
    Checked,
    CheckedList,
    Checklist,
    Evidence,
    Mark,
    Step,
    StepState,
)
from store.database import Database
from store.errors import ConflictError, RefusedError
from store.inserting import flat, insert
from store.listing import session_number
from store.rows import Row
from store.values import dump, number, strings, text

_STEP = "checklist_step (checklist_id, key, text, clause, argv, seconds)"
_ATTACHMENT = "checklist_attachment (mark_id, name, sha256, content)"


# -- writing, inside a transaction


def keep(connection: sqlite3.Connection, session: int, checklist: Checklist, at: float) -> None:
    """Write a checklist, unless its newest version in this session is the same."""
    row = (text(checklist.name), text(checklist.source), text(checklist.file))
    newest = connection.execute(
        "SELECT name, source, file FROM checklist WHERE session_id = ? AND name = ? ORDER BY id DESC LIMIT 1",
        (session, row[0]),
    ).fetchone()
    if newest == row:
        return
    cursor = connection.execute(
        "INSERT INTO checklist (session_id, name, source, file, at) VALUES (?, ?, ?, ?, ?)",
        (session, *row, number(at, "the time of a checklist")),
    )
    insert(connection, _STEP, 6, flat((cursor.lastrowid, *_step_row(step)) for step in checklist.steps))


def mark(
    connection: sqlite3.Connection, session: int, name: str, step: str, said: Mark, evidence: Sequence[Evidence]
) -> None:
    """Write what was said of a step of the newest version of a checklist, with the evidence for it.

    ConflictError for a checklist or step that is not there, RefusedError for evidence that is too large.
    """
    row = connection.execute(
        """SELECT checklist_step.id FROM checklist_step WHERE key = ? AND checklist_id =
            (SELECT max(id) FROM checklist WHERE session_id = ? AND name = ?)""",
        (text(step), session, text(name)),
    ).fetchone()
    if row is None:
        raise ConflictError(f"the session has no step {step} of a checklist {name}", "keep the checklist first")
    for each in evidence:
        if len(each.content) > MOST_BYTES:
            found = f"{each.name} has {len(each.content):,} bytes"
            raise RefusedError(found, f"attach at most {MOST_BYTES:,}, or name in the note where it lies")
    cursor = connection.execute(
        "INSERT INTO checklist_mark (step_id, state, note, who, at) VALUES (?, ?, ?, ?, ?)",
        (row[0], said.state.value, text(said.note), text(said.by), number(said.at, "the time of a mark")),
    )
    insert(connection, _ATTACHMENT, 4, flat((cursor.lastrowid, *_attachment_row(each)) for each in evidence))


def _step_row(step: Step) -> Row:
    return (
        text(step.id),
        text(step.text),
        text(step.clause),
        dump(list(step.argv), "a command"),
        number(step.seconds, "the time of a command"),
    )


def _attachment_row(each: Evidence) -> Row:
    return text(each.name), hashlib.sha256(each.content).hexdigest(), each.content


# -- reading


def checklists(database: Database, key: str) -> tuple[CheckedList, ...]:
    """The checklists of a session as they stand, in the order in which they were first kept."""
    with database.reading() as connection:
        session = session_number(connection, key, database.path)
        found = connection.execute(
            """SELECT checklist.id, name, source FROM checklist JOIN
                (SELECT max(id) AS newest, min(id) AS first FROM checklist WHERE session_id = ? GROUP BY name)
            ON checklist.id = newest ORDER BY first""",
            (session,),
        ).fetchall()
        return tuple(
            CheckedList(name, source, tuple(_steps(connection, number, _marks(connection, session, name))))
            for number, name, source in found
        )


Marks = dict[tuple[str, str, str], list[tuple[int, Mark]]]
"""What was said, oldest first, by what a step has to say to be the same: its id, text and command."""


def _marks(connection: sqlite3.Connection, session: int, name: str) -> Marks:
    found: Marks = {}
    for number_, state, note, who, at, *step in connection.execute(
        """SELECT checklist_mark.id, state, note, who, checklist_mark.at, key, text, argv FROM checklist_mark
        JOIN checklist_step ON checklist_step.id = step_id JOIN checklist ON checklist.id = checklist_id
        WHERE session_id = ? AND name = ? ORDER BY checklist_mark.id""",
        (session, name),
    ):
        key, words, argv = step
        found.setdefault((key, words, argv), []).append((number_, Mark(StepState(state), who, at, note)))
    return found


def _steps(connection: sqlite3.Connection, checklist: int, marks: Marks) -> Iterator[Checked]:
    for key, words, clause, argv, seconds in connection.execute(
        "SELECT key, text, clause, argv, seconds FROM checklist_step WHERE checklist_id = ? ORDER BY id", (checklist,)
    ).fetchall():
        step = Step(key, words, clause, strings(argv) if argv != "[]" else (), seconds)
        said = marks.get((key, words, argv))
        if said is None:
            yield Checked(step)
            continue
        newest, mark_ = said[-1]
        attached = connection.execute(
            "SELECT name, length(content), sha256 FROM checklist_attachment WHERE mark_id = ? ORDER BY id", (newest,)
        )
        yield Checked(step, mark_, tuple(Attachment(*row) for row in attached), len(said) - 1)


def attachment(database: Database, key: str, sha256: str) -> Evidence:
    """The bytes of an attachment of a session, by (the beginning of) its SHA-256; ConflictError for none or several."""
    with database.reading() as connection:
        found = connection.execute(
            """SELECT DISTINCT sha256 FROM checklist_attachment JOIN checklist_mark ON checklist_mark.id = mark_id
            JOIN checklist_step ON checklist_step.id = step_id JOIN checklist ON checklist.id = checklist_id
            WHERE session_id = ? AND substr(sha256, 1, ?) = ?""",
            (session_number(connection, key, database.path), len(sha256), sha256.lower()),
        ).fetchall()
        if len(found) != 1 or not sha256:
            raise ConflictError(f"{len(found)} attachments begin with {sha256!r}", "name one by its SHA-256")
        row = connection.execute(
            "SELECT name, content FROM checklist_attachment WHERE sha256 = ? LIMIT 1", found[0]
        ).fetchone()
        return Evidence(row[0], bytes(row[1]))
