"""Owns how the screens drive a session that runs in an engine of its own: orders cross, events come back.

Everything that takes long happens in the engine or in a thread beside it. Refuses to know the screens.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from console.engine import Engine
from console.events import Event
from console.grown import Grown, Open
from console.hops import Hops
from console.passwords import Passwords
from console.tui.bridge import AskPassword, Hear, Hop, PlanNotes, Proposal
from console.view import RunView
from console.wording import count, plain
from probes.api import Safety
from probes.model import Round, Test
from topology.model import Fabric
from topology.units import disk_size

if TYPE_CHECKING:
    from console.owing import Planned
    from console.record import Choice
    from probes.api import Probe

T = TypeVar("T")

ENDS = "All of its rounds are closed. The nodes are searched for anything of ours, and the session is complete."
"""What is left to do of a session that was interrupted after its last round."""

BATCH_SECONDS = 0.05
"""How long events are gathered before they are told together; half a tick of the screen."""


class Driven(Protocol):
    """A session as a conductor needs it: ``console.session.Session``, or one that another console drives."""

    id: str
    fabric: Fabric
    plan: tuple[Round, ...]
    choice: "Choice"
    proposed: "Planned"
    complete: bool

    @property
    def probes(self) -> "Mapping[str, Probe]": ...
    @property
    def running(self) -> bool: ...
    @property
    def paused(self) -> bool: ...
    def events(self) -> AsyncIterator[Event]: ...
    def propose(
        self,
        suite: str | None = None,
        *,
        failed_only: bool = False,
        only: Collection[str] = (),
        typed: Collection[str] = (),
    ) -> tuple[Round, ...]: ...
    def unfinished(self) -> tuple[Round, ...]: ...
    def start(self, rounds: Sequence[Round]) -> None: ...
    def pause(self) -> None: ...
    def go_on(self) -> None: ...
    def stop(self, *, now: bool) -> None: ...
    def abandon(self) -> None: ...
    async def finished(self) -> None: ...


class SessionConductor:
    """One session as the screens see it, run by ``engine``. ``closing`` lets go of its store at the end.

    With ``start`` the default suite runs as soon as somebody follows. ``follows`` says who drives where
    this console only looks on; ``passwords`` is what its reach asks.
    """

    def __init__(
        self,
        session: Driven,
        engine: Engine,
        *,
        start: bool = False,
        follows: Callable[[], str] = str,
        passwords: Passwords | None = None,
        closing: Callable[[], None] = lambda: None,
    ) -> None:
        self._session = session
        self._engine = engine
        self._start = start
        self._follows = follows
        self._passwords = passwords or Passwords()
        self._closing = closing
        self._hops = Hops(session.fabric)
        self._beside = ThreadPoolExecutor(1, "beside")
        self._orders: list[Future[None]] = []

    @property
    def suites(self) -> tuple[str, ...]:
        """Suites that can be planned."""
        return tuple(self._session.fabric.suites) or ("default",)

    @property
    def running(self) -> bool:
        """Whether rounds are being run."""
        return self._session.running

    @property
    def paused(self) -> bool:
        """Whether the next round is held."""
        return self._session.paused

    @property
    def resumable(self) -> bool:
        """Whether an interrupted session owes rounds, or the search of its nodes."""
        return bool(self._session.id) and not self._session.complete

    @property
    def follows(self) -> str:
        """Who drives, where that is another console."""
        return self._follows()

    async def follow(self, hear: Hear) -> None:
        """What is stored, then what happens, a batch at a time, told in the engine's thread."""
        await self._engine.ask(lambda: self._told(hear))

    async def _told(self, hear: Hear) -> None:
        waiting: list[Event] = []
        news = asyncio.Event()

        async def listen() -> None:
            async for event in self._session.events():
                waiting.append(event)
                news.set()

        if self._start:
            self._start = False
            self._session.start(self._session.propose())
        listening = asyncio.create_task(listen())
        listening.add_done_callback(lambda _: news.set())
        try:
            while not listening.done() or waiting:
                await news.wait()
                await asyncio.sleep(BATCH_SECONDS)
                news.clear()
                batch, waiting[:] = waiting[:], []
                if batch:
                    hear(batch)
            await listening
        finally:
            listening.cancel()

    def answered_by(self, ask: AskPassword) -> None:
        """Hand what the engine asks over to the loop of the caller, and the answer back."""
        self._passwords.answered_by(ask)

    async def propose(
        self,
        suite: str | None,
        *,
        failed_only: bool = False,
        only: Collection[str] = (),
        typed: Collection[str] = (),
    ) -> Proposal:
        """The rounds that would run; what an interrupted session has left comes before a new suite."""
        if suite is None and not failed_only and not only and self.resumable:
            return await self._engine.call(self._owed)
        return await self._engine.call(lambda: self._proposed(suite, failed_only=failed_only, only=only, typed=typed))

    def _owed(self) -> Proposal:
        """What ``run --resume`` would run."""
        rounds = self._session.unfinished()
        return Proposal(rounds, self._notes(rounds)) if rounds else Proposal((), ends=ENDS)

    def _proposed(
        self, suite: str | None, *, failed_only: bool, only: Collection[str], typed: Collection[str]
    ) -> Proposal:
        rounds = self._session.propose(suite, failed_only=failed_only, only=only, typed=typed)
        proposed = self._session.proposed
        notes = self._notes(rounds) if rounds else PlanNotes()
        left = (*map(plain, proposed.left_out), *notes.held_back)
        return Proposal(rounds, replace(notes, held_back=left), proposed.unconfirmed)

    def _notes(self, rounds: Sequence[Round]) -> PlanNotes:
        """What these rounds do to the nodes, and what they leave out."""
        from console.planned import left_out
        from probes.planning import summarise

        session = self._session
        fabric = session.fabric
        summary = summarise(fabric, rounds, session.probes)
        touched = {node.id for each in rounds for test in each.tests for node in test.target.nodes}
        loading = {each.probe for each in rounds if session.probes[each.probe].safety is not Safety.READS}
        effects = [f"{count(len(touched), 'node')} asked over SSH"]
        if loading:
            effects.append(f"loads nodes and network: {', '.join(sorted(loading))}")
        if summary.total.writes:
            effects.append(f"up to {disk_size(summary.total.writes)} written to scratch directories, and removed")
        covers = [f"{len(touched):,} of {count(len(fabric.nodes), 'node')}", *left_out(fabric, summary)]
        return PlanNotes(tuple(effects), tuple(covers), tuple(self._in_use(rounds)))

    def _in_use(self, rounds: Sequence[Round]) -> list[str]:
        """Nodes that the plan leaves alone because somebody else needs them, or why it would be refused."""
        from console.care import InUseError

        spared = self._session.choice.care.spared(self._session.fabric)
        if spared:
            return [f"{node}: {plain(why)}; not loaded" for node, why in spared.items()]
        try:
            self._session.choice.care.refuse(self._session.fabric, rounds, self._session.probes)
        except InUseError as error:
            return [plain(line) for line in str(error).splitlines()]
        return []

    async def start(self, rounds: Sequence[Round]) -> None:
        """Run ``rounds``; InUseError where nodes that somebody else needs would be loaded."""

        def begun() -> None:
            self._session.choice.care.refuse(self._session.fabric, rounds, self._session.probes)
            self._session.start(rounds)

        await self._engine.call(begun)

    def pause(self) -> None:
        """Hold the next round."""
        self._order(self._session.pause)

    def go_on(self) -> None:
        """Release a pause."""
        self._order(self._session.go_on)

    def stop(self, *, now: bool) -> None:
        """End the run."""
        self._order(lambda: self._session.stop(now=now))

    def abandon(self) -> None:
        """End at once."""
        self._order(self._session.abandon)

    def _order(self, order: Callable[[], None]) -> None:
        """Hand an order over; what it raises is raised by ``finished``."""

        async def given() -> None:
            order()

        self._orders.append(self._engine.submit(given))

    async def finished(self) -> None:
        """Wait until nothing of ours runs on any node."""
        orders, self._orders = self._orders, []
        for order in orders:
            await asyncio.wrap_future(order)
        await self._engine.ask(self._session.finished)

    async def close(self) -> None:
        """End the engine and let go of the store; the threads end with it, or with the process."""
        self._beside.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._engine.close)
        await asyncio.to_thread(self._closing)

    async def export(self, kind: str, view: RunView, path: Path) -> Path:
        """Write a report of what is stored so far."""
        from console.reports import Options, write

        await self._aside(lambda: write(kind, as_stored(view), path, Options()))
        return path

    async def path_of(self, test: Test) -> Sequence[Hop]:
        """The way of a test's data, with what its whole round should have loaded each hop with."""
        each = next(found for found in self._session.plan if found.number == test.round)
        return await self._aside(lambda: self._hops.of(test, each))

    async def _aside(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._beside, work)


def as_stored(view: RunView) -> RunView:
    """``view`` without the round that is open: what of it was measured is judged and stored when it closes."""
    return replace(view, current=None, running=Open(), fresh=Grown())
