"""The face of this package: one object for a database file, with the list of its sessions.

Writing is awaited, and awaited means committed. Results that are on their way together share a transaction, and each
one fails or stands alone. A write that was handed over is carried out even when its caller is cancelled.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.remark import Remark
from benchconsole.store.errors import ConflictError, StoreError
from benchconsole.store.files import ownership
from benchconsole.store.files.connection import BUSY_SECONDS
from benchconsole.store.files.database import Database
from benchconsole.store.model import NewSession, SpoolImport
from benchconsole.store.reading import session_list
from benchconsole.store.session_store import SessionStore
from benchconsole.store.session_summary import Baseline, SessionSummary, StoredVerdict
from benchconsole.store.spool import spool_import
from benchconsole.store.spool.spool_file import Spool, list_waiting_sessions
from benchconsole.store.writing import removal, session_rows
from benchconsole.store.writing.write_cache import WriteCache
from benchconsole.store.writing.write_queue import FunctionJob
from benchconsole.store.writing.writer import Writer


class Store:
    """Sessions in one file. Open it with ``Store.open``, close it with ``close`` or a ``with`` block.

    Writing raises StoreError. Where ``error.to_spool`` the database refuses as a whole (full, locked, moved away,
    read-only, damaged): keep finished results in a spool, and import it when the database answers again. Else the
    written values are at fault: DrivenError for a session that another process drives, RefusedError (NaN and the like),
    ConflictError (stored already). After an error the file is as it was before the call.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self.database = database
        self.path = database.path
        self.facts = database.facts
        self.read_only = database.read_only
        """Why nothing can be written here; None when it can."""
        self._clock = clock
        self._holder = ownership.make_holder(secrets.token_hex(8))
        self._sessions: dict[str, SessionStore] = {}
        self.on_trouble: Callable[[StoreError | None], None] = lambda _: None
        """Called in the writer's thread when the file has left its place, also while idle; with None: it is back."""
        self._writer = Writer(
            database,
            lambda connection: WriteCache(connection, self.path, self._holder, clock),
            beat=lambda cache: ownership.beat(cache.connection, self._holder, clock()),
            pause=ownership.HEARTBEAT_SECONDS,
            alarm=lambda error: self.on_trouble(error),  # noqa: PLW0108 - others replace it later
        )

    @classmethod
    def open(
        cls, path: Path, *, create: bool = True, busy: float = BUSY_SECONDS, clock: Callable[[], float] = time.time
    ) -> "Store":
        """Open the database at ``path``; see ``Database.open`` for what may be wrong with it.

        ``busy`` is how many seconds a write or a question waits for other processes; ``clock`` gives UTC seconds.
        """
        return cls(Database.open(path, create=create, busy=busy, clock=clock), clock=clock)

    def list_sessions(self) -> tuple[SessionSummary, ...]:
        return session_list.list_sessions(self.database, self._clock())

    def find_session(self, name: str) -> str:
        """The id of the session that ``name`` means, as ``session_list.find_session`` says."""
        return session_list.find_session(self.database, name)

    def session(self, id: str) -> SessionStore:
        """The session with this id, to write to it and to read it; the same object every time."""
        session = self._sessions.get(id)
        if session is None:
            session = SessionStore(id, self.database, self._writer, token=self._holder.token, clock=self._clock)
            self._sessions[id] = session
        return session

    async def create_session(self, new: NewSession, plan: Sequence[Round]) -> str:
        """Write a session with its plan, drive it from here on, and return its id (8 hex digits)."""
        id = secrets.token_hex(4)

        def create(cache: WriteCache) -> None:
            session = session_rows.create_session(cache.connection, id, new, plan)
            ownership.claim(cache.connection, session, self._holder, self._clock())

        await self._writer.run(create)
        return id

    async def append_verdict(self, id: str, verdict: StoredVerdict) -> None:
        """Write the verdict on a whole session as it stands; it holds until something else is stored. No claim."""
        await self._writer.run(
            lambda cache: session_rows.append_session_verdict(cache.connection, cache.find_session(id), verdict)
        )

    async def keep_report(self, id: str, name: str, basis: str, text: str) -> None:
        """Keep a report with a session, made of it as it stood at ``basis`` (``read_report_basis``). No claim."""
        await self._writer.run(
            lambda cache: session_rows.keep_report(cache.connection, cache.find_session(id), name, basis, text)
        )

    async def change_label(self, id: str, label: str, by: str, at: float) -> None:
        """Give a session another label; a note keeps the one that it had. No claim.

        RefusedError for a label that means something else (``last``, ``last-1``).
        """
        await self._writer.run(
            lambda cache: session_rows.change_label(cache.connection, cache.find_session(id), label, by, at)
        )

    async def append_remark(self, id: str, remark: Remark) -> int:
        """Write what somebody says of a session or of a part of it; its number. No claim.

        ConflictError for a withdrawal of a remark that does not stand, and for a finding that is accepted already.
        """
        return await self._writer.run(
            lambda cache: session_rows.append_remark(cache.connection, cache.find_session(id), remark)
        )

    async def name_baseline(self, id: str, by: str, at: float) -> None:
        """Later sessions of the same fabric are held against this one from now on."""
        fabric = self.session(id).describe().new.fabric
        await self._writer.run(
            lambda cache: session_rows.append_baseline(cache.connection, fabric, cache.find_session(id), by, at)
        )

    async def drop_baseline(self, fabric: str, by: str, at: float) -> None:
        """Sessions of ``fabric`` are held against none from now on."""
        await self._writer.run(lambda cache: session_rows.append_baseline(cache.connection, fabric, None, by, at))

    def find_baseline(self, fabric: str) -> Baseline | None:
        """The session that those of ``fabric`` are held against; None where none is named."""
        return session_list.find_baseline(self.database, fabric)

    def require_removable(self, id: str) -> None:
        """Check that ``remove_session`` would take this session; raises as that does."""
        self._require_no_spool(id)
        with session_list.asking_session(self.database, id) as (connection, number):
            removal.require_removable(connection, number, self._clock())

    def remove_session(self, id: str) -> None:
        """Delete a session with all that hangs on it; its room is free for others until ``vacuum`` gives it back.

        DrivenError for one that runs, ConflictError for one that is or was a baseline or whose results wait in a
        spool, UnknownSessionError.
        """
        self._require_no_spool(id)
        with self.database.writing() as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            with self.database.transaction(connection):
                number = session_list.find_number(connection, id, self.path)
                removal.require_removable(connection, number, self._clock())
                removal.remove_session(connection, number)
        self._sessions.pop(id, None)

    def _require_no_spool(self, id: str) -> None:
        """ConflictError where results of this session wait in a spool: they could not be brought back any more."""
        if id in list_waiting_sessions(self.path):
            raise ConflictError(
                "results of the session wait in a spool; benchconsole import-spool brings them back", "do that first"
            )

    async def import_spool(self, spool: Spool | Path) -> SpoolImport:
        """Bring back everything that a spool keeps, each record once; its files go when everything is committed.

        See ``spool_import``. SpoolError when it is no spool, or another console writes to it.
        """
        if isinstance(spool, Spool):
            return await spool_import.import_spool(spool, self._writer.run)
        return await spool_import.import_spool_file(spool, self._writer.run)

    def close(self) -> None:
        """Finish every write that was handed over and let go of the sessions driven here. Twice is once."""
        for session in self._sessions.values():
            session.changes.close()
        self.database.close_readers()
        # A session that cannot be let go of shows as interrupted once this process ends.
        self._writer.close(
            FunctionJob(lambda cache: ownership.release_all(cache.connection, self._holder, self._clock()), last=True)
        )

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
