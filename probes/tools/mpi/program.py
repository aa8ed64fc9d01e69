"""Bases of the probes of MPI programs, their launch and input, and the words of ranks that died.

Launchers of other MPI libraries end with 0 after ranks that died, and what somebody captured has no exit status at
all: the words on either stream decide.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from benchconsole.probes.api import (
    Contact,
    Demands,
    Given,
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
from benchconsole.probes.launch import Job, Options, launch
from benchconsole.probes.readers.lines import refuse_lines, split_lines
from benchconsole.probes.readers.readings import add_labels, refuse_failed
from benchconsole.topology.copying import replace

_DIED = re.compile(
    r"MPI_ABORT (?:was )?invoked|MPI_ERRORS_ARE_FATAL|An error occurred in MPI_|BAD TERMINATION OF ONE OF YOUR"
    r"|Process received signal|exited on signal \d"
    r"|(?:mpirun|mpiexec|orterun) (?:has exited due|noticed that|detected that)"
    r"|Fatal error in (?:P?MPI_|internal_)|Abort\(\d+\) on node|application called MPI_Abort"
    r"|srun: error: \S+ tasks? \S+ (?:Exited|Killed|Aborted|Terminated|Segmentation|Bus error)"
)

START = 8.0
"""Seconds that a launch takes until the first message."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}|/[A-Za-z0-9_./+@-]{1,400}")

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that give libraries of linear algebra the number of their threads; the first one is told as a label."""

_TOLD_THREADS = re.compile(rf"{_THREADS[0]}=([1-9][0-9]{{0,4}})")


class MpiProgram(Probe):
    """A probe that is one launch, on nodes of its own since ranks that wait take a whole processor each."""

    safety = Safety.LOADS

    @abstractmethod
    def job(self, target: Target) -> Job:
        """The job to launch; PlanError for options and names that do not fit."""

    def demands(self, target: Target) -> Demands:
        self.job(target).arguments()
        return Demands(frozenset(Part))

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        job = self.job(target)
        job.arguments()  # networks that do not fit are refused before anybody waits
        await contact.together()
        return (await launch(contact, job),)


class MpiMessages(MpiProgram):
    """A probe of a program that times messages, size after size. Options ``program``, and ``ranks`` on each node.

    Somebody built it on the nodes, and it ends with status 0 after failures too: its tables decide.
    """

    shape = Shape.PAIR

    @abstractmethod
    def words(self, given: Given, ranks: int) -> Sequence[str]:
        """The program and what it is told when it runs as ``ranks`` processes; PlanError for what is out of range."""

    def demands(self, target: Target) -> Demands:
        if self.given(target.options).whole("ranks", 1, 4096) * len(target.nodes) < 2:
            raise PlanError(f"{self.name} needs two ranks or more: two nodes, or the option ranks")
        return super().demands(target)

    def job(self, target: Target) -> Job:
        given, nodes = self.given(target.options), target.nodes
        each = given.whole("ranks", 1, 4096)
        options = Options.of({**given.values, "slots": given.whole("slots", 0, 99_999) or each})
        ranks, seconds = each * len(nodes), 3 * self.estimate(target.options) + 60
        return Job(nodes, tuple(self.words(given, ranks)), ranks, seconds, options)


def make_message_metrics(probe: str, *, both: str, rated: str) -> tuple[Metric, ...]:
    """Those of ``probe``; ``both`` says what counts two directions together, ``rated`` what counts messages."""
    return (
        Metric(f"{probe}.latency", Unit.SECOND, "time of one message or operation of a size"),
        Metric(f"{probe}.bandwidth", Unit.BYTE_RATE, "payload of messages of a size", Shown.NETWORK),
        Metric(f"{probe}.peak", Unit.BYTE_RATE, "greatest bandwidth over all sizes, one way", Shown.NETWORK),
        Metric(f"{probe}.peak_both", Unit.BYTE_RATE, f"the same of {both} together", Shown.NETWORK),
        Metric(f"{probe}.message_rate", Unit.PER_SECOND, f"messages of a size ({rated})"),
    )


def read_program(given: Given) -> str:
    """The option ``program``: a name on the PATH of the nodes, or an absolute path; PlanError for anything else."""
    text = given.text("program")
    if not _NAME.fullmatch(text):
        raise given.refused("program", "the name of a program, or its absolute path")
    return text


def export_threads(given: Given) -> Mapping[str, str]:
    """The environment for the option ``threads`` of each rank; of 0 nothing, which leaves it to the libraries."""
    threads = given.whole("threads", 0, 4096)
    return MappingProxyType(dict.fromkeys(_THREADS, str(threads)) if threads else {})


def label_threads(readings: Sequence[Reading], argv: Sequence[str]) -> Sequence[Reading]:
    """``readings`` with the ``threads`` that the command exports to each rank, where it is known and exports any.

    A number that has its own keeps it.
    """
    told = (_TOLD_THREADS.fullmatch(word) for option, word in pairwise(argv) if option == "-x")
    threads = next((match[1] for match in told if match), None)
    if threads is None:
        return readings
    return [
        one if "threads" in dict(one.labels) else replace(one, labels=add_labels(one.labels, threads=threads))
        for one in readings
    ]


def refuse_died(output: Output, tool: str) -> None:
    """ProbeOutputError when the command failed, or when its text says that a rank or the launcher did."""
    refuse_failed(output, tool)
    refuse_lines(_DIED, split_lines(f"{output.text}\n{output.error_text}"), f"every rank of {tool} to end well")


def find_input(argv: Sequence[str], name: str) -> list[str]:
    """The lines of the file ``name`` that a launch carried along (``probes.launch``); none where it carried none."""
    if name not in argv[:-1]:
        return []
    text = argv[argv.index(name) + 1]
    return re.sub(r"\\(\\|n)", lambda match: "\n" if match[1] == "n" else "\\", text).splitlines()
