"""Reader of nuttcp's verbose form (``-v``), versions 3 to 8, for people or as key=value (``-fparse``).

The receiver's number counts. Both ends must have spoken to their last line, since a client whose server died prints
the sender's rate and ends with status 0. MB are 2^20 bytes, Mbps 10^6 bit/s. Retransmissions of the whole host, and of
a version that cannot count, are not read. The brief line, which the probe never asks for, does not tell who sent.

Formats read off nuttcp 4.1.1, 6.1.2 and 8.2.2 (nuttcp.c, PERF_FMT_* and P_PERF_FMT_*).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import read_lines, refuse_lines, search_lines, shorten, split_lines
from benchconsole.probes.readers.numbers import parse_count, require_positive
from benchconsole.probes.readers.readings import add_labels, number_runs

_REAL = r"[0-9]{1,15}\.[0-9]{1,6}"

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
    re.compile(rf"(?P<mb>{_REAL}) MB in {_REAL} real seconds = (?P<kb>{_REAL}) KB/sec = (?P<mbps>{_REAL}) Mbps\s*$"),
    re.compile(
        rf"megabytes=(?P<mb>{_REAL}) real_seconds={_REAL} rate_KBps=(?P<kb>{_REAL}) rate_Mbps=(?P<mbps>{_REAL})\s*$"
    ),
)
_STATS = re.compile(r"(?:stats=cpu user=\S+ system=\S+ elapsed=\S+ cpu=|\S+user \S+sys \S+real )(?P<cpu>[0-9]{1,5})%")
_HEADER = re.compile(r"buflen=(?P<length>[0-9]{1,9}),? (?:nbuf=(?P<count>[0-9]{1,12}),? )?nstream=(?P<streams>[0-9]+)")
_RATE_LIMIT = (
    re.compile(r"rate limit = (?P<rate>[0-9]{1,9}(?:\.[0-9]{1,6})?) (?P<prefix>[KMG])bps(?=\s|$)"),
    re.compile(r"rate_limit=(?P<rate>[0-9]{1,9}(?:\.[0-9]{1,6})?) rate_unit=(?P<prefix>[KMG])bps(?=\s|$)"),
)
_TIME_LIMIT = (
    re.compile(r"time limit = (?P<seconds>[0-9]{1,9}(?:\.[0-9]{1,6})?) seconds?\s*$"),
    re.compile(r"time_limit=(?P<seconds>[0-9]{1,9}\.[0-9]{1,6})\s*$"),
)
_PREFIXES = {"K": 1e3, "M": 1e6, "G": 1e9}
_PROTOCOL = re.compile(r"\bport=[0-9]+ (?:mode=)?(?P<protocol>tcp|udp)\b")
_PERCENT = (re.compile(r"(?P<percent>\S+)% data loss"), re.compile(r"data_loss=(?P<percent>\S+)"))
_RESENT = re.compile(r"(?<![\w-])retrans ?= ?(?P<count>[0-9]{1,15})\b")  # host-retrans are of the whole host
_TRIP = (re.compile(rf"\bRTT=(?P<trip>{_REAL}) ms(?=\s|$)"), re.compile(rf"\brtt_ms=(?P<trip>{_REAL})(?=\s|$)"))
_DROPS = (
    re.compile(r"(?P<lost>-?[0-9]{1,15}) / (?P<sent>[0-9]{1,15}) drop/pkt"),
    re.compile(r"drop=(?P<lost>\S+) pkt=(?P<sent>\S+)"),
)

_MBPS = 125_000.0
"""byte/s of one Mbps."""
_FASTEST = 1e8
"""Mbps; a larger number is a division by a vanishing time, not a network."""
_CARELESS = 0.03
"""Share by which a rate may miss the bytes over the seconds of its own line; beyond it digits were lost."""

_BRIEF = (
    re.compile(
        rf"(?:[^:]{{1,40}}: )?\s*(?P<mb>{_REAL}) MB / +(?P<sec>{_REAL}) sec = +(?P<mbps>{_REAL}) Mbps"
        r" (?P<tx>[0-9]{1,5}) %TX (?P<rx>[0-9]{1,5}) %RX(?P<rest>(?: .*)?)$"
    ),
    re.compile(
        rf"(?:[^:]{{1,40}}: )?\s*megabytes=(?P<mb>{_REAL}) real_seconds=(?P<sec>{_REAL}) rate_Mbps=(?P<mbps>{_REAL})"
        r" tx_cpu=(?P<tx>[0-9]{1,5}) rx_cpu=(?P<rx>[0-9]{1,5})(?P<rest>(?: .*)?)$"
    ),
)
_REST = re.compile(
    rf"(?: (?:(?:[0-9]+ = )?[0-9]+(?:\+[0-9]+)* (?:(?:host-)?retrans|KB-cwnd)|{_REAL} msRTT"
    rf"|-?[0-9]+ / [0-9]+ drop/pkt|-?{_REAL} %loss|Trans: {_REAL} MB|-?{_REAL} ms(?:Min|Avg|Max)(?:Jitter|OWD)"
    rf"|(?:host-)?[a-zA-Z_]+=-?[0-9.+]+))*\s*"
)
_BRIEF_RESENT = (
    re.compile(r" (?P<count>[0-9]{1,15})(?: = [0-9+]+)? retrans(?=\s|$)"),
    re.compile(r" retrans=(?P<count>[0-9]{1,15})(?=\s|$)"),
)
_BRIEF_TRIP = (re.compile(rf" (?P<trip>{_REAL}) msRTT(?=\s|$)"), re.compile(rf" rtt_ms=(?P<trip>{_REAL})(?=\s|$)"))
_BRIEF_LOSS = (re.compile(r" (?P<percent>\S+) %loss(?=\s|$)"), re.compile(r" data_loss=(?P<percent>\S+)(?=\s|$)"))


def refuse_complaint(text: str) -> None:
    """Raise ProbeOutputError when nuttcp says in ``text`` that it failed or was interrupted."""
    refuse_lines(_COMPLAINT, split_lines(text, _LONGEST), "a transfer without error")


def parse_text(text: str) -> Sequence[Reading]:
    """Every reading of every finished transfer in ``text``; ProbeOutputError when one failed or none is whole."""
    refuse_complaint(text)
    found: list[Reading] = []
    ends: list[_TransferEnd] = []  # the client prints first, then the words of its server
    begun = False
    for line in filter(None, read_lines(text, _LONGEST)):
        match = _OF_END.match(line)
        if match is None:
            found += () if begun else _read_brief(line)  # beside a verbose run (-bb) it says the same again
        elif opening := _OPENING.match(match["text"]):
            others = () if len(ends) == 2 or any(end.letter == match["letter"] for end in ends) else ends
            ends = [*others, _TransferEnd(match["letter"], tuple(map(int, opening["version"].split("."))))]
            begun = True
        elif own := next((end for end in ends if end.letter == match["letter"] and len(end.lines) < _LINES), None):
            own.lines.append(match["text"])
            if len(ends) == 2 and all(end.find(_RATE) and end.find((_STATS,)) for end in ends):
                found += _make_readings(*ends)
                ends = []
    if not found:
        raise ProbeOutputError("no finished transfer", "nuttcp's line with %TX and %RX, or both ends of a verbose run")
    return tuple(number_runs(found))


@dataclass(slots=True)
class _TransferEnd:
    """The lines of one end; ``letter`` is t for the transmitter, r for the receiver."""

    letter: str
    version: tuple[int, ...]
    lines: list[str] = field(default_factory=list)

    def find(self, patterns: Iterable[re.Pattern[str]]) -> re.Match[str] | None:
        return _find_first(patterns, self.lines)

    def require(self, patterns: Iterable[re.Pattern[str]]) -> re.Match[str]:
        if match := self.find(patterns):
            return match
        raise ProbeOutputError("an end without its rate", "nuttcp's lines of both ends")


def _find_first(patterns: Iterable[re.Pattern[str]], lines: Sequence[str]) -> re.Match[str] | None:
    """The first place that holds one of ``patterns``."""
    return next((match for pattern in patterns if (match := search_lines(pattern, lines))), None)


def _make_readings(client: _TransferEnd, server: _TransferEnd) -> Iterator[Reading]:
    sender, receiver = (client, server) if client.letter == "t" else (server, client)
    header, protocol = sender.find((_HEADER,)), sender.find((_PROTOCOL,))
    if header is None or protocol is None:
        raise ProbeOutputError("a transfer without its buflen, nstream and port", "nuttcp's first lines")
    udp = protocol["protocol"] == "udp"
    marks = labels(
        direction="out" if client is sender else "in",
        protocol=protocol["protocol"],
        streams=header["streams"],
        size=header["length"],
        **_find_limits(sender),
    )
    arrived, drops, percent = receiver.require(_RATE), receiver.find(_DROPS), receiver.find(_PERCENT)
    if udp and not (drops or percent):
        raise ProbeOutputError("datagrams whose loss was not counted", "nuttcp's drop/pkt of the receiver")
    if udp and header["count"] and not any("rate" in line and "limit" in line for line in sender.lines):
        yield from _make_loss("burst_loss", drops, percent, add_labels(marks, packets=header["count"]))
        return
    if not udp and arrived["mb"] != sender.require(_RATE)["mb"]:
        raise ProbeOutputError(shorten(f"ends that do not agree: {arrived[0]}"), "as many MB received as were sent")
    yield _make_throughput(arrived, marks, float(arrived["kb"]) * 1024 / 1e6 * 8)
    if udp:
        yield from _make_loss("loss", drops, percent, marks)
    yield from _make_retransmits(sender.find((_RESENT,)), marks, counts=sender.version >= _COUNTS)
    yield from _make_trip(sender.find(_TRIP) or receiver.find(_TRIP), marks)
    for end, name in ((sender, "sender"), (receiver, "receiver")):
        used = end.require((_STATS,))
        yield Reading("nuttcp.cpu", int(used["cpu"]) / 100, Unit.ONE, add_labels(marks, end=name), shorten(used[0]))


def _find_limits(sender: _TransferEnd) -> dict[str, str]:
    """Labels of the rate that a transfer was held to, of all streams, and of its time; none where it had no limit."""
    rate, seconds = sender.find(_RATE_LIMIT), sender.find(_TIME_LIMIT)
    found = {"seconds": f"{float(seconds['seconds']):g}"} if seconds else {}
    if rate and float(rate["rate"]):
        found["target_bitrate"] = f"{round(float(rate['rate']) * _PREFIXES[rate['prefix']])} b/s"
    return found


def _read_brief(line: str) -> Iterator[Reading]:
    """The readings of one line; none where it is no brief line, ProbeOutputError where it goes on in a strange way."""
    match = next(filter(None, (pattern.match(line) for pattern in _BRIEF)), None)
    if match is None:
        return
    if not _REST.fullmatch(match["rest"]):
        raise ProbeOutputError(shorten(line), "nuttcp's line with %TX and %RX and nothing strange behind it")
    drops, percent, resent, trip = (
        _find_first(patterns, [match["rest"]]) for patterns in (_DROPS, _BRIEF_LOSS, _BRIEF_RESENT, _BRIEF_TRIP)
    )
    marks = labels(protocol="udp") if drops or percent else labels(protocol="tcp") if resent or trip else ()
    seconds = float(match["sec"])
    expected = float(match["mb"]) * 2**20 * 8 / 1e6 / seconds if seconds >= 0.1 else float(match["mbps"])
    yield _make_throughput(match, marks, expected, slack=0.01 / max(seconds, 0.1))
    yield from _make_loss("loss", drops, percent, marks)
    yield from _make_retransmits(resent, marks, counts=False)
    yield from _make_trip(trip, marks)
    for name, end in (("tx", "sender"), ("rx", "receiver")):
        raw = f"{match[name]} %{name.upper()}"
        yield Reading("nuttcp.cpu", int(match[name]) / 100, Unit.ONE, add_labels(marks, end=end), raw)


def _make_throughput(line: re.Match[str], marks: Labels, expected: float, *, slack: float = 0.0) -> Reading:
    """The rate that arrived; ``expected`` are the Mbps of the other numbers of the line."""
    mbps = require_positive(line["mbps"], "Mbps that arrived", _FASTEST)
    if abs(mbps - expected) > (_CARELESS + slack) * mbps + 0.001:
        raise ProbeOutputError(f"{shorten(line[0])}: {expected:.1f} Mbps by its other numbers", "numbers that agree")
    return Reading("nuttcp.throughput", mbps * _MBPS, Unit.BYTE_RATE, marks, shorten(line[0]))


def _make_loss(
    name: str, drops: re.Match[str] | None, percent: re.Match[str] | None, marks: Labels
) -> Iterator[Reading]:
    """Share of the datagrams that did not arrive: from their counts where there are some, else as printed."""
    if drops:
        lost, sent = parse_count(drops["lost"], 10**15), parse_count(drops["sent"], 10**15)
        if lost is None or not sent or lost > sent:
            raise ProbeOutputError(shorten(drops[0]), "lost datagrams as a part of those sent")
        yield Reading(f"nuttcp.{name}", lost / sent, Unit.ONE, marks, drops[0].strip())
    elif percent:
        if not (re.fullmatch(_REAL, percent["percent"]) and float(percent["percent"]) <= 100):
            raise ProbeOutputError(shorten(percent[0]), "a loss of 0 to 100 %")
        yield Reading(f"nuttcp.{name}", float(percent["percent"]) / 100, Unit.ONE, marks, percent[0].strip())


def _make_retransmits(line: re.Match[str] | None, marks: Labels, *, counts: bool) -> Iterator[Reading]:
    """Segments that were sent again; 0 only where the version ``counts`` them."""
    if line and (count := float(line["count"])) >= (not counts):
        yield Reading("nuttcp.retransmits", count, Unit.ONE, marks, line[0].strip())


def _make_trip(line: re.Match[str] | None, marks: Labels) -> Iterator[Reading]:
    """The round trip as the connection was made; 0 was not measured."""
    if line and (trip := float(line["trip"])) > 0:
        yield Reading("nuttcp.rtt", trip * 1e-3, Unit.SECOND, marks, line[0].strip())
