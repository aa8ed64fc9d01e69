"""The canary: what ping says is read, harm rings, noise does not, and what cannot be known is said once."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.measuring import FailedAt, Output, Round, Target, Test
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.running.guards.canary import (
    Canary,
    CanaryLimits,
    PingSample,
    choose_pairs,
    make_ping_command,
    parse_ping,
)
from benchconsole.probes.running.guards.guard import Guard
from benchconsole.probes.testing import FakeRemote
from benchconsole.probes.testing.fake import FakeReach, a_node
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.fabrics import SMALL
from tests.topology.fabrics import networks

WELL = """\
PING 10.1.0.2 (10.1.0.2) 56(84) bytes of data.

--- 10.1.0.2 ping statistics ---
4 packets transmitted, 4 received, 0% packet loss, time 603ms
rtt min/avg/max/mdev = {fastest}/0.333/0.486/0.107 ms
"""
LOSSY = """\
--- 10.1.0.2 ping statistics ---
4 packets transmitted, {received} received, {loss}% packet loss, time 603ms
rtt min/avg/max/mdev = 0.251/0.333/0.486/0.107 ms, pipe 2
"""
DEAD = "--- 10.1.0.2 ping statistics ---\n4 packets transmitted, 0 received, +3 errors, 100% packet loss, time 615ms\n"
BUSYBOX = """\
--- 10.1.0.2 ping statistics ---
4 packets transmitted, 4 packets received, 0% packet loss
round-trip min/avg/max = 0.101/0.133/0.186 ms
"""


def well(fastest: float = 0.2) -> Output:
    return Output(("ping",), WELL.format(fastest=fastest).encode())


def lossy(received: int) -> Output:
    return Output(("ping",), LOSSY.format(received=received, loss=25 * (4 - received)).encode())


DEAD_LOOK = Output(("ping",), DEAD.encode(), exit_status=124)
NO_ROUTE = Output(("ping",), b"", b"ping: connect: Network is unreachable\n", exit_status=2)
NO_PING = Output(("timeout",), b"", b"timeout: failed to run command 'ping': No such file", exit_status=127)
LOST = FakeRemote("n1").failure(FailedAt.LOST, "no answer for 12 s")


@pytest.mark.parametrize(
    ("text", "look"),
    [
        (WELL.format(fastest=0.251), PingSample(4, 4, 0.251e-3)),
        (LOSSY.format(received=3, loss=25), PingSample(4, 3, 0.251e-3)),
        (DEAD, PingSample(4, 0, None)),
        (BUSYBOX, PingSample(4, 4, 0.101e-3)),
        ("4 packets transmitted, 4 received, +2 duplicates, 0% packet loss, time 3ms", PingSample(4, 4, None)),
        ("", None),
        ("4 packets transmitted, 9 received", None),
        ("0 packets transmitted, 0 received", None),
        ("ping: connect: Network is unreachable", None),
        ("x 4 packets transmitted, 4 received", None),
    ],
)
def test_what_ping_says_is_read(text: str, look: PingSample | None) -> None:
    assert parse_ping(text) == look


@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet="0123456789 ./,=\nabcdeghikmnoprstvx%+-", max_size=200), cut=st.integers(0, 200))
def test_garbage_and_cuts_give_no_other_look(text: str, cut: int) -> None:
    found = parse_ping(text)
    assert found is None or 0 <= found.loss <= 1
    whole = parse_ping(WELL.format(fastest=0.251))
    part = parse_ping(WELL.format(fastest=0.251)[:cut])
    assert part is None or (whole is not None and part in (whole, PingSample(4, 4, None)))


@pytest.mark.fault("I03")
def test_the_command_takes_the_address_as_one_word() -> None:
    assert make_ping_command("10.1.0.2")[-1] == "10.1.0.2"
    assert " ".join(make_ping_command("a"))[:52] == "timeout --foreground -s INT 1.3 ping -n -q -c 4 -i 0"


class Played:
    """A canary over a node whose looks are scripted; three good ones come first."""

    def __init__(
        self,
        *looks: Output | RemoteError,
        limits: CanaryLimits | None = None,
        usual: Sequence[Output | RemoteError] = (),
    ) -> None:
        self.said: list[str] = []
        first = list(usual) or [well(), well(), well()]
        self.remote = FakeRemote("n1").when("ping", answers=[*first, *looks])
        reach = FakeReach({"n1": self.remote})
        here, there = a_node("n1"), a_node("n2", "192.0.2.2", "10.1.0.2")
        self.canary = Canary(reach, here, there, limits=limits or CanaryLimits(), on_notice=self.said.append)

    async def rings(self) -> str:
        assert await self.canary.measure_usual()
        async with asyncio.timeout(10):
            await self.canary.watch()
        return self.canary.because


@pytest.mark.fault("F47")
@pytest.mark.parametrize(
    ("looks", "said"),
    [
        ([well(), DEAD_LOOK], "4 of 4 pings lost (100 %)"),
        ([lossy(2)], "2 of 4 pings lost (50 %)"),
        ([lossy(3), lossy(3)], "1 of 4 pings lost (25 %)"),
        ([lossy(3), well(), well(400), well(400)], "the fastest ping took 400 ms, usual are 200 µs"),
        ([well(150), lossy(3)], "1 of 4 pings lost (25 %)"),
        ([NO_ROUTE, NO_ROUTE], "ping said 'ping: connect: Network is unreachable'"),
        ([LOST, LOST], "n1 cannot be asked (connection lost: no answer for 12 s)"),
    ],
)
async def test_harm_rings(looks: list[Output | RemoteError], said: str) -> None:
    played = Played(*looks)
    assert await played.rings() == f"canary n1 to n2: {said}"
    assert played.canary.alarm.is_set()
    assert len(played.remote.calls) == 3 + len(looks)


async def test_noise_does_not_ring() -> None:
    quiet: list[Output | RemoteError] = [
        lossy(3),
        well(),
        well(99),
        well(99),
        well(400),
        well(),
        LOST,
        well(),
        NO_ROUTE,
        well(),
    ]
    played = Played(*quiet, DEAD_LOOK)
    assert "4 of 4 pings lost" in await played.rings()
    assert len(played.remote.calls) == 3 + len(quiet) + 1


async def test_under_a_cap_a_standing_queue_of_milliseconds_is_too_much() -> None:
    free, capped = (load_text(SMALL + more, "t.yaml") for more in ("", "caps: {link: 50 %}\n"))
    assert (CanaryLimits.of(free).floor, CanaryLimits.of(capped).floor) == (0.1, 0.005)
    played = Played(well(6), well(6), limits=CanaryLimits.of(capped))
    assert "the fastest ping took 6.00 ms" in await played.rings()


async def test_ten_times_a_long_way_is_no_harm_before_it_is_ten_times() -> None:
    played = Played(well(480), well(480), well(520), well(520), usual=[well(50), well(51), well(49)])
    assert "took 520 ms, usual are 50.0 ms" in await played.rings()


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        ([NO_PING], "ping is not installed (Debian package iputils-ping)"),
        ([FakeRemote("n1").failure(FailedAt.MISSING_TOOL, "ping")], "ping is not installed"),
        ([NO_ROUTE], "Network is unreachable"),
        ([LOST], "n1 cannot be asked"),
        ([DEAD_LOOK] * 3, "pings are lost without any load of ours"),
        ([well(), lossy(2), lossy(3)], "pings are lost without any load of ours"),
        ([Output(("ping",), b"\x1b]0;x\x07[/]")], "ping said"),
    ],
)
async def test_a_pair_that_cannot_serve_says_so_once_and_keeps_still(
    looks: Sequence[Output | RemoteError], said: str
) -> None:
    played = Played(usual=looks)
    assert not await played.canary.measure_usual()
    assert len(played.said) == 1
    assert said in played.said[0]
    assert "nothing watches for harm" in played.said[0]
    with pytest.raises(RuntimeError, match="expected measure_usual"):
        await played.canary.watch()


async def test_ping_that_goes_away_is_told_and_is_no_alarm() -> None:
    played = Played(well(), NO_PING)
    assert await played.rings() == ""
    assert not played.canary.alarm.is_set()
    assert "not installed" in played.said[0]


async def test_one_look_that_lost_a_ping_does_not_spoil_what_is_usual() -> None:
    played = Played(DEAD_LOOK, usual=[lossy(3), well(), well()])
    assert "100 %" in await played.rings()


# -- the guard that holds it


@pytest.mark.fault("F47")
async def test_a_guard_takes_the_first_canary_that_answers_and_trips_with_its_words() -> None:
    mute, good = Played(usual=[NO_PING]), Played(well(), DEAD_LOOK)
    async with Guard(canaries=[mute.canary, good.canary]) as guard:
        assert guard.canary is good.canary
        async with asyncio.timeout(10):
            await guard.tripped.wait()
    assert guard.because == good.canary.because
    guard.trip("later")
    assert guard.because == good.canary.because


async def test_leaving_a_guard_leaves_nothing_on_the_node() -> None:
    played = Played()
    started = asyncio.Event()

    class Hanging(FakeRemote):
        async def run(
            self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False
        ) -> Output:
            if len(self.calls) == 3:
                started.set()
                self.running.append(self.calls[-1])
                try:
                    await asyncio.Event().wait()
                finally:
                    self.running.pop()
            return await super().run(argv, timeout=timeout)

    remote = Hanging("n1").when("ping", answers=[well()])
    canary = Canary(FakeReach({"n1": remote}), played.canary.here, played.canary.there)
    async with Guard(canaries=[canary]) as guard:
        await started.wait()
        assert remote.running
    assert remote.running == []
    assert not guard.tripped.is_set()


async def test_a_canary_that_dies_of_a_mistake_trips_the_guard() -> None:
    class Broken(Canary):
        async def watch(self) -> None:
            raise ZeroDivisionError("ours")

    played = Played()
    broken = Broken(FakeReach({"n1": played.remote}), played.canary.here, played.canary.there)
    async with Guard(canaries=[broken]) as guard:
        await guard.tripped.wait()
    assert guard.because == "canary n1 to n2 is no longer watching: ZeroDivisionError: ours"


async def test_without_a_canary_a_guard_still_counts_errors() -> None:
    async with Guard() as guard:
        assert guard.canary is None
        assert not guard.tripped.is_set()


FABRIC = load_text(SMALL, "small.yaml")


def rounds(fabric: Fabric, *pairs: tuple[str, str]) -> list[Round]:
    tests = [
        Test(f"t{index}", "iperf3", Target(fabric.nodes[NodeId(one)], fabric.nodes[NodeId(other)]), 1)
        for index, (one, other) in enumerate(pairs)
    ]
    return [Round(1, "s", "iperf3", tuple(tests), 1.0, "because")]


def chosen(fabric: Fabric, each: list[Round]) -> list[set[str]]:
    return [{here.id, there.id} for here, there in choose_pairs(fabric, each)]


def test_idle_nodes_across_the_trunks_that_the_flows_take() -> None:
    (first, *_) = chosen(FABRIC, rounds(FABRIC, ("n1", "n5"), ("n2", "n6")))
    assert len(first & {"n3", "n4"}) == 1
    assert len(first & {"n7", "n8"}) == 1


def test_flows_below_one_leaf_are_watched_from_there() -> None:
    found = chosen(FABRIC, rounds(FABRIC, ("n1", "n5"), ("n2", "st1"), ("n3", "st1")))
    assert all(not pair & {"n1", "n2", "n3", "n5", "st1"} for pair in found)
    assert "n4" in found[0]


def test_when_every_node_is_tested_tested_ones_watch() -> None:
    pairs = [("n1", "n5"), ("n2", "n6"), ("n3", "n7"), ("n4", "n8"), ("st1", "st2")]
    assert chosen(FABRIC, rounds(FABRIC, *pairs))


def test_without_flows_the_longest_way_serves() -> None:
    assert len(chosen(FABRIC, [])) == 4


def test_one_node_makes_no_pair() -> None:
    assert choose_pairs(load_text("schema: 1\nfabric: x\nnodes: {a: {}}\n", "t.yaml"), []) == ()
    assert choose_pairs(load_text("schema: 1\nfabric: x\nnodes: {a: {}, b: {}}\n", "t.yaml"), []) == ()


@settings(max_examples=30, deadline=None)
@given(fabric=networks(), data=st.data())
def test_pairs_are_of_idle_nodes_where_there_are_any_and_no_node_comes_twice(
    fabric: Fabric, data: st.DataObject
) -> None:
    names = list(fabric.nodes)
    pairs = data.draw(
        st.lists(st.tuples(*[st.sampled_from(names)] * 2).filter(lambda two: two[0] != two[1]), max_size=4)
    )
    tested = {name for pair in pairs for name in pair}
    found = choose_pairs(fabric, rounds(fabric, *pairs))
    watching = [node.id for pair in found for node in pair]
    assert len(watching) == len(set(watching))
    assert found
    assert not tested & set(watching) or tested >= set(watching) or len(set(names) - tested) < 2
