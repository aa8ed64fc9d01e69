"""Each transcript of a tool that has conditions of its own, and each label that all its numbers must carry.

A row names the readings that it speaks of, and every value of each label over all of them. A label that one of these
readings lacks, a value that is not in the row, and a transcript without a row fail.
"""

import re

import pytest

from benchconsole.probes.api import Output, ProbeOutputError, Reading
from benchconsole.probes.plugins.registry import load_probes
from tests.probes.tools.captures import ROOT, output

Row = tuple[str, str, dict[str, str]]
"""Transcript, pattern of metrics, and by label its values, with a blank between two; - where none may have it."""

_PSYNC = {"ioengine": "psync", "depth": "1"}
_LARGE, _SMALL = {"pattern": "sequential", "block": "1MiB"}, {"pattern": "random", "block": "4KiB"}
_OWN_FIO = {"pattern": "random sequential", "block": "1MiB 4KiB", "direct": "1", **_PSYNC, "mix": "-", "fsync": "-"}
_64K = {"pattern": "sequential", "block": "64KiB", **_PSYNC}
_DD = {"operation": "read write", "size": "*", "block": "*"}
_SYSBENCH = {"size": "*", "block": "*", "threads": "*", "pattern": "*", "operation": "*"}
_IOZONE = {"size": "*", "block": "*", "operation": "*"}

TABLE: list[Row] = [
    ("fio/own-3.33.json", "read", {**_OWN_FIO, "end_fsync": "-"}),
    ("fio/own-3.33.json", "write", {**_OWN_FIO, "end_fsync": "1"}),
    ("fio/slurm-noise-3.33.json", "read", {**_OWN_FIO, "end_fsync": "-"}),
    ("fio/slurm-noise-3.33.json", "write", {**_OWN_FIO, "end_fsync": "1"}),
    ("fio-clients/own-3.33.json", "read", {**_SMALL, **_PSYNC, "direct": "1", "client": "*", "end_fsync": "-"}),
    ("fio-clients/own-3.33.json", "write", {**_LARGE, **_PSYNC, "direct": "1", "client": "*", "end_fsync": "1"}),
    ("fio/2.10-invalid.json", "read", {**_SMALL, "ioengine": "libaio", "depth": "1", "direct": "1", "mix": "50"}),
    ("fio/2.2.10.json", "", {"direct": "-", "ioengine": "-", "depth": "-", "pattern": "-"}),
    ("fio/3.0.json", "", {"pattern": "sequential", "block": "128KiB", "direct": "0", **_PSYNC}),
    ("fio/capped-3.33.json", "", {**_64K, "pattern": "random", "direct": "0", "mix": "50"}),
    ("fio/client-3.33.json", "", {**_64K, "direct": "0", "client": "*", "mix": "-"}),
    ("fio/clones-3.33.json", "", {**_64K, "direct": "1"}),
    ("fio/fsync-3.33.json", "", {
        "pattern": "sequential", "block": "4KiB", "direct": "1", "ioengine": "libaio", "depth": "4", "fsync": "4",
        "end_fsync": "1",
    }),
    ("fio/group-3.33.json", "", {**_64K, "direct": "1", "clients": "3"}),
    ("fio/io-size-3.33.json", "", {**_SMALL, **_PSYNC, "direct": "0", "mix": "-"}),
    ("fio/kib-3.33.json", "", {"pattern": "sequential", "block": "4000B", **_PSYNC, "direct": "0"}),
    ("fio/mixed-blocks-3.33.json", "", {"block": "4KiB 8KiB", **_PSYNC, "direct": "0", "mix": "70"}),
    ("fio/null-3.33.json", "", {**_SMALL, "ioengine": "null", "depth": "1", "direct": "0"}),
    ("fio/status-interval-3.33.json", "", {**_64K, "direct": "1"}),
    ("fio/status-interval-size-3.33.json", "", {**_64K, "direct": "1"}),
    ("fio/unreached-3.33.json", "", {**_64K, "direct": "0", "client": "*", "end_fsync": "1"}),
    ("fio/verify-3.33.json", "", {**_64K, "direct": "0", "verify": "crc32c"}),
    ("dd/own-9.1.txt", "", {**_DD, "direct": "1", "sync": "1", "cache": "-"}),
    ("dd/own-9.1-cached.txt", "", {**_DD, "direct": "0", "sync": "1", "cache": "-"}),
    ("dd/own-9.1-from-cache.txt", "", {**_DD, "direct": "0", "sync": "0"}),
    ("sysbench/1.0.20-own-fileio.txt", "read|write|lat", {**_SYSBENCH, "direct": "1", "fsync": "100", "cached": "-"}),
    ("sysbench/1.0.20-own-cached.txt", "", {**_SYSBENCH, "direct": "0", "fsync": "100", "cached": "possible"}),
    ("sysbench/1.0.20-own-threads.txt", "", {"test": "threads", "threads": "2"}),
    ("sysbench/1.0.20-fileio.txt", "read|write", {**_SYSBENCH, "direct": "1"}),
    ("sysbench/1.1.0-fileio.txt", "read|write", {**_SYSBENCH, "direct": "1"}),
    ("sysbench/0.4.12-fileio.txt", "read|write|moved", {**_SYSBENCH, "direct": "0"}),
    ("sysbench/0.4.12-random.txt", "read|write|moved", {**_SYSBENCH, "direct": "0"}),
    ("sysbench/0.5-fileio.txt", "read|write|moved", {**_SYSBENCH, "direct": "-"}),
    ("iozone/3.397-desy.txt", "", {**_IOZONE, "direct": "0"}),
    ("iozone/3.506-throughput.txt", "", {**_IOZONE, "direct": "0", "tasks": "4", "idle": "-"}),
    ("iozone/3.430-table-only.txt", "", {**_IOZONE, "direct": "-"}),
    ("bonnie/2.00-own-cached.txt", "", {"clients": "*", "operation": "*"}),
    ("imb/2018-sendrecv.txt", "bandwidth", {"benchmark": "*", "size": "*", "processes": "2"}),
    ("imb/2021.3-bands-allreduce.txt", "message_rate", {"benchmark": "Biband Uniband", "size": "*"}),
    ("iperf3/udploss-3.12.json", "stream|throughput", {"protocol": "udp", "direction": "out", "streams": "2"}),
]  # fmt: skip

_REFUSED = frozenset(("fio/disk-full-3.33.json",))


def readings(name: str) -> list[Reading]:
    probe = load_probes().probes[name.partition("/")[0]]
    return [one for one in probe.parse(output(name)) if isinstance(one, Reading)]


@pytest.mark.parametrize(("name", "metrics", "expected"), TABLE, ids=[f"{name} {what}" for name, what, _ in TABLE])
def test_every_number_carries_its_conditions(name: str, metrics: str, expected: dict[str, str]) -> None:
    spoken_of = [dict(one.labels) for one in readings(name) if re.search(rf"\.(?:{metrics})", one.metric)]
    assert spoken_of
    found = {label: {marks.get(label, "-") for marks in spoken_of} for label in expected}
    for label, values in expected.items():
        if values == "*":
            assert "-" not in found[label], label
        else:
            assert found[label] == set(values.split()), label


def test_every_transcript_of_fio_and_of_our_own_runs_has_a_row() -> None:
    own = {f"{path.parent.name}/{path.name}" for path in ROOT.glob("*/*own-*") if re.search(r"\bown-", path.name)}
    every = own | {f"fio/{path.name}" for path in (ROOT / "fio").iterdir()}
    assert every - _REFUSED <= {name for name, *_ in TABLE}
    for name in _REFUSED:
        with pytest.raises(ProbeOutputError):
            load_probes().probes["fio"].parse(Output((), (ROOT / name).read_bytes()))
