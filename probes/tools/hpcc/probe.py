"""The probe ``hpcc``: HPC Challenge over all nodes of a set, from HPL to the ring of random neighbours.

The input file is ours and lies in a directory made for the run, so that neither somebody else's input nor an
old result is read. The exit status is 0 also for a run that failed: the summary decides (``text_reader``).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Demands, Metric, Output, Reading, Shape, Shown, Target, Unit
from benchconsole.probes.launch import DEFAULTS, Job, Options
from benchconsole.probes.tools.hpcc import text_reader
from benchconsole.probes.tools.hpl import input_file
from benchconsole.probes.tools.mpi.program import MpiProgram, export_threads, label_threads, refuse_died
from benchconsole.topology.copying import replace

_RESULT = "hpccoutf.txt"
_LATENCY_BYTES = 1.6e9
"""Bytes that one rank sends in the part LatencyBandwidth, whatever N is: 127 s at 100 Mb/s, measured with two nodes."""
_START = 20.0

_INPUT = "hpccinf.txt"
_PTRANS = """\
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
64           values of NB
"""


def _make_metric(name: str, key: str, meaning: str) -> Metric:
    unit, _ = text_reader.find_unit(key)
    rate = Shown.STORAGE if name.startswith("stream") else Shown.NETWORK
    return Metric(f"hpcc.{name}", unit, meaning, rate if unit is Unit.BYTE_RATE else Shown.PLAIN)


class Hpcc(MpiProgram):
    """Options: ``problem`` (N of HPL) and ``block`` (NB), ``ranks`` on each node (0: its slots), ``threads`` of the
    BLAS of each rank (0: what it chooses), ``rate`` (the slowest node link) and ``speed`` (floating point of one rank,
    at least), from which the time is estimated, and those of ``probes.launch.Options``.
    """

    name = "hpcc"
    label_names = frozenset(("array_size", "n", "nb", "p", "q", "tasks", "threads"))
    summary = "HPC Challenge over a set of nodes: HPL, STREAM, DGEMM, PTRANS, FFT, RandomAccess, latency and bandwidth"
    metrics = tuple(_make_metric(name, *number) for name, number in text_reader.NUMBERS.items())
    source = "Jetstream acceptance report, 5.1.1.1"
    tools = MappingProxyType({"mpirun": "openmpi-bin", "hpcc": "hpcc"})
    options = MappingProxyType(
        {"problem": 2000, "block": 64, "ranks": 0, "threads": 1, "rate": "1 Gb/s", "speed": "1 GFLOP/s", **DEFAULTS}
    )
    shape = Shape.SET

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of HPL at the speed of one rank, and of the messages, whose number follows the ranks of a node."""
        given = self.given(options)
        ranks = given.whole("ranks", 0, 4096) or given.whole("slots", 0, 99_999) or 1
        messages = _LATENCY_BYTES * ranks / given.quantity("rate", Unit.BYTE_RATE)
        work = 2 / 3 * float(given.whole("problem", 16, 10_000_000)) ** 3
        return _START + messages + 4 * work / given.quantity("speed", Unit.FLOP_RATE)

    def demands(self, target: Target) -> Demands:
        return replace(super().demands(target), writes=1e6)

    def job(self, target: Target) -> Job:
        given = self.given(target.options)
        options = Options.of(given.values)
        each = given.whole("ranks", 0, 4096)
        nodes = target.nodes
        ranks = each * len(nodes) if each else Job(nodes, ("hpcc",), 1, 1, options).room
        text = format_input(given.whole("problem", 16, 10_000_000), given.whole("block", 1, 4096), ranks)
        seconds = 3 * self.estimate(target.options) + 60
        threads = export_threads(given)
        return Job(nodes, ("hpcc",), ranks, seconds, options, {_INPUT: text}, (_RESULT,), environment=threads)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read the summary that hpcc wrote. ProbeOutputError when hpcc failed, whatever it printed by then.

        Without an input that it understands hpcc runs problems of its own: those are refused too.
        """
        refuse_died(output, "hpcc")
        found = text_reader.parse_text(output.text, input_file.find_problem(output, _INPUT))
        return label_threads(found, output.argv)


def format_input(problem: int, block: int, ranks: int) -> str:
    """``hpccinf.txt`` for one problem on a grid of ``ranks`` as square as can be, with no more columns than needed."""
    return input_file.format_input(problem, block, input_file.find_grid(ranks), out="file") + _PTRANS
