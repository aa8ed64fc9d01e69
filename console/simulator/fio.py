"""A simulated fio 3.33: one JSON document with the fields of the real one.

Rates come from the node's role and its planted disk fault. Sequential work on a storage server
stripes over twelve disks, so one slow disk holds back all of them (12 x 137 MB/s healthy,
12 x 57.5 MB/s with the slow one).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchconsole.console.simulator.network import noise
from benchconsole.console.simulator.templates import render_template

STRIPE = 12
DISK = 137.0e6
"""byte/s that one healthy disk of a storage server reads in sequence."""

_WRITES = 0.88
_RANDOM = 0.012
_LOCAL = 165.0e6


@dataclass(frozen=True, slots=True)
class NodeDisks:
    """The scratch file system of one node. ``share`` is what a slow disk leaves of its speed."""

    node: str
    storage: bool
    share: float = 1.0

    def find_rate(self, operation: str, *, sequential: bool, block: int) -> float:
        """byte/s of ``read`` or ``write``."""
        best = STRIPE * DISK * self.share if self.storage else _LOCAL
        if operation == "write":
            best *= _WRITES
        if not sequential:
            # Seeks, not bytes, bound random work: small blocks give the same operations, less data.
            best *= min(1.0, _RANDOM * block / 4096)
        return best * noise(self.node, operation, sequential, block)


def list_intervals(disks: NodeDisks, blocks: Mapping[str, int], seconds: int) -> list[str]:
    """The lines that the script of the probe prints each second, of runs of ``seconds`` each with their blocks."""
    lines = []
    for rw, block in blocks.items():
        sequential, way = not rw.startswith("rand"), rw.removeprefix("rand")
        rate = disks.find_rate(way, sequential=sequential, block=block)
        name = f"{'sequential' if sequential else 'random'}-{way}"
        for second in range(1, seconds + 1):
            amount = int(rate * noise(disks.node, rw, second, spread=0.04))
            moved = (amount, 0) if way == "read" else (0, amount)
            lines.append(f"benchconsole: {name} at {100 * second} in 100 read {moved[0]} written {moved[1]}\n")
    return lines


def format_report(disks: NodeDisks, rw: str, *, block: int, seconds: str, depth: int, at: float) -> str:
    """The output of ``fio --output-format=json`` for one job that went well, ``rw`` for ``seconds`` as it was asked."""
    sequential = not rw.startswith("rand")
    timed = float(seconds) or 1.0
    sides = []
    for side in ("read", "write", "trim"):
        rate = disks.find_rate(side, sequential=sequential, block=block) if rw.endswith(side) else 0.0
        count = int(rate * timed / block)
        amounts = {"count": count, "size": count * block, "rate": count * block / timed, "iops": count / timed}
        latency = depth * block / rate * 1e9 if rate else 0.0
        sides.append({"name": side, "seconds": timed, "latency": latency, **amounts})
    name = f"{'sequential' if sequential else 'random'}-{rw.removeprefix('rand')}"
    job = {"name": name, "rw": rw, "block": block, "runtime": seconds, "seconds": float(seconds), "depth": depth}
    return render_template("fio.json", {**job, "sides": sides, "at": at})
