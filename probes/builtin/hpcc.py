"""Owns the probe ``hpcc``: HPC Challenge over all nodes of a set, from HPL to the ring of random neighbours.

The input file is ours and lies in a directory made for the run, so that neither somebody else's input nor an
old result is read. Refuses to believe the exit status, which is 0 for a run that failed and for an input file
that was not understood: the summary has the word (``hpcc_text``).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from probes.api import Demands, Metric, Output, Part, Reading, Shape, Shown, Target, Unit
from probes.builtin import hpcc_text, hpl_input
from probes.builtin.mpi_program import MpiProgram, input_sent, refuse_died
from probes.launch import DEFAULTS, Job, Options

_RESULT = "hpccoutf.txt"
_LATENCY_BYTES = 1.6e9
"""What one rank sends in the part LatencyBandwidth, whatever N is: 127 s at 100 Mb/s, measured with two nodes."""
_START = 20.0

_INPUT = "hpccinf.txt"
_PTRANS = """\
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
64           values of NB
"""


def _shown(unit: Unit, name: str) -> Shown:
    if unit is not Unit.BYTE_RATE:
        return Shown.PLAIN
    return Shown.STORAGE if name.startswith("stream") else Shown.NETWORK


_SUMMARIES = {
    "hpl": "solving a dense linear system (HPL)",
    "ptrans": "transposing a matrix across all ranks (PTRANS)",
    "random_access": "random updates of a distributed table (MPIRandomAccess)",
    "fft": "Fourier transform across all ranks (MPIFFT)",
    "dgemm": "matrix product on each rank, all at once (StarDGEMM)",
    "dgemm_alone": "matrix product on one rank, the others idle (SingleDGEMM)",
    "stream_copy": "memory copy of each rank, all at once (StarSTREAM)",
    "stream_scale": "memory scale of each rank, all at once (StarSTREAM)",
    "stream_add": "memory add of each rank, all at once (StarSTREAM)",
    "stream_triad": "memory triad of each rank, all at once (StarSTREAM)",
    "stream_triad_alone": "memory triad of one rank, the others idle (SingleSTREAM)",
    "pingpong_latency": "half a round trip of 8 bytes, mean over pairs of ranks",
    "pingpong_latency_max": "half a round trip of 8 bytes, slowest pair",
    "pingpong_bandwidth": "ping-pong of 2 MB, mean over pairs of ranks",
    "pingpong_bandwidth_min": "ping-pong of 2 MB, slowest pair",
    "ring_latency": "latency in a ring of random neighbours",
    "ring_bandwidth": "bandwidth of each rank in a ring of random neighbours",
    "natural_ring_latency": "latency in a ring in the order of ranks",
    "natural_ring_bandwidth": "bandwidth of each rank in a ring in the order of ranks",
}


class Hpcc(MpiProgram):
    """Options: ``problem`` (N of HPL) and ``block`` (NB), ``ranks`` on each node (0: its slots), ``rate`` (the slowest
    node link) and ``speed`` (floating point of one rank, at least), from which the time is estimated, and those of
    ``probes.launch.Options``.
    """

    name = "hpcc"
    summary = "HPC Challenge over a set of nodes: HPL, STREAM, DGEMM, PTRANS, FFT, RandomAccess, latency and bandwidth"
    metrics = tuple(
        Metric(f"hpcc.{name}", unit, _SUMMARIES[name], _shown(unit, name)) for name, unit in hpcc_text.UNITS.items()
    )
    source = "Jetstream acceptance report, 5.1.1.1"
    tools = MappingProxyType({"mpirun": "openmpi-bin", "hpcc": "hpcc"})
    options = MappingProxyType(
        {"problem": 2000, "block": 64, "ranks": 0, "rate": "1 Gb/s", "speed": "1 GFLOP/s", **DEFAULTS}
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
        """Every node to itself, and one that fits."""
        self.job(target)
        return Demands(frozenset(Part), writes=1e6)

    def job(self, target: Target) -> Job:
        """What is launched; PlanError for options, names and networks that do not fit."""
        given = self.given(target.options)
        options = Options.of(given.values)
        each = given.whole("ranks", 0, 4096)
        nodes = target.nodes
        probe = Job(nodes, ("hpcc",), 1, 1, options)
        ranks = each * len(nodes) if each else probe.room
        text = input_text(given.whole("problem", 16, 10_000_000), given.whole("block", 1, 4096), ranks)
        seconds = 3 * self.estimate(target.options) + 60
        job = Job(nodes, ("hpcc",), ranks, seconds, options, {_INPUT: text}, (_RESULT,))
        job.arguments()
        return job

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read the summary that hpcc wrote. ProbeOutputError when hpcc failed, whatever it printed by then.

        Without an input that it understands hpcc runs problems of its own: those are refused too.
        """
        refuse_died(output, "hpcc")
        hpl_input.refuse_complaint(output)
        return hpcc_text.readings(output.text, hpl_input.asked(input_sent(output.argv, _INPUT)))


def input_text(problem: int, block: int, ranks: int) -> str:
    """``hpccinf.txt`` for one problem on a grid of ``ranks`` as square as can be, with no more columns than needed."""
    return hpl_input.input_text(problem, block, hpl_input.squarest(ranks), out="file") + _PTRANS
