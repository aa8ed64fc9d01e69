"""Reads what sockperf's client prints: latency of ping-pong and under-load, throughput; versions 2.5 to 3.10.

It ends with 0 whatever happened, so its words decide. ``MBps`` is 2^20 byte/s and ``Mbps`` 2^20 bit/s. ``GBps`` is
1000 of those MBps, or with ``--increase_output_precision`` up to 3.7 the MBps themselves under a wrong name: it is
read only where messages and their size prove which. Latency is half of a round trip; with ``--full-rtt`` the lines
are of whole ones, and so is their metric. Formats read off sockperf's ``client.cpp`` of these versions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from probes.api import ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import one_line, positive, whole, whole_lines

_MEBI = float(2**20)
_GBPS = (1000.0 * _MEBI, _MEBI)
_MICROSECOND = 1e-6
_LONGEST_US = 3.6e9
_AGREE = 2e-3
_PRINTED = 6e-4
"""What three printed decimals leave open."""

_SILENT = 1472.0
"""Bytes of a message that sockperf has nothing to note about."""

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PREFIX = re.compile(r"^(?:sockperf(?:\[CLIENT\])?: ?)?")
_FAILED = re.compile(
    r"ERROR|No messages were received|No valid observations|interrupted by (?:user|signal (?:1|3|15)\b)"
    r"|Test ends uncompleted|Test end before test start|integrity test failed|Invalid message|Is the server down"
)
_BEGIN = re.compile(r"== version #(?P<major>[0-9]{0,4})\S* ==\s*")
_PLACE = re.compile(
    r"(?:sockperf\[CLIENT\] send on:)?\[ *[0-9]+\] IP = \S+ +PORT = +[0-9]+ +# (?P<protocol>UDP|TCP)\s*"
)
_SERVER = re.compile(r"=+ Printing statistics for Server No: (?P<server>[0-9]{1,4})")
_MEAN = re.compile(r"====> avg-(?P<kind>lat|latency|rtt)= *(?P<mean>\S+) \(std-dev=(?P<deviation>[^\s,)]+).*\)")
_COUNTS = re.compile(
    r"# dropped messages = (?P<dropped>\S+); # duplicated messages = (?P<duplicated>\S+); "
    r"# out-of-order messages = (?P<out_of_order>\S+)"
)
_SUMMARY = re.compile(r"Summary: (?P<kind>Latency|Round trip)(?: of burst of [0-9]+ messages)? is (?P<mean>\S+) usec")
_TOTAL = re.compile(r"Total (?P<total>[0-9]{1,12}) observations; .*")
_QUANTILE = re.compile(r"---> (?:<(?P<end>MAX|MIN)> observation|percentile +(?P<share>[0-9.]+)) = +(?P<value>\S+)")
_NOTE = re.compile(r"NOTE: test was performed, using (?:average )?msg-size=(?P<size>[0-9]{1,6})\b.*")
_RATE = re.compile(r"Summary: Message Rate is (?P<rate>\S+) \[msg/sec\].*")
_WIDTH = re.compile(r"Summary: BandWidth is (?P<bytes>\S+) (?P<prefix>[MG])Bps \((?P<bits>\S+) [MG]bps\)")
_WANTED = {50.0: "p50", 99.0: "p99", 99.9: "p99.9"}


def readings(text: str, known: Mapping[str, object]) -> Sequence[Reading]:
    """Every reading of every run in ``text``, each with the labels ``known``.

    ProbeOutputError when sockperf says that something failed, when lines contradict each other, and when there is none.
    """
    lines = [_PREFIX.sub("", _COLOUR.sub("", line).strip()) for line in whole_lines(text)]
    for line in lines:
        if _FAILED.search(line):
            raise ProbeOutputError(one_line(line), "a run without error")
    found = [reading for run in _runs(lines, known) for reading in run.readings()]
    if not found:
        said = next((line for line in reversed(lines) if line), "nothing")
        raise ProbeOutputError(one_line(said), "sockperf's summary of latency or bandwidth")
    return tuple(found)


@dataclass(slots=True)
class _Run:
    """The lines of one run of the client."""

    known: Mapping[str, object]
    number: int
    lines: list[str] = field(default_factory=list)

    def readings(self) -> Iterator[Reading]:
        """Latency of each server that answered, then throughput."""
        own = dict(self.known) | ({} if self.number == 1 else {"number": self.number})
        protocol = next((match["protocol"] for line in self.lines if (match := _PLACE.fullmatch(line))), None)
        if protocol:
            own["protocol"] = protocol.lower()
        for server, lines in self._servers():
            yield from _latency(lines, own if server == 0 else {**own, "server": server})
        yield from _throughput(self.lines, own, told=protocol == "TCP")

    def _servers(self) -> Iterator[tuple[int, list[str]]]:
        server, lines = 0, list[str]()
        for line in self.lines:
            if match := _SERVER.fullmatch(line):
                yield server, lines
                server, lines = int(match["server"]), []
            lines.append(line)
        yield server, lines


def _runs(lines: Sequence[str], known: Mapping[str, object]) -> Iterator[_Run]:
    run = _Run(known, 1)
    for line in lines:
        if _BEGIN.fullmatch(line):
            yield run
            run = _Run(known, run.number + 1 if run.lines and _told(run.lines) else run.number)
        run.lines.append(line)
    yield run


def _told(lines: Sequence[str]) -> bool:
    return any(line.startswith("Summary: ") for line in lines)


def _latency(lines: Sequence[str], own: Mapping[str, object]) -> Iterator[Reading]:
    """Mean, deviation and percentiles of one server, and the messages that went astray."""
    mean = next((match for line in lines if (match := _MEAN.fullmatch(line))), None)
    if mean is None:
        return
    name = "sockperf.rtt" if mean["kind"] == "rtt" else "sockperf.latency"
    average = _time(mean["mean"], mean[0])
    yield _reading(name, average, mean[0], **own, statistic="mean")
    for line in lines:
        if counts := _COUNTS.fullmatch(line):
            yield from _counts(counts, own)
        if summary := _SUMMARY.fullmatch(line):
            _refuse_unlike(summary, mean)
    yield from _quantiles(lines, name, own)


def _refuse_unlike(summary: re.Match[str], mean: re.Match[str]) -> None:
    """The summary says the mean once more; anything else is another run's."""
    full = summary["kind"] == "Round trip"
    if summary["mean"] != mean["mean"] or full != (mean["kind"] == "rtt"):
        raise ProbeOutputError(one_line(summary[0]), f"the mean of {one_line(mean[0])}")


def _counts(match: re.Match[str], own: Mapping[str, object]) -> Iterator[Reading]:
    for name in ("dropped", "duplicated", "out_of_order"):
        count = whole(match[name])
        if count is None:
            raise ProbeOutputError(one_line(match[0]), "whole numbers of messages")
        yield Reading(f"sockperf.{name}", float(count), Unit.ONE, labels(**own), match[0])


def _quantiles(lines: Sequence[str], name: str, own: Mapping[str, object]) -> Iterator[Reading]:
    """From the largest down. A percentile beyond which less than one observation lies is the maximum once more."""
    total = next((int(match["total"]) for line in lines if (match := _TOTAL.fullmatch(line))), 0)
    above = _LONGEST_US * _MICROSECOND
    for line in lines:
        if match := _QUANTILE.fullmatch(line):
            value = _time(match["value"], line)
            if value > above:
                raise ProbeOutputError(one_line(line), "no more than the percentile above it")
            above = value
            share = 100.0 if match["end"] else float(positive(match["share"], "a percentile", 100.0))
            statistic = match["end"].lower() if match["end"] else _WANTED.get(share)
            if statistic and (match["end"] or total * (1 - share / 100) >= 1):
                yield _reading(name, value, line, **own, statistic=statistic)


def _throughput(lines: Sequence[str], own: Mapping[str, object], *, told: bool) -> Iterator[Reading]:
    """Messages and bytes per second that this end handed to the network; TCP alone tells that they were taken."""
    size = next((float(match["size"]) for line in lines if (match := _NOTE.fullmatch(line))), None)
    plain = any(int(match["major"] or 0) > 1 for line in lines if (match := _BEGIN.fullmatch(line)))
    rate: float | None = None
    for line in lines:
        if match := _RATE.fullmatch(line):
            rate = positive(match["rate"], "the message rate")
            yield Reading("sockperf.messages", rate, Unit.PER_SECOND, labels(**own, direction="out"), line)
        elif match := _WIDTH.fullmatch(line):
            # version 1 counted headers, and the line that tells the version may be lost
            told_size = size or (None if plain or match["prefix"] == "G" else _SILENT)
            value = _width(match, rate * told_size if rate and told_size else None, plain=plain)
            name = "sockperf.throughput" if told else "sockperf.sent"
            yield Reading(name, value, Unit.BYTE_RATE, labels(**own, direction="out"), line)


def _width(match: re.Match[str], expected: float | None, *, plain: bool) -> float:
    """byte/s. ``expected`` is what messages times size come to, where both are told; ``plain`` MBps need no proof."""
    printed, bits = positive(match["bytes"], "the bandwidth"), positive(match["bits"], "the bandwidth")
    if abs(bits - 8 * printed) > 8 * _PRINTED + _AGREE * bits:
        raise ProbeOutputError(one_line(match[0]), "eight bits for each byte")
    factors = (_MEBI,) if match["prefix"] == "M" else _GBPS
    if expected is None and plain and len(factors) == 1:
        return printed * _MEBI
    for factor in factors:
        if expected is not None and abs(printed * factor - expected) <= _PRINTED * factor + _AGREE * expected:
            return printed * factor
    raise ProbeOutputError(one_line(match[0]), "a bandwidth that messages times their size come to")


def _time(text: str, line: str) -> float:
    return positive(text, f"microseconds in {one_line(line)}", _LONGEST_US) * _MICROSECOND


def _reading(name: str, value: float, raw: str, **marks: object) -> Reading:
    return Reading(name, value, Unit.SECOND, labels(**marks), raw)
