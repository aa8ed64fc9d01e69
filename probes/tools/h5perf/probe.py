"""The node probe ``h5perf``: how fast HDF5 writes and reads a data set, beside plain POSIX calls.

It opens files without direct I/O: data sets smaller than twice the memory of the node are labelled ``cached=possible``.
The parallel program is the probe ``h5perf-parallel``; its reports are read here, too.

Source: HDF5 1.8 and 1.10, ``tools/perform/sio_perf.c``.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import Metric, Output, Reading, Shown, Target, Unit
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.files.node_directory import SCRATCH, ScratchProbe
from benchconsole.probes.tools.h5perf import report_reader

_KIB = 1024
_APIS = ("posix", "hdf5", "posix,hdf5")
_DRIVERS = ("sec2", "stdio")
_START = 3.0

# $1 scratch directory, $2 KiB of the data set, $3 KiB of the buffer, $4 iterations, $5 interfaces, $6 driver, $7 only
# writing.
_SCRIPT = scratch.script(
    r"""
    size=$2 buffer=$3 iterations=$4 apis=$5 driver=$6 only=$7;
    command -v h5perf_serial >/dev/null 2>&1 || { say "h5perf_serial: command not found"; exit 127; };
    scratch "$1" "$((size * 1024 + 1048576))";
    memory=$(awk "/^MemTotal:/ { printf \"%.0f\", \$2 * 1024 }" /proc/meminfo);
    printf "benchconsole: h5perf_serial size=%s memory=%s\n" "$((size * 1024))" "$memory";
    set -- -A "$apis" -e "${size}K" -x "${buffer}K" -i "$iterations" -v "$driver";
    [ "$only" = 0 ] || set -- "$@" -w;
    run env LC_ALL=C HDF5_PREFIX="$made" h5perf_serial "$@"
    """
)


class H5perf(ScratchProbe):
    """Options: ``scratch`` (absolute path), ``size`` of the data set, ``buffer`` of one transfer, ``iterations``,
    ``apis`` (posix, hdf5 or both), ``driver`` of HDF5 (sec2 or stdio), ``write_only``, ``rate`` (the slowest
    expected, for the time), and ``shared``: the name of the storage system that ``scratch`` is on.
    """

    name = "h5perf"
    label_names = report_reader.LABELS
    summary = "HDF5 and POSIX throughput of one process under a scratch directory"
    source = "DESY storage report, benchmarks"
    metrics = (
        Metric("h5perf.write", Unit.BYTE_RATE, "bytes of a data set written", Shown.STORAGE),
        Metric("h5perf.read", Unit.BYTE_RATE, "bytes of a data set read", Shown.STORAGE),
    )
    tools = MappingProxyType({"h5perf_serial": "hdf5-tools"})
    options = MappingProxyType(
        {
            "scratch": SCRATCH, "size": "256 MiB", "buffer": "1 MiB", "iterations": 3, "apis": "posix,hdf5",
            "driver": "sec2", "write_only": 0, "rate": "100 MB/s", "shared": "",
        }
    )  # fmt: skip
    timeout = 120.0

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        apis = len(given.choice("apis", _APIS).split(","))
        passes = apis * given.whole("iterations", 1, 1000) * (1 if given.flag("write_only") else 2)
        return _START + passes * given.size("size", _KIB) / given.quantity("rate", Unit.BYTE_RATE)

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """Bytes of the data set; h5perf removes its file after each iteration."""
        return float(self.given(options).size("size", _KIB))

    def command(self, target: Target) -> Sequence[str]:
        given = self.given(target.options)
        size, buffer = given.size("size", _KIB), given.size("buffer", _KIB)
        if buffer % _KIB:
            raise given.refused("buffer", "whole KiB")
        if size % buffer:
            raise given.refused("size", f"a multiple of the buffer of {buffer} bytes")
        numbers = (size // _KIB, buffer // _KIB, given.whole("iterations", 1, 1000))
        words = (given.choice("apis", _APIS), given.choice("driver", _DRIVERS), int(given.flag("write_only")))
        values = map(str, (given.text("scratch"), *numbers, *words))
        return ["sh", "-c", _SCRIPT, "benchconsole-h5perf", *values]

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_failed(output, "h5perf")
        report_reader.refuse_complaint(output.error_text)
        return report_reader.read_report(output.text, self.name)
