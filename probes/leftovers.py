"""Processes, sockets and directories of ours that are left on a node: their search and their end.

Commands end under the watchdog of ``probes.reach.ssh`` and scratch directories with their scripts; this is
for the rest: a node that was cut off or lost its power, a daemon that was started on purpose.
A process is ours by its owner and by an entry of its environment that is our marker with the id of a session.
It is named by number and start time, so that nothing else with that number is hit. A directory is ours by the file in
it that holds its session and its own path (``probes.scratch``), and is removed by that path, within its file system.
Nothing is found by the name of a program or removed by a pattern, and a node that cannot be searched is not clean.
"""

import ipaddress
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.scratch import LOOK, MARK, PREFIX, one_line

MARKER = "BENCHCONSOLE_SESSION"
_RUN = "BENCHCONSOLE_RUN"
"""Environment variable that the processes of one command of ours share."""
_TIMEOUT = 20.0
_REMOVING = 60.0
"""Seconds that the removal of directories may take: a file system may have to free many blocks."""
_RECORD, _FIELD = b"\x1e", b"\x1f"
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""The form of a session's id, as the script of a scratch directory takes it too."""

# Arguments: session or nothing, "own" or "all", scratch directories. The search itself carries the marker,
# so that its own run is left out by number. The value of a variable may hold a line that looks like our marker,
# so its line ends become blanks before each entry becomes a line. The separators of answers are taken out of what
# others named.
_LIST = one_line(
    r"""
    session=$1 who=$2; shift 2;
    cannot() { printf "\036?%s\036" "$1"; exit 0; };
    [ "$BENCHCONSOLE_RUN" ] || cannot "the search was started without a marker of its own";
    safely() { tr -d "\036\037" <"$1" 2>/dev/null; };
    for tool in grep tr head ls sed awk; do
        command -v "$tool" >/dev/null 2>&1 || cannot "there is no $tool";
    done;
    [ -r /proc/self/environ ] || cannot "there is no /proc to look into";
    sockets() {
        n=$(ls -l "$1/fd" 2>/dev/null | sed -n "s/.*socket:.\([0-9]*\).*/\1/p" | tr "\n" " ");
        [ "$n" ] || return 0;
        for t in tcp tcp6 udp udp6; do
            awk -v t="$t" -v n=" $n" '
                ($4 == "0A" || ($4 == "07" && $3 ~ /:0000$/)) && index(n, " " $10 " ") { print t, $2 }' "$1/net/$t";
        done 2>/dev/null;
    };
    for f in $(grep -lsF "BENCHCONSOLE_SESSION=$session" /proc/[0-9]*/environ); do
        d=${f%/environ};
        [ "$who" = all ] || [ -O "$d" ] || continue;
        grep -qsF "BENCHCONSOLE_RUN=$BENCHCONSOLE_RUN" "$f" && continue;
        printf "\036P"; safely "$d/stat";
        printf "\037"; safely "$f" | tr "\n\000" " \n" | grep -e "^BENCHCONSOLE_SESSION=" -e "^BENCHCONSOLE_RUN=";
        printf "\037"; safely "$d/cmdline";
        printf "\037"; sockets "$d";
    done;
    for root; do
        [ -d "$root" ] || continue;
        [ -r "$root" ] && [ -x "$root" ] || { printf "\036?%s" "may not list $root"; continue; };
        for d in "${root%/}/benchconsole.$session${session:+.}"*; do
            [ -e "$d" ] || [ -L "$d" ] || continue;
            printf "\036D"; printf "%s" "$d" | tr -d "\036\037"; printf "\037";
            [ -L "$d" ] && printf "link";
            [ -d "$d" ] && [ -O "$d" ] && printf "own";
            printf "\037";
            if [ -f "$d/.benchconsole" ] && [ -L "$d/.benchconsole" ]; then :;
            elif [ -f "$d/.benchconsole" ] && [ -O "$d/.benchconsole" ]; then
                head -c 4096 "$d/.benchconsole" 2>/dev/null | tr -d "\036\037";
            fi;
        done;
    done;
    printf "\036"
    """
)
_END = one_line(
    """
    same() { p=${1%:*}; read -r s </proc/$p/stat || return 1; t=${1#*:}; set -- ${s##*\\) };
        [ "$1" != Z ] && [ "${20}" = "$t" ]; };
    left() { l=; for x; do same $x && l="$l $x"; done; };
    left $*; for x in $l; do kill -TERM ${x%:*}; kill -CONT ${x%:*}; done;
    for w in .02 .05 .1 .2 .3 .4 .5 .5; do left $l; [ "$l" ] || break; sleep $w; done;
    left $l; for x in $l; do kill -KILL ${x%:*}; done;
    for w in .02 .05 .1 .2 .4; do left $l; [ "$l" ] || break; sleep $w; done; left $l; echo $l
    """
)
# Arguments: pairs of session and path. Everything that made the directory ours is looked at again.
_REMOVE = one_line(
    LOOK
    + r"""
    kept() { printf "\036%s\037%s" "$1" "$2"; };
    mounted() { awk -v p="$1" '
        { gsub(/\\040/, " ", $5); if ($5 == p || index($5, p "/") == 1) found = 1 } END { exit found ? 0 : 1 }'
        /proc/self/mountinfo; };
    one() {
        [ -L "$2" ] && { kept "$2" "is a symbolic link"; return; };
        [ -d "$2" ] && [ -O "$2" ] || { kept "$2" "is no directory of ours"; return; };
        m="$2/.benchconsole";
        [ -L "$m" ] && { kept "$2" "has a link for a mark"; return; };
        [ -f "$m" ] && [ -O "$m" ] || { kept "$2" "has no mark of ours"; return; };
        { read -r a; read -r b; IFS= read -r c; } <"$m";
        [ "$a" = "benchconsole scratch" ] && [ "$b" = "$1" ] && [ "$c" = "$2" ] || {
            kept "$2" "has the mark of another place or session"; return; };
        sound "${2%/*}/" || { kept "$2" "$why"; return; };
        mounted "$2" && { kept "$2" "has a file system mounted in it"; return; };
        why=$(rm -rf --one-file-system -- "$2" 2>&1 >/dev/null) || kept "$2" "could not be removed: $why";
    };
    while [ $# -ge 2 ]; do one "$1" "$2"; shift 2; done;
    printf "\036"
    """
)
_SCRIPTS = frozenset((_LIST, _END, _REMOVE))


@dataclass(frozen=True, slots=True)
class LeftoverProcess:
    """A process that carries a session's marker; ``start`` is in clock ticks since the node's boot.

    ``listens`` are the sockets that it waits on, as ``tcp 10.0.0.1:20000``.
    ``because`` says why it may not be ended; empty where it may.
    """

    pid: int
    start: int
    session: str
    argv: tuple[str, ...]
    listens: tuple[str, ...] = ()
    because: str = ""


@dataclass(frozen=True, slots=True)
class LeftoverDirectory:
    """A directory that is named like ours. ``because`` says why it may not be removed; empty where it may."""

    path: str
    session: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Processes and directories left on a node. ``unseen`` says what could not be searched: then nothing is proven."""

    processes: tuple[LeftoverProcess, ...] = ()
    directories: tuple[LeftoverDirectory, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[LeftoverProcess | LeftoverDirectory, ...]:
        """Everything that was found, processes first."""
        return (*self.processes, *self.directories)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found; it may be that not everything could be searched."""
        return not self.found


async def find_leftovers(
    remote: Remote, session: str | None = None, scratch: Collection[str] = (), *, privileged: bool = False
) -> Leftovers:
    """The leftovers of one session, or of any, on the node: processes, and directories directly below ``scratch``.

    ``privileged``: as the administrator, who sees the processes of every user. ProbeOutputError where the
    answer is none.
    """
    who = "all" if privileged else "own"
    argv = ("sh", "-c", _LIST, "list", session or "", who, *dict.fromkeys(scratch))
    found = _read_answer(await remote.run(argv, timeout=_TIMEOUT, privileged=privileged))
    if session is None:
        return found
    # the node looked for a beginning, and one session's name may begin with another's
    processes = tuple(each for each in found.processes if each.session == session)
    return Leftovers(processes, tuple(each for each in found.directories if each.session == session), found.unseen)


async def find_processes(remote: Remote, session: str | None = None) -> tuple[LeftoverProcess, ...]:
    """Our processes on the node: of one session, or of any. ProbeOutputError where it cannot be searched."""
    found = await find_leftovers(remote, session)
    if found.unseen:
        raise ProbeOutputError("; ".join(found.unseen), "a node that can be searched")
    return found.processes


async def end_processes(
    remote: Remote, found: Sequence[LeftoverProcess], *, privileged: bool = False
) -> tuple[LeftoverProcess, ...]:
    """End what is ours beyond doubt, first politely, and return what lives on. Who ended meanwhile is not mistaken."""
    refused = tuple(entry for entry in found if entry.because)
    named = {f"{entry.pid}:{entry.start}": entry for entry in found if not entry.because}
    if not named:
        return refused
    output = await remote.run(("sh", "-c", _END, "end", *named), timeout=_TIMEOUT, privileged=privileged)
    if output.exit_status != 0:
        raise ProbeOutputError(f"exit status {output.exit_status}", "a list of what could not be ended")
    return (*refused, *(named[name] for name in output.text.split() if name in named))


async def remove_directories(
    remote: Remote, found: Sequence[LeftoverDirectory], *, privileged: bool = False
) -> tuple[LeftoverDirectory, ...]:
    """Remove what is ours beyond doubt, and return what stays, each with its reason."""
    sure = [each for each in found if not each.because]
    refused = tuple(each for each in found if each.because)
    if not sure:
        return refused
    words = [word for each in sure for word in (each.session, each.path)]
    output = await remote.run(("sh", "-c", _REMOVE, "remove", *words), timeout=_REMOVING, privileged=privileged)
    if output.exit_status != 0 or not output.stdout.endswith(_RECORD):
        raise ProbeOutputError(f"exit status {output.exit_status}", "a list of what could not be removed")
    by_path = {each.path: each for each in sure}
    stays = []
    for record in output.stdout.split(_RECORD)[1:-1]:
        path, _, why = _text(record).partition(_FIELD.decode())
        if path in by_path:
            stays.append(LeftoverDirectory(path, by_path[path].session, why.strip()[:300] or "could not be removed"))
    return (*refused, *stays)


def _read_answer(output: Output) -> Leftovers:
    records = output.stdout.split(_RECORD)
    if len(records) < 2 or records[-1]:
        raise ProbeOutputError(f"{output.text[:80]!r} with exit status {output.exit_status}", "a list of leftovers")
    read = [_read_process(record[1:]) for record in records[1:-1] if record[:1] == b"P"]
    processes = [each for each in read if each is not None]
    # A machine that is described under several names is searched several times at once.
    searching = {run for run, each in processes if run and not _SCRIPTS.isdisjoint(each.argv)}
    return Leftovers(
        tuple(each for run, each in processes if run not in searching),
        tuple(_read_directory(record[1:]) for record in records[1:-1] if record[:1] == b"D"),
        tuple(_text(record[1:])[:200] for record in records[1:-1] if record[:1] == b"?"),
    )


def _read_process(record: bytes) -> tuple[str, LeftoverProcess] | None:
    """The run of a process, and itself; None when it ended while it was being read, or only speaks of our marker."""
    stat, marks, argv, sockets = (record.split(_FIELD, 3) + [b""] * 4)[:4]
    pid, _, numbers = stat.partition(b" (")
    fields = numbers.rpartition(b") ")[2].split()
    if len(fields) < 20 or not pid.isdigit() or fields[0] == b"Z":
        return None
    marked = {name: value for name, _, value in (line.partition("=") for line in reversed(_text(marks).split("\n")))}
    if MARKER not in marked:
        return None
    session = marked[MARKER]
    because = "" if _SESSION.fullmatch(session) else "carries our marker without the id of a session"
    words = argv.rstrip(b"\0").split(b"\0") if argv else []
    listens = tuple(dict.fromkeys(format_listener(line) for line in _text(sockets).splitlines()))
    process = LeftoverProcess(int(pid), int(fields[19]), session, tuple(map(_text, words)), listens, because)
    return marked.get(_RUN, ""), process


def _read_directory(record: bytes) -> LeftoverDirectory:
    path, kind, mark = (_text(part) for part in (record.split(_FIELD, 2) + [b""] * 3)[:3])
    session = path.rpartition("/")[2].removeprefix(PREFIX).rpartition(".")[0]
    if "link" in kind:
        because = "is a symbolic link"
    elif "own" not in kind:
        because = "is no directory of ours"
    elif not mark:
        because = f"has no file {MARK} of ours in it"
    elif mark.splitlines()[:3] != ["benchconsole scratch", session, path]:
        because = "has the mark of another place or session"
    else:
        because = ""
    return LeftoverDirectory(path, session, because)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def format_listener(line: str) -> str:
    """``tcp 0100007F:4E20`` as ``tcp 127.0.0.1:20000``; what cannot be read stays as it is.

    Nodes are taken to be little-endian, as all are that these tests run on.
    """
    protocol, _, local = line.partition(" ")
    address, _, port = local.rpartition(":")
    try:
        words = [bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8)]
        number = int(port, 16)
        if len(words) not in (1, 4):
            return line
        found = ipaddress.ip_address(b"".join(words))
    except ValueError:
        return line
    return f"{protocol} [{found}]:{number}" if found.version == 6 else f"{protocol} {found}:{number}"
