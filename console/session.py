"""The only place that wires all four packages: plan, run, judge, store, and tell.

One Session is one fabric with one stored session at most; it yields events (``console.events``)
and takes orders (start, pause, stop). A round is judged and committed before it is told.
Refuses to know click and textual.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from console.drive import Drive, Orders, Work
from console.events import Event, NodesProven, Noticed, RoundJudged, SessionEnded, SessionOpened
from console.fold import advance
from console.keeper import Keeper
from console.owing import Planned, again, owed, planned
from console.record import Choice, judged_by, new_session, with_criteria
from console.view import RunView
from probes.judging.bench import Bench
from probes.judging.findings import Findings, Judged
from probes.judging.judge import judge_round
from probes.model import ClosedRound, Metric, Result, Round
from probes.planning import suite_named
from probes.planning.ending import Endings
from probes.runner import can_go_on
from store.model import SessionState
from topology.model import Fabric
from topology.resolve import load, load_text
from topology.vocabulary import Vocabulary

if TYPE_CHECKING:
    from probes.api import Probe
    from probes.remote import Reach
    from store.store import Store

MakeReach = Callable[[Fabric, str], "Reach"]
AskSecret = Callable[[str], "str | Awaitable[str | None] | None"]
"""Asks a person; called in a thread of the reach, or on its loop where it is a coroutine function."""

LEFT_OUT = "left out"
"""The kind of note that says what of a suite was not run, and why."""

LAST_CHANCE_SECONDS = 5.0
"""How long the end of a run waits for a database that refuses, before it leaves what was kept to the spool."""


def vocabulary(probes: Mapping[str, "Probe"]) -> Vocabulary:
    """What a topology file may name, from the probes that are installed."""
    from probes.planning import DESIGN_OPTIONS, DESIGNS
    from probes.planning.refusing import refusal

    return Vocabulary(
        {metric.name: metric.unit for probe in probes.values() for metric in probe.metrics},
        {name: {**DESIGN_OPTIONS, **probe.options, "design": ""} for name, probe in probes.items()},
        tuple(DESIGNS),
        lambda name, options: refusal(probes[name], options),
    )


def metrics(probes: Mapping[str, "Probe"]) -> dict[str, Metric]:
    """Every declared metric by name."""
    return {metric.name: metric for probe in probes.values() for metric in probe.metrics}


def read_fabric(path: Path, probes: Mapping[str, "Probe"], parameters: Mapping[str, int] | None = None) -> Fabric:
    """The fabric of a topology file, checked against the installed probes; ``parameters`` replace those of the file."""
    return load(path, vocabulary(probes), parameters)


def ssh_reach(fabric: Fabric, session: str, ask_secret: AskSecret | None = None) -> "Reach":
    """SSH to the nodes of ``fabric``; imported here, for asyncssh costs a fifth of a second.

    ``ask_secret`` is asked at most once, for the password that ``sudo`` wants on a node; None: nobody can be asked.
    """
    from probes.ssh import SshReach
    from store.places import trusted_hosts_path

    return SshReach(fabric.access, session, also_trusted=(str(trusted_hosts_path()),), ask_secret=ask_secret)


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
        choice: Choice | None = None,
        *,
        make_reach: MakeReach = ssh_reach,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.fabric = fabric
        self.id = ""
        self.choice = choice or Choice()
        self.plan: tuple[Round, ...] = ()
        self.complete = False
        self.proposed = Planned(())
        self.probes = probes
        self.origin: Mapping[str, str] = {}
        self._store = store
        self.make_reach = make_reach
        self._clock = clock
        self._bench = Bench(fabric, metrics(probes))
        self._judged: dict[int, Judged] = {}
        self._findings = Findings(self._bench)
        self._queue: asyncio.Queue[Event] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._orders = Orders()
        self._continued: dict[int, tuple[int, Sequence[Result]]] = {}
        self._unsearched: tuple[Round, ...] = ()
        self._replay: tuple[Event, ...] = ()
        self._told: list[Event] = []

    @classmethod
    def stored(
        cls, store: "Store", name: str, probes: Mapping[str, "Probe"], *, make_reach: MakeReach = ssh_reach
    ) -> "Session":
        """A session of the store, with everything that is known of it; it can be resumed."""
        key = store.find(name)
        found = store.session(key)
        fabric = load_text(found.new.topology, found.new.topology_path)
        choice = Choice(found.new.suite, None, found.new.label, found.new.options)
        session = cls(fabric, probes, store, choice, make_reach=make_reach)
        session.id = key
        session.plan = store.plan(key, fabric)
        session._recall(found.new.started, found.ended, found.state is SessionState.COMPLETE, found.because)
        return session

    def _recall(self, started: float, ended: float | None, complete: bool, because: str) -> None:
        events: list[Event] = [self._opened(started, live=False)]
        for stored in self._store.rounds(self.id, self.fabric):
            number = stored.closed.round.number
            self._judged[number] = (stored.closed, stored.verdicts)
            self._findings.take(stored.closed, stored.verdicts)
            events.append(RoundJudged(stored.closed, stored.verdicts, (), stored.attempt))
        if isinstance(events[-1], RoundJudged):
            events[-1] = replace(events[-1], findings=self._findings.found())  # what the last one knows, counts
        left = self._store.open_rounds(self.id, self.fabric)
        for begun in left:
            if can_go_on(begun.round):
                self._continued[begun.round.number] = (begun.attempt, begun.results)
        proven = self._store.proofs(self.id)
        searched = proven[-1].at if proven else 0.0
        since = (closed.round for closed, _ in self._judged.values() if closed.ended > searched)
        self._unsearched = (*since, *(begun.round for begun in left if begun.started > searched))
        if proven:
            events.append(NodesProven(proven[-1].proofs, proven[-1].at))
        self.complete = complete
        events.append(SessionEnded(ended if ended is not None else self._clock(), complete, because or "interrupted"))
        self._replay = tuple(events)
        self._told = list(events)

    # -- what a screen or a command asks

    @property
    def replay(self) -> tuple[Event, ...]:
        """What is known of the session already, as the events that would have told it."""
        return self._replay

    @property
    def running(self) -> bool:
        """Whether rounds are being run, or waited for in a pause."""
        return self._task is not None and not self._task.done()

    @property
    def paused(self) -> bool:
        """Whether the next round is held until ``go_on``."""
        return not self._orders.free.is_set()

    def propose(
        self,
        suite: str | None = None,
        *,
        failed_only: bool = False,
        only: Collection[str] = (),
        typed: Collection[str] = (),
    ) -> tuple[Round, ...]:
        """The rounds that ``start`` would run, without running anything.

        ``failed_only`` repeats the tests that gave no number or are below what is asked;
        ``only`` repeats the tests with these ids; ``typed`` are serial numbers of disks, as in ``Choice``.
        ``proposed`` says then what of the suite is left out. Raises PlanError for a suite that gives no rounds.
        """
        first = max((each.number for each in self.plan), default=0) + 1
        if only or failed_only:
            self.proposed = Planned(again(self._judged.values(), only=only, first=first))
        else:
            choice = replace(self.choice, typed=(*self.choice.typed, *typed))
            self.proposed = planned(self.fabric, choice, self.probes, suite, first=first)
        return self.proposed.rounds

    def view(self) -> RunView:
        """The session as it stands in the store."""
        view = RunView(self.fabric)
        for event in self._told or self._replay:
            view = advance(view, event)
        return view

    def unfinished(self) -> tuple[Round, ...]:
        """What the plan still owes: rounds that are not closed, and in waves what a stopped round left out."""
        return owed(self.plan, self._judged)

    async def events(self) -> AsyncIterator[Event]:
        """Everything that happens, without end: what is stored first, then what is run."""
        for event in self._replay or (self._opened(self._clock(), live=False),):
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
        self._orders = Orders()
        self._task = asyncio.create_task(self._drive(tuple(rounds)))

    def pause(self) -> None:
        """Hold the next round; the one that runs goes to its end."""
        self._orders.free.clear()

    def go_on(self) -> None:
        """Release a pause."""
        self._orders.free.set()

    def stop(self, *, now: bool) -> None:
        """End after this round, or now: what is finished is kept, and the rest runs on resume."""
        self._orders.stopping = True
        self._orders.free.set()
        if now and self._task is not None:
            self._task.cancel()

    def abandon(self) -> None:
        """End at once, without looking whether anything is left on the nodes: their watchdogs see to that."""
        self._orders.abandoned = True
        self.stop(now=True)

    async def finished(self) -> None:
        """Wait until nothing runs any more; raises what ended it badly."""
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(self._task)

    # -- the run itself

    def _opened(self, at: float, *, live: bool) -> SessionOpened:
        suite = self.choice.suite or suite_named(self.fabric, None).name
        return SessionOpened(self.id, self.choice.label, self.fabric, suite, self.plan, at, live)

    def _tell(self, event: Event) -> None:
        """Say what stands in the store, and remember having said it."""
        self._told.append(event)
        self._queue.put_nowait(event)

    async def _drive(self, rounds: Sequence[Round]) -> None:
        because = ""
        keeper: Keeper | None = None
        try:
            await self._open(rounds)
            keeper = Keeper(self._store, self.id, self._queue.put_nowait, self._clock)
            drive = Drive(self._work(rounds, keeper), keeper, self._orders)
            try:
                await drive.run()
                self._unsearched = ()
            finally:
                because = drive.because
                await keeper.last_chance(LAST_CHANCE_SECONDS)
        except asyncio.CancelledError:
            because = "cancelled"
            raise
        except BaseException as error:
            because = f"{type(error).__name__}: {error}"
            raise
        finally:
            await self._close(keeper, because)

    def _work(self, rounds: Sequence[Round], keeper: Keeper) -> Work:
        endings = Endings(self.plan, self.probes)
        for _, (closed, _) in sorted(self._judged.items()):
            endings.take(closed)

        async def judged(closed: ClosedRound, attempt: int) -> None:
            await self._judge(closed, attempt, keeper)
            ended = endings.take(closed)
            if ended:
                self._queue.put_nowait(Noticed(ended, self._clock()))

        return Work(
            fabric=self.fabric,
            probes=self.probes,
            origin=self.origin,
            care=self.choice.care,
            rounds=rounds,
            done=self._continued,
            session=self.id,
            make_reach=lambda: self.make_reach(self.fabric, self.id),
            judged=judged,
            tell=self._queue.put_nowait,
            notice=_noticer(self._queue.put_nowait, self._clock),
            taken=lambda each: self.choice.care.taken(self.fabric, each, self.probes),
            clock=self._clock,
            needless=endings.why,
            unsearched=self._unsearched,
        )

    async def _open(self, rounds: Sequence[Round]) -> None:
        """Write the plan before anything is sent."""
        known = {each.number for each in self.plan}
        fresh = tuple(each for each in rounds if each.number not in known)
        self.plan = (*self.plan, *fresh)
        now = self._clock()
        if self.id:
            await self._store.claim(self.id)
            if fresh:
                await self._store.extend_plan(self.id, fresh)
            for name, value in self.choice.care.options().items():
                await self._store.note(self.id, name, str(value), now)
        else:
            self.id = await self._store.create_session(new_session(self.fabric, self.choice, now), self.plan)
        self.complete = False
        self._tell(self._opened(now, live=True))
        for words in self.proposed.left_out if fresh else ():
            await self._store.note(self.id, LEFT_OUT, words, now)
            self._queue.put_nowait(Noticed(f"{LEFT_OUT}: {words}", now))

    async def _judge(self, closed: ClosedRound, attempt: int, keeper: Keeper) -> None:
        """Judge, keep, and only then tell."""
        verdicts = judge_round(self._bench, closed)
        await keeper.close(closed, verdicts, attempt, judged_by(self._bench.fabric))
        self._continued.pop(closed.round.number, None)
        self._judged[closed.round.number] = (closed, verdicts)
        self._tell(RoundJudged(closed, verdicts, self._findings.add(closed, verdicts), attempt))

    async def _close(self, keeper: Keeper | None, because: str) -> None:
        complete = not self.unfinished()
        now = self._clock()
        self.complete = complete
        because = because or ("" if complete else "stopped")
        try:
            if keeper is not None:
                if self._orders.abandoned:
                    await keeper.note("abandoned", "left at once; the nodes were not searched")
                await keeper.end(now, because, complete=complete)
        finally:
            self._tell(SessionEnded(now, complete, because))

    async def judge_again(self, criteria_from: Fabric | None = None) -> None:
        """Judge every stored round again, with the criteria of another file where one is given.

        Touches no node. The new verdicts are stored beside the old ones and count from now on.
        """
        fabric = self.fabric if criteria_from is None else with_criteria(self.fabric, criteria_from)
        self._bench = Bench(fabric, metrics(self.probes))
        self._findings = Findings(self._bench)
        found = {number: judge_round(self._bench, closed) for number, (closed, _) in self._judged.items()}
        attempts = {stored.closed.round.number: stored.attempt for stored in self._store.rounds(self.id, self.fabric)}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
        mark = f"{judged_by(fabric)}, again {stamp}"
        await self._store.append_verdicts(
            self.id, {(number, attempts[number]): verdicts for number, verdicts in found.items()}, judged_by=mark
        )
        stored = self._store.session(self.id)
        self._recall(stored.new.started, stored.ended, stored.state is SessionState.COMPLETE, stored.because)


def _noticer(tell: Callable[[Event], None], clock: Callable[[], float]) -> Callable[[str], None]:
    """Says what concerns no single test, from whatever thread it is noticed in."""
    loop = asyncio.get_running_loop()

    def notice(words: str) -> None:
        with suppress(RuntimeError):  # the loop is gone, and with it everybody who listens
            loop.call_soon_threadsafe(tell, Noticed(words, clock()))

    return notice
