"""One round: every test inside its own guard, sending together, each trouble told as what it is."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Contact, Metric, Output, Probe, ProbeOutputError, Reading, Target, Unit
from benchconsole.probes.model.measuring import FailedAt, Failure, Result, Round, Test, join_probes
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.plugins.probe_output import read_output
from benchconsole.probes.running import hung_tools, runner
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing import HANGS, FakeRemote
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node, NodeId
from tests.fabrics import fabric
from tests.probes.played import PROBES, Alone, Pair, PlayedReach


def first_round(folder: Path) -> Round:
    described = fabric(folder)
    return plan(described, find_suite(described, None), PROBES)[0]


def failures(results: Sequence[Result]) -> dict[str, FailedAt]:
    return {each.test.target.key: each.failure.stage for each in results if each.failure}


async def test_every_test_of_a_round_is_measured(tmp_path: Path) -> None:
    each = first_round(tmp_path)
    started: list[Test] = []
    ended: list[Result] = []
    closed = await Runner(PlayedReach(), PROBES).run(each, RoundObserver(started.append, ended.append))
    assert len(closed.results) == len(started) == len(ended) == len(each.tests) == 8
    assert all(result.measurements for result in closed.results)
    assert len({m.id for result in closed.results for m in result.measurements}) == 8


@pytest.mark.fault("F08")
async def test_an_unreachable_node_costs_its_own_tests_only_and_is_named(tmp_path: Path) -> None:
    closed = await Runner(PlayedReach(unreachable=["n2"]), PROBES).run(first_round(tmp_path), RoundObserver())
    assert failures(closed.results) == {"n1>n2": FailedAt.UNREACHABLE, "n2>n3": FailedAt.UNREACHABLE}
    assert {result.failure.node for result in closed.results if result.failure} == {"n2"}


class _Late(PlayedReach):
    """Opens the connection to n2 only when ``may`` is set, and sets ``there``."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()
        self.there = asyncio.Event()

    async def remote(self, node: Node) -> Remote:
        if node.id == "n2":
            await self.may.wait()
            self.there.set()
        return await super().remote(node)


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "LATE", 0.05)


@pytest.mark.fault("F08")
@pytest.mark.usefixtures("short_patience")
async def test_a_node_that_keeps_silent_holds_nobody_up(tmp_path: Path) -> None:
    """The others end without it, and it has its own result, when they have ended."""
    ended: list[Result] = []
    closed = await Runner(_Late(), PROBES).run(first_round(tmp_path), RoundObserver(on_end=ended.append))
    assert failures(closed.results) == {"n1>n2": FailedAt.UNREACHABLE, "n2>n3": FailedAt.UNREACHABLE}
    assert {each.target.key for each in (result.test for result in ended[-2:])} == {"n1>n2", "n2>n3"}
    said = {result.failure for result in closed.results if result.failure}
    assert said == {
        Failure(FailedAt.UNREACHABLE, "no connection yet when all other tests of the round had ended", NodeId("n2"))
    }


@pytest.mark.usefixtures("short_patience")
async def test_a_node_that_comes_while_others_send_is_measured_too(tmp_path: Path) -> None:
    reach = _Late()

    class Slow(Pair):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            await contact.together()
            reach.may.set()
            if "n2" not in target.key:
                await measured.wait()
            return (await contact.here.run(["iperf3"], timeout=5),)

    measured = asyncio.Event()
    late = [0]

    def count(result: Result) -> None:
        late[0] += "n2" in result.test.target.key
        if late[0] == 2:
            measured.set()

    closed = await Runner(reach, {"iperf3": Slow()}).run(first_round(tmp_path), RoundObserver(on_end=count))
    assert failures(closed.results) == {}


@pytest.mark.usefixtures("short_patience")
async def test_a_late_part_of_a_bundle_is_not_started_alone(tmp_path: Path) -> None:
    """The joint load of the flows of a bundle was measured without it."""
    each = first_round(tmp_path)
    bundled = replace(each, tests=tuple(replace(test, bundle="all") for test in each.tests))
    reach = _Late()

    class Opening(Pair):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            reach.may.set()
            await reach.there.wait()
            return await super().run(contact, target)

    closed = await Runner(reach, {"iperf3": Opening()}).run(bundled, RoundObserver())
    late = {result.failure.detail for result in closed.results if result.failure}
    assert failures(closed.results).keys() == {"n1>n2", "n2>n3"}
    assert late == {"its connection came when the flows of its bundle were already under way"}


async def test_tests_wait_for_each_other_before_they_send(tmp_path: Path) -> None:
    ready: list[str] = []
    seen: list[int] = []

    class Counting(Pair):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            ready.append(target.key)
            await contact.together()
            seen.append(len(ready))
            return (await contact.here.run(["iperf3"], timeout=5),)

    await Runner(PlayedReach(), {"iperf3": Counting()}).run(first_round(tmp_path), RoundObserver())
    assert seen == [8] * 8


async def test_a_probe_that_raises_is_a_failure_of_its_test(tmp_path: Path) -> None:
    class Broken(Pair):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            if target.node.id == "n1":
                raise ZeroDivisionError("of the plugin")
            return await super().run(contact, target)

    closed = await Runner(PlayedReach(), {"iperf3": Broken()}).run(first_round(tmp_path), RoundObserver())
    assert failures(closed.results) == {"n1>n2": FailedAt.PROBE}


@pytest.mark.fault("X14")
async def test_a_probe_that_hangs_twice_on_a_node_is_not_started_there_again(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    rounds = plan(described, find_suite(described, None), PROBES)
    reach = PlayedReach()
    timeout = FakeRemote("n1").failure(FailedAt.TIMEOUT, "no end within 5 s")
    reach.remotes["n1"] = FakeRemote("n1").when("iperf3", answers=timeout)
    runner = Runner(reach, PROBES)
    stages = [failures((await runner.run(each, RoundObserver())).results) for each in rounds[:3]]
    assert stages[0] == {"n1>n2": FailedAt.TIMEOUT}
    assert stages[1] == {"n1>n3": FailedAt.TIMEOUT}
    assert set(stages[2].values()) == {FailedAt.HELD}
    assert len(reach.remotes["n1"].calls) == 2
    held = runner.find_hold(PROBES["iperf3"], "n1")
    assert held is not None
    assert held.detail == "iperf3 hung here in round 1 and in round 2, and was not started again"


def mixed_round(folder: Path) -> Round:
    """Tests of both played probes on every node, at once."""
    each = first_round(folder)
    nodes = {node.id: node for test in each.tests for node in test.target.nodes}
    alone = [Test(f"alone/{name}", "inventory", Target(node, None, {}), each.number) for name, node in nodes.items()]
    return replace(each, probe=join_probes(["iperf3", "inventory"]), tests=(*each.tests, *alone))


async def test_a_round_of_two_probes_runs_and_reads_each_test_by_its_own(tmp_path: Path) -> None:
    closed = await Runner(PlayedReach(), PROBES).run(mixed_round(tmp_path), RoundObserver())
    told = {(each.test.probe, reading.metric) for each in closed.results for reading in each.measurements}
    assert told == {("iperf3", "iperf3.throughput"), ("inventory", "inventory.facts")}
    assert all(len(each.measurements) == 1 for each in closed.results)
    parts = closed.part_by_probe()
    assert [(part.round.probe, part.beside) for part in parts] == [
        ("iperf3", ("inventory",)), ("inventory", ("iperf3",)),
    ]  # fmt: skip
    assert sum(len(part.results) for part in parts) == len(closed.results)


async def test_what_holds_one_probe_of_a_round_on_a_node_leaves_the_other(tmp_path: Path) -> None:
    lacks = {("iperf3", NodeId("n1")): Failure(FailedAt.MISSING_TOOL, "no iperf3", NodeId("n1"))}
    closed = await Runner(PlayedReach(), PROBES, lacks=lacks).run(mixed_round(tmp_path), RoundObserver())
    assert failures(closed.results) == {"n1>n2": FailedAt.MISSING_TOOL, "n4>n1": FailedAt.MISSING_TOOL}


async def test_of_two_probes_that_hang_only_the_one_is_held_in_the_next_round(tmp_path: Path) -> None:
    each, reach = mixed_round(tmp_path), PlayedReach()
    timeout = FakeRemote("n1").failure(FailedAt.TIMEOUT, "no end within 5 s")
    fact = Output(("facts",), b"7\n", node="n1")
    reach.remotes["n1"] = FakeRemote("n1").when("iperf3", answers=timeout).when("facts", answers=fact)
    own = Runner(reach, PROBES)
    for number in (1, 2, 3):
        closed = await own.run(replace(each, number=number), RoundObserver())
    assert set(failures(closed.results).items()) >= {("n1>n2", FailedAt.HELD)}
    assert "n1" not in failures(closed.results)
    assert {name for (name, _) in (("iperf3", 1), ("inventory", 2)) if own.find_hold(PROBES[name], "n1")} == {"iperf3"}


@pytest.mark.fault("X14")
async def test_a_tool_that_hung_once_holds_no_round_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it hangs for good in the next round, that ends soon after the others; the one after it leaves it out."""
    monkeypatch.setattr(hung_tools, "PATIENCE_SECONDS", 0.0)
    described = fabric(tmp_path)
    rounds = plan(described, find_suite(described, None), PROBES)
    reach = PlayedReach()
    reach.remotes["n1"] = FakeRemote("n1").when("iperf3", answers=HANGS)
    runner = Runner(reach, PROBES, hung={("iperf3", NodeId("n1"))})
    (failure,) = (each.failure for each in (await runner.run(rounds[0], RoundObserver())).results if each.failure)
    assert (failure.stage, failure.node) == (FailedAt.TIMEOUT, "n1")
    assert failure.detail == (
        "iperf3 hung here when its version was asked for, and had no end when all other tests of the round had"
    )
    assert reach.remotes["n1"].running == []
    stages = failures((await runner.run(rounds[1], RoundObserver())).results)
    assert set(stages.values()) == {FailedAt.HELD}


async def test_a_tool_that_hung_once_and_works_again_is_measured(tmp_path: Path) -> None:
    each = first_round(tmp_path)
    every = {("iperf3", node.id) for test in each.tests for node in test.target.nodes}
    for hung in ({("iperf3", NodeId("n1"))}, every):
        closed = await Runner(PlayedReach(), PROBES, hung=hung).run(each, RoundObserver())
        assert failures(closed.results) == {}


@pytest.mark.fault("X14")
async def test_a_probe_whose_tool_hung_before_the_run_may_hang_once_more(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    rounds = plan(described, find_suite(described, None), PROBES)
    reach = PlayedReach()
    timeout = FakeRemote("n1").failure(FailedAt.TIMEOUT, "no end within 5 s")
    reach.remotes["n1"] = FakeRemote("n1").when("iperf3", answers=timeout)
    runner = Runner(reach, PROBES, hung={("iperf3", NodeId("n1")), ("fio", NodeId("n2"))})
    assert runner.find_hold(PROBES["iperf3"], "n1") is None
    stages = [failures((await runner.run(each, RoundObserver())).results) for each in rounds[:2]]
    assert stages[0] == {"n1>n2": FailedAt.TIMEOUT}
    assert set(stages[1].values()) == {FailedAt.HELD}
    assert runner.find_hold(PROBES["iperf3"], "n2") is None
    held = runner.find_hold(PROBES["iperf3"], "n1")
    assert held is not None
    assert "hung here when its version was asked for and in round 1, and" in held.detail


@pytest.mark.fault("F15")
async def test_a_missing_tool_is_named_with_its_package(tmp_path: Path) -> None:
    reach = PlayedReach()
    absent = Output(("iperf3",), b"", b"sh: iperf3: not found\n", exit_status=127, node="n1")
    reach.remotes["n1"] = FakeRemote("n1").when("iperf3", answers=absent)
    closed = await Runner(reach, PROBES).run(first_round(tmp_path), RoundObserver())
    failure = next(result.failure for result in closed.results if result.failure)
    assert (failure.stage, failure.node) == (FailedAt.MISSING_TOOL, "n1")
    assert "Debian package iperf3" in failure.detail


async def test_cancelling_leaves_nothing_running(tmp_path: Path) -> None:
    reach = PlayedReach()
    reach.remotes["n1"] = FakeRemote("n1").when("iperf3", answers=HANGS)
    others = asyncio.Semaphore(0)
    watchers = RoundObserver(on_end=lambda _result: others.release())
    task = asyncio.create_task(Runner(reach, PROBES).run(first_round(tmp_path), watchers))
    for _ in range(7):
        await others.acquire()
    assert reach.remotes["n1"].running
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reach.remotes["n1"].running == []


class _Says(Alone):
    """Returns whatever reading it was made with."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def parse(self, output: Output) -> Sequence[Reading]:
        return (self.reading,)


@pytest.mark.fault("F40")
@pytest.mark.parametrize(
    "reading",
    [
        Reading("inventory.facts", float("nan"), Unit.ONE),
        Reading("inventory.facts", float("inf"), Unit.ONE),
        Reading("inventory.facts", 1.0, Unit.BYTE),
        Reading("inventory.other", 1.0, Unit.ONE),
    ],
)
def test_readings_that_are_absurd_or_undeclared_are_refused(reading: Reading) -> None:
    with pytest.raises(ProbeOutputError):
        read_output(_Says(reading), Output(("facts",)))


@pytest.mark.parametrize(
    "output",
    [
        Output(("facts",), b"7", exit_status=1),
        Output(("facts",), b"7", signal="KILL"),
        Output(("facts",), b"7", truncated=True),
    ],
)
def test_a_number_of_a_tool_that_failed_is_no_measurement(output: Output) -> None:
    probe: Probe = Alone()
    assert read_output(probe, replace(output, exit_status=0, signal=None, truncated=False))[0][0].value == 7
    with pytest.raises(ProbeOutputError):
        read_output(probe, output)


def test_metrics_are_declared() -> None:
    assert Alone.metrics == (Metric("inventory.facts", Unit.ONE, "facts"),)


class Telling(Alone):
    """Fails with the secret of its options in its mouth."""

    options = MappingProxyType({"password": ""})

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        secret = str(target.options["password"])
        argv = ("facts", "--password", secret)
        return (Output(argv, stderr=f"odd word {secret}\n\x1b[2J".encode(), exit_status=1, node=target.node.id),)


@pytest.mark.fault("I08")
async def test_records_name_node_and_test_and_hide_secret_options(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "benchconsole")
    nodes = fabric(tmp_path).nodes
    secret = "hunter2-planted"
    targets = [Target(node, options=MappingProxyType({"password": secret})) for node in nodes.values()]
    tests = tuple(Test(f"t-{target.node.id}", "inventory", target, 1) for target in targets)
    each = Round(1, "stage", "inventory", tests, 1.0, "a test")
    closed = await Runner(PlayedReach(unreachable=["n2"]), {"inventory": Telling()}).run(each, RoundObserver())
    assert set(failures(closed.results).values()) == {FailedAt.TOOL, FailedAt.UNREACHABLE}
    assert secret not in caplog.text
    assert "\x1b" not in caplog.text
    said = {record.node: (record.test, record.getMessage()) for record in caplog.records}  # type: ignore[attr-defined]
    assert said["n2"] == ("t-n2", "inventory n2: unreachable: refused")
    assert said["n1"] == (
        "t-n1", "inventory n1: tool failed: found exit status 1: odd word ***, expected a tool that ends with exit status 0"
    )  # fmt: skip


async def test_a_hold_is_recorded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "benchconsole")
    each = first_round(tmp_path)
    lacks = {("iperf3", NodeId("n1")): Failure(FailedAt.MISSING_TOOL, "iperf3 is not installed", NodeId("n1"))}
    await Runner(PlayedReach(), PROBES, lacks=lacks).run(each, RoundObserver())
    assert "hold: iperf3 is not started: iperf3 is not installed" in caplog.text
