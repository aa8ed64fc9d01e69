"""Reads what iperf3 prints for people, since that is what gets captured by hand.

Only lines marked ``receiver`` are results: intervals are not summed, lines that were not ended
are not read. Bytes in this form are powers of 1024 and bits powers of 1000, whatever the letter.
What the part that was captured does not tell, who sent and in how many streams, gets no label.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from probes.api import Labels, ProbeOutputError, Reading, Unit, UnitError, labels, parse
from probes.builtin.captured import decimal, one_line, told_apart, whole_lines
from probes.builtin.printed import Span, fits, span, times

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
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
_SENT = re.compile(r"\[\s*(?P<id>\d+)\] Sent \d+ datagrams")
_OVERFLOWN = 2**31 - 1
"""Where the counters of datagrams of versions before 3.14 end (esnet/iperf issue 1534)."""
_TWO_DIGITS = 0.06
"""By what part of itself a share printed with two digits may differ from its counts."""
_CARELESS = 0.03
"""Share by which a rate may miss what its own line says of bytes and seconds; digits were lost beyond it."""
_KIBI = {letter: 1024.0**power for power, letter in enumerate(("", "K", "M", "G", "T"))}


def plain(text: str) -> str:
    """``text`` without the colours of the terminal that it was captured in."""
    return _COLOUR.sub("", text)


def refuse_complaint(text: str) -> None:
    """Raise ProbeOutputError when iperf3 says in ``text`` that it failed or was interrupted in a run."""
    for complaint in _COMPLAINT.finditer(text):
        _, listening, since = text[: complaint.start()].rpartition(_LISTENING)
        idle = listening and not _BEGIN.search(since)  # a server that is stopped after its runs took nothing from them
        if not (complaint["server"] and idle):
            raise ProbeOutputError(one_line(complaint[0]), "a run without error")


def readings(text: str) -> Sequence[Reading]:
    """Every reading of every run in ``text``; ProbeOutputError when no receiver reported."""
    refuse_complaint(text)
    found: list[Reading] = []
    for run in _runs(whole_lines(text)):
        found.extend(run.readings())
    if not any(reading.unit is Unit.BYTE_RATE for reading in found):
        raise ProbeOutputError("no line of a receiver", "iperf3's summary with a line ending in 'receiver'")
    return tuple(told_apart(found))


_Told = tuple[str, re.Match[str]]


@dataclass(slots=True)
class _Run:
    """The lines of one run; ``out`` is whether an unmarked line speaks of data that this end sent, None if unknown."""

    out: bool | None
    lines: list[str] = field(default_factory=list)

    def readings(self) -> Iterator[Reading]:
        """Sums, then what belongs to them, in the order of the text."""
        summary = list(self._summary())
        streams = self._streams(summary)
        udp = any("Total Datagrams" in line for line in self.lines) or any(" ms " in one["rest"] for _, one in summary)
        ids = {role: self._ids(role) for role in {match["role"] for _, match in summary}}
        for line, match in summary:
            direction = self._direction(match["role"])
            receiver = "sender" not in match["rest"]
            known = {"direction": direction, "protocol": "udp" if udp else "tcp", "streams": str(streams or "")}
            marks = labels(**{name: value for name, value in known.items() if value})
            own = ids[match["role"]]
            if streams == len(own) and receiver and match["id"] != "SUM":
                yield from _stream(match, line, own.index(int(match["id"])) + 1, marks)
            if match["id"] == "SUM" or streams == 1:
                yield from _received(match, line, marks) if receiver else _resent(match, line, marks)

    def _direction(self, role: str | None) -> str:
        sends = self.out if role is None else role == "TX"
        return "" if sends is None else "out" if sends else "in"

    def _ids(self, role: str | None) -> list[int]:
        """The numbers that iperf3 gave to the streams of one direction, in order, as any line of the run has them."""
        told = (one for line in self.lines for one in (_LINE.search(line), _SENT.search(line)) if one)
        mine = {one["id"] for one in told if one.groupdict().get("role", role) == role} - {"SUM"}
        return sorted(map(int, mine))

    def _streams(self, summary: Sequence[_Told]) -> int:
        """How many streams the run had, 0 if unknown: as its whole summary has, else as were set up."""
        each = 2 if any("[ ID][Role]" in line for line in self.lines) else 1
        summed = any(match["id"] == "SUM" for line in self.lines if (match := _LINE.search(line)))
        counted = {match["id"] for _, match in summary if match["role"] == summary[0][1]["role"]} - {"SUM"}
        known = {one["id"] for line in self.lines for one in (_LINE.search(line), _SENT.search(line)) if one} - {"SUM"}
        complete = counted and len(known) == each * len(counted) and (len(counted) > 1) == summed
        if complete and self._is_whole(summary, summed=summed):
            return len(counted)
        set_up = sum(1 for line in self.lines if _STREAM.search(line)) // each
        return 0 if set_up == 1 and summed else set_up  # one stream has no sums: the lines of the others are missing

    def _is_whole(self, summary: Sequence[_Told], *, summed: bool) -> bool:
        """Whether the summary stands there from its heading to its sums, or where one stream has none to the end."""
        first, last = self.lines.index(summary[0][0]), self.lines.index(summary[-1][0])
        ended = (summed and summary[-1][1]["id"] == "SUM") or any(map(_FINISHED.search, self.lines[last:]))
        return ended and first > 0 and _HEADING.search(self.lines[first - 1]) is not None

    def _summary(self) -> Iterator[_Told]:
        """The lines that sum a run up; old UDP clients mark them only by a count of datagrams after or before them."""
        before: _Told | None = None
        counted = False
        for line in self.lines:
            match, sent = _LINE.search(line), _SENT.search(line)
            marked = match and (_ARRIVED.fullmatch(match["rest"]) or match["rest"].split()[-1:] == ["sender"])
            if match and (marked or (counted and match["id"] == "SUM" and _DATAGRAMS.search(match["rest"]))):
                yield line, match
            if sent and before and before[1]["id"] == sent["id"] and _DATAGRAMS.search(before[1]["rest"]):
                yield before
            before, counted = (line, match) if match else None, sent is not None


def _runs(lines: Sequence[str]) -> Iterator[_Run]:
    run, summed = _Run(out=None), False
    for line in lines:
        begin = _BEGIN.search(line)
        if begin or (summed and _HEADING.search(line)):  # a heading below a summary is another run's, its head is lost
            yield run
            run, summed = _Run(out=None if begin is None else begin["client"] is not None), False
        if _REVERSE.search(line):
            run.out = False
        if _OTHER_END.search(line):
            break  # the same run again, seen from there
        run.lines.append(line)
        match = _LINE.search(line)
        summed = summed or bool(_SENT.search(line) or (match and _ARRIVED.fullmatch(match["rest"])))
    yield run


def _rate(match: re.Match[str], line: str) -> float:
    """byte/s; what arrived, also where the line tells what was sent and what of it was lost."""
    prefix = match["prefix"]
    letter = f"{prefix}iB/s" if match["symbol"] == "Bytes" and prefix else f"{prefix.replace('K', 'k')}b/s"
    if match["symbol"] == "Bytes" and not prefix:
        letter = "B/s"
    try:
        value = parse(f"{match['rate']} {letter}", Unit.BYTE_RATE)
    except UnitError as error:
        raise ProbeOutputError(one_line(line), "a rate in the receiver's line") from error
    _refuse_misfit(match, line, value)
    datagrams = _DATAGRAMS.search(match["rest"])
    if datagrams and "receiver" not in match["rest"]:
        loss = _loss(datagrams)
        if loss is None:
            raise ProbeOutputError(one_line(line), "counts of datagrams that the share beside them agrees with")
        value *= 1.0 - loss
    return value


def _refuse_misfit(match: re.Match[str], line: str, value: float) -> None:
    """ProbeOutputError when a rate is not the bytes of its line over the seconds, as closely as they were printed."""
    began, ended, moved = (span(match[name]) for name in ("begin", "end", "moved"))
    if began is None or ended is None or moved is None or ended[1] <= began[0]:
        raise ProbeOutputError(one_line(line), "bytes that arrived in some seconds")
    size = _KIBI[match["size"]]
    lasted: Span = (max(ended[0] - began[1], 0.0), ended[1] - began[0])
    low, high = times(lasted, _as_printed(match, value))
    if not (fits(low, (0.0, moved[1] * size), _CARELESS) and fits(high, (moved[0] * size, float("inf")), _CARELESS)):
        raise ProbeOutputError(one_line(line), "a rate that is the bytes of its line over the seconds")


def _as_printed(match: re.Match[str], value: float) -> Span:
    """byte/s that may have been rounded to the rate ``value`` of the line."""
    number, rounded = decimal(match["rate"]), span(match["rate"])
    if not number or rounded is None:
        return 0.0, value
    return value * rounded[0] / number, value * rounded[1] / number


def _stream(match: re.Match[str], line: str, number: int, marks: Labels) -> Iterator[Reading]:
    named = tuple(sorted((*marks, ("stream", str(number)))))
    if value := _rate(match, line):
        yield Reading("iperf3.stream", value, Unit.BYTE_RATE, named, line.strip())


def _received(match: re.Match[str], line: str, marks: Labels) -> Iterator[Reading]:
    value = _rate(match, line)
    if value <= 0:
        raise ProbeOutputError(one_line(line), "a receiver that got data")
    yield Reading("iperf3.throughput", value, Unit.BYTE_RATE, marks, line.strip())
    if datagrams := _DATAGRAMS.search(match["rest"]):
        loss, jitter = _loss(datagrams), parse(f"{datagrams['jitter']} ms", Unit.SECOND)
        if loss is not None:
            yield Reading("iperf3.loss", loss, Unit.ONE, marks, line.strip())
        if jitter <= (decimal(match["end"]) or 0.0):  # longer than the run is what the clocks of two hosts differ by
            yield Reading("iperf3.jitter", jitter, Unit.SECOND, marks, line.strip())


def _resent(match: re.Match[str], line: str, marks: Labels) -> Iterator[Reading]:
    if resent := _RESENT.fullmatch(match["rest"]):
        yield Reading("iperf3.retransmits", float(resent["count"]), Unit.ONE, marks, line.strip())


def _loss(datagrams: re.Match[str]) -> float | None:
    """Share of the datagrams that did not arrive; None for counts that overflowed or are not those of the share."""
    lost, total, printed = int(datagrams["lost"]), int(datagrams["total"]), decimal(datagrams["percent"])
    if not total or lost > total:
        raise ProbeOutputError(f"{lost} of {total} datagrams lost", "a part of them")
    percent = 100 * lost / total
    if total == _OVERFLOWN or printed is None or abs(printed - percent) > _TWO_DIGITS * max(printed, percent):
        return None
    return lost / total
