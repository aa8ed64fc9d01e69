"""Every scenario judged by the real plan, runner and judge: what is found is what was planted."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from benchconsole.console.simulator.faults import UNREACHABLE, PlantedFault, Scenario
from benchconsole.console.simulator.nodes import SimulatedNodes
from benchconsole.console.simulator.scenarios import SCENARIOS, find_scenario
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.planning import find_suite, plan
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing.server import Reply
from benchconsole.probes.tools import bench_probes
from benchconsole.topology.model.fabric import Fabric, Node, NodeId
from tests.console.simulator.conftest import fabric_of, machines_of


class _Running:
    def __init__(self, reply: Reply, node: NodeId) -> None:
        self.reply = reply
        self.node = node

    async def says(self, text: str, *, timeout: float) -> None:
        if text.encode() not in self.reply.stdout:  # a port that is taken: the probe takes another
            said = Output((), self.reply.stdout, self.reply.stderr, self.reply.exit_status, node=self.node)
            raise RemoteError(Failure(FailedAt.TOOL, said.error_text, self.node), said)

    async def output(self) -> Output:
        raise AssertionError("probes wait for what a server says, never for its end")


class _Played:
    """A node asked without SSH in between."""

    def __init__(self, node: Node, machines: SimulatedNodes) -> None:
        self._node = node
        self._machines = machines

    @property
    def node(self) -> NodeId:
        return self._node.id

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        reply = await self._machines.answer(self._node.address, tuple(argv), stdin)
        return Output(tuple(argv), reply.stdout, reply.stderr, reply.exit_status, node=self._node.id)

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator[_Running]:
        reply = await self._machines.answer(self._node.address, tuple(argv), b"")
        yield _Running(reply, self._node.id)
        if reply.then is not None:
            await reply.then


class _Reach:
    def __init__(self, scenario: Scenario, machines: SimulatedNodes) -> None:
        self._away = scenario.select(*UNREACHABLE)
        self._machines = machines

    async def remote(self, node: Node) -> Remote:
        if node.id in self._away:
            raise RemoteError(Failure(FailedAt.UNREACHABLE, "planted", node.id))
        return _Played(node, self._machines)

    async def close(self) -> None:
        pass


async def run(
    fabric: Fabric, scenario: Scenario, machines: SimulatedNodes
) -> tuple[list[ClosedRound], tuple[Finding, ...]]:
    """The default suite on every node."""
    probes = {probe.name: probe for probe in bench_probes()}
    context = JudgingContext(fabric, {metric.name: metric for probe in probes.values() for metric in probe.metrics})
    runner = Runner(_Reach(scenario, machines), probes)
    closed = [await runner.run(each, RoundObserver()) for each in plan(fabric, find_suite(fabric, None), probes)]
    return closed, list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in closed])


def planted(faults: Sequence[PlantedFault]) -> set[tuple[object, str]]:
    return {(fault.suspect, fault.element) for fault in faults if fault.suspect is not None}


MERIDIAN = [scenario for scenario in SCENARIOS.values() if scenario.fabric == "meridian"]
SIZES = (16, 70, 200)


@pytest.mark.parametrize(
    "scenario", [*MERIDIAN, *(find_scenario("large", size) for size in SIZES)],
    ids=lambda scenario: f"{scenario.name}-{scenario.summary.split(' ')[0]}",
)  # fmt: skip
async def test_what_is_found_is_what_was_planted(scenario: Scenario) -> None:
    fabric = fabric_of(scenario)
    closed, found = await run(fabric, scenario, machines_of(fabric, scenario))
    assert {(finding.suspect, finding.element) for finding in found} == planted(scenario.faults)
    assert len(found) == len(planted(scenario.faults))
    failed = [result.failure for each in closed for result in each.results if result.failure]
    unreachable = {failure.node for failure in failed if failure.stage is FailedAt.UNREACHABLE}
    assert unreachable == set(scenario.select(*UNREACHABLE))
    others = {failure.node for failure in failed if failure.stage is not FailedAt.UNREACHABLE}
    assert others <= {fault.element for fault in scenario.faults}, [f for f in failed if f.node in others]
