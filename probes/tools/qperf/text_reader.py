"""Reader of qperf 0.4.0 to 0.4.11: blocks of ``name = value unit`` below the name of a test.

Units are powers of 1000 and each value has its own; with ``-ub`` rates are bits, with ``-uu`` everything is in the
smallest unit. Of UDP only recv_bw arrived.

A size that comes after its number is a label only where the number's own line shows that more lines follow: qperf
pads all names of a block alike, so that a block cut short is known by names that are too short.
Formats read off qperf.c (show_info, view_band, view_time, view_rate, place_show).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from benchconsole.probes.api import ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import read_lines, refuse_lines, shorten, split_lines
from benchconsole.probes.readers.numbers import require_positive
from benchconsole.probes.readers.readings import known_labels, number_runs

_ONE_WAY = ("tcp_bw", "udp_bw", "sdp_bw", "rds_bw", "sctp_bw", "rc_bw", "uc_bw", "ud_bw", "xrc_bw")
_LATENCY = ("tcp_lat", "udp_lat", "sdp_lat", "rds_lat", "sctp_lat", "rc_lat", "uc_lat", "ud_lat", "xrc_lat")
_BOTH_WAYS = ("rc_bi_bw", "uc_bi_bw", "ud_bi_bw", "xrc_bi_bw")
_RDMA = (
    "rc_rdma_read_bw", "rc_rdma_read_lat", "rc_rdma_write_bw", "rc_rdma_write_lat", "rc_rdma_write_poll_lat",
    "uc_rdma_write_bw", "uc_rdma_write_lat", "uc_rdma_write_poll_lat",
)  # fmt: skip
_ATOMIC = ("rc_compare_swap_mr", "rc_fetch_add_mr")
TESTS = frozenset((*_ONE_WAY, *_LATENCY, *_BOTH_WAYS, *_RDMA, *_ATOMIC))
"""Every test of qperf that measures."""

_64K = frozenset(("tcp_bw", "rc_bw", "uc_bw", "xrc_bw", "rc_bi_bw", "uc_bi_bw", "xrc_bi_bw")) | {
    name for name in _RDMA if name.endswith("_bw")
}
_ONE = ("tcp_lat", "udp_lat", "rc_lat", "uc_lat")
_DEFAULT_SIZES = MappingProxyType({**dict.fromkeys(_64K, "65536"), "udp_bw": "32768", **dict.fromkeys(_ONE, "1")})
"""Bytes of a message that a test has by itself (qperf 0.4.11, ``-vv`` and rdma.c); those of other tests are unknown."""

_LONGEST = 400
"""Characters of a line that are looked at; qperf's are shorter."""

_HEADING = re.compile(r"\s*(?P<test>[a-z][a-z0-9_]{2,40}):\s*$")
_VALUE = re.compile(
    r"\s*(?P<name>[a-z][a-z0-9_]{1,40})(?P<pad> *)  = +(?P<number>\S+)(?: (?P<unit>[^(]*?))?(?: \([0-9,]+\))?\s*$"
)
_SQUEEZED = re.compile(r"\s*(?P<name>bw|send_bw|recv_bw|latency|msg_rate) ?= ?(?P<number>\S+) (?P<unit>[^\s=]+)\s*$")
_NUMBER = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,16})(?:\.[0-9]{1,12})?")
_COMPLAINT = re.compile(
    r"^(?:[\w.:%-]+: )?(?:[Ff]ailed to \w|unable to \w|cannot \w|could not make|synchronize \w+ failure"
    r"|internal error: |mismatch, sequence|unexpected event|\w+ failed(?:: |$)|CQ poll failed"
    r"|.{0,80}: bad (?:test|option|argument|size))"
)

_PREFIXES = ("", "K", "M", "G", "T")
_BAND = {f"{letter or 'bytes'}{'B' if letter else ''}/sec": 1000.0**power for power, letter in enumerate(_PREFIXES)}
_BITS = {f"{letter or 'bits'}{'b' if letter else ''}/sec": 1000.0**power / 8 for power, letter in enumerate(_PREFIXES)}
_RATE = {f"{letter}/sec": 1000.0**power for power, letter in enumerate(_PREFIXES)}
_TIME = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "sec": 1.0}
_SIZE = {
    **{"bytes" if not letter else f"{letter}B": 1000 ** power for power, letter in enumerate(_PREFIXES)},
    **{f"{letter}iB": 1024 ** power for power, letter in enumerate(_PREFIXES) if letter},
}  # fmt: skip

_METRICS: Mapping[str, tuple[str, Unit, Mapping[str, float]]] = {
    "bw": ("qperf.throughput", Unit.BYTE_RATE, {**_BAND, **_BITS}),
    "recv_bw": ("qperf.throughput", Unit.BYTE_RATE, {**_BAND, **_BITS}),
    "send_bw": ("qperf.sent", Unit.BYTE_RATE, {**_BAND, **_BITS}),
    "latency": ("qperf.latency", Unit.SECOND, _TIME),
    "msg_rate": ("qperf.messages", Unit.PER_SECOND, _RATE),
}
_MEASURED = {
    "_bw": ("bw", "send_bw", "recv_bw", "msg_rate"), "_lat": ("latency", "msg_rate"), "_mr": ("msg_rate",),
}  # fmt: skip
"""The names that tests of a kind measure, by the end of the name of the test."""
_AMBIGUOUS = len("msg_rate")
"""Width at which ``-vs`` and ``-vs -vu`` cannot be told apart once the block is cut behind its rate."""


def parse_text(text: str, error_text: str = "", argv: Sequence[str] = ()) -> Sequence[Reading]:
    """Every reading of every test in ``text``, with what ``argv`` set or left at its default where it is known.

    ProbeOutputError when one failed or none is whole.
    """
    refuse_lines(_COMPLAINT, split_lines(f"{error_text}\n{text}", _LONGEST), "a run without error")
    blocks: list[tuple[str, list[_ValueLine]]] = []
    known = False
    for line in read_lines(text, _LONGEST):
        if heading := _HEADING.match(line):
            known = heading["test"] in TESTS
            blocks += [(heading["test"], [])] if known else []
        elif known and (value := _read_value(line)):
            blocks[-1][1].append(value)
    found = [reading for test, lines in blocks for reading in _make_readings(test, lines, _find_settings(argv, test))]
    if not found:
        raise ProbeOutputError("no result of a test", "qperf's name of a test with bw, recv_bw, latency or msg_rate")
    return tuple(number_runs(found))


@dataclass(frozen=True, slots=True)
class _ValueLine:
    """``name = number unit``; ``width`` is that of the names of its block, 0 where it is not known."""

    name: str
    number: str
    unit: str
    width: int
    raw: str

    def scale(self, factors: Mapping[str, float]) -> float:
        """The value in base units. Commas separate thousands: qperf never asks for the user's language."""
        if self.unit not in factors:
            raise ProbeOutputError(f"unit of {self.raw!r}", "one of " + ", ".join(factors))
        if not _NUMBER.fullmatch(self.number):
            raise ProbeOutputError(self.raw, "a number")
        return float(self.number.replace(",", "")) * factors[self.unit]


def _read_value(line: str) -> _ValueLine | None:
    if match := _VALUE.match(line):
        width = len(match["name"]) + len(match["pad"])
        return _ValueLine(match["name"], match["number"], (match["unit"] or "").strip(), width, shorten(line))
    if match := _SQUEEZED.match(line):
        return _ValueLine(match["name"], match["number"], match["unit"], 0, shorten(line))
    return None


def _find_settings(argv: Sequence[str], test: str) -> dict[str, str]:
    """Labels of a command of ours: seconds of each test, and the size of a message that a test has by itself."""
    if "qperf" not in argv[:-1]:  # a capture has the word alone; a client's command goes on with its server
        return {}
    told = dict(pairwise(argv))
    found = {"seconds": told["-t"]} if "-t" in told else {}
    size = told.get("-m") or _DEFAULT_SIZES.get(test)
    return found | ({"size": size} if size else {})


def _make_readings(test: str, lines: Sequence[_ValueLine], settings: Mapping[str, str]) -> Iterator[Reading]:
    """The numbers of a test, when its lines go on to the longest of their names."""
    width = max((line.width for line in lines), default=0)
    if any(line.width not in (0, width) for line in lines):
        raise ProbeOutputError(f"names of unlike width below {test}", "the lines of one test of qperf")
    measured = [line.name for line in lines if line.name in _METRICS]
    own = next(names for end, names in _MEASURED.items() if test.endswith(end))
    if len(set(measured)) < len(measured) or not set(measured) <= set(own):
        raise ProbeOutputError(f"{', '.join(measured)} below {test}", "the lines of one test of qperf")
    if width and all(len(line.name) < width for line in lines):
        return
    direction = "both" if test in _BOTH_WAYS else "in" if "_read_" in test else "out"
    size = next((line for line in lines if line.name == "msg_size"), None)
    ambiguous = width == _AMBIGUOUS and "msg_rate" in measured
    if size and width and not ambiguous:
        settings = {**settings, "size": f"{size.scale(_SIZE):.0f}"}
    marks = known_labels(test=test, direction=direction if test.endswith("_bw") else None, **settings)
    for line in lines:
        if line.name in _METRICS:
            metric, unit, factors = _METRICS[line.name]
            yield Reading(metric, require_positive(line.scale(factors), line.raw), unit, marks, line.raw)
