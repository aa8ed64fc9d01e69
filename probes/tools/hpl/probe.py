"""The probe ``hpl``: High-Performance Linpack on single nodes, or over all nodes of a set, started by Open MPI.

It runs the ``xhpl`` that somebody built on the nodes with an input of ours, in a directory made for the run. Its
order follows from a share of the memory of the nodes, which the topology file declares or their kernels say.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import (
    Comparator,
    Contact,
    Demands,
    Labels,
    Metric,
    Output,
    Part,
    Probe,
    ProbeOutputError,
    Reading,
    Remote,
    Safety,
    Shape,
    Target,
    Unit,
    labels,
)
from benchconsole.probes.launch import DEFAULTS, Job, Options, launch
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.memory import find_memory, format_share
from benchconsole.probes.tools.hpl import input_file, text_reader
from benchconsole.probes.tools.mpi.program import export_threads, label_threads, read_program, refuse_died

_INPUT = "HPL.dat"
_START = 10.0
_LARGEST = 10_000_000


class Hpl(Probe):
    """Options: ``program`` (name or absolute path), ``problem`` (N; 0: from ``memory``, the share of the memory that
    the matrix takes), ``block`` (NB), ``rows`` (P of the grid; 0: as square as can be), ``ranks`` on each node (0: its
    slots), ``threads`` of the BLAS of each rank (0: what it chooses), ``speed`` (floating point of one rank, at least)
    and ``seconds`` (what a plan counts with where N follows from the memory), and those of ``probes.launch.Options``.
    ``size`` is 1: one node each; 0 is the whole set.
    """

    name = "hpl"
    closing = re.compile(r"End of Tests\.")
    label_names = frozenset(
        (
            "broadcast", "check", "depth", "mapping", "memory_share", "n", "nb", "p", "q", "run", "threads", "variant",
        )
    )  # fmt: skip
    summary = "High-Performance Linpack on single nodes or a set of nodes: floating-point rate of a checked solution"
    source = "Jetstream acceptance report, 4.1.1 and 5.1.1.1"
    metrics = (
        Metric("hpl.rate", Unit.FLOP_RATE, "solving a dense linear system"),
        Metric("hpl.time", Unit.SECOND, "wall time of the solution"),
        Metric("hpl.residual", Unit.ONE, "scaled residual of the solution, passed below 16", sense=Comparator.AT_MOST),
    )
    tools = MappingProxyType({"mpirun": "openmpi-bin", "xhpl": ""})
    options = MappingProxyType(
        {
            "program": "xhpl", "problem": 0, "memory": 0.5, "block": 192, "rows": 0, "ranks": 0, "threads": 1,
            "size": 1, "speed": "10 GFLOP/s", "seconds": 1800, **DEFAULTS,
        }
    )  # fmt: skip
    safety = Safety.LOADS
    shape = Shape.SET

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the solution by the ranks of a node; those of the option where N is not known yet."""
        given = self.given(options)
        order = given.whole("problem", 0, _LARGEST)
        ranks = given.whole("ranks", 0, 4096) or given.whole("slots", 0, 99_999) or 1
        return _START + (self._work(options, order) / ranks if order else given.number("seconds", 1, 604_800))

    def conditions(self, reading: Reading, target: Target) -> Labels:
        """``memory_share``: the share of the declared memory of all nodes that the matrix of order ``n`` took."""
        memory, order = find_memory(target), dict(reading.labels).get("n", "")
        if memory is None or not order.isdecimal():
            return ()
        return labels(memory_share=format_share(8 * float(order) ** 2, memory))

    def demands(self, target: Target) -> Demands:
        self.job(target, self._declared(target) or 2.0**30)
        return Demands(frozenset(Part), writes=1e6)

    def job(self, target: Target, memory: float) -> Job:
        """The job for nodes of ``memory`` bytes each; PlanError for options and networks that do not fit."""
        given = self.given(target.options)
        options = Options.of(given.values)
        each, nodes = given.whole("ranks", 0, 4096), target.nodes
        name = read_program(given)
        ranks = each * len(nodes) if each else Job(nodes, (name,), 1, 1, options).room
        block = given.whole("block", 1, 4096)
        share = given.number("memory", 0.001, 0.95) * memory * len(nodes)
        order = given.whole("problem", 0, _LARGEST) or input_file.find_order(share, block)
        seconds = 3 * max(_START + self._work(target.options, order) / ranks, self.estimate(target.options)) + 60
        rows = given.whole("rows", 0, 4096)
        if rows and ranks % rows:
            raise given.refused("rows", f"a divisor of {ranks} ranks")
        grid = (rows, ranks // rows) if rows else input_file.find_grid(ranks)
        text = input_file.format_input(order, block, grid)
        job = Job(nodes, (name,), ranks, seconds, options, {_INPUT: text}, environment=export_threads(given))
        job.arguments()
        return job

    def _work(self, options: Mapping[str, str | int | float], order: int) -> float:
        """Seconds that one rank would take alone."""
        return 2 / 3 * float(order) ** 3 / self.given(options).quantity("speed", Unit.FLOP_RATE)

    def _declared(self, target: Target) -> float | None:
        """Bytes of the smallest node; 1 where ``problem`` makes them of no use, None where one is unknown."""
        if self.given(target.options).whole("problem", 0, _LARGEST):
            return 1.0
        told = [node.hardware.facts.get("memory.total") for node in target.nodes]
        known = [float(size) for size in told if isinstance(size, int | float) and size > 0]
        return min(known) if len(known) == len(told) else None

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Ask nodes for memory that nobody declared, wait for the round, then launch."""
        memory = self._declared(target)
        if memory is None:
            memory = min([await _ask_memory(remote) for remote in contact.everyone])
        job = self.job(target, memory)
        await contact.together()
        return (await launch(contact, job),)

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_died(output, "xhpl")
        found = text_reader.parse_text(output.text, input_file.find_problem(output, _INPUT))
        return label_threads(found, output.argv)


async def _ask_memory(remote: Remote) -> float:
    """Bytes of memory as the kernel of a node says; ProbeOutputError when it does not."""
    said = await remote.run(("cat", "/proc/meminfo"), timeout=30.0)
    match = re.search(r"^MemTotal:\s+([1-9][0-9]{0,14}) kB$", said.text, re.MULTILINE)
    if match is None:
        raise ProbeOutputError(shorten(said.text) or "nothing", f"MemTotal of {remote.node}")
    return 1024.0 * float(match[1])
