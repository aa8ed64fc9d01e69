"""Owns following a session that somebody else runs: what is new since a mark, several times in a second.

It keeps one connection open but no lock and no transaction: asked when nothing has changed, it
answers from one pragma. Where somebody has locked the file it says so at once and tries again when
it is asked again. Refuses to write.
"""

import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from probes.model import Round
from store import driving, reading
from store.connection import connect
from store.database import Database
from store.errors import LockedError
from store.left import Place
from store.listing import session_number
from store.model import BegunRound, FreshResult, Mark, News, SessionState, StoredRound
from topology.model import Fabric

PATIENCE_SECONDS = 0.25
"""So long a question waits for others; whoever asks comes again."""


class Follower:
    """One connection for the news of sessions; may be asked from any thread, one at a time."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._door = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._session = ""
        self._last: tuple[int, Mark] | None = None
        self._planned: dict[int, Round] = {}
        self._drive: driving.Drive | None = None

    def news(self, session: str, fabric: Fabric, since: Mark | None) -> News:
        """What is new in a session since a mark; see ``Store.news``."""
        with self._door:
            if session != self._session or since is None:
                self._session, self._planned, self._drive, self._last = session, {}, None, None
                since = since or Mark(session)
            self._database.require_in_place()
            try:
                with self._database.asking(self._open) as connection:
                    return self._look(connection, fabric, since)
            except LockedError:
                return self._said(News(since, SessionState.INTERRUPTED, late=True))

    def close(self) -> None:
        """Let go of the file."""
        with self._door:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self._database.path, self._database.mode, busy=PATIENCE_SECONDS)
            self._connection.execute("PRAGMA query_only = ON")
        return self._connection

    def _said(self, news: News) -> News:
        """With the state of now: a driver may die without a word in the file."""
        drive = self._drive
        if drive is None:
            return news
        return replace(news, state=drive.state(self._clock()), because=drive.because, ended=drive.ended)

    def _look(self, connection: sqlite3.Connection, fabric: Fabric, since: Mark) -> News:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if self._last == (version, since):
            return self._said(News(since, SessionState.INTERRUPTED))
        connection.execute("BEGIN")  # all answers of one moment
        try:
            found = self._read(connection, fabric, since)
        finally:
            connection.execute("ROLLBACK")
        self._last = (version, found.mark)
        return found

    def _read(self, connection: sqlite3.Connection, fabric: Fabric, since: Mark) -> News:
        number = session_number(connection, since.session, self._database.path)
        self._drive = driving.last_drive(connection, number)
        fresh = reading.planned_since(
            connection, number, fabric, database=self._database, after=max(self._planned, default=0)
        )
        self._planned.update(fresh)
        planned = {each: found for each, found in fresh.items() if each > since.rounds}
        begun, attempts = self._begun(connection, number, since)
        closed, judged, judgings = self._closed(connection, number, since)
        results, last = self._results(connection, number, since)
        notes = reading.notes_since(connection, number, since.notes)
        proven, proofs = reading.proofs_since(connection, number, since.proofs)
        mark = replace(
            since,
            rounds=max(planned, default=since.rounds),
            attempts=attempts,
            judgings=judgings,
            results=last,
            notes=max(notes, default=since.notes),
            proofs=proofs,
        )
        return self._said(
            News(
                mark,
                SessionState.INTERRUPTED,
                planned=tuple(planned.values()),
                begun=begun,
                results=results,
                closed=closed,
                judged=judged,
                notes=tuple(notes.values()),
                proven=proven,
            )
        )

    def _begun(self, connection: sqlite3.Connection, session: int, since: Mark) -> tuple[tuple[BegunRound, ...], int]:
        """Attempts that were begun, and the number of the last one."""
        rows = connection.execute(
            """SELECT attempt.id, round_id, attempt.number, started FROM attempt JOIN round ON round.id = round_id
            WHERE session_id = ? AND attempt.id > ? ORDER BY attempt.id""",
            (session, since.attempts),
        ).fetchall()
        found = tuple(BegunRound(self._planned[each], count, at) for _, each, count, at in rows)
        return found, rows[-1][0] if rows else since.attempts

    def _closed(
        self, connection: sqlite3.Connection, session: int, since: Mark
    ) -> tuple[tuple[StoredRound, ...], bool, int]:
        """Rounds that were closed, whether others were judged again, and the number of the last judgement."""
        rows = connection.execute(
            """SELECT judging.id, attempt_id,
                EXISTS (SELECT 1 FROM judging AS other WHERE other.attempt_id = attempt.id AND other.id < judging.id)
            FROM judging JOIN attempt ON attempt.id = attempt_id JOIN round ON round.id = round_id
            WHERE session_id = ? AND judging.id > ? ORDER BY judging.id""",
            (session, since.judgings),
        ).fetchall()
        found = tuple(
            reading.stored_round(connection, attempt, self._planned, database=self._database, key=since.session)
            for _, attempt, again in rows
            if not again
        )
        return found, any(again for *_, again in rows), rows[-1][0] if rows else since.judgings

    def _results(
        self, connection: sqlite3.Connection, session: int, since: Mark
    ) -> tuple[tuple[FreshResult, ...], int]:
        """Results of rounds that are not closed, and the number of the last one."""
        running = connection.execute(
            """SELECT attempt.id, round_id, attempt.number FROM attempt JOIN round ON round.id = round_id
            WHERE session_id = ? AND ended IS NULL ORDER BY attempt.id""",
            (session,),
        ).fetchall()
        found: dict[int, FreshResult] = {}
        for attempt, round_id, count in running:
            planned = self._planned[round_id]
            tests = {test.id: test for test in planned.tests}
            placing = partial(Place, self._database, since.session, count)
            fresh = reading.results_of(connection, attempt, tests, placing, after=since.results)
            found.update({each: FreshResult(planned.number, count, result) for each, result in fresh.items()})
        return tuple(found[each] for each in sorted(found)), max(found, default=since.results)
