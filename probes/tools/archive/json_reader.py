"""Reader of the document of ``archive``: for each transfer ``[microseconds, bytes so far]`` by the receiver's clock.

The rate of a transfer is from its first sample to its last. The sum is over the time in which every transfer ran,
from the last first sample to the first last one, with straight lines between samples. Transfers that ran together for
less than a quarter of a second only filled buffers: they are refused.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.documents import Document, read_array
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.tools.python.script_runner import find_cache_label, read_count, read_results, read_word

SOURCES = ("memory", "files")
SINKS = ("discard", "files")

LEAST_TOGETHER = 250_000
"""Microseconds."""


@dataclass(frozen=True, slots=True)
class ArchiveTransfer:
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


def parse_document(document: Document) -> Sequence[Reading]:
    """Every reading, the sum first. ProbeOutputError when the document contradicts itself."""
    size, source = read_count(document, "size"), read_word(document, "source", SOURCES)
    each = list(read_results(document, read_count(document, "streams", most=1000)))
    transfers = [_read_transfer(one, size) for _, one in each]
    sink = read_word(document, "sink", SINKS)
    marks = {"direction": "out", "streams": len(transfers), "size": size, "source": source, "sink": sink}
    if source == "files":
        marks["cache"] = find_cache_label([(one, read_count(one, "sent")) for _, one in each])
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


def _sum_transfers(transfers: Sequence[ArchiveTransfer]) -> tuple[float, int]:
    """byte/s of all transfers while all of them ran, and how many microseconds that was."""
    begin, end = max(one.at[0] for one in transfers), min(one.at[-1] for one in transfers)
    if end - begin < LEAST_TOGETHER:
        found = f"transfers that ran together for {max(0, end - begin)} us"
        raise ProbeOutputError(found, f"{LEAST_TOGETHER} us or more: a larger size, or more seconds")
    moved = sum(one.by(end) - one.by(begin) for one in transfers)
    if moved <= 0:
        raise ProbeOutputError("nothing moved while all transfers ran", "a larger size, or more seconds")
    return moved / (end - begin) * 1e6, end - begin


def _read_transfer(one: Document, size: int) -> ArchiveTransfer:
    sent = read_count(one, "sent", most=size)
    pairs = [read_array(pair) for pair in read_array(one.get("samples"))]
    numbers = [tuple(part for part in pair if isinstance(part, int) and not isinstance(part, bool)) for pair in pairs]
    if len(numbers) < 2 or any(len(pair) != 2 for pair in (*pairs, *numbers)):
        raise ProbeOutputError(f"{len(pairs)} samples, {shorten(str(pairs[:2]))}", "two or more of time and bytes")
    at, held = tuple(pair[0] for pair in numbers), tuple(pair[1] for pair in numbers)
    if at[0] < 0 or at[-1] > 10**12 or any(later <= sooner for sooner, later in pairwise(at)):
        raise ProbeOutputError("samples that go back in time", "samples in order")
    if held[0] < 0 or any(later < sooner for sooner, later in pairwise(held)) or not held[0] < held[-1] == sent:
        raise ProbeOutputError(f"samples to {held[-1]} bytes of {sent}", "samples that grow to what was sent")
    return ArchiveTransfer(at, held)
