"""Owns the pair probe ``iperf3``: a one-off server at the peer, a client at the node, one reading of both.

The node sends, the peer receives, and the rate that counts is the receiver's. Refuses to reuse
a server that is already there, and to bind to anything but the tested address.
"""

import ipaddress
import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from probes.api import (
    Contact,
    Given,
    Metric,
    Node,
    Output,
    PlanError,
    Probe,
    Reading,
    RemoteError,
    Safety,
    Shape,
    Shown,
    Target,
    Unit,
)
from probes.builtin import iperf3_json, iperf3_text
from probes.builtin.captured import refuse_failed
from probes.serving import PORTS

_LOWEST_PORT, _HIGHEST_PORT = 1024, 65_535
_ATTEMPTS = 4
_IDLE = 60
"""Seconds after which a server without a client ends by itself; covers the wait for the round."""


class Iperf3(Probe):
    """TCP between two nodes. Options: ``streams``, ``seconds`` and ``omit`` (s, the slow start left out).

    ``bitrate`` holds the test to a rate of payload in all ("480 Mb/s"; empty: as fast as it goes).
    ``source_port`` is that of its first stream, the others take the next ones (0: any).
    """

    name = "iperf3"
    summary = "TCP throughput from one node to another, as the receiver counts it"
    metrics = (
        Metric("iperf3.throughput", Unit.BYTE_RATE, "payload that arrived", Shown.NETWORK),
        Metric("iperf3.stream", Unit.BYTE_RATE, "payload of one stream that arrived", Shown.NETWORK),
        Metric("iperf3.retransmits", Unit.ONE, "segments that the sender sent again"),
        Metric("iperf3.loss", Unit.ONE, "share of datagrams that did not arrive", Shown.PERCENT),
        Metric("iperf3.jitter", Unit.SECOND, "jitter of datagrams at the receiver"),
    )
    tools = MappingProxyType({"iperf3": "iperf3"})
    options = MappingProxyType({"streams": 4, "seconds": 5, "omit": 1, "bitrate": "", "source_port": 0})
    safety = Safety.LOADS
    shape = Shape.PAIR
    timeout = 60.0

    def __init__(self, ports: random.Random | None = None) -> None:
        self._ports = ports or random.SystemRandom()

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of sending, what is omitted, and the set-up."""
        given = self.given(options)
        return float(given.whole("seconds", 1) + given.whole("omit") + 3)

    def client(self, target: Target, port: int) -> list[str]:
        """The command that sends; PlanError for options that are out of range."""
        peer, given = _peer(target), self.given(target.options)
        streams = given.whole("streams", 1, 128)
        argv = ["iperf3", "-c", peer.data_address, *_bound(target.node.data_address), "-p", str(port)]
        argv += ["-P", str(streams), "-t", str(given.whole("seconds", 1))]
        return [*argv, "-O", str(given.whole("omit")), *_held(given, streams), "-J"]

    def server(self, target: Target, port: int, *, idle: bool = True) -> list[str]:
        """The command that receives once; ``idle`` False leaves out what versions before 3.10 lack."""
        argv = ["iperf3", "-s", "-1", *_bound(_peer(target).data_address), "-p", str(port), "--forceflush"]
        return [*argv, "--idle-timeout", str(_IDLE)] if idle else argv

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Start the server, wait for the round, send, and return what the client said."""
        seconds = self.estimate(target.options)
        idle, attempt = True, 1
        while True:
            port = self._ports.randrange(*PORTS)
            server = contact.there.start(self.server(target, port, idle=idle), timeout=_IDLE + seconds + 30)
            async with server as listening:
                try:
                    await listening.says("Server listening on", timeout=15)
                except RemoteError as error:
                    old = idle and _says(error, "unrecognized option", "unknown option", "Usage:")
                    if attempt == _ATTEMPTS or not (old or _says(error, "in use")):
                        raise
                    idle, attempt = idle and not old, attempt + 1
                    continue
                await contact.together()
                return (await contact.here.run(self.client(target, port), timeout=seconds + 12),)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read JSON of versions 3.1 to 3.17 and later, its line-by-line form, or the text form.

        ProbeOutputError when the run failed, when nothing arrived, or when the receiver's word is missing.
        """
        refuse_failed(output, "iperf3")
        iperf3_text.refuse_complaint(output.error_text)
        if iperf3_json.is_json(output.text):
            return iperf3_json.readings(output.text)
        return iperf3_text.readings(output.text)


def _held(given: Given, streams: int) -> list[str]:
    """``-b`` (bit/s of one stream) and ``--cport`` (of the first stream), each where it was asked for.

    Checked with iperf3 3.12: ``-P`` streams take as many consecutive ports from ``--cport`` on.
    """
    argv: list[str] = []
    rate = given.rate("bitrate")
    if rate is not None:
        bits = int(rate * 8 / streams)
        if bits < 1:
            raise given.refused("bitrate", f"more for {streams} streams")
        argv = ["-b", str(bits)]
    port = given.whole("source_port", 0, _HIGHEST_PORT + 1 - streams)
    if 0 < port < _LOWEST_PORT:
        raise given.refused("source_port", f"{_LOWEST_PORT} or more, or 0 for any")
    return [*argv, "--cport", str(port)] if port else argv


def _peer(target: Target) -> Node:
    if target.peer is None:
        raise PlanError("iperf3 needs a pair of nodes")
    return target.peer


def _bound(address: str) -> list[str]:
    """``-B address`` for a literal address; a name may mean another interface, so it is left out."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return []
    return ["-B", address]


def _says(error: RemoteError, *words: str) -> bool:
    """Whether the failure, or what the command had said by then, holds one of ``words``."""
    said = error.failure.detail
    if error.output is not None:
        said += error.output.text + error.output.error_text
    return any(word in said for word in words)
