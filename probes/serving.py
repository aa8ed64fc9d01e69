"""Servers of one test at the far end: a free port, known to listen before anybody connects, gone afterwards.

Public for authors of probes. Most tools say nothing when they listen, so the node's own kernel is asked.
A port that is taken is not used. The server ends with the block, and the watchdog of the node ends a server that a
lost connection left there. Servers that obey whoever can connect listen on a Unix socket instead (``joined``).
"""

import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from benchconsole.probes import scratch
from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Joining, Remote, RemoteError, Running

_LOG = ModuleLog(__name__)
PORTS = (20_000, 32_000)
"""Above the registered services and below the ports that Linux hands out by itself."""

ATTEMPTS = 4
READY = "benchconsole: listening"
TAKEN = "benchconsole: address already in use"
_DICE = random.SystemRandom()

# $1 port, $2 tcp or udp, then the command. Kept free of line ends and "!x", as every script for a node.
_SCRIPT = scratch.one_line(
    r"""
    port=$(printf ":%04X" "$1"); kind=$2; shift 2;
    case $kind in tcp) state=0A;; *) state=07;; esac;
    listens() {
        cat "/proc/net/$kind" "/proc/net/${kind}6" 2>/dev/null | awk -v p="$port" -v s="$state" "
            substr(\$2, length(\$2) - 4) == p && \$4 == s { f = 1 }
            END { exit f ? 0 : 1 }"; };
    listens && { echo "@TAKEN@" >&2; exit 98; };
    command -v "$1" >/dev/null 2>&1 || { echo "$1: command not found" >&2; exit 127; };
    "$@" & child=$! ;
    trap "kill $child 2>/dev/null; wait $child; exit 143" HUP INT TERM;
    tries=0;
    until listens; do
        kill -0 "$child" 2>/dev/null || { wait "$child"; exit $?; };
        tries=$((tries + 1));
        [ "$tries" -lt 300 ] || { kill "$child"; echo "benchconsole: never listened" >&2; exit 98; };
        sleep 0.05;
    done;
    echo "@READY@";
    wait "$child"
    """.replace("@TAKEN@", TAKEN).replace("@READY@", READY)
)


def listening(argv: Sequence[str], port: int, kind: str = "tcp") -> list[str]:
    """The command that runs the server ``argv`` and says READY as soon as ``port`` (of ``kind`` tcp or udp) listens."""
    return ["sh", "-c", _SCRIPT, "benchconsole-serving", str(port), kind, *argv]


@asynccontextmanager
async def serving(
    remote: Remote,
    argv: Callable[[int], Sequence[str]],
    *,
    timeout: float,
    kind: str = "tcp",
    dice: random.Random = _DICE,
) -> AsyncIterator[tuple[int, Running]]:
    """Run the server that ``argv`` gives for a port, at most ``timeout`` seconds; the port, and the server.

    Another port is tried where one is taken. RemoteError when it cannot be started or does not listen.
    """
    for attempt in range(1, ATTEMPTS + 1):
        port = dice.randrange(*PORTS)
        async with remote.start(listening(argv(port), port, kind), timeout=timeout) as running:
            try:
                await running.says(READY, timeout=20)
            except RemoteError as error:
                texts = (error.output.text, error.output.error_text) if error.output is not None else ()
                if attempt < ATTEMPTS and "in use" in "".join((error.failure.detail, *texts)).lower():
                    _LOG.info(remote.node, "retry: port %d is in use", port)
                    continue
                raise
            yield port, running
            return


def joined(here: Remote, path: str, there: Remote, far: str) -> AbstractAsyncContextManager[None]:
    """Inside the context the Unix socket ``path`` of ``here`` leads to the one that listens at ``far`` on ``there``.

    All bytes pass through the console: meant for orders and results, not for loads. ``path`` belongs into a
    directory that nobody else may enter (``probes.scratch``). RemoteError where a node cannot or may not do that.
    """
    if not isinstance(here, Joining):
        detail = "Unix sockets of nodes can only be joined over SSH, and it is reached in another way"
        raise RemoteError(Failure(FailedAt.REFUSED, detail, here.node))
    return here.joined(path, there, far)
