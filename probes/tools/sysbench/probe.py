"""The node probe ``sysbench``: files under a scratch directory, processor, memory or threads of one node.

Versions before 1.0 have other options. Without direct I/O files smaller than twice the memory of the node are labelled
``cached=possible``.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import Demands, Metric, Output, Part, Reading, Shown, Target, Unit
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.files.node_directory import SCRATCH, ScratchProbe
from benchconsole.probes.tools.sysbench import text_reader

_TESTS = ("fileio", "cpu", "memory", "threads")
_MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
_ALL = ("seqwr", "seqrd", "rndrd", "rndwr", "rndrw")
_PREPARING = 100e6
"""Byte/s at which files are made at least, for the estimate."""

# $1 scratch directory, $2 bytes, $3 files, $4 block, $5 direct, $6 threads, $7 seconds, $8 the modes.
# The functions of scratch use names of their own, among them files. Sequential writing makes its files itself;
# before the others they are filled up, through the page cache, and what that says is kept out of the reports.
_FILES = scratch.script(
    r"""
    bytes=$2 count=$3 block=$4 direct=$5 threads=$6 seconds=$7 modes=$8;
    command -v sysbench >/dev/null 2>&1 || { say "sysbench: command not found"; exit 127; };
    scratch "$1" "$bytes" "$((count + 16))";
    cd -- "$made" || exit 1;
    memory=$(awk "/^MemTotal:/ { printf \"%.0f\", \$2 * 1024 }" /proc/meminfo);
    for mode in $modes; do
        printf "benchconsole: sysbench fileio size=%s memory=%s direct=%s\n" "$bytes" "$memory" "$direct";
        set -- --file-num="$count" --file-total-size="$bytes" --file-block-size="$block" --file-test-mode="$mode";
        [ "$mode" = seqwr ] || run env LC_ALL=C sysbench fileio "$@" prepare >&2 || exit $?;
        [ "$direct" = 0 ] || set -- "$@" --file-extra-flags=direct;
        run env LC_ALL=C sysbench fileio "$@" --threads="$threads" --time="$seconds" --percentile=99 run || exit $?;
    done
    """
)

# $1 test, then its options. The note names the test, because the report does not tell threads from mutex.
_OTHERS = scratch.one_line(
    r"""
    test=$1; shift;
    command -v sysbench >/dev/null 2>&1 || { echo "sysbench: command not found" >&2; exit 127; };
    printf "benchconsole: sysbench %s size=0 memory=0 direct=0\n" "$test";
    exec env LC_ALL=C sysbench "$test" "$@" --percentile=99 run
    """
)


class Sysbench(ScratchProbe):
    """Options: ``test`` (fileio, cpu, memory or threads), ``threads`` and ``seconds`` of each run; of files
    ``scratch``, ``size``, ``files``, ``block``, ``direct`` (1 or 0), ``mode`` (one, or all) and ``shared``, the name
    of the storage system that all nodes write into; of the processor ``primes``; of memory ``memory_block`` and
    ``operation`` (write or read).
    """

    name = "sysbench"
    closing = re.compile(r"\s*(?:execution time \(avg/stddev\): .*/[0-9.]+|sum: +[0-9.]+)")
    label_names = frozenset(
        (
            "block",
            "cached",
            "direct",
            "flags",
            "fsync",
            "mix",
            "io",
            "operation",
            "pattern",
            "primes",
            "run",
            "scope",
            "size",
            "statistic",
            "test",
            "threads",
        )
    )
    summary = "sysbench: files under a scratch directory, processor, memory or threads"
    source = "Jetstream acceptance report, charge of the review panel"
    metrics = (
        Metric("sysbench.read", Unit.BYTE_RATE, "bytes read from files", Shown.STORAGE),
        Metric("sysbench.write", Unit.BYTE_RATE, "bytes written to files", Shown.STORAGE),
        Metric("sysbench.moved", Unit.BYTE_RATE, "bytes read and written together (0.4 and 0.5)", Shown.STORAGE),
        Metric("sysbench.read_iops", Unit.PER_SECOND, "read requests"),
        Metric("sysbench.write_iops", Unit.PER_SECOND, "write requests"),
        Metric("sysbench.moved_iops", Unit.PER_SECOND, "read and write requests together (0.4 and 0.5)"),
        Metric("sysbench.cpu", Unit.PER_SECOND, "times that all primes up to a limit were found"),
        Metric("sysbench.memory", Unit.BYTE_RATE, "bytes of memory written or read", Shown.STORAGE),
        Metric("sysbench.events", Unit.PER_SECOND, "events of a test without a rate of its own, such as threads"),
        Metric("sysbench.latency", Unit.SECOND, "time of one event"),
    )
    tools = MappingProxyType({"sysbench": "sysbench"})
    versions = MappingProxyType({"sysbench": "1.0"})
    options = MappingProxyType(
        {
            "test": "fileio", "mode": "all", "threads": 1, "seconds": 5, "scratch": SCRATCH, "size": "1 GiB",
            "files": 16, "block": "16 KiB", "direct": 1, "shared": "", "primes": 10_000, "memory_block": "1 MiB",
            "operation": "write",
        }
    )  # fmt: skip
    patience = 2.0
    timeout = 120.0

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        seconds = given.whole("seconds", 1) + 1.0
        if given.choice("test", _TESTS) != "fileio":
            return seconds
        return len(self._modes(options)) * seconds + given.size("size", 512) / _PREPARING

    def demands(self, target: Target) -> Demands:
        """The node to itself and the files; processor and memory where nothing is written."""
        if self.given(target.options).choice("test", _TESTS) != "fileio":
            return Demands(frozenset((Part.CPU, Part.MEMORY)))
        return super().demands(target)

    def space(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return float(given.size("size", 512)) if given.text("test") == "fileio" else 0.0

    def command(self, target: Target) -> Sequence[str]:
        given = self.given(target.options)
        test = given.choice("test", _TESTS)
        threads, seconds = str(given.whole("threads", 1, 4096)), str(given.whole("seconds", 1))
        if test != "fileio":
            runs = [f"--threads={threads}", f"--time={seconds}"]
            if test == "cpu":
                runs.append(f"--cpu-max-prime={given.whole('primes', 3, 10**9)}")
            elif test == "memory":
                operation = given.choice("operation", ("write", "read"))
                runs.append(f"--memory-block-size={given.size('memory_block', 1024, 2**30)}")
                runs += [f"--memory-oper={operation}", "--memory-total-size=1P"]
            return ["sh", "-c", _OTHERS, "benchconsole-sysbench", test, *runs]
        size, files, block = given.size("size", 512), given.whole("files", 1, 65_536), given.size("block", 512, 2**30)
        if size % (files * block):
            raise given.refused("size", f"a multiple of {files} files of whole blocks of {block} bytes")
        values = (given.text("scratch"), size, files, block, int(given.flag("direct")), threads, seconds)
        return ["sh", "-c", _FILES, "benchconsole-sysbench", *map(str, values), " ".join(self._modes(target.options))]

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_failed(output, "sysbench")
        return text_reader.parse_text(output.text)

    def _modes(self, options: Mapping[str, str | int | float]) -> Sequence[str]:
        mode = self.given(options).choice("mode", ("all", *_MODES))
        return _ALL if mode == "all" else (mode,)
