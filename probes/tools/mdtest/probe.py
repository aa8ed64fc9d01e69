"""The set probe ``mdtest``: all nodes of a set create, stat, read and remove files and directories at once.

How it is launched is ``probes.tools.ior.family``.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Given, Metric, Reading, Unit
from benchconsole.probes.launch import DEFAULTS
from benchconsole.probes.tools.ior.family import START, IorProgram, read_program, read_tasks
from benchconsole.probes.tools.mdtest import text_reader

_KINDS = {"both": (), "files": ("-F",), "directories": ("-D",)}
_PHASES = 8
_MOST_ITEMS = 10_000_000
_INODE = 4096
"""Bytes that a file system takes for an item without content, at most, but for the largest of blocks."""


class Mdtest(IorProgram):
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
            **DEFAULTS, "tasks": 0, "items": 1000, "depth": 0, "branch": 1, "unique": 1, "kind": "both", "bytes": "0 B",
            "repetitions": 1, "rate": 500, "shared": "", "mdtest": "mdtest",
        }
    )  # fmt: skip
    results = "mdtest's SUMMARY of rates"

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        items = float(given.whole("items", 1, _MOST_ITEMS)) * (read_tasks(given) or 1)
        phases = _PHASES * given.whole("repetitions", 1, 1000)
        return START + phases * items / given.number("rate", 1, 1e9)

    def space(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        each = given.size("bytes", 0, 2**40) + _INODE
        return float(each) * given.whole("items", 1, _MOST_ITEMS) * (read_tasks(given) or 1)

    def program(self, given: Given) -> Sequence[str]:
        """The command line of mdtest, in letters that all versions from 1.8 to 4.1 know."""
        items, depth = given.whole("items", 1, _MOST_ITEMS), given.whole("depth", 0, 32)
        branch = given.whole("branch", 1, 10_000)
        least = _count_directories(depth, branch)
        if items < least:
            raise given.refused("items", f"at least one for each of {least} directories of the tree")
        words = [read_program(given, "mdtest"), "-n", str(items), "-z", str(depth), "-b", str(branch)]
        words += ["-i", str(given.whole("repetitions", 1, 1000)), *_KINDS[given.choice("kind", _KINDS)]]
        if size := given.size("bytes", 0, 2**40):
            words += ["-w", str(size), "-e", str(size)]
        return [*words, *(["-u"] if given.flag("unique") else []), "-d", "."]

    def rates(self, text: str) -> Sequence[Reading]:
        return text_reader.readings(text)


def _count_directories(depth: int, branch: int) -> int:
    """How many a tree has, its root included; counted no further than items may be."""
    found = level = 1
    for _ in range(depth):
        level *= branch
        found += level
        if found > _MOST_ITEMS:
            break
    return found
