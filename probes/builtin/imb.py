"""Owns the probes ``imb`` (two nodes) and ``imb-set`` (a set of nodes): the Intel MPI Benchmarks, started by Open MPI.

Both run what somebody built on the nodes: Debian does not package it. Exit status 0 says nothing here: IMB ends so
with the name of a benchmark that it does not know, and with one rank. The tables tell (``imb_text``).
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
    PlanError,
    Probe,
    Reading,
    Safety,
    Shape,
    Shown,
    Target,
    Unit,
)
from probes.builtin import imb_text
from probes.builtin.mpi_program import program, refuse_died
from probes.launch import DEFAULTS, Job, Options, launch

_BENCHMARKS = (
    "PingPong", "PingPing", "Sendrecv", "Exchange", "Uniband", "Biband", "Allreduce", "Reduce", "Reduce_scatter",
    "Allgather", "Allgatherv", "Gather", "Gatherv", "Scatter", "Scatterv", "Alltoall", "Alltoallv", "Bcast", "Barrier",
)  # fmt: skip
_START = 8.0


def _metrics(probe: str) -> tuple[Metric, ...]:
    return (
        Metric(f"{probe}.latency", Unit.SECOND, "time of one message or operation of a size"),
        Metric(f"{probe}.bandwidth", Unit.BYTE_RATE, "payload of messages of a size", Shown.NETWORK),
        Metric(f"{probe}.peak", Unit.BYTE_RATE, "greatest bandwidth over all sizes, one way", Shown.NETWORK),
        Metric(f"{probe}.peak_both", Unit.BYTE_RATE, "the same of sent and received together", Shown.NETWORK),
        Metric(f"{probe}.message_rate", Unit.PER_SECOND, "messages of a size (Uniband, Biband)"),
    )


class Imb(Probe):
    """Options: ``program`` (name or absolute path), ``benchmark``, ``largest`` message (a power of two), ``seconds``
    that each size may take at most, ``ranks`` on each node, and those of ``probes.launch.Options``.
    """

    name = "imb"
    summary = "Intel MPI Benchmarks between two nodes: latency and bandwidth over the sizes of messages"
    source = "DESY storage characterisation, basic network tests"
    metrics = _metrics("imb")
    tools = MappingProxyType({"mpirun": "openmpi-bin", "IMB-MPI1": ""})
    options = MappingProxyType(
        {"program": "IMB-MPI1", "benchmark": "PingPong", "largest": "4 MiB", "seconds": 1, "ranks": 1, **DEFAULTS}
    )
    safety = Safety.LOADS
    shape = Shape.PAIR

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the start, and of every size what IMB may take for it."""
        given = self.given(options)
        return _START + (self._sizes(options) + 2) * given.number("seconds", 0.01, 3600)

    def demands(self, target: Target) -> Demands:
        """Every node to itself: ranks that wait take a whole processor each."""
        if self.job(target).ranks < 2:
            raise PlanError(f"{self.name} needs two ranks or more: two nodes, or the option ranks")
        return Demands(frozenset(Part))

    def job(self, target: Target) -> Job:
        """What is launched; PlanError for options, names and networks that do not fit."""
        given = self.given(target.options)
        nodes = target.nodes
        ranks = given.whole("ranks", 1, 4096) * len(nodes)
        options = Options.of(
            {**given.values, "slots": given.whole("slots", 0, 99_999) or given.whole("ranks", 1, 4096)}
        )
        words = ["-npmin", str(ranks), "-msglog", str(self._sizes(target.options))]
        words += ["-time", f"{given.number('seconds', 0.01, 3600):g}"]
        argv = (program(given), given.choice("benchmark", _BENCHMARKS), *words)
        job = Job(nodes, argv, ranks, 3 * self.estimate(target.options) + 60, options)
        job.arguments()
        return job

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Wait for the round, then launch."""
        job = self.job(target)
        await contact.together()
        return (await launch(contact, job),)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read every table of IMB. ProbeOutputError when a rank died, or when no table is of two processes."""
        refuse_died(output, "IMB")
        return imb_text.readings(output.text, self.name)

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
    metrics = _metrics("imb-set")
    options = MappingProxyType({**Imb.options, "benchmark": "Allreduce", "largest": "1 MiB"})
    shape = Shape.SET
