"""The node of a pair that a failed test is booked on."""

import asyncio
import subprocess
from collections.abc import Sequence

import pytest

from benchconsole.probes.api import Contact, Output, ProbeOutputError, Reading, Target
from benchconsole.probes.model.measuring import FailedAt, Failure, Result, Round, Test
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.running.pair_blame import find_blame
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing import FakeReach, FakeRemote, a_node
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.probes.played import Pair

PAIR = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))
NO_ROUTE = "found 'error in the JSON: unable to connect to server: No route to host', expected a run without error"
UP, DOWN = Output(()), Output((), b"down eth1\n")


def gone(node: str, stage: FailedAt) -> RemoteError:
    return FakeRemote(node).failure(stage, "the connection broke")


async def find(stage: FailedAt, detail: str, here: object, there: object, *, node: str = "n1") -> Failure:
    """Who is blamed for a failure at ``node`` when the ports are asked and answer so."""
    remotes = [FakeRemote(name) for name in ("n1", "n2")]
    for remote, answer in zip(remotes, (here, there), strict=True):
        assert isinstance(answer, Output | RemoteError)
        remote.when("data-port", answers=answer)
    return await find_blame(PAIR, remotes, Failure(stage, detail, NodeId(node)))


@pytest.mark.fault("F18b")
@pytest.mark.parametrize("stage", [FailedAt.LOST, FailedAt.REBOOTED, FailedAt.TIMEOUT, FailedAt.UNREACHABLE])
async def test_a_peer_that_answers_no_more_takes_the_failure_of_the_client(stage: FailedAt) -> None:
    failure = await find(FailedAt.TIMEOUT, "no end within 18 s", UP, gone("n2", stage))
    detail = "the connection broke; n1 to n2: no end within 18 s"
    assert failure == Failure(stage, detail, NodeId("n2"))


@pytest.mark.fault("F18b")
@pytest.mark.parametrize(
    "words",
    [
        "error in the JSON: the server has terminated",
        "error - control socket has closed unexpectedly",
        "exit status 1: Connection refused",
        "connect: Connection timed out",
        "Connection reset by peer",
        "write: Broken pipe",
    ],
)
async def test_a_peer_that_answers_no_more_has_left_its_client_without_a_server(words: str) -> None:
    failure = await find(FailedAt.OUTPUT, words, UP, gone("n2", FailedAt.LOST))
    assert failure == Failure(FailedAt.LOST, f"the connection broke; n1 to n2: {words}", NodeId("n2"))
    assert await find(FailedAt.OUTPUT, words, UP, UP) == Failure(FailedAt.OUTPUT, words, NodeId("n1"))


@pytest.mark.parametrize("stage", [FailedAt.MISSING_TOOL, FailedAt.TOOL, FailedAt.REFUSED, FailedAt.CANCELLED])
async def test_a_peer_that_could_answer_is_not_to_blame_for_a_client_that_hangs(stage: FailedAt) -> None:
    failure = await find(FailedAt.TIMEOUT, "no end within 18 s", UP, gone("n2", stage))
    assert failure == Failure(FailedAt.TIMEOUT, "no end within 18 s", NodeId("n1"))


@pytest.mark.fault("F18c")
@pytest.mark.parametrize("stage", [FailedAt.TIMEOUT, FailedAt.TOOL, FailedAt.OUTPUT])
@pytest.mark.parametrize(("here", "there", "node"), [(UP, DOWN, "n2"), (DOWN, UP, "n1"), (DOWN, DOWN, "n2")])
async def test_no_route_is_booked_on_the_node_whose_data_port_has_no_link(
    stage: FailedAt, here: Output, there: Output, node: str
) -> None:
    failure = await find(stage, NO_ROUTE, here, there)
    address = {"n1": "10.0.0.1", "n2": "10.0.0.2"}[node]
    detail = f"the data address {address} is not up, its port eth1 has no link; n1 to n2: {NO_ROUTE}"
    assert failure == Failure(FailedAt.TOOL, detail, NodeId(node))


@pytest.mark.parametrize("words", ["No route to host", "Network is unreachable", "Cannot assign requested address"])
async def test_where_both_ports_are_up_the_client_has_failed_and_its_output_was_understood(words: str) -> None:
    failure = await find(FailedAt.OUTPUT, words, UP, UP)
    assert failure == Failure(FailedAt.TOOL, words, NodeId("n1"))


@pytest.mark.parametrize(
    ("stage", "detail", "node"),
    [
        (FailedAt.OUTPUT, "found nothing, expected a rate", "n1"),
        (FailedAt.TOOL, "exit status 1: unknown option", "n1"),
        (FailedAt.LOST, NO_ROUTE, "n1"),
        (FailedAt.CANCELLED, NO_ROUTE, "n1"),
        (FailedAt.TIMEOUT, "no end within 18 s", "n2"),  # known to be the peer's own
    ],
)
async def test_any_other_failure_stays_where_it_was_seen(stage: FailedAt, detail: str, node: str) -> None:
    failure = await find(stage, detail, DOWN, gone("n2", FailedAt.LOST), node=node)
    assert failure == Failure(stage, detail, NodeId(node))


async def test_a_test_of_one_node_has_nobody_else_to_blame() -> None:
    failure = Failure(FailedAt.TIMEOUT, "no end", NodeId("n1"))
    assert await find_blame(replace(PAIR, peer=None), [FakeRemote("n1")], failure) == failure


@pytest.mark.fault("F18b")
async def test_the_runner_books_a_dead_peer_on_the_peer() -> None:
    class Hanging(Pair):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            raise FakeRemote("n1").failure(FailedAt.TIMEOUT, "no end within 18 s")

    result = await run(Hanging(), FakeRemote("n2").when("data-port", answers=gone("n2", FailedAt.LOST)))
    assert result.failure is not None
    assert (result.failure.stage, result.failure.node) == (FailedAt.LOST, "n2")


@pytest.mark.fault("F18c")
async def test_the_runner_takes_no_route_for_a_failure_of_the_tool_although_it_ended_well() -> None:
    class Unconnected(Pair):
        def parse(self, output: Output) -> Sequence[Reading]:
            raise ProbeOutputError("error in the JSON: No route to host", "a run without error")

    result = await run(Unconnected(), FakeRemote("n2", lenient=True).when("data-port", answers=DOWN))
    assert result.failure is not None
    assert (result.failure.stage, result.failure.node) == (FailedAt.TOOL, "n2")
    assert result.failure.detail.startswith("the data address 10.0.0.2 is not up, its port eth1 has no link; ")


async def run(probe: Pair, there: FakeRemote) -> Result:
    each = Round(1, "pairs", "iperf3", (Test("t", "iperf3", PAIR, 1),), 1.0, "")
    reach = FakeReach({"n1": FakeRemote("n1", lenient=True), "n2": there})
    (result,) = (await Runner(reach, {"iperf3": probe}).run(each, RoundObserver())).results
    return result


@pytest.mark.fault("F18c")
def test_the_question_says_which_real_port_has_no_link() -> None:
    there = FakeRemote("n2").when("data-port", answers=UP)
    here = FakeRemote("n1").when("data-port", answers=UP)
    asyncio.run(find_blame(PAIR, [here, there], Failure(FailedAt.TIMEOUT, NO_ROUTE, NodeId("n1"))))
    script = " ".join(f"'{word}'" if word != there.calls[0].argv[2] else '"$0"' for word in there.calls[0].argv)
    assert there.calls[0].argv[-1] == "10.0.0.2"
    steps = (
        "ip link add up0 type veth peer name up1 && ip addr add 10.0.0.2/24 dev up0",
        f"echo off; {script}; ip link set up0 up; echo unplugged; {script}; ip link set up1 up; echo up; {script}",
    )
    said = subprocess.run(
        ["unshare", "-rn", "sh", "-c", " && ".join(steps), there.calls[0].argv[2]],
        check=True, capture_output=True, text=True, timeout=30,
    ).stdout  # fmt: skip
    assert said.split() == ["off", "down", "up0", "unplugged", "down", "up0", "up"]
