"""Harm to others is seen on real cables: a canary over ssh and ping ends a round that is under way."""

import asyncio
from collections.abc import Callable
from types import MappingProxyType

import pytest

from benchconsole import topology
from benchconsole.probes.api import Probe
from benchconsole.probes.model.judgement import CloseReason
from benchconsole.probes.model.measuring import FailedAt, Result, Round, Target, Test
from benchconsole.probes.reach.ssh import SshReach
from benchconsole.probes.running.guards.canary import Canary, CanaryLimits, choose_pairs
from benchconsole.probes.running.guards.guard import Guard
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.lab import Lab

pytestmark = [pytest.mark.fault("F47", "I21"), pytest.mark.lab]

SESSION = "guarded"


def pull(lab: Lab, node: str) -> None:
    """A cable that is dead."""
    lab.nic_down(node)


def starve(lab: Lab, node: str) -> None:
    """A cable that drops most of what it should carry, as a full queue does; healing knows it as a slow NIC."""
    lab.slow_nic(node, 1)
    shape = ("tbf", "rate", "2kbit", "burst", "120", "limit", "120")
    lab.inside(node, "tc", "qdisc", "replace", "dev", "eth0", "root", *shape)


def a_long_round(fabric: Fabric) -> Round:
    """One pair that is soon done, one that would go on for minutes."""

    def test(number: int, here: str, there: str, seconds: int) -> Test:
        options = MappingProxyType({"seconds": seconds, "streams": 1, "omit": 0})
        target = Target(fabric.nodes[NodeId(here)], fabric.nodes[NodeId(there)], options)
        return Test(f"1/iperf3/{number}", "iperf3", target, 1)

    return Round(1, "iperf3", "iperf3", (test(1, "n1", "n5", 1), test(2, "n2", "n6", 300)), 300.0, "because")


@pytest.mark.parametrize("harm", [pull, starve])
async def test_a_canary_in_trouble_ends_the_round_and_what_was_measured_stays(
    healthy_lab: Lab, harm: Callable[[Lab, str], None]
) -> None:
    fabric = topology.load(healthy_lab.topology)
    each = a_long_round(fabric)
    reach = SshReach(fabric.access, SESSION)
    probes: dict[str, Probe] = {"iperf3": Iperf3()}
    said: list[str] = []
    canaries = [
        Canary(reach, *pair, limits=CanaryLimits.of(fabric), on_notice=said.append)
        for pair in choose_pairs(fabric, [each])
    ]
    first_ended = asyncio.Event()
    order: list[str] = []

    def ended(result: Result) -> None:
        order.append(result.test.target.key)
        first_ended.set()

    try:
        async with Guard(canaries=canaries) as guard:
            assert guard.canary is not None, said
            watching = {guard.canary.here.id, guard.canary.there.id}
            assert not watching & {"n1", "n2", "n5", "n6"}
            running = asyncio.create_task(Runner(reach, probes).run(each, RoundObserver(on_end=ended), guard=guard))
            await asyncio.wait_for(first_ended.wait(), 30)
            assert not guard.tripped.is_set(), guard.because
            await asyncio.to_thread(harm, healthy_lab, guard.canary.there.id)
            order.append("harm")
            await asyncio.wait_for(guard.canary.alarm.wait(), 30)
            order.append("alarm")
            closed = await asyncio.wait_for(running, 30)
    finally:
        await reach.close()
    assert order == ["n1>n5", "harm", "alarm", "n2>n6"]
    assert (closed.reason, closed.because) == (CloseReason.STOPPED, guard.because)
    assert "pings lost" in closed.because
    done, stopped = closed.results
    assert done.measurements
    assert stopped.failure is not None
    assert (stopped.failure.stage, stopped.failure.detail) == (FailedAt.CANCELLED, f"stopped: {closed.because}")
    left = [process for node in healthy_lab.plan.nodes for process in healthy_lab.processes(node) if process.session]
    assert left == []
