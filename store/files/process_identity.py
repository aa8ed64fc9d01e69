"""The identity of a process on its machine, and whether it still lives."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """One process. ``born`` tells it from a later one with the same pid (empty: unknown)."""

    host: str
    pid: int
    born: str


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def this_host() -> str:
    """The machine and, within it, the space that its pids count in (a container has its own)."""
    try:
        space = str((_PROC / "self/ns/pid").readlink())
    except OSError:
        space = ""
    machine = _read(Path("/etc/machine-id"))[:12]
    return " ".join(part for part in (socket.gethostname(), machine, space) if part)


def _born(pid: int) -> str | None:
    """Boot and start time of a process; None when it is gone, empty where that cannot be known."""
    if not (_PROC / "self/stat").exists():
        return "" if _answers(pid) else None
    stat = _read(_PROC / str(pid) / "stat")
    # The name in parentheses may hold anything, so count from the last one.
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in ("Z", "X"):  # ended, and waiting for its parent to notice
        return None
    return f"{_read(_PROC / 'sys/kernel/random/boot_id')} {fields[19]}"


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def this_process() -> Process:
    """The process that asks."""
    pid = os.getpid()
    return Process(this_host(), pid, _born(pid) or "")


def lives(process: Process) -> bool | None:
    """Whether it still runs; None when it is on another machine and cannot be asked."""
    if process.host != this_host():
        return None
    return _born(process.pid) == process.born
