"""The probe ``stream``: McCalpin's STREAM on one node, with as many threads as asked for.

It runs a program that somebody compiled on the node: Debian does not package it, its arrays are sized when it is
compiled (four times the caches at least), and nothing is compiled here.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Contact, Metric, Output, Probe, Reading, Safety, Shape, Shown, Target, Unit
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.mpi.program import read_program
from benchconsole.probes.tools.stream import text_reader

_BIND = ("", "false", "true", "close", "spread", "master")
_PLACES = ("", "threads", "cores", "sockets")


class Stream(Probe):
    """Options: ``program`` (name or absolute path), ``threads`` (0: what OpenMP chooses), ``bind`` (OMP_PROC_BIND:
    false, true, close, spread, master) and ``places`` (OMP_PLACES: threads, cores, sockets), both empty for what
    OpenMP chooses, and ``seconds`` that a run is expected to take.
    """

    name = "stream"
    label_names = frozenset(("array_size", "kernel", "run", "statistic", "tasks", "threads", "times"))
    summary = "Memory bandwidth of a node: STREAM copy, scale, add and triad"
    source = "Jetstream acceptance report, 4.1.1 and 5.1.1.2"
    metrics = (
        Metric("stream.copy", Unit.BYTE_RATE, "best rate of c = a, two arrays", Shown.STORAGE),
        Metric("stream.scale", Unit.BYTE_RATE, "best rate of b = s c, two arrays", Shown.STORAGE),
        Metric("stream.add", Unit.BYTE_RATE, "best rate of c = a + b, three arrays", Shown.STORAGE),
        Metric("stream.triad", Unit.BYTE_RATE, "best rate of a = b + s c, three arrays", Shown.STORAGE),
        Metric("stream.time", Unit.SECOND, "time of one kernel"),
    )
    tools = MappingProxyType({"stream": ""})
    options = MappingProxyType({"program": "stream", "threads": 0, "bind": "", "places": "", "seconds": 10})
    safety = Safety.LOADS
    shape = Shape.NODE

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds that the option says: they follow from arrays whose size was compiled in."""
        return self.given(options).number("seconds", 0.1, 3600)

    def time_limit(self, options: Mapping[str, str | int | float]) -> float:
        return 4.0 * self.estimate(options) + 30.0

    def command(self, target: Target) -> Sequence[str]:
        """``env OMP_NUM_THREADS=24 stream``; PlanError for options that cannot be used."""
        given = self.given(target.options)
        threads = given.whole("threads", 0, 99_999)
        told = {
            "OMP_NUM_THREADS": str(threads) if threads else "",
            "OMP_PROC_BIND": given.choice("bind", _BIND),
            "OMP_PLACES": given.choice("places", _PLACES),
        }
        return ["env", "LC_ALL=C", *(f"{name}={value}" for name, value in told.items() if value), read_program(given)]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Run it with four times the time that it is expected to take, and half a minute."""
        return (await contact.here.run(self.command(target), timeout=self.time_limit(target.options)),)

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_failed(output, "STREAM")
        return text_reader.parse_text(output.text)
