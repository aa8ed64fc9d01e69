r"""The rules by which a probe writes on a node: where, how much, and how it is gone afterwards.

Public for authors of probes. A script made by ``script`` begins with three shell functions:

``scratch ROOT BYTES [FILES]``
    makes a directory of our own below ROOT, with room for BYTES in FILES files (16), and leaves its
    path in ``$made``. It is removed when the script ends, however it ends, by that path: also when the shell
    says that a tool was killed, and nobody is there to hear it.
``run COMMAND...``
    runs a command so that a signal for the script ends it too; its exit status is returned.
``refuse REASON``
    ends the script with status 77 and one line on standard error. ``heed`` turns that into a
    failure of kind REFUSED: the test counts as skipped with its reason, not as a tool that failed.

The directory is ``ROOT/benchconsole.SESSION.XXXXXX``, made by ``mktemp -d``, and holds the file
``.benchconsole`` with the session and its own path. By both, and never by the name alone, a later
search knows it as ours (``probes.leftovers``). A probe names ROOT in its option ``scratch``,
from which the search knows where to look.

Refused is a ROOT that is a symbolic link, that other users could exchange under our hands (it or a
directory above it belongs to somebody else, or others may write there and it is not sticky), in
which we cannot write or do not own what we make (root squashed by NFS), and one without room:
twice the bytes must be free, and a tenth of the file system left, in bytes and in inodes.
"""

from collections.abc import Mapping

from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import RemoteError
from benchconsole.topology.model.fabric import NodeId

REFUSED = 77
"""Exit status of a script that refuses; what automake's test driver reads as "skipped"."""
OPTION = "scratch"
"""The option by which a probe that writes on a node names the directory below which it may."""
MARK = ".benchconsole"
"""The file in a directory of ours that says whose it is."""
PREFIX = "benchconsole."

_WORD = "benchconsole: refused: "

# Shell text is kept free of line ends and of "!x", because csh as a login shell reads it before sh does.
LOOK = r"""
sound() {
    me=$(id -u);
    place=$(cd -P -- "$1" 2>/dev/null && pwd -P) || { why="$1 cannot be entered"; return 1; };
    while :; do
        set -f; set -- $(LC_ALL=C ls -ldn -- "$place/."); set +f;
        [ $# -ge 9 ] || { why="cannot tell whose $place is"; return 1; };
        [ "$3" = 0 ] || [ "$3" = "$me" ] || {
            why="$place belongs to user $3, who could put something else in the place of our directory"; return 1; };
        case $1 in
            ?????w???[tT]*|????????w[tT]*) ;;
            ?????w*|????????w*)
                why="others may write in $place and it is not sticky (chmod +t), so they could exchange our directory";
                return 1;;
        esac;
        [ "$place" = / ] && return 0;
        place=${place%/*}; place=${place:-/};
    done;
};
usable() {
    case $1 in
        /*) ;;
        *) why="scratch directory $1 is not an absolute path"; return 1;;
    esac;
    root=$1;
    while [ "$root" != / ] && [ "${root%/}" != "$root" ]; do root=${root%/}; done;
    [ -L "$root" ] && { why="$root is a symbolic link: name the directory that it leads to"; return 1; };
    [ -d "$root" ] || { why="there is no directory $root"; return 1; };
    rm -rf --one-file-system 2>/dev/null || { why="rm of this node cannot be kept within one file system"; return 1; };
    sound "$root";
};
room() {
    column=$(df "$1" -- "$2" 2>/dev/null | awk '
        NR == 2 { for (i = 4; i <= NF; i++) if ($i ~ /^[0-9]+%$/) { print $(i-3), $(i-1); exit } }');
    total=${column% *} free=${column#* };
    [ "$total" -gt 0 ] 2>/dev/null && [ "$free" -ge 0 ] 2>/dev/null;
};
"""
"""Shell functions that only look. ``sound DIRECTORY``: whether nobody but root could exchange what we make in it;
``usable DIRECTORY``: that, and whether it is a directory at all (both say ``$why`` not, the second leaves it in
``$root``); ``room FLAG DIRECTORY``: what df says, in ``$total`` and ``$free``."""

_PRELUDE = r"""
made= child=;
say() { printf "benchconsole: %s\n" "$1" >&2; };
refuse() { say "refused: $1"; exit 77; };
remove() {
    [ "$made" ] || return 0;
    rm -rf --one-file-system -- "$made" || say "could not remove $made";
    made=;
};
run() { "$@" & child=$! ; s=0; wait "$child" || s=$?; child=; return "$s"; };
ended() {
    trap "" HUP INT TERM;
    if [ "$child" ]; then kill "$child" 2>/dev/null; wait "$child"; fi;
    remove; trap - EXIT;
    exit "$1";
};
enough() { [ "$free" -ge $((2 * $1)) ] && [ $((free - $1)) -ge $((total / 10)) ]; };
place_for() {
    session=${BENCHCONSOLE_SESSION:-none};
    expr "$session" : "[A-Za-z0-9._-]*$" >/dev/null || session=none;
    trap "" HUP INT TERM;
    made=$(LC_ALL=C mktemp -d "${1%/}/benchconsole.$session.XXXXXX" 2>&1) || {
        why=${made##*: }; made=;
        [ "$(id -u)" != 0 ] || why="$why (is root squashed there, as NFS does?)";
        refuse "cannot write in $1: $why"; };
    [ -O "$made" ] || {
        rmdir -- "$made"; made=;
        refuse "what we make in $1 is not ours: its file system maps our user to another (root squashed by NFS?)"; };
    printf "benchconsole scratch\n%s\n%s\n" "$session" "$made" 2>/dev/null >"$made/.benchconsole" || {
        rm -rf --one-file-system -- "$made"; made=;
        refuse "cannot write a file in $1, is it full?"; };
    trap remove EXIT; trap : PIPE;
    trap "ended 129" HUP; trap "ended 130" INT; trap "ended 143" TERM;
};
scratch() {
    need=$((($2 + 1023) / 1024)) files=${3:-16};
    usable "$1" || refuse "$why";
    place_for "$root";
    room -Pk "$made" || refuse "cannot tell how much room $root has";
    enough "$need" || refuse "$root has $free KiB free of $total KiB, $need KiB are to be written";
    if room -Pi "$made"; then
        enough "$files" || refuse "$root has $free inodes free of $total, $files are to be used";
    fi;
};
"""


def one_line(text: str) -> str:
    """Shell text of several lines, each of which ends a command or opens a block, as one line."""
    return " ".join(line.strip() for line in text.strip().splitlines())


def script(body: str) -> str:
    """A script for ``sh -c`` that knows the functions above; ``body`` may use several lines as ``one_line`` does."""
    return one_line(LOOK + _PRELUDE + body)


def reason(output: Output) -> str:
    """Why the script refused; empty when it did not."""
    if output.exit_status != REFUSED:
        return ""
    words = (line.removeprefix(_WORD) for line in output.error_text.splitlines() if line.startswith(_WORD))
    return next(words, "")


def heed(output: Output, node: NodeId) -> Output:
    """``output`` as it is; RemoteError of kind REFUSED, with the reason, where the script refused."""
    why = reason(output)
    if why:
        raise RemoteError(Failure(FailedAt.REFUSED, why[:500], node), output)
    return output


def root_of(options: Mapping[str, str | int | float]) -> str | None:
    """The directory below which a test with these options writes; None where it writes nothing."""
    named = options.get(OPTION)
    return named if isinstance(named, str) and named.startswith("/") else None
