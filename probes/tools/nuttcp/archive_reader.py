"""Reader of nuttcp's brief line, for people or as key=value: the receiver's number, without who sent."""

import re
from collections.abc import Iterator

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.readings import add_labels
from benchconsole.probes.tools.nuttcp.transfer_line import (
    DROPS,
    NUMBER,
    make_loss,
    make_retransmits,
    make_throughput,
    make_trip,
)

_BRIEF = (
    re.compile(
        rf"(?:[^:]{{1,40}}: )?\s*(?P<mb>{NUMBER}) MB / +(?P<sec>{NUMBER}) sec = +(?P<mbps>{NUMBER}) Mbps"
        r" (?P<tx>[0-9]{1,5}) %TX (?P<rx>[0-9]{1,5}) %RX(?P<rest>(?: .*)?)$"
    ),
    re.compile(
        rf"(?:[^:]{{1,40}}: )?\s*megabytes=(?P<mb>{NUMBER}) real_seconds=(?P<sec>{NUMBER}) rate_Mbps=(?P<mbps>{NUMBER})"
        r" tx_cpu=(?P<tx>[0-9]{1,5}) rx_cpu=(?P<rx>[0-9]{1,5})(?P<rest>(?: .*)?)$"
    ),
)
_REST = re.compile(
    rf"(?: (?:(?:[0-9]+ = )?[0-9]+(?:\+[0-9]+)* (?:(?:host-)?retrans|KB-cwnd)|{NUMBER} msRTT"
    rf"|-?[0-9]+ / [0-9]+ drop/pkt|-?{NUMBER} %loss|Trans: {NUMBER} MB|-?{NUMBER} ms(?:Min|Avg|Max)(?:Jitter|OWD)"
    rf"|(?:host-)?[a-zA-Z_]+=-?[0-9.+]+))*\s*"
)
_RESENT = (
    re.compile(r" (?P<count>[0-9]{1,15})(?: = [0-9+]+)? retrans(?=\s|$)"),
    re.compile(r" retrans=(?P<count>[0-9]{1,15})(?=\s|$)"),
)
_TRIP = (re.compile(rf" (?P<trip>{NUMBER}) msRTT(?=\s|$)"), re.compile(rf" rtt_ms=(?P<trip>{NUMBER})(?=\s|$)"))
_LOSS = (re.compile(r" (?P<percent>\S+) %loss(?=\s|$)"), re.compile(r" data_loss=(?P<percent>\S+)(?=\s|$)"))


def read_brief(line: str) -> Iterator[Reading]:
    """The readings of one line; none where it is no brief line, ProbeOutputError where it goes on in a strange way."""
    match = next((match for pattern in _BRIEF if (match := pattern.match(line))), None)
    if match is None:
        return
    rest = match["rest"]
    if not _REST.fullmatch(rest):
        raise ProbeOutputError(shorten(line), "nuttcp's line with %TX and %RX and nothing strange behind it")
    drops, percent, resent, trip = (
        next((found for pattern in patterns if (found := pattern.search(rest))), None)
        for patterns in (DROPS, _LOSS, _RESENT, _TRIP)
    )
    marks = labels(protocol="udp") if drops or percent else labels(protocol="tcp") if resent or trip else ()
    seconds = float(match["sec"])
    expected = float(match["mb"]) * 2**20 * 8 / 1e6 / seconds if seconds >= 0.1 else float(match["mbps"])
    yield make_throughput(match, marks, expected, slack=0.01 / max(seconds, 0.1))
    yield from make_loss("loss", drops, percent, marks)
    yield from make_retransmits(resent, marks, counts=False)
    yield from make_trip(trip, marks)
    for name, end in (("tx", "sender"), ("rx", "receiver")):
        raw = f"{match[name]} %{name.upper()}"
        yield Reading("nuttcp.cpu", int(match[name]) / 100, Unit.ONE, add_labels(marks, end=end), raw)
