"""The observations of ``detector-stream``: when each frame was written, in microseconds after its deadline.

Negative is early. Frames that a stream gave up count as late. The grades, of the worst stream:

``stable``
    no frame was more than one period late: a detector with room for one image loses none.
``unusable``
    more than half of the frames were more than one period late, or fewer bytes came through than 90 % of what
    the detector makes: it would not help to wait.
``unstable``
    anything between.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from benchconsole.probes.api import Fact, Labels, ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.documents import Document, read_array
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import require_positive
from benchconsole.probes.tools.python.script_runner import read_count, read_results, read_word

LEAST_FRAMES = 10
"""Of a stream; fewer are no schedule."""
MOST_LATE = 0.5
LEAST_RATE = 0.9

_WORST = ("stable", "unstable", "unusable")


@dataclass(frozen=True, slots=True)
class ImageStream:
    """One stream. ``after`` is seconds after the deadline of each written frame, ``period`` seconds between them."""

    number: int
    frames: int
    size: int
    period: float
    after: tuple[float, ...]
    wakeup: float

    @property
    def seconds(self) -> float:
        """From the start until its last frame was written, but no less than the detector took to make them."""
        return len(self.after) * self.period + max(0.0, self.after[-1])

    @property
    def rate(self) -> float:
        """byte/s that came through; what the detector makes at most."""
        return len(self.after) * self.size / self.seconds

    @property
    def lost(self) -> int:
        """Frames that were given up."""
        return self.frames - len(self.after)

    @property
    def misses(self) -> float:
        """Share of frames that were not written by their deadline."""
        return (sum(each > 0 for each in self.after) + self.lost) / self.frames

    @property
    def late(self) -> float:
        """Share of frames that were not written one period after their deadline."""
        return (sum(each > self.period for each in self.after) + self.lost) / self.frames

    @property
    def lateness(self) -> float:
        """The longest time after a deadline of a frame that was written."""
        return max(0.0, *self.after)

    @property
    def longest(self) -> int:
        """Misses in a row, at most."""
        missed = [each > 0 for each in self.after] + [True] * self.lost
        return max((sum(1 for _ in run) for is_miss, run in groupby(missed) if is_miss), default=0)

    @property
    def grade(self) -> str:
        if self.late > MOST_LATE or self.rate < LEAST_RATE * self.size / self.period:
            return "unusable"
        return "unstable" if self.late else "stable"


def make_readings(document: Document) -> Sequence[Reading | Fact]:
    """Every reading, and the grade of the test. ProbeOutputError when the document contradicts itself."""
    streams = _streams(document)
    marks = {
        "frames": streams[0].frames,
        "size": streams[0].size,
        "hertz": f"{1 / streams[0].period:g}",
        "streams": len(streams),
        "layout": read_word(document, "layout", ("files", "appended")),
        "sync": read_word(document, "sync", ("frame", "end")),
    }
    total = sum(each.size * len(each.after) for each in streams) / max(each.seconds for each in streams)
    grade = max((each.grade for each in streams), key=_WORST.index)
    common = labels(**marks)
    raw = f"{sum(len(each.after) for each in streams)} frames of {streams[0].size} bytes"
    all_together = Reading("detector-stream.throughput", total, Unit.BYTE_RATE, common, raw)
    each_alone = (one for each in streams for one in _readings(each, labels(**marks, stream=each.number)))
    return (all_together, *each_alone, Fact("detector-stream.grade", grade, None, common))


def _readings(stream: ImageStream, marks: Labels) -> Iterator[Reading]:
    written = f"{len(stream.after)} of {stream.frames} frames"
    times = f"finished_us of stream {stream.number}: {written}, the last at {stream.after[-1] * 1e6:.0f}"
    for name, value, unit in (
        ("rate", stream.rate, Unit.BYTE_RATE),
        ("misses", stream.misses, Unit.ONE),
        ("late", stream.late, Unit.ONE),
        ("lateness", stream.lateness, Unit.SECOND),
        ("longest", float(stream.longest), Unit.ONE),
    ):
        yield Reading(f"detector-stream.{name}", value, unit, marks, times)
    wakeup = f"wakeup_us of stream {stream.number}: {stream.wakeup * 1e6:.0f}"
    yield Reading("detector-stream.wakeup", stream.wakeup, Unit.SECOND, marks, wakeup)


def _streams(document: Document) -> list[ImageStream]:
    frames, size = read_count(document, "frames", least=LEAST_FRAMES), read_count(document, "size")
    period = 1 / require_positive(document.get("rate"), "rate", most=1e6)
    made = []
    for number, each in read_results(document, read_count(document, "streams", most=1000)):
        after = _times(each, frames, period)
        wakeup = read_count(each, "wakeup_us", least=0) / 1e6
        made.append(ImageStream(number, frames, size, period, after, wakeup))
    return made


def _times(each: Document, frames: int, period: float) -> tuple[float, ...]:
    """Seconds after each deadline. A stream writes one frame after the other, and none before it is there."""
    times = read_array(each.get("finished_us"))
    if not 1 <= len(times) <= frames:
        raise ProbeOutputError(f"times of {len(times)} frames", f"of 1 to {frames}")
    if not all(isinstance(one, int) and not isinstance(one, bool) and abs(one) < 10**12 for one in times):
        raise ProbeOutputError(shorten(str(times)), "microseconds as whole numbers")
    after = tuple(one / 1e6 for one in times if isinstance(one, int))
    if min(after) < -period - 2e-6 or any(later - sooner < -period - 2e-6 for sooner, later in pairwise(after)):
        raise ProbeOutputError("a frame written before it was there, or before the one in front", "them in order")
    return after
