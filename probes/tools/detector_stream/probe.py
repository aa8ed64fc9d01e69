"""The node probe ``detector-stream``: a detector that writes images at a rate, and what is late.

The schedule is open-loop: image n of a stream is there at start + n/rate and has to be on the file system when the
next one is, whatever became of those before it. A stream writes one image after the other, so lateness adds up as it
would in a detector with a buffer that never overflows.

Observed is when each frame was written, in microseconds after its deadline; negative is early. Frames that a stream
gave up count as late. The grades are those that the DESY report gave its file systems, by numbers, of the worst stream:


``stable``
    no frame was more than one period late: a detector with room for one image loses none.
``unusable``
    more than half of the frames were more than one period late, or fewer bytes came through than 90 % of what
    the detector makes: it would not help to wait.
``unstable``
    anything between.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from types import MappingProxyType

from benchconsole.probes.api import (
    Comparator,
    Fact,
    Given,
    Metric,
    Output,
    ProbeOutputError,
    Reading,
    Shown,
    Unit,
    labels,
)
from benchconsole.probes.readers.documents import Document, read_array
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import require_positive
from benchconsole.probes.tools.files.node_directory import SCRATCH
from benchconsole.probes.tools.python import script_runner
from benchconsole.probes.tools.python.script_runner import read_count, read_results, read_word

LAYOUTS = ("files", "appended")
SYNCS = ("frame", "end")
_LEAST_FRAMES = 10
"""Of a stream; fewer are no schedule."""
_MOST_LATE = 0.5
_LEAST_RATE = 0.9

_WORST = ("stable", "unstable", "unusable")

_MOST_FRAMES = 100_000
"""Of all streams together; each leaves its time in the output."""
_START = 4.0
"""Seconds to start Python and to make the images."""
_GRACE = 10.0
"""Seconds that a stream may be behind its schedule, beyond the schedule's own length, before it gives up."""

_BODY = r"""
frames, size, period, streams = int(words[0]), int(words[1]), 1 / float(words[2]), int(words[3])
layout, sync, grace = words[4], words[5], float(words[6])
patience = frames * period + grace


def write_all(path, mode, content):
    with open(path, mode, buffering=0) as out:
        put(out, content)
        if sync == "frame":
            os.fsync(out.fileno())


def settle(paths):
    for path in paths:
        with open(path, "rb") as written:
            os.fsync(written.fileno())


def stream(number, ready):
    content = noise(size)
    place = "stream-%d" % number
    os.mkdir(place)
    appended = layout == "appended"
    names = [place + ("/images" if appended else "/image-%06d" % frame) for frame in range(frames)]
    finished, delay = [], 0.0
    start = ready()

    def late(frame):
        return round((time.monotonic() - start - (frame + 1) * period) * 1e6)

    for frame in range(frames):
        wait = start + frame * period - time.monotonic()
        if wait < -patience:
            break
        if wait > 0:
            time.sleep(wait)  # the detector has no frame before
            delay = max(delay, time.monotonic() - start - frame * period)
        write_all(names[frame], "ab" if appended else "wb", block(content, frame, size))
        finished.append(late(frame))
    if sync == "end":
        settle(sorted(set(names[:len(finished)])))
        finished[-1] = late(len(finished) - 1)
    return {"number": number, "wakeup_us": round(delay * 1e6), "finished_us": finished}


found = gang(streams, stream)
report(
    "detector-stream",
    ("frames", frames), ("size", size), ("rate", float(words[2])), ("streams", streams),
    ("layout", layout), ("sync", sync), ("results", found),
)
"""


class DetectorStream(script_runner.NodeScript):
    """Options: ``frames`` of each stream, ``size`` of a frame, ``rate`` of frames ("50 Hz"), ``streams`` at the same
    time; ``layout`` files (one for each frame) or appended (one for each stream); ``sync`` frame (each is on the disk
    before it counts) or end (all are, before the last one counts); ``scratch``, ``shared`` and ``python``.
    """

    name = "detector-stream"
    label_names = frozenset(("frames", "hertz", "layout", "size", "stream", "streams", "sync"))
    summary = "Images written at a detector's rate: those that came too late, and whether the file system will do"
    source = "DESY storage report, Pilatus 6M simulation"
    metrics = (
        Metric("detector-stream.throughput", Unit.BYTE_RATE, "written by all streams together", Shown.STORAGE),
        Metric("detector-stream.rate", Unit.BYTE_RATE, "written by one stream, its rate at most", Shown.STORAGE),
        Metric(
            "detector-stream.misses",
            Unit.ONE,
            "share of frames after their deadline",
            Shown.PERCENT,
            sense=Comparator.AT_MOST,
        ),
        Metric(
            "detector-stream.late",
            Unit.ONE,
            "share of frames more than a period late",
            Shown.PERCENT,
            sense=Comparator.AT_MOST,
        ),
        Metric("detector-stream.lateness", Unit.SECOND, "longest time after a deadline"),
        Metric(
            "detector-stream.longest",
            Unit.ONE,
            "frames after their deadline in a row, at most",
            sense=Comparator.AT_MOST,
        ),
        Metric("detector-stream.wakeup", Unit.SECOND, "longest time that the node woke an idle stream too late"),
    )
    options = MappingProxyType(
        {
            "scratch": SCRATCH, "frames": 200, "size": "9 MB", "rate": "20 Hz", "streams": 1,
            "layout": "files", "sync": "frame", "shared": "", "python": "python3",
        }
    )  # fmt: skip
    script = script_runner.make_script(_BODY)

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the schedule and of the start; one that falls behind takes up to twice as long and 10 s."""
        frames, _, rate, _ = _read_schedule(self.given(options))
        return frames / rate + _START

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """Every frame of every stream: they stay until the end, as a detector's do."""
        frames, size, _, streams = _read_schedule(self.given(options))
        return float(frames * streams * size)

    def words(self, given: Given) -> Sequence[object]:
        return (*_read_schedule(given), given.choice("layout", LAYOUTS), given.choice("sync", SYNCS), _GRACE)

    def room(self, given: Given) -> tuple[int, int]:
        frames, _, _, streams = _read_schedule(given)
        return int(self.space(given.values)), frames * streams + streams + 16

    def limit(self, given: Given) -> float:
        """Twice the schedule and 10 s is what a stream that falls behind may take."""
        frames, _, rate, _ = _read_schedule(given)
        return 2 * frames / rate + _GRACE + _START + 60.0

    def parse(self, output: Output) -> Sequence[Reading | Fact]:
        return _make_readings(script_runner.read_document(output, self.name))


def _read_schedule(given: Given) -> tuple[int, int, float, int]:
    """Frames of each stream, bytes of a frame, frames per second, and streams."""
    streams = given.whole("streams", 1, 16)
    frames = given.whole("frames", _LEAST_FRAMES, _MOST_FRAMES // streams)
    size, rate = given.size("size", 1, 2**30), given.quantity("rate", Unit.PER_SECOND)
    if not 0.1 <= rate <= 10_000:
        raise given.refused("rate", "0.1 Hz to 10 kHz")
    return frames, size, rate, streams


def _make_readings(document: Document) -> Sequence[Reading | Fact]:
    """Every reading, and the grade of the test. ProbeOutputError when the document contradicts itself."""
    frames, size = read_count(document, "frames", least=_LEAST_FRAMES), read_count(document, "size")
    period = 1 / require_positive(document.get("rate"), "rate", most=1e6)
    streams = read_count(document, "streams", most=1000)
    marks = {
        "frames": frames,
        "size": size,
        "hertz": f"{1 / period:g}",
        "streams": streams,
        "layout": read_word(document, "layout", LAYOUTS),
        "sync": read_word(document, "sync", SYNCS),
    }
    written, took, grades, found = 0, 0.0, [], []
    for number, each in read_results(document, streams):
        after = _read_times(each, frames, period)
        # until its last frame was written, but no less than the detector took to make them
        seconds = len(after) * period + max(0.0, after[-1])
        rate, late = len(after) * size / seconds, _count_later(after, frames, period) / frames
        unusable = late > _MOST_LATE or rate < _LEAST_RATE * size / period
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
