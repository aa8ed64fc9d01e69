"""The reader of interval numbers of one running test: its outputs in lines, each line shown to its probe.

The code of a probe may raise or return anything: then no more is read of this test, which goes on unharmed. Whatever a
node says, no more than one line is kept between two readings.
"""

import math
import weakref
from collections.abc import Iterable, Iterator

from benchconsole.probes.api import Probe, ProbeError
from benchconsole.probes.model.interval import GrowingOutput, Interval, RunningOutputs
from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import Labels, Target
from benchconsole.probes.plugins.probe_call import format_error

_LOG = ModuleLog(__name__)

LONGEST_LINE = 500
"""Characters of a line that a probe is shown; longer ones are passed over."""
MOST_BYTES = 64 * 1024
"""Bytes of a stream that are looked at in one reading: the newest."""


def reads_intervals(probe: Probe) -> bool:
    """Whether ``probe`` tells anything of its running tests."""
    return type(probe).read_intervals is not Probe.read_intervals


def check_interval(probe: Probe, interval: object) -> None:
    """Raise ProbeError unless ``interval`` is a number of a declared metric of ``probe``, in its unit."""
    if not isinstance(interval, Interval):
        raise ProbeError(f"found {type(interval).__name__}, expected Interval")
    if not any(metric.name == interval.metric and metric.unit is interval.unit for metric in probe.metrics):
        raise ProbeError(f"found {interval.metric} in {interval.unit!r}, undeclared")
    numbers = (interval.value, interval.until, interval.seconds)
    if not all(math.isfinite(each) and each >= 0 for each in numbers):
        raise ProbeError(f"found {interval.metric} = {numbers}, expected finite numbers from 0 on")


class LineCutter:
    """Whole lines of bytes that come in pieces, of which each byte is a character.

    A line that is too long is passed over, and takes no room.
    """

    def __init__(self) -> None:
        self._rest = ""
        self._is_passing = False

    def skip(self) -> None:
        """Bytes are missing from here on: what is left of their last line is passed over."""
        self._is_passing = True

    def cut(self, data: bytes) -> Iterator[str]:
        """The lines that ``data`` completes, without their ends; a carriage return ends a line, too."""
        *lines, rest = (self._rest + data.decode("latin-1").replace("\r", "\n")).split("\n")
        for line in lines:
            if not self._is_passing and 0 < len(line) <= LONGEST_LINE:
                yield line
            self._is_passing = False
        self._is_passing = self._is_passing or len(rest) > LONGEST_LINE
        self._rest = "" if self._is_passing else rest


class IntervalReader:
    """The interval numbers of one test of ``probe`` on ``target``, from the ``outputs`` of its commands."""

    def __init__(self, probe: Probe, target: Target, outputs: RunningOutputs) -> None:
        self._probe = probe
        self._target = target
        self._outputs = outputs
        self._followed: list[_Followed] = []
        self._is_broken = False

    def read(self) -> tuple[Interval, ...]:
        """The intervals told since the last reading: the newest number of each metric and its labels."""
        if self._is_broken:
            return ()
        newest: dict[tuple[str, Labels], Interval] = {}
        try:
            for line in self._cut_lines():
                for interval in self._probe.read_intervals(line, self._target):
                    check_interval(self._probe, interval)
                    newest[interval.metric, interval.labels] = interval
        except BaseException as error:  # a stranger's code may raise anything
            self._is_broken = True
            _LOG.warning(self._target.node.id, "%s: read_intervals(): %s", self._probe.name, format_error(error))
            return ()
        return tuple(newest.values())

    def _cut_lines(self) -> Iterator[str]:
        """The new lines of every stream of a command that runs."""
        self._followed += [_Followed(stream) for stream in self._outputs.take_fresh()]
        self._followed = [each for each in self._followed if each.stream() is not None]
        for each in self._followed:
            yield from each.cut_news()


class _Followed:
    """One stream, and how far it was read; it is not kept for that."""

    __slots__ = ("_cutter", "_place", "stream")

    def __init__(self, stream: "weakref.ref[GrowingOutput]") -> None:
        self.stream = stream
        self._cutter = LineCutter()
        self._place = 0

    def cut_news(self) -> Iterable[str]:
        stream = self.stream()
        if stream is None:
            return ()
        data, end = stream.read_from(self._place, MOST_BYTES)
        if end - self._place > len(data):
            self._cutter.skip()
        self._place = end
        return self._cutter.cut(data) if data else ()
