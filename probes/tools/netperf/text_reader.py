"""Reader of netperf 2.1 to 2.7: the classic tables, which ``TCP_SENDFILE`` still has, and the keys of omni (``-k``).

MBytes are 2^20 bytes and 10^6bits what they say, whichever ``-f`` chose; the unit stands in the heading, so a row
without its heading (``-P 0``) is read only where its command is known (``bare_tables``). A table without its banner is
refused, since complaints stand between them.
Of UDP the second row arrived, the first was only sent; omni's THROUGHPUT is what arrived. Latencies are round trips.
CSV (``-o``) and columns (``-O``), which the probe never asks for, name a number in words that become its key.

Formats read off netperf 2.7.0 and its source (nettest_bsd.c, nettest_omni.c: send_omni).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import read_lines, refuse_lines, shorten
from benchconsole.probes.readers.numbers import parse_count, parse_decimal, require_positive
from benchconsole.probes.readers.readings import known_labels, number_runs
from benchconsole.probes.tools.netperf.bare_tables import add_headings

LONGEST = 400
"""Characters of a line that are looked at; netperf's tables are shorter."""

_COMPLAINT = re.compile(
    r"^\s*(?:netperf: \S|netserver: \S|establish[ _]control\b|(?:send|recv)_\w+: |catcher: |shutdown_control: "
    r"|\w+: data (?:send|recv) error|!!! )"
)
_RATE = r"(?P<unit>10\^[369]bits|[KMG]Bytes) */s(?:ec)?"
_STREAM = re.compile(rf"\s*bytes +bytes +bytes +secs\. +{_RATE}\s*(?P<cpu>%.*)?$")
_DATAGRAM = re.compile(rf"\s*bytes +bytes +secs +# +# +{_RATE}\s*(?P<cpu>%.*)?$")
_REQUEST = re.compile(r"\s*bytes +[bB]ytes +bytes +bytes +secs\. +per sec\s*(?P<cpu>%.*)?$")
_OMNI_HEADING = re.compile(r"\S.* Throughput Throughput\s*$")
_OMNI_ROW = re.compile(r"\s*(?:-?[0-9.]+ +)+(?P<rate>[0-9.]+) +(?P<unit>(?:10\^[369]bits|[KMG]Bytes|Trans)/s)\s*$")
_OMNI_SIZES = {
    "Local Remote Local Elapsed": {2: "size"},
    "Local Local Remote Remote Request Response Elapsed": {4: "request", 5: "response"},
}
"""Where the row below a heading of omni has bytes of a call; its sizes of buffers are those at the end."""
_KEY = re.compile(r"(?P<key>[A-Z][A-Z0-9_]{2,40})=(?P<value>.*)$")
_WHOLE, _REAL = r"-?[0-9]{1,15}", r"-?[0-9]{1,12}\.[0-9]{1,6}"
_BUFFERS = rf"(?P<receive_buffer>{_WHOLE}) +(?P<send_buffer>{_WHOLE})"
_RATE_ROW = r"(?![0-9]+\.[0-9]?\s*$)(?P<rate>[0-9]{1,12}\.[0-9]{1,6})"
"""netperf prints two decimals, and one before columns of CPU: a rate at the end of a line with fewer was cut."""
_STREAM_ROW = re.compile(rf"\s*{_BUFFERS} +(?P<size>{_WHOLE}) +{_REAL} +{_RATE_ROW}(?P<cpu>(?: +{_REAL}){{4}})?\s*$")
_SENT_ROW = re.compile(
    rf"\s*(?P<send_buffer>{_WHOLE}) +(?P<size>{_WHOLE}) +{_REAL} +(?P<count>{_WHOLE}) +{_WHOLE} +\S+"
    rf"(?P<cpu>(?: +{_REAL}){{2}})?\s*$"
)
_ARRIVED_ROW = re.compile(
    rf"\s*(?P<receive_buffer>{_WHOLE}) +{_REAL} +(?P<count>{_WHOLE}) +{_RATE_ROW}(?P<cpu>(?: +{_REAL}){{2}})?\s*$"
)
_REQUEST_ROW = re.compile(
    rf"\s*(?P<send_buffer>{_WHOLE}) +(?P<receive_buffer>{_WHOLE}) +(?P<request>{_WHOLE}) +(?P<response>{_WHOLE})"
    rf" +{_REAL} +{_RATE_ROW}(?P<cpu>(?: +{_REAL}){{4}})?\s*$"
)
_SIZES = ("size", "request", "response", "send_buffer", "receive_buffer")
"""Bytes that the classic tables tell: of one call or request, and of the buffers as the sockets began with them."""
_SIZE_OF_KEY = {
    ("out", "LOCAL_SEND_SIZE"): "size", ("in", "REMOTE_SEND_SIZE"): "size",
    ("", "REQUEST_SIZE"): "request", ("", "RESPONSE_SIZE"): "response",
}  # fmt: skip
"""The label of a size by the direction of the test; requests have none."""
_ROWS = {_STREAM: _STREAM_ROW, _DATAGRAM: _SENT_ROW, _REQUEST: _REQUEST_ROW, _OMNI_HEADING: _OMNI_ROW}
"""The pattern of a heading to that of its first row."""

_BANNER = re.compile(
    r"(?:MIGRATED )?(?P<protocol>TCP|UDP|SCTP|OMNI)(?:IPV6)? (?P<kind>STREAM|MAERTS|SENDFILE|UNIDIRECTIONAL SEND"
    r"|REQUEST/RESPONSE|CONNECT REQUEST/RESPONSE|Connect/Request/Response|Send\|Recv|Send|Recv|Receive)\s+TEST\b",
    re.ASCII,
)
_SETTINGS = ((re.compile(r" : nodelay\b"), "nodelay"), (re.compile(r" : first burst ([1-9][0-9]{0,6})\b"), "burst"))
"""Behind a banner: what the sockets were told, and requests that are under way beside the one that is answered."""
_OTHER_BANNER = re.compile(r"(?:MIGRATED )?[A-Z][\w|/ -]{2,60} TEST (?:from|to) ")
_KINDS = {
    "STREAM": ("STREAM", "out"), "UNIDIRECTIONAL SEND": ("STREAM", "out"), "MAERTS": ("MAERTS", "in"),
    "SENDFILE": ("SENDFILE", "out"), "REQUEST/RESPONSE": ("RR", ""), "CONNECT REQUEST/RESPONSE": ("CRR", ""),
    "Connect/Request/Response": ("CRR", ""), "Send": ("Send", "out"), "Recv": ("Recv", "in"),
    "Receive": ("Recv", "in"), "Send|Recv": ("RR", ""),
}  # fmt: skip
_STATISTICS = {
    "RT_LATENCY": "mean", "MEAN_LATENCY": "mean", "MIN_LATENCY": "min", "MAX_LATENCY": "max",
    "P50_LATENCY": "p50", "P90_LATENCY": "p90", "P99_LATENCY": "p99",
}  # fmt: skip
_WITH_DECIMALS = frozenset(("THROUGHPUT", "RT_LATENCY", "MEAN_LATENCY", "TRANSACTION_RATE"))
_CUT = re.compile(r"[0-9]+(?:\.[0-9]?)?")
"""A number with fewer decimals than these keys have."""
_KEY_OF_NAME = {
    "Throughput": "THROUGHPUT", "Throughput Units": "THROUGHPUT_UNITS", "Protocol": "PROTOCOL",
    "Direction": "DIRECTION", "Round Trip Latency usec/tran": "RT_LATENCY",
    "Mean Latency Microseconds": "MEAN_LATENCY", "Minimum Latency Microseconds": "MIN_LATENCY",
    "Maximum Latency Microseconds": "MAX_LATENCY", "50th Percentile Latency Microseconds": "P50_LATENCY",
    "90th Percentile Latency Microseconds": "P90_LATENCY", "99th Percentile Latency Microseconds": "P99_LATENCY",
    "Transaction Rate Tran/s": "TRANSACTION_RATE",
}  # fmt: skip
_UNITS = {
    **{f"10^{power}bits": 10.0**power / 8 for power in (3, 6, 9)},
    **{f"{letter}Bytes": 1024.0 ** (power + 1) for power, letter in enumerate("KMG")},
}


def refuse_complaint(lines: Iterable[str]) -> None:
    """Raise ProbeOutputError with the first of ``lines`` in which netperf says that it failed."""
    refuse_lines(_COMPLAINT, lines, "a run without error")


def parse_text(text: str, argv: Sequence[str] = ()) -> Sequence[Reading]:
    """Every reading of every result in ``text``; ProbeOutputError when one failed or none is whole.

    ``argv`` is the command that printed it, where somebody said it.
    """
    found = tuple(number_runs(read_run(add_headings(read_lines(text, LONGEST), argv))))
    if not found:
        raise ProbeOutputError(
            "no result with its unit",
            "netperf's table with its headings, its keys and values, or the command of a bare row",
        )
    return found


def read_run(lines: Sequence[str], **marks: str) -> Iterator[Reading]:
    """The readings of whole ``lines``, each labelled with ``marks`` too."""
    refuse_complaint(lines)
    run = _NetperfRun(marks)
    for line in filter(None, lines):
        begun = _begin_run(line, marks)
        if begun is None:
            yield from run.read_line(line)
        run = begun or run


def _begin_run(line: str, marks: Mapping[str, str]) -> "_NetperfRun | None":
    """The run that the banner ``line`` begins; None for any other line."""
    run = _NetperfRun(marks, begun=True, columns=[])
    if banner := _BANNER.search(line):
        kind, run.direction = _KINDS[banner["kind"]]
        run.test, run.answered = f"{banner['protocol']}_{kind}", kind.endswith("RR")
        run.protocol = banner["protocol"].lower()
        if banner["protocol"] == "OMNI":
            run.test, run.protocol = "omni", ""
        found = ((name, match) for pattern, name in _SETTINGS if (match := pattern.search(line)))
        run.settings = {name: match[1] if match.re.groups else "1" for name, match in found}
    return run if banner or _OTHER_BANNER.match(line) else None


@dataclass(slots=True)
class _NetperfRun:
    """One line after the other. A heading begins a table, a key that comes again the next result.

    ``csv`` are the names of a line, ``columns`` the lines of a heading, None outside.
    """

    marks: Mapping[str, str]
    begun: bool = False
    protocol: str = ""
    test: str = ""
    answered: bool = False
    direction: str = ""
    heading: re.Match[str] | None = None
    sent: int | None = None
    csv: tuple[str, ...] = ()
    columns: list[str] | None = None
    keys: dict[str, str] = field(default_factory=dict)
    seen: set[tuple[str, Labels]] = field(default_factory=set)
    sizes: dict[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    done: tuple[re.Pattern[str], ...] = ()
    """The rows of the table that has ended."""

    def read_line(self, line: str) -> Iterator[Reading]:
        if heading := next((match for each in _ROWS if (match := each.match(line))), None):
            if self.heading is not None:
                raise ProbeOutputError(f"{shorten(line)} below another heading", "one table after the other")
            # complaints of netperf stand between the banner and the table, and each has a banner of its own
            self.heading, self.sent, self.done = heading if self.begun else None, None, ()
        elif self.heading is not None and line.strip():
            yield from self._read_row(self.heading, line)
            if self.heading is None:
                self.begun = False
        elif any(row.match(line) for row in self.done):
            raise ProbeOutputError(f"{shorten(line)} behind a whole table", "one table after the other")
        elif pair := _KEY.match(line):
            yield from self._read_key(pair["key"], pair["value"].strip())
        else:
            for name, value in self._read_names(line):
                if name in _KEY_OF_NAME:
                    yield from self._read_key(_KEY_OF_NAME[name], value)

    def _make(self, name: str, value: float, unit: Unit, raw: str, **marks: str) -> Reading:
        told = {
            "protocol": self.protocol,
            "test": self.test,
            "direction": self.direction,
            **self.settings,
            **self.sizes,
        }
        known = {**told, **self.marks, **marks}
        return Reading(f"netperf.{name}", value, unit, known_labels(**known), shorten(raw))

    def _read_row(self, heading: re.Match[str], line: str) -> Iterator[Reading]:
        """The line behind a heading. Any other line ends the table: the next numbers may be another's."""
        kind, self.heading = heading.re, None
        row = (_ROWS[kind] if self.sent is None else _ARRIVED_ROW).match(line)
        if kind is _OMNI_HEADING:
            if row is None:
                self.heading = heading  # it has four lines, and its row a unit of its own
            else:
                names, cells = _OMNI_SIZES.get(" ".join(heading[0].split()[:-2]), {}), line.split()
                self.sizes |= {name: cells[place] for place, name in names.items() if cells[place].isdecimal()}
                yield from self._make_rate(row["rate"], row["unit"], line)
        elif row is None or bool(row["cpu"]) != bool(heading["cpu"]):
            return
        else:
            told = row.groupdict()
            self.sizes |= {name: told[name] for name in _SIZES if (told.get(name) or "-").isdecimal()}
            yield from self._read_numbers(heading, row, line)

    def _read_numbers(self, heading: re.Match[str], row: re.Match[str], line: str) -> Iterator[Reading]:
        """The readings of a row of a classic table; of UDP the first row is only what was sent."""
        kind = heading.re
        if kind is _REQUEST:
            self.done = (_ROWS[kind],)
            yield self._make_transactions(row["rate"], line)
        elif kind is _DATAGRAM and self.sent is None:
            self.heading, self.sent = heading, int(require_positive(row["count"], "messages sent"))
        else:
            self.done = (_ROWS[kind], _ARRIVED_ROW) if kind is _DATAGRAM else (_ROWS[kind],)
            yield self._make_throughput(row["rate"], heading["unit"], line)
            if self.sent is not None:
                yield self._make_loss(self.sent, int(row["count"]), "messages")

    def _make_throughput(self, number: str, unit: str, raw: str) -> Reading:
        value = require_positive(number, f"throughput in {shorten(raw)}") * _UNITS[unit]
        return self._make("throughput", value, Unit.BYTE_RATE, raw)

    def _make_transactions(self, number: str, raw: str) -> Reading:
        value = require_positive(number, f"transactions in {shorten(raw)}")
        return self._make("transactions", value, Unit.PER_SECOND, raw)

    def _make_loss(self, sent: int, arrived: int, what: str) -> Reading:
        raw = f"{arrived} of {sent} {what} arrived"
        if not 0 <= arrived <= sent:
            raise ProbeOutputError(raw, "a part of them")
        return self._make("loss", 1 - arrived / sent, Unit.ONE, raw)

    def _make_rate(self, number: str, unit: str, raw: str) -> Iterator[Reading]:
        bare = unit.removesuffix("/s")
        if bare == "Trans":
            yield self._make_transactions(number, raw)
        elif bare not in _UNITS:
            raise ProbeOutputError(shorten(f"unit {unit} of {raw}"), "one of Trans/s, " + ", ".join(_UNITS))
        elif not self.answered:  # of requests it would be both directions in one number
            yield self._make_throughput(number, bare, raw)

    def _read_names(self, line: str) -> Iterator[tuple[str, str]]:
        """Name and value of each number in a line of CSV, or below the lines of a heading in columns."""
        words = line.split(",")
        if self.csv and len(words) == len(self.csv):
            names, self.csv = self.csv, ()
            yield from ((name.strip(), value.strip()) for name, value in zip(names, words, strict=True))
            return
        if {"Throughput", "Throughput Units"} <= set(words):
            self.csv = tuple(words)
        cells = list(re.finditer(r"\S+", line))
        if not any(parse_decimal(cell[0]) is not None for cell in cells):
            if self.columns is not None:
                self.columns.append(line)
            return
        above, self.columns = self.columns or [], None
        for cell, after in zip_longest(cells, cells[1:]):
            start = cell.start()
            if not any(each[max(start - 1, 0) : start].strip() for each in above):
                parts = (each[start : after.start() if after else None] for each in above)
                yield " ".join(" ".join(parts).split()), cell[0]

    def _read_key(self, key: str, value: str) -> Iterator[Reading]:
        if self.keys.get(key) == value and next(reversed(self.keys)) == key:
            return  # the same line twice is not another result
        if key in self.keys:
            self.keys, self.seen, self.sizes = {}, set(), {}
        self.keys[key] = value
        if (name := _SIZE_OF_KEY.get((self.direction, key))) and value.isdecimal() and int(value):
            self.sizes[name] = value
        if key == "PROTOCOL":
            self.protocol = value.lower() if re.fullmatch("TCP|UDP|SCTP|DCCP", value) else self.protocol
        elif key == "DIRECTION":
            kind, self.direction = _KINDS.get(value, ("", self.direction))
            self.answered = self.answered or kind == "RR"
        for reading in self._make_known(key, value):
            if (reading.metric, reading.labels) not in self.seen:
                self.seen.add((reading.metric, reading.labels))
                yield reading

    def _make_known(self, key: str, value: str) -> Iterator[Reading]:
        """The readings that ``key`` completes with the keys before it."""
        keys, raw = self.keys, f"{key}={value}"
        if key in _WITH_DECIMALS and _CUT.fullmatch(value):
            return
        if keys.get("THROUGHPUT_UNITS") == "Trans/s" or (parse_decimal(keys.get("RT_LATENCY", "")) or 0) > 0:
            self.answered = True  # without it a latency is the time of a call, not of a round trip
        if self.answered and any(metric == "netperf.throughput" for metric, _ in self.seen):
            raise ProbeOutputError(f"{shorten(raw)} behind a rate of bytes", "requests that are named requests first")
        if key in ("THROUGHPUT", "THROUGHPUT_UNITS") and {"THROUGHPUT", "THROUGHPUT_UNITS"} <= keys.keys():
            rate, unit = keys["THROUGHPUT"], keys["THROUGHPUT_UNITS"]
            yield from self._make_rate(rate, unit, f"THROUGHPUT={rate} {unit}")
        elif key == "TRANSACTION_RATE" and (parse_decimal(value) or 0) > 0:
            yield self._make_transactions(value, raw)
        elif key == "MEAN_LATENCY" and "TRANSACTION_RATE" in keys:
            return  # among all keys the mean is RT_LATENCY, and that one may be lost
        elif key in _STATISTICS and (self.answered or key == "RT_LATENCY") and (parse_decimal(value) or 0) > 0:
            latency = require_positive(value, key) * 1e-6
            yield self._make("latency", latency, Unit.SECOND, raw, statistic=_STATISTICS[key])
        elif key == ("REMOTE" if self.direction == "in" else "LOCAL") + "_TRANSPORT_RETRANS":
            if (count := parse_count(value)) is not None and self.protocol == "tcp" and self.direction:
                yield self._make("retransmits", float(count), Unit.ONE, raw)
        elif key == "REMOTE_BYTES_RECVD" and self.protocol == "udp" and self.direction == "out":
            sent, arrived = (parse_count(text, 10**15) for text in (keys.get("LOCAL_BYTES_SENT", ""), value))
            if sent and arrived is not None:
                yield self._make_loss(sent, arrived, "bytes")
