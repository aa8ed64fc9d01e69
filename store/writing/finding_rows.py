"""Writing the findings of a session; every function inside one transaction.

A finding is stored once as long as it does not change: a set names the findings that hold through one judgement.
"""

import json
import sqlite3
from collections.abc import Sequence

from benchconsole.probes.model.judgement import Finding
from benchconsole.store.codec.values import dump_document
from benchconsole.store.errors import RefusedError
from benchconsole.store.reading.session_reading import NEWEST_JUDGING
from benchconsole.store.writing.bulk_insert import insert_rows


def append_findings(connection: sqlite3.Connection, session: int, findings: Sequence[Finding]) -> None:
    """Write what is found over all judged rounds of a session, in this order; nothing where no round was judged.

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


def _read_numbers(connection: sqlite3.Connection, session: int) -> dict[str, int]:
    """The numbers of all findings of a session by their content."""
    return dict(connection.execute("SELECT content, id FROM finding WHERE session_id = ?", (session,)))
