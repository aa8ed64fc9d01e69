"""Losses of flows on their way: of those that tell of it, because no queue of their own making overflows.

Each cable on the way of such a flow has room for all that could be put on it, beside others half of it at most; TCP is
bound by its own NIC first, datagrams by the rate that they are held to. Flows that fill a link together, or that a hash
may crowd, lose segments on sound cables and tell nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.flow_conditions import FlowConditions, find_mtu, list_links
from benchconsole.probes.judging.round_flows import MeasuredFlow, RoundFlows
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Result
from benchconsole.probes.model.repeats import TestKey, make_test_key
from benchconsole.topology.arrays import Flags

FlowKey = tuple[TestKey, bool]
"""A test and its direction: True for what its node sends."""

NOTABLE = 0.001
"""Share of lost packets from which a flow can lose more than chance: a cable that meets the bit error ratio of Ethernet
(1e-12, IEEE Std 802.3) loses 1 in 80 million; TCP that begins, or is late for once, some in 10,000."""

ROOM = 0.5
"""Share of a cable that several flows may be able to put on it: more, and a burst of all overflows its queue."""

PACKET = 1448.0
"""Bytes of a packet where no size of it was measured: what a frame of 1500 B carries."""


@dataclass(frozen=True, slots=True, eq=False)
class LossSample:
    """One flow that tells of its way: the ``share`` of its packets that were lost or sent again, of ``sent`` bytes."""

    flow: MeasuredFlow
    round: int
    protocol: str
    share: float
    sent: float

    @property
    def crossed(self) -> Mapping[int, float]:
        """The parts on its way with the share of the flow over each."""
        return dict(zip(self.flow.parts.tolist(), self.flow.shares.tolist(), strict=True))

    @property
    def lost(self) -> float:
        """Bytes that did not arrive at first."""
        return self.sent * self.share

    @property
    def packets(self) -> tuple[float, float]:
        """How many were lost, and how many were sent; of datagrams and old tools estimated from the bytes."""
        found = FlowConditions(self.flow)
        count = found.find("retransmits") or self.lost / (found.find("mss") or PACKET)
        return count, count / self.share if self.share else 0.0


class SampleReader:
    """Reads what the flows of rounds lost."""

    def __init__(self, context: JudgingContext) -> None:
        self._context = context
        self._cable = context.parts.capacity.copy()  # byte/s of one cable of each part
        for number, link in enumerate(context.parts.graph.links):
            self._cable[2 * number : 2 * number + 2] *= min(link.members) / sum(link.members)

    def has_losses(self, judged: ClosedRound, metric: str) -> bool:
        """Whether any flow that has room on its way may have lost a notable share; cheap for rounds without."""
        flows = self._context.flows.read(judged, metric)
        return any(_may_have_lost(flows.results[place]) for place in self._list_roomy(flows))

    def read(self, judged: ClosedRound, metric: str) -> Mapping[FlowKey, LossSample]:
        """The loss of each flow that tells of its way."""
        flows = self._context.flows.read(judged, metric)
        found: dict[FlowKey, LossSample] = {}
        for place in self._list_roomy(flows):
            (each,) = flows.find_measured([flows.measurements[place][0].id])
            sample = _read_sample(self._context, each, judged.round.number)
            if sample is not None:
                key = make_test_key(each.result.test, judged.round.stage)
                found[key, each.flow.source == each.result.test.target.node.id] = sample
        return found

    def _list_roomy(self, flows: RoundFlows) -> list[int]:
        """The places of the flows that have room on every cable of their way, of which the routing is known."""
        if not flows.flows:
            return []
        crossed = flows.crossings
        without = np.bincount(crossed.owner[~self._find_room(flows)[crossed.part]], minlength=len(flows.flows))
        return np.flatnonzero((without == 0) & ~flows.least.is_open).tolist()

    def _find_room(self, flows: RoundFlows) -> Flags:
        """Per part whether each cable of it has room for all that its flows could put on it."""
        crossed, size = flows.crossings, self._context.parts.size
        rates = np.array([each.value for each in flows.expectations])
        count = np.bincount(crossed.part, minlength=size)
        most = np.bincount(crossed.part, weights=rates[crossed.owner], minlength=size)
        return np.asarray(most <= self._cable * np.where(count > 1, ROOM, 1 + 1e-6), bool)


def _may_have_lost(result: Result) -> bool:
    """Whether a test tells of a notable share, or of segments sent again without their share."""
    shares = [each.value for each in result.measurements if each.metric.endswith((".resent", ".loss"))]
    if shares:
        return max(shares) >= NOTABLE
    return any(each.value > 0 for each in result.measurements if each.metric.endswith(".retransmits"))


def _read_sample(context: JudgingContext, each: MeasuredFlow, number: int) -> LossSample | None:
    """A flow with what it lost; None where that is not known, or where its own way overflows."""
    found, ran = FlowConditions(each), each.result.ran
    limits, source = each.expected.limiting, each.flow.source
    if found.protocol == "udp":
        share = found.find("loss") if not limits else None
    elif found.protocol == "tcp":
        is_own = not limits or any(way.source == source for way in limits)
        share = found.find_resent(found.find_segment(find_mtu(context, list_links(context, each)))) if is_own else None
    else:
        return None
    if share is None or not 0 <= share < 1 or not ran:
        return None
    return LossSample(each, number, found.protocol, share, each.value * ran / (1 - share))
