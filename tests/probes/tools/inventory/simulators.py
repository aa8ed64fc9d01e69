"""Owns the start and the end of simulators, as machines without a BMC and without InfiniBand have them.

A simulator runs in the network of this process, or in that of a node of the laboratory. It is waited for by
what the kernel says of its socket, and ended by its own process. Refuses to know what it simulates.
"""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.lab.host import wait_for

DEADLINE = 30.0
"""Seconds in which a simulator has to be there."""


@contextmanager
def running(argv: Sequence[str], log: Path, *, is_ready: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    """The process while it runs; its standard input stays open, and everything that it says goes to ``log``."""
    with log.open("wb") as said:
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.STDOUT)
        try:
            wait_for(lambda: process.poll() is not None or is_ready(), DEADLINE, f"{argv[-1]} to listen")
            assert process.poll() is None, log.read_text(errors="replace")
            yield process
        finally:
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()


def entered(net: Path | None) -> list[str]:
    """The prefix of a command that has to run in the network namespace ``net``, a file of ``/proc/PID/ns``."""
    return [] if net is None else ["nsenter", f"--net={net}"]


def listens(net: Path | None, table: str, socket: str) -> Callable[[], bool]:
    """Whether ``socket`` stands in a table of that namespace, ``udp`` or ``unix``."""
    file = Path("/proc/self/net" if net is None else net.parents[1] / "net", table)
    return lambda: any(socket in line.split() for line in file.read_text().splitlines())
