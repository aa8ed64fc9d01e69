"""Owns that nothing which was finished is lost: the database, and a spool file while that refuses.

What a method of ``Keeper`` returns from is on a disk. While the database refuses, what is finished goes to
the spool and no round begins; once it answers, the spool is brought back first. Refuses to judge and to run.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from console.events import Event, Held, Resumed
from probes.judging.verdict import Verdict
from probes.model import ClosedRound, Proof, Result, Round
from store.errors import StoreError

if TYPE_CHECKING:
    from store.spool import Spool
    from store.store import Store

AGAIN_SECONDS = 3.0
"""How long to wait before a database that refused is asked again."""

_Keep = Callable[[], Awaitable[object]]


class Keeper:
    """Keeps the rounds of one session. ``tell`` hears when the database refuses and when it answers again."""

    def __init__(self, store: "Store", session: str, tell: Callable[[Event], None], clock: Callable[[], float]) -> None:
        self._store = store
        self._session = session
        self._tell = tell
        self._clock = clock
        self._spool: Spool | None = None
        self._loop = asyncio.get_running_loop()
        self._refusing = asyncio.Lock()
        store.on_trouble = self._watched

    @property
    def refused(self) -> bool:
        """Whether the database refuses, and the spool keeps what is finished."""
        return self._spool is not None

    async def begin(self, each: Round) -> int:
        """Note that ``each`` begins, as soon as the database takes it; the number of the attempt."""
        while True:
            await self.settled()
            try:
                return await self._store.begin_round(self._session, each.number, at=self._clock())
            except StoreError as error:
                await self._refused(error)

    async def result(self, each: Round, attempt: int, result: Result) -> Result:
        """Keep one result; what is to be held of it from here on, for the database has what its commands said."""
        held = result

        async def in_database() -> None:
            nonlocal held
            held = await self._store.append_result(self._session, each.number, attempt, result)

        await self._keep(in_database, lambda spool: spool.append_result(self._session, each.number, attempt, result))
        return held

    async def close(self, closed: ClosedRound, verdicts: Sequence[Verdict], attempt: int, judged_by: str) -> None:
        """Keep the end of a round and its verdicts."""
        await self._keep(
            lambda: self._store.close_round(self._session, closed, verdicts, attempt=attempt, judged_by=judged_by),
            lambda spool: spool.close_round(self._session, closed, verdicts, attempt=attempt, judged_by=judged_by),
        )

    async def proofs(self, proofs: Sequence[Proof]) -> None:
        """Keep what the nodes showed at the end."""
        at = self._clock()
        await self._keep(
            lambda: self._store.append_proofs(self._session, proofs, at),
            lambda spool: spool.append_proofs(self._session, proofs, at),
        )

    async def note(self, kind: str, text: str) -> None:
        """Keep what was decided or happened."""
        at = self._clock()
        await self._keep(
            lambda: self._store.note(self._session, kind, text, at),
            lambda spool: spool.note(self._session, kind, text, at),
        )

    async def end(self, at: float, because: str, *, complete: bool) -> None:
        """Keep that nothing more will come; a spool that still holds something stays, and was named."""
        await self._keep(
            lambda: self._store.end_session(self._session, at=at, complete=complete, because=because),
            lambda spool: spool.end_session(self._session, at=at, complete=complete, because=because),
        )
        self._store.on_trouble = lambda _: None
        if self._spool is not None:
            self._spool.close()

    async def settled(self) -> None:
        """Return when the database takes everything again, with what the spool kept brought back."""
        while self._spool is not None:
            try:
                absorbed = await self._store.absorb(self._spool)
            except StoreError as error:
                if not error.to_spool:
                    raise
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                self._spool = None
                self._tell(Resumed(self._clock(), absorbed.results))

    async def last_chance(self, within: float) -> None:
        """Give a database that refuses ``within`` seconds more."""
        if self._spool is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self.settled()

    async def _keep(self, store: _Keep, spool: Callable[["Spool"], Awaitable[object]]) -> None:
        if self._spool is None:
            try:
                await store()
            except StoreError as error:
                await self._refused(error)
            else:
                return
        if self._spool is not None:
            await spool(self._spool)

    async def _refused(self, error: StoreError) -> None:
        """From now on the spool keeps what is finished; said once. What waiting does not cure is raised."""
        if not error.to_spool:
            raise error
        async with self._refusing:
            if self._spool is None:
                self._spool = await asyncio.to_thread(self._store.open_spool)
                self._tell(Held(str(error), self._clock(), str(self._spool.path)))

    def _watched(self, error: StoreError | None) -> None:
        """The file left its place while nothing was written; told in the writer's thread."""
        if error is not None:
            with suppress(RuntimeError):  # the loop is gone, and nobody waits any more
                asyncio.run_coroutine_threadsafe(self._refused(error), self._loop)
