"""Reader of the text of iperf 2 (2.0.5 to 2.1): a client of TCP or UDP, or one run of a server.

Bytes are powers of 1024 and bits powers of 1000. A client of TCP counts what it handed to its socket, so its numbers
are labelled ``counted=sender``; of UDP only the report of the server counts, and without one there is no number.
Intervals (``-i``) are no results: a line is the whole of its stream where it spans the intervals, where the command
says how long the run was, and where it is no shorter than iperf's own 10 s. Both directions at once have one sum in
iperf, which is refused.

Formats read off iperf 2.1.8, ``IPERFTimeFrmt`` off its source, and off 2.0.5 as its manual and source print them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.command_lines import find_command, list_given, read_options
from benchconsole.probes.readers.lines import find_matches, read_lines, refuse_lines, search_lines, shorten
from benchconsole.probes.readers.numbers import is_within, multiply_spans, parse_span, require_positive
from benchconsole.probes.readers.readings import add_labels, known_labels

_COMPLAINT = re.compile(
    r"\b(?:connect|bind|write\d?|read|recv\w*|send\w*|shutdown|accept|socket)(?: \S+)? failed\b"
    r"|^iperf: |WARNING: did not rec(?:ei|ie)ve ack|unrecognized option|\(peer \S+ is too old",
    re.IGNORECASE,
)
_CLIENT = re.compile(r"Client connecting to \S+, (?P<protocol>TCP|UDP) port \d+.*")
_SERVER = re.compile(r"Server listening on (?P<protocol>TCP|UDP) port \d+.*")
_DATAGRAM = re.compile(r"(?:Sending|Receiving) (?P<size>[0-9]{1,5}) byte datagrams.*")
_CONNECTED = re.compile(r"\[\s*(?P<id>\*?\d+)\] local \S+ port \d+ connected with \S+ port \d+(?P<rest>.*)")
_ROW = re.compile(
    r"\[\s*(?P<id>\*?\d+|SUM)\]\s+(?P<begin>\d+\.\d+)-\s*(?P<end>\d+\.(?P<digits>\d+)) sec\s+"
    r"(?P<moved>[0-9]{1,9}(?:\.[0-9]{1,6})?) (?P<size>[KMGT]?)Bytes\s+(?P<rate>[0-9]{1,9}(?:\.[0-9]{1,6})?) "
    r"(?P<prefix>[KMGT]?)(?P<symbol>bits|Bytes)/sec(?P<rest>|\s.*)",
    re.ASCII,
)
_DATAGRAMS = re.compile(
    r"\s+(?P<jitter>[0-9]+\.[0-9]+) ms\s+(?P<lost>[0-9]{1,15})/\s*(?P<total>[0-9]{1,15}) "
    r"\((?P<percent>[0-9]{1,3}(?:\.[0-9]{1,6})?(?:e[+-][0-9]{1,2})?)%\)(?:\s.*)?"
)
_SHORT, _LONG = "AB:bCc:dD:eF:f:hIi:L:l:M:mNn:o:P:p:RrsT:t:uVvw:y:Z:z", ("client=", "time=", "interval=", "parallel=")
_DEFAULT_SECONDS = 10.0
_LATE = 0.06
"""Share by which a run may last longer or shorter than it was asked to."""
_CARELESS = 0.02
"""Share by which a rate may miss what its own line says of bytes and seconds, and a sum its parts."""
_KIBI = {letter: 1024.0**power for power, letter in enumerate(("", "K", "M", "G", "T"))}
_KILO = {letter: 1000.0**power for power, letter in enumerate(_KIBI)}


class _Row(NamedTuple):
    """One line of numbers: seconds from ``begin`` to ``end``, bytes, byte/s.

    ``may_be_interval``: an interval would have the same line; ``datagrams``: as the receiver counted them.
    """

    id: str
    begin: float
    end: float
    may_be_interval: bool
    moved: float
    rate: float
    datagrams: re.Match[str] | None
    raw: str


def refuse_complaint(lines: Sequence[str]) -> None:
    """Raise ProbeOutputError with the first line in which iperf says that it failed."""
    refuse_lines(_COMPLAINT, lines, "a run without error")


def parse_text(text: str, argv: Sequence[str] = ()) -> Sequence[Reading]:
    """The readings of one run; ``argv`` is the command that printed it, where somebody said it.

    ProbeOutputError where it failed, where the whole of a stream is missing, and where more than one run is there.
    """
    lines = [line.strip() for line in read_lines(text, 400)]
    refuse_complaint(lines)
    clients, servers = list(find_matches(_CLIENT, lines)), list(find_matches(_SERVER, lines))
    if len(clients) + len(servers) != 1:
        found = f"{len(clients)} clients and {len(servers)} servers" if clients or servers else "no run of iperf 2"
        raise ProbeOutputError(found, "one client that sends one way, or one run of a server")
    (heading,) = (*clients, *servers)
    joined = list(find_matches(_CONNECTED, lines))
    reverse = {"(reverse)" in each["rest"] for each in joined}
    if not joined or len(reverse) > 1 or search_lines(re.compile(r"full-?duplex|\(bidir"), lines):
        raise ProbeOutputError("no connection, or two directions", "connections that all send one way")
    rows = [_read_row(match) for match in find_matches(_ROW, lines)]
    size = next((match["size"] for match in find_matches(_DATAGRAM, lines)), "") if heading["protocol"] == "UDP" else ""
    direction = ("in" if True in reverse else "out") if clients else ""
    marks = known_labels(protocol=heading["protocol"].lower(), direction=direction, size=size)
    ids = [match["id"] for match in joined]
    if len(set(ids)) < len(ids):
        raise ProbeOutputError("one stream twice", "the output of one run")
    asked = _find_seconds(lines, argv)
    if heading["protocol"] == "UDP":
        return tuple(
            _read_datagrams([row for row in rows if row.datagrams], ids, marks, asked, is_report=bool(clients))
        )
    counted = "sender" if clients and True not in reverse else "receiver"
    return (_read_stream(rows, ids, add_labels(marks, counted=counted), asked),)


def _find_seconds(lines: Sequence[str], argv: Sequence[str]) -> float | None:
    """How long the run was told to last; None where that is not known, or no time."""
    given = list_given(argv)
    told = next((words for line in lines if (words := find_command(line, "iperf")) is not None), given)
    options = read_options(told, _SHORT, _LONG) if told is not None else None
    if options is None or "n" in options:
        return None
    text = options.get("t", options.get("time", str(_DEFAULT_SECONDS)))
    return require_positive(text, "the time of iperf")


def _read_row(match: re.Match[str]) -> _Row:
    """The numbers of a line; ProbeOutputError where its rate is not its bytes by its seconds."""
    raw = match.string
    base = _KIBI if match["symbol"] == "Bytes" else {letter: value / 8 for letter, value in _KILO.items()}
    rate, begin, end = (
        require_positive(match["rate"], raw) * base[match["prefix"]],
        float(match["begin"]),
        float(match["end"]),
    )
    moved = parse_span(match["moved"])
    if moved is None or end <= begin:
        raise ProbeOutputError(shorten(raw), "bytes in seconds")
    slack = 0.5 * 10.0 ** -len(match["digits"])
    seconds = (max(end - begin - 2 * slack, 1e-9), end - begin + 2 * slack)
    low, high = multiply_spans(moved, (_KIBI[match["size"]], _KIBI[match["size"]]), (1 / seconds[1], 1 / seconds[0]))
    if not is_within(rate, (low * (1 - _CARELESS), high * (1 + _CARELESS))):
        raise ProbeOutputError(shorten(raw), "a rate that is the bytes by the seconds")
    # An interval of 2.1 ends at a whole second, which a run hardly does to four digits, but does to the two of builds
    # without --enable-fastsampling. 2.0 prints one digit of both.
    digits, is_short = len(match["digits"]), end < _DEFAULT_SECONDS * (1 - _LATE)
    may_be_interval = is_short if digits == 1 else end.is_integer() and (digits > 2 or is_short)
    moved_bytes = sum(moved) / 2 * _KIBI[match["size"]]
    return _Row(match["id"], begin, end, may_be_interval, moved_bytes, rate, _DATAGRAMS.fullmatch(match["rest"]), raw)


def _find_whole(rows: Sequence[_Row], name: str, asked: float | None) -> _Row:
    """The line of a stream, or of their sum, that is its whole run; ProbeOutputError where none certainly is."""
    own = [row for row in rows if row.id == name]
    whole = max((row for row in own if row.begin == 0), key=lambda row: row.end, default=None)
    if whole is None:
        raise ProbeOutputError(f"no line of the whole run of [{name}]", "iperf's summary")
    later = [row for row in own if row.begin > 0]
    if later:
        is_whole = whole.end >= max(row.end for row in later) * (1 - _CARELESS)
    elif asked is not None:
        is_whole = abs(whole.end - asked) <= asked * _LATE
    else:
        is_whole = not whole.may_be_interval
    if not is_whole or own[-1] is not whole:
        raise ProbeOutputError(
            f"{shorten(whole.raw)}, which may be an interval",
            "the line of the whole run, or iperf's command with its -t",
        )
    return whole


def _read_stream(rows: Sequence[_Row], ids: Sequence[str], marks: Labels, asked: float | None) -> Reading:
    """The throughput of TCP: of the one stream, or the sum that iperf made of all of them."""
    parts = [_find_whole(rows, name, asked) for name in ids]
    if {row.id for row in rows} - {"SUM"} != set(ids):
        raise ProbeOutputError(f"numbers of other streams than {', '.join(ids)}", "the connection of each stream")
    found = parts[0]
    if len(parts) > 1:
        found, moved = _find_whole(rows, "SUM", asked), sum(part.moved for part in parts)
        is_sum = abs(found.moved - moved) <= _CARELESS * moved
        if not is_sum or abs(found.end - max(part.end for part in parts)) > _LATE * found.end:
            raise ProbeOutputError(shorten(found.raw), f"the sum of {len(parts)} streams")
    marks = add_labels(marks, streams=len(parts), seconds=round(found.end))
    return Reading("iperf.throughput", found.rate, Unit.BYTE_RATE, marks, shorten(found.raw))


def _read_datagrams(
    rows: Sequence[_Row], ids: Sequence[str], marks: Labels, asked: float | None, *, is_report: bool
) -> Iterator[Reading]:
    """Readings of UDP on arrival, as the server counted: rate and loss of all streams, and the jitter of each.

    ``is_report``: the lines are reports of the server to its client, which are of the whole run.
    """
    if sorted(row.id for row in rows) != sorted(ids) and is_report:
        raise ProbeOutputError(
            f"reports of {len(rows)} of {len(ids)} streams", "the report of the server for each stream"
        )
    parts = list(rows) if is_report else [_find_whole(rows, name, asked) for name in ids]
    lost = total = 0
    for part in parts:
        told = part.datagrams
        if told is None:
            continue
        own, of = int(told["lost"]), int(told["total"])
        if not 0 <= own <= of or not of or abs(own / of * 100 - float(told["percent"])) > 0.06 + 0.06 * own / of * 100:
            raise ProbeOutputError(shorten(part.raw), "lost datagrams that are the printed share of all")
        lost, total = lost + own, total + of
    marks = add_labels(marks, streams=len(parts), seconds=round(max(part.end for part in parts)), counted="receiver")
    raw = shorten("; ".join(part.raw for part in parts))
    yield Reading("iperf.throughput", sum(part.rate for part in parts), Unit.BYTE_RATE, marks, raw)
    yield Reading("iperf.loss", lost / total, Unit.ONE, marks, raw)
    for number, part in enumerate(parts, 1):
        own_marks = add_labels(marks, stream=number) if len(parts) > 1 else marks
        if part.datagrams is not None:
            jitter = float(part.datagrams["jitter"]) * 1e-3
            yield Reading("iperf.jitter", jitter, Unit.SECOND, own_marks, shorten(part.raw))
