"""A simulated fio 3.33: one JSON document with the fields of the real one.

Rates come from the node's role and its planted disk fault. Sequential work on a storage server
stripes over twelve disks, so one slow disk holds back all of them (12 x 137 MB/s healthy,
12 x 57.5 MB/s with the slow one).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from benchconsole.console.simulator.network import noise

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


@dataclass(frozen=True, slots=True)
class FioJob:
    """One fio job that was asked for."""

    name: str
    rw: str
    block: int
    seconds: float
    depth: int
    options: Mapping[str, str]


def format_report(job: FioJob, disks: NodeDisks, *, at: float) -> str:
    """What ``fio --output-format=json`` prints for one job that went well."""
    sides = {side: _make_side(job, disks, side) for side in ("read", "write", "trim")}
    document: dict[str, object] = {
        "jobname": job.name,
        "groupid": 0,
        "error": 0,
        "eta": 2_147_483_647 if job.seconds else 0,
        "elapsed": int(job.seconds) + 1,
        "job options": dict(job.options),
        **sides,
        "sync": {"total_ios": 0, "lat_ns": _make_times(0.0, 0)},
        "job_runtime": int(job.seconds * 1000),
        "usr_cpu": 1.181102,
        "sys_cpu": 5.610236,
        "ctx": 782,
        "majf": 0,
        "minf": 4106,
        "latency_depth": job.depth,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }
    whole = {"fio version": "fio-3.33", "timestamp": int(at), "timestamp_ms": int(at * 1000), "jobs": [document]}
    return json.dumps(whole, indent=2, separators=(",", " : ")) + "\n"


def _make_times(mean: float, count: int) -> dict[str, object]:
    low, high = int(mean * 0.4), int(mean * 2.1)
    return {"min": low, "max": high, "mean": mean, "stddev": mean * 0.21, "N": count}


def _make_side(job: FioJob, disks: NodeDisks, side: str) -> dict[str, object]:
    seconds = job.seconds or 1.0
    rate = 0.0
    if job.rw.endswith(side):
        rate = disks.find_rate(side, sequential=not job.rw.startswith("rand"), block=job.block)
    count = int(rate * seconds / job.block)
    size = count * job.block
    latency = job.depth * job.block / rate * 1e9 if rate else 0.0
    finished = _make_times(latency, count)
    if count:
        points = (1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99)
        finished["percentile"] = {f"{point:.6f}": int(latency * (0.6 + point / 110)) for point in points}
    exact = size / seconds
    return {
        "io_bytes": size,
        "io_kbytes": size // 1024,
        "bw_bytes": int(exact),
        "bw": int(exact / 1024),
        "iops": count / seconds,
        "runtime": int(seconds * 1000) if count else 0,
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _make_times(latency * 0.004, count),
        "clat_ns": finished,
        "lat_ns": _make_times(latency * 1.004, count),
        "bw_min": int(exact / 1024 * 0.93),
        "bw_max": int(exact / 1024 * 1.05),
        "bw_agg": 100.0 if count else 0.0,
        "bw_mean": exact / 1024,
        "bw_dev": exact / 1024 * 0.03,
        "bw_samples": int(seconds * 2) if count else 0,
        "iops_min": int(count / seconds * 0.93),
        "iops_max": int(count / seconds * 1.05),
        "iops_mean": count / seconds,
        "iops_stddev": count / seconds * 0.03,
        "iops_samples": int(seconds * 2) if count else 0,
    }
