"""The shell that stays open on a node: the text of its program, and the lines that tell it what to run.

A command in a channel of its own costs eight packets and several processes at the node. So short commands are told, one
after the other, to one shell. It gives the guarantee of ``probes.reach.watchdog``, by the same functions:

1. The shell (M) reads lines from the channel's stdin and evaluates each. A line calls ``request``, which forks a
   runner (R) and goes on reading. M never writes.
2. R starts the command in a group of its own, waits for it, ends what is left of it, and then says on stdout and on
   stderr, after the command's last byte, a word that only R and the client know: the command finds its marker in its
   environment, but this word nowhere (the variables that hold it are unset first: one that the login has exported would
   stay so). Beside it on stdout is the exit status. So it is the same proof that nothing runs on: 96 means that
   something did not die.
3. The end of M's stdin, whoever closed it, is the order to end everything. M then signals R, again and again, and R's
   trap ends the command's group and what carries its marker. The trap is set before R forks and unset when ``wait`` is
   over, and no other builtin lies between: zsh runs a trap inside the builtin that it interrupts, and crashes there.
   (To ignore signals meanwhile will not do: what ksh93 forks then ignores them for ever.) A signal that comes earlier
   ends R, which has started nothing. When R has finished its command it only has words left to say, so a signal ends
   it at once, even where nobody reads them; ksh and yash write on, so M kills R after five seconds. Only a status by
   which R says that it ended everything is believed (0, 98, and 96 that it could not). After any other end of R, M
   itself ends what carries the marker, a moment later, for a command that was just forked carries none yet.
4. A shell that waits holds no directory of the user, which somebody may want to unmount; R goes back there.
5. Each command has the node's own limit, by ``timeout``. M itself lives for ``LIFE`` at most, under ``timeout`` too,
   for sshd does not notice a cable that is cut. The client takes no shell that is older than ``REUSED_FOR``.

GNU's ``timeout`` makes a group of its own, so ``setsid`` is left out where it is found (busybox has another one).
The second command asks for it, because most nodes of a large cluster are told one command only.
A line is read byte by byte, as POSIX wants it, and evaluated by shells that take some bytes for their own; so a command
that is long, or not plain ASCII, is not told to a kept shell.
"""

import secrets
import shlex
from collections.abc import Sequence
from functools import cache, partial

from benchconsole.probes.reach.watchdog import (
    FUNCTIONS,
    PATIENCE,
    WrappedCommand,
    feed_stdin,
    limit_time,
    require_words,
)

LIFE = 600
"""Seconds after which the node ends a shell that was kept."""
REUSED_FOR = 240.0
"""Seconds after its start in which a shell is told one more command."""
LONGEST_TIME = 100.0
"""Seconds that a command on a kept shell may be given: with ``REUSED_FOR`` it is over long before ``LIFE``."""
_LONGEST_LINE = 8192

_SCRIPT = (
    "exec 3<&0 4>&1 5>&2 </dev/null >/dev/null 2>&1; unset e q; "
    "m=$1 g=$2 a=setsid b= j=1 r= u=0 v=98 home=$PWD; cd /; "
    f"{FUNCTIONS}"
    'halt() { case $p in "") p=$! ; case $p in "$y") p= ;; esac ;; esac; stop; }; '
    'run() { exec 3<&-; cd "$home"; read -r u y </proc/uptime; r= s= x= p= y=$! ; trap halt HUP INT TERM; '
    'case $i in 0) go "$@" & ;; *) printf "$d" | go "$@" & ;; esac; p=$! ; '
    'wait $p; s=$?; trap "" TERM HUP INT; '
    "[ $s -lt 256 ] || s=$((128+s%128)); finish; trap - TERM HUP INT; "
    'echo "$e ${x:-$s}" >&4; echo "$e" >&5; }; '
    "request() { n=$1 e=$2 l=$3 i=$4; shift 4; "
    '[ "$i" = 0 ] || IFS= read -r d <&3 || exit 96; [ "$r" ] && wait $r; '
    "case $b in 2) ;; 1) b=2 j=0; case $(timeout --help) in *--foreground*) a= ;; esac ;; *) b=1 ;; esac; "
    'run "$@" & r=$! ; }; '
    'over() { trap "" TERM HUP INT; [ "$r" ] || exit 0; '
    "(exec 3<&- 4>&- 5>&-; for t in .05 .1 .3 .6 1 1 1 1; do kill -TERM $r || exit; sleep $t; done; "
    "kill -KILL $r) & h=$! ; "
    "exec 3<&- 4>&- 5>&-; "
    "wait $r; s=$?; [ $s -lt 256 ] || s=$((128+s%128)); kill -KILL $h; "
    "case $s in 0|96) ;; 98) s=143 ;; *) sleep .1; r= p=; "
    'k=".01 .04 .1 .2 .3 .4"; gone TERM "$g" || gone KILL "$k" || s=96; [ $s = 137 ] && s=143 ;; esac; '
    "exit $s; }; "
    "trap over TERM HUP INT; "
    'while IFS= read -r q <&3; do eval "$q"; done; over'
)
_WORDS = shlex.quote(_SCRIPT)
_NEW_LINE = r"N=$(printf '\012.') N=${N%.}; "


def open_shell(session: str) -> str:
    """The text, for the login shell, that opens the shell. ``session`` has no blanks."""
    return _open_shell(session, LIFE, PATIENCE)


@cache  # every channel holds it as long as it is open
def _open_shell(session: str, life: int, patience: str) -> str:
    own = f"benchconsole {shlex.quote(session)} '{patience}'"
    return f"exec timeout -k 10 {life} /bin/sh -c {_WORDS} {own}"


def write_request(argv: Sequence[str], *, timeout: float, stdin: bytes = b"", nonce: str = "") -> WrappedCommand | None:
    """``argv`` as a line for the shell, which ends with a newline; None where it is not for a kept shell.

    That is where ``timeout`` (seconds) is long, or the line is, or has other bytes than those of printable ASCII.
    """
    if timeout > LONGEST_TIME:
        return None
    require_words(argv)
    nonce, last = nonce or secrets.token_hex(12), secrets.token_hex(12)
    limit = limit_time(timeout)
    words = shlex.join(argv)
    setting = ""
    if "\n" in words:  # only ever inside single quotes
        setting, words = _NEW_LINE, words.replace("\n", "'\"$N\"'")
    line = f"{setting}request {nonce} {last} {limit} {1 if stdin else 0} {words}"
    if len(line) > _LONGEST_LINE or not (line.isascii() and line.isprintable()):
        return None
    return WrappedCommand(
        partial(str, f"{line}\n"), feed_stdin(stdin), float(limit), nonce.encode(), last=last.encode()
    )
