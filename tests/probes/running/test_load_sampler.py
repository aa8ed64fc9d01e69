"""The load of nodes beside the results of their tests: whose it is, of which samples, and what is said without any."""

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Contact, Output, Target
from benchconsole.probes.model.load import find_number, group_load
from benchconsole.probes.model.measuring import FailedAt, Result, Test
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.running.guards.guard import NEVER, Guard
from benchconsole.probes.running.load_sampler import MOST_SAMPLES, PLANNED_SAMPLES, LoadSampler, list_sampled
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.running.start_barrier import TestNodes
from benchconsole.probes.testing import HANGS, FakeRemote
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Node, NodeId
from tests.probes.played import PROBES, Pair, PlayedReach
from tests.probes.readers.test_load_samples import OUTPUT
from tests.probes.running.test_runner import first_round


class SampledReach(PlayedReach):
    """Nodes that also say ``text`` of their load; those of ``silent`` say nothing."""

    def __init__(self, text: str = OUTPUT, silent: Sequence[str] = (), unreachable: Sequence[str] = ()) -> None:
        super().__init__(unreachable=unreachable)
        self.text, self.silent = text, silent

    async def remote(self, node: Node) -> Remote:
        known = node.id in self.remotes
        remote = await super().remote(node)
        if not known and node.id not in self.silent:
            self.remotes[node.id].when("sh", answers=Output(("sh",), self.text.encode(), exit_status=None))
        return remote


def of_test(test: Test) -> tuple[Node, ...]:
    return test.target.nodes


async def run(reach: SampledReach, folder: Path, sampled: object = of_test) -> Sequence[Result]:
    runner = Runner(reach, PROBES, sampled=sampled)  # type: ignore[arg-type]
    return (await runner.run(first_round(folder), RoundObserver())).results


async def test_the_load_of_both_ends_stands_beside_each_result_and_its_commands_are_ended(tmp_path: Path) -> None:
    reach = SampledReach()
    results = await run(reach, tmp_path)
    assert results
    for result in results:
        assert result.failure is None
        assert set(group_load(result.facts)) == {node.id for node in result.test.target.nodes}
    assert all(remote.running == [] for remote in reach.remotes.values())
    started = [call for remote in reach.remotes.values() for call in remote.calls if call.argv[0] == "sh"]
    assert len(started) == len(reach.remotes), "one command on each node, however many tests it has"


async def test_nothing_is_sampled_unasked(tmp_path: Path) -> None:
    reach = SampledReach()
    assert all(result.facts == () for result in await run(reach, tmp_path, None))
    assert all(call.argv[0] != "sh" for remote in reach.remotes.values() for call in remote.calls)


async def test_only_the_samples_since_a_mark_are_told(tmp_path: Path) -> None:
    sampler, node = LoadSampler(10), first_round(tmp_path).tests[0].target.node
    await sampler.start({node.id: FakeRemote(node.id).when("sh", answers=Output(("sh",), OUTPUT.encode()))})
    try:
        assert sampler.count() == {node.id: 4}
        for since, steps in ((4, 0), (3, 1), (1, 3)):
            facts = await sampler.read([node], {node.id: since})
            assert find_number(group_load(facts)[node.id], "load.samples", "") == steps
    finally:
        for task in sampler.tasks:
            task.cancel()


async def test_samples_are_counted_from_when_the_tests_send_together(tmp_path: Path) -> None:
    """While a test waits for the others its node is idle; that is not the load of the test."""
    reach, counted = SampledReach(), list[str]()

    class Waiting(Pair):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            assert isinstance(contact, TestNodes)
            await contact.together()
            counted.append(target.key)
            return (await contact.here.run(["iperf3", "-c", contact.there.node], timeout=5),)

    marks: list[int] = []

    class Counting(LoadSampler):
        def count(self) -> dict[str, int]:
            marks.append(len(counted))
            return super().count()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchconsole.probes.running.runner.LoadSampler", Counting)
        runner = Runner(reach, {"iperf3": Waiting()}, sampled=of_test)
        closed = await runner.run(first_round(tmp_path), RoundObserver())
    assert len(marks) == 2 * len(closed.results), "at the start of each test, and when it may send"


async def test_a_node_that_cannot_be_sampled_says_why_and_its_tests_go_on(tmp_path: Path) -> None:
    results = await run(SampledReach(silent=["n2"], unreachable=["n3"]), tmp_path)
    told = {node: facts for result in results for node, facts in group_load(result.facts).items()}
    assert "nothing scripted for sh" in str(told["n2"]["load.failed", ""].value)
    assert find_number(told["n1"], "load.samples", "") is not None
    tested = {result.test.target.key for result in results if result.failure is None}
    assert "n1>n2" in tested
    assert all("n3" in result.test.target.key for result in results if result.failure is not None)


async def test_a_stopped_round_ends_its_samplers(tmp_path: Path) -> None:
    reach, guard = SampledReach(), Guard(NEVER)

    class Endless(Pair):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            guard.because = "a test asked for it"
            guard.tripped.set()
            assert isinstance(contact.here, FakeRemote)
            contact.here.when("endless", answers=HANGS)
            return (await contact.here.run(["endless"], timeout=5),)

    runner = Runner(reach, {"iperf3": Endless()}, sampled=of_test)
    closed = await runner.run(first_round(tmp_path), RoundObserver(), guard=guard)
    assert {result.failure.stage for result in closed.results if result.failure} == {FailedAt.CANCELLED}
    assert any(call.argv[0] == "sh" for remote in reach.remotes.values() for call in remote.calls)
    assert all(remote.running == [] for remote in reach.remotes.values())


@pytest.mark.parametrize(("seconds", "interval"), [(10, "1"), (PLANNED_SAMPLES, "1"), (PLANNED_SAMPLES * 5, "5")])
def test_long_rounds_are_sampled_less_often(seconds: float, interval: str) -> None:
    assert LoadSampler(seconds).argv[-2:] == (interval, str(MOST_SAMPLES))


def test_servers_of_the_storage_that_a_test_names_are_sampled_too() -> None:
    fabric = load_text(
        "schema: 1\nfabric: f\nswitches: {s: {}}\nnodes: {'n[1-2]': {}, o1: {role: storage}, o2: {role: storage}}\n"
        "links: [{from: 'n[1-2],o[1-2]', to: s, speed: 10 Gb/s}]\n"
        "storage: {lustre: {servers: 'o[1-2]', layers: [{name: media, read: 8 GB/s, write: 8 GB/s}]}}\n",
        "f.yaml",
    )
    target = Target(fabric.nodes[NodeId("n1")], options=MappingProxyType({"shared": "lustre"}))
    test = Test("t1", "fio", target, 1)
    assert [node.id for node in list_sampled(fabric, test)] == ["n1", "o1", "o2"]
    alone = replace(test, target=replace(target, options=MappingProxyType({"shared": ""})))
    assert [node.id for node in list_sampled(fabric, alone)] == ["n1"]


async def test_the_last_load_of_some_nodes_is_read_in_turn_and_once(tmp_path: Path) -> None:
    sampler, nodes = LoadSampler(10), ("n1", "n2", "n3")
    remotes = {name: FakeRemote(name).when("sh", answers=Output(("sh",), OUTPUT.encode())) for name in nodes}
    await sampler.start({NodeId(name): remote for name, remote in remotes.items()})
    try:
        assert sampler.read_last(0) == []
        first, second, third = (sampler.read_last(2) for _ in range(3))
        assert [each.node for each in first] == ["n1", "n2"]
        assert [each.node for each in second] == ["n3"], "n1 has said nothing since"
        assert third == []
        assert {each.core for each in first} == {"3"}
        assert [first[0].busy, first[0].softirq] == pytest.approx([0.98, 0.97])
    finally:
        for task in sampler.tasks:
            task.cancel()
