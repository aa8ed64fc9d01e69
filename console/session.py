"""The only place that wires all four packages: plan, run, judge, store, and tell.

One Session is one fabric with one stored session at most; it yields events (``console.events``)
and takes orders (start, pause, stop). A round is judged and committed before it is told.
Refuses to know click and textual.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from console.events import Event, RoundJudged, RoundStarted, SessionEnded, SessionOpened, TestEnded, TestStarted
from console.fold import advance
from console.view import RunView
from probes.judging.bench import Bench
from probes.judging.findings import Judged, findings
from probes.judging.judge import judge_round
from probes.judging.verdict import Level
from probes.model import ClosedRound, Metric, Result, Round, Test
from probes.plan import plan, rerun, suite_named
from probes.runner import Runner, Watchers
from store.model import NewSession, SessionState
from topology.model import Fabric, NodeId
from topology.resolve import load, load_text
from topology.selection import fold
from topology.vocabulary import Vocabulary

if TYPE_CHECKING:
    from probes.api import Probe
    from probes.remote import Reach
    from store.store import Store

MakeReach = Callable[[Fabric, str], "Reach"]


def vocabulary(probes: Mapping[str, "Probe"]) -> Vocabulary:
    """What a topology file may name, from the probes that are installed."""
    from probes.designs import DESIGNS

    return Vocabulary(
        {metric.name: metric.unit for probe in probes.values() for metric in probe.metrics},
        {name: {**probe.options, "design": ""} for name, probe in probes.items()},
        tuple(DESIGNS),
    )


def metrics(probes: Mapping[str, "Probe"]) -> dict[str, Metric]:
    """Every declared metric by name."""
    return {metric.name: metric for probe in probes.values() for metric in probe.metrics}


def read_fabric(path: Path, probes: Mapping[str, "Probe"], parameters: Mapping[str, int] | None = None) -> Fabric:
    """The fabric of a topology file, checked against the installed probes; ``parameters`` replace those of the file."""
    return load(path, vocabulary(probes), parameters)


def ssh_reach(fabric: Fabric, session: str) -> "Reach":
    """SSH to the nodes of ``fabric``; imported here, for asyncssh costs a fifth of a second."""
    from probes.ssh import SshReach
    from store.places import trusted_hosts_path

    return SshReach(fabric.access, session, also_trusted=(str(trusted_hosts_path()),))


@dataclass(slots=True)
class Choice:
    """What was chosen for a session: suite, nodes (None: all) and label."""

    suite: str | None = None
    nodes: tuple[NodeId, ...] | None = None
    label: str = ""
    options: Mapping[str, str | int | float] = field(default_factory=dict)


class Session:
    """A fabric, its plan and its results so far. ``clock`` gives UTC seconds."""

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
        self.probes = probes
        self._store = store
        self._make_reach = make_reach
        self._clock = clock
        self._bench = Bench(fabric, metrics(probes))
        self._judged: dict[int, Judged] = {}
        self._queue: asyncio.Queue[Event] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._free = asyncio.Event()
        self._free.set()
        self._stopping = False
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
            found = findings(self._bench, list(self._judged.values()))
            events.append(RoundJudged(stored.closed, stored.verdicts, found, stored.attempt))
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
        return not self._free.is_set()

    def propose(
        self, suite: str | None = None, *, failed_only: bool = False, only: Collection[str] = ()
    ) -> tuple[Round, ...]:
        """The rounds that ``start`` would run, without running anything.

        ``failed_only`` repeats the tests that gave no number or are below what is asked;
        ``only`` repeats the tests with these ids. Raises PlanError for a suite that gives none.
        """
        first = max((each.number for each in self.plan), default=0) + 1
        closed = [each.round for each, _ in self._judged.values()]
        if only:
            chosen_tests = [test for each in closed for test in each.tests if test.id in only]
            return rerun(chosen_tests, closed, first=first)
        if failed_only:
            return rerun(failed_tests(self._judged.values()), closed, first=first)
        chosen = suite_named(self.fabric, suite or self.choice.suite)
        return plan(self.fabric, chosen, self.probes, nodes=self.choice.nodes, first=first)

    def view(self) -> RunView:
        """The session as it stands in the store."""
        view = RunView(self.fabric)
        for event in self._told or self._replay:
            view = advance(view, event)
        return view

    def unfinished(self) -> tuple[Round, ...]:
        """The rounds of the plan that are not closed."""
        return tuple(each for each in self.plan if each.number not in self._judged)

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
        self._stopping = False
        self._free.set()
        self._task = asyncio.create_task(self._drive(tuple(rounds)))

    def pause(self) -> None:
        """Hold the next round; the one that runs goes to its end."""
        self._free.clear()

    def go_on(self) -> None:
        """Release a pause."""
        self._free.set()

    def stop(self, *, now: bool) -> None:
        """End after this round, or now: then the round is not stored and will be run again on resume."""
        self._stopping = True
        self._free.set()
        if now and self._task is not None:
            self._task.cancel()

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
        reach: Reach | None = None
        try:
            await self._open(rounds)
            reach = await asyncio.to_thread(self._make_reach, self.fabric, self.id)
            runner = Runner(reach, self.probes, clock=self._clock)
            for each in rounds:
                await self._free.wait()
                if self._stopping:
                    break
                await self._round(runner, each)
        except asyncio.CancelledError:
            because = "cancelled"
            raise
        except BaseException as error:
            because = f"{type(error).__name__}: {error}"
            raise
        finally:
            await self._close(reach, because)

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
        else:
            self.id = await self._store.create_session(new_session(self.fabric, self.choice, now), self.plan)
        self._tell(self._opened(now, live=True))

    async def _round(self, runner: Runner, each: Round) -> None:
        tell = self._queue.put_nowait

        def started(test: Test) -> None:
            tell(TestStarted(test, self._clock()))

        def ended(result: Result) -> None:
            tell(TestEnded(result, self._clock()))

        tell(RoundStarted(each, self._clock()))
        closed = await runner.run(each, Watchers(started, ended))
        await self._judge(closed)

    async def _judge(self, closed: ClosedRound) -> None:
        """Judge, commit, and only then tell."""
        verdicts = judge_round(self._bench, closed)
        await self._store.append_round(self.id, closed, verdicts, judged_by=judged_by(self._bench.fabric))
        self._judged[closed.round.number] = (closed, verdicts)
        found = findings(self._bench, list(self._judged.values()))
        self._tell(RoundJudged(closed, verdicts, found))

    async def _close(self, reach: "Reach | None", because: str) -> None:
        if reach is not None:
            await reach.close()
        complete = not self.unfinished()
        now = self._clock()
        because = because or ("" if complete else "stopped")
        try:
            if self.id:
                await self._store.end_session(self.id, at=now, complete=complete, because=because)
        finally:
            self._tell(SessionEnded(now, complete, because))

    async def judge_again(self, criteria_from: Fabric | None = None) -> None:
        """Judge every stored round again, with the criteria of another file where one is given.

        Touches no node. The new verdicts are stored beside the old ones and count from now on.
        """
        fabric = self.fabric if criteria_from is None else _with_criteria(self.fabric, criteria_from)
        self._bench = Bench(fabric, metrics(self.probes))
        found = {number: judge_round(self._bench, closed) for number, (closed, _) in self._judged.items()}
        attempts = {stored.closed.round.number: stored.attempt for stored in self._store.rounds(self.id, self.fabric)}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
        mark = f"{judged_by(fabric)}, again {stamp}"
        await self._store.append_verdicts(
            self.id, {(number, attempts[number]): verdicts for number, verdicts in found.items()}, judged_by=mark
        )
        stored = self._store.session(self.id)
        self._recall(stored.new.started, stored.ended, stored.state is SessionState.COMPLETE, stored.because)


def criteria_mark(fabric: Fabric) -> str:
    """Twelve hex digits that change when the criteria or declared hardware do."""
    criteria = [(replace(each, nodes=frozenset()), sorted(each.nodes)) for each in fabric.criteria]
    declared = [(node.id, sorted(node.hardware.facts.items())) for node in fabric.nodes.values()]
    return hashlib.sha256(repr((criteria, declared)).encode()).hexdigest()[:12]


def _with_criteria(fabric: Fabric, other: Fabric) -> Fabric:
    return replace(fabric, criteria=other.criteria)


def judged_by(fabric: Fabric) -> str:
    """The name of a judgement: the program and the criteria that made it."""
    return f"benchconsole {version('benchconsole')}, criteria {criteria_mark(fabric)}"


def new_session(fabric: Fabric, choice: Choice, now: float) -> NewSession:
    """What the store is told of a session before anything of it has run."""
    return NewSession(
        topology=fabric.text,
        topology_path=str(Path(fabric.file).absolute()),
        fabric=fabric.name,
        suite=choice.suite or suite_named(fabric, None).name,
        started=now,
        label=choice.label,
        selection=fold(choice.nodes) if choice.nodes is not None else "",
        options=choice.options,
        simulated=fabric.simulated,
        program=version("benchconsole"),
    )


def failed_tests(judged: Iterable[Judged]) -> list[Test]:
    """Tests without a number or with a verdict that is no pass, each in its newest round only."""
    bad: dict[tuple[str, str, str, str], Test | None] = {}
    for closed, verdicts in judged:
        low = {verdict.test for verdict in verdicts if verdict.level is not Level.PASS}
        bundles = {result.test.bundle for result in closed.results if result.test.id in low and result.test.bundle}
        for result in closed.results:
            test = result.test
            key = (closed.round.stage, test.probe, test.target.key, test.bundle)
            wrong = result.failure is not None or test.id in low or test.bundle in bundles
            bad[key] = test if wrong else None
    return [test for test in bad.values() if test is not None]
