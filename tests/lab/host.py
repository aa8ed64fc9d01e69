"""The machine the laboratory stands on: commands, process identities, waiting.

Owned here: how a command is run, how a process is known again (pid plus start time),
how a condition is waited for, and what the machine must offer.
Refused here: any knowledge of nodes, switches or faults.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

# Children get a path of their own: a person's PATH often lacks the sbin directories.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"PATH": PATH, "LC_ALL": "C.UTF-8", "TERM": "dumb"}

# The number is free, or that of a thread by now: ENOENT since Linux 6.16, EINVAL before.
_NO_PROCESS = frozenset((errno.ESRCH, errno.ENOENT, errno.EINVAL))

PACKAGES = {
    "ip": "iproute2",
    "tc": "iproute2",
    "nft": "nftables",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "losetup": "util-linux",
    "pivot_root": "util-linux",
    "flock": "util-linux",
    "hostname": "hostname",
    "mkfs.ext4": "e2fsprogs",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "ssh-keyscan": "openssh-client",
    "sshd": "openssh-server",
    "iperf3": "iperf3",
    "fio": "fio",
    "lldpd": "lldpd",
}


class LabError(Exception):
    """The laboratory could not do what was asked; the text says what and why."""


class LabInUseError(LabError):
    """The names that a laboratory needs belong to somebody else at the moment."""


def run(argv: Sequence[str], *, stdin: str = "", seconds: float = 60) -> str:
    """Run a command that must succeed; give its output."""
    done = attempt(argv, stdin=stdin, seconds=seconds)
    if done.returncode != 0:
        raise LabError(f"{' '.join(argv)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def attempt(argv: Sequence[str], *, stdin: str = "", seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """Run a command that may fail; its output is decoded, never trusted."""
    return subprocess.run(
        list(argv),
        input=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        env=ENVIRONMENT,
        check=False,
    )


def together(work: Callable[[T], R], items: Iterable[T], *, hands: int = 8) -> list[R]:
    """Do the same for each item, a few at a time; the first error is raised."""
    with ThreadPoolExecutor(hands) as pool:
        return list(pool.map(work, items))


def wait_for(predicate: Callable[[], bool], seconds: float, what: str) -> None:
    """Poll until the predicate holds, or say what was waited for in vain."""
    deadline = monotonic() + seconds
    tick = Event()
    while not predicate():
        if monotonic() > deadline:
            raise LabError(f"waited {seconds:g} s in vain for {what}")
        tick.wait(0.02)


@dataclass(frozen=True)
class Identity:
    """A process that cannot be mistaken for a later one with the same pid."""

    pid: int
    start: int

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """The identity of a process that runs now, or None."""
        fields = stat_fields(pid)
        return None if fields is None else cls(pid, int(fields[19]))

    @classmethod
    def read(cls, path: Path) -> Identity | None:
        """An identity from a file of the form "pid start", or None."""
        try:
            pid, start = path.read_text().split()
        except (OSError, ValueError):
            return None
        return cls(int(pid), int(start))

    def alive(self) -> bool:
        """Whether exactly this process still runs; a zombie does not."""
        fields = stat_fields(self.pid)
        return fields is not None and int(fields[19]) == self.start and fields[0] not in "ZX"

    def signal(self, number: signal.Signals) -> None:
        """Signal exactly this process; one that is gone already is no error."""
        try:
            handle = os.pidfd_open(self.pid)
        except OSError as error:
            if error.errno in _NO_PROCESS:
                return
            raise
        try:
            # The pidfd pins the process, so the check below cannot go stale.
            if self.alive():
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            return
        finally:
            os.close(handle)


def stat_fields(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the name: [0] state, [1] parent, [19] start."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()


def missing_tools() -> list[str]:
    """Needed programs that are not here, each with the Debian package that has it."""
    return [
        f"{tool} is missing (Debian package {package})"
        for tool, package in PACKAGES.items()
        if shutil.which(tool, path=PATH) is None
    ]


def obstacles() -> list[str]:
    """Every reason why no laboratory can be built here; empty when one can."""
    if os.geteuid() != 0:
        return ["the laboratory needs root (network namespaces, mounts, loop devices)"]
    found = missing_tools()
    if found:
        return found
    probe = attempt(["unshare", "--net", "--uts", "--ipc", "--pid", "--mount", "--fork", "true"])
    if probe.returncode != 0:
        found.append(f"this machine gives no namespaces: {probe.stderr.strip()}")
    if not _has_overlay():
        found.append("the kernel has no overlay file system")
    if not Path("/dev/loop-control").exists():
        found.append("there are no loop devices (/dev/loop-control)")
    return found


def _has_overlay() -> bool:
    known = Path("/proc/filesystems")
    return "overlay" in known.read_text() or attempt(["modprobe", "overlay"]).returncode == 0
