"""The pair probe ``qperf``: bandwidth and latency over TCP, UDP and RDMA, a test of qperf at a time.

qperf's server knows no single client and listens on every address; it is ended with the block that started it.
Its tests that measure nothing are refused.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import (
    Against,
    Contact,
    Demands,
    Given,
    Metric,
    Output,
    Reading,
    Sending,
    Shown,
    Target,
    Unit,
)
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.serving import PORTS
from benchconsole.probes.tools.network.pair_probe import PairProbe
from benchconsole.probes.tools.qperf import text_reader

_DEVICE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}(?::[0-9]{1,3})?")
_WAIT = 10
"""Seconds that each end waits for the other before it gives up."""


class Qperf(PairProbe):
    """Options: ``tests`` (qperf's names, separated by blanks), ``seconds`` of each, ``message`` (size of a message;
    empty: as each test has it) and ``device`` (of RDMA tests, as ``mlx5_0:1``; empty: the first port that is up).
    """

    name = "qperf"
    label_names = frozenset(("direction", "run", "seconds", "size", "test"))
    summary = "Bandwidth and latency from one node to another over TCP, UDP or RDMA"
    source = "qperf 0.4.11, manual; host to host over InfiniBand and TCP as in the DESY storage report"
    metrics = (
        Metric("qperf.throughput", Unit.BYTE_RATE, "payload that arrived", Shown.NETWORK, Against.FABRIC),
        Metric("qperf.sent", Unit.BYTE_RATE, "payload that was handed to an unreliable transport", Shown.NETWORK),
        Metric("qperf.latency", Unit.SECOND, "one way of a message, half a round trip"),
        Metric("qperf.messages", Unit.PER_SECOND, "messages"),
    )
    tools = MappingProxyType({"qperf": "qperf"})
    versions = MappingProxyType({"qperf": "0.4.9"})
    options = MappingProxyType({"tests": "tcp_bw tcp_lat udp_bw udp_lat", "seconds": 2, "message": "", "device": ""})

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return len(_list_tests(given)) * (given.whole("seconds", 1, 3600) + 0.5) + 1.0

    def demands(self, target: Target) -> Demands:
        self.client(target, *PORTS)
        return super().demands(target)

    def sending(self, options: Mapping[str, str | int | float]) -> Sending:
        """Bulk where TCP is the first bandwidth that is measured, which is the one that is judged.

        UDP goes as fast as its sender's processor, and RDMA through a device that may be on another network.
        """
        bandwidths = [name for name in _list_tests(self.given(options)) if name.endswith("_bw")]
        return Sending(bulk=bandwidths[:1] == ["tcp_bw"])

    def client(self, target: Target, control: int, data: int) -> list[str]:
        """The command at the node; ``data`` is the port of socket tests."""
        given, peer = self.given(target.options), self.peer(target)
        argv = ["env", "LC_ALL=C", "qperf", peer.data_address, "-lp", str(control), "-ip", str(data)]
        argv += ["-t", str(given.whole("seconds", 1, 3600)), "-to", str(_WAIT), "-uu", "-v"]
        argv += ["-m", str(given.size("message", 1, 2**30))] if given.text("message") else []
        device = given.text("device")
        if device and not _DEVICE.fullmatch(device):
            raise given.refused("device", "the name of an RDMA device and its port, as mlx5_0:1")
        return [*argv, *(["-i", device] if device else []), *_list_tests(given)]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        self.client(target, *PORTS)
        said = await self.ask_server(
            contact,
            lambda control: ["qperf", "-lp", str(control), "-lto", str(_WAIT)],
            lambda control: self.client(target, control, self.draw_port(control)),
            limit=1.5 * self.estimate(target.options) + _WAIT,
        )
        return (said,)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read the blocks of qperf, with and without ``-v``, ``-uu``, ``-ub``, ``-e``."""
        refuse_failed(output, "qperf")
        return text_reader.parse_text(output.text, output.error_text, output.argv)


def _list_tests(given: Given) -> list[str]:
    names = given.text("tests").replace(",", " ").split()
    unknown = [name for name in names if name not in text_reader.TESTS]
    if unknown or not names:
        raise given.refused("tests", "some of " + " ".join(sorted(text_reader.TESTS)))
    return names
