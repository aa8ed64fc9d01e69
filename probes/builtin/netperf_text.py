"""Reads what netperf prints, versions 2.1 to 2.7: the classic tables, and omni as table, CSV (``-o``) or keys (``-k``).

MBytes are 2^20 bytes and 10^6bits what they say, whichever ``-f`` chose; the unit stands in the heading, so a row
without its heading (``-P 0``) is refused, and so is a table without its banner, since complaints stand between them.
Of UDP the second row arrived, the first was only sent; omni's THROUGHPUT is what arrived. Latencies are round trips.
Refuses runs that netperf itself complains about.
Formats read off netperf 2.7.0 and its source (nettest_bsd.c, nettest_omni.c: send_omni).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import decimal, one_line, positive, told_apart, whole, whole_lines

_LONGEST = 400
"""Characters of a line that are looked at; netperf's tables are shorter."""

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COMPLAINT = re.compile(
    r"\s*(?:netperf: \S|netserver: \S|establish[ _]control\b|(?:send|recv)_\w+: |catcher: |shutdown_control: "
    r"|\w+: data (?:send|recv) error|!!! )"
)
_RATE = r"(?P<unit>10\^[369]bits|[KMG]Bytes) */s(?:ec)?"
_STREAM = re.compile(rf"\s*bytes +bytes +bytes +secs\. +{_RATE}\s*(?P<cpu>%.*)?$")
_DATAGRAM = re.compile(rf"\s*bytes +bytes +secs +# +# +{_RATE}\s*(?P<cpu>%.*)?$")
_REQUEST = re.compile(r"\s*bytes +[bB]ytes +bytes +bytes +secs\. +per sec\s*(?P<cpu>%.*)?$")
_OMNI_HEADING = re.compile(r"\S.* Throughput Throughput\s*$")
_OMNI_ROW = re.compile(r"\s*(?:-?[0-9.]+ +)+(?P<rate>[0-9.]+) +(?P<unit>(?:10\^[369]bits|[KMG]Bytes|Trans)/s)\s*$")
_KEY = re.compile(r"(?P<key>[A-Z][A-Z0-9_]{2,40})=(?P<value>.*)$")
_WHOLE, _REAL = r"-?[0-9]{1,15}", r"-?[0-9]{1,12}\.[0-9]{1,6}"
_STREAM_ROW = re.compile(rf"\s*(?:{_WHOLE} +){{3}}{_REAL} +(?P<rate>\S+)(?P<cpu>(?: +{_REAL}){{4}})?\s*$")
_SENT_ROW = re.compile(
    rf"\s*(?:{_WHOLE} +){{2}}{_REAL} +(?P<count>{_WHOLE}) +{_WHOLE} +\S+(?P<cpu>(?: +{_REAL}){{2}})?\s*$"
)
_ARRIVED_ROW = re.compile(rf"\s*{_WHOLE} +{_REAL} +(?P<count>{_WHOLE}) +(?P<rate>\S+)(?P<cpu>(?: +{_REAL}){{2}})?\s*$")
_REQUEST_ROW = re.compile(rf"\s*(?:{_WHOLE} +){{4}}{_REAL} +(?P<rate>\S+)(?P<cpu>(?: +{_REAL}){{4}})?\s*$")
_TABLES = {_STREAM: _STREAM_ROW, _DATAGRAM: _SENT_ROW, _REQUEST: _REQUEST_ROW, _OMNI_HEADING: _OMNI_ROW}
"""The pattern of a heading to that of its first row."""

_BANNER = re.compile(
    r"(?:MIGRATED )?(?P<protocol>TCP|UDP|SCTP|OMNI)(?:IPV6)? (?P<kind>STREAM|MAERTS|SENDFILE|UNIDIRECTIONAL SEND"
    r"|REQUEST/RESPONSE|CONNECT REQUEST/RESPONSE|Connect/Request/Response|Send\|Recv|Send|Recv|Receive)\s+TEST\b",
    re.ASCII,
)
_OTHER_BANNER = re.compile(r"(?:MIGRATED )?[A-Z][\w|/ -]{2,60} TEST (?:from|to) ")
_KINDS = {
    "STREAM": ("STREAM", "out"), "UNIDIRECTIONAL SEND": ("STREAM", "out"), "MAERTS": ("MAERTS", "in"),
    "SENDFILE": ("SENDFILE", "out"), "REQUEST/RESPONSE": ("RR", ""), "CONNECT REQUEST/RESPONSE": ("CRR", ""),
    "Connect/Request/Response": ("CRR", ""), "Send": ("Send", "out"), "Recv": ("Recv", "in"),
    "Receive": ("Recv", "in"), "Send|Recv": ("RR", ""),
}  # fmt: skip
_CSV = {
    "Throughput": "THROUGHPUT", "Throughput Units": "THROUGHPUT_UNITS", "Protocol": "PROTOCOL",
    "Direction": "DIRECTION", "Round Trip Latency usec/tran": "RT_LATENCY",
    "Mean Latency Microseconds": "MEAN_LATENCY", "Minimum Latency Microseconds": "MIN_LATENCY",
    "Maximum Latency Microseconds": "MAX_LATENCY", "50th Percentile Latency Microseconds": "P50_LATENCY",
    "90th Percentile Latency Microseconds": "P90_LATENCY", "99th Percentile Latency Microseconds": "P99_LATENCY",
    "Transaction Rate Tran/s": "TRANSACTION_RATE",
}  # fmt: skip
_STATISTICS = {
    "RT_LATENCY": "mean", "MEAN_LATENCY": "mean", "MIN_LATENCY": "min", "MAX_LATENCY": "max",
    "P50_LATENCY": "p50", "P90_LATENCY": "p90", "P99_LATENCY": "p99",
}  # fmt: skip
_UNITS = {
    **{f"10^{power}bits": 10.0**power / 8 for power in (3, 6, 9)},
    **{f"{letter}Bytes": 1024.0 ** (power + 1) for power, letter in enumerate("KMG")},
}


def complaint(text: str) -> None:
    """Raise ProbeOutputError when netperf says in ``text`` that it failed."""
    for line in filter(None, text.splitlines()):
        if _COMPLAINT.match(plain(line)):
            raise ProbeOutputError(one_line(line), "a run without error")


def readings(text: str) -> Sequence[Reading]:
    """Every reading of every result in ``text``; ProbeOutputError when one failed or none is whole."""
    found = tuple(told_apart(read(whole_lines(text))))
    if not found:
        raise ProbeOutputError("no result with its unit", "netperf's table with its headings, or its keys and values")
    return found


def plain(line: str) -> str:
    """``line`` without colours, and no longer than a line of netperf can be."""
    return _COLOUR.sub("", line[:_LONGEST])


def read(lines: Sequence[str], **marks: str) -> Iterator[Reading]:
    """The readings of whole ``lines``, each labelled with ``marks`` too."""
    complaint("\n".join(lines))
    reader = _Reader(marks)
    for line in filter(None, lines):
        yield from reader.take(plain(line))


@dataclass(slots=True)
class _Reader:
    """One line after the other. A banner begins a run, a heading its table, a key that comes again its next result."""

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
    told: set[tuple[str, Labels]] = field(default_factory=set)

    def take(self, line: str) -> Iterator[Reading]:
        """One line."""
        if banner := _BANNER.search(line):
            omni, (kind, self.direction) = banner["protocol"] == "OMNI", _KINDS[banner["kind"]]
            self.protocol = "" if omni else banner["protocol"].lower()
            self.test, self.answered = "omni" if omni else f"{banner['protocol']}_{kind}", kind.endswith("RR")
            self._begin()
        elif _OTHER_BANNER.match(line):
            self.protocol, self.test, self.answered, self.direction = "", "", False, ""
            self._begin()
        elif heading := next((found for each in _TABLES if (found := each.match(line))), None):
            # what netperf complains of stands between the banner and the table
            self.heading, self.sent = heading if self.begun else None, None
        elif self.heading is not None and line.strip():
            yield from self._row(self.heading, line)
        elif pair := _KEY.match(line):
            yield from self._key(pair["key"], pair["value"].strip())
        elif self.csv and line.count(",") == len(self.csv) - 1:
            names, self.csv = self.csv, ()
            for name, value in zip(names, line.split(","), strict=True):
                yield from self._key(_CSV[name.strip()], value.strip()) if name.strip() in _CSV else ()
        else:
            names = tuple(line.split(","))
            self.csv = names if {"Throughput", "Throughput Units"} <= set(names) else self.csv
            yield from self._column(line)

    def _begin(self) -> None:
        """Forget the run before."""
        self.begun = True
        self.heading, self.sent, self.csv, self.columns, self.keys, self.told = None, None, (), [], {}, set()

    @property
    def labels(self) -> dict[str, str]:
        """What is known of the run by now."""
        known = {"protocol": self.protocol, "test": self.test, "direction": self.direction, **self.marks}
        return {name: value for name, value in known.items() if value}

    # -- tables

    def _row(self, heading: re.Match[str], line: str) -> Iterator[Reading]:
        """The line behind a heading. What is no row of its table ends the table: the next numbers may be another's."""
        self.heading = None
        kind = heading.re
        row = _TABLES[kind].match(line)
        if kind is _DATAGRAM and self.sent is not None:
            row = _ARRIVED_ROW.match(line)
        if row is None and kind is _OMNI_HEADING:
            self.heading = heading  # its heading has four lines, and its row a unit of its own
        if row is None or (kind is not _OMNI_HEADING and bool(row["cpu"]) != bool(heading["cpu"])):
            return
        if kind is _OMNI_HEADING:
            yield from self._rate(row["rate"], row["unit"], line)
        elif kind is _REQUEST:
            yield self._transactions(row["rate"], line)
        elif kind is _STREAM:
            yield self._throughput(row["rate"], heading["unit"], line)
        elif self.sent is None:
            self.heading, self.sent = heading, int(positive(row["count"], "messages sent"))
        else:
            yield from self._arrived(row, heading["unit"], line)

    def _arrived(self, row: re.Match[str], unit: str, line: str) -> Iterator[Reading]:
        """The second row of a table of datagrams."""
        arrived, sent = whole(row["count"]), self.sent or 0
        if arrived is None or arrived > sent:
            raise ProbeOutputError(one_line(line), f"at most the {sent} messages received that were sent")
        yield self._throughput(row["rate"], unit, line)
        raw = f"{arrived} of {sent} messages arrived"
        yield Reading("netperf.loss", 1 - arrived / sent, Unit.ONE, labels(**self.labels), raw)

    def _throughput(self, number: str, unit: str, raw: str) -> Reading:
        value = positive(number, f"throughput in {one_line(raw)}") * _UNITS[unit]
        return Reading("netperf.throughput", value, Unit.BYTE_RATE, labels(**self.labels), one_line(raw))

    def _transactions(self, number: str, raw: str) -> Reading:
        value = positive(number, f"transactions in {one_line(raw)}")
        return Reading("netperf.transactions", value, Unit.PER_SECOND, labels(**self.labels), one_line(raw))

    def _rate(self, number: str, unit: str, raw: str) -> Iterator[Reading]:
        bare = unit.removesuffix("/s")
        if bare == "Trans":
            yield self._transactions(number, raw)
        elif bare in _UNITS and not self.answered:  # of requests it would be both directions in one number
            yield self._throughput(number, bare, raw)
        elif bare not in _UNITS:
            raise ProbeOutputError(one_line(f"unit {unit} of {raw}"), "one of Trans/s, " + ", ".join(_UNITS))

    def _column(self, line: str) -> Iterator[Reading]:
        """A line of the table that ``-O`` asks for: each name stands in as many lines as it needs above its value."""
        cells = list(re.finditer(r"\S+", line))
        if not any(decimal(cell[0]) is not None for cell in cells):
            if self.columns is not None:
                self.columns.append(line)
            return
        above, self.columns = self.columns or [], None
        for cell, after in zip_longest(cells, cells[1:]):
            start = cell.start()
            name = " ".join(" ".join(each[start : after.start() if after else None] for each in above).split())
            if name in _CSV and not any(each[max(start - 1, 0) : start].strip() for each in above):
                yield from self._key(_CSV[name], cell[0])

    # -- keys

    def _key(self, key: str, value: str) -> Iterator[Reading]:
        if self.keys.get(key) == value and next(reversed(self.keys)) == key:
            return  # the same line twice is not another result
        if key in self.keys:
            self.keys, self.told = {}, set()
        self.keys[key] = value
        if key == "PROTOCOL":
            self.protocol = value.lower() if re.fullmatch("TCP|UDP|SCTP|DCCP", value) else self.protocol
        elif key == "DIRECTION":
            kind, self.direction = _KINDS.get(value, ("", self.direction))
            self.answered = self.answered or kind == "RR"
        for reading in self._known(key, value):
            if (reading.metric, reading.labels) not in self.told:
                self.told.add((reading.metric, reading.labels))
                yield reading

    def _known(self, key: str, value: str) -> Iterator[Reading]:
        keys, raw = self.keys, f"{key}={value}"
        if keys.get("THROUGHPUT_UNITS") == "Trans/s" or (decimal(keys.get("RT_LATENCY", "")) or 0) > 0:
            self.answered = True  # without it a latency is the time of a call, not of a round trip
        if self.answered and any(metric == "netperf.throughput" for metric, _ in self.told):
            raise ProbeOutputError(
                f"{one_line(raw)} behind a rate of bytes", "requests that are said to be requests first"
            )
        if key in ("THROUGHPUT", "THROUGHPUT_UNITS") and {"THROUGHPUT", "THROUGHPUT_UNITS"} <= keys.keys():
            text = f"THROUGHPUT={keys['THROUGHPUT']} {keys['THROUGHPUT_UNITS']}"
            yield from self._rate(keys["THROUGHPUT"], keys["THROUGHPUT_UNITS"], text)
        elif key == "TRANSACTION_RATE" and (decimal(value) or 0) > 0:
            yield self._transactions(value, raw)
        elif key == "MEAN_LATENCY" and "TRANSACTION_RATE" in keys:
            return  # where all keys are told the mean is RT_LATENCY, and that one may be lost
        elif key in _STATISTICS and (self.answered or key == "RT_LATENCY") and (decimal(value) or 0) > 0:
            marks = labels(**self.labels, statistic=_STATISTICS[key])
            yield Reading("netperf.latency", positive(value, key) * 1e-6, Unit.SECOND, marks, raw)
        elif key == ("REMOTE" if self.direction == "in" else "LOCAL") + "_TRANSPORT_RETRANS":
            if (count := whole(value)) is not None and self.protocol == "tcp" and self.direction:
                yield Reading("netperf.retransmits", float(count), Unit.ONE, labels(**self.labels), raw)
        elif key == "REMOTE_BYTES_RECVD" and "LOCAL_BYTES_SENT" in keys and self.protocol == "udp":
            yield from self._lost(whole(keys["LOCAL_BYTES_SENT"], 10**15), whole(value, 10**15))

    def _lost(self, sent: int | None, arrived: int | None) -> Iterator[Reading]:
        if self.direction != "out" or not sent or arrived is None:
            return
        if arrived > sent:
            raise ProbeOutputError(f"{arrived} of {sent} bytes arrived", "a part of them")
        raw = f"{arrived} of {sent} bytes arrived"
        yield Reading("netperf.loss", 1 - arrived / sent, Unit.ONE, labels(**self.labels), raw)
