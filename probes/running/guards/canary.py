"""The canary: one node pings another while tests run, so that harm to others is seen at once.

One sample is four pings 0.2 s apart, over the connection that is open already; a sample ends within 1.3 s in any
case. The alarm is set

- at once when a sample lost twice the limit or more (2 of 4 by default),
- when two samples in a row were bad: the limit or more was lost (1 of 4), the node could not be asked at all, or
  even the fastest ping took more than ten times its time before the load, and more than ``floor``.

The fastest ping, not the mean: a queue that never empties harms others, a single late answer is noise (RFC 8289
takes the minimum over an interval for a standing queue).

So a dead cable is seen within 1.8 s. Without ``ping`` on the node, or between nodes that never answered, the canary
says so once and sets no alarm. ``choose_pairs`` takes nodes that are idle themselves, on the path that most traffic
takes; whether they answer is not known there, so several pairs are named, the best first.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, zip_longest
from typing import TYPE_CHECKING

from benchconsole.probes.model.measuring import FailedAt, Round
from benchconsole.probes.model.remote import Reach, RemoteError
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction, Fabric, Node, NodeId
from benchconsole.topology.units import duration, percent

PINGS = 4
SAMPLE_SECONDS = 1.3
"""Seconds after which a sample is cut off; pings that have not come back by then are lost."""

_PATIENCE = 8.0
"""Seconds for a sample with its command around it; beyond, the node cannot be asked."""

_COUNTS = re.compile(r"^(\d{1,6}) packets transmitted, (\d{1,6}) (?:packets )?received\b", re.MULTILINE)
_FASTEST = re.compile(r"^(?:rtt|round-trip) min/avg/max\S* = (\d{1,9}(?:\.\d{1,6})?)/", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CanaryLimits:
    """The bounds of the alarm: ``loss`` is a share, ``factor`` counts times before the load, ``floor`` is seconds."""

    loss: float = 0.2
    factor: float = 10.0
    floor: float = 0.1

    @classmethod
    def of(cls, fabric: Fabric) -> "CanaryLimits":
        """Stricter where links are capped: below a cap no queue may stand, and 5 ms of it is too much.

        Without a cap tests fill links on purpose, and the buffers of switches with them: then only
        what people and time-outs notice counts, 0.1 s.
        """
        return cls() if fabric.caps.link is None else cls(floor=0.005)


@dataclass(frozen=True, slots=True)
class PingSample:
    """The summary of one ``ping``: packets, and the fastest round trip in seconds, None where nothing came back."""

    sent: int
    received: int
    fastest: float | None

    @property
    def loss(self) -> float:
        return 1 - self.received / self.sent


def make_ping_command(address: str) -> list[str]:
    """The command of one sample. ``timeout`` lets ping sum up when it is interrupted."""
    return [
        "timeout", "--foreground", "-s", "INT", str(SAMPLE_SECONDS),
        "ping", "-n", "-q", "-c", str(PINGS), "-i", "0.2", "-W", "1", address,
    ]  # fmt: skip


def parse_ping(text: str) -> PingSample | None:
    """The summary that ping printed (iputils, and others with the same summary); None when there is none.

    >>> parse_ping("4 packets transmitted, 3 received, 25% packet loss\\nrtt min/avg/max/mdev = 0.04/1/2/0 ms")
    PingSample(sent=4, received=3, fastest=4e-05)
    """
    counts, fastest = _COUNTS.search(text), _FASTEST.search(text)
    if counts is None:
        return None
    sent, received = int(counts[1]), int(counts[2])
    if sent < 1 or received > sent:
        return None
    return PingSample(sent, received, float(fastest[1]) / 1000 if fastest and received else None)


class Canary:
    """``here`` pings the data address of ``there``. ``because`` is the reason for ``alarm``, once that is set.

    ``on_notice`` hears once why there will be no alarm, where that is so.
    """

    def __init__(
        self,
        reach: Reach,
        here: Node,
        there: Node,
        *,
        limits: CanaryLimits = CanaryLimits(),
        on_notice: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.here = here
        self.there = there
        self.limits = limits
        self.alarm = asyncio.Event()
        self.because = ""
        self._reach = reach
        self._on_notice = on_notice
        self._usual: float | None = None
        self._last_wrong = ""

    async def measure_usual(self, samples: int = 3) -> bool:
        """Measure the usual round trip before the load. False when this pair cannot serve."""
        fastest: list[float] = []
        for _ in range(samples):
            sample = await self._take_sample()
            if isinstance(sample, str):
                self._on_notice(f"{self}: {sample}; nothing watches for harm to others here")
                return False
            if sample.fastest is not None and sample.loss < self.limits.loss:
                fastest.append(sample.fastest)
        if 2 * len(fastest) <= samples:
            self._on_notice(f"{self}: pings are lost without any load of ours; nothing watches for harm to others here")
            return False
        self._usual = sorted(fastest)[len(fastest) // 2]
        return True

    async def watch(self) -> None:
        """Sample until the alarm is set, or ping is gone. RuntimeError without ``measure_usual`` before."""
        if self._usual is None:
            raise RuntimeError("a canary without its usual round trip, expected measure_usual() to have been true")
        slowest = max(self.limits.factor * self._usual, self.limits.floor)
        while not self.alarm.is_set():
            sample = await self._take_sample()
            if sample == _NO_PING:
                self._on_notice(f"{self}: {sample} any more; nothing watches for harm to others from here on")
                return
            self.check_sample(sample, slowest)

    def check_sample(self, sample: PingSample | str, slowest: float) -> None:
        """Hold one sample, or the reason why there is none, against the limits."""
        grave = False
        if isinstance(sample, str):
            wrong = sample
        elif sample.loss >= self.limits.loss:
            wrong = f"{sample.sent - sample.received} of {sample.sent} pings lost ({percent(sample.loss)})"
            grave = sample.loss >= min(2 * self.limits.loss, 1)
        elif sample.fastest is not None and sample.fastest > slowest:
            usual = duration(self._usual or 0.0)
            wrong = f"the fastest ping took {duration(sample.fastest)}, usual are {usual}"
        else:
            wrong = ""
        if wrong and (grave or self._last_wrong):
            self.because = f"{self}: {wrong}"
            self.alarm.set()
        self._last_wrong = wrong

    async def _take_sample(self) -> PingSample | str:
        try:
            remote = await self._reach.remote(self.here)
            output = await remote.run(make_ping_command(self.there.data_address), timeout=_PATIENCE)
        except RemoteError as error:
            if error.failure.stage is FailedAt.MISSING_TOOL:
                return _NO_PING
            return f"{self.here.id} cannot be asked ({error.failure.stage}: {error.failure.detail})"
        sample = parse_ping(output.text)
        if sample is not None:
            return sample
        said = (output.error_text.strip() or output.text.strip() or "nothing").splitlines()[0]
        return _NO_PING if output.exit_status == 127 else f"ping said {said[:200]!r}"

    def __str__(self) -> str:
        return f"canary {self.here.id} to {self.there.id}"


_NO_PING = "ping is not installed (Debian package iputils-ping)"


if TYPE_CHECKING:
    from benchconsole.topology.routing.routes import Routes

_FLOWS = 2000
"""Flows that are counted to find the path of most traffic; of more, every n-th is taken."""

_CANDIDATES = 48
"""Nodes that are tried against each other."""

Pair = tuple[Node, Node]


def choose_pairs(fabric: Fabric, rounds: Sequence[Round], most: int = 4) -> tuple[Pair, ...]:
    """At most ``most`` pairs for a canary, the best first, no node in two of them; empty where there is no pair.

    They are nodes that no test runs on, where there are two such nodes with a path between them; else any.
    Their path shares as much as possible with the flows of ``rounds``; of equal ones the longest is taken.
    """
    from benchconsole.topology.routing.routes import Routes  # numpy

    routes = Routes(fabric)
    use = _count_flows(routes, rounds)
    tested = {node.id for each in rounds for test in each.tests for node in test.target.nodes}
    cabled = [node for node in fabric.nodes.values() if fabric.legs(node.id)]
    outside = [node for node in cabled if node.id not in tested]
    ranked = _rank_pairs(routes, _spread_over_switches(fabric, outside), use) or _rank_pairs(
        routes, _spread_over_switches(fabric, cabled), use
    )
    chosen: list[Pair] = []
    taken: set[NodeId] = set()
    for here, there in ranked:
        if len(chosen) < most and not taken & {here.id, there.id}:
            chosen.append((here, there))
            taken |= {here.id, there.id}
    return tuple(chosen)


def _count_flows(routes: "Routes", rounds: Sequence[Round]) -> Mapping[Direction, float]:
    stride = 1 + sum(len(each.tests) for each in rounds) // _FLOWS
    found: dict[Direction, float] = defaultdict(float)
    for flow in islice((flow for each in rounds for flow in each.flows), 0, None, stride):
        for way, part in _find_path(routes, flow.source, flow.sink).items():
            found[way] += part
    return found


def _find_path(routes: "Routes", source: NodeId, sink: NodeId) -> Mapping[Direction, float]:
    """The directed links between two nodes; none where the description gives no path, or both are one machine."""
    try:
        return routes.shares(source, sink)
    except RoutingError:
        return {}


def _spread_over_switches(fabric: Fabric, nodes: Sequence[Node]) -> list[Node]:
    """At most _CANDIDATES of ``nodes``, taken in turn from the switches that they are cabled to."""
    at = group_by_key(
        (tuple(link.other(node.host or node.id) for link in fabric.legs(node.id)), node) for node in nodes
    )
    groups = list(at.values())[:: 1 + 2 * len(at) // (_CANDIDATES + 1)]
    turns = (node for turn in zip_longest(*groups) for node in turn if node is not None)
    return list(islice(turns, _CANDIDATES))


def _rank_pairs(routes: "Routes", nodes: Sequence[Node], use: Mapping[Direction, float]) -> list[Pair]:
    """Every pair with a way between its nodes, the most used way first; answers take it backwards."""
    found: list[tuple[float, int, Pair]] = []
    for here, there in combinations(nodes, 2):
        ways = _find_path(routes, here.id, there.id)
        if ways:
            back = {way: Direction(way.link, routes.fabric.links[way.link].other(way.source)) for way in ways}
            shared = sum(part * (use.get(way, 0.0) + use.get(back[way], 0.0)) for way, part in ways.items())
            found.append((round(shared, 6), len(ways), (here, there)))
    found.sort(key=lambda each: each[:2], reverse=True)
    return [pair for _, _, pair in found]
