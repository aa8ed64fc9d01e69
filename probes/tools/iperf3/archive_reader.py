"""Reader of iperf3's text for people, which the probe never asks for: it is captured by hand.

Only lines marked ``receiver`` are results: intervals are not summed. Bytes in this form are powers of 1024 and bits
powers of 1000, whatever the letter. Where the captured part does not say who sent, or in how many streams, that label
is missing. The time of a test is known where its client, which keeps it, sums up whole seconds: ``-t`` takes nothing
else, and a test that ends by its bytes (``-n``, ``-k``) hardly ever hits them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, ToolError, Unit
from benchconsole.probes.readers.lines import find_match, read_lines, shorten
from benchconsole.probes.readers.numbers import Span, multiply_spans, parse_decimal, parse_span
from benchconsole.probes.readers.readings import add_labels, known_labels, number_runs

_COMPLAINT = re.compile(
    r"(?<!\S)(?:\^C)?iperf3: (?:(?:parameter )?error|interrupt(?P<server> - the server has terminated)?).*$",
    re.MULTILINE,
)
_LISTENING = "Server listening on "
_BEGIN = re.compile(r"(?P<client>Connecting to host )|Accepted connection from ")
_REVERSE = re.compile(r"(?<!\S)Reverse mode, remote host ")
_OTHER_END = re.compile(r"(?<!\S)Server output:")
_HEADING = re.compile(r"(?<!\S)\[ ID\](?:\[Role\])? Interval ")
_FINISHED = re.compile(rf"(?<!\S)(?:iperf Done\.|CPU Utilization: |{_LISTENING})")
_STARTING = re.compile(
    r"Starting Test: protocol: \S+, (?P<streams>[0-9]{1,4}) streams, (?P<size>[0-9]{1,8}) byte blocks,"
    r" omitting (?P<omit>[0-9]{1,6}) seconds, (?:(?P<seconds>[0-9]{1,6}) second test|[0-9]+ (?:bytes|blocks) to send)"
    r"(?:, tos (?P<tos>[0-9]{1,3}))?\s*"
)
_MSS = re.compile(r"\s*TCP MSS: (?P<mss>[0-9]{1,5})\s*")
_TARGET = re.compile(r"\s*Target Bitrate: (?P<bits>[1-9][0-9]{0,13})\s*")
_STREAM = re.compile(r"\[\s*\d+\] local \S+ port \d+ connected to ")
_LINE = re.compile(
    r"\[\s*(?P<id>\d+|SUM)\](?:\[(?P<role>[TR]X)-[CS]\])?\s+(?P<begin>[\d.]+)-(?P<end>[\d.]+)\s+sec\s+"
    r"(?P<moved>\S+)\s+(?P<size>[KMGT]?)Bytes\s+(?P<rate>\S+)\s+(?P<prefix>[KMGT]?)(?P<symbol>bits|Bytes)/sec(?P<rest>[^\[\]]*)$",
    re.ASCII,
)
_DATAGRAMS = re.compile(
    r"\s(?P<jitter>[0-9]+\.[0-9]+) ms\s+(?P<lost>[0-9]{1,15})/(?P<total>[0-9]{1,15}) \((?P<percent>[^()%]{1,20})%\)"
)
_RESENT = re.compile(r"\s*(?P<count>[0-9]{1,15})\s+sender\s*")
_ARRIVED = re.compile(r"\s*(?:\S+ ms\s+\S+ \([^)]*\)\s+)?receiver\s*")
_OMITTED = "(omitted)"
_SENT = re.compile(r"\[\s*(?P<id>\d+)\] Sent \d+ datagrams")
_OVERFLOWN = 2**31 - 1
"""Where the counters of datagrams of versions before 3.14 end (esnet/iperf issue 1534)."""
_TWO_DIGITS = 0.06
"""By what part of itself a share printed with two digits may differ from its counts."""
_LATE = 0.02
"""Seconds by which a client's clock, or an interval of a second, runs over at most."""
_CARELESS = 0.03
"""Share by which a rate may miss what its own line says of bytes and seconds; digits were lost beyond it."""
_KIBI = {letter: 1024.0**power for power, letter in enumerate(("", "K", "M", "G", "T"))}
_KILO = {letter: 1000.0**power for power, letter in enumerate(_KIBI)}


def refuse_complaint(text: str) -> None:
    """Raise ProbeOutputError when iperf3 says in ``text`` that it failed or was interrupted in a run."""
    for complaint in _COMPLAINT.finditer(text):
        _, listening, since = text[: complaint.start()].rpartition(_LISTENING)
        idle = listening and not _BEGIN.search(since)  # a server that is stopped after its runs took nothing from them
        if not (complaint["server"] and idle):
            raise ToolError(shorten(complaint[0]), "a run without error")


def parse_text(text: str) -> Sequence[Reading]:
    """Every reading of every run in ``text``; ProbeOutputError when no receiver reported."""
    refuse_complaint(text)
    found = [reading for run in _split_runs(read_lines(text)) for reading in run.make_readings()]
    if not any(reading.unit is Unit.BYTE_RATE for reading in found):
        raise ProbeOutputError("no line of a receiver", "iperf3's summary with a line ending in 'receiver'")
    return tuple(number_runs(found))


@dataclass(slots=True)
class _TextRun:
    """The lines of one run; ``out`` is whether an unmarked line speaks of data that this end sent, None if unknown.

    ``client`` is whether this end is known to be the client, which keeps the time.
    """

    out: bool | None
    client: bool = False
    lines: list[str] = field(default_factory=list)

    def make_readings(self) -> Iterator[Reading]:
        summary = self._find_summary()
        streams, settings = self._count_streams(summary), self._find_settings(summary)
        udp = any("Total Datagrams" in line for line in self.lines) or any(" ms " in match["rest"] for match in summary)
        ids = {role: self._find_ids(role) for role in {match["role"] for match in summary}}
        for match in summary:
            sends = self.out if match["role"] is None else match["role"] == "TX"
            direction = None if sends is None else "out" if sends else "in"
            protocol, own = "udp" if udp else "tcp", ids[match["role"]]
            marks = known_labels(direction=direction, protocol=protocol, streams=streams or None, **settings)
            receiver = "sender" not in match["rest"]
            if streams == len(own) and receiver and match["id"] != "SUM" and (value := _read_rate(match)):
                named = add_labels(marks, stream=own.index(int(match["id"])) + 1)
                yield Reading("iperf3.stream", value, Unit.BYTE_RATE, named, match.string.strip())
            if match["id"] == "SUM" or streams == 1:
                if receiver:
                    yield from _read_received(match, marks)
                elif resent := _RESENT.fullmatch(match["rest"]):
                    raw = match.string.strip()
                    yield Reading("iperf3.retransmits", float(resent["count"]), Unit.ONE, marks, raw)

    def _find_settings(self, summary: Sequence[re.Match[str]]) -> dict[str, str]:
        """Labels of what ``-V`` prints before the numbers; without it, the times that the numbers tell.

        The congestion control stands behind them, where a capture that was cut would be without it.
        """
        starting, target, segment = (find_match(each, self.lines) for each in (_STARTING, _TARGET, _MSS))
        found = {"mss": segment["mss"]} if segment else {}
        times = {"omit": self._find_omitted(summary), "seconds": self._find_seconds(summary)}
        told = {name: starting[name] for name in ("size", "omit", "seconds", "tos")} if starting else times
        found |= {name: text for name, text in told.items() if text and (name, text) != ("tos", "0")}
        if starting and target:
            found["target_bitrate"] = f"{int(target['bits']) * int(starting['streams'])} b/s"
        return found

    def _find_seconds(self, summary: Sequence[re.Match[str]]) -> str:
        """The whole seconds of the client's own sums; nothing for a server's, and for others."""
        own = {(match["begin"], match["end"]) for match in summary if self.client and self._is_own(match)}
        ends = [parse_decimal(end) for begin, end in own if parse_decimal(begin) == 0]
        end = ends[0] if len(own) == 1 and ends else None
        return f"{end:.0f}" if end and round(end) and 0 <= end - round(end) <= _LATE else ""

    def _is_own(self, match: re.Match[str]) -> bool:
        """Whether a line of the summary is of this end of the connection."""
        sends = self.out if match["role"] is None else match["role"] == "TX"
        return ("receiver" if sends else "sender") not in match["rest"]

    def _find_omitted(self, summary: Sequence[re.Match[str]]) -> str:
        """The seconds that were left out at the start, which intervals of a second tell; longer ones can hide them."""
        below = next((number for number, line in enumerate(self.lines, start=1) if _HEADING.search(line)), 0)
        intervals = [match for line in self.lines[below:] if (match := _LINE.search(line))]
        if not below or not intervals or intervals[0].string in {match.string for match in summary}:
            return ""
        begin, end = (parse_decimal(intervals[0][name]) for name in ("begin", "end"))
        ends = [parse_decimal(match["end"]) or 0.0 for match in intervals if _OMITTED in match["rest"]]
        last = max(ends, default=0.0)
        told = begin == 0 and end is not None and end <= 1 + _LATE and abs(last - round(last)) <= _LATE
        return f"{last:.0f}" if told else ""

    def _find_ids(self, role: str | None = None, *, every: bool = False) -> list[int]:
        """The numbers of the streams of one direction or of ``every`` one, in order, in any line of the run."""
        matches = [match for line in self.lines for match in (_LINE.search(line), _SENT.search(line)) if match]
        own = {match["id"] for match in matches if every or match.groupdict().get("role", role) == role}
        return sorted(map(int, own - {"SUM"}))

    def _count_streams(self, summary: Sequence[re.Match[str]]) -> int:
        """How many streams the run had, 0 if unknown: as its whole summary has, else as were set up."""
        ways = 2 if any("[ ID][Role]" in line for line in self.lines) else 1
        summed = any(match["id"] == "SUM" for line in self.lines if (match := _LINE.search(line)))
        counted = {match["id"] for match in summary if match["role"] == summary[0]["role"]} - {"SUM"}
        complete = len(self._find_ids(every=True)) == ways * len(counted) and (len(counted) > 1) == summed
        if counted and complete and self._is_whole(summary, summed=summed):
            return len(counted)
        set_up = sum(1 for line in self.lines if _STREAM.search(line)) // ways
        return 0 if set_up == 1 and summed else set_up  # one stream has no sums: the lines of the others are missing

    def _is_whole(self, summary: Sequence[re.Match[str]], *, summed: bool) -> bool:
        """Whether the summary stands there from its heading to its sums, or where one stream has none to the end."""
        first, last = self.lines.index(summary[0].string), self.lines.index(summary[-1].string)
        ended = (summed and summary[-1]["id"] == "SUM") or any(map(_FINISHED.search, self.lines[last:]))
        return ended and first > 0 and _HEADING.search(self.lines[first - 1]) is not None

    def _find_summary(self) -> list[re.Match[str]]:
        """The lines that sum a run up; old UDP clients mark them only by a count of datagrams after or before them."""
        summary: list[re.Match[str]] = []
        before: re.Match[str] | None = None
        counted = False
        for line in self.lines:
            match, sent = _LINE.search(line), _SENT.search(line)
            marked = match and (_ARRIVED.fullmatch(match["rest"]) or match["rest"].split()[-1:] == ["sender"])
            if match and (marked or (counted and match["id"] == "SUM" and _DATAGRAMS.search(match["rest"]))):
                summary.append(match)
            if sent and before and before["id"] == sent["id"] and _DATAGRAMS.search(before["rest"]):
                summary.append(before)
            before, counted = match, sent is not None
        return summary


def _split_runs(lines: Sequence[str]) -> Iterator[_TextRun]:
    run, summed = _TextRun(out=None), False
    for line in lines:
        begin = _BEGIN.search(line)
        if begin or (summed and _HEADING.search(line)):  # a heading below a summary is another run's, its head is lost
            yield run
            client = begin is not None and begin["client"] is not None
            run, summed = _TextRun(out=None if begin is None else client, client=client), False
        if _REVERSE.search(line):
            run.out = False
        if _OTHER_END.search(line):
            break  # the same run again, seen from there
        run.lines.append(line)
        match = _LINE.search(line)
        summed = summed or bool(_SENT.search(line) or (match and _ARRIVED.fullmatch(match["rest"])))
    yield run


def _read_rate(match: re.Match[str]) -> float:
    """byte/s that arrived, also where the line has the rate that was sent and the share of it that was lost."""
    number, printed = parse_decimal(match["rate"]), parse_span(match["rate"])
    if number is None or printed is None or match["rate"].endswith("."):  # its last digit was lost
        raise ProbeOutputError(shorten(match.string), "a rate in the receiver's line")
    factor = _KIBI[match["prefix"]] if match["symbol"] == "Bytes" else _KILO[match["prefix"]] / 8
    _refuse_misfit(match, (printed[0] * factor, printed[1] * factor))
    datagrams = _DATAGRAMS.search(match["rest"])
    if datagrams is None or "receiver" in match["rest"]:
        return number * factor
    loss = _find_loss(datagrams)
    if loss is None:
        raise ProbeOutputError(shorten(match.string), "counts of datagrams that the share beside them agrees with")
    return number * factor * (1.0 - loss)


def _refuse_misfit(match: re.Match[str], rate: Span) -> None:
    """ProbeOutputError when a rate is not the bytes of its line over the seconds, as closely as they were printed."""
    began, ended, moved = (parse_span(match[name]) for name in ("begin", "end", "moved"))
    if began is None or ended is None or moved is None or ended[1] <= began[0]:
        raise ProbeOutputError(shorten(match.string), "bytes that arrived in some seconds")
    size = _KIBI[match["size"]]
    low, high = multiply_spans((max(ended[0] - began[1], 0.0), ended[1] - began[0]), rate)
    if low > moved[1] * size * (1 + _CARELESS) or high < moved[0] * size * (1 - _CARELESS):
        raise ProbeOutputError(shorten(match.string), "a rate that is the bytes of its line over the seconds")


def _read_received(match: re.Match[str], marks: Labels) -> Iterator[Reading]:
    value, raw = _read_rate(match), match.string.strip()
    if value <= 0:
        raise ProbeOutputError(shorten(raw), "a receiver that got data")
    yield Reading("iperf3.throughput", value, Unit.BYTE_RATE, marks, raw)
    if datagrams := _DATAGRAMS.search(match["rest"]):
        loss, jitter = _find_loss(datagrams), float(datagrams["jitter"]) * 1e-3
        if loss is not None:
            yield Reading("iperf3.loss", loss, Unit.ONE, marks, raw)
        if jitter <= (parse_decimal(match["end"]) or 0.0):  # a longer one is the difference of the clocks of two hosts
            yield Reading("iperf3.jitter", jitter, Unit.SECOND, marks, raw)


def _find_loss(datagrams: re.Match[str]) -> float | None:
    """Share of the datagrams that did not arrive; None for counts that overflowed or are not those of the share."""
    lost, total, printed = int(datagrams["lost"]), int(datagrams["total"]), parse_decimal(datagrams["percent"])
    if not total or lost > total:
        raise ProbeOutputError(f"{lost} of {total} datagrams lost", "a part of them")
    percent = 100 * lost / total
    if total == _OVERFLOWN or printed is None or abs(printed - percent) > _TWO_DIGITS * max(printed, percent):
        return None
    return lost / total
