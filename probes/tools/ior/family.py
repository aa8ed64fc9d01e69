"""The programs of the IOR package as tests: all nodes of a set in one shared directory (``files.shared_directory``).

Results of another number of tasks than was started are an error: under an MPI that is not its own, such a program runs
alone, many times.
"""

from abc import abstractmethod
from collections.abc import Sequence

from benchconsole.probes.api import (
    Contact,
    Demands,
    Given,
    Output,
    Part,
    Probe,
    ProbeOutputError,
    Reading,
    Safety,
    Shape,
    Target,
)
from benchconsole.probes.launch import Job, Options
from benchconsole.probes.readers.readings import number_runs, refuse_failed
from benchconsole.probes.tools.files.node_directory import take_shared_space
from benchconsole.probes.tools.files.shared_directory import in_shared, launch_shared
from benchconsole.probes.tools.ior.output_reader import refuse_complaints

START = 20.0
"""Seconds until all ranks run."""
_MOST_TASKS = 100_000


class IorProgram(Probe):
    """A subclass adds the command line of a rank, what its output holds, its ``space`` and its ``estimate``.

    Both of these are of one task where the option ``tasks`` is 0, which is one on each node.
    """

    safety = Safety.LOADS
    shape = Shape.SET
    results: str
    """The expected content of its output, as an error says it."""

    @abstractmethod
    def program(self, given: Given) -> Sequence[str]:
        """The command line of one rank, ``tasks`` given; PlanError for options that do not fit."""

    @abstractmethod
    def rates(self, text: str) -> Sequence[Reading]:
        """Every rate in ``text``; ProbeOutputError for one that cannot be."""

    def demands(self, target: Target) -> Demands:
        """Every node to itself, and the files; of a storage system that is named, their bytes are taken."""
        job = self.job(target)
        taken = take_shared_space(self.given(target.options).text("shared"), job.writes)
        return Demands(frozenset(Part), taken, job.writes)

    def job(self, target: Target) -> Job:
        """The job to launch; PlanError for options, names and networks that do not fit."""
        given = self.given(target.options)
        tasks = read_tasks(given) or len(target.nodes)
        sized = {**given.values, "tasks": tasks}
        argv = in_shared(self.program(self.given(sized)))
        seconds, writes = 3.0 * self.estimate(sized) + 60.0, self.space(sized) + 1e6
        job = Job(target.nodes, argv, tasks, seconds, Options.of(given.values), writes=writes)
        job.arguments()
        return job

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        job = self.job(target)
        await contact.together()
        return (await launch_shared(contact, job),)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read the results. ProbeOutputError when the program failed, or ran with other tasks than were started."""
        refuse_failed(output, self.name)
        refuse_complaints(output.text + "\n" + output.error_text)
        found = number_runs(self.rates(output.text))
        if not found:
            raise ProbeOutputError("no row that is whole", self.results)
        if "-np" in output.argv[:-1]:
            started = output.argv[output.argv.index("-np") + 1]
            for ran in (dict(reading.labels).get("tasks", started) for reading in found):
                if ran != started:
                    expected = f"{started} tasks, as mpirun started (is it built for this MPI?)"
                    raise ProbeOutputError(f"{ran} tasks", expected)
        return found


def read_tasks(given: Given) -> int:
    """The option ``tasks``; 0 where their number follows the nodes."""
    return given.whole("tasks", 0, _MOST_TASKS)


def read_program(given: Given, name: str) -> str:
    """The option ``name``: a program by that name, or its absolute path."""
    text = given.text(name)
    if text != name and not (text.startswith("/") and text.isprintable() and " " not in text):
        raise given.refused(name, f"{name}, or an absolute path")
    return text
