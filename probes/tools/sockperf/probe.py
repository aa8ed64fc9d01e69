"""The pair probe ``sockperf``: latency of small messages with its tail, or the rate of messages one way.

A one-off server at the peer, bound to its data address and ended with the test, and a client at the node. UDP that was
sent has a metric of its own, since nobody tells how much of it arrived.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from types import MappingProxyType

from benchconsole.probes.api import (
    Against,
    Comparator,
    Contact,
    Demands,
    Metric,
    Output,
    Part,
    Reading,
    Sending,
    Shown,
    Target,
    Unit,
)
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.network.pair_probe import PairProbe, bind_option
from benchconsole.probes.tools.sockperf import text_reader

_MODES = ("ping-pong", "under-load", "throughput")
_DEFAULT_RATES = {"under-load": "10000", "throughput": "max", "ping-pong": "max"}
"""Messages per second that a mode is held to by itself (sockperf 3.7, manual)."""
_PROTOCOLS = ("udp", "tcp")
_LEAST_MESSAGE, _MOST_MESSAGE = 14, 65_507
"""Bytes of sockperf's own header, and of the largest datagram (RFC 768)."""
_BULK = 16 * 1024
"""Bytes of a message from which the rate of messages is a matter of the links; below, of the sender's processor."""
_SET_UP = 4.0


class Sockperf(PairProbe):
    """Options: ``mode`` "ping-pong", "under-load" or "throughput", ``protocol`` "udp" or "tcp", ``seconds``,
    ``size`` of a message, and ``messages`` per second (0: as sockperf does by itself, 10,000 under load).
    """

    name = "sockperf"
    closing = re.compile(r"(?:sockperf: ?)?(?:---> <MIN> observation = +[0-9]+\.[0-9]{3}|Summary: BandWidth .*\))")
    label_names = frozenset(
        ("direction", "mode", "mps", "number", "protocol", "seconds", "server", "size", "statistic", "wait")
    )
    summary = "Latency of messages between two nodes with its percentiles, alone or under load, or their rate one way"
    source = "DESY storage report, basic network tests; latency as in the SC11 100G WAN report"
    metrics = (
        Metric("sockperf.latency", Unit.SECOND, "half of a round trip"),
        Metric("sockperf.rtt", Unit.SECOND, "round trip, where sockperf was asked for whole ones"),
        Metric("sockperf.dropped", Unit.ONE, "messages that no answer came to", sense=Comparator.AT_MOST),
        Metric("sockperf.duplicated", Unit.ONE, "answers that came more than once", sense=Comparator.AT_MOST),
        Metric("sockperf.out_of_order", Unit.ONE, "answers that came after a later one", sense=Comparator.AT_MOST),
        Metric("sockperf.messages", Unit.PER_SECOND, "messages sent"),
        Metric(
            "sockperf.throughput", Unit.BYTE_RATE, "payload that TCP took to the peer", Shown.NETWORK, Against.FABRIC
        ),
        Metric("sockperf.sent", Unit.BYTE_RATE, "payload sent; UDP does not tell what arrived", Shown.NETWORK),
    )
    tools = MappingProxyType({"sockperf": "sockperf"})
    options = MappingProxyType({"mode": "ping-pong", "protocol": "udp", "seconds": 2, "size": "64 B", "messages": 0})

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return self.given(options).whole("seconds", 1) + _SET_UP

    def demands(self, target: Target) -> Demands:
        """The processors of both nodes: whoever else runs there is seen in the tail of the latency."""
        return Demands(frozenset((Part.CPU,)))

    def check(self, target: Target) -> None:
        self.client(target, 0)
        super().check(target)

    def sending(self, options: Mapping[str, str | int | float]) -> Sending:
        """Bulk is TCP one way in large messages; so many messages per second are a rate."""
        given = self.given(options)
        one_way = given.choice("mode", _MODES) == "throughput" and given.choice("protocol", _PROTOCOLS) == "tcp"
        size, messages = given.size("size", _LEAST_MESSAGE, _MOST_MESSAGE), given.whole("messages", 0, 10**8)
        rate = float(messages * size) if one_way and messages else None
        return Sending(rate=rate, bulk=one_way and size >= _BULK)

    def client(self, target: Target, port: int) -> list[str]:
        """The command that sends and counts; PlanError for options that are out of range."""
        given = self.given(target.options)
        argv = ["env", "LC_ALL=C", "sockperf", given.choice("mode", _MODES), *self._wire(target, port)]
        argv += ["-t", str(given.whole("seconds", 1))]
        argv += ["--msg-size", str(given.size("size", _LEAST_MESSAGE, _MOST_MESSAGE))]
        messages = given.whole("messages", 0, 10**8)
        argv += ["--mps", str(messages)] if messages else []
        return [*argv, *bind_option("--client_ip", target.node.data_address)]

    def server(self, target: Target, port: int) -> list[str]:
        return ["env", "LC_ALL=C", "sockperf", "server", *self._wire(target, port)]

    def _wire(self, target: Target, port: int) -> list[str]:
        tcp = self.given(target.options).choice("protocol", _PROTOCOLS) == "tcp"
        return [*(["--tcp"] if tcp else []), "-i", self.peer(target).data_address, "-p", str(port)]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        self.client(target, 0)
        kind = self.given(target.options).choice("protocol", _PROTOCOLS)
        limit = self.estimate(target.options) + 20.0
        server, client = partial(self.server, target), partial(self.client, target)
        return (await self.ask_server(contact, server, client, limit=limit, kind=kind),)

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_failed(output, "sockperf")
        known = _read_command(output.argv)
        return text_reader.parse_text(output.text, known, output.error_text)


def _read_command(argv: Sequence[str]) -> dict[str, object]:
    """Labels of what sockperf was told and does not print: under load it sends 10,000 messages/s by itself."""
    told, known = dict(pairwise(argv)), dict[str, object]()
    if (mode := told.get("sockperf")) in _MODES:
        known["mode"] = mode
        if rate := told.get("--mps") or _DEFAULT_RATES.get(str(mode)):
            known["mps"] = rate
    for flag, name in (("--msg-size", "size"), ("-t", "seconds")):
        if told.get(flag, "").isdecimal():
            known[name] = told[flag]
    return known
