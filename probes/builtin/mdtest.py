"""Owns the set probe ``mdtest``: all nodes of a set create, stat, read and remove files and directories at once.

Everything happens in a directory of its own below ``scratch``, which all nodes must see
(``probes.builtin.shared_scratch``), and is gone with it. Refuses trees that have more directories than items, of
which mdtest makes nothing, and numbers of another number of tasks than was started.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from probes.api import (
    Contact,
    Demands,
    Given,
    Metric,
    Output,
    Part,
    Probe,
    ProbeOutputError,
    Reading,
    Safety,
    Shape,
    Target,
    Unit,
)
from probes.builtin import mdtest_text
from probes.builtin.captured import refuse_failed, told_apart
from probes.builtin.ior import program, refuse_other_tasks
from probes.builtin.ior_text import refuse_complaints
from probes.builtin.shared_scratch import in_shared, launch_shared
from probes.launch import DEFAULTS, Job, Options

_KINDS = {"both": (), "files": ("-F",), "directories": ("-D",)}
_PHASES = 8
_START = 20.0
_MOST_TASKS = 100_000
_MOST_ITEMS = 10_000_000
_INODE = 4096
"""Bytes that a file system takes for an item without content, at most, but for the largest of blocks."""


class Mdtest(Probe):
    """Options: ``tasks`` (0: one on each node), ``items`` of each task, ``depth`` and ``branch`` of the tree that they
    are spread over, ``unique`` (1: each task in a directory of its own), ``kind`` (both, files or directories),
    ``bytes`` (written to and read from each file, with their unit), ``repetitions``, ``rate`` (operations per
    second of all together, the slowest that is expected, for the time), ``shared`` (name of the storage system that
    ``scratch`` is on), ``mdtest`` (its name or path), and those of ``probes.launch.Options``, of which ``scratch``
    names a directory that all nodes share.
    """

    name = "mdtest"
    summary = "Metadata of a shared file system: creating, examining, reading and removing by a set of nodes"
    source = "DESY storage report; Fermilab storage report (21 to 504 clients)"
    metrics = (Metric("mdtest.operations", Unit.PER_SECOND, "operations of all tasks by the time of the slowest"),)
    tools = MappingProxyType({"mpirun": "openmpi-bin", "mdtest": ""})
    options = MappingProxyType(
        {
            **DEFAULTS,
            "tasks": 0,
            "items": 1000,
            "depth": 0,
            "branch": 1,
            "unique": 1,
            "kind": "both",
            "bytes": "0 B",
            "repetitions": 1,
            "rate": 500,
            "shared": "",
            "mdtest": "mdtest",
        }
    )
    safety = Safety.LOADS
    shape = Shape.SET

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of all phases at ``rate``, and of the start."""
        given = self.given(options)
        items = float(given.whole("items", 1, _MOST_ITEMS)) * (given.whole("tasks", 0, _MOST_TASKS) or 1)
        phases = _PHASES * given.whole("repetitions", 1, 1000)
        return _START + phases * items / given.number("rate", 1, 1e9)

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """Bytes of all items; of one task's where their number follows the nodes."""
        given = self.given(options)
        each = given.size("bytes", 0, 2**40) + _INODE
        return float(each) * given.whole("items", 1, _MOST_ITEMS) * (given.whole("tasks", 0, _MOST_TASKS) or 1)

    def demands(self, target: Target) -> Demands:
        """Every node to itself, and the items; of a storage system that is named, their bytes are taken."""
        job = self.job(target)
        system = self.given(target.options).text("shared")
        taken = MappingProxyType({f"filesystem:{system}": job.writes} if system else {})
        return Demands(frozenset(Part), taken, job.writes)

    def job(self, target: Target) -> Job:
        """What is launched; PlanError for options, names and networks that do not fit."""
        given = self.given(target.options)
        tasks = given.whole("tasks", 0, _MOST_TASKS) or len(target.nodes)
        sized = {**given.values, "tasks": tasks}
        seconds, writes = 3.0 * self.estimate(sized) + 60.0, self.space(sized) + 1e6
        argv = in_shared(_arguments(given))
        job = Job(target.nodes, argv, tasks, seconds, Options.of(given.values), writes=writes)
        job.arguments()
        return job

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Wait for the round, then launch."""
        job = self.job(target)
        await contact.together()
        return (await launch_shared(contact, job),)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read mdtest's summary. ProbeOutputError when it failed, or ran with other tasks than were started."""
        refuse_failed(output, "mdtest")
        refuse_complaints(output.text + "\n" + output.error_text)
        found = told_apart(mdtest_text.readings(output.text))
        if not found:
            raise ProbeOutputError("no row of a summary that is whole", "mdtest's SUMMARY of rates")
        refuse_other_tasks(found, output.argv)
        return found


def _arguments(given: Given) -> list[str]:
    """The command line of mdtest, in letters that all versions from 1.8 to 4.1 know."""
    items, depth = given.whole("items", 1, _MOST_ITEMS), given.whole("depth", 0, 32)
    branch = given.whole("branch", 1, 10_000)
    if items < _directories(depth, branch):
        raise given.refused("items", f"at least one for each of {_directories(depth, branch)} directories of the tree")
    words = [program(given, "mdtest"), "-n", str(items), "-z", str(depth), "-b", str(branch)]
    words += ["-i", str(given.whole("repetitions", 1, 1000)), *_KINDS[given.choice("kind", _KINDS)]]
    if size := given.size("bytes", 0, 2**40):
        words += ["-w", str(size), "-e", str(size)]
    return [*words, *(["-u"] if given.flag("unique") else []), "-d", "."]


def _directories(depth: int, branch: int) -> int:
    """How many a tree has, its root included; counted no further than items may be."""
    found = level = 1
    for _ in range(depth):
        level *= branch
        found += level
        if found > _MOST_ITEMS:
            break
    return found
