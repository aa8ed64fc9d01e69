"""The run of one round: reach the nodes, run every test at once, read the answers.

Each test runs inside its own guard, so that one failing probe or node costs its own test only. Durations are
counted by a clock that nobody can set; the wall clock only says when something began.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast

from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.kept_readings import KeptReadings
from benchconsole.probes.model.log_records import ModuleLog, current_test
from benchconsole.probes.model.measuring import Fact, FailedAt, Failure, Output, Reading, Result, Round, Test
from benchconsole.probes.model.remote import Reach, Remote, RemoteError, wait_for_most
from benchconsole.probes.model.secret import is_secret_name, mask_values
from benchconsole.probes.plugins.loop_watchdog import BlockingCode, LoopWatch
from benchconsole.probes.plugins.probe_call import GivenUpError, ProbeCodeError, format_error, run_probe
from benchconsole.probes.plugins.probe_output import find_missing_tool, find_stage, name_missing_tool, read_outputs
from benchconsole.probes.running.guards.guard import NEVER, Guard
from benchconsole.probes.running.hung_tools import HungTools, compute_patience
from benchconsole.probes.running.interval_ticker import IntervalListener, IntervalTicker
from benchconsole.probes.running.load_sampler import LoadSampler
from benchconsole.probes.running.pair_blame import find_blame
from benchconsole.probes.running.start_barrier import StartBarrier, TestNodes
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node, NodeId

_LOG = ModuleLog(__name__)

LATE = 1.0
"""Seconds for which the connections of the last few nodes of a round are awaited when the others are there."""

DRIFT = 2.0
"""Seconds by which the wall clock may leave the other one during a test without a mark on its result."""


async def _keep_nothing(result: Result) -> Result:
    return result


@dataclass(slots=True)
class RoundObserver:
    """Functions that hear of a round. All but ``store`` are called on the loop and must not block.

    ``store`` is awaited before ``on_end`` is called, so that nobody hears of a result that could be lost. The result
    that it returns takes the place of its argument; what it raises ends the round. ``on_notice`` hears sentences that
    concern no single test. ``on_stall`` hears the same from another thread, while the loop stands still.
    ``intervals`` hears once a second what running tests tell of their last interval; None where nobody asks.
    """

    on_start: Callable[[Test], None] = field(default=lambda test: None)
    on_end: Callable[[Result], None] = field(default=lambda result: None)
    store: Callable[[Result], Awaitable[Result]] = field(default=_keep_nothing)
    on_notice: Callable[[str], None] = field(default=lambda message: None)
    on_stall: Callable[[str], None] = field(default=lambda message: None)
    intervals: IntervalListener | None = None


class Runner:
    """Runs rounds over one Reach.

    ``origin`` names the distribution that brought a probe, for messages about its mistakes. ``lacks`` gives by probe
    and node the reason why a node cannot run the probe, ``hung`` are probes and nodes on which it hung before the run
    (``probes.hygiene.prerequisites``). ``sampled`` gives the nodes of a test whose load is sampled while it runs; None
    where nobody asked for it. ``clock`` gives UTC seconds, ``monotonic`` seconds that only go forward; both
    exist to be replaced in tests.
    """

    def __init__(
        self,
        reach: Reach,
        probes: Mapping[str, Probe],
        *,
        origin: Mapping[str, str] | None = None,
        lacks: Mapping[tuple[str, NodeId], Failure] | None = None,
        hung: Collection[tuple[str, NodeId]] = (),
        sampled: Callable[[Test], Sequence[Node]] | None = None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.reach = reach
        self.clock = clock
        self.monotonic = monotonic
        self.sampled = sampled
        self._probes = probes
        self._origin = origin or {}
        self._lacks = lacks or {}
        self.hung = HungTools(hung)

    async def run(
        self, round: Round, observer: RoundObserver, *, guard: Guard | None = None, done: Sequence[Result] = (),
        held: Mapping[NodeId, Failure] = MappingProxyType({}),
    ) -> ClosedRound:  # fmt: skip
        """Run one round to its end. Cancelling it ends every remote command of the round.

        ``held`` are nodes that cannot take part in this round, and why.

        When ``guard`` trips, running tests are ended, finished results are kept, and the rest is recorded as cancelled.
        ``done`` are results of an earlier attempt: their tests are not run again, unless they were cancelled.
        Raises ValueError for ``done`` of a round that cannot be finished in parts (``Round.is_resumable``), and what
        ``observer.store`` raises.
        """
        if done and not round.is_resumable:
            raise ValueError(f"round {round.number} loads the fabric as a whole and can only be run as a whole")
        kept = {result.test.id: result for result in done if not _was_cancelled(result)}
        probes = {name: self._probes[name] for name in round.probes}
        _LOG.info("", "round %d: %d tests of %s", round.number, len(round.tests), round.probe)
        started, began = self.clock(), self.monotonic()
        suspects = [BlockingCode.of(probe, self.describe(probe)) for probe in probes.values()]
        loop_watch = LoopWatch(suspects, observer.on_notice, observer.on_stall, clock=self.monotonic)
        options = {id(test.target.options): test.target.options for test in round.tests}.values()
        secrets = {str(value) for each in options for name, value in each.items() if is_secret_name(name)}
        with mask_values(secrets), loop_watch as watch:
            load = LoadSampler(round.seconds)
            attempt = _Attempt(self, probes, observer, guard or Guard(NEVER), watch, load, held)
            fresh = await attempt.run([test for test in round.tests if test.id not in kept])
        results = tuple(kept[test.id] if test.id in kept else fresh[test.id] for test in round.tests)
        for result in fresh.values():
            if result.failure is not None:
                self.hung.add_failure(result.test.probe, result.failure, round.number)
        ended = started + (self.monotonic() - began)
        started = min([started, *(result.started for result in kept.values())])
        if attempt.stopped and any(_was_cancelled(result) for result in results):
            return ClosedRound(round, results, CloseReason.STOPPED, started, ended, attempt.stopped)
        return ClosedRound(round, results, CloseReason.COMPLETE, started, ended)

    def describe(self, probe: Probe) -> str:
        """A probe with the distribution that brought it, in words."""
        origin = self._origin.get(probe.name)
        return f"the probe {probe.name}" + (f" of {origin}" if origin else "")

    def find_hold(self, probe: Probe, node: str) -> Failure | None:
        """Why this probe is not started on this node, or not again; None while it may be."""
        lacking = self._lacks.get((probe.name, NodeId(node)))
        return lacking if lacking is not None else self.hung.find_hold(probe.name, NodeId(node))


def _was_cancelled(result: Result) -> bool:
    return result.failure is not None and result.failure.stage is FailedAt.CANCELLED


class _Attempt:
    """One round while it runs. ``stopped`` says why its guard ended it; empty while it did not."""

    def __init__(
        self, runner: Runner, probes: Mapping[str, Probe], observer: RoundObserver, guard: Guard, watch: LoopWatch,
        load: LoadSampler, held: Mapping[NodeId, Failure],
    ) -> None:  # fmt: skip
        self.stopped = ""
        self._runner = runner
        self._probes = probes
        self._observer = observer
        self._guard = guard
        self._watch = watch
        self._load = load
        self._intervals = IntervalTicker(observer.intervals, load)
        self._held = held
        self._remotes: dict[NodeId, Remote | Failure] = {}
        self._holds: dict[tuple[str, NodeId], Failure] = {}
        self._opening: Mapping[NodeId, asyncio.Task[None]] = {}
        self._late: Mapping[NodeId, asyncio.Task[None]] = {}
        self._punctual: set[str] = set()
        self._punctual_ended: asyncio.Event | None = None
        self._interruptible: set[asyncio.Task[object]] = set()
        self._given_up: dict[str, Failure] = {}
        self._is_ending = False

    async def run(self, tests: Sequence[Test]) -> dict[str, Result]:
        """The result of every test, by its id."""
        if not tests:
            return {}
        alarm = asyncio.create_task(self._stop_at_alarm())
        opening = asyncio.create_task(self._reach_all(tests))
        tasks: list[asyncio.Task[Result]] = []
        patience = [asyncio.create_task(self._intervals.run())]
        try:
            self._interruptible.add(opening)
            await asyncio.wait((opening,))
            self._interruptible.discard(opening)
            if not self.stopped:
                opening.result()
            punctual = [test for test in tests if not self._list_late(test)]
            self._punctual = {test.id for test in punctual}
            self._punctual_ended = asyncio.Event() if punctual else None
            barrier = StartBarrier(sum(self._find_obstacle(test) is None for test in punctual), self._watch)
            tasks += [asyncio.create_task(self._run_test(test, barrier)) for test in tests]
            running = dict(zip((test.id for test in tests), tasks, strict=True))
            doubts = self._runner.hung.find_doubts(tests)
            patience += [asyncio.create_task(self._end_doubted(running, doubts))] if doubts else []
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            self._is_ending = True
            await _end_all((alarm, opening, *patience, *tasks, *self._opening.values(), *self._load.tasks))
        for error in (task.exception() for task in tasks if not task.cancelled()):
            if error is not None:
                raise error
        return {test.id: task.result() for test, task in zip(tests, tasks, strict=True)}

    async def _stop_at_alarm(self) -> None:
        """End the tests when the guard trips. A result that is being stored is stored to the end."""
        await self._guard.tripped.wait()
        self.stopped = self._guard.because or "a guard asked for it"
        for task in tuple(self._interruptible):
            task.cancel()

    async def _end_doubted(self, running: Mapping[str, "asyncio.Task[Result]"], doubts: Mapping[str, Failure]) -> None:
        """End the tests of tools that hung before, soon after all others have ended."""
        began = self._runner.monotonic()
        await asyncio.wait([task for test, task in running.items() if test not in doubts])
        await asyncio.sleep(compute_patience(self._runner.monotonic() - began))
        for test, failure in doubts.items():
            if running[test] in self._interruptible:
                self._given_up[test] = failure
                running[test].cancel()

    async def _reach_all(self, tests: Sequence[Test]) -> None:
        """Open every connection of the round before anything is started on any node; the last few come later."""
        nodes = {node.id: node for test in tests for node in test.target.nodes}

        async def open_one(name: NodeId) -> None:
            try:
                self._remotes[name] = await self._runner.reach.remote(nodes[name])
            except RemoteError as error:
                self._remotes[name] = error.failure
            holds = {each: self._held.get(name) or self._runner.find_hold(each, name) for each in self._probes.values()}
            for probe, hold in holds.items():
                if hold is not None:
                    _LOG.warning(name, "hold: %s is not started: %s", probe.name, hold.detail)
                    self._holds[probe.name, name] = hold
            if None not in holds.values():
                self._remotes[name] = self._holds[next(iter(self._probes)), name]  # nobody asks it for anything

        self._opening = {name: asyncio.create_task(open_one(name)) for name in nodes}
        late = await wait_for_most(self._opening.values(), LATE)
        for task in self._opening.values():
            if task not in late:
                task.result()  # a mistake of our own is no failure of a node
        self._late = {name: task for name, task in self._opening.items() if task in late}
        await self._start_sampling(tests, self._remotes)

    def _list_late(self, test: Test) -> list[NodeId]:
        """The nodes of a test whose connections were not awaited."""
        return [node.id for node in test.target.nodes if node.id in self._late]

    async def _await_late(self, test: Test, names: Sequence[NodeId]) -> Failure | None:
        """Wait for connections until every test that has its own has ended; why this test is not started, or None.

        Where no test has its own, nobody is held up.
        """
        ended = self._punctual_ended
        rest = [] if ended is None else [asyncio.create_task(ended.wait())]
        try:
            for name in names:
                await asyncio.wait((self._late[name], *rest), return_when=asyncio.FIRST_COMPLETED)
                if not self._late[name].done():
                    detail = "no connection yet when all other tests of the round had ended"
                    return Failure(FailedAt.UNREACHABLE, detail, name)
                self._late[name].result()
        finally:
            for task in rest:
                task.cancel()
        if test.bundle and self._find_obstacle(test) is None:
            detail = "its connection came when the flows of its bundle were already under way"
            return Failure(FailedAt.UNREACHABLE, detail, names[0])
        return None

    async def _start_sampling(self, tests: Sequence[Test], known: Mapping[NodeId, Remote | Failure]) -> None:
        """Sample the load of the nodes of all tests, and of servers that no test runs on."""
        sampled = self._runner.sampled
        if sampled is None:
            return
        nodes = {node.id: node for test in tests for node in sampled(test) if node.id not in self._late}
        remotes: dict[NodeId, Remote | Failure] = {name: known[name] for name in nodes if name in known}

        async def open_one(node: Node) -> None:
            try:
                remotes[node.id] = await self._runner.reach.remote(node)
            except RemoteError as error:
                remotes[node.id] = error.failure

        await asyncio.gather(*(open_one(node) for name, node in nodes.items() if name not in known))
        await self._load.start(remotes)

    def _find_obstacle(self, test: Test) -> Failure | None:
        """Why the nodes of this test cannot be asked, from the first of them that cannot."""
        if self.stopped:
            return self._explain_cancellation(test)
        found = (self._holds.get((test.probe, node.id), self._remotes[node.id]) for node in test.target.nodes)
        return next((each for each in found if isinstance(each, Failure)), None)

    def _explain_cancellation(self, test: Test) -> Failure:
        """Our own alarm, a tool that is not awaited, or code of a probe that cancelled a task that is not its own."""
        if self.stopped:
            return Failure(FailedAt.CANCELLED, f"stopped: {self.stopped}", test.target.node.id)
        if test.id in self._given_up:
            return self._given_up[test.id]
        detail = f"{self._runner.describe(self._probes[test.probe])}: cancelled the test that it ran in"
        return Failure(FailedAt.PROBE, detail, test.target.node.id)

    async def _run_test(self, test: Test, barrier: StartBarrier) -> Result:
        """One test from its start to the moment when everybody knows of its result."""
        current_test.set(test.id)  # of this task alone
        timer = _Timer(self._runner, test)
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self._interruptible.add(task)
        late = self._list_late(test)
        try:
            obstacle = await self._await_late(test, late) if late else None
            timer = _Timer(self._runner, test)
            own = StartBarrier(1, self._watch) if late else barrier
            result = timer.make_result(failure=obstacle) if obstacle else await self._measure(test, own, timer)
        except asyncio.CancelledError:
            if self._is_ending:
                raise
            task.uncancel()
            result = timer.make_result(failure=self._explain_cancellation(test))
        finally:
            self._interruptible.discard(task)
            self._note_end(test)
        _record_result(result)
        self._guard.note_result(result)
        result = await self._observer.store(result)
        self._observer.on_end(result)
        return result

    def _note_end(self, test: Test) -> None:
        self._punctual.discard(test.id)
        if self._punctual_ended is not None and not self._punctual:
            self._punctual_ended.set()

    async def _measure(self, test: Test, barrier: StartBarrier, timer: "_Timer") -> Result:
        obstacle = self._find_obstacle(test)
        if obstacle is not None:
            return timer.make_result(failure=obstacle)
        self._observer.on_start(test)
        self._guard.note_start(test)
        remotes = [remote for node in test.target.nodes if not isinstance(remote := self._remotes[node.id], Failure)]
        since = self._load.count()
        nodes = TestNodes(
            barrier, remotes, is_pair=test.target.peer is not None,
            on_together=lambda: since.update(self._load.count()),
        )  # fmt: skip
        try:
            result = await self._run_probe(test, nodes, timer)
        finally:
            nodes.arrive()
        if self._runner.sampled is not None:
            load = await self._load.read(self._runner.sampled(test), since)
            result = replace(result, facts=(*result.facts, *load))
        if result.failure is None:
            return result
        return replace(result, failure=await find_blame(test.target, remotes, result.failure))

    async def _run_probe(self, test: Test, nodes: TestNodes, timer: "_Timer") -> Result:
        """Run a probe's code and read its outputs; every failure of it ends here, as a failure of its test."""
        probe, outputs = self._probes[test.probe], cast("tuple[Output, ...]", ())
        try:
            with self._intervals.read(test, probe):
                outputs = await run_probe(probe, nodes, test.target, self._watch)
            missing = next(filter(None, (find_missing_tool(probe, output) for output in outputs)), None)
            if missing is not None:
                return timer.make_result(outputs, failure=missing)
            readings, facts = read_outputs(probe, outputs, test.target)
        except RemoteError as error:
            outputs = (error.output,) if isinstance(error.output, Output) else ()
            return timer.make_result(outputs, failure=name_missing_tool(probe, error.failure))
        except GivenUpError as error:
            stage, detail = FailedAt.TIMEOUT, str(error)
        except ProbeOutputError as error:
            stage, detail = find_stage(error, outputs), format_error(error)
        except ProbeCodeError as error:
            stage, detail = FailedAt.PROBE, f"{self._runner.describe(probe)}: {error}"
        else:
            return timer.make_result(outputs, readings, facts)
        return timer.make_result(outputs, failure=Failure(stage, detail[:500], test.target.node.id))


class _Timer:
    """The start of one test by both clocks, and its result once it ends."""

    def __init__(self, runner: Runner, test: Test) -> None:
        self._runner = runner
        self._test = test
        self._started = runner.clock()
        self._began = runner.monotonic()

    def make_result(
        self,
        outputs: tuple[Output, ...] = (),
        readings: Sequence[Reading] = (),
        facts: tuple[Fact, ...] = (),
        failure: Failure | None = None,
    ) -> Result:
        """The result of the test, which ends now; its measurements were made now."""
        seconds = self._runner.monotonic() - self._began
        drift = self._runner.clock() - self._started - seconds
        measurements = KeptReadings(self._test.id, self._started + seconds, readings) if readings else ()
        drift = drift if abs(drift) > DRIFT else 0.0
        return Result(self._test, outputs, measurements, facts, failure, self._started, seconds, drift)


def _record_result(result: Result) -> None:
    target, failure = result.test.target, result.failure
    if failure is None:
        words = (result.test.probe, target.key, len(result.measurements), result.seconds)
        _LOG.info(target.node.id, "%s %s: %d measurements in %.3f s", *words)
    else:
        _LOG.warning(failure.node, "%s %s: %s: %s", result.test.probe, target.key, failure.stage, failure.detail)


async def _end_all(tasks: Collection["asyncio.Task[object]"]) -> None:
    """Cancel all tasks, and wait until each has ended its commands on its nodes."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # asyncio warns of an exception that nobody asked for; one of them is raised
