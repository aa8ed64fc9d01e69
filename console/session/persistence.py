"""Durable writes for one session: SQLite, or a spool file while SQLite is unavailable.

Where a method of ``DurableWriter`` has returned, its data is on a disk. While the database refuses, what is finished
goes to the spool and no round begins; once it answers, the spool is brought back first.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from benchconsole.console.view.events import Event, Held, Resumed
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.store.errors import StoreError
from benchconsole.store.session_summary import StoredVerdict

if TYPE_CHECKING:
    from benchconsole.probes.model.detectable_loss import DetectableLoss
    from benchconsole.store.session_store import SessionStore
    from benchconsole.store.spool.spool_file import Spool
    from benchconsole.store.store import Store

_LOG = ModuleLog(__name__)
AGAIN_SECONDS = 3.0
"""How long to wait before a database that refused is asked again."""

T = TypeVar("T")


class DurableWriter:
    """Stores the rounds of one session; ``tell`` is told when the database refuses and when it answers again."""

    def __init__(self, store: "Store", session: str, tell: Callable[[Event], None], clock: Callable[[], float]) -> None:
        self._store = store
        self._session = store.session(session)
        self._tell = tell
        self._clock = clock
        self._spool: Spool | None = None
        self._loop = asyncio.get_running_loop()
        self._refusing = asyncio.Lock()
        store.on_trouble = self._watched

    async def begin(self, each: Round) -> int:
        """Note that ``each`` begins, as soon as the database takes it; the number of the attempt."""
        return await self._write_when_taken(lambda: self._session.begin_round(each.number, at=self._clock()))

    async def extend_plan(self, rounds: Sequence[Round]) -> None:
        """Add rounds to the plan, as soon as the database takes them."""
        await self._write_when_taken(lambda: self._session.extend_plan(rounds))

    async def result(self, each: Round, attempt: int, result: Result) -> Result:
        """Keep one result; the one to hold from here on: its outputs stay in the database where that took it."""
        kept = await self.keep(lambda target: target.append_result(each.number, attempt, result))
        return result if kept is None else kept

    async def close(self, closed: ClosedRound) -> None:
        await self.keep(lambda target: target.close_round(closed))

    async def note(self, kind: str, text: str, at: float) -> None:
        await self.keep(lambda target: target.append_note(kind, text, at))

    async def end(
        self,
        at: float,
        because: str,
        *,
        complete: bool,
        findings: Sequence[Finding] | None,
        losses: Sequence["DetectableLoss"] | None,
        verdict: StoredVerdict | None,
    ) -> None:
        """Keep that nothing more will come, and what was concluded; a spool that still holds something stays."""
        await self.keep(
            lambda target: target.end(
                at=at, complete=complete, because=because, findings=findings, losses=losses, verdict=verdict
            )
        )
        self._store.on_trouble = lambda _: None
        if self._spool is not None:
            self._spool.close()

    async def settled(self) -> None:
        """Return when the database takes everything again, with what the spool kept brought back."""
        while self._spool is not None:
            try:
                absorbed = await self._store.import_spool(self._spool)
            except StoreError as error:
                if not error.to_spool:
                    raise
                _LOG.debug("", "retry in %g s: the database refuses: %s", AGAIN_SECONDS, error)
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                self._spool = None
                _LOG.info("", "end of hold: the database takes results again, %d came from the spool", absorbed.results)
                self._tell(Resumed(self._clock(), absorbed.results))

    async def _write_when_taken(self, write: Callable[[], Awaitable[T]]) -> T:
        while True:
            await self.settled()
            try:
                return await write()
            except StoreError as error:
                await self._refused(error)

    async def last_chance(self, within: float) -> None:
        """Give a database that refuses ``within`` seconds more."""
        if self._spool is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self.settled()

    async def keep(self, write: "Callable[[SessionStore | Spool], Awaitable[T]]") -> T:
        if self._spool is not None:
            return await write(self._spool)
        try:
            return await write(self._session)
        except StoreError as error:
            spool = await self._refused(error)
        return await write(spool)

    async def _refused(self, error: StoreError) -> "Spool":
        """The spool that keeps results from now on; said once. An error that waiting does not cure is raised."""
        if not error.to_spool:
            raise error
        async with self._refusing:
            if self._spool is None:
                self._spool = await asyncio.to_thread(self._session.open_spool)
                _LOG.warning("", "hold: the database refuses: %s; results go to %s", error, self._spool.path)
                self._tell(Held(str(error), self._clock(), str(self._spool.path)))
            return self._spool

    def _watched(self, error: StoreError | None) -> None:
        """The file left its place while nothing was written; told in the writer's thread."""
        if error is not None:
            with suppress(RuntimeError):  # the loop is gone, and nobody waits any more
                asyncio.run_coroutine_threadsafe(self._refused(error), self._loop)
