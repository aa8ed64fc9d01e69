"""The node probe ``iozone``: writing and reading a file with iozone, by one process or by several.

Everything happens inside a directory that is made and removed by the rules of ``probes.scratch``. The exit
status is 0 also for rows of zeros, so that the rows tell (``text_reader``).
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import Metric, Output, ProbeOutputError, Reading, Shown, Target, Unit
from benchconsole.probes.readers.readings import number_runs, refuse_failed
from benchconsole.probes.tools.files.node_directory import SCRATCH, ScratchProbe
from benchconsole.probes.tools.iozone import text_reader

_KIB = 1024

# $1 scratch directory, $2 bytes of all files, $3 processes, $4 iozone; then its options.
# With several processes each has a file of its own, named with -F after everything else.
_SCRIPT = scratch.script(
    r"""
    place=$1 bytes=$2 streams=$3 iozone=$4; shift 4;
    export LC_ALL=C;
    command -v "$iozone" >/dev/null 2>&1 || { say "$iozone: command not found"; exit 127; };
    scratch "$place" "$bytes" $((streams + 16));
    cd "$made" || exit 1;
    if [ "$streams" = 1 ]; then
        set -- "$@" -f data;
    else
        set -- "$@" -t "$streams" -F; each=0;
        while [ "$each" -lt "$streams" ]; do each=$((each + 1)); set -- "$@" "data.$each"; done;
    fi;
    run "$iozone" "$@" || exit $?
    """
)


class Iozone(ScratchProbe):
    """Options: ``scratch`` (absolute path), ``size`` of each file and of a ``block``, ``streams`` (processes, each with
    a file), ``random`` (1: also random reading and writing), ``retest`` (1: everything twice), ``direct`` (1: past
    the page cache), ``end_fsync`` (1: writing ends when the disk has it), ``rate`` (of all, the slowest that is
    expected, for the time), ``shared`` (name of the storage system that ``scratch`` is on) and ``iozone`` (its name or
    path).
    """

    name = "iozone"
    closing = re.compile(r"iozone test complete\.")
    label_names = frozenset(
        ("block", "close", "direct", "end_fsync", "mmap", "operation", "run", "size", "statistic", "sync", "tasks")
    )
    summary = "Writing and reading files in a scratch directory with iozone, by one process or several"
    source = "DESY storage report; Fermilab storage report"
    metrics = (
        Metric("iozone.throughput", Unit.BYTE_RATE, "bytes of all processes", Shown.STORAGE),
        Metric("iozone.process_throughput", Unit.BYTE_RATE, "bytes of one process of several", Shown.STORAGE),
        Metric("iozone.operations", Unit.PER_SECOND, "operations of all processes (-O)"),
        Metric("iozone.process_operations", Unit.PER_SECOND, "operations of one process of several (-O)"),
        Metric("iozone.latency", Unit.SECOND, "time of one operation (-N)"),
    )
    tools = MappingProxyType({"iozone": ""})
    options = MappingProxyType(
        {
            "scratch": SCRATCH, "size": "1 GiB", "block": "2 MiB", "streams": 1, "random": 0, "retest": 0, "direct": 1,
            "end_fsync": 1, "rate": "100 MB/s", "shared": "", "iozone": "iozone",
        }
    )  # fmt: skip
    timeout = 600.0

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        tests = (2 + 2 * given.flag("random")) * (1 + given.flag("retest"))
        return 3.0 + tests * self.space(options) / given.quantity("rate", Unit.BYTE_RATE)

    def space(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return float(given.size("size", 64 * _KIB)) * given.whole("streams", 1, 256)

    def command(self, target: Target) -> Sequence[str]:
        given = self.given(target.options)
        size, block = given.size("size", 64 * _KIB), given.size("block", 4 * _KIB, 16 * 2**20)
        if size % block != 0 or block % _KIB != 0:
            raise given.refused("size", f"whole blocks of {given.text('block')}, these whole KiB")
        chosen = {"-I": given.flag("direct"), "-e": given.flag("end_fsync"), "-+n": not given.flag("retest")}
        words = ["-i0", "-i1", *(["-i2"] if given.flag("random") else []), *(word for word, on in chosen.items() if on)]
        sizes = [f"-r{block // _KIB}k", f"-s{size // _KIB}k"]
        place, streams = given.path("scratch"), str(given.whole("streams", 1, 256))
        program = given.text("iozone") if given.text("iozone") == "iozone" else given.path("iozone")
        head = [place, f"{self.space(target.options):.0f}", streams, program]
        return ["sh", "-c", _SCRIPT, "benchconsole-iozone", *head, *words, *sizes]

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_failed(output, "iozone")
        found = number_runs(text_reader.readings(output.text))
        if not found:
            raise ProbeOutputError("no row of results that is whole", "iozone's table, or its throughput by processes")
        return found
