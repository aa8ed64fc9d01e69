"""The pair probe ``archive``: files moved to the peer over so many TCP connections at once, as by parallel ftp.

The receiver counts: bytes that it threw away, or that it has on its disk (``sink: files``, in portions of 16 MiB). It
samples each transfer by its own clock, so that the sum is over the time in which all of them ran: from the last first
sample to the first last one, with straight lines between samples. The receiver drops connections that do not know the
word of the test.
"""

import secrets
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import (
    Comparator,
    Contact,
    Demands,
    Given,
    Metric,
    Output,
    Part,
    ProbeOutputError,
    Reading,
    RemoteError,
    SendingOptions,
    Shown,
    Target,
    Unit,
    labels,
)
from benchconsole.probes.readers.documents import Document, read_array
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.serving import serving
from benchconsole.probes.tools.archive import transfer_lines
from benchconsole.probes.tools.archive.node_script import RECEIVER, SENDER
from benchconsole.probes.tools.files.node_directory import SCRATCH, take_shared_space
from benchconsole.probes.tools.network.pair_probe import PairProbe
from benchconsole.probes.tools.python import script_runner

_START = 4.0
_IDLE = 60.0
"""Seconds without a byte after which either end gives up."""
_SIZES = (2**20, 2**44)
"""The least and the most that one transfer moves."""
_SOURCES = ("memory", "files")
_SINKS = ("discard", "files")
_LEAST_TOGETHER = 250_000
"""Microseconds; transfers that ran together for less only filled buffers."""


@dataclass(frozen=True, slots=True)
class _Transfer:
    """One transfer: ``at`` are microseconds that only go forward, ``held`` the bytes that were there by then."""

    at: tuple[int, ...]
    held: tuple[int, ...]

    @property
    def rate(self) -> float:
        """byte/s from its first sample to its last."""
        return (self.held[-1] - self.held[0]) / (self.at[-1] - self.at[0]) * 1e6

    def by(self, moment: int) -> float:
        """Bytes that were there at ``moment``, which lies between its first sample and its last."""
        after = bisect_left(self.at, moment)
        if self.at[after] == moment:
            return float(self.held[after])
        begin, end = self.at[after - 1], self.at[after]
        gained = (self.held[after] - self.held[after - 1]) * (moment - begin) / (end - begin)
        return self.held[after - 1] + gained


class Archive(PairProbe):
    """Options: ``streams`` (transfers at once), ``size`` of each, ``seconds`` after which they end at the latest;
    ``source`` memory or files (made first, read from where they lie) and ``sink`` discard or files; ``scratch`` for
    those, ``shared`` and ``python``.
    """

    name = "archive"
    label_names = frozenset(("cache", "direction", "sink", "size", "source", "stream", "streams", "tool"))
    summary = "Files moved to another node over several connections at once, their rates summed"
    source = "LLNL Lustre milestone, parallel ftp to the archive"
    metrics = (
        Metric("archive.throughput", Unit.BYTE_RATE, "all transfers while all of them ran", Shown.STORAGE),
        Metric("archive.transfer", Unit.BYTE_RATE, "one transfer, as the receiver counts it", Shown.STORAGE),
        Metric(
            "archive.spread",
            Unit.ONE,
            "rate of the fastest transfer over that of the slowest",
            sense=Comparator.AT_MOST,
        ),
    )
    tools = MappingProxyType({"python3": "python3"})
    versions = MappingProxyType({"python3": script_runner.LEAST_PYTHON})
    options = MappingProxyType(
        {
            "streams": 9, "size": "1 GiB", "seconds": 10, "source": "memory", "sink": "discard", "scratch": SCRATCH,
            "shared": "", "python": "python3",
        }
    )  # fmt: skip
    sending_options = SendingOptions(streams="streams")

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the transfers at most, and to make the files that they come from, at 100 MB/s."""
        given = self.given(options)
        made = _count_bytes(given) / script_runner.ASSUMED if _reads_files(given) else 0.0
        return given.number("seconds", 1.0) + made + _START

    def space(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return _count_bytes(given) if _reads_files(given) or _writes_files(given) else 0.0

    def demands(self, target: Target) -> Demands:
        """The disks where there are files, and what is written; the NICs are the design's affair."""
        given = self.given(target.options)
        written = _count_bytes(given) * (_reads_files(given) + _writes_files(given))
        if not written:
            return Demands()
        return Demands(frozenset((Part.DISK,)), take_shared_space(given.text("shared"), written), written)

    def sender(self, target: Target, port: int, *, word: str, gate: str = "") -> list[str]:
        given, peer = self.given(target.options), self.peer(target).data_address
        limits = (given.whole("streams", 1, 64), given.size("size", *_SIZES), given.number("seconds", 1.0))
        ends = (peer, target.node.data_address, _IDLE, given.text("sink"))
        words = map(str, (*limits, int(_reads_files(given)), port, word, *ends))
        argv = script_runner.make_command(given.text("python"), SENDER, *words, gate=gate)
        return _wrap_in_scratch(given, argv) if _reads_files(given) else argv

    def receiver(self, target: Target, port: int, *, word: str, idle: float) -> list[str]:
        """The command that receives once, and ends after ``idle`` seconds without a sender."""
        given = self.given(target.options)
        numbers = (given.whole("streams", 1, 64), int(_writes_files(given)), port)
        words = (*numbers, word, self.peer(target).data_address, idle, _IDLE)
        argv = script_runner.make_command(given.text("python"), RECEIVER, *map(str, words))
        return _wrap_in_scratch(given, argv) if _writes_files(given) else argv

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Start the receiver, prepare and connect, wait for the round, send; what the sender says holds both ends."""
        given, word, gate = self.given(target.options), secrets.token_hex(16), script_runner.draw_gate()
        limit = 60.0 + given.number("seconds", 1.0) + _IDLE + self.space(target.options) / script_runner.SLOWEST
        python = given.text("python")
        self.sender(target, 1, word=word)

        def receiver(port: int) -> list[str]:
            return self.receiver(target, port, word=word, idle=limit)

        try:
            async with serving(contact.there, receiver, timeout=2 * limit + 30.0) as (port, _):
                argv = self.sender(target, port, word=word, gate=gate)
                return (await script_runner.run_released(contact, argv, python=python, gate=gate, timeout=limit),)
        except RemoteError as error:
            if error.output is not None:
                scratch.heed(error.output, error.failure.node)
            raise

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read what our sender says, or the line of a program that somebody moved a file with."""
        refuse_failed(output, self.name)
        if told := transfer_lines.read_transfer(f"{output.text}{output.error_text}"):
            return told
        return _read_readings(script_runner.read_document(output, self.name))


def _count_bytes(given: Given) -> float:
    return float(given.whole("streams", 1, 64) * given.size("size", *_SIZES))


def _reads_files(given: Given) -> bool:
    return given.choice("source", _SOURCES) == "files"


def _writes_files(given: Given) -> bool:
    return given.choice("sink", _SINKS) == "files"


def _wrap_in_scratch(given: Given, argv: Sequence[str]) -> list[str]:
    files = given.whole("streams", 1, 64) + 16
    return script_runner.wrap_in_scratch(argv, given.text("scratch"), size=int(_count_bytes(given)), files=files)


def _read_readings(document: Document) -> Sequence[Reading]:
    """Every reading, the sum first. ProbeOutputError when the document contradicts itself."""
    size, source = script_runner.read_count(document, "size"), script_runner.read_word(document, "source", _SOURCES)
    each = list(script_runner.read_results(document, script_runner.read_count(document, "streams", most=1000)))
    transfers = [_read_transfer(one, size) for _, one in each]
    sink = script_runner.read_word(document, "sink", _SINKS)
    marks = {"direction": "out", "streams": len(transfers), "size": size, "source": source, "sink": sink}
    if source == "files":
        marks["cache"] = script_runner.find_cache_label(
            [(one, script_runner.read_count(one, "sent")) for _, one in each]
        )
    rate, window = _sum_transfers(transfers)
    found = [Reading("archive.throughput", rate, Unit.BYTE_RATE, labels(**marks), f"all of them for {window} us")]
    for number, one in enumerate(transfers, 1):
        raw = f"transfer {number}: {one.held[-1] - one.held[0]} bytes in {one.at[-1] - one.at[0]} us"
        found.append(Reading("archive.transfer", one.rate, Unit.BYTE_RATE, labels(**marks, stream=number), raw))
    if len(transfers) > 1:
        rates = [one.rate for one in transfers]
        raw = f"{max(rates):.0f} B/s over {min(rates):.0f} B/s"
        found.append(Reading("archive.spread", max(rates) / min(rates), Unit.ONE, labels(**marks), raw))
    return found


def _sum_transfers(transfers: Sequence[_Transfer]) -> tuple[float, int]:
    """byte/s of all transfers while all of them ran, and how many microseconds that was."""
    begin, end = max(one.at[0] for one in transfers), min(one.at[-1] for one in transfers)
    if end - begin < _LEAST_TOGETHER:
        found = f"transfers that ran together for {max(0, end - begin)} us"
        raise ProbeOutputError(found, f"{_LEAST_TOGETHER} us or more: a larger size, or more seconds")
    moved = sum(one.by(end) - one.by(begin) for one in transfers)
    if moved <= 0:
        raise ProbeOutputError("nothing moved while all transfers ran", "a larger size, or more seconds")
    return moved / (end - begin) * 1e6, end - begin


def _read_transfer(one: Document, size: int) -> _Transfer:
    sent = script_runner.read_count(one, "sent", most=size)
    pairs = [read_array(pair) for pair in read_array(one.get("samples"))]
    numbers = [tuple(part for part in pair if isinstance(part, int) and not isinstance(part, bool)) for pair in pairs]
    if len(numbers) < 2 or any(len(pair) != 2 for pair in (*pairs, *numbers)):
        raise ProbeOutputError(f"{len(pairs)} samples, {shorten(str(pairs[:2]))}", "two or more of time and bytes")
    at, held = tuple(pair[0] for pair in numbers), tuple(pair[1] for pair in numbers)
    if at[0] < 0 or at[-1] > 10**12 or any(later <= sooner for sooner, later in pairwise(at)):
        raise ProbeOutputError("samples that go back in time", "samples in order")
    if held[0] < 0 or any(later < sooner for sooner, later in pairwise(held)) or not held[0] < held[-1] == sent:
        raise ProbeOutputError(f"samples to {held[-1]} bytes of {sent}", "samples that grow to what was sent")
    return _Transfer(at, held)
