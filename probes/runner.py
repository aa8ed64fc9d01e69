"""Owns running one round: reach the nodes, run every test at once, read what they said.

Each test runs inside its own guard, so that one failing probe or node costs its own test only.
Refuses to judge and to store; the caller is told of starts and results as they come.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from probes.api import Probe
from probes.errors import ProbeError, ProbeOutputError
from probes.model import (
    ClosedRound,
    CloseReason,
    Fact,
    FailedAt,
    Failure,
    Measurement,
    Output,
    Reading,
    Result,
    Round,
    Test,
)
from probes.remote import Reach, Remote, RemoteError
from topology.model import NodeId

GATE_SECONDS = 30.0
"""How long tests that are ready wait for those of their round that are not."""

STRIKES = 2
"""Rounds in which a probe may hang on a node; after that it is not started there again in this run."""

OVERTIME = 120.0
"""Seconds beyond three times its estimate after which a test is given up, whatever its probe awaits."""


class Gate:
    """Lets the tests of a round start sending together: opens when each is ready or has ended."""

    def __init__(self, parties: int) -> None:
        self._waiting = parties
        self._open = asyncio.Event()
        if parties == 0:
            self._open.set()

    def arrive(self) -> None:
        """One test is ready, or will never be."""
        self._waiting -= 1
        if self._waiting <= 0:
            self._open.set()

    async def wait(self) -> None:
        """Return when all have arrived, or after GATE_SECONDS: a straggler must not stop the rest."""
        try:
            await asyncio.wait_for(self._open.wait(), GATE_SECONDS)
        except TimeoutError:
            self._open.set()


@dataclass(slots=True)
class _Contact:
    """The nodes of one running test; records every output so that none is lost with an error."""

    gate: Gate
    remotes: Sequence[Remote]
    arrived: bool = False

    @property
    def here(self) -> Remote:
        return self.remotes[0]

    @property
    def there(self) -> Remote:
        if len(self.remotes) < 2:
            raise ProbeError("this target has no peer")
        return self.remotes[1]

    @property
    def everyone(self) -> Sequence[Remote]:
        return self.remotes

    def arrive(self) -> None:
        if not self.arrived:
            self.arrived = True
            self.gate.arrive()

    async def together(self) -> None:
        self.arrive()
        await self.gate.wait()


@dataclass(slots=True)
class Watchers:
    """Whom to tell: called on the loop, must not block."""

    started: Callable[[Test], None] = field(default=lambda test: None)
    ended: Callable[[Result], None] = field(default=lambda result: None)


def read(probe: Probe, output: Output) -> tuple[tuple[Reading, ...], tuple[Fact, ...]]:
    """What ``probe`` reads from one output, held against what it declares.

    Raises ProbeOutputError when the tool failed (whatever it printed), when the output gives
    nothing, and when a reading is undeclared, in another unit, or not finite.
    """
    if output.exit_status != 0 or output.signal:
        words = _first_line(output.error_text) or _first_line(output.text) or "no message"
        how = f"signal {output.signal}" if output.signal else f"exit status {output.exit_status}"
        raise ProbeOutputError(f"{how}: {words}", "a tool that ends with exit status 0")
    if output.truncated:
        raise ProbeOutputError("output that was cut", "the whole output")
    declared = {metric.name: metric for metric in probe.metrics}
    readings: list[Reading] = []
    facts: list[Fact] = []
    for item in probe.parse(output):
        if isinstance(item, Fact):
            facts.append(item)
            continue
        metric = declared.get(item.metric)
        if metric is None or metric.unit is not item.unit:
            raise ProbeOutputError(f"{item.metric} in {item.unit}", f"a metric that {probe.name} declares")
        if not math.isfinite(item.value):
            raise ProbeOutputError(f"{item.metric} = {item.value}", "a finite number")
        readings.append(item)
    return tuple(readings), tuple(facts)


def _first_line(text: str) -> str:
    return next((line.strip()[:300] for line in text.splitlines() if line.strip()), "")


def _missing(probe: Probe, output: Output) -> Failure | None:
    """The failure of a tool that is not there (127 by POSIX: the shell found no such command)."""
    if output.exit_status != 127:
        return None
    return _in_words(probe, Failure(FailedAt.MISSING_TOOL, f"{output.argv[0]} is not installed", NodeId(output.node)))


def _in_words(probe: Probe, failure: Failure) -> Failure:
    """A missing tool said the same way, whichever end of the connection noticed it."""
    if failure.stage is not FailedAt.MISSING_TOOL or not probe.tools:
        return failure
    tool = next((tool for tool in probe.tools if tool in failure.detail), next(iter(probe.tools)))
    return replace(failure, detail=f"{tool} is not installed (Debian package {probe.tools[tool]})")


class Runner:
    """Runs rounds over one Reach. ``clock`` gives UTC seconds and exists to be replaced in tests."""

    def __init__(self, reach: Reach, probes: Mapping[str, Probe], *, clock: Callable[[], float] = time.time) -> None:
        self._reach = reach
        self._probes = probes
        self._clock = clock
        self._hung: dict[tuple[str, str], list[int]] = {}

    async def run(self, each: Round, watchers: Watchers) -> ClosedRound:
        """Run one round to its end. Cancelling it ends every remote command of the round."""
        started = self._clock()
        probe = self._probes[each.probe]
        remotes = await self._reach_all(each)
        remotes.update(self._held(each, remotes))
        runnable = [test for test in each.tests if not isinstance(self._trouble(test, remotes), Failure)]
        gate = Gate(len(runnable))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._one(probe, test, remotes, gate, watchers)) for test in each.tests]
        results = tuple(task.result() for task in tasks)
        self._note(each, results)
        return ClosedRound(each, results, CloseReason.COMPLETE, started, self._clock())

    async def _reach_all(self, each: Round) -> dict[str, Remote | Failure]:
        """Open every connection of the round before anything is started on any node."""
        nodes = {node.id: node for test in each.tests for node in test.target.nodes}

        async def open_one(name: str) -> tuple[str, Remote | Failure]:
            try:
                return name, await self._reach.remote(nodes[name])  # type: ignore[index]
            except RemoteError as error:
                return name, error.failure

        return dict(await asyncio.gather(*(open_one(name) for name in nodes)))

    def _held(self, each: Round, remotes: Mapping[str, Remote | Failure]) -> dict[str, Remote | Failure]:
        """Nodes on which this probe hung too often to be worth everybody's waiting."""
        found: dict[str, Remote | Failure] = {}
        for name in remotes:
            rounds = self._hung.get((each.probe, name), [])
            if len(rounds) >= STRIKES:
                words = f"{each.probe} hung here in rounds {', '.join(map(str, rounds))} and was not started again"
                found[name] = Failure(FailedAt.HELD, words, NodeId(name))
        return found

    def _note(self, each: Round, results: Sequence[Result]) -> None:
        """Remember on which nodes the probe hung in this round."""
        for result in results:
            failure = result.failure
            if failure is not None and failure.stage is FailedAt.TIMEOUT:
                rounds = self._hung.setdefault((each.probe, failure.node), [])
                if each.number not in rounds:
                    rounds.append(each.number)

    @staticmethod
    def _trouble(test: Test, remotes: Mapping[str, Remote | Failure]) -> Failure | None:
        found = (remotes[node.id] for node in test.target.nodes)
        return next((remote for remote in found if isinstance(remote, Failure)), None)

    async def _one(
        self, probe: Probe, test: Test, remotes: Mapping[str, Remote | Failure], gate: Gate, watchers: Watchers
    ) -> Result:
        started = self._clock()
        trouble = self._trouble(test, remotes)
        if trouble is not None:
            result = Result(test, failure=trouble, started=started)
        else:
            watchers.started(test)
            contact = _Contact(gate, [remotes[node.id] for node in test.target.nodes])  # type: ignore[misc]
            result = await self._guarded(probe, test, contact, started)
            contact.arrive()
        watchers.ended(result)
        return result

    async def _guarded(self, probe: Probe, test: Test, contact: _Contact, started: float) -> Result:
        """Run one probe; whatever it raises is a failure of this test. This is one of the named borders."""
        outputs: tuple[Output, ...] = ()
        node = test.target.node.id
        try:
            limit = 3 * probe.estimate(test.target.options) + OVERTIME
            async with asyncio.timeout(limit):
                outputs = tuple(await probe.run(contact, test.target))
        except RemoteError as error:
            outputs = (error.output,) if error.output else ()
            failure = _in_words(probe, error.failure)
        except TimeoutError:
            failure = Failure(FailedAt.TIMEOUT, f"no end after {limit:.0f} s", node)
        except Exception as error:  # a probe is a plugin: its mistakes must not stop the others
            failure = Failure(FailedAt.PROBE, f"{type(error).__name__}: {error}"[:500], node)
        else:
            return self._result(probe, test, outputs, started)
        return Result(test, outputs, failure=failure, started=started, seconds=self._clock() - started)

    def _result(self, probe: Probe, test: Test, outputs: Sequence[Output], started: float) -> Result:
        readings: list[Reading] = []
        facts: list[Fact] = []
        failure: Failure | None = None
        for output in outputs:
            failure = failure or _missing(probe, output)
        try:
            for output in outputs if failure is None else ():
                more, told = read(probe, output)
                readings += more
                facts += told
        except ProbeOutputError as error:
            stage = FailedAt.OUTPUT if output.exit_status == 0 else FailedAt.TOOL
            failure = Failure(stage, f"found {error.found}, expected {error.expected}"[:500], test.target.node.id)
        except Exception as error:  # the parser of a plugin
            failure = Failure(FailedAt.PROBE, f"{type(error).__name__}: {error}"[:500], test.target.node.id)
        now = self._clock()
        measurements = tuple(
            Measurement(f"{test.id}#{index}", test, reading, now) for index, reading in enumerate(readings)
        )
        if failure is not None:
            measurements, facts = (), []
        return Result(test, tuple(outputs), measurements, tuple(facts), failure, started, now - started)
