"""Owns the probe ``hpcc``: HPC Challenge over all nodes of a set, from HPL to the ring of random neighbours.

The input file is ours and lies in a directory made for the run, so that neither somebody else's input nor an
old result is read. Refuses to believe the exit status, which is 0 for a run that failed and for an input file
that was not understood: the summary has the word (``hpcc_text``).
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from probes.api import (
    Contact,
    Demands,
    Metric,
    Output,
    Part,
    Probe,
    ProbeOutputError,
    Reading,
    Safety,
    Shape,
    Shown,
    Target,
    Unit,
)
from probes.builtin import hpcc_text
from probes.builtin.captured import refuse_failed
from probes.launch import DEFAULTS, Job, Options, launch

_RESULT = "hpccoutf.txt"
_LATENCY_BYTES = 1.6e9
"""What one rank sends in the part LatencyBandwidth, whatever N is: 127 s at 100 Mb/s, measured with two nodes."""
_START = 20.0

_INPUT = """\
HPLinpack benchmark input file
made by benchconsole
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{problem}    Ns
1            # of NBs
{block}      NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{rows}       Ps
{columns}    Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
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


class Hpcc(Probe):
    """Options: ``problem`` (N of HPL) and ``block`` (NB), ``ranks`` on each node (0: its slots), ``rate`` (the slowest
    node link) and ``speed`` (floating point of one rank, at least), from which the time is estimated, and those of
    ``probes.launch.Options``.
    """

    name = "hpcc"
    summary = "HPC Challenge over a set of nodes: HPL, STREAM, DGEMM, PTRANS, FFT, RandomAccess, latency and bandwidth"
    metrics = tuple(
        Metric(f"hpcc.{name}", unit, _SUMMARIES[name], _shown(unit, name)) for name, unit in hpcc_text.UNITS.items()
    )
    tools = MappingProxyType({"mpirun": "openmpi-bin", "hpcc": "hpcc"})
    options = MappingProxyType(
        {"problem": 2000, "block": 64, "ranks": 0, "rate": "1 Gb/s", "speed": "1 GFLOP/s", **DEFAULTS}
    )
    safety = Safety.LOADS
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
        job = Job(nodes, ("hpcc",), ranks, seconds, options, {"hpccinf.txt": text}, (_RESULT,))
        job.arguments()
        return job

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Wait for the round, then launch."""
        job = self.job(target)
        await contact.together()
        return (await launch(contact, job),)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read the summary that hpcc wrote. ProbeOutputError when hpcc failed, whatever it printed by then."""
        refuse_failed(output, "mpirun")
        if "cannot open file hpccinf.txt" in output.text + output.error_text:
            raise ProbeOutputError("hpccinf.txt not opened", "hpcc to read our input")
        return hpcc_text.readings(output.text)


def input_text(problem: int, block: int, ranks: int) -> str:
    """``hpccinf.txt`` for one problem on a grid of ``ranks`` as square as can be, with no more columns than needed."""
    rows = max(each for each in range(1, math.isqrt(ranks) + 1) if ranks % each == 0)
    return _INPUT.format(problem=problem, block=block, rows=rows, columns=ranks // rows)
