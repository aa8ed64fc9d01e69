"""A session that another console drives: the events that its store shows, read several times a second.

Nothing is written and no order is taken. Verdicts are those of the console that drives; findings are made from them.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from benchconsole.console.availability.watch_options import EVERY
from benchconsole.console.session.judged_fabric import load_judged_fabric
from benchconsole.console.session.judged_rounds import JudgedRounds
from benchconsole.console.view.events import (
    Event,
    NodesProven,
    RoundStarted,
    SessionEnded,
    SessionOpened,
    make_noticed,
)
from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.remark import Remark
from benchconsole.probes.planning.round_limits import compute_time_limit
from benchconsole.store.model import ChangeMark, SessionChanges, SessionNote, StoredSession
from benchconsole.store.reading.remark_reading import read_remarks
from benchconsole.store.session_summary import SessionState

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.store.session_store import SessionStore
    from benchconsole.store.store import Store

PAUSE_SECONDS = 0.25
"""How long to wait before the store is asked again."""


class FollowedSessionError(PlanError):
    """An order to a session that another console drives."""


class FollowedSession:
    """A session that another console drives. It takes no orders, and owes nothing that this console could run."""

    def __init__(self, session: "SessionStore", stored: StoredSession, probes: "Mapping[str, Probe]") -> None:
        self.id = stored.id
        self.fabric = load_judged_fabric(session)
        self.probes = probes
        self.plan: tuple[Round, ...] = ()
        self.running = False
        self.paused = False
        self.complete = True
        self._stored = stored
        self._session = session
        self._mark: ChangeMark | None = None
        self._judged = JudgedRounds(self.fabric, probes)
        self._state: SessionState | None = None
        self._again: Sequence[ClosedRound] = ()

    @property
    def driver(self) -> str:
        """Why no order is taken, in a sentence."""
        name = self._stored.new.label or self._stored.id
        if self._state in (None, SessionState.RUNNING):
            return f"Another console drives {name}; this one follows it and takes no orders."
        return f"This console has followed {name}, which nobody drives now; open it again to go on with it."

    def list_detectable_losses(self) -> tuple[DetectableLoss, ...]:
        """The smallest loss that the rounds so far could have shown, by kind of element."""
        return self._judged.losses

    def read_record(self) -> tuple[Mapping[str, str | int | float], Sequence[SessionNote], tuple[Remark, ...]]:
        """The options that it was started with, what was noted since, and what people said of it."""
        return self._stored.new.options, self._session.read_notes(), read_remarks(self._session)

    async def events(self) -> AsyncIterator[Event]:
        """Everything that is stored, then what the other console stores, without end."""
        while True:
            news = await asyncio.to_thread(self._session.read_changes, self.fabric, self._mark)
            if news.judged:
                # Findings from nothing: verdicts that are stored already were replaced by newer ones.
                self.fabric = await asyncio.to_thread(load_judged_fabric, self._session)
                self._judged = JudgedRounds(self.fabric, self.probes)
                self._again = await asyncio.to_thread(lambda: list(self._session.read_rounds(self.fabric)))
            for event in self._told(news):
                yield event
            self._mark = news.mark
            await asyncio.sleep(PAUSE_SECONDS)

    def _told(self, news: SessionChanges) -> Iterator[Event]:
        began = self._mark is None
        if news.planned or news.judged or began:
            self.plan = (*self.plan, *news.planned)
            yield self._opened(live=news.state is SessionState.RUNNING)
        for stored in self._again if news.judged else news.closed:
            yield self._judged.add(stored)
        over = {(stored.round.number, stored.attempt) for stored in news.closed}
        for begun in news.begun:
            if (begun.round.number, begun.attempt) not in over:
                yield RoundStarted(begun.round, begun.started, compute_time_limit(begun.round, self.probes))
        yield from news.results
        for note in news.notes:
            yield make_noticed(note.kind, note.text, note.at)
        if news.proven:
            yield NodesProven(news.proven[-1].proofs, news.proven[-1].at)
        yield from self._ended(news)

    def _opened(self, *, live: bool) -> SessionOpened:
        new = self._stored.new
        kept = self._session.read_checklists()
        sampled = EVERY in new.options
        return SessionOpened(
            self._stored.id, new.label, self.fabric, new.suite, self.plan, new.started, live, kept, sampled,
            remarks=read_remarks(self._session),
        )  # fmt: skip

    def _ended(self, news: SessionChanges) -> Iterator[Event]:
        """Say that the other console has stopped, and that one is at it again."""
        if news.late:
            return
        before, self._state = self._state, news.state
        if news.state is SessionState.RUNNING:
            if before not in (None, SessionState.RUNNING):
                yield self._opened(live=True)
        elif news.state is not before or news.begun or news.closed:
            ended = news.ended if news.ended is not None else self._stored.new.started
            complete = news.state is SessionState.COMPLETE
            yield SessionEnded(ended, complete, news.because or ("" if complete else "interrupted"))


def open_followed(store: "Store", name: str, probes: "Mapping[str, Probe]") -> FollowedSession | None:
    """The session ``name`` where another console drives it now; None where nobody does."""
    session = store.session(store.find_session(name))
    stored = session.describe()
    return FollowedSession(session, stored, probes) if stored.state is SessionState.RUNNING else None
