"""Owns the pair probe ``nuttcp``: TCP, UDP at a rate, and bursts of datagrams, as the receiver counts them.

A one-off server at the peer for each transfer, kept in the foreground: nuttcp's own way is to leave its session,
where nothing would end it. Refuses nuttcp's "classic" mode, into which a client falls that finds no server.
"""

import ipaddress
import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from probes.api import (
    Contact,
    Demands,
    Given,
    Metric,
    Node,
    Output,
    PlanError,
    Probe,
    Reading,
    Safety,
    Shape,
    Shown,
    Target,
    Unit,
)
from probes.builtin import nuttcp_text
from probes.builtin.captured import refuse_failed
from probes.serving import PORTS, serving

_MODES = ("tcp", "udp", "burst")
_MOST_RATE = 2**32 - 2
"""kbit/s; nuttcp's counter, and its word for no limit is the next one."""
_LONGEST = 65_507
"""Bytes of the longest UDP datagram over IPv4."""
_ENDING = 3.0
"""Seconds in which a sender of UDP says four times that it has ended, with the start of both ends."""
_IDLE = 60


class Nuttcp(Probe):
    """Options: ``mode`` (tcp, udp, burst), ``seconds``, ``streams``, ``reverse`` (1: the peer sends), ``window``.

    ``bitrate`` holds the transfer to a rate of payload in all ("480 Mb/s"; empty: as fast as it goes). ``length``
    is that of a datagram. A burst is ``burst`` datagrams sent without a pause, ``bursts`` times.
    """

    name = "nuttcp"
    summary = "TCP and UDP throughput from one node to another, and the loss of bursts of datagrams"
    source = "Jetstream acceptance report, 5.1.1.4"
    metrics = (
        Metric("nuttcp.throughput", Unit.BYTE_RATE, "payload that arrived", Shown.NETWORK),
        Metric("nuttcp.loss", Unit.ONE, "share of datagrams that did not arrive", Shown.PERCENT),
        Metric("nuttcp.burst_loss", Unit.ONE, "share of the datagrams of one burst that did not arrive", Shown.PERCENT),
        Metric("nuttcp.retransmits", Unit.ONE, "segments that the sender sent again"),
        Metric("nuttcp.rtt", Unit.SECOND, "round trip as the connection was made"),
        Metric("nuttcp.cpu", Unit.ONE, "share of one processor that an end used", Shown.PERCENT),
    )
    tools = MappingProxyType({"nuttcp": "nuttcp"})
    versions = MappingProxyType({"nuttcp": "6.1"})
    options = MappingProxyType(
        {
            "mode": "tcp", "seconds": 5, "streams": 1, "bitrate": "", "length": "1472 B",
            "burst": 65, "bursts": 3, "window": "", "reverse": 0,
        }
    )  # fmt: skip
    safety = Safety.LOADS
    shape = Shape.PAIR
    timeout = 60.0

    def __init__(self, ports: random.Random | None = None) -> None:
        self._ports = ports or random.SystemRandom()

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of sending, and of telling the receiver that it has ended."""
        given = self.given(options)
        if given.choice("mode", _MODES) == "burst":
            return given.whole("bursts", 1, 100) * (_ENDING + 0.5)
        return given.whole("seconds", 1) + _ENDING

    def client(self, target: Target, control: int, data: int) -> list[str]:
        """The command at the node; PlanError for options that are out of range."""
        if target.peer is None:
            raise PlanError("nuttcp needs a pair of nodes")
        given = self.given(target.options)
        way = "-r" if given.flag("reverse") else "-t"
        argv = ["env", "LC_ALL=C", "nuttcp", *_version(target.peer), way, "-v", "-fparse", f"-P{control}", f"-p{data}"]
        return [*argv, *_window(given), *_sent(given), target.peer.data_address]

    def server(self, target: Target, control: int) -> list[str]:
        """The command at the peer, for one transfer."""
        family = _version(target.peer) if target.peer else []
        return ["nuttcp", "-1", "--nofork", *family, f"-P{control}"]

    def demands(self, target: Target) -> Demands:
        """Nothing besides the links; PlanError for options that are out of range."""
        self.client(target, *PORTS)
        return super().demands(target)

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Send once, or burst after burst; each against a server of its own. The first waits for the round."""
        self.client(target, *PORTS)
        given = self.given(target.options)
        burst = given.choice("mode", _MODES) == "burst"
        said: list[Output] = []
        for _ in range(given.whole("bursts", 1, 100) if burst else 1):
            said.append(await self._transfer(contact, target, first=not said))
        return said

    async def _transfer(self, contact: Contact, target: Target, *, first: bool) -> Output:
        given = self.given(target.options)
        seconds = _ENDING + (0 if given.choice("mode", _MODES) == "burst" else given.whole("seconds", 1))
        async with serving(
            contact.there,
            lambda port: self.server(target, port),
            timeout=_IDLE + seconds + 30,
            dice=self._ports,
        ) as (control, _):
            data = self._data_port(control, given.whole("streams", 1, 128))
            if first:
                await contact.together()
            return await contact.here.run(self.client(target, control, data), timeout=seconds + 30)

    def _data_port(self, control: int, streams: int) -> int:
        """The first of as many consecutive ports as there are streams, without the control port among them."""
        low, high = PORTS
        while True:
            port = self._ports.randrange(low, high - streams)
            if not port <= control < port + streams:
                return port

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read what the client says, versions 3 to 8, brief or verbose, for people or with ``-fparse``.

        ProbeOutputError when it failed, and when the receiver did not speak to its end: the status is 0 then too.
        """
        nuttcp_text.complaint(output.error_text)
        refuse_failed(output, "nuttcp")
        return nuttcp_text.readings(output.text)


def _version(peer: Node) -> list[str]:
    """``-6`` for a literal address of IPv6, which a server does not listen on by itself."""
    try:
        return ["-6"] if ipaddress.ip_address(peer.data_address).version == 6 else []
    except ValueError:
        return []


def _sent(given: Given) -> list[str]:
    """What is sent: for how long or how much, how fast, in how many streams and how large datagrams."""
    mode = given.choice("mode", _MODES)
    if mode == "burst":
        if given.text("bitrate"):
            raise given.refused("bitrate", "nothing for bursts, which are sent as fast as it goes")
        return ["-u", "-Ru", f"-n{given.whole('burst', 2, 1_000_000)}", f"-l{given.size('length', 64, _LONGEST)}"]
    argv = [f"-T{given.whole('seconds', 1)}", f"-N{given.whole('streams', 1, 128)}"]
    rate = given.rate("bitrate")
    if rate is not None:
        kilobits = int(rate * 8 / 1000)
        if not 1 <= kilobits <= _MOST_RATE:
            raise given.refused("bitrate", "1 kb/s to 4 Tb/s")
        argv.append(f"-R{kilobits}")
    if mode == "tcp":
        return argv
    return [*argv, "-u", *([] if rate is not None else ["-Ru"]), f"-l{given.size('length', 64, _LONGEST)}"]


def _window(given: Given) -> list[str]:
    """``-w`` in KiB, for both ends; nothing where the system is to choose."""
    if not given.text("window"):
        return []
    window = given.size("window", 1024, 2**31 - 1024)
    if window % 1024:
        raise given.refused("window", "whole KiB")
    return [f"-w{window // 1024}"]
