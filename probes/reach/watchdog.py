"""The shell text that surrounds every remote command, and the reading of its first line.

sshd does not end a command whose client has gone away, refuses signals for root logins and closes nothing that has left
the session. So each command is sent inside a POSIX sh wrapper that ends it by itself. Steps of the wrapper, in order:

1. Moves the channel's stdin to descriptor 3. As long as the client lives and wants the command,
   that descriptor stays open; its end of file is the order to end everything. The client's
   stdin for the command, if any, comes first, as one line in ``printf`` notation: it is read
   without a helper program, stays out of every argument list, and nothing after it is lost.
2. Starts the command as ``setsid timeout -k 5 LIMIT command`` in the background, so that the
   process number, group and session of the command are one known number (``timeout`` cannot
   make a group of its own when it already leads one). Just before, the same process prints the
   run's nonce, its own ``/proc/self/stat`` line, the node's boot id and ``root`` when it is that, on
   stdout, and the nonce on stderr: whatever a login script has printed earlier is thereby
   separated from the command's output, and a node that was started anew gives itself away.
   ``LC_ALL=C``, the markers ``BENCHCONSOLE_SESSION`` and ``BENCHCONSOLE_RUN`` and the sbin
   directories are in the command's environment only, so that a search for them finds the
   command's processes and never the wrapper.
3. Starts a reader that waits for the end of file on descriptor 3 and then signals the wrapper (again
   after a second: in old shells a signal just before ``wait`` is not seen), whose trap ends
   the group: TERM, CONT, at most 2 s of patience, KILL. A leader that has no group yet is killed, because
   a shell that has just forked may lose a TERM, and awaited: only the dead have no ``/proc/PID/exe``.
   The trap exits and never goes back to ``wait``: zsh would wait for ever there for a leader that it has
   reaped inside the trap. It is set when the process of the command is known and unset when ``wait`` is over, and no
   other builtin lies between: zsh runs a trap inside the builtin that it interrupts, and crashes there.
   Reader and wrapper hold neither stdout nor stderr, for sshd waits for those.
   A cable that is cut brings no end of file. So for a long command the client says a line every few seconds, and each
   line has its time: ``timeout SILENCE sh -c read``, a program because read has no time of its own in POSIX, and
   one that ends with the channel, so that nothing has to be killed. 97 means that no line came in time.
4. When the command has ended, by itself or not, ends what is left of its group in the same way,
   and kills by number whatever carries this run's marker elsewhere (a daemon with a session of
   its own). It looks twice, because a process has no environment for a moment while it becomes another
   program. Only then does the wrapper exit, with the command's own status; so the status in
   the client's hands is the proof that nothing runs on. 96 means that something did not die. (ksh93 says 256
   and the signal's number of a command that was killed, yash 384 and it, and exit would keep the low byte only.)

LIMIT is longer than the client's own time: it decides where the client is frozen or cut off and the command is too
short for a heartbeat. The text is one line without backslash or single quote, and with a blank after
every exclamation mark, because the user's login shell (csh, fish) reads it first.
"""

import re
import secrets
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

NOT_ENDED = 96
"""Exit status of a wrapper that could not end its command."""
UNHEARD = 97
"""Exit status of a wrapper that ended its command because the client was silent."""
SILENCE = 60.0
"""Seconds without a line from the client after which a long command is ended."""
PATIENCE = ".01 .02 .04 .08 .15 .2 .3 .3 .3 .3 .3"
"""Seconds between one look and the next, from TERM to KILL: 2 s in all."""
STDIN_LIMIT = 32 * 1024
"""Bytes of stdin that fit a pipe whose size the kernel has not cut down too far."""

_LIMIT_MARGIN = 10.0

FUNCTIONS = (
    "find() { f= c= i=$p; read -r z z z z z </proc/loadavg; read -r w y </proc/uptime; "
    "if [ $((${w%.*}-${u%.*})) -lt 2 ] && [ $z -ge $p ] && [ $((z-p)) -lt 300 ]; then "
    "while [ $i -lt $z ]; do i=$((i+1)); "
    '[ "$i" = "$r" ] || { [ -e /proc/$i ] && c="$c /proc/$i/environ"; }; done; '
    'else c="/proc/[0-9]*/environ"; fi; '
    'if [ "$c" ]; then f=$(grep -lsF "BENCHCONSOLE_RUN=$n" $c); fi; [ "$f" ]; }; '
    "send() { kill -$1 -$p; for q in $f; do q=${q#/proc/}; kill -$1 ${q%/environ}; done; }; "
    "gone() { for t in $2; do find || return 0; send $1; sleep $t; done; find && return 1; return 0; }; "
    "finish() { f=; kill -TERM -$p; kill -CONT -$p; "
    'k=".01 .04 .1 .2 .3 .4"; gone TERM "$g" || gone KILL "$k" || x=96; '
    'if kill -KILL -$p; then sleep .01; gone KILL "$k" || x=96; fi; }; '
    "go() { exec 3<&- >&4 2>&5 4>&- 5>&-; "
    "export LC_ALL=C BENCHCONSOLE_SESSION=$m BENCHCONSOLE_RUN=$n "
    'PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"; '
    "read -r t </proc/self/stat; read -r u </proc/sys/kernel/random/boot_id; o=; [ -O /proc/1 ] && o=root; "
    'echo "$n $t $u $o"; [ "$j" = 0 ] || echo "$n" >&2; '
    'exec $a timeout -k 5 $l "$@"; }; '
    'stop() { trap "" TERM HUP INT USR1; '
    '[ "$r" ] && kill -KILL $r; '
    '[ "$s" ] || kill -CONT -$p || { kill -KILL $p; for t in $g; do [ -e /proc/$p/exe ] && sleep $t; done; }; '
    "finish; exit ${x:-${s:-$v}}; }; "
)
"""How a command is begun in a group of its own, and how its group and all that carries its marker are ended."""

_SCRIPT = (
    "exec 3<&0 4>&1 5>&2 </dev/null >/dev/null 2>&1; "
    "m=$1 n=$2 l=$3 i=$4 g=$5 h=$6; shift 6; a=setsid d= j= r= s= v=143 x=; read -r u y </proc/uptime; "
    '[ "$i" = 0 ] || IFS= read -r d <&3 || exit 96; '
    f"{FUNCTIONS}"
    'if [ "$i" = 0 ]; then go "$@" & else printf "$d" | go "$@" & fi; p=$! ; '
    "exec 4>&- 5>&-; unheard() { x=97; stop; }; trap unheard USR1; trap stop HUP INT TERM; "
    '(if [ "$h" = 0 ]; then y=127; else y=0; fi; while :; do '
    'case $y in 0) timeout $h sh -c "read -r t" <&3; y=$? ;; 127) read -r t <&3 || break ;; *) break ;; esac; done; '
    "exec 3<&-; e=TERM; case $y in 124|143) e=USR1 ;; esac; "
    "while kill -$e $$; do sleep 1; done) & r=$! ; "
    'wait $p; s=$?; trap "" TERM HUP INT USR1; '
    "[ $s -lt 256 ] || s=$((128+s%128)); finish; kill -KILL $r; exit ${x:-$s}"
)


_WORDS = shlex.quote(_SCRIPT)
_BOOT_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """The command's group leader as the node sees it; ``start`` is in clock ticks since its boot.

    ``boot`` names the run of the node's kernel; ``is_root`` is None where the node did not say either.
    """

    pid: int
    start: int
    boot: str = ""
    is_root: bool | None = None


@dataclass(frozen=True, slots=True)
class WrappedCommand:
    """A command ready to be sent: its text for the login shell, and what it expects on its stdin.

    The text is written when it is sent: thousands wait for their turn, and an inventory's has 12 kB.
    """

    write_text: Callable[[], str]
    feed: bytes
    limit: float
    nonce: bytes
    silence: float = 0.0
    """Seconds within which the node wants to hear from the client again and again; 0 where it does not."""
    last: bytes = b""
    """Ends the output of a command on a kept shell; empty where the end of the channel does."""


def wrap_command(
    argv: Sequence[str],
    *,
    session: str,
    timeout: float,
    stdin: bytes = b"",
    under: Sequence[str] = (),
    nonce: str = "",
    silence: float = SILENCE,
) -> WrappedCommand:
    """Surround ``argv`` with the watchdog. ``session`` and ``nonce``, which no login script says, have no blanks.

    ``under`` are words that run the whole, watchdog included, as somebody else. A command whose limit is at least
    twice ``silence`` (seconds) has a heartbeat; a shorter one is over soon after a cut anyhow.
    """
    nonce = nonce or secrets.token_hex(12)
    require_words(argv)
    limit = limit_time(timeout)
    before = f"{shlex.join(under)} " if under else ""
    silence = ceil(silence) if limit >= 2 * silence else 0
    own = f"benchconsole {shlex.quote(session)} {nonce} {limit} {1 if stdin else 0} '{PATIENCE}' {silence}"
    return WrappedCommand(
        partial(_write_text, before, own, argv), feed_stdin(stdin), float(limit), nonce.encode(), float(silence)
    )


def _write_text(before: str, own: str, argv: Sequence[str]) -> str:
    return f"exec {before}/bin/sh -c {_WORDS} {own} {shlex.join(argv)}"


def require_words(argv: Sequence[str]) -> None:
    """ValueError for an argument list that no shell can run."""
    if not argv or any("\0" in word for word in argv):
        raise ValueError("a command is at least one word, and no word holds a NUL")


def limit_time(timeout: float) -> int:
    """Seconds after which the node itself ends a command whose client gives it ``timeout``."""
    return ceil(timeout + _LIMIT_MARGIN)


def feed_stdin(data: bytes) -> bytes:
    """The line that says ``data`` to the watchdog, or nothing."""
    return _as_printf(data) + b"\n" if data else b""


def parse_first_line(line: bytes) -> StartedProcess | None:
    """Read the rest of the first line; None when the node has no /proc."""
    match = re.match(rb"\s*(\d+) \(.*\) (.*)", line)
    if match is None:
        return None
    fields = match[2].split()
    if len(fields) <= 19:
        return None
    boot = next((field.decode() for field in fields[-2:] if _BOOT_ID.fullmatch(field)), "")
    return StartedProcess(int(match[1]), int(fields[19]), boot, fields[-1] == b"root" if boot else None)


def _as_printf(data: bytes) -> bytes:
    """``data`` as a format that every printf turns back into the same bytes, NUL and newline too."""
    return re.sub(rb"[^A-Za-z0-9 _.,:;/=+-]|^-", lambda found: b"\\%03o" % found[0][0], data)
