"""Owns running one round: reach the nodes, run every test at once, read what they said.

Each test runs inside its own guard, so that one failing probe or node costs its own test only.
Refuses to judge and to store; the caller is told of starts and results as they come.

Durations are counted by a clock that nobody can set; the wall clock only says when something began.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from probes.api import Probe
from probes.errors import ProbeOutputError
from probes.gate import Gate, Nodes
from probes.guards.answers import in_words, missing, read, read_all
from probes.guards.foreign import ForeignError, GivenUpError, ask, words
from probes.guards.guard import Watching
from probes.guards.lag import LoopWatch, Suspect
from probes.labelling import labelled
from probes.model import (
    ClosedRound,
    CloseReason,
    FailedAt,
    Failure,
    Measurement,
    Output,
    Result,
    Round,
    Test,
)
from probes.remote import Reach, Remote, RemoteError
from topology.model import NodeId

STRIKES = 2
"""Rounds in which a probe may hang on a node; after that it is not started there again in this run."""

DRIFT = 2.0
"""Seconds by which the wall clock may leave the other one during a test without a mark on its result."""

Reached = Mapping[str, Remote | Failure]
"""Node to its connection, or why there is none."""


async def _nowhere(result: Result) -> Result:
    """Keep nothing."""
    return result


@dataclass(slots=True)
class Watchers:
    """Whom to tell. All but ``stored`` are called on the loop (``stalled``: from another thread) and must not block.

    ``stored`` is awaited before ``ended`` is told, so that nobody hears of a result that could be lost; what it
    returns stands for the result from there on, what it raises ends the round. ``told`` hears what concerns no
    single test, in words; ``stalled`` the same while the loop stands still.
    """

    started: Callable[[Test], None] = field(default=lambda test: None)
    ended: Callable[[Result], None] = field(default=lambda result: None)
    stored: Callable[[Result], Awaitable[Result]] = field(default=_nowhere)
    told: Callable[[str], None] = field(default=lambda message: None)
    stalled: Callable[[str], None] = field(default=lambda message: None)


class _Unguarded:
    """A guard that lets everything pass."""

    def __init__(self) -> None:
        self.tripped = asyncio.Event()
        self.because = ""

    def started(self, test: Test) -> None:
        """Let it pass."""

    def note(self, result: Result) -> None:
        """Let it pass."""


def can_go_on(each: Round) -> bool:
    """Whether an interrupted round may be finished later by running only the tests that are missing.

    Not where tests load the fabric together: the rest alone would find it emptier than the round meant it to be.
    """
    alone = (not test.bundle and test.target.peer is None and not test.target.members for test in each.tests)
    return not each.bundles and all(alone)


class Runner:
    """Runs rounds over one Reach.

    ``origin`` names the distribution that brought a probe, for what is said of its mistakes. ``lacks`` says by probe
    and node what a node is known to lack (``probes.hygiene.needs``). ``clock`` gives UTC seconds, ``monotonic``
    seconds that only go forward; both exist to be replaced in tests.
    """

    def __init__(
        self,
        reach: Reach,
        probes: Mapping[str, Probe],
        *,
        origin: Mapping[str, str] | None = None,
        lacks: Mapping[tuple[str, NodeId], Failure] | None = None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.reach = reach
        self.clock = clock
        self.monotonic = monotonic
        self._probes = probes
        self._origin = origin or {}
        self._lacks = lacks or {}
        self._hung: dict[tuple[str, str], list[int]] = {}

    async def run(
        self, each: Round, watchers: Watchers, *, guard: Watching | None = None, done: Sequence[Result] = ()
    ) -> ClosedRound:
        """Run one round to its end. Cancelling it ends every remote command of the round.

        When ``guard`` trips, what runs is ended, what it gave by then is kept, and the rest is recorded as cancelled.
        ``done`` are results of an earlier attempt: their tests are not run again, unless they were cancelled.
        Raises ValueError for ``done`` of a round that cannot be finished in parts (``can_go_on``), and what
        ``watchers.stored`` raises.
        """
        if done and not can_go_on(each):
            raise ValueError(f"round {each.number} loads the fabric as a whole and can only be run as a whole")
        kept = {result.test.id: result for result in done if not _was_cancelled(result)}
        probe = self._probes[each.probe]
        started, began = self.clock(), self.monotonic()
        with LoopWatch(self._suspect(probe), watchers.told, watchers.stalled, clock=self.monotonic) as watch:
            attempt = _Attempt(self, probe, watchers, guard or _Unguarded(), watch)
            fresh = await attempt.run([test for test in each.tests if test.id not in kept])
        results = tuple(kept[test.id] if test.id in kept else fresh[test.id] for test in each.tests)
        self._note(each, fresh.values())
        ended = started + (self.monotonic() - began)
        started = min([started, *(result.started for result in kept.values())])
        if attempt.stopped and any(_was_cancelled(result) for result in results):
            return ClosedRound(each, results, CloseReason.STOPPED, started, ended, attempt.stopped)
        return ClosedRound(each, results, CloseReason.COMPLETE, started, ended)

    def _suspect(self, probe: Probe) -> Suspect:
        return Suspect.of(probe, self.named(probe))

    def named(self, probe: Probe) -> str:
        """A probe with the distribution that brought it, in words."""
        origin = self._origin.get(probe.name)
        return f"the probe {probe.name}" + (f" of {origin}" if origin else "")

    def held(self, probe: Probe, node: str) -> Failure | None:
        """Why this probe is not started on this node, or not again; None while it may be."""
        lacking = self._lacks.get((probe.name, NodeId(node)))
        if lacking is not None:
            return lacking
        rounds = self._hung.get((probe.name, node), [])
        if len(rounds) < STRIKES:
            return None
        detail = f"{probe.name} hung here in rounds {', '.join(map(str, rounds))} and was not started again"
        return Failure(FailedAt.HELD, detail, NodeId(node))

    def _note(self, each: Round, results: Collection[Result]) -> None:
        """Remember on which nodes the probe hung in this round."""
        for result in results:
            failure = result.failure
            if failure is not None and failure.stage is FailedAt.TIMEOUT:
                rounds = self._hung.setdefault((each.probe, failure.node), [])
                if each.number not in rounds:
                    rounds.append(each.number)


def _was_cancelled(result: Result) -> bool:
    return result.failure is not None and result.failure.stage is FailedAt.CANCELLED


class _Attempt:
    """One round under way. ``stopped`` says why its guard ended it; empty while it did not."""

    def __init__(self, runner: Runner, probe: Probe, watchers: Watchers, guard: Watching, watch: LoopWatch) -> None:
        self.stopped = ""
        self._runner = runner
        self._probe = probe
        self._watchers = watchers
        self._guard = guard
        self._watch = watch
        self._remotes: Reached = {}
        self._interruptible: set[asyncio.Task[object]] = set()
        self._is_ending = False

    async def run(self, tests: Sequence[Test]) -> dict[str, Result]:
        """The result of every test, by its id."""
        if not tests:
            return {}
        alarm = asyncio.create_task(self._stop_at_alarm())
        opening = asyncio.create_task(self._reach_all(tests))
        tasks: list[asyncio.Task[Result]] = []
        try:
            self._interruptible.add(opening)
            await asyncio.wait((opening,))
            self._interruptible.discard(opening)
            self._remotes = {} if self.stopped else opening.result()
            gate = Gate(sum(self._trouble(test) is None for test in tests), self._watch)
            tasks += [asyncio.create_task(self._one(test, gate)) for test in tests]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            self._is_ending = True
            await _end_all((alarm, opening, *tasks))
        for error in (task.exception() for task in tasks if not task.cancelled()):
            if error is not None:
                raise error
        return {test.id: task.result() for test, task in zip(tests, tasks, strict=True)}

    async def _stop_at_alarm(self) -> None:
        """End what may be ended when the guard trips: a result that is being stored goes to its place."""
        await self._guard.tripped.wait()
        self.stopped = self._guard.because or "a guard asked for it"
        for task in tuple(self._interruptible):
            task.cancel()

    async def _reach_all(self, tests: Sequence[Test]) -> Reached:
        """Open every connection of the round before anything is started on any node."""
        nodes = {node.id: node for test in tests for node in test.target.nodes}
        found: dict[str, Remote | Failure] = {}

        async def open_one(name: NodeId) -> None:
            try:
                found[name] = await self._runner.reach.remote(nodes[name])
            except RemoteError as error:
                found[name] = error.failure
            found[name] = self._runner.held(self._probe, name) or found[name]

        await asyncio.gather(*(open_one(name) for name in nodes))
        return found

    def _trouble(self, test: Test) -> Failure | None:
        """What stands against asking the nodes of this test, from the first of them that has something."""
        if self.stopped:
            return self._stop_of(test)
        found = (self._remotes[node.id] for node in test.target.nodes)
        return next((remote for remote in found if isinstance(remote, Failure)), None)

    def _stop_of(self, test: Test) -> Failure:
        return Failure(FailedAt.CANCELLED, f"stopped: {self.stopped}", test.target.node.id)

    def _why_cancelled(self, test: Test) -> Failure:
        """Our own alarm, or code of a probe that laid hands on what is not its own."""
        if self.stopped:
            return self._stop_of(test)
        detail = f"{self._runner.named(self._probe)}: cancelled the test that it ran in"
        return Failure(FailedAt.PROBE, detail, test.target.node.id)

    async def _one(self, test: Test, gate: Gate) -> Result:
        """One test from its start to the moment when everybody knows of its result."""
        timer = _Timer(self._runner)
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self._interruptible.add(task)
        try:
            result = await self._measured(test, gate, timer)
        except asyncio.CancelledError:
            if self._is_ending:
                raise
            task.uncancel()
            result = timer.stamp(Result(test, failure=self._why_cancelled(test)))
        finally:
            self._interruptible.discard(task)
        self._guard.note(result)
        result = await self._watchers.stored(result)
        self._watchers.ended(result)
        return result

    async def _measured(self, test: Test, gate: Gate, timer: "_Timer") -> Result:
        trouble = self._trouble(test)
        if trouble is not None:
            return timer.stamp(Result(test, failure=trouble))
        self._watchers.started(test)
        self._guard.started(test)
        remotes = [remote for node in test.target.nodes if not isinstance(remote := self._remotes[node.id], Failure)]
        contact = Nodes(gate, remotes, is_pair=test.target.peer is not None)
        try:
            result = await self._asked(test, contact)
        finally:
            contact.arrive()
        return timer.stamp(result)

    async def _asked(self, test: Test, contact: Nodes) -> Result:
        """What one probe brought, or as what it failed. This is one of the named borders."""
        outputs: tuple[Output, ...] = ()
        try:
            outputs = await ask(self._probe, contact, test.target, self._watch)
            absent = next((found for output in outputs if (found := missing(self._probe, output))), None)
            if absent is not None:
                return Result(test, outputs, failure=absent)
            readings, facts = read_all(self._probe, outputs)
            readings = labelled(readings, test.target)
        except RemoteError as error:
            outputs = (error.output,) if isinstance(error.output, Output) else ()
            return Result(test, outputs, failure=in_words(self._probe, error.failure))
        except GivenUpError as error:
            return self._failed(test, outputs, FailedAt.TIMEOUT, str(error))
        except ProbeOutputError as error:
            stage = FailedAt.OUTPUT if all(output.exit_status == 0 for output in outputs) else FailedAt.TOOL
            return self._failed(test, outputs, stage, words(error))
        except ForeignError as error:
            return self._failed(test, outputs, FailedAt.PROBE, f"{self._runner.named(self._probe)}: {error}")
        measurements = tuple(
            Measurement(f"{test.id}#{index}", test, reading, 0.0) for index, reading in enumerate(readings)
        )
        return Result(test, outputs, measurements, facts)

    def _failed(self, test: Test, outputs: tuple[Output, ...], stage: FailedAt, detail: str) -> Result:
        return Result(test, outputs, failure=Failure(stage, detail[:500], test.target.node.id))


class _Timer:
    """When a test began, by both clocks."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._started = runner.clock()
        self._began = runner.monotonic()

    def stamp(self, result: Result) -> Result:
        """``result`` with its times; its measurements were made now."""
        seconds = self._runner.monotonic() - self._began
        drift = self._runner.clock() - self._started - seconds
        now = self._started + seconds
        return replace(
            result,
            measurements=tuple(replace(each, at=now) for each in result.measurements),
            started=self._started,
            seconds=seconds,
            drift=drift if abs(drift) > DRIFT else 0.0,
        )


async def _end_all(tasks: Collection["asyncio.Task[object]"]) -> None:
    """Cancel what goes on, and wait until all have ended what they had on their nodes."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # of several, one is raised; the others are not forgotten but told by it


__all__ = ["DRIFT", "STRIKES", "Runner", "Watchers", "can_go_on", "read"]
