"""Owns the node probe ``fio``: reading and writing a file of its own, large blocks and small ones.

Everything happens inside a directory that the probe makes and removes by its recorded path.
Refuses raw devices, a scratch directory without room, and to fall back to the page cache: a
file system without direct I/O is a failure unless ``direct=0`` was asked for, and then labelled.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from probes.api import Contact, Metric, Output, PlanError, Probe, Reading, Safety, Shown, Target, Unit, UnitError, parse
from probes.builtin import fio_json
from probes.builtin.captured import refuse_failed

_SIZES = {"size": "64 MiB", "large": "1 MiB", "small": "4 KiB"}
_RUNS = ("write", "read", "randwrite", "randread")

# $1 scratch directory, $2 bytes, $3 seconds, $4 direct, $5 block of the sequential runs, $6 of the random ones.
# fio runs in the background, because a shell handles a signal only while it waits, not during a foreground child.
# One fio per run: a common one would lay out the files of all four before the first begins.
_SCRIPT = r"""
scratch=$1 bytes=$2 seconds=$3 direct=$4 large=$5 small=$6
made='' child=''
say() { printf 'benchconsole: %s\n' "$1" >&2; }
clean() { if [ -n "$made" ]; then rm -rf -- "$made"; made=''; fi; }
ended() {
    trap '' HUP INT TERM
    if [ -n "$child" ]; then kill "$child" 2>/dev/null; wait "$child"; fi
    clean
    exit "$1"
}
trap clean EXIT
trap 'ended 129' HUP
trap 'ended 130' INT
trap 'ended 143' TERM
command -v fio >/dev/null 2>&1 || { say 'fio: command not found'; exit 127; }
case $scratch in
    *:*) say "refused: fio cannot work in a path with a colon, $scratch"; exit 3;;
    /*) ;;
    *) say "refused: scratch $scratch is not an absolute path"; exit 3;;
esac
session=''
case ${BENCHCONSOLE_SESSION-} in ''|*[!A-Za-z0-9._-]*) ;; *) session=$BENCHCONSOLE_SESSION.;; esac
made=$(mktemp -d "$scratch/benchconsole.${session}XXXXXX") || made=''
[ -n "$made" ] || { say "refused: cannot write in $scratch"; exit 3; }
room=$(df -Pk -- "$made" | awk '
    NR == 2 { for (i = 4; i <= NF; i++) if ($i ~ /^[0-9]+%$/) { print $(i-3), $(i-1); exit } }')
total=${room% *} free=${room#* }
case $total$free in ''|*[!0-9]*) say "refused: cannot tell how much room $scratch has"; exit 3;; esac
need=$(( (bytes + 1023) / 1024 ))
if [ "$free" -lt $(( 2 * need )) ] || [ $(( free - need )) -lt $(( total / 10 )) ]; then
    say "refused: $scratch has $free KiB free of $total KiB, $need KiB are to be written"
    exit 3
fi
for rw in write read randwrite randread; do
    case $rw in rand*) pattern=random block=$small;; *) pattern=sequential block=$large;; esac
    fio --output-format=json --eta=never --allow_mounted_write=0 --directory="$made" --unlink=1 \
        --name="$pattern-${rw#rand}" --rw="$rw" --bs="$block" --size="$bytes" --ioengine=psync \
        --direct="$direct" --end_fsync=1 --time_based --runtime="$seconds" --stonewall &
    child=$!
    wait "$child" || { status=$?; child=''; exit "$status"; }
    child=''
done
"""


class Fio(Probe):
    """Options: ``scratch`` (absolute path), ``size``, ``seconds`` of each run, ``direct`` (1 or 0), and the
    blocks ``large`` of the sequential runs and ``small`` of the random ones.
    """

    name = "fio"
    summary = "Throughput, operations and latency of the file system under a scratch directory"
    metrics = (
        Metric("fio.read", Unit.BYTE_RATE, "bytes read", Shown.STORAGE),
        Metric("fio.write", Unit.BYTE_RATE, "bytes written", Shown.STORAGE),
        Metric("fio.read_iops", Unit.PER_SECOND, "read operations"),
        Metric("fio.write_iops", Unit.PER_SECOND, "write operations"),
        Metric("fio.read_latency", Unit.SECOND, "mean time of one read"),
        Metric("fio.write_latency", Unit.SECOND, "mean time of one write"),
    )
    tools = MappingProxyType({"fio": "fio"})
    options = MappingProxyType({"scratch": "/tmp", **_SIZES, "seconds": 5, "direct": 1})  # noqa: S108 - mktemp inside
    safety = Safety.LOADS
    timeout = 120.0

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the four runs with what fio needs to lay out its file before each."""
        return len(_RUNS) * (_number({**self.options, **options}, "seconds") + 1.0)

    def command(self, target: Target) -> Sequence[str]:
        """One fixed script; the options go in as its arguments. PlanError for options that cannot be read."""
        options = {**self.options, **target.options}
        seconds, direct = _number(options, "seconds"), _number(options, "direct")
        if not seconds.is_integer() or seconds < 1 or direct not in (0, 1):
            raise PlanError(f"fio: found seconds {seconds:g}, direct {direct:g}, expected 1 or more, and 0 or 1")
        sizes = [str(_bytes(options, name)) for name in _SIZES]
        values = [str(options["scratch"]), sizes[0], f"{seconds:.0f}", f"{direct:.0f}", *sizes[1:]]
        return ["sh", "-c", _SCRIPT, "benchconsole-fio", *values]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Run the script with the time that its options ask for."""
        allowed = 2.0 * self.estimate(target.options) + 60.0
        return (await contact.here.run(self.command(target), timeout=allowed),)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read fio's JSON (versions 2 and 3), whatever stands around it.

        ProbeOutputError when fio failed, even where it printed a rate, and when no job is whole.
        """
        refuse_failed(output, "fio")
        return fio_json.readings(output.text)


def _number(options: Mapping[str, str | int | float], name: str) -> float:
    try:
        number = float(options[name])
    except ValueError:
        number = math.nan
    if not 0 <= number <= 86_400:
        raise PlanError(f"fio option {name}: found {options[name]!r}, expected a number up to 86400")
    return number


def _bytes(options: Mapping[str, str | int | float], name: str) -> int:
    try:
        size = parse(str(options[name]), Unit.BYTE)
    except UnitError as error:
        raise PlanError(f"fio option {name}: {error}") from error
    if not size.is_integer() or size < 512:
        raise PlanError(f"fio option {name}: found {options[name]!r}, expected whole bytes, 512 or more")
    return int(size)
