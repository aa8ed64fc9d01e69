"""The list of sessions, their states, and the session that a name means.

Light to import and quick to answer, for lists and completion.
"""

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchconsole.store.codec.values import parse_strings
from benchconsole.store.errors import UnknownSessionError
from benchconsole.store.files import ownership
from benchconsole.store.files.database import Database
from benchconsole.store.schema.tables import BASIS
from benchconsole.store.session_summary import Baseline, SessionCounts, SessionState, SessionSummary, StoredVerdict
from benchconsole.store.sqlite import Connection

_LIST = "list them with: benchconsole sessions"
_LAST = re.compile(r"last(?:-(?P<back>[0-9]+))?")

_SUMMARIES = f"""
WITH latest AS (SELECT max(id) AS id FROM attempt WHERE ended IS NOT NULL GROUP BY round_id),
drive AS (SELECT max(id) AS id FROM driver GROUP BY session_id),
done AS (
    SELECT round.session_id, count(*) AS closed, sum(tested) AS tested, sum(failed) AS failed,
        sum(unreachable) AS unreachable, sum(skipped) AS skipped
    FROM latest JOIN attempt USING (id) JOIN round ON round.id = attempt.round_id
    GROUP BY round.session_id)
SELECT session.key, label, fabric, suite, simulated, started, rounds, coalesce(closed, 0), tests,
    coalesce(done.tested, 0), coalesce(done.failed, 0), coalesce(done.unreachable, 0), coalesce(done.skipped, 0),
    rules, outcome, sentence, missing, {", ".join(f"session_verdict.{name}" for name in SessionCounts._fields)},
    driver.id, host, pid, born, token, heartbeat, driver.ended, complete, because,
    session.id IS (SELECT session_id FROM baseline WHERE baseline.fabric = session.fabric ORDER BY id DESC LIMIT 1)
FROM session LEFT JOIN done ON done.session_id = session.id
LEFT JOIN driver ON driver.session_id = session.id AND driver.id IN (SELECT id FROM drive)
LEFT JOIN session_verdict ON session_verdict.id = (SELECT max(id) FROM session_verdict AS other
    WHERE other.session_id = session.id) AND basis = {BASIS}
ORDER BY session.id
"""  # noqa: S608 - an expression of ours
_COLUMNS = (
    *("id", "label", "fabric", "suite", "simulated", "started", "rounds", "rounds_closed", "planned"),
    *("tested", "failed", "unreachable", "skipped"),
)
"""The fields of ``SessionSummary`` that ``_SUMMARIES`` begins with, before those of the verdict and of the driver."""
_OF_VERDICT = 4 + len(SessionCounts._fields)


def list_sessions(database: Database, now: float) -> tuple[SessionSummary, ...]:
    """Every session, oldest first. ``now`` (UTC seconds) decides whose heartbeat is too old."""
    with database.reading() as connection:
        return tuple(_make_summary(row, now) for row in connection.execute(_SUMMARIES).fetchall())


def _make_summary(row: tuple[Any, ...], now: float) -> SessionSummary:
    fields = dict(zip(_COLUMNS, row, strict=False))
    rest = row[len(_COLUMNS) : -1]
    verdict, driver_row = rest[:_OF_VERDICT], rest[_OF_VERDICT:]
    driver = None if driver_row[0] is None else ownership.parse_driver(driver_row)
    said = None if verdict[0] is None else _make_verdict(*verdict)
    counts = said.counts._asdict() if said is not None and said.counts is not None else {}
    return SessionSummary(
        **fields | {"simulated": bool(fields["simulated"])} | counts,
        ended=driver.ended if driver else None,
        state=driver.state(now) if driver else SessionState.INTERRUPTED,
        because=driver.because if driver else "",
        verdict=said,
        is_baseline=bool(row[-1]),
    )


def _make_verdict(rules: int, outcome: str, sentence: str, missing: str, *counts: int | None) -> StoredVerdict:
    known = [number for number in counts if number is not None]
    counted = SessionCounts(*known) if len(known) == len(counts) else None
    return StoredVerdict(rules, outcome, sentence, parse_strings(missing), counted)


_NODES = """SELECT key, count(*) FROM (
    SELECT session_id, node FROM test UNION SELECT session_id, peer FROM test WHERE peer IS NOT NULL
    UNION SELECT session_id, value FROM test, json_each(members) WHERE members != '[]')
JOIN session ON session.id = session_id GROUP BY session_id"""


def count_nodes(database: Database) -> dict[str, int]:
    """How many nodes the tests of each session are of, by its id. Reads every plan."""
    with database.reading() as connection:
        return {key: int(number) for key, number in connection.execute(_NODES)}


def find_baseline(database: Database, fabric: str, before: float | None = None) -> Baseline | None:
    """The session that those of ``fabric`` are held against; None where none is named, or the last was dropped.

    For a session that began at ``before`` (UTC seconds) it is the one named last of those that began earlier, and what
    was dropped after its beginning still holds: naming another one later takes no session's baseline away.
    """
    with database.reading() as connection:
        rows = connection.execute(
            """SELECT key, who, at, started FROM baseline LEFT JOIN session ON session.id = session_id
            WHERE baseline.fabric = ? ORDER BY baseline.id DESC""",
            (fabric,),
        ).fetchall()
    for key, who, at, started in rows:
        begun = at if key is None else started
        if before is None or begun < before:
            return None if key is None else Baseline(key, who, at)
    return None


def find_session(database: Database, name: str) -> str:
    """The id that ``name`` means (``last``, ``last-1``, an id or its start, a label), or UnknownSessionError."""
    with database.reading() as connection:
        known: list[tuple[str, str]] = connection.execute("SELECT key, label FROM session ORDER BY id").fetchall()
    keys = [key for key, _ in known]
    match = _LAST.fullmatch(name)
    if match is not None:
        back = int(match["back"] or 0)
        if back >= len(keys):
            raise UnknownSessionError(f"{name}: there are {len(keys)} sessions", _LIST, database.path)
        return keys[-1 - back]
    if name in keys:
        return name
    for matches in ([key for key, label in known if label == name], [key for key in keys if key.startswith(name)]):
        if name and len(matches) == 1:
            return matches[0]
        if name and matches:
            raise UnknownSessionError(
                f"{name} names {len(matches)} sessions ({', '.join(matches[-5:])})",
                "name one by its id",
                database.path,
                matches,
            )
    near = difflib.get_close_matches(name, [word for pair in known for word in pair if word], n=3)
    hint = f"did you mean {' or '.join(near)}? {_LIST}" if near else _LIST
    raise UnknownSessionError(f"no session is called {name!r}", hint, database.path, near)


@contextmanager
def asking_session(database: Database, key: str) -> Iterator[tuple[Connection, int]]:
    """``Database.reading`` with the number of the session with this id; UnknownSessionError when there is none."""
    with database.reading() as connection:
        yield connection, find_number(connection, key, database.path)


def find_number(connection: Connection, key: str, path: Path) -> int:
    """The number of the session with this id; UnknownSessionError when there is none."""
    row = connection.execute("SELECT id FROM session WHERE key = ?", (key,)).fetchone()
    if row is None:
        raise UnknownSessionError(f"there is no session {key}", _LIST, path)
    return int(row[0])
