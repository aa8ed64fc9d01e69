"""Owns the pair probe ``sockperf``: latency of small messages with its tail, or the rate of messages one way.

A one-off server at the peer, bound to its data address and ended with the test, and a client at the node. Refuses
to take UDP that was sent for UDP that arrived: that is a metric of its own.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from probes.api import (
    Contact,
    Demands,
    Metric,
    Node,
    Output,
    Part,
    PlanError,
    Probe,
    ProbeOutputError,
    Reading,
    Safety,
    Shape,
    Shown,
    Target,
    Unit,
)
from probes.builtin import sockperf_text
from probes.builtin.captured import one_line, refuse_failed
from probes.builtin.iperf3_options import is_literal
from probes.serving import serving

_MODES = ("ping-pong", "under-load", "throughput")
_PROTOCOLS = ("udp", "tcp")
_LEAST_MESSAGE, _MOST_MESSAGE = 14, 65_507
"""Bytes of sockperf's own header, and of the largest datagram (RFC 768)."""
_SET_UP = 4.0


class Sockperf(Probe):
    """Options: ``mode`` "ping-pong", "under-load" or "throughput", ``protocol`` "udp" or "tcp", ``seconds``,
    ``size`` of a message, and ``messages`` per second (0: as sockperf does by itself, 10,000 under load).
    """

    name = "sockperf"
    summary = "Latency of messages between two nodes with its percentiles, alone or under load, or their rate one way"
    source = "DESY storage report, basic network tests; latency as in the SC11 100G WAN report"
    metrics = (
        Metric("sockperf.latency", Unit.SECOND, "half of a round trip"),
        Metric("sockperf.rtt", Unit.SECOND, "round trip, where sockperf was asked for whole ones"),
        Metric("sockperf.dropped", Unit.ONE, "messages that no answer came to"),
        Metric("sockperf.duplicated", Unit.ONE, "answers that came more than once"),
        Metric("sockperf.out_of_order", Unit.ONE, "answers that came after a later one"),
        Metric("sockperf.messages", Unit.PER_SECOND, "messages sent"),
        Metric("sockperf.throughput", Unit.BYTE_RATE, "payload that TCP took to the peer", Shown.NETWORK),
        Metric("sockperf.sent", Unit.BYTE_RATE, "payload sent; UDP does not tell what arrived", Shown.NETWORK),
    )
    tools = MappingProxyType({"sockperf": "sockperf"})
    options = MappingProxyType({"mode": "ping-pong", "protocol": "udp", "seconds": 2, "size": "64 B", "messages": 0})
    safety = Safety.LOADS
    shape = Shape.PAIR
    timeout = 60.0

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of sending, and the set-up."""
        return self.given(options).whole("seconds", 1) + _SET_UP

    def demands(self, target: Target) -> Demands:
        """The processors of both nodes: whoever else runs there is seen in the tail of the latency."""
        return Demands(frozenset((Part.CPU,)))

    def client(self, target: Target, port: int) -> list[str]:
        """The command that sends and counts; PlanError for options that are out of range."""
        given = self.given(target.options)
        argv = ["env", "LC_ALL=C", "sockperf", given.choice("mode", _MODES), *self._wire(target, port)]
        argv += ["-t", str(given.whole("seconds", 1))]
        argv += ["--msg-size", str(given.size("size", _LEAST_MESSAGE, _MOST_MESSAGE))]
        messages = given.whole("messages", 0, 10**8)
        here = target.node.data_address
        return [*argv, *(["--mps", str(messages)] if messages else []), *(["--client_ip", here] * is_literal(here))]

    def server(self, target: Target, port: int) -> list[str]:
        """The command that answers until it is ended."""
        return ["env", "LC_ALL=C", "sockperf", "server", *self._wire(target, port)]

    def _wire(self, target: Target, port: int) -> list[str]:
        tcp = self.given(target.options).choice("protocol", _PROTOCOLS) == "tcp"
        return [*(["--tcp"] if tcp else []), "-i", _peer(target).data_address, "-p", str(port)]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Start the server, wait for the round, send, and return what the client said."""
        self.client(target, 0)
        seconds = self.estimate(target.options)
        kind = self.given(target.options).choice("protocol", _PROTOCOLS)
        answering = serving(
            contact.there, lambda port: self.server(target, port), timeout=seconds + self.timeout, kind=kind
        )
        async with answering as (port, _):
            await contact.together()
            return (await contact.here.run(self.client(target, port), timeout=seconds + 20.0),)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read what the client printed, whatever it ended with. ProbeOutputError when it says that it failed."""
        refuse_failed(output, "sockperf")
        if said := next((line for line in output.error_text.splitlines() if "ERROR" in line), ""):
            raise ProbeOutputError(one_line(said), "a run without error")
        return sockperf_text.readings(output.text, _asked(output.argv))


def _peer(target: Target) -> Node:
    if target.peer is None:
        raise PlanError("sockperf needs a pair of nodes")
    return target.peer


def _asked(argv: Sequence[str]) -> dict[str, object]:
    """Mode and size of message as the command had them; what sockperf prints tells neither."""
    found: dict[str, object] = {}
    for flag, word in pairwise(argv):
        if flag == "sockperf" and word in _MODES:
            found["mode"] = word
        if flag == "--msg-size" and word.isdecimal():
            found["size"] = word
    return found
