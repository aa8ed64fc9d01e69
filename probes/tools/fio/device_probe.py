"""The node probe ``fio-device``: reading and writing a whole disk past any file system. It destroys.

Runs only on a disk that the topology lists by serial number, that a person has confirmed by typing it, and that the
node shows to be blank in the same breath (``probes.blank_devices``).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes import blank_devices, scratch
from benchconsole.probes.api import Contact, Demands, Interval, Output, Part, Probe, Reading, Safety, Target
from benchconsole.probes.tools.fio import interval_lines
from benchconsole.probes.tools.fio.probe import Fio, read_interval_line, read_output, rename_metric
from benchconsole.topology.copying import replace

_RUNS = ("read", "randread", "write", "randwrite")

# $1 serial number, $2 bytes from the beginning of the disk, $3 seconds, $4 and $5 blocks, $6 where sysfs is.
# The reads come first and may not write at all; the disk is looked at before each run.
_SCRIPT = scratch.script(
    blank_devices.BLANK
    + interval_lines.TOLD
    + r"""
    size=$2 seconds=$3 large=$4 small=$5;
    command -v fio >/dev/null 2>&1 || { say "fio: command not found"; exit 127; };
    trap "ended 129" HUP; trap "ended 130" INT; trap "ended 143" TERM;
    for rw in read randread write randwrite; do
        case $rw in rand*) pattern=random block=$small;; *) pattern=sequential block=$large;; esac;
        case $rw in *read) guard=--readonly;; *) guard=--allow_mounted_write=0;; esac;
        blank "$1" "$6";
        [ "$size" -le "$bytes" ] || refuse "$device has $bytes bytes, $size are to be written";
        told "$pattern-${rw#rand}" rchar wchar fio --output-format=json --eta=never "$guard" --filename="$device"
            --name="$pattern-${rw#rand}" --rw="$rw" --bs="$block" --size="$size" --ioengine=psync
            --direct=1 --end_fsync=1 --time_based --runtime="$seconds" || exit $?;
    done
    """
)


class FioDevice(Probe):
    """Options: ``serial`` of the disk, ``confirmed`` with the same words, ``size`` of what is used of it from its
    beginning, ``seconds`` of each run, and the blocks ``large`` and ``small``.
    """

    name = "fio-device"
    closing = Fio.closing
    label_names = Fio.label_names
    summary = "Throughput, operations and latency of a blank disk, which it overwrites"
    source = "the fio of the Jetstream acceptance report, on a disk without a file system"
    metrics = tuple(replace(metric, name=rename_metric(metric.name, "fio-device")) for metric in Fio.metrics)
    tools = MappingProxyType({"fio": "fio"})
    options = MappingProxyType(
        {"serial": "", "confirmed": "", "size": "1 GiB", "seconds": 5, "large": "1 MiB", "small": "4 KiB"}
    )
    safety = Safety.DESTROYS
    timeout = 120.0

    def __init__(self, sysfs: str = blank_devices.SYSFS) -> None:
        self._sysfs = sysfs

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return len(_RUNS) * (self.given(options).number("seconds") + 1.0)

    def demands(self, target: Target) -> Demands:
        """The node's disks and processor to itself. PlanError unless everything has been agreed to."""
        given = self.given(target.options)
        blank_devices.require_agreement(target.node, given.values, self.name)
        alone = frozenset((Part.CPU, Part.MEMORY, Part.DISK))
        return Demands(alone, writes=2.0 * given.size("size", 512))

    def command(self, target: Target) -> Sequence[str]:
        given = self.given(target.options)
        serial = blank_devices.require_agreement(target.node, given.values, self.name)
        seconds = max(given.number("seconds"), 1.0)
        sizes = [str(given.size(name, 512)) for name in ("size", "large", "small")]
        values = [serial, sizes[0], f"{seconds:.0f}", *sizes[1:], self._sysfs]
        return ["sh", "-c", _SCRIPT, "benchconsole-fio-device", *values]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        allowed = 2.0 * self.estimate(target.options) + 60.0
        said = await contact.here.run(self.command(target), timeout=allowed, privileged=True)
        return (interval_lines.drop_lines(scratch.heed(said, contact.here.node)),)

    def read_intervals(self, line: str, target: Target) -> Sequence[Interval]:
        return read_interval_line(line, self.name, self.given(target.options))

    def parse(self, output: Output) -> Sequence[Reading]:
        return read_output(output, self.name)
