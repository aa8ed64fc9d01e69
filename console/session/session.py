"""One fabric with at most one stored session: planned, run, judged, stored and told, on orders (start, pause, stop)."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from benchconsole.console.availability.watch_options import EVERY
from benchconsole.console.session.baseline import add_baseline
from benchconsole.console.session.judged_fabric import load_judged_fabric
from benchconsole.console.session.judged_rounds import JudgedRounds
from benchconsole.console.session.metadata import SAMPLE_LOAD, SessionChoice, make_new_session, read_stored_choice
from benchconsole.console.session.node_access import MakeReach, make_ssh_reach
from benchconsole.console.session.persistence import DurableWriter
from benchconsole.console.session.proposed_rounds import ProposedRounds, list_plan_notes
from benchconsole.console.session.run_controls import RunControls
from benchconsole.console.session.run_limits import describe_time_stop, find_deadline, say_time_limit
from benchconsole.console.session.safety import SafetyPolicy
from benchconsole.console.session.stored_fabric import OnRead, apply_caps
from benchconsole.console.session.stored_verdict import make_stored_verdict
from benchconsole.console.view.events import (
    CANARY,
    CANARY_NONE,
    CANARY_STILL,
    TOLD_KINDS,
    WAVES,
    Event,
    NodesProven,
    Noticed,
    SessionEnded,
    SessionOpened,
    make_noticed,
    say_waves,
)
from benchconsole.console.view.reducer import advance_all, read_judged
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_verdict import decide
from benchconsole.probes.model.checklist import CheckedList
from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.probes.model.remark import Remark
from benchconsole.probes.model.round_bounds import ConfirmationBounds
from benchconsole.probes.planning.suites import find_suite
from benchconsole.store.model import SessionNote
from benchconsole.store.reading.loss_reading import read_losses
from benchconsole.store.reading.remark_reading import read_remarks
from benchconsole.store.session_summary import SessionState
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import fold

if TYPE_CHECKING:
    from benchconsole.console.session.execution import Execution
    from benchconsole.console.session.stored_judgement import JudgedSession
    from benchconsole.probes.api import Probe
    from benchconsole.store.store import Store

LAST_CHANCE_SECONDS = 5.0
"""How long the end of a run waits for a database that refuses, before it leaves what was kept to the spool."""


class Session:
    """A fabric, its plan and its results so far. ``clock`` gives UTC seconds.

    ``complete`` says whether the run came to its end. One that was begun and did not, owes rounds
    (``unfinished``) or only the search of its nodes: starting no round does that.
    """

    def __init__(
        self,
        fabric: Fabric,
        probes: Mapping[str, "Probe"],
        store: "Store",
        choice: SessionChoice | None = None,
        *,
        make_reach: MakeReach = make_ssh_reach,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.fabric = fabric = fabric if fabric.baseline is not None else add_baseline(fabric, store.database)
        self.id = ""
        self.choice = self.meant = choice or SessionChoice()
        """The choices for the session, and for the rounds that were proposed last."""
        self.plan: tuple[Round, ...] = ()
        self.complete = False
        self.proposed = ProposedRounds(())
        self._narrowed: tuple[NodeId, ...] = self.choice.nodes or ()
        self.probes = probes
        self.origin: Mapping[str, str] = {}
        self.make_reach = make_reach
        self.store = store
        self._clock = clock
        self._judged = JudgedRounds(fabric, probes)
        self._queue: asyncio.Queue[Event] = asyncio.Queue()
        self.observers: list[Callable[[Event], None]] = [self._queue.put_nowait]
        """Told each event, once what it says is stored; on the event loop of the session, and never to wait there."""
        self._task: asyncio.Task[None] | None = None
        self._controls = RunControls()
        self._deadline: float | None = None
        self._interrupted: dict[int, tuple[int, Sequence[Result]]] = {}
        self._unsearched: tuple[Round, ...] = ()
        self._checklists: tuple[CheckedList, ...] = ()
        self._remarks: tuple[Remark, ...] = ()
        self._noticed: tuple[Noticed, ...] = ()
        self._sampled = EVERY in self.choice.options
        self.replay: tuple[Event, ...] = ()
        """The events that would have told what is known of the session already."""
        self.is_watched = False
        """Whether a screen shows it, which is then told what running tests say of their intervals."""
        self.has_begun = False
        """Whether a run of this session is written down, so that something may have been done on the nodes."""

    @classmethod
    def stored(
        cls,
        store: "Store",
        name: str,
        probes: Mapping[str, "Probe"],
        *,
        make_reach: MakeReach = make_ssh_reach,
        policy: SafetyPolicy | None = None,
        judged: "JudgedSession | None" = None,
        described: Fabric | None = None,
        on_read: OnRead = lambda event, read, of: None,
    ) -> "Session":
        """A session of the store, with everything that is known of it; it can be resumed.

        It keeps to the nodes that were chosen for it, and stays careful where it was begun so, whatever ``policy``.
        ``judged`` is what is known of it after it was judged just now, ``described`` the fabric of its file: neither is
        read again. ``on_read`` is told its
        beginning without a plan, and again after each round, how many of how many were read.
        """
        key = store.find_session(name)
        stored = store.session(key).describe()
        fabric = load_judged_fabric(store.session(key), described) if judged is None else judged.fabric
        choice = read_stored_choice(fabric, stored.new, policy or SafetyPolicy())
        session = cls(fabric, probes, store, choice, make_reach=make_reach)
        session.id = key
        of = len(store.session(key).list_closed_rounds())
        began = session._make_opened(stored.new.started, live=False)
        on_read(began, 0, of)
        session.plan = store.session(key).read_plan(fabric) if judged is None else judged.plan
        session._read_rounds(stored.new.started, judged, lambda read: on_read(began, read, of))
        session.complete = stored.state is SessionState.COMPLETE
        if stored.state is not SessionState.RUNNING:
            ended = stored.ended if stored.ended is not None else session._clock()
            because = stored.because or ("" if session.complete else "interrupted")
            session.replay += (SessionEnded(ended, session.complete, because),)
        return session

    def _read_rounds(self, started: float, judged: "JudgedSession | None", on_read: Callable[[int], None]) -> None:
        """Take in the rounds that are stored; what is known of them makes the replay, up to its end.

        ``judged`` is what is known of those that are closed, None where they have to be read.
        """
        session = self.store.session(self.id)
        self._checklists, self._remarks = session.read_checklists(), read_remarks(session)
        notes = session.read_notes()
        noticed = (make_noticed(note.kind, note.text, note.at) for note in notes)
        self._noticed = tuple(each for each in noticed if each.kind in TOLD_KINDS)
        events: list[Event] = [self._make_opened(started, live=False), *self._noticed]
        rounds = session.read_rounds(self.fabric, plan=self.plan) if judged is None else judged.rounds
        for read, stored in enumerate(rounds, 1):
            self._judged.restore(stored)
            events.append(stored)
            on_read(read)
        findings = session.read_findings() if judged is None else judged.findings
        if findings is not None:
            self._judged.known_findings = findings
        losses = read_losses(session) if judged is None else judged.losses
        if losses is not None:
            self._judged.known_losses = losses
        if isinstance(events[-1], ClosedRound):
            events[-1] = replace(events[-1], findings=self._judged.findings)  # what the last one knows, counts
        begun_rounds = session.read_open_rounds(self.fabric)
        for begun in begun_rounds:
            if begun.round.is_resumable:
                self._interrupted[begun.round.number] = (begun.attempt, begun.results)
        proven = session.read_proofs()
        searched = proven[-1].at if proven else 0.0
        since = (judged.round for judged in self._judged.by_number.values() if judged.ended > searched)
        self._unsearched = (*since, *(begun.round for begun in begun_rounds if begun.started > searched))
        if proven:
            events.append(NodesProven(proven[-1].proofs, proven[-1].at))
        self.replay = tuple(events)

    # -- what a screen or a command asks

    @property
    def suite(self) -> str:
        """The name of the suite that was chosen, or that counts where none was; empty where nobody planned."""
        name = self.choice.suite_name
        return find_suite(self.fabric, None).name if name is None else name

    @property
    def running(self) -> bool:
        """Whether rounds are being run, or waited for in a pause."""
        return self._task is not None and not self._task.done()

    @property
    def paused(self) -> bool:
        return not self._controls.free.is_set()

    def propose(
        self,
        suite: str | None = None,
        *,
        failed_only: bool = False,
        only: Collection[str] = (),
        typed: Collection[str] = (),
        nodes: Collection[NodeId] | None = None,
        choice: SessionChoice | None = None,
    ) -> tuple[Round, ...]:
        """The rounds that ``start`` would run, without running anything.

        ``failed_only`` repeats the tests that gave no number or are below what is asked;
        ``only`` repeats the tests with these ids; ``typed`` are serial numbers of disks, as in ``SessionChoice``.
        A suite, and what confirms it, runs on those of the chosen nodes that are ``nodes``, too (None: on all).
        ``choice`` takes the place of the session's own when the rounds are started.
        ``proposed`` says then what of the suite is left out. Raises PlanError for a suite that gives no rounds.
        """
        from benchconsole.console.session.next_rounds import (  # planning: not to look at results
            plan_repeats,
            plan_suite,
        )

        first = max((each.number for each in self.plan), default=0) + 1
        meant = choice or self.choice
        narrowed = meant.nodes if nodes is None else _narrow(meant.nodes or self.fabric.nodes, nodes)
        meant = replace(meant, suite=meant.suite if self.id else suite or meant.suite)
        if only or failed_only:
            in_waves = meant.policy.needed(self.fabric)
            self.proposed = plan_repeats(self._judged.by_number.values(), only=only, first=first, in_waves=in_waves)
        else:
            wanted = replace(meant, typed=(*meant.typed, *typed), nodes=narrowed)
            capped = apply_caps(self.fabric, wanted.options)
            self.proposed = plan_suite(capped, wanted, self.probes, suite, first=first)
        self.meant, self._narrowed = meant, narrowed or ()
        return self.proposed.rounds

    def view(self) -> RunView:
        events = self.replay
        if self.has_begun:
            events = Session.stored(self.store, self.id, self.probes).replay
        return advance_all(RunView(self.fabric), events)

    def list_detectable_losses(self) -> tuple[DetectableLoss, ...]:
        """The smallest loss that the rounds so far could have shown, by kind of element."""
        return self._judged.losses

    def unfinished(self) -> tuple[Round, ...]:
        """The rounds that the plan still owes: those not closed, and in waves what a stopped round left out."""
        from benchconsole.console.session.next_rounds import list_remaining_rounds

        return list_remaining_rounds(self.plan, self._judged.by_number)

    async def events(self) -> AsyncIterator[Event]:
        """Everything that happens, without end: what is stored first, then what is run."""
        for event in self.replay or (self._make_opened(self._clock(), live=False),):
            yield event
        async for event in self.live():
            yield event

    async def live(self) -> AsyncIterator[Event]:
        """Only what happens from now on, without end."""
        while True:
            yield await self._queue.get()

    # -- orders

    def start(self, rounds: Sequence[Round]) -> None:
        """Run ``rounds``: new ones join the plan, rounds of the plan that are not closed are resumed."""
        if self.running:
            return
        self._controls = RunControls()
        self._task = asyncio.create_task(self._run(tuple(rounds)))

    def pause(self) -> None:
        """Hold the next round; the one that runs goes to its end."""
        self._controls.free.clear()

    def go_on(self) -> None:
        self._controls.free.set()

    def stop(self, *, now: bool) -> None:
        """End after this round, or now: what is finished is kept, and the rest runs on resume."""
        self._controls.stopping = True
        self._controls.free.set()
        if now and self._task is not None:
            self._task.cancel()

    def abandon(self) -> None:
        """End at once, without looking whether anything is left on the nodes: their watchdogs see to that."""
        self._controls.abandoned = True
        self.stop(now=True)

    async def finished(self) -> None:
        """Wait until nothing runs any more; raises what ended it badly."""
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(self._task)

    # -- the run itself

    def _tell(self, event: Event) -> None:
        for tell in self.observers:
            tell(event)

    def _make_opened(self, at: float, *, live: bool) -> SessionOpened:
        return SessionOpened(
            self.id, self.choice.label, self.fabric, self.suite, self.plan, at, live, self._checklists, self._sampled,
            remarks=self._remarks,
        )  # fmt: skip

    async def _run(self, rounds: Sequence[Round]) -> None:
        because = ""
        writer: DurableWriter | None = None
        try:
            await self._open(rounds)
            writer = DurableWriter(self.store, self.id, self._tell, self._clock)
            execution = await self._make_execution(writer)
            try:
                await execution.run(rounds, self._unsearched)
                self._unsearched = ()
            finally:
                because = execution.because
                if execution.is_out_of_time:
                    because = describe_time_stop(self.plan, self._judged.by_number)
                await writer.last_chance(LAST_CHANCE_SECONDS)
        except asyncio.CancelledError:
            because = "cancelled"
            raise
        except BaseException as error:
            because = f"{type(error).__name__}: {error}"
            raise
        finally:
            await self._close(writer, because)

    async def _make_execution(self, writer: DurableWriter) -> "Execution":
        from benchconsole.console.session.execution import Execution
        from benchconsole.probes.planning.sweeps import SweepEndings

        sweeps = SweepEndings(self.plan, self.probes)
        for number in sorted(self._judged.by_number):
            sweeps.add_round(self._judged.by_number[number])
        reach = await asyncio.to_thread(self.make_reach, self.fabric, self.id)
        return Execution(
            self.id, self.fabric, self.probes, self.origin, self.choice.policy, reach, self._judged, writer, sweeps,
            self._tell, self._clock, self._controls, self._interrupted, lambda: self._plan_confirmation(writer),
            sample_load=bool(self.choice.options.get(SAMPLE_LOAD)), is_watched=lambda: self.is_watched,
            deadline=self._deadline,
        )  # fmt: skip

    async def _plan_confirmation(self, writer: DurableWriter) -> Sequence[Round]:
        """Rounds that confirm what findings only suspect; they join the plan, and there are none when none are left."""
        from benchconsole.probes.planning.plan_rounds import split_into_waves

        spared = self.choice.policy.spared(self.fabric)
        chosen = self._narrowed or self.choice.nodes or tuple(self.fabric.nodes)
        first = max((each.number for each in self.plan), default=0) + 1
        nodes = [node for node in chosen if node not in spared]
        bounds = ConfirmationBounds(self.choice.confirm_seconds, self.choice.tests_at_once)
        rounds = self._judged.plan_confirmation(nodes, bounds, first=first)
        in_waves = self.choice.policy.needed(self.fabric)
        if in_waves:
            rounds = split_into_waves(rounds)
        if rounds:
            await writer.extend_plan(rounds)
            self.plan = (*self.plan, *rounds)
            self._tell(self._make_opened(self._clock(), live=True))
        if rounds and in_waves:
            noticed = make_noticed(WAVES, say_waves(rounds), self._clock())
            await writer.note(WAVES, say_waves(rounds), noticed.at)
            self._noticed += (noticed,)
            self._tell(noticed)
        return rounds

    async def _open(self, rounds: Sequence[Round]) -> None:
        known = {each.number for each in self.plan}
        fresh = tuple(each for each in rounds if each.number not in known)
        told = list_plan_notes(self.proposed, fresh, self.unfinished(), self._noticed) if fresh else ()
        self.plan = (*self.plan, *fresh)
        now = self._clock()
        meant = replace(self.meant, nodes=self._narrowed or None)
        self._deadline = find_deadline(meant, now)
        # The next plan does not begin with choices for one run alone.
        self.choice = self.meant = replace(
            self.meant, nodes=self.choice.nodes, only="", without="", test="", within="", until=""
        )
        if self.id:
            stored = self.store.session(self.id)
            await stored.claim()
            told = (*_list_canary_notes(stored.read_notes()), *told)
            if fresh:
                await stored.extend_plan(fresh)
            for name, value in {**meant.policy.options(), **(meant.parts if fresh else {})}.items():
                await stored.append_note(name, str(value), now)
        else:
            self.choice.suite = meant.suite_name
            capped = apply_caps(self.fabric, meant.options)
            if capped is not self.fabric:
                self.fabric, self._judged = capped, JudgedRounds(capped, self.probes)
            self.id = await self.store.create_session(make_new_session(self.fabric, meant, now), self.plan)
        if limit := say_time_limit(meant):
            await self.store.session(self.id).append_note("time limit", limit, now)
        self.has_begun = True
        self.complete = False
        self._tell(replace(self._make_opened(now, live=True), begins_run=True))
        for kind, words in told:
            await self.store.session(self.id).append_note(kind, words, now)
            noticed = make_noticed(kind, words, now)
            self._noticed += (noticed,)
            self._tell(noticed)

    async def _close(self, writer: DurableWriter | None, because: str) -> None:
        self.complete = not self.unfinished()
        now = self._clock()
        because = because or ("" if self.complete else "stopped")
        ended = SessionEnded(now, self.complete, because)
        try:
            if writer is not None:
                if self._controls.abandoned:
                    left = "left at once; the nodes were not searched"
                    await writer.note("abandoned", left, now)
                findings = self._judged.known_findings
                losses = None if findings is None else self._judged.losses
                opened = self._make_opened(now, live=False)
                events: tuple[Noticed | ClosedRound, ...] = (*self._noticed, *self._judged.in_order)
                view = read_judged(opened, events, findings or (), ended)
                # One sample of a watch knows no verdict: the watch stores that of them all.
                verdict = None if self._sampled else make_stored_verdict(decide(view))
                await writer.end(
                    now, because, complete=self.complete, findings=findings, losses=losses, verdict=verdict
                )
        finally:
            self._tell(ended)


def _list_canary_notes(notes: Sequence[SessionNote]) -> Iterator[tuple[str, str]]:
    """The note, kind and text, by which the canary of an earlier run is none of the run that begins."""
    last = next((note for note in reversed(notes) if note.kind in (CANARY, CANARY_STILL)), None)
    if last is not None and last.text != CANARY_NONE:
        yield CANARY, CANARY_NONE


def _narrow(chosen: Iterable[NodeId], nodes: Collection[NodeId]) -> tuple[NodeId, ...]:
    """Those of the ``chosen`` nodes that are ``nodes``, too. PlanError where none of them is."""
    found = tuple(name for name in chosen if name in nodes)
    if not found:
        raise PlanError(f"none of {fold(nodes)} is among the nodes of this session, expected some")
    return found
