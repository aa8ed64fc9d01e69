"""Reader of nuttcp's verbose form (``-v``), versions 3 to 8, for people or as key=value (``-fparse``).

The receiver's number counts. Both ends must have spoken to their last line, since a client whose server died prints
the sender's rate and ends with status 0. MB are 2^20 bytes, Mbps 10^6 bit/s. Retransmissions of the whole host, and of
a version that cannot count, are not read. The probe never asks for the brief line: ``archive_reader`` reads it.

Formats read off nuttcp 4.1.1, 6.1.2 and 8.2.2 (nuttcp.c, PERF_FMT_* and P_PERF_FMT_*).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import read_lines, refuse_lines, search_lines, shorten, split_lines
from benchconsole.probes.readers.readings import add_labels, number_runs
from benchconsole.probes.tools.nuttcp.archive_reader import read_brief
from benchconsole.probes.tools.nuttcp.transfer_line import (
    DROPS,
    NUMBER,
    make_loss,
    make_retransmits,
    make_throughput,
    make_trip,
)

_COUNTS = (6, 2, 9)
"""From this version on 0 retrans means none: 6.1.2 says so on Linux whatever the kernel sent again."""

_LONGEST = 400
"""Characters of a line that are looked at; nuttcp's are shorter."""
_LINES = 100
"""Lines of one end that are kept; a transfer prints a dozen."""

_COMPLAINT = re.compile(r"^\s*(?:nuttcp-[tr][^:]*: .*\bError\b.*|\*\*\* transfer interrupted.*)$")
_OF_END = re.compile(r"\s*nuttcp-(?P<letter>[tr])(?:-[^:]{1,40})?: ?(?P<text>.*)$")
_OPENING = re.compile(r"v(?P<version>[0-9]{1,4}(?:\.[0-9]{1,4}){1,2})(?:-\S+)?: socket\s*$")
_RATE = (
    re.compile(
        rf"(?P<mb>{NUMBER}) MB in {NUMBER} real seconds = (?P<kb>{NUMBER}) KB/sec = (?P<mbps>{NUMBER}) Mbps\s*$"
    ),
    re.compile(
        rf"megabytes=(?P<mb>{NUMBER}) real_seconds={NUMBER} rate_KBps=(?P<kb>{NUMBER}) rate_Mbps=(?P<mbps>{NUMBER})\s*$"
    ),
)
_STATS = re.compile(r"(?:stats=cpu user=\S+ system=\S+ elapsed=\S+ cpu=|\S+user \S+sys \S+real )(?P<cpu>[0-9]{1,5})%")
_HEADER = re.compile(r"buflen=(?P<length>[0-9]{1,9}),? (?:nbuf=(?P<count>[0-9]{1,12}),? )?nstream=(?P<streams>[0-9]+)")
_PROTOCOL = re.compile(r"\bport=[0-9]+ (?:mode=)?(?P<protocol>tcp|udp)\b")
_PERCENT = (re.compile(r"(?P<percent>\S+)% data loss"), re.compile(r"data_loss=(?P<percent>\S+)"))
_RESENT = re.compile(r"(?<![\w-])retrans ?= ?(?P<count>[0-9]{1,15})\b")  # host-retrans are of the whole host
_TRIP = (re.compile(rf"\bRTT=(?P<trip>{NUMBER}) ms(?=\s|$)"), re.compile(rf"\brtt_ms=(?P<trip>{NUMBER})(?=\s|$)"))


def refuse_complaint(text: str) -> None:
    """Raise ProbeOutputError when nuttcp says in ``text`` that it failed or was interrupted."""
    refuse_lines(_COMPLAINT, split_lines(text, _LONGEST), "a transfer without error")


def parse_text(text: str) -> Sequence[Reading]:
    """Every reading of every finished transfer in ``text``; ProbeOutputError when one failed or none is whole."""
    refuse_complaint(text)
    found: list[Reading] = []
    transfers = _VerboseTransfers()
    for line in filter(None, read_lines(text, _LONGEST)):
        if match := _OF_END.match(line):
            found += transfers.read_line(match["letter"], match["text"])
        elif not transfers.begun:  # beside a verbose run (-bb) the brief line says the same again
            found += read_brief(line)
    if not found:
        raise ProbeOutputError("no finished transfer", "nuttcp's line with %TX and %RX, or both ends of a verbose run")
    return tuple(number_runs(found))


@dataclass(slots=True)
class _TransferEnd:
    """The lines of one end; ``letter`` is t for the transmitter, r for the receiver."""

    letter: str
    version: tuple[int, ...]
    lines: list[str] = field(default_factory=list)

    def find(self, *patterns: re.Pattern[str]) -> re.Match[str] | None:
        """The first place that holds one of ``patterns``."""
        return next((match for pattern in patterns if (match := search_lines(pattern, self.lines))), None)

    def require(self, *patterns: re.Pattern[str]) -> re.Match[str]:
        """The same; ProbeOutputError where there is none."""
        if match := self.find(*patterns):
            return match
        raise ProbeOutputError("an end without its rate", "nuttcp's lines of both ends")

    @property
    def is_whole(self) -> bool:
        """Whether it spoke to its last line."""
        return self.find(*_RATE) is not None and self.find(_STATS) is not None


@dataclass(slots=True)
class _VerboseTransfers:
    """The verbose transfers of a text. The client prints first, then the words of its server."""

    ends: list[_TransferEnd] = field(default_factory=list)
    begun: bool = False

    def read_line(self, letter: str, text: str) -> Iterator[Reading]:
        """One line of one end; the readings of the transfer when this line ends it."""
        if opening := _OPENING.match(text):
            if len(self.ends) == 2 or any(end.letter == letter for end in self.ends):
                self.ends = []
            self.ends.append(_TransferEnd(letter, tuple(map(int, opening["version"].split(".")))))
            self.begun = True
            return
        own = next((end for end in self.ends if end.letter == letter and len(end.lines) < _LINES), None)
        if own is None:
            return
        own.lines.append(text)
        if len(self.ends) == 2 and all(end.is_whole for end in self.ends):
            client, server = self.ends
            self.ends = []
            yield from _make_readings(client, server)


def _make_readings(client: _TransferEnd, server: _TransferEnd) -> Iterator[Reading]:
    sender, receiver = (client, server) if client.letter == "t" else (server, client)
    header, protocol = sender.find(_HEADER), sender.find(_PROTOCOL)
    if header is None or protocol is None:
        raise ProbeOutputError("a transfer without its buflen, nstream and port", "nuttcp's first lines")
    udp = protocol["protocol"] == "udp"
    direction = "out" if client is sender else "in"
    marks = labels(direction=direction, protocol=protocol["protocol"], streams=header["streams"])
    arrived, drops, percent = receiver.require(*_RATE), receiver.find(*DROPS), receiver.find(*_PERCENT)
    if udp and not (drops or percent):
        raise ProbeOutputError("datagrams whose loss was not counted", "nuttcp's drop/pkt of the receiver")
    if udp and header["count"] and not any("rate" in line and "limit" in line for line in sender.lines):
        yield from make_loss("burst_loss", drops, percent, add_labels(marks, packets=header["count"]))
        return
    if not udp and arrived["mb"] != sender.require(*_RATE)["mb"]:
        raise ProbeOutputError(shorten(f"ends that do not agree: {arrived[0]}"), "as many MB received as were sent")
    yield make_throughput(arrived, marks, float(arrived["kb"]) * 1024 / 1e6 * 8)
    if udp:
        yield from make_loss("loss", drops, percent, marks)
    yield from make_retransmits(sender.find(_RESENT), marks, counts=sender.version >= _COUNTS)
    yield from make_trip(sender.find(*_TRIP) or receiver.find(*_TRIP), marks)
    for end, name in ((sender, "sender"), (receiver, "receiver")):
        used = end.require(_STATS)
        yield Reading("nuttcp.cpu", int(used["cpu"]) / 100, Unit.ONE, add_labels(marks, end=name), shorten(used[0]))
