"""Discs of equal speed: the cgroup that holds a node's disk to its rate.

Owned here: finding which cgroup version can do it, making one cgroup per node.
Refused here: the rates' numbers (spec) and entering (the node does that as it boots).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Throttle:
    """Where disk cgroups can be made; kind is v1, v2 or none."""

    kind: str
    root: str
    io_off: bool = False  # v2 only: the io controller must be switched on first

    def cgroup(self, name: str) -> str:
        """The cgroup of this name, or "" when there are none."""
        return f"{self.root}/{name}" if self.kind != "none" else ""

    def enable(self) -> None:
        """Switch the io controller on for children, if that is needed."""
        if self.io_off:
            (Path(self.root) / "cgroup.subtree_control").write_text("+io")


def find_throttle() -> Throttle:
    """The way this machine can limit a disk; none when it cannot."""
    for kind, root in _mounts():
        if kind == "cgroup" and (root / "blkio.throttle.read_bps_device").exists():
            return Throttle("v1", str(root))
        if kind == "cgroup" and (root / "blkio.reset_stats").exists():
            # The root cgroup of some kernels shows no limits; children have them.
            return Throttle("v1", str(root))
        if kind == "cgroup2" and "io" in _words(root / "cgroup.controllers"):
            enabled = "io" in _words(root / "cgroup.subtree_control")
            return Throttle("v2", str(root), io_off=not enabled)
    return Throttle("none", "")


def _mounts() -> list[tuple[str, Path]]:
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind = right.split()[0]
        if kind in ("cgroup", "cgroup2"):
            found.append((kind, Path(left.split()[4])))
    return found


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
