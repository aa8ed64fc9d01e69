"""The truth at the level of single cables: what each test of a round measures on a fabric with planted faults.

It shares no code with what it judges. It reads the described fabric and the planned rounds as data. Each stream of TCP
takes a path over single cables, the rates are max-min fair, and each test reports the sum of its streams with noise.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple
from zlib import crc32

import numpy as np

from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Output, Reading, Result, Round, Test, labels
from benchconsole.probes.model.sending import Directions
from benchconsole.topology.model.fabric import Fabric, HashPolicy, Link
from benchconsole.topology.units import Unit
from benchmarks.attribution.cable_paths import Cabling, Choose, Fork, list_whole
from benchmarks.attribution.water_filling import Crossing, Floats, fill

METRICS: Mapping[str, str] = MappingProxyType({"iperf3": "iperf3.throughput"})
"""Probes that are simulated, with the metric that is the payload of all streams of a test in byte/s."""

FIRST_PORT = 10_000
"""The source port whose digits are all 0 (docs/explanation/planning.md, steered ports)."""

NOISE = 0.04
"""Standard deviation of what a test reports, as a share of its rate."""

EFFICIENCY = 0.03
"""Standard deviation of the logarithm of what a host makes of its line rate, where hosts differ."""

WRONG = 0.1
"""Part of the steered streams that take another way than their source port says, where paths are wrong."""

_WORD = (1 << 64) - 1
_EPHEMERAL = range(32_768, 61_000)
"""Source ports that Linux hands out (ip-sysctl, ip_local_port_range)."""


@dataclass(frozen=True, slots=True)
class Truth:
    """How a fabric behaves. ``ideal``: every flow divides evenly over all equal cables, whatever fork it comes to.

    Else each stream is hashed by itself at each fork by a function of the device. ``unknown``: the source port of a
    steered stream means nothing to the devices. ``spread``: hosts make less of their line rate, each its own.
    ``wrong``: the part of steered streams that take another way at one fork.
    """

    name: str
    ideal: bool = False
    unknown: bool = False
    spread: float = 0.0
    wrong: float = 0.0


TRUTHS: Mapping[str, Truth] = MappingProxyType(
    {
        each.name: each
        for each in (
            Truth("ideal", ideal=True),
            Truth("ideal+spread", ideal=True, spread=EFFICIENCY),
            Truth("stream-hash"),
            Truth("unknown-hash", unknown=True),
            Truth("spread", spread=EFFICIENCY),
            Truth("wrong-paths", wrong=WRONG),
            Truth("spread+wrong-paths", spread=EFFICIENCY, wrong=WRONG),
        )
    }
)
"""Every truth by name; where nothing else is said, streams are hashed."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Directed cables, by number, that are gone, and those that carry only a part of their speed."""

    lost: frozenset[int] = frozenset()
    left: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))


class _Stream(NamedTuple):
    """A stream: its cables, the part of itself that crosses each, what it counts for, and the most that it sends.

    An ideal flow is one stream that divides, or one for each of its paths.
    """

    cables: Sequence[int]
    shares: Sequence[float]
    weight: float
    demand: float


class CableSimulator:
    """One fabric; paths that do not depend on damage or seed are found once."""

    def __init__(self, fabric: Fabric) -> None:
        self.cabling = Cabling(fabric)
        self.capacity: Floats = np.array(
            [_payload(fabric, fabric.links[each.link], each.member) for each in self.cabling.cables]
        )
        self._whole: dict[tuple[str, str], _Stream] = {}

    def divide(self, source: str, sink: str, damage: Damage) -> list[_Stream]:
        """A flow that divides evenly at every fork, over the cables that are left there.

        One stream where all its cables are whole. Else one for each path, because a fixed division would let the worst
        cable hold back what is on the others, as no devices do.
        """
        ends = source, sink
        if ends not in self._whole:
            self._whole[ends] = _lump(list(self.cabling.list_paths(source, sink)))
        whole = self._whole[ends]
        if all(cable not in damage.lost and cable not in damage.left for cable in whole.cables):
            return [whole]
        return [
            _Stream(path, [1.0] * len(path), part, np.inf)
            for part, path in self.cabling.list_paths(source, sink, damage.lost)
        ]


class SimulatedRun:
    """A run on a fabric with ``damage``: its hash functions, its hosts and its noise follow from ``seed``."""

    def __init__(self, simulator: CableSimulator, truth: Truth, damage: Damage, seed: int) -> None:
        self._simulator, self._truth, self._damage, self._seed = simulator, truth, damage, seed
        self._hashes = DeviceHashes(seed)
        chance = np.random.default_rng([seed, 0])
        capacity = simulator.capacity.copy()
        for cable, left in damage.left.items():
            capacity[cable] *= left
        for node in simulator.cabling.fabric.nodes if truth.spread else ():
            efficiency = min(1.0, float(np.exp(chance.normal(0.0, truth.spread))))
            capacity[[way for leg in simulator.cabling.legs(node) for way in (leg, leg ^ 1)]] *= efficiency
        self._capacity = capacity

    def measure(self, planned: Round) -> ClosedRound:
        """The round with a number for each test. ValueError for a test that is not simulated."""
        streams, owner = self._list_streams(planned)
        rates = self._sum_rates(streams, owner, len(planned.tests))
        chance = np.random.default_rng([self._seed, planned.number])
        told = rates * (1 + chance.normal(0.0, NOISE, len(rates)))
        values = np.clip(told, 0.0, self._line_rates(streams, owner)).tolist()
        seconds = max(planned.seconds - 4.0, 1.0)  # start and end are not measured
        results = tuple(_make_result(test, value, seconds) for test, value in zip(planned.tests, values, strict=True))
        return ClosedRound(planned, results, CloseReason.COMPLETE, 0.0, planned.seconds)

    def compute_rates(self, planned: Round) -> Floats:
        """byte/s of payload of each test, before noise."""
        return self._sum_rates(*self._list_streams(planned), len(planned.tests))

    def find_paths(self, test: Test) -> list[Sequence[int]]:
        """The directed cables of each stream of a test."""
        return [each.cables for each in self._send(test)]

    def _list_streams(self, planned: Round) -> tuple[list[_Stream], list[int]]:
        """The streams of all tests, with the place of the test of each."""
        streams: list[_Stream] = []
        owner: list[int] = []
        for place, test in enumerate(planned.tests):
            own = self._send(test)
            streams += own
            owner += [place] * len(own)
        return streams, owner

    def _sum_rates(self, streams: Sequence[_Stream], owner: Sequence[int], tests: int) -> Floats:
        return np.bincount(owner, self._fill(streams), minlength=tests).astype(float)

    def _send(self, test: Test) -> list[_Stream]:
        if test.probe not in METRICS or test.sending.directions is not Directions.FORWARD or not test.sending.bulk:
            raise ValueError(f"{test.id}: only bulk tests of {', '.join(METRICS)} that send forward are simulated")
        (flow,) = test.flows
        count, port = test.sending.streams, test.sending.source_port
        rate = np.inf if flow.demand is None else flow.demand / count
        if self._truth.ideal and port is None:
            parts = self._simulator.divide(flow.source, flow.sink, self._damage)
            return [each._replace(weight=each.weight * count, demand=each.weight * count * rate) for each in parts]
        return [self._place(test, number, rate) for number in range(count)]

    def _place(self, test: Test, number: int, rate: float) -> _Stream:
        """One stream on its cables: those that its source port means, or those of the hashes on its way."""
        (flow,) = test.flows
        first = test.sending.source_port
        drawn = _mix(_mix(self._seed) ^ crc32(test.id.encode()) ^ number << 40)
        port = _EPHEMERAL[drawn % len(_EPHEMERAL)] if first is None else first + number
        ends = _mix(crc32(flow.source.encode()) << 32 | crc32(flow.sink.encode()))
        lost = self._damage.lost
        choose: Choose = HashedStream(self._hashes, ends, _mix(ends ^ _mix(port << 20 ^ drawn % 997)), lost)
        if first is not None and not self._truth.unknown:
            steered = SteeredPort(port, choose, lost)
            path = self._simulator.cabling.path(flow.source, flow.sink, steered, lost)
            if not steered.forks or _mix(drawn) >= self._truth.wrong * _WORD:
                return _Stream(path, [1.0] * len(path), 1.0, rate)
            choose = SteeredPort(port, choose, lost, wrong=drawn % steered.forks)
        path = self._simulator.cabling.path(flow.source, flow.sink, choose, lost)
        return _Stream(path, [1.0] * len(path), 1.0, rate)

    def _fill(self, streams: Sequence[_Stream]) -> Floats:
        counts = [len(each.cables) for each in streams]
        crossing = Crossing(
            np.repeat(np.arange(len(streams)), counts),
            np.fromiter((cable for each in streams for cable in each.cables), np.intp, sum(counts)),
            np.fromiter((share for each in streams for share in each.shares), float, sum(counts)),
        )
        weight = np.array([each.weight for each in streams])
        return fill(crossing, self._capacity, weight, np.array([each.demand for each in streams]))

    def _line_rates(self, streams: Sequence[_Stream], owner: Sequence[int]) -> Floats:
        """The most that each test can be told: the payload of the legs that its streams use, at the lesser end."""
        cabling, capacity = self._simulator.cabling, self._simulator.capacity
        ends: list[tuple[set[int], set[int]]] = [(set(), set()) for _ in range(max(owner, default=-1) + 1)]
        for place, each in zip(owner, streams, strict=True):
            for cable in each.cables:
                if cabling.cables[cable].source in cabling.fabric.nodes:
                    ends[place][0].add(cable)
                elif cabling.cables[cable].end in cabling.fabric.nodes:
                    ends[place][1].add(cable)
        return np.array([min(capacity[list(out)].sum(), capacity[list(into)].sum()) for out, into in ends])


class DeviceHashes:
    """The hash function of each device at each kind of fork; all follow from one seed."""

    def __init__(self, seed: int) -> None:
        self._seed = _mix(seed)
        self._salts: dict[tuple[str, str], int] = {}

    def apply(self, fork: Fork, key: int, ways: int) -> int:
        """A position below ``ways``."""
        place = fork.device, fork.stage
        if place not in self._salts:
            self._salts[place] = _mix(self._seed ^ crc32(" ".join(place).encode()))
        return _mix(key ^ self._salts[place]) % ways


class HashedStream:
    """Chooses by hash of the ``stream``, or of its ``ends`` where the policy sees no ports; never a lost way."""

    def __init__(self, hashes: DeviceHashes, ends: int, stream: int, lost: Collection[int] = ()) -> None:
        self._hashes, self._ends, self._stream, self._lost = hashes, ends, stream, lost

    def __call__(self, fork: Fork) -> int:
        key = self._ends if fork.policy in {HashPolicy.L2, HashPolicy.L3} else self._stream
        if not self._lost:
            return self._hashes.apply(fork, key, len(fork.ways))
        whole = list_whole(fork, self._lost)
        return whole[self._hashes.apply(fork, key, len(whole))]


class SteeredPort:
    """Chooses by source port: a number of mixed radix from 10,000 on, its lowest digit the choice at the first fork.

    Only forks with ``hash: steered`` heed it, and a stream whose way is lost falls on the others: then ``otherwise``
    decides. At the fork ``wrong`` (from 0) the stream takes the way after the one that its digit says.
    """

    def __init__(self, port: int, otherwise: Choose, lost: Collection[int] = (), *, wrong: int | None = None) -> None:
        self._rest = port - FIRST_PORT
        self._otherwise, self._lost, self._wrong = otherwise, lost, wrong
        self.forks = 0

    def __call__(self, fork: Fork) -> int:
        self._rest, digit = divmod(self._rest, len(fork.ways))
        if self.forks == self._wrong:
            digit = (digit + 1) % len(fork.ways)
        self.forks += 1
        if fork.policy is not HashPolicy.STEERED or all(each in self._lost for each in fork.ways[digit]):
            return self._otherwise(fork)
        return digit


def _lump(paths: Sequence[tuple[float, list[int]]]) -> _Stream:
    """All paths of a flow as one stream; each comes with its part of the flow."""
    shares: dict[int, float] = {}
    for part, path in paths:
        for cable in path:
            shares[cable] = shares.get(cable, 0.0) + part
    return _Stream(list(shares), list(shares.values()), 1.0, np.inf)


def _payload(fabric: Fabric, link: Link, member: int) -> float:
    """byte/s of TCP payload of one cable: (MTU - 52) / (MTU + 38) of the wire, or what the file says of its network."""
    network = fabric.networks.get(link.network)
    mtu = fabric.mtu if network is None else network.mtu
    share = (mtu - 52) / (mtu + 38)
    if network is not None and abs(network.goodput - share) > 1e-9:
        raise ValueError(f"network {network.name} has a goodput of its own: the referee does not simulate that")
    return link.members[member] * share


def _make_result(test: Test, value: float, seconds: float) -> Result:
    reading = Reading(
        METRICS[test.probe], value, Unit.BYTE_RATE, labels(direction="out"), id=f"{test.id}#0", at=seconds
    )
    return Result(test, (Output((test.probe,), seconds=seconds),), (reading,), seconds=seconds)


def _mix(value: int) -> int:
    """64 bits, each of which depends on each of ``value``: the finalizer of MurmurHash3 (Appleby, public domain)."""
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _WORD
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _WORD
    return value ^ value >> 33
