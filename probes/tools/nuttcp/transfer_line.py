"""Numbers that nuttcp prints of one transfer in every form: rate, loss, retransmissions and round trip."""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import parse_count, require_positive

NUMBER = r"[0-9]{1,15}\.[0-9]{1,6}"
DROPS = (
    re.compile(r"(?P<lost>-?[0-9]{1,15}) / (?P<sent>[0-9]{1,15}) drop/pkt"),
    re.compile(r"drop=(?P<lost>\S+) pkt=(?P<sent>\S+)"),
)

_MBPS = 125_000.0
"""byte/s of one Mbps."""
_FASTEST = 1e8
"""Mbps; a larger number is a division by a vanishing time, not a network."""
_CARELESS = 0.03
"""Share by which a rate may miss the bytes over the seconds of its own line; beyond it digits were lost."""


def make_throughput(line: re.Match[str], marks: Labels, expected: float, *, slack: float = 0.0) -> Reading:
    """The rate that arrived; ``expected`` are the Mbps of the other numbers of the line."""
    mbps = require_positive(line["mbps"], "Mbps that arrived", _FASTEST)
    if abs(mbps - expected) > (_CARELESS + slack) * mbps + 0.001:
        raise ProbeOutputError(f"{shorten(line[0])}: {expected:.1f} Mbps by its other numbers", "numbers that agree")
    return Reading("nuttcp.throughput", mbps * _MBPS, Unit.BYTE_RATE, marks, shorten(line[0]))


def make_loss(
    name: str, drops: re.Match[str] | None, percent: re.Match[str] | None, marks: Labels
) -> Iterator[Reading]:
    """Share of the datagrams that did not arrive: from their counts where there are some, else as printed."""
    if drops:
        lost, sent = parse_count(drops["lost"], 10**15), parse_count(drops["sent"], 10**15)
        if lost is None or not sent or lost > sent:
            raise ProbeOutputError(shorten(drops[0]), "lost datagrams as a part of those sent")
        yield Reading(f"nuttcp.{name}", lost / sent, Unit.ONE, marks, drops[0].strip())
    elif percent:
        if not (re.fullmatch(NUMBER, percent["percent"]) and float(percent["percent"]) <= 100):
            raise ProbeOutputError(shorten(percent[0]), "a loss of 0 to 100 %")
        yield Reading(f"nuttcp.{name}", float(percent["percent"]) / 100, Unit.ONE, marks, percent[0].strip())


def make_retransmits(line: re.Match[str] | None, marks: Labels, *, counts: bool) -> Iterator[Reading]:
    """Segments that were sent again; 0 only where the version ``counts`` them."""
    if line and (count := float(line["count"])) >= (not counts):
        yield Reading("nuttcp.retransmits", count, Unit.ONE, marks, line[0].strip())


def make_trip(line: re.Match[str] | None, marks: Labels) -> Iterator[Reading]:
    """The round trip as the connection was made; 0 was not measured."""
    if line and (trip := float(line["trip"])) > 0:
        yield Reading("nuttcp.rtt", trip * 1e-3, Unit.SECOND, marks, line[0].strip())
