"""The node probe ``dd``: a large file written and read again in one stream, as Jetstream's acceptance did.

What is read must come from the disk: direct I/O, or a file that the kernel was told to forget and has forgotten. Where
direct I/O is refused, the run fails unless ``direct=0`` was asked for.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import Metric, Output, ProbeOutputError, Reading, Shown, Target, Unit
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.dd import text_reader
from benchconsole.probes.tools.files.node_directory import SCRATCH, ScratchProbe

_SECTOR = 512

# $1 scratch directory, $2 bytes, $3 bytes of a block, $4 direct, $5 sync, $6 drop. dd speaks on standard error;
# here both go one way, so that each of its summaries stands below the line that says what it did.
_SCRIPT = scratch.script(
    r"""
    bytes=$2 block=$3 direct=$4 sync=$5 drop=$6 cache=0;
    export LC_ALL=C;
    command -v dd >/dev/null 2>&1 || { say "dd: command not found"; exit 127; };
    scratch "$1" "$bytes";
    exec 2>&1;
    mark() { echo "benchconsole-dd operation=$1 size=$bytes block=$block direct=$direct sync=$sync cache=$cache"; };
    count=$((bytes / block)); oflag= iflag= conv=;
    if [ "$direct" = 1 ]; then oflag=oflag=direct iflag=iflag=direct; fi;
    if [ "$sync" = 1 ]; then conv=conv=fsync; fi;
    mark write;
    run dd if=/dev/zero of="$made/data" bs="$block" count="$count" $oflag $conv || exit $?;
    if [ "$direct$drop" = 00 ]; then cache=1; fi;
    if [ "$direct$drop" = 01 ]; then
        iflag=iflag=nocache;
        sync "$made/data" && run dd if="$made/data" iflag=nocache count=0 status=none || exit $?;
        command -v fincore >/dev/null 2>&1 || { echo "fincore: command not found"; exit 127; };
        kept=$(fincore --bytes --noheadings --output RES "$made/data" | tr -d " ");
        [ "$kept" -le $((bytes / 100)) ] || {
            echo "dd: the page cache keeps $kept of $bytes bytes, so reading would not be the disk"; exit 1; };
    fi;
    mark read;
    run dd if="$made/data" of=/dev/null bs="$block" count="$count" $iflag || exit $?
    """
)


class Dd(ScratchProbe):
    """Options: ``scratch`` (absolute path), ``size`` of the file and of a ``block``, ``direct`` (1 or 0), ``sync``
    (1: writing ends when the disk has it), ``drop`` (1: with ``direct=0`` the file is forgotten before it is read),
    ``rate`` (the slowest that is expected, for the time), and ``shared``: the name of the storage system that
    ``scratch`` is on, where all nodes write into one.
    """

    name = "dd"
    summary = "One large file in a scratch directory, written and read again in one stream"
    source = "Jetstream acceptance report, 5.1.2"
    metrics = (Metric("dd.throughput", Unit.BYTE_RATE, "bytes copied by the seconds that it took", Shown.STORAGE),)
    tools = MappingProxyType({"dd": "coreutils"})
    options = MappingProxyType(
        {
            "scratch": SCRATCH, "size": "2 GiB", "block": "1 MiB", "direct": 1, "sync": 1, "drop": 1,
            "rate": "100 MB/s", "shared": "",
        }
    )  # fmt: skip
    patience = 5.0
    timeout = 300.0

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return 2.0 + 2.0 * given.size("size", _SECTOR) / given.quantity("rate", Unit.BYTE_RATE)

    def space(self, options: Mapping[str, str | int | float]) -> float:
        return float(self.given(options).size("size", _SECTOR))

    def command(self, target: Target) -> Sequence[str]:
        given = self.given(target.options)
        size, block = given.size("size", _SECTOR), given.size("block", _SECTOR, 2**30)
        if size % block != 0:
            raise given.refused("size", f"whole blocks of {given.text('block')}")
        if given.flag("direct") and block % _SECTOR != 0:
            raise given.refused("block", f"a multiple of {_SECTOR} bytes with direct=1")
        flags = [str(int(given.flag(name))) for name in ("direct", "sync", "drop")]
        return ["sh", "-c", _SCRIPT, "benchconsole-dd", given.path("scratch"), str(size), str(block), *flags]

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read every run that dd reports, on either stream. ProbeOutputError where one failed or none is whole."""
        found = [*text_reader.readings(output.text), *text_reader.readings(output.error_text)]
        refuse_failed(output, "dd")
        if not found:
            raise ProbeOutputError("no run of dd that was read to its end", "dd's line of bytes, seconds and rate")
        return found
