"""Owns looking on while another console drives a session: what that one stores becomes the same events here.

It asks the store several times a second and writes nothing. Orders are refused; judging again what was
judged elsewhere is left to the one that drives, findings are made from its verdicts.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from console.events import (
    Event,
    NodesProven,
    Noticed,
    RoundJudged,
    RoundStarted,
    SessionEnded,
    SessionOpened,
    TestEnded,
)
from console.owing import Planned
from console.record import Choice
from console.session import metrics
from probes.errors import PlanError
from probes.judging.bench import Bench
from probes.judging.findings import Findings
from probes.model import Round
from store.model import Mark, News, SessionState, StoredRound, StoredSession
from topology.model import Fabric
from topology.resolve import load_text

if TYPE_CHECKING:
    from probes.api import Probe
    from store.store import Store

PAUSE_SECONDS = 0.25
"""How long to wait before the store is asked again."""


class FollowedError(PlanError):
    """An order to a session that another console drives."""


class Newsroom(Protocol):
    """What following needs of a store."""

    def news(self, session: str, fabric: Fabric, since: Mark | None = None) -> News:
        """What is new in a session since a mark."""

    def rounds(self, session: str, fabric: Fabric) -> Iterator[StoredRound]:
        """Its closed rounds with their last verdicts."""


class Following:
    """A session that another console drives, as ``console.conductor`` needs it. Nothing can be ordered."""

    def __init__(self, store: Newsroom, found: StoredSession, probes: "Mapping[str, Probe]") -> None:
        self.id = found.id
        self.fabric = load_text(found.new.topology, found.new.topology_path)
        self.probes = probes
        self.plan: tuple[Round, ...] = ()
        self.choice = Choice(found.new.suite, None, found.new.label, found.new.options)
        self.running = False
        self.paused = False
        self.complete = True
        self.proposed = Planned(())
        self._found = found
        self._store = store
        self._mark: Mark | None = None
        self._bench = Bench(self.fabric, metrics(probes))
        self._findings = Findings(self._bench)
        self._state: SessionState | None = None
        self._again: Sequence[StoredRound] = ()

    @property
    def driver(self) -> str:
        """Why no order is taken, in a sentence."""
        name = self._found.new.label or self._found.id
        if self._state in (None, SessionState.RUNNING):
            return f"Another console drives {name}; this one follows it and takes no orders."
        return f"This console has followed {name}, which nobody drives now; open it again to go on with it."

    async def events(self) -> AsyncIterator[Event]:
        """Everything that is stored, then what the other console stores, without end."""
        while True:
            news = await asyncio.to_thread(self._store.news, self._found.id, self.fabric, self._mark)
            if news.judged:
                await asyncio.to_thread(self._judge_again)
            for event in self._told(news):
                yield event
            self._mark = news.mark
            await asyncio.sleep(PAUSE_SECONDS)

    def _judge_again(self) -> None:
        """Findings from nothing: verdicts that are stored already were replaced by newer ones."""
        self._findings = Findings(self._bench)
        self._again = list(self._store.rounds(self._found.id, self.fabric))

    def _told(self, news: News) -> Iterator[Event]:
        began = self._mark is None
        if news.planned or began:
            self.plan = (*self.plan, *news.planned)
            yield self._opened(live=news.state is SessionState.RUNNING)
        for stored in self._again if news.judged else news.closed:
            found = self._findings.add(stored.closed, stored.verdicts)
            yield RoundJudged(stored.closed, stored.verdicts, found, stored.attempt)
        over = {(stored.closed.round.number, stored.attempt) for stored in news.closed}
        for begun in news.begun:
            if (begun.round.number, begun.attempt) not in over:
                yield RoundStarted(begun.round, begun.at)
        for fresh in news.results:
            yield TestEnded(fresh.result, fresh.result.started + fresh.result.seconds)
        yield from (Noticed(f"{note.kind}: {note.text}", note.at) for note in news.notes)
        if news.proven:
            yield NodesProven(news.proven[-1].proofs, news.proven[-1].at)
        yield from self._ended(news)

    def _opened(self, *, live: bool) -> SessionOpened:
        new = self._found.new
        return SessionOpened(self._found.id, new.label, self.fabric, new.suite, self.plan, new.started, live)

    def _ended(self, news: News) -> Iterator[Event]:
        """Say that the other console has stopped, and that one is at it again."""
        if news.late:
            return
        before, self._state = self._state, news.state
        if news.state is SessionState.RUNNING:
            if before not in (None, SessionState.RUNNING):
                yield self._opened(live=True)
        elif news.state is not before or news.begun or news.closed:
            ended = news.ended if news.ended is not None else self._found.new.started
            complete = news.state is SessionState.COMPLETE
            yield SessionEnded(ended, complete, news.because or ("" if complete else "interrupted"))

    # -- what only the console that drives can do

    def propose(
        self,
        suite: str | None = None,
        *,
        failed_only: bool = False,
        only: Collection[str] = (),
        typed: Collection[str] = (),
    ) -> tuple[Round, ...]:
        """Refused: FollowedError names who drives."""
        raise FollowedError(self.driver)

    def unfinished(self) -> tuple[Round, ...]:
        """Nothing is ours to finish."""
        return ()

    def start(self, rounds: Sequence[Round]) -> None:
        """Refused."""
        raise FollowedError(self.driver)

    def pause(self) -> None:
        """Refused."""
        raise FollowedError(self.driver)

    def go_on(self) -> None:
        """Refused."""
        raise FollowedError(self.driver)

    def stop(self, *, now: bool) -> None:
        """Refused."""
        raise FollowedError(self.driver)

    def abandon(self) -> None:
        """Nothing was begun here."""

    async def finished(self) -> None:
        """Nothing runs on our behalf."""


def followed(store: "Store", name: str, probes: "Mapping[str, Probe]") -> Following | None:
    """The session ``name`` where another console drives it now; None where nobody does."""
    found = store.session(store.find(name))
    return Following(store, found, probes) if found.state is SessionState.RUNNING else None
