"""Storage benchmarks of Debian, run by the console on real nodes; what was stored is compared with the stored text."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.scenarios.commands import benchconsole, read_stored_outputs, report

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not all(map(shutil.which, ("bonnie++", "sysbench", "h5perf_serial", "fio"))),
        reason="bonnie++, sysbench, hdf5-tools and fio are not all installed here",
    ),
]

DISK = 16e6
"""byte/s of a node's scratch disk in the laboratory."""
WORK = """\
suites:
  default:
    - {probe: bonnie, nodes: n1, scratch: /scratch, size: 12 MiB, files: 0, rate: 5 MB/s}
    - {probe: sysbench, nodes: n2, scratch: /scratch, size: 8 MiB, files: 2, block: 64 KiB, mode: rndrw, seconds: 2}
    - {probe: h5perf, nodes: n3, scratch: /scratch, size: 4 MiB, iterations: 2}
    - {probe: fio, nodes: n4, scratch: /scratch, size: 4 MiB, seconds: 1, jobs: 2, depth: 4, mix: 70}
"""


def listed(lab: Lab) -> list[list[str]]:
    """The names in the scratch directories; other tests may have left something of strangers there."""
    return [lab.ssh(node, "ls -A /scratch").stdout.split() for node in ("n1", "n2", "n3", "n4")]


@pytest.fixture
def ran(healthy_lab: Lab, tmp_path: Path) -> Iterator[Path]:
    """The database of one run of all four."""
    written = healthy_lab.topology.read_text()
    topology = healthy_lab.topology.with_name("storage-b.yaml")
    topology.write_text(written[: written.index("criteria:")] + WORK)
    try:
        before = listed(healthy_lab)
        done = benchconsole("run", topology, "--db", tmp_path / "s.db")
        assert (done.code, "Not judged" in done.out) == (3, True), done.out + done.err
        assert listed(healthy_lab) == before, "something of ours is left"
        yield tmp_path / "s.db"
    finally:
        topology.unlink()


def stored(db: Path, like: str) -> str:
    """The one stored output that has ``like`` in it."""
    (found,) = (text for text in read_stored_outputs(db) if like in text)
    return found


def measured(found: dict[str, Any], metric: str, **labels: str) -> list[float]:
    """Values of a metric with these labels, in the order of the report."""
    return [
        float(one["value"])
        for one in found["measurements"]
        if one["metric"] == metric and labels.items() <= one["labels"].items()
    ]


def test_all_four_store_what_they_printed_and_what_the_disk_can_do(healthy_lab: Lab, ran: Path) -> None:
    found = report(ran)
    assert found["failures"] == []
    (cells,) = (line.split(",") for line in stored(ran, "bonnie++ size=").splitlines() if line.startswith("1.98,2.00a"))
    for metric, cell, factor in (
        ("write", 11, 1024.0),
        ("rewrite", 13, 1024.0),
        ("read", 17, 1024.0),
        ("seeks", 19, 1.0),
    ):
        expected = [float(cells[cell]) * factor] if cells[cell] != "+++++" else []
        assert measured(found, f"bonnie.{metric}") == expected
    assert len(measured(found, "bonnie.latency")) == 4
    assert len(measured(found, "bonnie.latency", cached="possible")) == 3

    printed = dict(re.findall(r"^    (read|written), MiB/s: +([\d.]+)$", stored(ran, "sysbench fileio"), re.MULTILINE))
    both = [float(printed["read"]) * 2**20, float(printed["written"]) * 2**20]
    assert measured(found, "sysbench.read") + measured(found, "sysbench.write") == pytest.approx(both)

    rows = re.findall(r"(Maximum|Minimum) Throughput: +([\d.]+) MB/s", stored(ran, "h5perf_serial size="))
    values = sorted(float(value) * 2**20 for _, value in rows)
    assert sorted(
        value
        for metric in ("h5perf.read", "h5perf.write")
        for statistic in ("max", "min")
        for value in measured(found, metric, statistic=statistic)
    ) == pytest.approx(values)
    assert len(values) == 16

    decoder, text = json.JSONDecoder(), stored(ran, "random-mixed")
    openings = [opening.start() for opening in re.finditer(r"^\{$", text, re.MULTILINE)]
    runs = [decoder.raw_decode(text, opening)[0]["jobs"] for opening in openings]
    assert [len(jobs) for jobs in runs] == [2] * 5
    each = [job["read"]["bw_bytes"] for job in runs[4]]
    assert sorted(measured(found, "fio.read", mix="70")[:2]) == sorted(each)
    assert measured(found, "fio.read", mix="70", clients="2") == [pytest.approx(sum(each), rel=0.05)]

    if healthy_lab.disk_throttled:
        # Reading and writing are throttled apart.
        rates = [*measured(found, "bonnie.write"), *measured(found, "bonnie.rewrite"), max(both)]
        rates += measured(found, "fio.read", pattern="sequential", clients="2")
        assert all(0.2 * DISK < rate < 1.8 * DISK for rate in rates), rates
