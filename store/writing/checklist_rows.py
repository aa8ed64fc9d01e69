"""Writing checklists: every version of one, every mark of a step, every piece of evidence.

Nothing is updated or deleted. Every function runs inside one transaction.
"""

import hashlib
import sqlite3
from collections.abc import Sequence

from benchconsole.probes.model.checklist import MOST_BYTES, Checklist, Evidence, Mark
from benchconsole.store.codec.values import dump_json, replace_surrogates, require_finite
from benchconsole.store.errors import ConflictError, RefusedError
from benchconsole.store.writing.bulk_insert import insert_rows


def append_checklist(connection: sqlite3.Connection, session: int, checklist: Checklist, at: float) -> None:
    """Write a checklist, unless its newest version in this session is the same."""
    row = tuple(map(replace_surrogates, (checklist.name, checklist.source, checklist.file)))
    newest = connection.execute(
        "SELECT name, source, file FROM checklist WHERE session_id = ? AND name = ? ORDER BY id DESC LIMIT 1",
        (session, row[0]),
    ).fetchone()
    if newest == row:
        return
    cursor = connection.execute(
        "INSERT INTO checklist (session_id, name, source, file, at) VALUES (?, ?, ?, ?, ?)",
        (session, *row, require_finite(at, "the time of a checklist")),
    )
    insert_rows(
        connection,
        "checklist_step",
        ("checklist_id", "key", "text", "clause", "argv", "seconds"),
        (
            (
                cursor.lastrowid,
                *map(replace_surrogates, (step.id, step.text, step.clause)),
                dump_json(list(step.argv), "a command"),
                require_finite(step.seconds, "the time of a command"),
            )
            for step in checklist.steps
        ),
    )


def append_mark(
    connection: sqlite3.Connection, session: int, name: str, step: str, mark: Mark, evidence: Sequence[Evidence]
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
    cursor = connection.execute(
        "INSERT INTO checklist_mark (step_id, state, note, who, at) VALUES (?, ?, ?, ?, ?)",
        (row[0], mark.state.value, note, who, require_finite(mark.at, "the time of a mark")),
    )
    insert_rows(
        connection,
        "checklist_attachment",
        ("mark_id", "name", "sha256", "content"),
        (
            (cursor.lastrowid, replace_surrogates(each.name), hashlib.sha256(each.content).hexdigest(), each.content)
            for each in evidence
        ),
    )
