"""Reads what nuttcp prints, versions 3 to 8: brief or verbose, for people or as key=value (``-fparse``).

The receiver's number counts. The brief line is the receiver's already; of a verbose run both ends must have spoken
to their last line, since a client whose server died prints the sender's rate and ends with status 0. MB are 2^20
bytes, Mbps 10^6 bit/s, %loss a share of 100. Refuses what says Error, lines of one end or of an interval, and counts
of retransmissions that are of the host or of a version that cannot count.
Formats read off nuttcp 4.1.1, 6.1.2 and 8.2.2 (nuttcp.c, PERF_FMT_* and P_PERF_FMT_*).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import one_line, positive, told_apart, whole_lines

_BYTES = 125_000.0
"""byte/s of one Mbps."""
_FASTEST = 1e8
"""Mbps; what is above it is a division by a vanishing time, not a network."""
_COUNTS = (6, 2, 9)
"""From this version on 0 retrans means none: 6.1.2 says so on Linux whatever the kernel sent again."""
_CARELESS = 0.03
"""Share by which a rate may miss what its own line says of bytes and seconds; digits were lost beyond it."""

_LONGEST = 400
"""Characters of a line that are looked at; nuttcp's are shorter."""
_LINES = 100
"""Lines of one end that are kept; a transfer prints a dozen."""

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBER = r"[0-9]{1,15}\.[0-9]{1,6}"
_COMPLAINT = re.compile(r"^\s*(?:nuttcp-[tr][^:]*: .*\bError\b.*|\*\*\* transfer interrupted.*)$")
_SAID = re.compile(r"\s*nuttcp-(?P<letter>[tr])(?:-[^:]{1,40})?: ?(?P<said>.*)$")
_OPENING = re.compile(r"v(?P<version>[0-9]{1,4}(?:\.[0-9]{1,4}){1,2})(?:-\S+)?: socket\s*$")
_RATE = re.compile(
    rf"(?:(?P<mb>{_NUMBER}) MB in (?P<sec>{_NUMBER}) real seconds = (?P<kb>{_NUMBER}) KB/sec = (?P<mbps>{_NUMBER}) Mbps"
    rf"|megabytes=(?P<mb2>{_NUMBER}) real_seconds=(?P<sec2>{_NUMBER}) rate_KBps=(?P<kb2>{_NUMBER})"
    rf" rate_Mbps=(?P<mbps2>{_NUMBER}))\s*$"
)
_STATS = re.compile(r"(?:stats=cpu user=\S+ system=\S+ elapsed=\S+ cpu=|\S+user \S+sys \S+real )(?P<cpu>[0-9]{1,5})%")
_HEADER = re.compile(r"buflen=(?P<length>[0-9]{1,9}),? (?:nbuf=(?P<count>[0-9]{1,12}),? )?nstream=(?P<streams>[0-9]+)")
_PROTOCOL = re.compile(r"\bport=[0-9]+ (?:mode=)?(?P<protocol>tcp|udp)\b")
_DROPS = re.compile(r"(?P<lost>-?[0-9]{1,15}) / (?P<sent>[0-9]{1,15}) drop/pkt|drop=(?P<lost2>\S+) pkt=(?P<sent2>\S+)")
_PERCENT = re.compile(r"(?P<percent>\S+)% data loss|data_loss=(?P<percent2>\S+)")
_RESENT = re.compile(r"(?<![\w-])retrans ?= ?(?P<count>[0-9]{1,15})\b")  # host-retrans are of the whole host
_TRIP = re.compile(rf"(?:\bRTT=(?P<trip>{_NUMBER}) ms|\brtt_ms=(?P<trip2>{_NUMBER}))(?=\s|$)")

_BRIEF = re.compile(
    rf"(?:[^:]{{1,40}}: )?\s*(?P<mb>{_NUMBER}) MB / +(?P<sec>{_NUMBER}) sec = +(?P<mbps>{_NUMBER}) Mbps"
    r" (?P<tx>[0-9]{1,5}) %TX (?P<rx>[0-9]{1,5}) %RX(?P<rest>(?: .*)?)$"
)
_BRIEF_KEYS = re.compile(
    rf"(?:[^:]{{1,40}}: )?\s*megabytes=(?P<mb>{_NUMBER}) real_seconds=(?P<sec>{_NUMBER}) rate_Mbps=(?P<mbps>{_NUMBER})"
    r" tx_cpu=(?P<tx>[0-9]{1,5}) rx_cpu=(?P<rx>[0-9]{1,5})(?P<rest>(?: .*)?)$"
)
_REST = re.compile(
    rf"(?: (?:(?:[0-9]+ = )?[0-9]+(?:\+[0-9]+)* (?:(?:host-)?retrans|KB-cwnd)|{_NUMBER} msRTT"
    rf"|-?[0-9]+ / [0-9]+ drop/pkt|-?{_NUMBER} %loss|Trans: {_NUMBER} MB|-?{_NUMBER} ms(?:Min|Avg|Max)(?:Jitter|OWD)"
    rf"|(?:host-)?[a-zA-Z_]+=-?[0-9.+]+))*\s*"
)
_BRIEF_RESENT = re.compile(
    r" (?:(?P<count>[0-9]{1,15})(?: = [0-9+]+)? retrans|retrans=(?P<count2>[0-9]{1,15}))(?=\s|$)"
)
_BRIEF_TRIP = re.compile(rf" (?:(?P<trip>{_NUMBER}) msRTT|rtt_ms=(?P<trip2>{_NUMBER}))(?=\s|$)")
_BRIEF_LOSS = re.compile(r" (?:(?P<percent>\S+) %loss|data_loss=(?P<percent2>\S+))(?=\s|$)")


def complaint(text: str) -> None:
    """Raise ProbeOutputError when nuttcp says in ``text`` that it failed or was interrupted."""
    for line in filter(None, text.splitlines()):
        if found := _COMPLAINT.match(_COLOUR.sub("", line[:_LONGEST])):
            raise ProbeOutputError(one_line(found[0]), "a transfer without error")


def readings(text: str) -> Sequence[Reading]:
    """Every reading of every finished transfer in ``text``; ProbeOutputError when one failed or none is whole."""
    complaint(text)
    found: list[Reading] = []
    runs = _Runs()
    for line in filter(None, whole_lines(text)):
        plain = _COLOUR.sub("", line[:_LONGEST])
        if said := _SAID.match(plain):
            found.extend(runs.take(said["letter"], said["said"]))
        elif not runs.seen and (brief := _BRIEF.match(plain) or _BRIEF_KEYS.match(plain)):
            found.extend(_brief(brief, plain))  # beside a verbose run (-bb) it would tell the same again
    if not found:
        raise ProbeOutputError("no finished transfer", "nuttcp's line with %TX and %RX, or both ends of a verbose run")
    return tuple(told_apart(found))


# -- verbose


@dataclass(slots=True)
class _End:
    """What one end said of itself; ``letter`` is t for the transmitter, r for the receiver."""

    letter: str
    version: tuple[int, ...]
    lines: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether it spoke to its last line."""
        return self.first(_RATE) is not None and self.first(_STATS) is not None

    def first(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first line that holds ``pattern``."""
        return next((match for line in self.lines if (match := pattern.search(line))), None)


@dataclass(slots=True)
class _Runs:
    """The verbose transfers of a text. The client prints first, then what its server said."""

    ends: list[_End] = field(default_factory=list)
    seen: bool = False

    def take(self, letter: str, said: str) -> Iterator[Reading]:
        """One line of one end; the readings of the transfer when this line ends it."""
        if opening := _OPENING.match(said):
            if len(self.ends) == 2 or any(end.letter == letter for end in self.ends):
                self.ends = []
            self.ends.append(_End(letter, tuple(map(int, opening["version"].split(".")))))
            self.seen = True
            return
        own = next((end for end in self.ends if end.letter == letter and len(end.lines) < _LINES), None)
        if own is None:
            return
        own.lines.append(said)
        if len(self.ends) == 2 and all(end.whole for end in self.ends):
            client, server = self.ends
            self.ends = []
            yield from _verbose(client, server)


def _verbose(client: _End, server: _End) -> Iterator[Reading]:
    sender, receiver = (client, server) if client.letter == "t" else (server, client)
    header, protocol = sender.first(_HEADER), sender.first(_PROTOCOL)
    if header is None or protocol is None:
        raise ProbeOutputError("a transfer without its buflen, nstream and port", "nuttcp's first lines")
    kind, direction = protocol["protocol"], "out" if client is sender else "in"
    marks = {"direction": direction, "protocol": kind, "streams": header["streams"]}
    arrived = _one(receiver, _RATE)
    if kind == "udp" and header["count"] and not any("rate" in line and "limit" in line for line in sender.lines):
        yield _lost(receiver, "burst_loss", labels(**marks, packets=header["count"]))
        return
    if kind == "tcp" and _group(arrived, "mb") != _group(_one(sender, _RATE), "mb"):
        raise ProbeOutputError(one_line(f"ends that do not agree: {arrived[0]}"), "as many MB received as were sent")
    yield _throughput(arrived, labels(**marks), float(_group(arrived, "kb")) * 1024 / 1e6 * 8)
    if kind == "udp":
        yield _lost(receiver, "loss", labels(**marks))
    yield from _resent(sender.first(_RESENT), labels(**marks), none=sender.version >= _COUNTS)
    yield from _trip(sender.first(_TRIP) or receiver.first(_TRIP), labels(**marks))
    for end, side in ((sender, "sender"), (receiver, "receiver")):
        used = _one(end, _STATS)
        yield Reading("nuttcp.cpu", int(used["cpu"]) / 100, Unit.ONE, labels(**marks, end=side), one_line(used[0]))


def _one(end: _End, pattern: re.Pattern[str]) -> re.Match[str]:
    match = end.first(pattern)
    if match is None:
        raise ProbeOutputError("an end without its rate", "nuttcp's lines of both ends")
    return match


def _lost(receiver: _End, name: str, marks: Labels) -> Reading:
    share = _loss(receiver.first(_DROPS), receiver.first(_PERCENT))
    if share is None:
        raise ProbeOutputError("datagrams whose loss was not counted", "nuttcp's drop/pkt of the receiver")
    return Reading(f"nuttcp.{name}", share[0], Unit.ONE, marks, share[1])


# -- brief


def _brief(line: re.Match[str], raw: str) -> Iterator[Reading]:
    rest = line["rest"]
    if not _REST.fullmatch(rest):
        raise ProbeOutputError(one_line(raw), "nuttcp's line with %TX and %RX and nothing strange behind it")
    drops, percent = _DROPS.search(rest), _BRIEF_LOSS.search(rest)
    resent, trip = _BRIEF_RESENT.search(rest), _BRIEF_TRIP.search(rest)
    marks = labels(protocol="udp") if drops or percent else labels(protocol="tcp") if resent or trip else ()
    seconds = float(line["sec"])
    told = float(line["mb"]) * 2**20 * 8 / 1e6 / seconds if seconds >= 0.1 else float(line["mbps"])
    yield _throughput(line, marks, told, slack=0.01 / max(seconds, 0.1))
    if share := _loss(drops, percent):
        yield Reading("nuttcp.loss", share[0], Unit.ONE, marks, share[1])
    yield from _resent(resent, marks, none=False)
    yield from _trip(trip, marks)
    for letter, side in (("tx", "sender"), ("rx", "receiver")):
        named = tuple(sorted((*marks, ("end", side))))
        yield Reading("nuttcp.cpu", int(line[letter]) / 100, Unit.ONE, named, f"{line[letter]} %{letter.upper()}")


# -- both


def _group(match: re.Match[str], name: str) -> str:
    """The group ``name`` in whichever of the two forms the line has."""
    names = (name, f"{name}2")
    return next((found for each in names if each in match.re.groupindex and (found := match[each])), "")


def _throughput(line: re.Match[str], marks: Labels, told: float, *, slack: float = 0.0) -> Reading:
    """The rate that arrived; ``told`` is the same in Mbps from the other numbers of the line."""
    mbps = positive(_group(line, "mbps"), "Mbps that arrived", _FASTEST)
    if abs(mbps - told) > (_CARELESS + slack) * mbps + 0.001:
        raise ProbeOutputError(f"{one_line(line[0])}: {told:.1f} Mbps by its other numbers", "numbers that agree")
    return Reading("nuttcp.throughput", mbps * _BYTES, Unit.BYTE_RATE, marks, one_line(line[0]))


def _loss(drops: re.Match[str] | None, percent: re.Match[str] | None) -> tuple[float, str] | None:
    """Share of the datagrams that did not arrive with its text; from their counts where they are told."""
    if drops is not None:
        lost, sent = _group(drops, "lost"), _group(drops, "sent")
        if not (lost.isascii() and lost.isdigit() and sent.isascii() and sent.isdigit() and 0 < int(sent) >= int(lost)):
            raise ProbeOutputError(one_line(drops[0]), "lost datagrams as a part of those sent")
        return int(lost) / int(sent), drops[0].strip()
    if percent is not None:
        text = _group(percent, "percent")
        if not (re.fullmatch(_NUMBER, text) and float(text) <= 100):
            raise ProbeOutputError(one_line(percent[0]), "a loss of 0 to 100 %")
        return float(text) / 100, percent[0].strip()
    return None


def _resent(line: re.Match[str] | None, marks: Labels, *, none: bool) -> Iterator[Reading]:
    """What was sent again; with ``none`` that may be nothing."""
    if line is not None and (count := float(_group(line, "count"))) >= (not none):
        yield Reading("nuttcp.retransmits", count, Unit.ONE, marks, line[0].strip())


def _trip(line: re.Match[str] | None, marks: Labels) -> Iterator[Reading]:
    if line is not None and (trip := float(_group(line, "trip"))) > 0:
        yield Reading("nuttcp.rtt", trip * 1e-3, Unit.SECOND, marks, line[0].strip())
