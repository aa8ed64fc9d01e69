"""The set probe ``ior``: all nodes of a set write and read a shared file system at once, counted by IOR.

The options are those of the LLNL Lustre report's script; how it is launched is ``probes.tools.ior.family``.
"""

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Given, Labels, Metric, Reading, Shown, Target, Unit, labels
from benchconsole.probes.launch import DEFAULTS
from benchconsole.probes.readers.memory import find_memory, format_share
from benchconsole.probes.readers.numbers import parse_size
from benchconsole.probes.tools.ior import output_reader
from benchconsole.probes.tools.ior.family import START, IorProgram, read_program, read_tasks

_APIS = ("POSIX", "MPIIO", "HDF5")
_ACCESS = ("file-per-process", "shared-file")
_FILE = "ior.data"


def _read_amounts(given: Given) -> tuple[int, int, int, int]:
    """Bytes of a transfer and of a block, blocks of a task, repetitions. PlanError where transfers leave a rest."""
    transfer, block = given.size("transfer", 8, 2**40), given.size("block", 8, 2**50)
    if block % transfer != 0:
        raise given.refused("block", f"whole transfers of {given.text('transfer')}")
    return transfer, block, given.whole("segments", 1, 10**9), given.whole("repetitions", 1, 1000)


class Ior(IorProgram):
    """Options: ``tasks`` (0: one on each node), ``api`` (POSIX, MPIIO, HDF5), ``access`` (file-per-process or
    shared-file), ``transfer``, ``block``, ``segments`` and ``repetitions``, ``reorder`` (1: tasks read what another
    node wrote), ``end_fsync`` (1: writing ends when the servers have it), ``barriers`` (1: phases begin together),
    ``delay`` (seconds before each phase), ``rate`` (of all together, the slowest that is expected, for the time),
    ``shared`` (name of the storage system that ``scratch`` is on), ``ior`` (its name or path), and those of
    ``probes.launch.Options``, of which ``scratch`` names a directory that all nodes share.
    """

    name = "ior"
    closing = re.compile(r"(?:Run finished|Finished) *:.*|\}")
    label_names = frozenset(
        (
            "access", "api", "barriers", "block", "direct", "end_fsync", "fsync", "iteration", "memory_share", "method",
            "operation", "pattern", "reorder", "run", "segments", "statistic", "stonewall", "tasks", "transfer",
            "verify",
        )
    )  # fmt: skip
    summary = "IOR over a set of nodes: writing and reading a shared file system together"
    source = "LLNL Lustre report, appendix B; Jetstream acceptance report, 5.1.2.1"
    metrics = (
        Metric("ior.throughput", Unit.BYTE_RATE, "bytes of all tasks by the time of the slowest", Shown.STORAGE),
        Metric("ior.operations", Unit.PER_SECOND, "transfers of all tasks, opening and closing included"),
    )
    tools = MappingProxyType({"mpirun": "openmpi-bin", "ior": ""})
    options = MappingProxyType(
        {
            **DEFAULTS, "tasks": 0, "api": "POSIX", "access": "file-per-process", "transfer": "512 KiB",
            "block": "32 MiB", "segments": 1, "repetitions": 1, "reorder": 1, "end_fsync": 1, "barriers": 1, "delay": 0,
            "rate": "100 MB/s", "shared": "", "ior": "ior",
        }
    )  # fmt: skip
    results = "the results of IOR as text or JSON"

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        once = self.space(options) / given.quantity("rate", Unit.BYTE_RATE) + given.whole("delay", 0, 3600)
        return START + 2.0 * _read_amounts(given)[3] * once

    def space(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        _, block, segments, _ = _read_amounts(given)
        return float(block) * segments * (read_tasks(given) or 1)

    def conditions(self, reading: Reading, target: Target) -> Labels:
        """``memory_share``: the bytes of all tasks, as a share of the declared memory of all nodes."""
        memory, told = find_memory(target), dict(reading.labels)
        block, counts = parse_size(told.get("block", "")), [told.get(name, "") for name in ("tasks", "segments")]
        if memory is None or block is None or not all(map(str.isdecimal, counts)):
            return ()
        return labels(memory_share=format_share(block * math.prod(map(int, counts)), memory))

    def program(self, given: Given) -> Sequence[str]:
        """IOR's command line, in letters that all versions from 2.10 to 4.1 know."""
        transfer, block, segments, repetitions = _read_amounts(given)
        chosen = {"-e": given.flag("end_fsync"), "-g": given.flag("barriers"), "-C": given.flag("reorder")}
        chosen["-F"] = given.choice("access", _ACCESS) == _ACCESS[0]
        delay = given.whole("delay", 0, 3600)
        sizes = {"-t": transfer, "-b": block, "-s": segments, "-i": repetitions, "-d": delay}
        words = [read_program(given, "ior"), "-v", "-a", given.choice("api", _APIS)]
        words += [word for word, on in chosen.items() if on]
        return [*words, *(word for key, value in sizes.items() for word in (key, str(value))), "-o", _FILE]

    def rates(self, text: str) -> Sequence[Reading]:
        return output_reader.readings(text)
