"""Owns the face of this package: one object that writes (awaited) and reads (plain calls).

Awaited means committed: when ``append_round`` returns, the round is on the disk, and a round
that is not is not there by half. A write that was handed over is carried out even when
whoever waits for it is cancelled.
"""

import asyncio
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from probes.judging.verdict import Verdict
from probes.model import ClosedRound, Output, Round
from store import driving, listing, reading, writing
from store.connection import BUSY_SECONDS
from store.database import Database, Facts
from store.errors import StoreError
from store.model import NewSession, SessionSummary, StoredMeasurement, StoredRound, StoredSession
from store.process import this_process
from store.writer import Writer
from topology.model import Fabric

T = TypeVar("T")


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


class Store:
    """Sessions in one file. Open it with ``Store.open``, close it with ``close`` or a ``with`` block.

    Writing raises StoreError: ``read_only`` where the file cannot be written, DrivenError for a
    session that another process drives, FullError, LockedError, MissingError (the file was moved
    away), RefusedError (NaN and the like), ConflictError (stored already). After an error the
    file is as it was before the call.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._holder = driving.Holder(this_process(), secrets.token_hex(8))
        self._writer: Writer | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool = True,
        busy: float = BUSY_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> "Store":
        """Open the database at ``path``; see ``Database.open`` for what may be wrong with it.

        ``busy`` is how many seconds a write or a question waits for other processes; ``clock``
        gives UTC seconds.
        """
        return cls(Database.open(path, create=create, busy=busy, clock=clock), clock=clock)

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    @property
    def read_only(self) -> StoreError | None:
        """Why nothing can be written here; None when it can."""
        return self._database.read_only

    @property
    def facts(self) -> Facts:
        """Library, shape, file system and journal, for ``doctor``."""
        return self._database.facts

    @property
    def backup(self) -> Path | None:
        """The copy that was made before this opening upgraded the file."""
        return self._database.backup

    # -- writing

    async def create_session(self, new: NewSession, plan: Sequence[Round]) -> str:
        """Write a session with its plan, drive it from here on, and return its id (8 hex digits)."""
        key = secrets.token_hex(4)

        def work(connection: sqlite3.Connection) -> str:
            session = writing.create_session(connection, key, new, plan)
            driving.take(connection, session, self._holder, self._clock())
            return key

        return await self._write(work)

    async def extend_plan(self, session: str, plan: Sequence[Round]) -> None:
        """Add further rounds to a session that is driven here, before any of them runs."""

        def work(connection: sqlite3.Connection) -> None:
            number = listing.session_number(connection, session, self.path)
            driving.require(connection, number, self._holder, self._clock())
            writing.extend_plan(connection, number, plan)

        await self._write(work)

    async def append_round(
        self, session: str, closed: ClosedRound, verdicts: Sequence[Verdict], *, attempt: int = 1, judged_by: str
    ) -> None:
        """Write a closed round, all that was seen in it and its verdicts, in one transaction.

        ``attempt`` counts from 1 and must be higher than any stored one of this round;
        ``judged_by`` names the criteria and program that judged.
        """

        def work(connection: sqlite3.Connection) -> None:
            number = listing.session_number(connection, session, self.path)
            driving.require(connection, number, self._holder, self._clock())
            stored = writing.append_round(connection, number, closed, attempt=attempt)
            writing.append_verdicts(connection, stored, verdicts, judged_by=judged_by, at=self._clock())

        await self._write(work)

    async def append_verdicts(
        self, session: str, verdicts: Mapping[tuple[int, int], Sequence[Verdict]], *, judged_by: str
    ) -> None:
        """Write a new judgement of stored rounds, in one transaction; from now on it counts.

        ``verdicts`` is keyed by (round, attempt). It needs no claim. ConflictError when
        ``judged_by`` has judged one of them before, or one of them is not stored.
        """

        def work(connection: sqlite3.Connection) -> None:
            number = listing.session_number(connection, session, self.path)
            at = self._clock()
            for (round_number, attempt), found in verdicts.items():
                stored = writing.attempt_number(connection, number, round_number, attempt)
                writing.append_verdicts(connection, stored, found, judged_by=judged_by, at=at)

        await self._write(work)

    async def end_session(self, session: str, *, at: float, complete: bool, because: str = "") -> None:
        """Note that nothing more will come, and let go of the session. ``at`` is UTC seconds."""

        def work(connection: sqlite3.Connection) -> None:
            number = listing.session_number(connection, session, self.path)
            driving.give_up(connection, number, self._holder, at=at, complete=complete, because=because)

        await self._write(work)

    async def claim(self, session: str) -> None:
        """Drive a session from here on: take it up again after its end, or take it over from the dead.

        DrivenError while another live process drives it. Claiming what is driven here changes nothing.
        """

        def work(connection: sqlite3.Connection) -> None:
            driving.take(
                connection, listing.session_number(connection, session, self.path), self._holder, self._clock()
            )

        await self._write(work)

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        # Whoever waits may be cancelled, and the loop may even be gone when the answer comes; the
        # work itself is not, so that no round is left out because somebody stopped waiting.
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        done = self._started().submit(work)

        def told(_: object) -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_wake, waiter)

        done.add_done_callback(told)
        await waiter
        return done.result()

    def _started(self) -> Writer:
        """The writer; its thread starts with the first write, so that looking costs none."""
        if self.read_only is not None:
            raise self.read_only
        if self._writer is None:
            self._writer = Writer(
                self._database,
                beat=lambda connection: driving.beat(connection, self._holder, self._clock()),
                pause=driving.HEARTBEAT_SECONDS,
            )
        return self._writer

    # -- reading

    def sessions(self) -> tuple[SessionSummary, ...]:
        """Every session, oldest first."""
        return listing.sessions(self._database, self._clock())

    def find(self, name: str) -> str:
        """The id of the session that ``name`` means: ``last``, ``last-1``, an id, a label, the start of an id.

        UnknownSessionError when that is none or several.
        """
        return listing.find(self._database, name)

    def session(self, session: str) -> StoredSession:
        """One session by its id; UnknownSessionError when there is none."""
        return listing.session(self._database, session, self._clock())

    def plan(self, session: str, fabric: Fabric) -> tuple[Round, ...]:
        """Its rounds as planned, on the nodes of ``fabric``; ConflictError when that lacks one."""
        return reading.plan(self._database, session, fabric)

    def rounds(self, session: str, fabric: Fabric, *, outputs: bool = True) -> Iterator[StoredRound]:
        """Its closed rounds, every attempt, in the order in which they were stored.

        Without ``outputs`` results come without what the commands said, which is most of the bytes.
        """
        return reading.rounds(self._database, session, fabric, outputs=outputs)

    def closed_rounds(self, session: str) -> frozenset[tuple[int, int]]:
        """(round, attempt) of everything that was closed and stored."""
        return reading.closed_rounds(self._database, session)

    def complete_rounds(self, session: str) -> frozenset[int]:
        """Rounds in whose last attempt all answered: a resume need not run them again."""
        return reading.complete_rounds(self._database, session)

    def outputs(self, session: str, test: str, *, attempt: int | None = None) -> tuple[Output, ...]:
        """What the commands of one test said, in the last attempt unless another is named."""
        return reading.outputs(self._database, session, test, attempt=attempt)

    def measurements(self, session: str) -> Iterator[StoredMeasurement]:
        """Every number of a session in the order in which it was stored, every attempt."""
        return reading.measurements(self._database, session)

    def export(self, target: Path) -> None:
        """Write a whole copy of the database to ``target``, mode 0600, while it may be in use.

        StoreError when something is there already.
        """
        self._database.copy(target)

    # -- closing

    def close(self) -> None:
        """Finish every write that was handed over and let go of the sessions driven here. Twice is once."""
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        leaving = writer.submit(lambda connection: driving.leave(connection, self._holder, self._clock()))
        writer.close()
        leaving.exception()  # a session that cannot be let go of shows as interrupted once this process ends

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
