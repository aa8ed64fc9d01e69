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

from collections.abc import Sequence
from itertools import groupby, pairwise

from benchconsole.probes.api import Fact, ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.documents import Document, read_array
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import require_positive
from benchconsole.probes.tools.python.script_runner import read_count, read_results, read_word

LEAST_FRAMES = 10
"""Of a stream; fewer are no schedule."""
MOST_LATE = 0.5
LEAST_RATE = 0.9

_WORST = ("stable", "unstable", "unusable")


def make_readings(document: Document) -> Sequence[Reading | Fact]:
    """Every reading, and the grade of the test. ProbeOutputError when the document contradicts itself."""
    frames, size = read_count(document, "frames", least=LEAST_FRAMES), read_count(document, "size")
    period = 1 / require_positive(document.get("rate"), "rate", most=1e6)
    streams = read_count(document, "streams", most=1000)
    marks = {
        "frames": frames,
        "size": size,
        "hertz": f"{1 / period:g}",
        "streams": streams,
        "layout": read_word(document, "layout", ("files", "appended")),
        "sync": read_word(document, "sync", ("frame", "end")),
    }
    written, took, grades, found = 0, 0.0, [], []
    for number, each in read_results(document, streams):
        after = _read_times(each, frames, period)
        # until its last frame was written, but no less than the detector took to make them
        seconds = len(after) * period + max(0.0, after[-1])
        rate, late = len(after) * size / seconds, _count_later(after, frames, period) / frames
        unusable = late > MOST_LATE or rate < LEAST_RATE * size / period
        grades.append("unusable" if unusable else "unstable" if late else "stable")
        written, took = written + len(after), max(took, seconds)
        missed = [one > 0 for one in after] + [True] * (frames - len(after))
        longest = max((sum(1 for _ in run) for is_miss, run in groupby(missed) if is_miss), default=0)
        wakeup = read_count(each, "wakeup_us", least=0)
        last = f"{len(after)} of {frames} frames, the last at {after[-1] * 1e6:.0f}"
        times, woken = f"finished_us of stream {number}: {last}", f"wakeup_us of stream {number}: {wakeup}"
        own = labels(**marks, stream=number)
        found += [
            Reading("detector-stream.rate", rate, Unit.BYTE_RATE, own, times),
            Reading("detector-stream.misses", _count_later(after, frames, 0.0) / frames, Unit.ONE, own, times),
            Reading("detector-stream.late", late, Unit.ONE, own, times),
            Reading("detector-stream.lateness", max(0.0, *after), Unit.SECOND, own, times),
            Reading("detector-stream.longest", float(longest), Unit.ONE, own, times),
            Reading("detector-stream.wakeup", wakeup / 1e6, Unit.SECOND, own, woken),
        ]
    common, raw = labels(**marks), f"{written} frames of {size} bytes"
    together = Reading("detector-stream.throughput", written * size / took, Unit.BYTE_RATE, common, raw)
    return (together, *found, Fact("detector-stream.grade", max(grades, key=_WORST.index), None, common))


def _count_later(after: Sequence[float], frames: int, allowed: float) -> int:
    """Frames that were given up, or written more than ``allowed`` seconds after their deadline."""
    return sum(each > allowed for each in after) + frames - len(after)


def _read_times(each: Document, frames: int, period: float) -> tuple[float, ...]:
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
