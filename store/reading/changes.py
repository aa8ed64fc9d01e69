"""Following a session that another process runs: what is new since a mark, several times in a second.

One connection stays open, without lock or transaction: where nothing has changed, one pragma answers.
"""

import threading
from collections.abc import Callable, Sequence

from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.store.errors import LockedError
from benchconsole.store.files import ownership
from benchconsole.store.model import ChangeMark, OpenRound, SessionChanges
from benchconsole.store.reading import session_reading
from benchconsole.store.reading.session_list import find_number
from benchconsole.store.reading.session_reading import AttemptRow, SessionReader
from benchconsole.store.session_summary import SessionState
from benchconsole.store.sqlite import Connection
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric

BUSY_SECONDS = 0.25
"""So long a question waits for a lock; it is asked again anyway."""


class ChangeReader:
    """One connection for the changes of one session; may be asked from any thread, one at a time."""

    def __init__(self, reader: SessionReader, clock: Callable[[], float]) -> None:
        self._reader = reader
        self._database = reader.database
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._last: tuple[int, ChangeMark] | None = None
        self._planned: dict[int, Round] = {}
        self._driver: ownership.DriverRecord | None = None

    def read(self, fabric: Fabric, since: ChangeMark | None) -> SessionChanges:
        """The changes since a mark; see ``SessionStore.read_changes``."""
        with self._lock:
            if since is None:
                self._planned, self._driver, self._last = {}, None, None
                since = ChangeMark()
            self._database.require_in_place()
            try:
                with self._database.asking(self._open) as connection:
                    return self._read_new(connection, fabric, since)
            except LockedError:
                return self._add_state(SessionChanges(since, SessionState.INTERRUPTED, late=True))

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self._database.connect_reader(BUSY_SECONDS)
        return self._connection

    def _add_state(self, changes: SessionChanges) -> SessionChanges:
        """With the state of now: a driver may die without any change of the file."""
        driver = self._driver
        if driver is None:
            return changes
        return replace(changes, state=driver.state(self._clock()), because=driver.because, ended=driver.ended)

    def _read_new(self, connection: Connection, fabric: Fabric, since: ChangeMark) -> SessionChanges:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if self._last == (version, since):
            return self._add_state(SessionChanges(since, SessionState.INTERRUPTED))
        connection.execute("BEGIN")  # all answers of one moment
        try:
            changes = self._read_tables(connection, fabric, since)
        finally:
            connection.execute("ROLLBACK")
        self._last = (version, changes.mark)
        return changes

    def _read_tables(self, connection: Connection, fabric: Fabric, since: ChangeMark) -> SessionChanges:
        session = find_number(connection, self._reader.id, self._database.path)
        self._driver = ownership.read_driver(connection, session)
        known = max(self._planned, default=0)
        fresh = session_reading.read_plan_after(self._reader, connection, session, fabric, after=known)
        self._planned.update(fresh)
        planned = {number: each for number, each in fresh.items() if number > since.rounds}
        attempts = session_reading.list_attempts(connection, session)
        begun = tuple(
            OpenRound(self._planned[each.round_id], each.number, each.started)
            for each in attempts
            if each.id > since.attempts
        )
        closed, judged, judgings = self._read_closed(connection, session, since, attempts)
        results: dict[int, Result] = {}
        for each in attempts:
            if each.ended is None:
                planned_round = self._planned[each.round_id]
                results |= session_reading.read_results(
                    self._reader, connection, each, planned_round, after=since.results
                )
        notes = session_reading.read_notes_after(connection, session, since.notes)
        proof_sets, proofs = session_reading.read_proofs_after(connection, session, since.proofs)
        mark = ChangeMark(
            rounds=max(planned, default=since.rounds),
            attempts=attempts[-1].id if attempts else since.attempts,
            judgings=judgings,
            results=max(results, default=since.results),
            notes=max(notes, default=since.notes),
            proofs=proofs,
        )
        return self._add_state(
            SessionChanges(
                mark,
                SessionState.INTERRUPTED,
                planned=tuple(planned.values()),
                begun=begun,
                results=tuple(results[key] for key in sorted(results)),
                closed=closed,
                judged=judged,
                notes=tuple(notes.values()),
                proven=proof_sets,
            )
        )

    def _read_closed(
        self, connection: Connection, session: int, since: ChangeMark, attempts: Sequence[AttemptRow]
    ) -> tuple[tuple[ClosedRound, ...], bool, int]:
        """Rounds that were closed, whether others were judged again, and the number of the last judgement."""
        rows = connection.execute(
            """SELECT judging.id, attempt_id,
                EXISTS (SELECT 1 FROM judging AS other WHERE other.attempt_id = attempt.id AND other.id < judging.id)
            FROM judging JOIN attempt ON attempt.id = attempt_id JOIN round ON round.id = round_id
            WHERE session_id = ? AND judging.id > ? ORDER BY judging.id""",
            (session, since.judgings),
        ).fetchall()
        by_id = {each.id: each for each in attempts}
        closed = tuple(
            session_reading.read_round(self._reader, connection, by_id[attempt], self._planned)
            for _, attempt, again in rows
            if not again
        )
        return closed, any(again for *_, again in rows), rows[-1][0] if rows else since.judgings
