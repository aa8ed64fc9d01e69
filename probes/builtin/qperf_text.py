"""Reads what qperf prints, versions 0.4.0 to 0.4.11: blocks of ``name = value unit`` below the name of a test.

Units are powers of 1000 and each value has its own; with ``-ub`` rates are bits, with ``-uu`` everything is in the
smallest unit. Of UDP only recv_bw arrived. Refuses units it does not know, and what says that qperf failed.

A size that comes after its number is a label only where the number's own line shows that more lines follow: qperf
pads all names of a block alike, so that a block cut short is known by names that are too short.
Formats read off qperf.c (show_info, view_band, view_time, view_rate, place_show).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import one_line, positive, told_apart, whole_lines

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

_LONGEST = 400
"""Characters of a line that are looked at; qperf's are shorter."""

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HEADING = re.compile(r"\s*(?P<test>[a-z][a-z0-9_]{2,40}):\s*$")
_VALUE = re.compile(
    r"\s*(?P<name>[a-z][a-z0-9_]{1,40})(?P<pad> *)  = +(?P<number>\S+)(?: (?P<unit>[^(]*?))?(?: \([0-9,]+\))?\s*$"
)
_SQUEEZED = re.compile(r"\s*(?P<name>bw|send_bw|recv_bw|latency|msg_rate) ?= ?(?P<number>\S+) (?P<unit>[^\s=]+)\s*$")
_NUMBER = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,16})(?:\.[0-9]{1,12})?")
_COMPLAINT = re.compile(
    r"(?:[\w.:%-]+: )?(?:[Ff]ailed to \w|unable to \w|cannot \w|could not make|synchronize \w+ failure|internal error: "
    r"|mismatch, sequence|unexpected event|\w+ failed(?:: |$)|CQ poll failed"
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
_TOLD = {
    "_bw": ("bw", "send_bw", "recv_bw", "msg_rate"), "_lat": ("latency", "msg_rate"), "_mr": ("msg_rate",),
}  # fmt: skip
"""What the tests of a kind measure, by the end of their names."""
_AMBIGUOUS = len("msg_rate")
"""Width at which ``-vs`` and ``-vs -vu`` cannot be told apart once the block is cut behind its rate."""


def complaint(text: str) -> None:
    """Raise ProbeOutputError when qperf says in ``text`` that it failed."""
    for line in text.splitlines():
        if _COMPLAINT.match(_COLOUR.sub("", line[:_LONGEST])):
            raise ProbeOutputError(one_line(line), "a run without error")


def readings(text: str) -> Sequence[Reading]:
    """Every reading of every test in ``text``; ProbeOutputError when one failed or none is whole."""
    complaint(text)
    found = [reading for block in _blocks(whole_lines(text)) for reading in block.readings()]
    if not found:
        raise ProbeOutputError("no result of a test", "qperf's name of a test with bw, recv_bw, latency or msg_rate")
    return tuple(told_apart(found))


@dataclass(frozen=True, slots=True)
class _Line:
    """``name = number unit``; ``width`` is that of the names of its block, 0 where it is not known."""

    name: str
    number: str
    unit: str
    width: int
    raw: str


@dataclass(slots=True)
class _Block:
    """What stands below the name of one test."""

    test: str
    lines: list[_Line] = field(default_factory=list)

    def readings(self) -> Iterator[Reading]:
        """Its numbers, when it goes on to the longest of its names."""
        width = max((line.width for line in self.lines), default=0)
        if any(line.width not in (0, width) for line in self.lines):
            raise ProbeOutputError(f"names of unlike width below {self.test}", "the lines of one test of qperf")
        measured = [line.name for line in self.lines if line.name in _METRICS]
        own = next(names for end, names in _TOLD.items() if self.test.endswith(end))
        if len(set(measured)) < len(measured) or not set(measured) <= set(own):
            raise ProbeOutputError(f"{', '.join(measured)} below {self.test}", "the lines of one test of qperf")
        if width and all(len(line.name) < width for line in self.lines):
            return
        marks = self._labels(width)
        for line in self.lines:
            if line.name in _METRICS:
                yield _reading(line, marks)

    def _labels(self, width: int) -> Labels:
        marks: dict[str, object] = {"test": self.test}
        if self.test in _BOTH_WAYS:
            marks["direction"] = "both"
        elif self.test.endswith("_bw"):
            marks["direction"] = "in" if "_read_" in self.test else "out"
        size = next((line for line in self.lines if line.name == "msg_size"), None)
        both = width == _AMBIGUOUS and any(line.name == "msg_rate" for line in self.lines)
        if size is not None and width and not both:
            marks["size"] = f"{_value(size, _SIZE):.0f}"
        return labels(**marks)


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    block: _Block | None = None
    for raw in lines:
        line = _COLOUR.sub("", raw[:_LONGEST])
        if heading := _HEADING.match(line):
            if block is not None:
                yield block
            block = _Block(heading["test"]) if heading["test"] in TESTS else None
        elif block is not None and (parsed := _line(line)):
            block.lines.append(parsed)
    if block is not None:
        yield block


def _line(line: str) -> _Line | None:
    if match := _VALUE.match(line):
        width = len(match["name"]) + len(match["pad"])
        return _Line(match["name"], match["number"], (match["unit"] or "").strip(), width, one_line(line))
    if match := _SQUEEZED.match(line):
        return _Line(match["name"], match["number"], match["unit"], 0, one_line(line))
    return None


def _reading(line: _Line, marks: Labels) -> Reading:
    metric, unit, factors = _METRICS[line.name]
    value = positive(_value(line, factors), line.raw)
    return Reading(metric, value, unit, marks, line.raw)


def _value(line: _Line, factors: Mapping[str, float]) -> float:
    """In base units. Commas separate thousands: qperf never asks for the user's language."""
    if line.unit not in factors:
        raise ProbeOutputError(f"unit of {line.raw!r}", "one of " + ", ".join(factors))
    if not _NUMBER.fullmatch(line.number):
        raise ProbeOutputError(line.raw, "a number")
    return float(line.number.replace(",", "")) * factors[line.unit]
