"""A stranger's probe in a round with others: whatever it does costs its own test, and is named."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytest

from benchconsole.probes.api import Contact, Fact, Output, Probe, Reading, Target, Unit
from benchconsole.probes.model import time_limits
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import FailedAt, Failure, Result, Round, Test
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing.fake import a_node
from tests.probes.played import Alone, PlayedReach

Step = Callable[[Contact, Target], Any]


class Stranger(Alone):
    """Behaves on ``n1`` and misbehaves on ``n2``, in ``run`` or in ``parse``."""

    name = "stranger"
    metrics = Alone.metrics

    def __init__(self, step: Step | None = None, answer: Callable[[], Any] | None = None, limit: Any = 1.0) -> None:
        self.step = step
        self.answer = answer
        self.limit = limit

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        if self.step is not None and target.node.id == "n2":
            found = self.step(contact, target)
            return cast("Sequence[Output]", await found if asyncio.iscoroutine(found) else found)
        return await super().run(contact, target)

    def parse(self, output: Output) -> Sequence[Reading]:
        if self.answer is not None and output.node == "n2":
            return cast("Sequence[Reading]", self.answer())
        return super().parse(output)

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return cast("float", self.limit() if callable(self.limit) else self.limit)


def a_round(*names: str) -> Round:
    tests = tuple(Test(f"1/stranger/{name}", "stranger", Target(a_node(name)), 1) for name in names)
    return Round(1, "stranger", "stranger", tests, 1.0, "because")


async def played(probe: Probe, *names: str) -> dict[str, Result]:
    runner = Runner(PlayedReach(), {"stranger": probe}, origin={"stranger": "dist-x"})
    async with asyncio.timeout(20):
        closed: ClosedRound = await runner.run(a_round(*(names or ("n1", "n2", "n3"))), RoundObserver())
    assert closed.reason is CloseReason.COMPLETE
    return {result.test.target.key: result for result in closed.results}


def raises(error: BaseException) -> Step:
    def step(contact: Contact, target: Target) -> Any:
        raise error

    return step


async def gives_up(contact: Contact, target: Target) -> Any:
    async with asyncio.timeout(0):
        await asyncio.Event().wait()


async def cancels_itself(contact: Contact, target: Target) -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.Event().wait()


async def cancels_another(contact: Contact, target: Target) -> Any:
    """Lays hands on the tasks of the other tests of its round."""
    mine = asyncio.current_task()
    for task in asyncio.all_tasks() - {mine}:
        if "_run_test" in repr(task.get_coro()):
            task.cancel()
    return await contact.here.run(["facts"], timeout=1)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


def recurses(contact: Contact, target: Target) -> Any:
    return recurses(contact, target)


def lost(contact: Contact, target: Target) -> Any:
    raise RemoteError(Failure(FailedAt.LOST, "gone", target.node.id))


def without_failure(contact: Contact, target: Target) -> Any:
    error = RemoteError(Failure(FailedAt.LOST, "gone", target.node.id))
    error.failure = cast("Failure", None)
    raise error


PROBE, TIMEOUT, OUTPUT = FailedAt.PROBE, FailedAt.TIMEOUT, FailedAt.OUTPUT


@pytest.mark.fault("F39b", "I22")
@pytest.mark.parametrize(
    ("step", "stage", "detail"),
    [
        (raises(ValueError("no")), PROBE, "the probe stranger of dist-x: ValueError: no"),
        (raises(SystemExit(3)), PROBE, "the probe stranger of dist-x: SystemExit: 3"),
        (raises(KeyboardInterrupt()), PROBE, "the probe stranger of dist-x: KeyboardInterrupt"),
        (raises(GeneratorExit()), PROBE, "the probe stranger of dist-x: GeneratorExit"),
        (raises(asyncio.CancelledError()), PROBE, "the probe stranger of dist-x: cancelled itself"),
        (raises(MemoryError()), PROBE, "the probe stranger of dist-x: MemoryError"),
        (raises(StopAsyncIteration("x")), PROBE, "StopAsyncIteration"),
        (raises(StopIteration("x")), PROBE, "the probe stranger of dist-x: "),
        (raises(Unprintable()), PROBE, "Unprintable: an error that cannot be printed"),
        (raises(BaseExceptionGroup("two", [SystemExit(1), ValueError("x")])), PROBE, "BaseExceptionGroup: two"),
        (raises(ValueError("x" * 10_000_000)), PROBE, "ValueError: xxx"),
        (raises(TimeoutError("mine")), TIMEOUT, "the probe gave up: TimeoutError: mine"),
        (without_failure, PROBE, "the probe stranger of dist-x: n2: connection lost: gone"),
        (recurses, PROBE, "RecursionError"),
        (cancels_itself, PROBE, "the probe stranger of dist-x: cancelled itself"),
        (gives_up, TIMEOUT, "the probe gave up: TimeoutError"),
        (lost, FailedAt.LOST, "gone"),
        (lambda contact, target: None, PROBE, "run() returned NoneType, expected a sequence of Output"),
        (lambda contact, target: "text", PROBE, "run() returned str, expected"),
        (lambda contact, target: ["text", 7], PROBE, "run() returned a list with int, str, expected"),
        (lambda contact, target: [Output(("facts",), b"7"), None], PROBE, "a list with NoneType, Output"),
    ],
)  # fmt: skip
async def test_what_run_does_costs_its_own_test(step: Step, stage: FailedAt, detail: str) -> None:
    found = await played(Stranger(step))
    failure = found["n2"].failure
    assert failure is not None
    assert failure.stage is stage
    assert detail in failure.detail
    assert failure.node == "n2"
    assert len(failure.detail) <= 500
    assert found["n1"].measurements
    assert found["n3"].measurements


def forever() -> Any:
    while True:
        yield Fact("a", "b")


def answers(value: Any) -> Callable[[], Any]:
    return lambda: value


def fails(error: BaseException) -> Callable[[], Any]:
    def answer() -> Any:
        raise error

    return answer


def reading(**changes: Any) -> Reading:
    fields: dict[str, Any] = {"metric": "inventory.facts", "value": 7.0, "unit": Unit.ONE} | changes
    return Reading(**fields)


@pytest.mark.fault("F40", "I22")
@pytest.mark.parametrize(
    ("answer", "stage", "detail"),
    [
        (fails(ProbeOutputError("a", "b")), OUTPUT, "found a, expected b"),
        (fails(SystemExit(1)), PROBE, "the probe stranger of dist-x: SystemExit: 1"),
        (fails(asyncio.CancelledError()), PROBE, "the probe stranger of dist-x: CancelledError"),
        (fails(KeyboardInterrupt()), PROBE, "KeyboardInterrupt"),
        (answers(None), PROBE, "TypeError"),
        (answers(17), PROBE, "TypeError"),
        (answers([17]), OUTPUT, "found int among the readings, expected Reading or Fact"),
        (answers("text"), OUTPUT, "found str among the readings"),
        (forever, OUTPUT, "found more than 100,000 readings"),
        (answers([reading(metric="other.rate")]), OUTPUT, "found other.rate in 1, expected a metric that stranger declares"),
        (answers([reading(metric=None)]), OUTPUT, "found None in 1"),
        (answers([reading(unit=Unit.BYTE)]), OUTPUT, "found inventory.facts in B"),
        (answers([reading(unit="MB/s")]), OUTPUT, "found inventory.facts in MB/s"),
        (answers([reading(value=float("nan"))]), OUTPUT, "found inventory.facts = nan, expected a finite number"),
        (answers([reading(value=10**400)]), OUTPUT, "expected a finite number"),
        (answers([reading(value="7")]), OUTPUT, "found inventory.facts = 7, expected a finite number"),
        (answers([reading(value=True)]), OUTPUT, "found inventory.facts = True"),
        (answers([reading(raw="x" * 10_000_000)]), OUTPUT, "a text of 10,000,000 characters, expected at most 65,536"),
        (answers([reading(raw=b"x")]), OUTPUT, "found inventory.facts: bytes, expected text"),
        (answers([reading(labels={"a": "b"})]), OUTPUT, "labels of type dict"),
        (answers([reading(labels=(("a", 1),))]), OUTPUT, "found a label: int, expected text"),
        (answers([reading(labels=(("a", ["b"]),))]), OUTPUT, "found a label: list, expected text"),
        (answers([reading(), reading(labels=(("a", 1),)), reading()]), OUTPUT, "found a label: int, expected text"),
        (answers([Fact("a", "x" * 10_000_000)]), OUTPUT, "found a: a text of 10,000,000 characters"),
        (answers([Fact("a", "\udcff")]), OUTPUT, "half characters"),
        (answers([Fact("a", float("inf"))]), OUTPUT, "found a = inf"),
        (answers([Fact("a", 1.0, cast("Unit", "GB"))]), OUTPUT, "found a in GB"),
        (answers([Fact(cast("str", 7), "b")]), OUTPUT, "the name of a fact: int"),
    ],
)  # fmt: skip
async def test_what_a_parser_makes_up_is_refused(answer: Callable[[], Any], stage: FailedAt, detail: str) -> None:
    found = await played(Stranger(answer=answer))
    failure = found["n2"].failure
    assert failure is not None
    assert failure.stage is stage
    assert detail in failure.detail
    assert found["n2"].measurements == ()
    assert found["n1"].measurements
    assert found["n2"].outputs


@pytest.mark.fault("F40", "I22")
@pytest.mark.parametrize("limit", [float("nan"), -1.0, "soon", None, float("inf"), fails(SystemExit(1))])
async def test_an_estimate_that_is_none_is_a_failure_of_the_probe(limit: Any) -> None:
    found = await played(Stranger(limit=limit))
    assert {result.failure.stage for result in found.values() if result.failure} == {PROBE}
    assert all("estimate()" in result.failure.detail for result in found.values() if result.failure)


@pytest.mark.fault("F39b", "I22")
async def test_a_probe_that_cancels_the_test_of_another_is_no_order_of_ours() -> None:
    found = await played(Stranger(cancels_another))
    stages = {key: result.failure.stage for key, result in found.items() if result.failure}
    assert set(stages.values()) == {PROBE}
    assert all("cancelled the test" in r.failure.detail for r in found.values() if r.failure)


@pytest.mark.fault("F39b", "I22")
async def test_a_probe_that_will_not_be_cancelled_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limits, "CODE_ENDING", 0.05)
    monkeypatch.setattr(time_limits, "OVERTIME", 0.05)
    let_go = asyncio.Event()

    async def stubborn(contact: Contact, target: Target) -> Any:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    found = await played(Stranger(stubborn, limit=0))
    failure = found["n2"].failure
    assert failure is not None
    assert failure.stage is TIMEOUT
    assert "ignores that it is cancelled" in failure.detail
    let_go.set()


@pytest.mark.fault("F39b", "I22")
def test_nothing_of_a_probe_can_end_the_loop() -> None:
    """As a console runs it: SystemExit in a task of ours would end asyncio.run."""
    found = asyncio.run(played(Stranger(raises(SystemExit(7)))))
    assert found["n3"].measurements
