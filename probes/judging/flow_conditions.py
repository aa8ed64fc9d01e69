"""The conditions of a flow: what its test measured beside its rate, and what is described of its way.

Shared by those who explain rates (``reasons``) and those who look for lost packets (``packet_loss``).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.probes.model.kept_readings import list_numbers
from benchconsole.probes.model.measuring import Reading
from benchconsole.probes.model.plausible_numbers import describe_implausible
from benchconsole.topology.analysis.wan import HEADERS, read_trip
from benchconsole.topology.model.fabric import Link
from benchconsole.topology.units import Shown, duration


@dataclass(frozen=True, slots=True)
class FlowConditions:
    """The readings of the test of ``each`` beside its rate."""

    each: MeasuredFlow

    def find(self, name: str, **marks: str) -> float | None:
        """The reading ``PROBE.name`` of the same direction with these labels besides; None where there is none.

        A value that no measurement gives (``find_implausible``) is none.
        """
        reading = self._find_reading(name, marks)
        return None if reading is None else reading.value

    def _find_reading(self, name: str, marks: dict[str, str]) -> Reading | None:
        own, result = set(self.each.measurement.labels), self.each.result
        wanted, metric = own | set(marks.items()), f"{result.test.probe}.{name}"
        found = (one for one in list_numbers(result) if one.metric == metric and wanted == set(one.labels))
        return next((one for one in found if not describe_implausible(one, Shown.PLAIN)), None)

    @property
    def protocol(self) -> str:
        """``tcp``, ``udp`` or another one; empty where the tool does not tell."""
        return dict(self.each.measurement.labels).get("protocol", "")

    @property
    def streams(self) -> int:
        return self.each.result.test.sending.streams

    def find_trip(self, links: Sequence[Link]) -> tuple[float, str]:
        """Seconds of a round trip, as measured or else described, and the words for it; 0 where neither is known."""
        measured = self.find("rtt")
        if measured:
            return measured, duration(measured)
        described = self.find_described_trip(links)
        return described, f"{duration(described)} as described" if described else ""

    def find_described_trip(self, links: Sequence[Link]) -> float:
        """Seconds of a round trip over the described lines on the way; 0 without one."""
        shares = self.each.route.shares.tolist()
        return float(sum(read_trip(link) * share for link, share in zip(links, shares, strict=True)))

    def find_segment(self, mtu: int) -> float:
        """Bytes of payload of one segment: as measured, or what fits into ``mtu``."""
        return self.find("mss") or mtu - HEADERS

    def find_resent(self, segment: float) -> float | None:
        """Share of segments sent again; of tools that count them only, from the bytes that arrived while they ran."""
        share, count, ran = self.find("resent"), self.find("retransmits"), self.each.result.ran
        if share is not None or count is None or not ran:
            return share
        return count / (self.each.value * ran / segment + count)


def list_links(context: JudgingContext, each: MeasuredFlow) -> list[Link]:
    """The links on the way of a flow."""
    return [context.routes.graph.links[way >> 1] for way in each.route.ways.tolist()]


def find_mtu(context: JudgingContext, links: Sequence[Link]) -> int:
    """The smallest MTU on a way, in bytes."""

    def find(link: Link) -> int:
        network = context.fabric.networks.get(link.network)
        return context.fabric.mtu if network is None else network.mtu

    return min(find(link) for link in links)
