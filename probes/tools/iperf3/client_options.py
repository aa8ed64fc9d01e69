"""Options of iperf3's client: protocol, direction, rate, ports and buffers, as its arguments.

PlanError for combinations that iperf3 would take for something else: UDP without a rate (it would send 1 Mbit/s), both
directions twice, a congestion control for datagrams, and ports that would not hold all streams.
"""

import re
from dataclasses import dataclass

from benchconsole.probes.api import Given

LINES_FLAG = "--json-stream"
"""One line of JSON for each interval, from 3.17 on."""

_LOWEST_PORT, _HIGHEST_PORT = 1024, 65_535
_MOST_STREAMS = 128
_MOST_DATAGRAM = 65_507
_MOST_WRITE = 2**20
"""Bytes that iperf3 takes for ``-l`` at most (its MAX_BLOCKSIZE)."""
_MOST_WINDOW = 512 * 2**20
"""Bytes that iperf3 takes for ``-w`` at most (its MAX_TCP_BUFFER)."""
_ALGORITHM = re.compile(r"[a-z0-9][a-z0-9_-]{0,14}")


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """How the streams of one test are sent, checked. ``rate`` is in bit/s of one stream, 0 for none."""

    streams: int
    udp: bool
    reverse: bool
    bidir: bool
    rate: int
    source_port: int
    length: int
    window: int
    congestion: str

    @classmethod
    def of(cls, given: Given) -> "ClientOptions":
        """Read the options; PlanError for one that is out of range or does not go with another."""
        streams = given.whole("streams", 1, _MOST_STREAMS)
        udp = given.choice("protocol", ("tcp", "udp")) == "udp"
        bidir = given.flag("bidir")
        if bidir and given.flag("reverse"):
            raise given.refused("reverse", "0 beside bidir 1, which has both directions")
        if udp and not given.text("bitrate"):
            raise given.refused("bitrate", "a rate for udp, which would send 1 Mb/s without")
        return cls(
            streams=streams,
            udp=udp,
            reverse=given.flag("reverse"),
            bidir=bidir,
            rate=_read_rate(given, streams),
            source_port=_read_source_port(given, 2 * streams if bidir else streams),
            length=_read_size(given, "length", _MOST_DATAGRAM if udp else _MOST_WRITE),
            window=_read_size(given, "window", _MOST_WINDOW),
            congestion=_read_congestion(given, udp=udp),
        )

    def arguments(self) -> list[str]:
        """The arguments of the client, none for what is left as it is.

        Checked with iperf3 3.12: ``-P`` streams take as many consecutive ports from ``--cport`` on.
        """
        argv = ["-b", str(self.rate)] if self.rate else []
        argv += ["--cport", str(self.source_port)] if self.source_port else []
        argv += [flag for flag, asked in (("-u", self.udp), ("-R", self.reverse), ("--bidir", self.bidir)) if asked]
        sizes = (("-l", self.length), ("-w", self.window))
        argv += [word for flag, size in sizes if size for word in (flag, str(size))]
        return [*argv, "-C", self.congestion] if self.congestion else argv


def _read_rate(given: Given, streams: int) -> int:
    """bit/s of one stream: iperf3's ``-b`` holds each of them."""
    rate = given.rate("bitrate")
    if rate is None:
        return 0
    bits = int(rate * 8 / streams)
    if bits < 1:
        raise given.refused("bitrate", f"more for {streams} streams")
    return bits


def _read_source_port(given: Given, ports: int) -> int:
    port = given.whole("source_port", 0, _HIGHEST_PORT + 1 - ports)
    if 0 < port < _LOWEST_PORT:
        raise given.refused("source_port", f"{_LOWEST_PORT} or more, or 0 for any")
    return port


def _read_size(given: Given, name: str, most: int) -> int:
    """Bytes; 0 where the text is empty."""
    return given.size(name, 16, most) if given.text(name) else 0


def _read_congestion(given: Given, *, udp: bool) -> str:
    name = given.text("congestion")
    if name and (udp or not _ALGORITHM.fullmatch(name)):
        raise given.refused("congestion", "nothing for udp" if udp else "the name of an algorithm, such as cubic")
    return name
