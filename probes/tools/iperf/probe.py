"""The pair probe ``iperf``: iperf 2, with which SC11 and many sites measured before iperf3.

Sources: SC11 100G WAN report; iperf 2.1.8, manual.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import (
    Against,
    Comparator,
    Contact,
    Demands,
    Metric,
    Output,
    Reading,
    SendingOptions,
    Shown,
    Target,
    Unit,
)
from benchconsole.probes.readers.lines import split_lines
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.serving import PORTS
from benchconsole.probes.tools.iperf import text_reader
from benchconsole.probes.tools.network.pair_probe import PairProbe, find_ip_version

_MOST_STREAMS = 128
_START = 2.0
_LATE = 30.0
"""Seconds that a client may take longer than its test: for a server that answers late."""


class Iperf(PairProbe):
    """Options: ``streams`` at once, ``seconds``, ``protocol`` (tcp or udp), ``bitrate`` of all streams together (UDP
    needs one) and ``length`` (size of a datagram, or of a write; empty: iperf's).
    """

    name = "iperf"
    label_names = frozenset(("counted", "direction", "protocol", "seconds", "size", "stream", "streams"))
    summary = "TCP or UDP throughput between two nodes with iperf 2"
    source = "SC11 100G WAN report"
    metrics = (
        Metric(
            "iperf.throughput",
            Unit.BYTE_RATE,
            "payload, as the end that is told counted it",
            Shown.NETWORK,
            Against.FABRIC,
        ),
        Metric(
            "iperf.loss", Unit.ONE, "share of datagrams that did not arrive", Shown.PERCENT, sense=Comparator.AT_MOST
        ),
        Metric("iperf.jitter", Unit.SECOND, "jitter of datagrams at the receiver"),
    )
    tools = MappingProxyType({"iperf": "iperf"})
    options = MappingProxyType({"streams": 4, "seconds": 10, "protocol": "tcp", "bitrate": "", "length": ""})
    sending_options = SendingOptions(streams="streams", rate="bitrate")

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return self.given(options).whole("seconds", 1) + _START

    def demands(self, target: Target) -> Demands:
        self.client(target, PORTS[0])
        return super().demands(target)

    def client(self, target: Target, port: int) -> list[str]:
        """The command at the node; PlanError for what is out of range."""
        given, peer = self.given(target.options), self.peer(target)
        is_udp = given.choice("protocol", ("tcp", "udp")) == "udp"
        streams, rate = given.whole("streams", 1, _MOST_STREAMS), given.rate("bitrate")
        if is_udp and rate is None:
            raise given.refused("bitrate", "a rate for udp, which would send 1 Mb/s without")
        argv = ["iperf", "-c", peer.data_address, "-p", str(port), "-t", str(given.whole("seconds", 1))]
        argv += ["-P", str(streams), "-f", "k", *(["-u"] if is_udp else []), *_list_family(peer.data_address)]
        if rate is not None:
            bits = int(8 * rate / streams)
            if bits == 0:
                raise given.refused("bitrate", f"more for {streams} streams")
            argv += ["-b", str(bits)]
        most = 65_507 if is_udp else 2**30
        return [*argv, *(["-l", str(given.size("length", 16, most))] if given.text("length") else [])]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        self.client(target, PORTS[0])
        is_udp = self.given(target.options).text("protocol") == "udp"
        family = _list_family(self.peer(target).data_address)
        said = await self.ask_server(
            contact,
            lambda port: ["iperf", "-s", "-p", str(port), *(["-u"] if is_udp else []), *family],
            lambda port: self.client(target, port),
            limit=self.estimate(target.options) + _LATE,
            kind="udp" if is_udp else "tcp",
        )
        return (said,)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read the text of a client, or of one run of a server."""
        refuse_failed(output, self.name)
        text_reader.refuse_complaint(split_lines(output.error_text, 400))
        return text_reader.parse_text(output.text, output.argv)


def _list_family(address: str) -> list[str]:
    """iperf 2 speaks IPv4 unless it is told otherwise, also to an address of IPv6."""
    return ["-V"] if find_ip_version(address) == 6 else []
