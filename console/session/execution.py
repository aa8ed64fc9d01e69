"""One run of a session: its rounds one after the other, then the search that shows that nothing of ours is left.

A result is stored before anybody is told of it, and a round is judged and stored before it is told.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchconsole.console.session.judged_rounds import JudgedRounds
from benchconsole.console.session.memory_return import LARGE_ROUND, return_memory
from benchconsole.console.session.metadata import name_judgement
from benchconsole.console.session.persistence import DurableWriter
from benchconsole.console.session.run_controls import RunControls
from benchconsole.console.session.run_limits import fits_before
from benchconsole.console.view.events import (
    CANARY,
    CANARY_STILL,
    Event,
    NodesProven,
    Noticed,
    RoundStarted,
    TestStarted,
    make_noticed,
)
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Failure, Proof, Result, Round, Test
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.planning.round_limits import compute_time_limit
from benchconsole.probes.planning.sweeps import SweepEndings, make_skipped_results, was_skipped
from benchconsole.probes.running.load_sampler import list_sampled
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.running.step_setter import StepSetter
from benchconsole.store.errors import StoreError
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.selection import fold

if TYPE_CHECKING:
    from benchconsole.console.session.interval_teller import IntervalTeller, RoundTeller
    from benchconsole.console.session.safety import SafetyPolicy
    from benchconsole.probes.api import Probe
    from benchconsole.probes.hygiene.prerequisites import Survey
    from benchconsole.probes.model.remote import Reach
    from benchconsole.probes.running.guards.guard import Guard
    from benchconsole.topology.model.fabric import Fabric, Node, NodeId

SET_BACK_SECONDS = 120.0
"""How long it may take to set back what was set on nodes between the points of sweeps."""

AT_ONCE_SECONDS = 1.0
"""How long connections may take to close where the operator wants to leave at once."""

PROOF_SECONDS = 15.0
"""How long the nodes may take to show that nothing of ours is left, where the run was ended before its time."""


@dataclass(slots=True)
class Execution:
    """One run of the session with the id ``session``. ``because`` says afterwards why it ended early; else empty.

    ``origin`` names the distribution that brought a probe. ``sweeps`` knows which rounds of a sweep need not be run
    any more. ``interrupted`` are attempts of an earlier run that go on, with their results, by round. When all
    rounds have run, ``plan_further`` is asked for more, until it gives none. ``sample_load``: the load of nodes is
    sampled while their tests run. ``is_watched``: whether a screen shows what running tests tell of their intervals,
    asked as each round begins. ``deadline`` is the moment by ``clock`` at which the run is to be over: a round that is
    not expected to be over by then, with the end of the run, is not begun, and ``is_out_of_time`` says afterwards that
    there was one.
    """

    session: str
    fabric: "Fabric"
    probes: Mapping[str, "Probe"]
    origin: Mapping[str, str]
    policy: "SafetyPolicy"
    reach: "Reach"
    judged: JudgedRounds
    writer: DurableWriter
    sweeps: SweepEndings
    tell: Callable[[Event], None]
    clock: Callable[[], float]
    controls: RunControls
    interrupted: Mapping[int, tuple[int, Sequence[Result]]]
    plan_further: Callable[[], Awaitable[Sequence[Round]]]
    sample_load: bool = False
    is_watched: Callable[[], bool] = lambda: False
    deadline: float | None = None
    because: str = ""
    is_out_of_time: bool = False
    steps: StepSetter = field(init=False)
    _judged_by: str = field(init=False)
    _begun: list[Round] = field(default_factory=list)
    _canary_told: list[Noticed] = field(default_factory=list)
    _teller: "IntervalTeller | None" = None
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        self.steps = StepSetter(self.reach, self.fabric.nodes, self._record, self._note)
        self._judged_by = name_judgement(self.fabric)  # long to make of many nodes, and the same for every round

    async def run(self, rounds: Sequence[Round], unsearched: Sequence[Round] = ()) -> None:
        """Run ``rounds`` to their end, or until an order or the guard ends it.

        ``unsearched`` are rounds of an earlier run that died before it searched their nodes.
        """
        self._begun += unsearched
        self.steps.adopt(unsearched)
        is_hurried = True
        try:
            await self._run_all(rounds)
            is_hurried = False
        finally:
            await self._leave(is_hurried=is_hurried)

    async def _run_all(self, rounds: Sequence[Round]) -> None:
        guard = await self.policy.guard(self.fabric, rounds, self.probes, self.reach, self._tell_still)
        async with guard:
            self._tell_canary(guard)
            await self._record_canary()
            found = await self._survey(rounds)
            runner = Runner(
                self.reach, self.probes, origin=self.origin, lacks=found.lacks, hung=found.hung, clock=self.clock,
                sampled=self._list_sampled if self.sample_load else None,
            )  # fmt: skip
            waiting = rounds
            try:
                while waiting and await self._run_each(waiting, runner, guard):
                    waiting = await self.plan_further()
            finally:
                try:
                    await self._set_back()  # first of all: whatever refuses to be written must not keep nodes changed
                finally:
                    for task in found.late.values():
                        task.cancel()
                    await self._record_canary()

    async def _run_each(self, rounds: Sequence[Round], runner: Runner, guard: "Guard") -> bool:
        """Run ``rounds``, one after the other; whether nothing ended them early."""
        for each in rounds:
            await self.controls.free.wait()
            if self.controls.stopping:
                return False
            why = self.sweeps.find_reason(each)
            if why and all(map(was_skipped, self.interrupted.get(each.number, (0, ()))[1])):
                await self._spare(each, why)
                continue
            self.is_out_of_time = not fits_before(self.deadline, each, self.clock())
            if self.is_out_of_time:
                return False
            self.because = guard.because or await self.policy.taken(self.fabric, each, self.probes)
            if self.because:
                return False
            closed = await self._run_round(runner, each, guard)
            if closed.reason is CloseReason.STOPPED:
                self.because = closed.because
                return False
        return True

    def _list_sampled(self, test: Test) -> "tuple[Node, ...]":
        """The nodes of a test whose load is sampled; none where the test only asks what a node is made of."""
        return () if test.probe == INVENTORY else list_sampled(self.fabric, test)

    def _tell_canary(self, guard: "Guard") -> None:
        """Tell which nodes watch for harm to others; where nothing calls for that, nothing is told."""
        canary = guard.canary
        if canary is not None:
            self._tell_of_canary(CANARY, f"{canary.here.id} pings {canary.there.id} while tests run")
        elif guard.wants_canary and not self._canary_told:
            self._tell_still("no two nodes lead to each other; nothing watches for harm to others")

    def _tell_still(self, words: str) -> None:
        self._tell_of_canary(CANARY_STILL, words)

    def _tell_of_canary(self, kind: str, words: str) -> None:
        noticed = make_noticed(kind, words, self.clock())
        self._canary_told.append(noticed)
        self.tell(noticed)

    async def _record_canary(self) -> None:
        """Keep what was told of the canary with the session."""
        told, self._canary_told = self._canary_told, []
        for each in told:
            await self.writer.note(each.kind, each.text.removeprefix(f"{each.kind}: "), each.at)

    def _notice(self, words: str) -> None:
        """Tell what concerns no single test, from whatever thread it is noticed in."""
        with suppress(RuntimeError):  # the loop is gone, and with it everybody who listens
            event = Noticed(words, self.clock())
            self._loop.call_soon_threadsafe(self.tell, event)

    async def _survey(self, rounds: Sequence[Round]) -> "Survey":
        """The things that tests need and nodes lack, and the tools that hang, told once and folded over the nodes."""
        from benchconsole.probes.hygiene.prerequisites import survey

        found = await survey(self.reach, rounds, self.probes)
        alike = group_by_key(((probe, failure.detail), node) for (probe, node), failure in found.lacks.items())
        for (probe, words), nodes in alike.items():
            self._notice(f"{probe} is left out on {fold(nodes)}: {words}")
        if found.late:
            self._notice(f"the run begins without an answer of {fold(found.late)}, which others do not wait for")
        for probe, nodes in group_by_key(sorted(found.hung)).items():
            self._notice(f"{probe} may hang on {fold(nodes)}: its tool did not tell its version")
        return found

    async def _begin(self, each: Round) -> tuple[int, Sequence[Result]]:
        """The number of the attempt, and the results that it has already."""
        attempt, done = self.interrupted.get(each.number, (0, ()))
        return attempt or await self.writer.begin(each), done

    async def _run_round(self, runner: Runner, each: Round, guard: "Guard") -> ClosedRound:
        attempt, done = await self._begin(each)
        self._begun.append(each)
        writer, tell, clock = self.writer, self.tell, self.clock
        tell(RoundStarted(each, clock(), compute_time_limit(each, self.probes)))
        watchers = RoundObserver(
            lambda test: tell(TestStarted(test, clock())), tell, lambda result: writer.result(each, attempt, result),
            self._notice, self._notice, self._begin_intervals(each),
        )  # fmt: skip
        held = await self._prepare(each)
        closed = await runner.run(each, watchers, guard=guard, done=done, held=held)
        return await self._close(closed, attempt)

    def _begin_intervals(self, each: Round) -> "RoundTeller | None":
        """Who is told what the running tests of a round say; None where no screen looks on."""
        if not self.is_watched():
            return None
        if self._teller is None:
            from benchconsole.console.session.interval_teller import IntervalTeller

            self._teller = IntervalTeller(self.fabric, self.probes, self.tell, self.clock)
        return self._teller.begin(each)

    async def _prepare(self, each: Round) -> Mapping["NodeId", Failure]:
        """Set the values that a round needs on nodes; the nodes of its tests that then cannot take part, and why.

        Where a node that no test runs on was not set, no test can be trusted.
        """
        failures = await self.steps.prepare(each)
        members = {node.id for test in each.tests for node in test.target.nodes}
        foreign = next((failure for node, failure in failures.items() if node not in members), None)
        return failures if foreign is None else {**dict.fromkeys(members, foreign), **failures}

    async def _set_back(self) -> None:
        """Set back what is still set on nodes, however the run ends, and tell what could not be."""
        if self.controls.abandoned:
            return
        try:
            async with asyncio.timeout(SET_BACK_SECONDS):
                failures = await self.steps.undo()
        except TimeoutError:
            self._notice(f"values that were set on nodes may not be set back: not done within {SET_BACK_SECONDS:.0f} s")
            return
        for words, nodes in group_by_key((failure.detail, node) for node, failure in failures.items()).items():
            self._notice(f"{fold(nodes)}: {words}")
            await self._note(f"{fold(nodes)}: {words}")

    async def _record(self, words: str) -> None:
        """Keep what is changed on nodes, before it is done."""
        await self.writer.note("change", words, self.clock())

    async def _note(self, words: str) -> None:
        """Keep what was done on nodes; told where nothing takes it, for it is done all the same."""
        try:
            await self._record(words)
        except StoreError as error:
            self._notice(f"{words} (not in the record: {error.found})")

    async def _close(self, closed: ClosedRound, attempt: int) -> ClosedRound:
        """Judge, store and tell a round, and tell what ended with it."""
        judged = replace(self.judged.judging.judge(closed), attempt=attempt, judged_by=self._judged_by)
        await self.writer.close(judged)
        self.tell(self.judged.add(judged))
        ended = self.sweeps.add_round(closed)
        if len(closed.results) >= LARGE_ROUND:
            return_memory()
        if ended:
            self.tell(Noticed(ended, self.clock()))
        return closed

    async def _spare(self, each: Round, why: str) -> None:
        """Store and tell a round that is not run: its tests are skipped, for the reason that is given."""
        attempt, done = await self._begin(each)
        now = self.clock()
        known = {result.test.id: result for result in done}
        fresh = {result.test.id: replace(result, started=now) for result in make_skipped_results(each, why)}
        await asyncio.gather(*(self.writer.result(each, attempt, fresh[test]) for test in fresh.keys() - known.keys()))
        results = tuple({**fresh, **known}[test.id] for test in each.tests)
        closed = ClosedRound(each, results, CloseReason.COMPLETE, now, now)
        await self._close(closed, attempt)

    async def _leave(self, *, is_hurried: bool) -> None:
        """Have the nodes show that nothing is left, then close the connections; at once where that was ordered."""
        if self._teller is not None:
            self._teller.close()
        try:
            if self._begun and not self.controls.abandoned:
                await self._prove(is_hurried=is_hurried)
        finally:
            try:
                async with asyncio.timeout(AT_ONCE_SECONDS if self.controls.abandoned else None):
                    await self.reach.close()
            except TimeoutError:
                pass
            except RemoteError as error:  # the run is done, and its results are stored
                self._notice(f"the way to the nodes was not closed as it should be: {error}")

    async def _prove(self, *, is_hurried: bool) -> None:
        from benchconsole.probes.hygiene.leftover_proof import prove, touched

        places = touched(self._begun, self.probes)
        nodes = {node.id: node for node in places.nodes}
        if self.sample_load:
            tests = (test for each in self._begun for test in each.tests)
            nodes.update((node.id, node) for test in tests for node in self._list_sampled(test))
        try:
            async with asyncio.timeout(PROOF_SECONDS if is_hurried else None):
                proofs = await prove(
                    self.reach, tuple(nodes.values()), self.session,
                    scratch=places.scratch, privileged=places.privileged,
                )  # fmt: skip
        except TimeoutError:
            late = f"not searched within {PROOF_SECONDS:.0f} s"
            proofs = tuple(Proof(node.id, asked=False, detail=late) for node in nodes.values())
        now = self.clock()
        await self.writer.keep(lambda target: target.append_proofs(proofs, now))
        self.tell(NodesProven(proofs, now))
