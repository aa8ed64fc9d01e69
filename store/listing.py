"""Owns which sessions there are, how they stand, and which one a name means.

Light to import and quick to answer, for lists and completion. Refuses to read what was measured
(``store.reading``).
"""

import difflib
import re
import sqlite3
from pathlib import Path

from store import driving, rows
from store.database import Database
from store.errors import UnknownSessionError
from store.model import SessionState, SessionSummary, StoredSession

_LIST = "list them with: benchconsole sessions"
_LAST = re.compile(r"last(?:-(?P<back>[0-9]+))?")

_SUMMARIES = """
WITH latest AS (SELECT max(id) AS id FROM attempt WHERE ended IS NOT NULL GROUP BY round_id),
judged AS (SELECT max(id) AS id FROM judging GROUP BY attempt_id),
drive AS (SELECT max(id) AS id FROM driver GROUP BY session_id),
done AS (
    SELECT round.session_id, count(*) AS closed, sum(tested) AS tested, sum(failed) AS failed,
        sum(unreachable) AS unreachable, sum(skipped) AS skipped, sum(fails) AS fails,
        sum(watches) AS watches, sum(unknowns) AS unknowns, sum(passes) AS passes
    FROM latest JOIN attempt USING (id) JOIN round ON round.id = attempt.round_id
    LEFT JOIN judging ON judging.attempt_id = attempt.id AND judging.id IN (SELECT id FROM judged)
    GROUP BY round.session_id)
SELECT session.key, label, fabric, suite, simulated, started, rounds, tests,
    coalesce(closed, 0), coalesce(tested, 0), coalesce(failed, 0), coalesce(unreachable, 0),
    coalesce(skipped, 0), coalesce(fails, 0), coalesce(watches, 0), coalesce(unknowns, 0),
    coalesce(passes, 0),
    driver.id, host, pid, born, token, heartbeat, driver.ended, complete, because
FROM session LEFT JOIN done ON done.session_id = session.id
LEFT JOIN driver ON driver.session_id = session.id AND driver.id IN (SELECT id FROM drive)
ORDER BY session.id
"""


def sessions(database: Database, now: float) -> tuple[SessionSummary, ...]:
    """Every session, oldest first. ``now`` (UTC seconds) decides whose heartbeat is too old."""
    with database.reading() as connection:
        return tuple(_summary(row, now) for row in connection.execute(_SUMMARIES).fetchall())


def _summary(row: rows.Row, now: float) -> SessionSummary:
    key, label, fabric, suite, simulated, started, planned_rounds, planned, *counts = row[:17]
    closed, tested, failed, unreachable, skipped, fails, watches, unknowns, passes = counts
    drive = None if row[17] is None else driving.drive_of(row[17:])
    return SessionSummary(
        id=key,
        label=label,
        fabric=fabric,
        suite=suite,
        simulated=bool(simulated),
        started=started,
        ended=drive.ended if drive else None,
        state=drive.state(now) if drive else SessionState.INTERRUPTED,
        because=drive.because if drive else "",
        rounds=planned_rounds,
        rounds_closed=closed,
        planned=planned,
        tested=tested,
        failed=failed,
        unreachable=unreachable,
        skipped=skipped,
        fails=fails,
        watches=watches,
        unknowns=unknowns,
        passes=passes,
    )


def find(database: Database, name: str) -> str:
    """The id of the session that ``name`` means: ``last``, ``last-1``, an id, a label, the start of an id.

    UnknownSessionError when that is none or several.
    """
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
    for found in ([key for key, label in known if label == name], [key for key in keys if key.startswith(name)]):
        if name and len(found) == 1:
            return found[0]
        if name and found:
            raise UnknownSessionError(
                f"{name} names {len(found)} sessions ({', '.join(found[-5:])})",
                "name one by its id",
                database.path,
                found,
            )
    near = difflib.get_close_matches(name, [word for pair in known for word in pair if word], n=3)
    hint = f"did you mean {' or '.join(near)}? {_LIST}" if near else _LIST
    raise UnknownSessionError(f"no session is called {name!r}", hint, database.path, near)


def session(database: Database, key: str, now: float) -> StoredSession:
    """One session by its id; UnknownSessionError when there is none."""
    with database.reading() as connection:
        number = session_number(connection, key, database.path)
        row = connection.execute(
            """SELECT label, fabric, suite, selection, options, topology, topology_path, simulated, program, started,
                rounds, tests FROM session WHERE id = ?""",
            (number,),
        ).fetchone()
        drive = driving.last_drive(connection, number)
        return StoredSession(
            id=key,
            new=rows.session_of(row[:10]),
            state=drive.state(now) if drive else SessionState.INTERRUPTED,
            ended=drive.ended if drive else None,
            because=drive.because if drive else "",
            rounds=row[10],
            tests=row[11],
        )


def session_number(connection: sqlite3.Connection, key: str, path: Path) -> int:
    """The number of the session with this id; UnknownSessionError when there is none."""
    row = connection.execute("SELECT id FROM session WHERE key = ?", (key,)).fetchone()
    if row is None:
        raise UnknownSessionError(f"there is no session {key}", _LIST, path)
    return int(row[0])
