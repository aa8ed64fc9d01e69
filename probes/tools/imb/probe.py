"""The probes ``imb`` (two nodes) and ``imb-set`` (a set of nodes): the Intel MPI Benchmarks, started by Open MPI.

Both run a program that somebody built on the nodes: Debian does not package it. IMB ends with status 0 also for the
name of a benchmark that it does not know, and with one rank: its tables decide (``text_reader``).
"""

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Given, Output, Reading, Shape
from benchconsole.probes.launch import DEFAULTS
from benchconsole.probes.tools.imb import text_reader
from benchconsole.probes.tools.mpi.program import START, MpiMessages, make_message_metrics, read_program, refuse_died

_BENCHMARKS = (
    "PingPong", "PingPing", "Sendrecv", "Exchange", "Uniband", "Biband", "Allreduce", "Reduce", "Reduce_scatter",
    "Allgather", "Allgatherv", "Gather", "Gatherv", "Scatter", "Scatterv", "Alltoall", "Alltoallv", "Bcast", "Barrier",
)  # fmt: skip
_COUNTED = {"both": "sent and received", "rated": "Uniband, Biband"}


class Imb(MpiMessages):
    """Options: ``program`` (name or absolute path), ``benchmark``, ``largest`` message (a power of two), ``seconds``
    that each size may take at most, ``ranks`` on each node, and those of ``probes.launch.Options``.
    """

    name = "imb"
    closing = re.compile(r"# All processes entering MPI_Finalize")
    label_names = frozenset(
        (
            "barriers", "benchmark", "datatype", "direction", "group", "groups", "imb_barrier", "iter", "iter_policy",
            "largest", "map", "mode", "off_cache", "processes", "reduction", "root_shift", "run", "seconds", "size",
            "statistic", "thread_level", "waiting",
        )
    )  # fmt: skip
    summary = "Intel MPI Benchmarks between two nodes: latency and bandwidth over the sizes of messages"
    source = "DESY storage characterisation, basic network tests"
    metrics = make_message_metrics("imb", **_COUNTED)
    tools = MappingProxyType({"mpirun": "openmpi-bin", "IMB-MPI1": ""})
    options = MappingProxyType(
        {"program": "IMB-MPI1", "benchmark": "PingPong", "largest": "4 MiB", "seconds": 1, "ranks": 1, **DEFAULTS}
    )

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the start, and of every size what IMB may take for it."""
        given = self.given(options)
        return START + (self._sizes(options) + 2) * given.number("seconds", 0.01, 3600)

    def words(self, given: Given, ranks: int) -> Sequence[str]:
        limits = ["-npmin", str(ranks), "-msglog", str(self._sizes(given.values))]
        limits += ["-time", f"{given.number('seconds', 0.01, 3600):g}"]
        return [read_program(given), given.choice("benchmark", _BENCHMARKS), *limits]

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_died(output, "IMB")
        return text_reader.parse_text(output.text, output.error_text, self.name)

    def _sizes(self, options: Mapping[str, str | int | float]) -> int:
        """The logarithm of the greatest size: IMB knows powers of two."""
        given = self.given(options)
        power = math.log2(given.size("largest", 1, 2**30))
        if not power.is_integer():
            raise given.refused("largest", "a power of two such as 4 MiB")
        return int(power)


class ImbSet(Imb):
    """The same options over every node of a set."""

    name = "imb-set"
    summary = "Intel MPI Benchmarks over a set of nodes: collective operations over the sizes of messages"
    metrics = make_message_metrics("imb-set", **_COUNTED)
    options = MappingProxyType({**Imb.options, "benchmark": "Allreduce", "largest": "1 MiB"})
    shape = Shape.SET
