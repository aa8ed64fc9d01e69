"""Owns one stretch of work on a session: its rounds one after the other, then the proof that nothing is left.

A result is kept before anybody hears of it, and a round is judged and kept before it is told. Refuses to
plan and to know how events reach anybody.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from console.events import Event, NodesProven, RoundStarted, TestEnded, TestStarted
from console.keeper import Keeper
from probes.model import ClosedRound, CloseReason, Proof, Result, Round, Test
from probes.planning.ending import spared, was_spared
from probes.runner import Runner, Watchers
from topology.selection import fold

if TYPE_CHECKING:
    from console.care import Care
    from probes.api import Probe
    from probes.guards.guard import Watching
    from probes.model import Failure
    from probes.remote import Reach
    from topology.model import Fabric, NodeId

AT_ONCE_SECONDS = 1.0
"""How long connections may take to close where the operator wants to leave at once."""

PROOF_SECONDS = 15.0
"""How long the nodes may take to show that nothing of ours is left, where the run was ended before its time."""


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass(slots=True)
class Orders:
    """What an operator has asked for meanwhile. ``free`` is cleared by a pause."""

    free: asyncio.Event = field(default_factory=_set)
    stopping: bool = False
    abandoned: bool = False


@dataclass(slots=True)
class Work:
    """What a stretch of work needs: the rounds, results of an earlier attempt by round, and whom to tell.

    ``judged`` is called with each closed round and its attempt, and keeps and tells it. ``taken`` says in
    words who has begun to use nodes that a round would load; empty while nobody has. ``notice`` hears what
    concerns no single test, from any thread. ``needless`` says in words why a round need not be run any more,
    empty where it must. ``origin`` names the distribution that brought a probe.
    ``unsearched`` are rounds of an earlier stretch that died before it searched their nodes.
    """

    fabric: "Fabric"
    probes: Mapping[str, "Probe"]
    origin: Mapping[str, str]
    care: "Care"
    rounds: Sequence[Round]
    done: Mapping[int, tuple[int, Sequence[Result]]]
    session: str
    make_reach: Callable[[], "Reach"]
    judged: Callable[[ClosedRound, int], Awaitable[None]]
    tell: Callable[[Event], None]
    notice: Callable[[str], None]
    taken: Callable[[Round], Awaitable[str]]
    clock: Callable[[], float]
    needless: Callable[[Round], str] = lambda each: ""
    unsearched: Sequence[Round] = ()


class Drive:
    """Runs ``work``. ``because`` says afterwards why it ended early; empty when it did not."""

    def __init__(self, work: Work, keeper: Keeper, orders: Orders) -> None:
        self.because = ""
        self._work = work
        self._keeper = keeper
        self._orders = orders
        self._begun: list[Round] = list(work.unsearched)

    async def run(self) -> None:
        """Run the rounds to their end, or until an order or the guard ends it."""
        work = self._work
        reach = await asyncio.to_thread(work.make_reach)
        hurried = True
        try:
            guard = await work.care.guard(work.fabric, work.rounds, work.probes, reach, work.notice)
            async with guard:
                lacks = await self._surveyed(reach)
                runner = Runner(reach, work.probes, origin=work.origin, lacks=lacks, clock=work.clock)
                for each in work.rounds:
                    await self._orders.free.wait()
                    if self._orders.stopping:
                        break
                    why = work.needless(each)
                    if why and all(map(was_spared, work.done.get(each.number, (0, ()))[1])):
                        await self._spare(each, why)
                        continue
                    self.because = guard.because or await work.taken(each)
                    if self.because:
                        break
                    closed = await self._round(runner, each, guard)
                    if closed.reason is CloseReason.STOPPED:
                        self.because = closed.because
                        break
            hurried = False
        finally:
            await self._leave(reach, hurried=hurried)

    async def _surveyed(self, reach: "Reach") -> "Mapping[tuple[str, NodeId], Failure]":
        """What the nodes lack of what the tests need, told once and folded over the nodes."""
        from probes.hygiene.needs import survey

        lacks = await survey(reach, self._work.rounds, self._work.probes)
        told: dict[tuple[str, str], list[NodeId]] = {}
        for (probe, node), failure in lacks.items():
            told.setdefault((probe, failure.detail), []).append(node)
        for (probe, words), nodes in told.items():
            self._work.notice(f"{probe} is left out on {fold(nodes)}: {words}")
        return lacks

    async def _round(self, runner: Runner, each: Round, guard: "Watching") -> ClosedRound:
        work = self._work
        attempt, done = work.done.get(each.number, (0, ()))
        attempt = attempt or await self._keeper.begin(each)
        self._begun.append(each)

        def started(test: Test) -> None:
            work.tell(TestStarted(test, work.clock()))

        def ended(result: Result) -> None:
            work.tell(TestEnded(result, work.clock()))

        async def stored(result: Result) -> Result:
            return await self._keeper.result(each, attempt, result)

        work.tell(RoundStarted(each, work.clock()))
        watchers = Watchers(started, ended, stored, work.notice, work.notice)
        closed = await runner.run(each, watchers, guard=guard, done=done)
        await work.judged(closed, attempt)
        return closed

    async def _spare(self, each: Round, why: str) -> None:
        """Keep and tell of a round that is not run: its tests are skipped, for the reason that is given."""
        work = self._work
        attempt, done = work.done.get(each.number, (0, ()))
        attempt = attempt or await self._keeper.begin(each)
        now = work.clock()
        known = {result.test.id: result for result in done}
        fresh = {found.test.id: replace(found, started=now) for found in spared(each, why)}
        await asyncio.gather(*(self._keeper.result(each, attempt, fresh[test]) for test in fresh.keys() - known.keys()))
        results = tuple({**fresh, **known}[test.id] for test in each.tests)
        await work.judged(ClosedRound(each, results, CloseReason.COMPLETE, now, now), attempt)

    async def _leave(self, reach: "Reach", *, hurried: bool) -> None:
        """Have the nodes show that nothing is left, then close the connections; at once where that was ordered."""
        try:
            if self._begun and not self._orders.abandoned:
                await self._prove(reach, hurried=hurried)
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(AT_ONCE_SECONDS if self._orders.abandoned else None):
                    await reach.close()

    async def _prove(self, reach: "Reach", *, hurried: bool) -> None:
        from probes.hygiene.proof import prove, touched

        found = touched(self._begun, self._work.probes)
        try:
            async with asyncio.timeout(PROOF_SECONDS if hurried else None):
                proofs = await prove(
                    reach, found.nodes, self._work.session, scratch=found.scratch, privileged=found.privileged
                )
        except TimeoutError:
            late = f"not searched within {PROOF_SECONDS:.0f} s"
            proofs = tuple(Proof(node.id, asked=False, detail=late) for node in found.nodes)
        await self._keeper.proofs(proofs)
        self._work.tell(NodesProven(proofs, self._work.clock()))
