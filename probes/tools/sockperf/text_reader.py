"""Reader of sockperf's client, versions 2.5 to 3.10: latency of ping-pong and under-load, and throughput.

It ends with 0 after failures too, so its words decide. ``MBps`` is 2^20 byte/s and ``Mbps`` 2^20 bit/s. ``GBps`` is
1000 of those MBps, or with ``--increase_output_precision`` up to 3.7 the MBps themselves under a wrong name: it is
read only where messages and their size prove which. Latency is half of a round trip; with ``--full-rtt`` the lines
are of whole ones, and so is their metric. Formats read off sockperf's ``client.cpp`` of these versions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import (
    find_match,
    find_matches,
    read_lines,
    refuse_lines,
    search_lines,
    shorten,
    split_lines,
)
from benchconsole.probes.readers.numbers import parse_count, require_positive

_MEBI = float(2**20)
_GBPS = (1000.0 * _MEBI, _MEBI)
_MICROSECOND = 1e-6
_LONGEST_US = 3.6e9
_AGREE = 2e-3
_PRINTED = 6e-4
"""The uncertainty of three printed decimals."""

_SILENT = 1472.0
"""Bytes of a message that sockperf has nothing to note about."""

_PREFIX = re.compile(r"^(?:sockperf(?:\[CLIENT\])?: ?)?")
_ERROR = re.compile("ERROR")
_FAILED = re.compile(
    r"ERROR|No messages were received|No valid observations|interrupted by (?:user|signal (?:1|3|15)\b)"
    r"|Test ends uncompleted|Test end before test start|integrity test failed|Invalid message|Is the server down"
)
_BEGIN = re.compile(r"== version #(?P<major>[0-9]{0,4})\S* ==\s*")
_PLACE = re.compile(
    r"(?:sockperf\[CLIENT\] send on:)?\[ *[0-9]+\] IP = \S+ +PORT = +[0-9]+ +# (?P<protocol>UDP|TCP)\s*"
)
_WAITS = re.compile(r"using (?P<call>[a-z_]{3,20})\(\) to block on socket\(s\)")
_SERVER = re.compile(r"=+ Printing statistics for Server No: (?P<server>[0-9]{1,4})")
_MEAN = re.compile(r"====> avg-(?P<kind>lat|latency|rtt)= *(?P<mean>\S+) \(std-dev=(?P<deviation>[^\s,)]+).*\)")
_COUNTS = re.compile(
    r"# dropped messages = (?P<dropped>\S+); # duplicated messages = (?P<duplicated>\S+); "
    r"# out-of-order messages = (?P<out_of_order>\S+)"
)
_SUMMARY = re.compile(r"Summary: (?P<kind>Latency|Round trip)(?: of burst of [0-9]+ messages)? is (?P<mean>\S+) usec")
_TOTAL = re.compile(r"Total (?P<total>[0-9]{1,12}) observations; .*")
_QUANTILE = re.compile(
    r"---> (?:<(?P<end>MAX|MIN)> observation|percentile +(?P<share>[0-9.]+)) = +"
    r"(?![0-9]+\.?[0-9]{0,2}\s*$)(?P<value>\S+)"  # three decimals: with fewer it was cut
)
_NOTE = re.compile(r"NOTE: test was performed, using (?:average )?msg-size=(?P<size>[0-9]{1,6})\b.*")
_RATE = re.compile(r"Summary: Message Rate is (?P<rate>\S+) \[msg/sec\].*")
_WIDTH = re.compile(r"Summary: BandWidth is (?P<bytes>\S+) (?P<prefix>[MG])Bps \((?P<bits>\S+) [MG]bps\)")
_WANTED = {50.0: "p50", 99.0: "p99", 99.9: "p99.9"}


def parse_text(text: str, known: Mapping[str, object], error_text: str = "") -> Sequence[Reading]:
    """Every reading of every run in ``text``, each with the labels ``known``.

    ProbeOutputError when sockperf says that something failed, when lines contradict each other, and when there is none.
    """
    refuse_lines(_ERROR, split_lines(error_text), "a run without error")
    lines = [_PREFIX.sub("", line.strip()) for line in read_lines(text)]
    refuse_lines(_FAILED, lines, "a run without error")
    found: list[Reading] = []
    number = 1
    for run in _split_lines(_BEGIN, lines):
        found += _read_run(run, known if number == 1 else {**known, "number": number})
        number += any(line.startswith("Summary: ") for line in run)
    if not found:
        last = next((line for line in reversed(lines) if line), "nothing")
        raise ProbeOutputError(shorten(last), "sockperf's summary of latency or bandwidth")
    return tuple(found)


def _split_lines(begin: re.Pattern[str], lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """The lines before the first one that is ``begin``, then from each of them to the next."""
    begins = [index for index, line in enumerate(lines) if begin.fullmatch(line)]
    return (lines[first:last] for first, last in pairwise([0, *begins, len(lines)]))


def _read_run(lines: Sequence[str], known: Mapping[str, object]) -> Iterator[Reading]:
    place, waits = find_match(_PLACE, lines), search_lines(_WAITS, lines)
    own = {**known, "protocol": place["protocol"].lower()} if place else known
    own = {**own, "wait": waits["call"]} if waits else own
    for part in _split_lines(_SERVER, lines):
        match = find_match(_SERVER, part[:1])
        server = int(match["server"]) if match else 0
        yield from _read_latency(part, {**own, "server": server} if server else own)
    yield from _read_throughput(lines, own, arrived=place is not None and place["protocol"] == "TCP")


def _read_latency(lines: Sequence[str], own: Mapping[str, object]) -> Iterator[Reading]:
    """Mean and percentiles of one server, and the messages that went astray."""
    mean = find_match(_MEAN, lines)
    if mean is None:
        return
    full = mean["kind"] == "rtt"
    name = "sockperf.rtt" if full else "sockperf.latency"
    marks = labels(**own, statistic="mean")
    yield Reading(name, _read_time(mean["mean"], mean[0]), Unit.SECOND, marks, mean[0])
    for summary in find_matches(_SUMMARY, lines):  # it says the mean once more; anything else is another run's
        if summary["mean"] != mean["mean"] or full != (summary["kind"] == "Round trip"):
            raise ProbeOutputError(shorten(summary[0]), f"the mean of {shorten(mean[0])}")
    for match in find_matches(_COUNTS, lines):
        for which, text in match.groupdict().items():
            count = parse_count(text)
            if count is None:
                raise ProbeOutputError(shorten(match[0]), "whole numbers of messages")
            yield Reading(f"sockperf.{which}", float(count), Unit.ONE, labels(**own), match[0])
    yield from _read_quantiles(lines, name, own)


def _read_quantiles(lines: Sequence[str], name: str, own: Mapping[str, object]) -> Iterator[Reading]:
    """From the largest down. A percentile beyond which less than one observation lies is the maximum once more."""
    match = find_match(_TOTAL, lines)
    total = int(match["total"]) if match else 0
    above = _LONGEST_US * _MICROSECOND
    for match in find_matches(_QUANTILE, lines):
        value = _read_time(match["value"], match[0])
        if value > above:
            raise ProbeOutputError(shorten(match[0]), "no more than the percentile above it")
        above = value
        share = 100.0 if match["end"] else require_positive(match["share"], "a percentile", 100.0)
        statistic = match["end"].lower() if match["end"] else _WANTED.get(share)
        if statistic and (match["end"] or total * (1 - share / 100) >= 1):
            yield Reading(name, value, Unit.SECOND, labels(**own, statistic=statistic), match[0])


def _read_throughput(lines: Sequence[str], own: Mapping[str, object], *, arrived: bool) -> Iterator[Reading]:
    """Messages and bytes per second that this end handed to the network; only TCP says that they ``arrived``."""
    note = find_match(_NOTE, lines)
    marks = labels(**{**own, **({"size": note["size"]} if note else {})}, direction="out")
    plain = any(int(match["major"] or 0) > 1 for match in find_matches(_BEGIN, lines))
    rate: float | None = None
    for line in lines:
        if match := _RATE.fullmatch(line):
            rate = require_positive(match["rate"], "the message rate")
            yield Reading("sockperf.messages", rate, Unit.PER_SECOND, marks, line)
        elif match := _WIDTH.fullmatch(line):
            # version 1 counted headers, and the line that tells the version may be lost
            size = float(note["size"]) if note else None if plain or match["prefix"] == "G" else _SILENT
            value = _read_width(match, rate * size if rate and size else None, plain=plain)
            name = "sockperf.throughput" if arrived else "sockperf.sent"
            yield Reading(name, value, Unit.BYTE_RATE, marks, line)


def _read_width(match: re.Match[str], expected: float | None, *, plain: bool) -> float:
    """byte/s. ``expected`` is messages times size where both are known; ``plain`` MBps need no proof."""
    printed, bits = require_positive(match["bytes"], "the bandwidth"), require_positive(match["bits"], "the bandwidth")
    if abs(bits - 8 * printed) > 8 * _PRINTED + _AGREE * bits:
        raise ProbeOutputError(shorten(match[0]), "eight bits for each byte")
    if expected is None and plain and match["prefix"] == "M":
        return printed * _MEBI
    for factor in (_MEBI,) if match["prefix"] == "M" else _GBPS:
        if expected is not None and abs(printed * factor - expected) <= _PRINTED * factor + _AGREE * expected:
            return printed * factor
    raise ProbeOutputError(shorten(match[0]), "a bandwidth that is messages times their size")


def _read_time(text: str, line: str) -> float:
    return require_positive(text, f"microseconds in {shorten(line)}", _LONGEST_US) * _MICROSECOND
