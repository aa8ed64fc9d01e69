"""Owns the search for processes of ours that are left on a node, and their end.

Commands end under the watchdog of ``probes.ssh``; this is for what got past it: a node that was cut off,
a daemon that was started on purpose. A process is ours by the marker in its environment and by
its owner, and it is named by number and start time, so that nothing else with that number is hit.
Refuses to look for names of programs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from probes.errors import ProbeOutputError
from probes.model import Output
from probes.remote import Remote

MARKER = "BENCHCONSOLE_SESSION"
_RUN = "BENCHCONSOLE_RUN"
_TIMEOUT = 20.0
_RECORD, _FIELD = b"\x1e", b"\x1f"

# The search itself carries the marker, so that its own run is left out by number.
_LIST = (
    'for f in $(grep -lsF "$1" /proc/[0-9]*/environ); do d=${f%/environ}; '
    '[ -O "$d" ] || continue; grep -qsF "BENCHCONSOLE_RUN=$BENCHCONSOLE_RUN" "$f" && continue; '
    'printf "\\036"; cat "$d/stat" 2>/dev/null; printf "\\037"; '
    'tr "\\000" "\\n" <"$f" 2>/dev/null | grep "^BENCHCONSOLE_"; '
    'printf "\\037"; cat "$d/cmdline" 2>/dev/null; done; printf "\\036"'
)
_END = (
    "same() { p=${1%:*}; read -r s </proc/$p/stat || return 1; t=${1#*:}; set -- ${s##*) }; "
    '[ "$1" != Z ] && [ "${20}" = "$t" ]; }; '
    'left() { l=; for x; do same $x && l="$l $x"; done; }; '
    "left $*; for x in $l; do kill -TERM ${x%:*}; kill -CONT ${x%:*}; done; "
    'for w in .02 .05 .1 .2 .3 .4 .5 .5; do left $l; [ "$l" ] || break; sleep $w; done; '
    "left $l; for x in $l; do kill -KILL ${x%:*}; done; "
    'for w in .02 .05 .1 .2 .4; do left $l; [ "$l" ] || break; sleep $w; done; left $l; echo $l'
)


@dataclass(frozen=True, slots=True)
class Leftover:
    """A process that carries a session's marker; ``start`` is in clock ticks since the node's boot."""

    pid: int
    start: int
    session: str
    argv: tuple[str, ...]


async def leftovers(remote: Remote, session: str | None = None) -> tuple[Leftover, ...]:
    """Our processes on the node: of one session, or of any."""
    output = await remote.run(("sh", "-c", _LIST, "list", f"{MARKER}={session or ''}"), timeout=_TIMEOUT)
    found = _read(output)
    return tuple(entry for entry in found if session is None or entry.session == session)


async def end(remote: Remote, found: Sequence[Leftover]) -> tuple[Leftover, ...]:
    """End them, first politely, and return those that live on. Who has ended meanwhile is not mistaken."""
    if not found:
        return ()
    named = {f"{entry.pid}:{entry.start}": entry for entry in found}
    output = await remote.run(("sh", "-c", _END, "end", *named), timeout=_TIMEOUT)
    if output.exit_status != 0:
        raise ProbeOutputError(f"exit status {output.exit_status}", "a list of what could not be ended")
    return tuple(named[name] for name in output.text.split() if name in named)


def _read(output: Output) -> list[Leftover]:
    records = output.stdout.split(_RECORD)
    if len(records) < 2:
        raise ProbeOutputError(f"{output.text[:80]!r} with exit status {output.exit_status}", "a list of processes")
    return [entry for entry in map(_entry, records[1:-1]) if entry is not None]


def _entry(record: bytes) -> Leftover | None:
    """One process; None when it ended while it was being read."""
    stat, _, rest = record.partition(_FIELD)
    marks, _, argv = rest.partition(_FIELD)
    pid, _, numbers = stat.partition(b" (")
    fields = numbers.rpartition(b") ")[2].split()
    session = next((mark.partition(b"=")[2] for mark in marks.splitlines() if mark.startswith(MARKER.encode())), b"")
    if len(fields) < 20 or not pid.isdigit() or fields[0] == b"Z":
        return None
    words = argv.rstrip(b"\0").split(b"\0") if argv else []
    return Leftover(
        int(pid), int(fields[19]), session.decode(errors="replace"), tuple(w.decode(errors="replace") for w in words)
    )
