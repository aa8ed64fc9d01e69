"""The set probe ``h5perf-parallel``: all nodes of a set write and read one HDF5 file together, beside MPI-IO and POSIX.

It is launched as IOR is (``probes.tools.ior.family``). Each task has its region of one data set, or interleaved blocks.

Source: HDF5 1.8 to 1.14, ``tools/perform/pio_perf.c``, later ``tools/src/h5perf``.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Given, Labels, Metric, Output, Reading, Shown, Target, Unit, labels
from benchconsole.probes.launch import DEFAULTS
from benchconsole.probes.readers.memory import find_memory, format_share
from benchconsole.probes.tools.h5perf import report_reader
from benchconsole.probes.tools.ior.family import START, IorProgram, read_program, read_tasks

_KIB = 1024
_APIS = ("posix", "mpiio", "phdf5")
_METHODS = ("independent", "collective")
_PATTERNS = ("contiguous", "interleaved")


class ParallelH5perf(IorProgram):
    """Options: ``tasks`` (0: one on each node), ``size`` of each task's part of the data set, ``buffer`` of one
    transfer, ``iterations``, ``apis`` (of posix, mpiio, phdf5, with commas), ``method`` (independent or collective),
    ``pattern`` (contiguous or interleaved), ``write_only``, ``rate`` (of all together, the slowest that is expected,
    for the time), ``shared`` (name of the storage system that ``scratch`` is on), ``h5perf`` (its name or path), and
    those of ``probes.launch.Options``, of which ``scratch`` names a directory that all nodes share.
    """

    name = "h5perf-parallel"
    label_names = report_reader.LABELS | {"memory_share"}
    summary = "HDF5, MPI-IO and POSIX throughput of a set of nodes on one shared file"
    source = "DESY storage report, benchmarks"
    metrics = (
        Metric("h5perf-parallel.write", Unit.BYTE_RATE, "bytes of a data set that all tasks wrote", Shown.STORAGE),
        Metric("h5perf-parallel.read", Unit.BYTE_RATE, "bytes of a data set that all tasks read", Shown.STORAGE),
    )
    tools = MappingProxyType({"mpirun": "openmpi-bin", "h5perf": ""})
    options = MappingProxyType(
        {
            **DEFAULTS, "tasks": 0, "size": "256 MiB", "buffer": "1 MiB", "iterations": 3, "apis": ",".join(_APIS),
            "method": "independent", "pattern": "contiguous", "write_only": 0, "rate": "100 MB/s", "shared": "",
            "h5perf": "h5perf",
        }
    )  # fmt: skip
    results = "the report of the parallel h5perf"

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        passes = len(_read_apis(given)) * given.whole("iterations", 1, 1000) * (1 if given.flag("write_only") else 2)
        return START + passes * self.space(options) / given.quantity("rate", Unit.BYTE_RATE)

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """Bytes of the data set; h5perf removes its file after each iteration."""
        given = self.given(options)
        return float(_read_sizes(given)[0] * (read_tasks(given) or 1))

    def conditions(self, reading: Reading, target: Target) -> Labels:
        """``memory_share``: the bytes of all tasks, as a share of the declared memory of all nodes."""
        memory, tasks = find_memory(target), dict(reading.labels).get("tasks", "")
        if memory is None or not tasks.isdecimal():
            return ()
        return labels(memory_share=format_share(_read_sizes(self.given(target.options))[0] * int(tasks), memory))

    def program(self, given: Given) -> Sequence[str]:
        """The command line of a rank. Blocks are as large as transfers, and no smaller number of tasks is tried."""
        size, buffer = _read_sizes(given)
        tasks = str(read_tasks(given) or 1)
        sizes = {"-e": size, "-x": buffer, "-X": buffer, "-B": buffer}
        words = ["env", "HDF5_PREFIX=.", "HDF5_PARAPREFIX=.", read_program(given, "h5perf")]
        words += ["-A", ",".join(_read_apis(given)), "-i", str(given.whole("iterations", 1, 1000))]
        words += [word for key, value in sizes.items() for word in (key, f"{value // _KIB}K")]
        words += ["-p", tasks, "-P", tasks]
        chosen = {"-C": given.choice("method", _METHODS) == _METHODS[1], "-w": given.flag("write_only")}
        chosen["-I"] = given.choice("pattern", _PATTERNS) == _PATTERNS[1]
        return [*words, *(word for word, on in chosen.items() if on)]

    def rates(self, text: str) -> Sequence[Reading]:
        return report_reader.read_report(text, self.name)

    def parse(self, output: Output) -> Sequence[Reading]:
        report_reader.refuse_complaint(output.error_text)
        return super().parse(output)


def _read_apis(given: Given) -> list[str]:
    found = [name.strip() for name in given.text("apis").split(",")]
    if not set(found) <= set(_APIS) or len(set(found)) < len(found):
        raise given.refused("apis", f"some of {', '.join(_APIS)}, each once")
    return found


def _read_sizes(given: Given) -> tuple[int, int]:
    """Bytes of the part of a task and of a transfer; PlanError where transfers leave a rest."""
    size, buffer = given.size("size", _KIB), given.size("buffer", _KIB)
    if buffer % _KIB:
        raise given.refused("buffer", "whole KiB")
    if size % buffer:
        raise given.refused("size", f"a multiple of the buffer of {buffer} bytes")
    return size, buffer
