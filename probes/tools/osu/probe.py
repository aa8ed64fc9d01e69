"""The probes ``osu`` (two nodes) and ``osu-set`` (a set of nodes): the OSU Micro-Benchmarks, started by Open MPI.

Both run programs that somebody built on the nodes: Debian does not package them. Some versions end with status 0 also
with the wrong number of ranks: the table decides (``text_reader``).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Given, Output, Reading, Shape, Unit
from benchconsole.probes.launch import DEFAULTS
from benchconsole.probes.tools.mpi.program import START, MpiMessages, make_message_metrics, read_program, refuse_died
from benchconsole.probes.tools.osu import text_reader

_WINDOW, _LARGE = 64, 20
"""Messages under way, and iterations of large messages, that the programs take unless they are told."""
_COUNTED = {"both": "both directions", "rated": "osu_mbw_mr"}


class Osu(MpiMessages):
    """Options: ``program`` (name or absolute path), ``smallest`` and ``largest`` message, ``iterations`` of each size
    (0: the program's own), ``check`` (1: have the data validated, from version 6 on), ``ranks`` on each node,
    ``rate`` (the slowest node link), from which the time is estimated, and those of ``probes.launch.Options``.
    """

    name = "osu"
    label_names = frozenset(
        (
            "benchmark", "datatype", "device", "direction", "largest", "pairs", "processes", "run", "size",
            "statistic", "transmit_size", "verify", "window",
        )
    )  # fmt: skip
    summary = "OSU Micro-Benchmarks between two nodes: latency, bandwidth or message rate over the sizes of messages"
    source = "Jetstream acceptance report, 4.1.1 (large-message point-to-point transfers)"
    metrics = make_message_metrics("osu", **_COUNTED)
    tools = MappingProxyType({"mpirun": "openmpi-bin", "osu_bw": ""})
    options = MappingProxyType(
        {
            "program": "osu_bw", "smallest": "1 B", "largest": "4 MiB", "iterations": 0, "check": 0, "ranks": 1,
            "rate": "1 Gb/s", **DEFAULTS,
        }
    )  # fmt: skip

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the start, and of all windows of all sizes at the rate of the slowest link."""
        given = self.given(options)
        rounds = given.whole("iterations", 0, 1_000_000) or _LARGE
        sent = 2.0 * given.size("largest", 1, 2**30) * _WINDOW * rounds * given.whole("ranks", 1, 4096)
        return START + sent / given.quantity("rate", Unit.BYTE_RATE)

    def words(self, given: Given, ranks: int) -> Sequence[str]:
        least, most = given.size("smallest", 1, 2**30), given.size("largest", 1, 2**30)
        if least > most:
            raise given.refused("smallest", f"at most largest, {most} bytes")
        rounds = given.whole("iterations", 0, 1_000_000)
        checked = ["-c"] if given.flag("check") else []
        return [read_program(given), "-m", f"{least}:{most}", *(["-i", str(rounds)] if rounds else []), *checked]

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_died(output, "the benchmark")
        return text_reader.parse_text(output.text, output.argv, self.name)


class OsuSet(Osu):
    """The same options over every node of a set."""

    name = "osu-set"
    summary = "OSU Micro-Benchmarks over a set of nodes: collective operations over the sizes of messages"
    metrics = make_message_metrics("osu-set", **_COUNTED)
    tools = MappingProxyType({"mpirun": "openmpi-bin", "osu_allreduce": ""})
    options = MappingProxyType({**Osu.options, "program": "osu_allreduce", "smallest": "4 B", "largest": "1 MiB"})
    shape = Shape.SET
