"""Reads what iperf3 prints for people, since that is what gets captured by hand.

Only lines marked ``receiver`` are results: intervals are not summed, lines that were not ended
are not read. Bytes in this form are powers of 1024 and bits powers of 1000, whatever the letter.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from probes.api import Labels, ProbeOutputError, Reading, Unit, UnitError, labels, parse
from probes.builtin.captured import one_line, whole_lines

_COMPLAINT = re.compile(r"(?<!\S)iperf3: (?:error|interrupt).*$", re.MULTILINE)
_BEGIN = re.compile(r"(?P<client>Connecting to host )|Accepted connection from ")
_REVERSE = re.compile(r"(?<!\S)Reverse mode, remote host ")
_OTHER_END = re.compile(r"(?<!\S)Server output:")
_STREAM = re.compile(r"\[\s*\d+\] local \S+ port \d+ connected to ")
_LINE = re.compile(
    r"\[\s*(?P<id>\d+|SUM)\](?:\[(?P<role>[TR]X)-[CS]\])?\s+[\d.]+-[\d.]+\s+sec\s+\S+\s+[KMGT]?Bytes\s+"
    r"(?P<rate>\S+)\s+(?P<prefix>[KMGT]?)(?P<symbol>bits|Bytes)/sec(?P<rest>[^\[\]]*)$",
    re.ASCII,
)
_DATAGRAMS = re.compile(r"\s(?P<jitter>[0-9]+\.[0-9]+) ms\s+(?P<lost>[0-9]{1,15})/(?P<total>[0-9]{1,15}) \(")
_RESENT = re.compile(r"\s*(?P<count>[0-9]{1,15})\s+sender\s*")
_ARRIVED = re.compile(r"\s*(?:\S+ ms\s+\S+ \([^)]*\)\s+)?receiver\s*")
_SENT = re.compile(r"\[\s*(?P<id>\d+)\] Sent \d+ datagrams")


def refuse_complaint(text: str) -> None:
    """Raise ProbeOutputError when iperf3 says in ``text`` that it failed or was interrupted."""
    if complaint := _COMPLAINT.search(text):
        raise ProbeOutputError(one_line(complaint[0]), "a run without error")


def readings(text: str) -> Sequence[Reading]:
    """Every reading of every run in ``text``; ProbeOutputError when no receiver reported."""
    refuse_complaint(text)
    found: list[Reading] = []
    for run in _runs(whole_lines(text)):
        found.extend(run.readings())
    if not any(reading.unit is Unit.BYTE_RATE for reading in found):
        raise ProbeOutputError("no line of a receiver", "iperf3's summary with a line ending in 'receiver'")
    return tuple(found)


@dataclass(slots=True)
class _Run:
    """The lines of one run; ``out`` is whether an unmarked line speaks of data that this end sent."""

    out: bool
    lines: list[str] = field(default_factory=list)

    def readings(self) -> Iterator[Reading]:
        """Sums, then what belongs to them, in the order of the text."""
        udp = any("Total Datagrams" in line for line in self.lines)
        both = any("[ ID][Role]" in line for line in self.lines)
        streams = sum(1 for line in self.lines if _STREAM.search(line)) // (2 if both else 1)
        if streams == 1 and any(match["id"] == "SUM" for line in self.lines if (match := _LINE.search(line))):
            streams = 0  # one stream has no sums: the lines of the others are missing
        seen = {"in": 0, "out": 0}
        for line, match in self._summary():
            role = match["role"]
            direction = "out" if (self.out if role is None else role == "TX") else "in"
            receiver = "sender" not in match["rest"]
            seen[direction] += receiver and match["id"] != "SUM"
            marks = labels(direction=direction, protocol="udp" if udp else "tcp", streams=streams or seen[direction])
            if streams and receiver and match["id"] != "SUM":
                yield from _stream(match, line, seen[direction], marks)
            if match["id"] == "SUM" or streams == 1:
                yield from _received(match, line, marks) if receiver else _resent(match, line, marks)

    def _summary(self) -> Iterator[tuple[str, re.Match[str]]]:
        """The lines that sum a run up; old UDP clients mark them only by a count of datagrams after them."""
        before: tuple[str, re.Match[str]] | None = None
        for line in self.lines:
            match = _LINE.search(line)
            if match and (_ARRIVED.fullmatch(match["rest"]) or match["rest"].split()[-1:] == ["sender"]):
                yield line, match
            sent = _SENT.search(line)
            if sent and before and before[1]["id"] == sent["id"] and _DATAGRAMS.search(before[1]["rest"]):
                yield before
            before = (line, match) if match else None


def _runs(lines: Sequence[str]) -> Iterator[_Run]:
    run = _Run(out=True)
    for line in lines:
        if begin := _BEGIN.search(line):
            yield run
            run = _Run(out=begin["client"] is not None)
        if _REVERSE.search(line):
            run.out = False
        if _OTHER_END.search(line):
            break  # the same run again, seen from there
        run.lines.append(line)
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
    datagrams = _DATAGRAMS.search(match["rest"])
    if datagrams and "receiver" not in match["rest"]:
        value *= 1.0 - _loss(datagrams)
    return value


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
        yield Reading("iperf3.loss", _loss(datagrams), Unit.ONE, marks, line.strip())
        jitter = parse(f"{datagrams['jitter']} ms", Unit.SECOND)
        yield Reading("iperf3.jitter", jitter, Unit.SECOND, marks, line.strip())


def _resent(match: re.Match[str], line: str, marks: Labels) -> Iterator[Reading]:
    if resent := _RESENT.fullmatch(match["rest"]):
        yield Reading("iperf3.retransmits", float(resent["count"]), Unit.ONE, marks, line.strip())


def _loss(datagrams: re.Match[str]) -> float:
    lost, total = int(datagrams["lost"]), int(datagrams["total"])
    if not total or lost > total:
        raise ProbeOutputError(f"{lost} of {total} datagrams lost", "a part of them")
    return lost / total
