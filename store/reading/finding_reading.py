"""Reading the findings of a session, where they hold through its newest judgement."""

import json

from benchconsole.probes.model.judgement import Finding
from benchconsole.store.codec.values import parse_document
from benchconsole.store.files.database import Database
from benchconsole.store.reading.session_list import find_number

NEWEST_JUDGING = """SELECT max(judging.id) FROM judging JOIN attempt ON attempt.id = attempt_id
    JOIN round ON round.id = round_id WHERE session_id = ?"""


def read_findings(database: Database, key: str) -> tuple[Finding, ...] | None:
    """The stored findings in their order; None where a round was judged since they were stored."""
    with database.reading() as connection:
        session = find_number(connection, key, database.path)
        newest = connection.execute(NEWEST_JUDGING, (session,)).fetchone()
        row = connection.execute("SELECT findings FROM finding_set WHERE judging_id = ?", newest).fetchone()
        if row is None:
            return None
        contents = dict(connection.execute("SELECT id, content FROM finding WHERE session_id = ?", (session,)))
        return tuple(parse_document(Finding, contents[number]) for number in json.loads(row[0]))
