"""The node probe ``fio``: reading and writing a file of its own, large blocks and small ones.

Everything happens inside a directory that is made and removed by the rules of ``probes.scratch``. It never falls back
to the page cache: a file system without direct I/O is a failure unless ``direct=0`` was asked for, and then labelled.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from benchconsole.probes import scratch
from benchconsole.probes.api import Contact, Demands, Given, Interval, Metric, Output, Reading, Shown, Target, Unit
from benchconsole.probes.readers.numbers import format_bytes
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.files.node_directory import SCRATCH, ScratchProbe
from benchconsole.probes.tools.fio import interval_lines, json_reader
from benchconsole.topology.copying import replace

_BLOCKS = {"large": "1 MiB", "small": "4 KiB"}
_WAYS = ("write", "read", "randwrite", "randread")
_READING = frozenset(("read", "randread", "randrw"))
_LAYOUT_RATE = 100e6
"""byte/s at which a file is taken to be written before a run reads it: that of one rotating disk."""

# Calls ``one NAME OPTION...`` for each of ``$runs``, the options written as on fio's command line.
# One fio per run: a common one would lay out the files of all before the first begins.
RUNS = r"""
    engine=psync;
    [ "$depth" = 1 ] || engine=libaio;
    for rw in $runs; do
        case $rw in rand*) pattern=random block=$small;; *) pattern=sequential block=$large;; esac;
        case $rw in randrw) kind=mixed; set -- --rwmixread="$mix";; *) kind=${rw#rand}; set -- ;; esac;
        one "$pattern-$kind" --allow_mounted_write=0 --unlink=1 --rw="$rw" --bs="$block" --size="$bytes"
            --ioengine="$engine" --numjobs="$jobs" --iodepth="$depth" "$@" --direct="$direct" --end_fsync=1
            --time_based --runtime="$seconds" --stonewall || exit $?;
    done
    """
# $1 scratch directory, $2 bytes, $3 seconds, $4 direct, $5 block of the sequential runs, $6 of the random ones, $7 jobs
# at once, each with a file of its own, $8 requests of each under way, $9 per cent of reads in a mixed run (0: none).
WORDS = "place=$1 bytes=$2 seconds=$3 direct=$4 large=$5 small=$6 jobs=$7 depth=$8 mix=$9; shift 9;\n"

_SCRIPT = scratch.script(
    WORDS
    + interval_lines.TOLD
    + r"""
    command -v fio >/dev/null 2>&1 || { say "fio: command not found"; exit 127; };
    case $place in *:*) refuse "fio cannot work in a path with a colon, $place";; esac;
    scratch "$place" "$((bytes * jobs))" "$((jobs + 16))";
    counters="rchar wchar"; [ "$depth" = 1 ] || counters="read_bytes write_bytes";
    one() {
        name=$1; shift;
        told "$name" $counters fio --output-format=json --eta=never --directory="$made" --name="$name" "$@"; };
    runs="write read randwrite randread";
    [ "$mix" = 0 ] || runs="$runs randrw";
    """
    + RUNS
)


def rename_metric(name: str, probe: str) -> str:
    """The metric ``name`` of ``fio`` as that of another probe that runs fio."""
    return f"{probe}.{name.removeprefix('fio.')}"


def read_output(output: Output, probe: str) -> Sequence[Reading]:
    """fio's JSON under the names of ``probe``. ProbeOutputError when fio failed, even where it printed a rate."""
    refuse_failed(output, probe)
    found = json_reader.readings(output.text, output.error_text)
    return tuple(replace(one, metric=rename_metric(one.metric, probe)) for one in found)


def read_interval_line(line: str, probe: str, given: Given) -> Sequence[Interval]:
    """The intervals that one line tells, with the blocks that a test was ``given``; mostly none."""
    if not line.startswith(interval_lines.BEGIN):
        return ()
    blocks = {"sequential": given.size("large", 512), "random": given.size("small", 512)}
    return interval_lines.read_line(line, probe, {name: format_bytes(size) for name, size in blocks.items()})


class Fio(ScratchProbe):
    """Options: ``scratch`` (absolute path), ``size``, ``seconds`` of each run, ``direct`` (1 or 0), the blocks
    ``large`` of the sequential runs and ``small`` of the random ones, ``jobs`` at once, each with a file of its own,
    ``depth`` (requests of each job under way), ``mix`` (per cent of reads in a run more, 0: none), and ``shared``:
    the name of the storage system that ``scratch`` is on, where all nodes write into one.
    """

    name = "fio"
    closing = re.compile(r"\}")
    label_names = frozenset(
        (
            "block", "client", "clients", "depth", "direct", "end_fsync", "fdatasync", "fsync", "fsync_on_close",
            "ioengine", "job", "mix", "number", "pattern", "rate", "rate_iops", "size", "statistic", "sync",
            "thinktime", "verify",
        )
    )  # fmt: skip
    summary = "Throughput, operations and latency of the file system under a scratch directory"
    source = "Jetstream acceptance report, random reads and writes"
    metrics: ClassVar[Sequence[Metric]] = (
        Metric("fio.read", Unit.BYTE_RATE, "bytes read", Shown.STORAGE),
        Metric("fio.write", Unit.BYTE_RATE, "bytes written", Shown.STORAGE),
        Metric("fio.read_iops", Unit.PER_SECOND, "read operations"),
        Metric("fio.write_iops", Unit.PER_SECOND, "write operations"),
        Metric("fio.read_latency", Unit.SECOND, "mean time of one read"),
        Metric("fio.write_latency", Unit.SECOND, "mean time of one write"),
        Metric("fio.read_percentile", Unit.SECOND, "time in which half, or 99 of 100 reads were done"),
        Metric("fio.write_percentile", Unit.SECOND, "time in which half, or 99 of 100 writes were done"),
        Metric("fio.sync_latency", Unit.SECOND, "mean time of one fsync or fdatasync between the writes"),
        Metric("fio.sync_percentile", Unit.SECOND, "time in which half, or 99 of 100 of these were done"),
    )
    tools = MappingProxyType({"fio": "fio"})
    options = MappingProxyType(
        {
            "scratch": SCRATCH, "size": "64 MiB", **_BLOCKS, "seconds": 5, "direct": 1, "jobs": 1, "depth": 1, "mix": 0,
            "shared": "",
        }
    )  # fmt: skip
    patience = 2.0
    timeout = 120.0
    file: ClassVar[str] = "size"
    """The option for the bytes of each job's file."""

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the runs, of the start of each, and of the files that are laid out before those that read."""
        runs = self.runs(options)
        laid_out = sum(run in _READING for run in runs) * self.space(options)
        return len(runs) * (self.given(options).number("seconds") + 1.0) + laid_out / _LAYOUT_RATE

    def runs(self, options: Mapping[str, str | int | float]) -> Sequence[str]:
        return (*_WAYS, "randrw") if self.given(options).whole("mix", 0, 100) else _WAYS

    def demands(self, target: Target) -> Demands:
        """The node to itself, and the file of each run; of a storage system that all share, the bytes of one."""
        one = super().demands(target)
        return replace(one, writes=one.writes * len(self.runs(target.options)))

    def space(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return float(given.size(self.file, 512) * given.whole("jobs", 1, 256))

    def command(self, target: Target) -> Sequence[str]:
        return ["sh", "-c", _SCRIPT, "benchconsole-fio", *self.words(target)]

    def words(self, target: Target) -> list[str]:
        """The arguments that ``WORDS`` reads. PlanError for options that cannot be read or do not go together."""
        given = self.given(target.options)
        sizes = [str(given.size(name, 512)) for name in (self.file, *_BLOCKS)]
        seconds, direct = given.whole("seconds", 1), given.whole("direct", 0, 1)
        jobs, depth, mix = given.whole("jobs", 1, 256), given.whole("depth", 1, 4096), given.whole("mix", 0, 100)
        if depth > 1 and not direct:
            raise given.refused("depth", "1 without direct I/O, because the page cache takes one request at a time")
        return [given.text("scratch"), sizes[0], str(seconds), str(direct), *sizes[1:], *map(str, (jobs, depth, mix))]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        return tuple(map(interval_lines.drop_lines, await super().run(contact, target)))

    def read_intervals(self, line: str, target: Target) -> Sequence[Interval]:
        return read_interval_line(line, self.name, self.given(target.options))

    def parse(self, output: Output) -> Sequence[Reading]:
        return read_output(output, self.name)
