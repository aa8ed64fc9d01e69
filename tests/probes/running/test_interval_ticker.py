"""The numbers of a round: one list a second for all of its tests, and nothing where nobody asks."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from benchconsole.probes.api import Contact, Interval, Output, Probe, Target, Unit
from benchconsole.probes.model.interval import current_outputs
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.running import interval_ticker
from benchconsole.probes.running.interval_ticker import IntervalTicker
from benchconsole.probes.running.load_sampler import LoadSampler
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing import a_node
from tests.probes.played import Pair, PlayedReach
from tests.probes.plugins.test_interval_reader import Said
from tests.probes.running.test_load_sampler import SampledReach, of_test

TOLD = Interval("iperf3.throughput", 7.0, Unit.BYTE_RATE, 1.0, 1.0)


class Telling(Pair):
    """Has said a line when it begins, and ends when it was told on."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.said = Said(b"a line\n")

    def read_intervals(self, line: str, target: Target) -> Sequence[Interval]:
        return (TOLD,)

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        outputs = current_outputs.get()
        assert outputs is not None
        outputs.add(self.said)
        await self.may_end.wait()
        return await super().run(contact, target)


class Hearing:
    """Keeps every list, and does something after each."""

    def __init__(self, then: Callable[["Hearing"], None] = lambda _: None) -> None:
        self.told: list[Sequence[tuple[str, Interval]]] = []
        self.loads: list[Sequence[NodeLoad]] = []
        self.then = then

    def hear(self, found: Sequence[tuple[str, Interval]], loads: Sequence[NodeLoad]) -> None:
        self.told.append(found)
        self.loads.append(loads)
        self.then(self)


def one(number: int = 1) -> Test:
    return Test(f"t{number}", "iperf3", Target(a_node("n1"), a_node("n2")), 1)


def planned(*tests: Test) -> Round:
    return Round(1, "one", "iperf3", tests, 1.0, "to see")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interval_ticker, "EVERY", 0.0)


async def test_a_test_that_runs_is_told_of_once_and_then_each_second_that_there_is_no_news() -> None:
    probe = Telling()
    heard = Hearing(lambda heard: probe.may_end.set() if len(heard.told) == 3 else None)
    closed = await Runner(PlayedReach(), {"iperf3": probe}).run(planned(one()), RoundObserver(intervals=heard))
    assert [each for each in heard.told if each] == [[("t1", TOLD)]]
    assert len(heard.told) >= 3
    assert closed.results[0].measurements


async def test_all_tests_of_a_round_are_told_in_one_list() -> None:
    was_told = asyncio.Event()
    heard = Hearing(lambda _: was_told.set())
    tests = [one(number) for number in range(interval_ticker._IN_A_ROW + 3)]
    ticker = IntervalTicker(heard, LoadSampler(1.0))
    reading = [ticker.read(test, Telling()) for test in tests]
    said = []
    for each in reading:
        each.__enter__()
        outputs = current_outputs.get()
        assert outputs is not None
        said.append(Said(b"a line\n"))
        outputs.add(said[-1])
    running = asyncio.create_task(ticker.run())
    await asyncio.wait_for(was_told.wait(), 10)
    running.cancel()
    for each in reversed(reading):
        each.__exit__(None, None, None)
    assert [name for name, _ in heard.told[0]] == [test.id for test in tests]
    assert current_outputs.get() is None


@pytest.mark.parametrize(("is_asked", "probe"), [(False, Telling), (True, Pair)])
async def test_no_output_is_kept_for_nobody(is_asked: bool, probe: type[Probe]) -> None:
    ticker = IntervalTicker(Hearing() if is_asked else None, LoadSampler(1.0))
    with ticker.read(one(), probe()):
        assert current_outputs.get() is None


async def test_a_test_that_fails_is_not_read_any_more() -> None:
    heard = Hearing()
    ticker = IntervalTicker(heard, LoadSampler(1.0))
    with pytest.raises(ValueError, match="broken"), ticker.read(one(), Telling()):
        raise ValueError("broken")
    running = asyncio.create_task(ticker.run())
    for _ in range(5):
        await asyncio.sleep(0)
    running.cancel()
    assert heard.told == []


async def test_what_a_screen_does_wrong_costs_the_round_nothing() -> None:
    probe = Telling()

    def fail(_: Hearing) -> None:
        probe.may_end.set()
        raise ValueError("the screen is broken")

    closed = await Runner(PlayedReach(), {"iperf3": probe}).run(planned(one()), RoundObserver(intervals=Hearing(fail)))
    assert closed.results[0].failure is None


async def test_the_load_of_nodes_is_told_where_it_is_sampled() -> None:
    """Of both nodes of the test, though its probe tells no intervals."""
    is_told = asyncio.Event()

    class Waiting(Pair):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            await asyncio.wait_for(is_told.wait(), 10)
            return await super().run(contact, target)

    heard = Hearing(lambda heard: is_told.set() if any(heard.loads) else None)
    runner = Runner(SampledReach(), {"iperf3": Waiting()}, sampled=of_test)
    closed = await runner.run(planned(one()), RoundObserver(intervals=heard))
    assert [(each.node, each.core) for each in heard.loads[0]] == [("n1", "3"), ("n2", "3")]
    assert [each.busy for each in heard.loads[0]] == pytest.approx([0.98, 0.98])
    assert closed.results[0].failure is None
