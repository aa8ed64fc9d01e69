"""A round that is guarded, resumed, stored, or lived through with clocks that jump."""

import asyncio
import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Contact, Output, Probe, Shape, Target
from benchconsole.probes.model.judgement import CloseReason
from benchconsole.probes.model.measuring import Bundle, FailedAt, Failure, Result, Round, Test
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.running.guards.guard import Guard, StopRule
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing import HANGS, FakeRemote
from benchconsole.probes.testing.fake import a_node
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node
from tests.probes.played import Alone, Pair, PlayedReach

NAMES = [f"n{number}" for number in range(1, 9)]


def a_round(names: Sequence[str] = NAMES) -> Round:
    tests = tuple(Test(f"1/inventory/{name}", "inventory", Target(a_node(name)), 1) for name in names)
    return Round(1, "inventory", "inventory", tests, 1.0, "because")


def hanging(*names: str) -> PlayedReach:
    """Nodes of which some never answer."""
    reach = PlayedReach()
    for name in names:
        reach.remotes[name] = FakeRemote(name).when("facts", answers=HANGS)
    return reach


def runner(reach: PlayedReach, probe: Probe | None = None) -> Runner:
    return Runner(reach, {"inventory": probe or Alone()})


# -- the guard


@pytest.mark.fault("F47")
async def test_a_guard_that_trips_ends_what_runs_and_keeps_what_there_is() -> None:
    reach, guard = hanging("n3", "n7"), Guard()
    order: list[str] = []

    def ended(result: Result) -> None:
        order.append(result.test.target.key)
        if len(order) == 6:
            assert reach.remotes["n3"].running
            guard.trip("canary a to b: 4 of 4 pings lost (100 %)")

    closed = await runner(reach).run(a_round(), RoundObserver(on_end=ended), guard=guard)
    assert (closed.reason, closed.because) == (CloseReason.STOPPED, "canary a to b: 4 of 4 pings lost (100 %)")
    stopped = {result.test.target.key: result.failure for result in closed.results if result.failure}
    assert stopped == {
        name: Failure(FailedAt.CANCELLED, "stopped: canary a to b: 4 of 4 pings lost (100 %)", a_node(name).id)
        for name in ("n3", "n7")
    }
    assert sum(bool(result.measurements) for result in closed.results) == 6
    assert sorted(order) == NAMES
    assert [remote.running for remote in reach.remotes.values()] == [[]] * 8


@pytest.mark.fault("F47")
async def test_a_guard_that_has_tripped_lets_nothing_start() -> None:
    reach, guard = PlayedReach(), Guard()
    guard.trip("before")
    started: list[Test] = []
    closed = await runner(reach).run(a_round(), RoundObserver(on_start=started.append), guard=guard)
    assert closed.reason is CloseReason.STOPPED
    assert started == []
    assert {result.failure.stage for result in closed.results if result.failure} == {FailedAt.CANCELLED}
    assert all(not remote.calls for remote in reach.remotes.values())


async def test_a_guard_that_trips_while_connections_open_does_not_wait_for_them() -> None:
    guard = Guard()

    class Slow(PlayedReach):
        async def remote(self, node: Node) -> Remote:
            if node.id == "n8":
                guard.trip("meanwhile")
                await asyncio.Event().wait()
            return await super().remote(node)

    async with asyncio.timeout(10):
        closed = await runner(Slow()).run(a_round(), RoundObserver(), guard=guard)
    assert {result.failure.detail for result in closed.results if result.failure} == {"stopped: meanwhile"}


@pytest.mark.fault("F47")
async def test_the_stop_rule_counts_as_results_come() -> None:
    reach = hanging("n8")
    for name in ("n1", "n2", "n3"):
        wrong = Output(("facts",), b"", b"no device", exit_status=1, node=name)
        reach.remotes[name] = FakeRemote(name).when("facts", answers=wrong)
    closed = await runner(reach).run(a_round(), RoundObserver(), guard=Guard(StopRule(0.3, 7)))
    assert closed.reason is CloseReason.STOPPED
    assert closed.because == "3 of the newest 8 tests failed on the nodes (38 %; the limit is 30 %)"


async def test_a_round_whose_last_result_trips_the_guard_is_complete() -> None:
    guard = Guard()
    count = itertools.count(1)

    def ended(result: Result) -> None:
        if next(count) == 8:
            guard.trip("late")

    closed = await runner(PlayedReach()).run(a_round(), RoundObserver(on_end=ended), guard=guard)
    assert (closed.reason, closed.because) == (CloseReason.COMPLETE, "")


async def test_cancelling_a_stopped_round_still_cancels() -> None:
    """The operator's order counts also while results of a stopped round are being kept."""
    guard, storing = Guard(), asyncio.Event()

    async def stored(result: Result) -> Result:
        guard.trip("x")
        storing.set()
        await asyncio.Event().wait()
        return result

    reach = hanging("n1")
    task = asyncio.create_task(runner(reach).run(a_round(), RoundObserver(store=stored), guard=guard))
    await storing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reach.remotes["n1"].running == []


# -- storing


async def test_a_result_is_stored_before_anybody_hears_of_it() -> None:
    kept: list[str] = []

    async def stored(result: Result) -> Result:
        await asyncio.sleep(0)
        kept.append(result.test.id)
        return result

    def ended(result: Result) -> None:
        assert result.test.id in kept

    closed = await runner(PlayedReach(unreachable=["n2"])).run(a_round(), RoundObserver(on_end=ended, store=stored))
    assert sorted(kept) == [result.test.id for result in closed.results]


async def test_a_store_that_fails_ends_the_round_with_its_words_and_nothing_runs_on() -> None:
    reach = hanging("n5", "n6")
    heard: list[Result] = []

    async def stored(result: Result) -> Result:
        raise OSError("database or disk is full")

    with pytest.raises(OSError, match="disk is full"):
        await runner(reach).run(a_round(), RoundObserver(on_end=heard.append, store=stored))
    assert heard == []
    assert [remote.running for remote in reach.remotes.values()] == [[]] * 8


async def test_an_alarm_does_not_interrupt_a_result_on_its_way_to_the_store() -> None:
    guard, at_the_store, go_on = Guard(), asyncio.Event(), asyncio.Event()
    kept: list[Result] = []

    async def stored(result: Result) -> Result:
        if result.test.target.key == "n1":
            at_the_store.set()
            await go_on.wait()
        kept.append(result)
        return result

    task = asyncio.create_task(
        runner(hanging("n2")).run(a_round(["n1", "n2"]), RoundObserver(store=stored), guard=guard)
    )
    await at_the_store.wait()
    guard.trip("now")
    go_on.set()
    closed = await task
    assert closed.results[0].measurements
    assert closed.results[0] in kept
    assert len(kept) == 2


# -- an earlier attempt


async def test_what_is_done_is_not_run_again_and_results_keep_their_order() -> None:
    each = a_round()
    first = await runner(PlayedReach()).run(each, RoundObserver())
    done = [first.results[5], replace(first.results[2], failure=None), first.results[0]]
    done += [replace(first.results[1], measurements=(), failure=Failure(FailedAt.CANCELLED, "x", a_node().id))]
    reach = PlayedReach()
    started: list[Test] = []
    closed = await runner(reach).run(each, RoundObserver(on_start=started.append), done=done)
    assert [test.target.key for test in started] == ["n2", "n4", "n5", "n7", "n8"]
    assert sorted(reach.remotes) == ["n2", "n4", "n5", "n7", "n8"]
    assert [result.test for result in closed.results] == list(each.tests)
    assert closed.results[0] is done[2]
    assert closed.results[5] is done[0]
    assert (closed.reason, closed.started) == (CloseReason.COMPLETE, min(result.started for result in done))


async def test_a_round_that_is_done_is_closed_without_asking_anybody() -> None:
    each, reach = a_round(), PlayedReach()
    first = await runner(PlayedReach()).run(each, RoundObserver())
    closed = await runner(reach).run(each, RoundObserver(), done=first.results)
    assert closed.results == first.results
    assert reach.asked == []


@settings(max_examples=40, deadline=None)
@given(part=st.sets(st.sampled_from(range(8))), order=st.randoms(use_true_random=False))
def test_any_part_in_any_order_gives_the_whole(part: set[int], order: object) -> None:
    async def both() -> None:
        each = a_round()
        first = await runner(PlayedReach()).run(each, RoundObserver())
        done = [first.results[index] for index in part]
        order.shuffle(done)  # type: ignore[attr-defined]
        closed = await runner(PlayedReach()).run(each, RoundObserver(), done=done)
        assert [result.test for result in closed.results] == list(each.tests)
        assert all(result.measurements for result in closed.results)

    asyncio.run(both())


async def test_a_round_that_loads_the_fabric_together_is_run_whole() -> None:
    pair = replace(a_round(), tests=(Test("t", "inventory", Target(a_node("n1"), a_node("n2")), 1),))
    group = replace(a_round(), tests=(Test("t", "inventory", Target(a_node("n1"), members=(a_node("n1"),)), 1),))
    bundle = replace(a_round(), bundles=(Bundle("b", ()),))
    assert a_round().is_resumable
    assert not any(each.is_resumable for each in (pair, group, bundle))
    done = Result(pair.tests[0])
    with pytest.raises(ValueError, match="round 1 loads the fabric as a whole"):
        await runner(PlayedReach()).run(pair, RoundObserver(), done=[done])


# -- sets of nodes


class Everyone(Alone):
    shape = Shape.SET

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        await contact.together()
        return [await remote.run(["facts"], timeout=1) for remote in contact.everyone]


def a_set(*names: str) -> Round:
    members = tuple(a_node(name) for name in names)
    test = Test("t", "inventory", Target(members[0], members=members), 1)
    return replace(a_round(), tests=(test,))


async def test_a_probe_of_a_set_meets_all_its_members() -> None:
    closed = await runner(PlayedReach(), Everyone()).run(a_set("n1", "n2", "n3"), RoundObserver())
    (result,) = closed.results
    assert [output.node for output in result.outputs] == ["n1", "n2", "n3"]
    assert len(result.measurements) == 3


async def test_a_member_that_cannot_be_reached_is_the_failure_of_the_set_and_named() -> None:
    reach = PlayedReach(unreachable=["n2"])
    closed = await runner(reach, Everyone()).run(a_set("n1", "n2", "n3"), RoundObserver())
    failure = closed.results[0].failure
    assert failure is not None
    assert (failure.stage, failure.node) == (FailedAt.UNREACHABLE, "n2")
    assert all(not remote.calls for remote in reach.remotes.values())


async def test_a_set_has_no_peer() -> None:
    class Wrong(Pair):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            return (await contact.there.run(["facts"], timeout=1),)

    closed = await runner(PlayedReach(), Wrong()).run(a_set("n1", "n2"), RoundObserver())
    failure = closed.results[0].failure
    assert failure is not None
    assert "this target has no peer" in failure.detail


# -- clocks


class Clocks:
    """A wall clock that jumps by ``jump`` while the first test runs, and one that only goes on."""

    def __init__(self, jump: float) -> None:
        self.jump = jump
        self.wall = 1_000_000.0
        self.steady = 50.0

    def pass_by(self, seconds: float) -> None:
        self.wall += seconds + self.jump
        self.steady += seconds
        self.jump = 0.0


@pytest.mark.fault("F32")
@pytest.mark.parametrize(
    ("jump", "drift"), [(0.0, 0.0), (1.9, 0.0), (-1.9, 0.0), (3600.0, 3600.0), (-3600.0, -3600.0), (2.5, 2.5)]
)
async def test_durations_are_right_whatever_is_done_to_the_clock(jump: float, drift: float) -> None:
    clocks = Clocks(jump)

    class Lasting(Alone):
        async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
            clocks.pass_by(0.75)
            return await super().run(contact, target)

    probes = {"inventory": Lasting()}
    timed = Runner(PlayedReach(), probes, clock=lambda: clocks.wall, monotonic=lambda: clocks.steady)
    closed = await timed.run(a_round(["n1"]), RoundObserver())
    (result,) = closed.results
    assert result.seconds == pytest.approx(0.75)
    assert result.drift == pytest.approx(drift)
    assert result.started == 1_000_000.0
    assert result.measurements[0].at == pytest.approx(1_000_000.75)
    assert closed.ended - closed.started == pytest.approx(0.75)
