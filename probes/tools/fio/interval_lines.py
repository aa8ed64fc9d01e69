r"""The lines with which our script tells each second what the jobs of fio have read and written, and their reader.

    benchconsole: sequential-read at 300 in 100 read 1048576000 written 0

Times are hundredths of a second (since the jobs were first seen, and of the interval), amounts are bytes. fio itself
tells nothing beside its JSON: ``--status-interval`` would print the whole document each second, into the output that
is stored, and ``--eta`` is silent while the JSON goes to standard output. So the shell that waits for fio reads the
counters of its jobs in ``/proc/PID/io``: how fio is called stays as it was, and its output is stored without these
lines. Counters: https://docs.kernel.org/filesystems/proc.html, 3.3.
"""

import re
from collections.abc import Mapping

from benchconsole.probes.api import Interval, Output, Unit, labels
from benchconsole.topology.copying import replace

TOLD = r"""
    count() {
        made= nap= before=; trap - EXIT HUP INT; trap "kill \$nap; exit 0" TERM;
        exec 3>&2 >/dev/null 2>&1;
        while [ -d "/proc/$2" ]; do
            sleep 1 & nap=$! ; wait "$nap";
            read -r now rest </proc/uptime; now=${now%.*}${now#*.};
            family= got=0 put=0; read -r family <"/proc/$2/task/$2/children";
            [ "$family" ] || { before=; continue; };
            for one in $family; do
                while read -r key value; do
                    case $key in "$3:") got=$((got + value));; "$4:") put=$((put + value));; esac;
                done <"/proc/$one/io";
            done;
            if [ "$before" ] && [ "$got" -ge "$had" ] && [ "$put" -ge "$gave" ]; then
                printf "benchconsole: %s at %s in %s read %s written %s\n" "$1" "$((now - begun))" "$((now - before))"
                    "$((got - had))" "$((put - gave))" >&3;
            else
                begun=$now;
            fi;
            before=$now had=$got gave=$put;
        done; };
    told() {
        what=$1 ins=$2 outs=$3; shift 3;
        "$@" & child=$! ;
        count "$what" "$child" "$ins" "$outs" & teller=$! ;
        s=0; wait "$child" || s=$?; child=;
        kill "$teller" 2>/dev/null; wait "$teller" 2>/dev/null;
        return "$s"; };
"""
"""``told NAME IN OUT COMMAND...``: as ``run`` of ``probes.scratch``, with a line for each interval on standard error.

IN and OUT are the counters of ``/proc/PID/io``: ``rchar`` and ``wchar`` count what system calls read and wrote,
``read_bytes`` and ``write_bytes`` what asynchronous requests fetched and sent, which no call reads.
"""

_NUMBERS = r" at (?P<at>[0-9]{1,9}) in (?P<long>[0-9]{1,6}) read (?P<read>[0-9]{1,18}) written (?P<write>[0-9]{1,18})"
BEGIN = "benchconsole: "
"""How each of these lines begins, as do other lines of our scripts."""
_LINE = re.compile(BEGIN + r"(?P<pattern>sequential|random)-(?:read|write|mixed)" + _NUMBERS, re.ASCII)
_LINES = re.compile(rf"^{_LINE.pattern}\n".encode(), re.MULTILINE)
_HUNDREDTHS = 100.0
_SHORTEST = 0.5
"""Seconds; the shell sleeps for one."""


def read_line(line: str, probe: str, blocks: Mapping[str, str]) -> tuple[Interval, ...]:
    """byte/s that were read and written in one interval, as metrics of ``probe``; mostly none.

    ``blocks`` are the labels of the block of each pattern.
    """
    found = _LINE.fullmatch(line)
    if found is None or float(found["long"]) < _SHORTEST * _HUNDREDTHS:
        return ()
    until, seconds = float(found["at"]) / _HUNDREDTHS, float(found["long"]) / _HUNDREDTHS
    marks = labels(pattern=found["pattern"], block=blocks[found["pattern"]])
    moved = ((way, float(found[way])) for way in ("read", "write"))
    return tuple(
        Interval(f"{probe}.{way}", amount / seconds, Unit.BYTE_RATE, until, seconds, marks)
        for way, amount in moved
        if amount
    )


def drop_lines(output: Output) -> Output:
    """``output`` without these lines: what fio said is stored and read."""
    return replace(output, stderr=_LINES.sub(b"", output.stderr))
