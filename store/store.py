"""Owns the face of this package: one object that writes (awaited) and reads (plain calls).

Awaited means committed: when ``append_result`` returns, the result is on the disk. Results that are
on their way together share a transaction, and each one fails or stands alone. A write that was
handed over is carried out even when whoever waits for it is cancelled.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from probes.checklist import CheckedList, Checklist, Evidence
from probes.checklist import Mark as Said
from probes.judging.verdict import Verdict
from probes.model import ClosedRound, Output, Proof, Result, Round
from store import absorbing, checklists, driving, left, listing, newest, outcomes, reading, rounds, writing
from store.connection import BUSY_SECONDS
from store.database import Database, Facts
from store.errors import StoreError
from store.following import Follower
from store.ledger import Ledger
from store.left import LeftFacts, LeftOutputs, Place
from store.model import (
    Absorbed,
    Mark,
    Newest,
    News,
    NewSession,
    Note,
    OpenRound,
    Outcome,
    Proven,
    SessionSummary,
    StoredMeasurement,
    StoredRound,
    StoredSession,
)
from store.pieces import Parting, Piece, Work
from store.process import this_process
from store.spool import Spool
from store.writer import Writer
from topology.model import Fabric

T = TypeVar("T")


class Store:
    """Sessions in one file. Open it with ``Store.open``, close it with ``close`` or a ``with`` block.

    Writing raises StoreError. Where ``error.to_spool`` the database refuses as a whole (full,
    locked, moved away, read-only, damaged): keep what is finished in a spool, and absorb it when the
    database answers again. Else what was to be written is at fault: DrivenError for a session that
    another process drives, RefusedError (NaN and the like), ConflictError (stored already). After
    an error the file is as it was before the call.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._holder = driving.Holder(this_process(), secrets.token_hex(8))
        self._writer: Writer | None = None
        self.on_trouble: Callable[[StoreError | None], None] = lambda _: None
        """Called in the writer's thread when the file has left its place, also while idle; with None: it is back."""

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

        def work(ledger: Ledger) -> str:
            session = writing.create_session(ledger.connection, key, new, plan)
            driving.take(ledger.connection, session, self._holder, self._clock())
            return key

        return await self._do(work)

    async def extend_plan(self, session: str, plan: Sequence[Round]) -> None:
        """Add further rounds to a session that is driven here, before any of them runs."""
        await self._do(lambda ledger: writing.extend_plan(ledger.connection, ledger.driven(session), plan))

    async def begin_round(self, session: str, number: int, *, at: float) -> int:
        """Note that a planned round begins at ``at`` (UTC seconds); the number of this attempt at it.

        What an earlier attempt left open is given up with it. ConflictError for a round that is not planned.
        """
        return await self._do(lambda ledger: rounds.begin_round(ledger, ledger.driven(session), number, at=at))

    async def append_result(self, session: str, number: int, attempt: int, result: Result) -> Result:
        """Write one result of an attempt that runs; returns when it is committed, with its outputs left in the file.

        What its node told is at hand until ``close_round``, and in the file from then on. ConflictError when it is
        stored already, or the attempt was not begun, is closed, or was given up.
        """
        await self._started().do(rounds.Finished(session, number, attempt, result))
        place = Place(self._database, session, attempt, result.test.id)
        outputs = LeftOutputs(place, len(result.outputs), result.ran)
        facts = LeftFacts(place, len(result.facts), result.facts) if result.facts else ()
        return replace(result, outputs=outputs, facts=facts)

    async def close_round(
        self, session: str, closed: ClosedRound, verdicts: Sequence[Verdict], *, attempt: int, judged_by: str
    ) -> None:
        """Write what is not stored yet of a round that was begun, its end and its verdicts, in one transaction.

        ``judged_by`` names the criteria and program that judged. ConflictError when it is not the
        round of the plan, or ``attempt`` cannot be closed.
        """
        await self._do(lambda ledger: self._close(ledger, session, closed, verdicts, attempt, judged_by))
        for result in closed.results:
            if isinstance(result.facts, LeftFacts):
                result.facts.let_go()

    async def append_round(
        self, session: str, closed: ClosedRound, verdicts: Sequence[Verdict], *, attempt: int = 1, judged_by: str
    ) -> None:
        """Begin, fill and close a round in one transaction; ``attempt`` must be higher than any stored one of it."""

        def work(ledger: Ledger) -> None:
            number = ledger.driven(session)
            rounds.begin_round(ledger, number, closed.round.number, at=closed.started, attempt=attempt)
            self._close(ledger, session, closed, verdicts, attempt, judged_by)

        await self._do(work)

    def _close(
        self,
        ledger: Ledger,
        session: str,
        closed: ClosedRound,
        verdicts: Sequence[Verdict],
        attempt: int,
        judged_by: str,
    ) -> None:
        number = ledger.driven(session)
        stored = rounds.close_round(ledger, number, closed, attempt=attempt)
        writing.append_verdicts(ledger, number, stored, verdicts, judged_by=judged_by, at=self._clock())

    async def append_verdicts(
        self, session: str, verdicts: Mapping[tuple[int, int], Sequence[Verdict]], *, judged_by: str
    ) -> None:
        """Write a new judgement of stored rounds, in one transaction; from now on it counts.

        ``verdicts`` is keyed by (round, attempt). It needs no claim. ConflictError when
        ``judged_by`` has judged one of them before, or one of them is not stored.
        """

        def work(ledger: Ledger) -> None:
            number = ledger.session(session)
            at = self._clock()
            for (round_number, attempt), found in verdicts.items():
                stored = writing.attempt_number(ledger.connection, number, round_number, attempt)
                writing.append_verdicts(ledger, number, stored, found, judged_by=judged_by, at=at)
            newest.compute_again(ledger, number)

        await self._do(work)

    async def note(self, session: str, kind: str, text: str, at: float) -> None:
        """Record what was decided or happened while a session that is driven here runs."""
        await self._do(lambda ledger: writing.note(ledger.connection, ledger.driven(session), kind, text, at))

    async def remark(self, session: str, kind: str, text: str, at: float) -> None:
        """Record what somebody decided of a session, also afterwards or while another process drives it: no claim."""
        await self._do(lambda ledger: writing.note(ledger.connection, ledger.session(session), kind, text, at))

    async def keep_checklist(self, session: str, checklist: Checklist, at: float) -> None:
        """Write a checklist, unless its newest version in this session is the same. It needs no claim."""
        await self._do(lambda ledger: checklists.keep(ledger.connection, ledger.session(session), checklist, at))

    async def mark_step(
        self, session: str, name: str, step: str, said: Said, evidence: Sequence[Evidence] = ()
    ) -> None:
        """Write what was said of a step of the checklist ``name``, with its evidence. It needs no claim.

        ConflictError for a step that is not there, RefusedError for evidence that is too large.
        """
        await self._do(
            lambda ledger: checklists.mark(ledger.connection, ledger.session(session), name, step, said, evidence)
        )

    async def append_proofs(self, session: str, proofs: Sequence[Proof], at: float) -> None:
        """Record what the nodes showed of ours when a run was over. It needs no claim."""
        await self._do(lambda ledger: writing.append_proofs(ledger.connection, ledger.session(session), proofs, at))

    async def end_session(self, session: str, *, at: float, complete: bool, because: str = "") -> None:
        """Note that nothing more will come, and let go of the session. ``at`` is UTC seconds."""
        await self._do(lambda ledger: ledger.give_up(session, at=at, complete=complete, because=because))

    async def claim(self, session: str) -> None:
        """Drive a session from here on: take it up again after its end, or take it over from the dead.

        DrivenError while another live process drives it. Claiming what is driven here changes nothing.
        """
        await self._do(lambda ledger: ledger.take(session))

    def open_spool(self) -> Spool:
        """A file that keeps what this store refuses for now; SpoolError when there is no place for one."""
        spool = Spool(self.path, self._holder.token, clock=self._clock)
        spool.open()
        return spool

    async def absorb(self, spool: Spool | Path) -> Absorbed:
        """Bring back what a spool kept, each record once; its files go when everything is committed.

        See ``absorbing.absorb``. SpoolError when it is no spool, or another console writes to it.
        """
        if isinstance(spool, Spool):
            return await absorbing.absorb(spool, self._do)
        return await absorbing.absorb_file(spool, self._do)

    async def answers(self) -> None:
        """Make one empty transaction: returns when the database takes writes again, StoreError while it does not."""
        await self._do(lambda _: None)

    async def _do(self, function: Callable[[Ledger], T]) -> T:
        piece: Piece[T] = Work(function)
        return await self._started().do(piece)

    def _trouble(self, error: StoreError | None) -> None:
        self.on_trouble(error)

    def _started(self) -> Writer:
        """The writer; its thread starts with the first write, so that looking costs none."""
        if self.read_only is not None:
            raise self.read_only
        if self._writer is None:
            self._writer = Writer(
                self._database,
                lambda connection: Ledger(connection, self.path, self._holder, self._clock),
                beat=lambda ledger: driving.beat(ledger.connection, self._holder, self._clock()),
                pause=driving.HEARTBEAT_SECONDS,
                alarm=self._trouble,
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

    def rounds(self, session: str, fabric: Fabric) -> Iterator[StoredRound]:
        """Its closed rounds, every attempt, in the order in which they were stored.

        What the commands said is most of the bytes; it is read from the file when it is looked at.
        """
        return reading.rounds(self._database, session, fabric)

    def closed_rounds(self, session: str) -> frozenset[tuple[int, int]]:
        """(round, attempt) of everything that was closed and stored."""
        return reading.closed_rounds(self._database, session)

    def complete_rounds(self, session: str) -> frozenset[int]:
        """Rounds in whose last attempt all answered: a resume need not run them again."""
        return reading.complete_rounds(self._database, session)

    def open_rounds(self, session: str, fabric: Fabric) -> tuple[OpenRound, ...]:
        """Rounds whose last attempt was begun and never closed, with the results that are stored of it."""
        return reading.open_rounds(self._database, session, fabric)

    def notes(self, session: str) -> tuple[Note, ...]:
        """What was decided or happened while it ran, in order."""
        return reading.notes(self._database, session)

    def checklists(self, session: str) -> tuple[CheckedList, ...]:
        """Its checklists as they stand, in the order in which they were first kept."""
        return checklists.checklists(self._database, session)

    def attachment(self, session: str, sha256: str) -> Evidence:
        """One attachment of its checklists by (the beginning of) its SHA-256; ConflictError for none or several."""
        return checklists.attachment(self._database, session, sha256)

    def outcomes(self, session: str, probe: str) -> Iterator[Outcome]:
        """What became of the tests of one probe, every attempt, in the order in which those were begun."""
        return outcomes.outcomes(self._database, session, probe)

    def proofs(self, session: str) -> tuple[Proven, ...]:
        """What the nodes showed of ours at the end of its runs, in order."""
        return reading.proofs(self._database, session)

    def newest(self, *, session: str | None = None, fabric: str = "", simulated: bool = False) -> Newest:
        """The newest verdict on every subject and series of a session, else of a fabric over all its sessions."""
        if session is not None:
            return newest.of_session(self._database, session)
        return newest.of_fabric(self._database, fabric, simulated=simulated)

    def newest_on(self, subject: str, *, session: str) -> tuple[Verdict, ...]:
        """The newest verdicts on one subject of a session in full, by metric."""
        return newest.verdicts_on(self._database, subject, session=session)

    def news(self, session: str, fabric: Fabric, since: Mark | None = None) -> News:
        """What is new in a session since a mark (None: everything); cheap to ask several times in a second.

        Locks nothing, and says ``late`` where somebody else has locked the file.
        """
        return self._follower.news(session, fabric, since)

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._database, self._clock)

    def outputs(self, session: str, test: str, *, attempt: int | None = None) -> tuple[Output, ...]:
        """What the commands of one test said, in the last attempt unless another is named."""
        return left.outputs(self._database, session, test, attempt=attempt)

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
        if "_follower" in self.__dict__:
            self._follower.close()
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        # A session that cannot be let go of shows as interrupted once this process ends.
        writer.last(Parting(lambda ledger: driving.leave(ledger.connection, self._holder, self._clock())))

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
