"""Owns the set probe ``ior``: all nodes of a set write and read a shared file system at once, counted by IOR.

The options are those of the LLNL Lustre report's script. Everything is written into a directory of its own below
``scratch``, which all nodes must see (``probes.builtin.shared_scratch``), and is gone with it. Refuses numbers of
another number of tasks than was started: IOR under an MPI that is not its own runs alone, many times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    Shown,
    Target,
    Unit,
)
from probes.builtin import ior_json, ior_text
from probes.builtin.captured import refuse_failed, told_apart
from probes.builtin.shared_scratch import in_shared, launch_shared
from probes.launch import DEFAULTS, Job, Options

_APIS = ("POSIX", "MPIIO", "HDF5")
_ACCESS = ("file-per-process", "shared-file")
_FILE = "ior.data"
_START = 20.0
_MOST_TASKS = 100_000


@dataclass(frozen=True, slots=True)
class _Amounts:
    """What one task writes: bytes of one transfer, of a block, blocks, and how often all of it."""

    transfer: int
    block: int
    segments: int
    repetitions: int

    @classmethod
    def of(cls, given: Given) -> "_Amounts":
        """PlanError where blocks are no whole transfers."""
        transfer, block = given.size("transfer", 8, 2**40), given.size("block", 8, 2**50)
        if block % transfer != 0:
            raise given.refused("block", f"whole transfers of {given.text('transfer')}")
        return cls(transfer, block, given.whole("segments", 1, 10**9), given.whole("repetitions", 1, 1000))

    @property
    def bytes(self) -> float:
        """What the files of one task hold."""
        return float(self.block) * self.segments


class Ior(Probe):
    """Options: ``tasks`` (0: one on each node), ``api`` (POSIX, MPIIO, HDF5), ``access`` (file-per-process or
    shared-file), ``transfer``, ``block``, ``segments`` and ``repetitions``, ``reorder`` (1: tasks read what another
    node wrote), ``fsync`` (1: writing ends when the servers have it), ``barriers`` (1: phases begin together),
    ``delay`` (seconds before each phase), ``rate`` (of all together, the slowest that is expected, for the time),
    ``shared`` (name of the storage system that ``scratch`` is on), ``ior`` (its name or path), and those of
    ``probes.launch.Options``, of which ``scratch`` names a directory that all nodes share.
    """

    name = "ior"
    summary = "IOR over a set of nodes: writing and reading a shared file system together"
    source = "LLNL Lustre report, appendix B; Jetstream acceptance report, 5.1.2.1"
    metrics = (
        Metric("ior.throughput", Unit.BYTE_RATE, "bytes of all tasks by the time of the slowest", Shown.STORAGE),
        Metric("ior.operations", Unit.PER_SECOND, "transfers of all tasks, opening and closing included"),
    )
    tools = MappingProxyType({"mpirun": "openmpi-bin", "ior": ""})
    options = MappingProxyType(
        {
            **DEFAULTS,
            "tasks": 0,
            "api": "POSIX",
            "access": "file-per-process",
            "transfer": "512 KiB",
            "block": "32 MiB",
            "segments": 1,
            "repetitions": 1,
            "reorder": 1,
            "fsync": 1,
            "barriers": 1,
            "delay": 0,
            "rate": "100 MB/s",
            "shared": "",
            "ior": "ior",
        }
    )
    safety = Safety.LOADS
    shape = Shape.SET

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of writing and reading at ``rate``, of the delays, and of the start."""
        given = self.given(options)
        amounts = _Amounts.of(given)
        tasks = given.whole("tasks", 0, _MOST_TASKS) or 1
        once = amounts.bytes * tasks / given.quantity("rate", Unit.BYTE_RATE) + given.whole("delay", 0, 3600)
        return _START + 2.0 * amounts.repetitions * once

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """Bytes of all files; of one task where their number follows the nodes."""
        given = self.given(options)
        return _Amounts.of(given).bytes * (given.whole("tasks", 0, _MOST_TASKS) or 1)

    def demands(self, target: Target) -> Demands:
        """Every node to itself, and the files; of a storage system that is named, their bytes are taken."""
        job = self.job(target)
        system = self.given(target.options).text("shared")
        taken = MappingProxyType({f"filesystem:{system}": job.writes} if system else {})
        return Demands(frozenset(Part), taken, job.writes)

    def job(self, target: Target) -> Job:
        """What is launched; PlanError for options, names and networks that do not fit."""
        given = self.given(target.options)
        amounts, tasks = _Amounts.of(given), given.whole("tasks", 0, _MOST_TASKS) or len(target.nodes)
        seconds = 3.0 * self.estimate({**given.values, "tasks": tasks}) + 60.0
        program = in_shared(_arguments(given, amounts))
        job = Job(target.nodes, program, tasks, seconds, Options.of(given.values), writes=amounts.bytes * tasks + 1e6)
        job.arguments()
        return job

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Wait for the round, then launch."""
        job = self.job(target)
        await contact.together()
        return (await launch_shared(contact, job),)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read IOR's text or JSON. ProbeOutputError when it failed, or ran with other tasks than were started."""
        refuse_failed(output, "ior")
        ior_text.refuse_complaints(output.text + "\n" + output.error_text)
        found = told_apart(ior_text.once([*ior_text.readings(output.text), *ior_json.readings(output.text)]))
        if not found:
            raise ProbeOutputError("no row of results that is whole", "the results of IOR as text or JSON")
        refuse_other_tasks(found, output.argv)
        return found


def _arguments(given: Given, amounts: _Amounts) -> list[str]:
    """IOR's command line, in letters that all versions from 2.10 to 4.1 know."""
    chosen = {"-e": given.flag("fsync"), "-g": given.flag("barriers"), "-C": given.flag("reorder")}
    chosen["-F"] = given.choice("access", _ACCESS) == _ACCESS[0]
    words = [
        program(given, "ior"),
        "-v",
        "-a",
        given.choice("api", _APIS),
        *(word for word, on in chosen.items() if on),
    ]
    sizes = {"-t": amounts.transfer, "-b": amounts.block, "-s": amounts.segments, "-i": amounts.repetitions}
    for word, value in {**sizes, "-d": given.whole("delay", 0, 3600)}.items():
        words += [word, str(value)]
    return [*words, "-o", _FILE]


def program(given: Given, name: str) -> str:
    """The option ``name``: a program by that name, or its absolute path."""
    text = given.text(name)
    if text != name and not (text.startswith("/") and text.isprintable() and " " not in text):
        raise given.refused(name, f"{name}, or an absolute path")
    return text


def refuse_other_tasks(found: Sequence[Reading], argv: Sequence[str]) -> None:
    """Raise ProbeOutputError where the number of tasks that a reading is labelled with is not what ``argv`` started."""
    if "-np" not in argv[:-1]:
        return
    started = argv[argv.index("-np") + 1]
    for reading in found:
        ran = dict(reading.labels).get("tasks", started)
        if ran != started:
            raise ProbeOutputError(f"{ran} tasks", f"{started} tasks, as mpirun started (is it built for this MPI?)")
