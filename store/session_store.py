"""One stored session: what is written to it (awaited, and then committed) and what is read of it (plain calls)."""

import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchconsole.probes.model.checklist import Checklist, Evidence, Mark
from benchconsole.probes.model.judgement import ClosedRound, Finding, Verdict
from benchconsole.probes.model.measuring import Proof, Result, Round
from benchconsole.store.files.database import Database
from benchconsole.store.model import ChangeMark, ChosenCriteria, JudgedMeasurements, SessionChanges, SessionNote
from benchconsole.store.reading.changes import ChangeReader
from benchconsole.store.reading.lazy_parts import StoredFacts, StoredOutputs, share_address
from benchconsole.store.reading.report_reading import find_basis
from benchconsole.store.reading.session_reading import SessionReader
from benchconsole.store.session_summary import StoredVerdict
from benchconsole.store.spool.spool_file import Spool
from benchconsole.store.writing import round_rows, session_rows
from benchconsole.store.writing.write_cache import WriteCache
from benchconsole.store.writing.write_queue import ResultJob
from benchconsole.store.writing.writer import Writer
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.probes.model.detectable_loss import DetectableLoss


class SessionStore(SessionReader):
    """The session ``id`` of a store; ``Store.session`` makes it and asks the file nothing.

    Writing raises as ``Store`` says; UnknownSessionError where there is no such session. A write
    to a session needs that this store drives it (DrivenError), unless a method says otherwise.
    """

    def __init__(
        self, id: str, database: Database, writer: Writer, *, token: str, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(id, database, clock=clock)
        self._writer = writer
        self._token = token
        self.changes = ChangeReader(self, clock)
        """Its connection stays open until the store is closed."""

    async def extend_plan(self, plan: Sequence[Round], *, began: float | None = None) -> None:
        """Add further rounds, before any of them runs.

        ``began``: when they did (UTC seconds), where they were measured elsewhere; the session begins no later.
        """
        await self._writer.run(
            lambda cache: session_rows.extend_plan(cache.connection, cache.require_driven(self.id), plan, began)
        )

    async def begin_round(self, number: int, *, at: float) -> int:
        """Note that a planned round begins at ``at`` (UTC seconds); the number of this attempt at it.

        Tests that an earlier attempt left open are given up with it. ConflictError for a round that is not planned.
        """
        return await self._writer.run(
            lambda cache: round_rows.begin_round(cache, cache.require_driven(self.id), number, at=at)
        )

    async def append_result(self, number: int, attempt: int, result: Result) -> Result:
        """Write one result of an attempt that runs; returns when it is committed, with its outputs left in the file.

        The facts of its node are at hand until ``close_round``, and in the file from then on. ConflictError when it is
        stored already, or the attempt was not begun, is closed, or was given up.
        """
        await self._writer.do(ResultJob(self.id, number, attempt, result))
        address = share_address(self.database, self.id, attempt)
        outputs = StoredOutputs(address, result.test.id, len(result.outputs), result.ran)
        facts = StoredFacts(address, result.test.id, len(result.facts), result.facts) if result.facts else ()
        return replace(result, outputs=outputs, facts=facts)

    async def close_round(self, closed: ClosedRound) -> None:
        """Write what is not stored yet of a round that was begun, its end and its verdicts, in one transaction.

        ConflictError when it is not the round of the plan, or its attempt cannot be closed.
        """

        def close(cache: WriteCache) -> None:
            stored = round_rows.close_round(cache, cache.require_driven(self.id), closed)
            session_rows.append_verdicts(cache, stored, closed.verdicts, judged_by=closed.judged_by, at=self._clock())

        await self._writer.run(close)
        for result in closed.results:
            if isinstance(result.facts, StoredFacts):
                result.facts.release()

    async def append_verdicts(
        self,
        verdicts: Mapping[tuple[int, int], Sequence[Verdict]],
        *,
        judged_by: str,
        measured: Mapping[tuple[int, int], JudgedMeasurements] = MappingProxyType({}),
        findings: Sequence[Finding] | None = None,
        losses: Sequence["DetectableLoss"] | None = None,
        chosen: ChosenCriteria | None = None,
        notes: Sequence[SessionNote] = (),
        basis: str = "",
    ) -> str | None:
        """Write a new judgement of stored rounds, in one transaction; from now on it counts.

        ``verdicts`` is keyed by (round, attempt), and so are those of them that stand in columns (``measured``, of
        tests on single nodes). ``findings`` hold over all judged rounds of the session with
        these verdicts (None: not computed), and so do ``losses``. ``chosen`` are the criteria that were used, from
        now on those of the session (None: as before), ``notes`` what is to be said of that. It needs no claim.
        ConflictError when ``judged_by`` has judged one of them before, or one of them is not stored.

        Returns the basis of a report on it now, if that was ``basis`` until now; None if something had changed since.
        """

        def append(cache: WriteCache) -> str | None:
            session = cache.find_session(self.id)
            is_as_read = find_basis(cache.connection, session) == basis
            at = self._clock()
            for (number, attempt), judged in verdicts.items():
                stored = session_rows.find_closed_attempt(cache.connection, session, number, attempt)
                columns = measured.get((number, attempt))
                session_rows.append_verdicts(cache, stored, judged, judged_by=judged_by, at=at, measured=columns)
            if findings is not None:
                session_rows.append_findings(cache.connection, session, findings)
            if losses is not None:
                session_rows.append_losses(cache.connection, session, losses)
            if chosen is not None:
                session_rows.append_criteria(cache.connection, session, chosen)
            for note in notes:
                session_rows.append_note(cache.connection, session, note.kind, note.text, note.at)
            return find_basis(cache.connection, session) if is_as_read else None

        return await self._writer.run(append)

    async def append_note(self, kind: str, text: str, at: float, *, claimed: bool = True) -> None:
        """Record what was decided or happened while the session runs.

        Without ``claimed`` it may be written afterwards, or while another process drives the session.
        """

        def append(cache: WriteCache) -> None:
            session = cache.require_driven(self.id) if claimed else cache.find_session(self.id)
            session_rows.append_note(cache.connection, session, kind, text, at)

        await self._writer.run(append)

    async def append_checklist(self, checklist: Checklist, at: float) -> None:
        """Write a checklist, unless its newest version in this session is the same. It needs no claim."""
        await self._writer.run(
            lambda cache: session_rows.append_checklist(cache.connection, cache.find_session(self.id), checklist, at)
        )

    async def mark_step(self, name: str, step: str, mark: Mark, evidence: Sequence[Evidence] = ()) -> None:
        """Write the state of a step of the checklist ``name``, with its evidence. It needs no claim.

        ConflictError for a step that is not there, RefusedError for evidence that is too large.
        """
        await self._writer.run(
            lambda cache: session_rows.append_mark(
                cache.connection, cache.find_session(self.id), name, step, mark, evidence
            )
        )

    async def append_proofs(self, proofs: Sequence[Proof], at: float) -> None:
        """Record what the nodes showed of ours when a run was over. It needs no claim."""
        await self._writer.run(
            lambda cache: session_rows.append_proofs(cache.connection, cache.find_session(self.id), proofs, at)
        )

    async def end(
        self,
        *,
        at: float,
        complete: bool,
        because: str = "",
        findings: Sequence[Finding] | None = None,
        losses: Sequence["DetectableLoss"] | None = None,
        verdict: StoredVerdict | None = None,
    ) -> None:
        """Note that nothing more will come, and let go of the session. ``at`` is UTC seconds.

        ``findings`` hold over all judged rounds of the session, and so do ``losses`` and ``verdict`` (None: not
        computed).
        """

        def end(cache: WriteCache) -> None:
            session = cache.require_driven(self.id)
            if findings is not None:
                session_rows.append_findings(cache.connection, session, findings)
            if losses is not None:
                session_rows.append_losses(cache.connection, session, losses)
            if verdict is not None:
                session_rows.append_session_verdict(cache.connection, session, verdict)
            cache.release(self.id, at=at, complete=complete, because=because)

        await self._writer.run(end)

    async def claim(self) -> None:
        """Drive the session from here on: take it up again after its end, or take it over from the dead.

        DrivenError while another live process drives it. Claiming what is driven here changes nothing.
        """
        await self._writer.run(lambda cache: cache.claim(self.id))

    def open_spool(self) -> Spool:
        """A file that keeps what the database refuses for now; SpoolError when there is no place for one."""
        spool = Spool(self.database.path, self.id, self._token, clock=self._clock)
        spool.open()
        return spool

    def read_changes(self, fabric: Fabric, since: ChangeMark | None = None) -> SessionChanges:
        """The changes since a mark (None: everything); cheap to ask several times in a second.

        Locks nothing, and says ``late`` where another process has locked the file.
        """
        return self.changes.read(fabric, since)
