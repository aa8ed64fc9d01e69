"""Results of a full check of a database: damage of pages, rows that refer to nothing, outputs that were changed.

And how much each session holds of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice

from benchconsole.store.codec.rows import OutputRow
from benchconsole.store.files import file_check
from benchconsole.store.files.connection import translate_errors
from benchconsole.store.files.database import Database
from benchconsole.store.reading.lazy_parts import read_output

_MOST_DAMAGES = 20
"""Lines on pages that are told; the first ones say enough."""

_OF_SESSION = """FROM result JOIN attempt ON attempt.id = attempt_id JOIN round ON round.id = attempt.round_id
    JOIN session ON session.id = round.session_id"""

_OUTPUTS = f"""SELECT session.key, test.key, {", ".join(f"output.{name}" for name in OutputRow._fields)}
    {_OF_SESSION} JOIN test ON test.id = result.test_id JOIN output ON output.result_id = result.id"""

_CONTENT = {
    "output": "length(output.stdout) + length(output.stderr) + length(output.argv)",
    "measurement": "length(measurement.raw) + length(measurement.key)",
    "fact": "length(fact.name) + coalesce(length(fact.text), 8)",
}
"""Of the tables that fill a file: the bytes of one row that differ much from row to row."""
_ROW_BYTES = 60
"""Bytes of a row beside those, with its place in indexes."""


def find_damage(database: Database) -> Iterator[str]:
    """Sentences on all that is wrong with a file; every page and every output is read.

    A file that is whole, and that nobody touched meanwhile, is noted as read.
    """
    before, is_whole = file_check.look_at(database.path), True
    for words in _list_damages(database):
        is_whole = False
        yield words
    if is_whole and before is not None and file_check.look_at(database.path) == before:
        file_check.seal(database.path, database.clock())


def _list_damages(database: Database) -> Iterator[str]:
    with translate_errors(database.path), closing(database.connect_reader()) as connection:
        damages = connection.execute(f"PRAGMA integrity_check({_MOST_DAMAGES})").fetchall()
        if damages != [("ok",)]:
            # The contents of pages that contradict each other cannot be told row by row.
            yield from (" ".join(found.replace("*", "").split()) for (found,) in damages)
            return
        for table, row, parent, _ in islice(connection.execute("PRAGMA foreign_key_check"), _MOST_DAMAGES):
            yield f"row {row} of {table} refers to one of {parent} that is not there"
        for session, test, *row in connection.execute(_OUTPUTS):
            try:
                read_output(connection, OutputRow._make(row))
            except (ValueError, TypeError) as error:
                yield f"session {session}, test {test}: {error}"


def count_outputs(database: Database) -> tuple[int, int]:
    """How many outputs are stored, and how many of them by an older program, without a checksum."""
    with database.reading() as connection:
        (all_of_them, checked) = connection.execute("SELECT count(*), count(checksum) FROM output").fetchone()
    return all_of_them, all_of_them - checked


def measure_sessions(database: Database) -> Mapping[str, int]:
    """About how many bytes each session holds: contents and rows of the tables that fill a file. Reads it whole."""
    found: dict[str, int] = {}
    with database.reading() as connection:
        for table, content in _CONTENT.items():
            rows = connection.execute(f"""SELECT session.key, sum({content} + {_ROW_BYTES})
                {_OF_SESSION} JOIN {table} ON {table}.result_id = result.id GROUP BY session.id""")
            for key, size in rows:
                found[key] = found.get(key, 0) + int(size)
    return found
