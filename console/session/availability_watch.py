"""A watch: samples of nodes at planned times, all of them rounds of one stored session, over days and restarts.

Samples that the console missed stay missed: nothing is made up for them.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchconsole.console.availability.evaluation import SampleSchedule, UptimeSample, read_sample, read_schedule
from benchconsole.console.availability.watch_options import EVERY, LASTS
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.node_access import MakeReach, make_ssh_reach
from benchconsole.console.session.safety import SafetyPolicy
from benchconsole.console.session.session import Session
from benchconsole.console.session.stored_verdict import decide_sampled, keep_verdict
from benchconsole.console.view.events import Event, Held, Noticed, Resumed
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.probes.model.probe_names import AVAILABILITY
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.store.errors import StoreError
from benchconsole.store.model import ProbeOutcome
from benchconsole.store.session_summary import SessionState
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, Stage, Suite

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.store.store import Store

LOOK_AGAIN = 30.0
"""Seconds of one sleep at most: the wall clock, by which samples are due, may be set meanwhile."""

STOPPED = "the watch was stopped before its end"


class SystemClock:
    """The clock of this machine, and how to wait for a moment; in UTC seconds."""

    def now(self) -> float:
        return time.time()

    async def until(self, at: float) -> None:
        """Return at this moment, or as soon as it has passed."""
        while (left := at - time.time()) > 0:  # noqa: ASYNC110 - nobody but the clock could say that it is time
            await asyncio.sleep(min(left, LOOK_AGAIN))


@dataclass(frozen=True, slots=True)
class TakenSample:
    """A sample that was taken and is stored: which of how many, and the results of its tests."""

    number: int
    last: int
    at: float
    results: tuple[Result, ...]

    @property
    def samples(self) -> tuple[tuple[Result, UptimeSample | None], ...]:
        """Each result with what it says of its node."""
        found = []
        for result in self.results:
            stage = result.failure.stage if result.failure else None
            numbers = tuple((each.metric, each.value) for each in result.measurements)
            facts = {fact.fact: fact.value for fact in result.facts}
            outcome = ProbeOutcome(result.test.target.node.id, result.started, stage, numbers, facts)
            found.append((result, read_sample(outcome)))
        return tuple(found)


def find_watched_suite(fabric: Fabric, name: str | None) -> Suite:
    """The suite of one sample: ``name``, else ``availability`` of the file, else that probe on every node.

    PlanError for a suite that the file does not have, or that does more.
    """
    found = fabric.suites.get(name or AVAILABILITY)
    if found is None and name in (None, AVAILABILITY):
        return Suite(AVAILABILITY, (Stage(AVAILABILITY, tuple(fabric.nodes), {}),))
    if found is None:
        raise PlanError(f"suite {name!r}: found no such suite, expected one of {', '.join(fabric.suites) or 'none'}")
    others = [stage.probe for stage in found.stages if stage.probe != AVAILABILITY or stage.sweep is not None]
    if others:
        raise PlanError(f"suite {name!r}: found {others[0]}, expected stages of {AVAILABILITY} without a sweep")
    return found


class AvailabilityWatch:
    """Takes samples until ``choice.options`` say that it is over, or ``stop`` is called.

    ``suite`` is what one sample asks. One that was begun earlier is taken up with ``take_up``.
    """

    def __init__(
        self,
        fabric: Fabric,
        probes: "Mapping[str, Probe]",
        store: "Store",
        suite: Suite,
        choice: SessionChoice,
        *,
        make_reach: MakeReach = make_ssh_reach,
        clock: SystemClock | None = None,
    ) -> None:
        self.id = ""
        self.tell: Callable[[Event | TakenSample], None] = lambda _: None
        self._fabric = fabric
        self._probes = probes
        self._store = store
        self._suite = suite
        self._choice = replace(choice, policy=SafetyPolicy(patient=True))
        self._make_reach = make_reach
        self._clock = clock or SystemClock()
        self._left: tuple[Round, ...] = ()
        self._next = 1
        self._is_over = False
        self._session: Session | None = None
        self._closed: list[ClosedRound] = []
        self._stop = asyncio.Event()
        every, lasts = (float(choice.options[name]) for name in (EVERY, LASTS))
        self._schedule = SampleSchedule(self._clock.now(), every, lasts)

    def take_up(self, key: str) -> None:
        """Go on with a stored watch, by its own schedule; rounds that were cut short are the next sample."""
        session = self._store.session(key)
        stored = session.describe()
        schedule = read_schedule(stored)
        if schedule is None:
            raise PlanError(f"session {key} is no watch; begin one with: benchconsole watch TOPOLOGY")
        self.id, self._schedule, self._is_over = key, schedule, stored.state is SessionState.COMPLETE
        planned = session.read_plan(self._fabric)
        closed = {number for number, _ in session.list_closed_rounds()}
        self._left = tuple(each for each in planned if each.number not in closed)
        self._next = max((each.number for each in planned), default=0) + 1

    def stop(self) -> None:
        """End now: a sample under way is cut short, what it gave by then is kept."""
        self._stop.set()
        if self._session is not None:
            self._session.stop(now=True)

    async def run(self) -> bool:
        """Take the samples; whether the watch came to its end. DrivenError while another process has the session."""
        is_over = await self._take_samples()
        if self.id:
            await self._keep_verdict()
        return is_over

    async def _take_samples(self) -> bool:
        number = await self._taken_up() if self.id else 0
        while number <= self._schedule.last:
            await self._wait(number)
            if not self._stop.is_set():
                await self._sample(number)
            if self._stop.is_set():
                if self.id:
                    await self._hold()
                    await self._store.session(self.id).end(at=self._clock.now(), complete=False, because=STOPPED)
                return False
            # Samples that went by while this one took its time are missed, but never the last.
            gone_by, last = max(number, self._schedule.number(self._clock.now())), self._schedule.last
            number = number + 1 if number >= last else min(gone_by + 1, last)
        return True

    async def _taken_up(self) -> int:
        """Drive the stored session, and say which sample comes next: beyond the last where the watch is over."""
        await self._store.session(self.id).claim()
        now, last = self._clock.now(), self._schedule.last
        due = self._schedule.number(now)
        if due < last:
            return due if self._left else due + 1
        if due == last and not self._is_over:
            return last
        await self._store.session(self.id).end(at=now, complete=not self._left)
        return last + 1

    async def _wait(self, number: int) -> None:
        """Until a sample is due, or the watch is to end."""
        due = asyncio.create_task(self._clock.until(self._schedule.due(number)))
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait((due, stop), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (due, stop):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _sample(self, number: int) -> None:
        """Plan, run and store one sample, and keep the session for the next."""
        rounds = self._left or self._planned(number)
        session = Session(
            self._fabric, self._probes, self._store, self._choice, make_reach=self._make_reach, clock=self._clock.now
        )
        session.id, session.plan = self.id, self._left
        self._session, self._closed = session, []
        session.observers.append(self._hear)
        session.start(rounds)
        await session.finished()
        if not session.id:
            return  # stopped before anything was stored
        if not self.id:
            self.id = session.id
            self._schedule = replace(self._schedule, began=self._store.session(self.id).describe().new.started)
        self._next = max(self._next, max(each.number for each in rounds) + 1)
        self._left = () if len(self._closed) == len(rounds) else self._left
        if self._closed:
            results = tuple(result for each in self._closed for result in each.results)
            self.tell(TakenSample(number, self._schedule.last, self._closed[0].started, results))
        if number < self._schedule.last:
            await self._hold()

    def _hear(self, event: Event) -> None:
        """Take note of a round of the sample under way, and pass on what holds it up."""
        if isinstance(event, ClosedRound):
            self._closed.append(event)
        elif isinstance(event, Held | Resumed | Noticed):
            self.tell(event)

    def _planned(self, number: int) -> tuple[Round, ...]:
        rounds = plan(self._fabric, self._suite, self._probes, nodes=self._choice.nodes, first=self._next)
        due = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._schedule.due(number)))
        words = f"sample {number} of {self._schedule.last}, due {due}"
        return tuple(replace(each, because=words) for each in rounds)

    async def _hold(self) -> None:
        """Drive the session between samples, so that nobody else takes it and its record says that it goes on."""
        with self._to_spool():
            await self._store.session(self.id).claim()

    async def _keep_verdict(self) -> None:
        """Store the verdict on all samples with their session: none of them knows it by itself."""
        with self._to_spool():
            verdict = await asyncio.to_thread(decide_sampled, self._store.session(self.id))
            await keep_verdict(self._store, self.id, verdict)

    @contextmanager
    def _to_spool(self) -> Iterator[None]:
        """A temporary refusal of the database is no end: samples are kept in the spool, the rest is made again."""
        try:
            yield
        except StoreError as error:
            if not error.to_spool:
                raise
