"""The probes that behave like applications, on real nodes: their stored numbers against their stored outputs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.scenarios.commands import benchconsole, read_stored_outputs, report
from tests.scenarios.test_laboratory import marked, scratch

pytestmark = pytest.mark.lab

SUITES = """\
criteria:
  - {metric: archive.throughput, at_least: 6.25 MB/s}
suites:
  default:
    - {probe: detector-stream, nodes: "n[1-2]", scratch: /scratch, frames: 10, size: 2 MB, rate: 20 Hz}
    - {probe: aggregate, nodes: n1, scratch: /scratch, images: 100, size: 64 KiB, format: raw}
    - {probe: skim, nodes: n1, scratch: /scratch, processes: 2, size: 4 MiB}
    - {probe: archive, design: sample, pairs: 1, nodes: "n[1-2]", streams: 4, seconds: 2}
  hdf5:
    - {probe: aggregate, nodes: n1, scratch: /scratch, images: 20, size: 64 KiB}
"""
LINK = 12.5e6
"""byte/s of the data link of a node, 100 Mb/s."""
DISK = 16e6
"""byte/s that a node's scratch disk is held to."""
SPARE = 0.25
"""Seconds: the throttle counts in slices of a tenth of a second, and lets a slice through at either end of a time."""


@pytest.fixture
def topology(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory's file with these suites, beside the SSH files that it names."""
    text = healthy_lab.topology.read_text()
    path = healthy_lab.topology.with_name("application.yaml")
    path.write_text(text[: text.index("criteria:")] + SUITES)
    yield path
    path.unlink()


def raw(db: Path, probe: str) -> list[str]:
    """The outputs of the scripts of a probe, as they were stored."""
    return [each for each in read_stored_outputs(db) if f'"benchmark": "{probe}"' in each]


def numbers(text: str, key: str) -> list[float]:
    """Every number behind a key, by its letters alone."""
    return [float(each) for each in re.findall(rf'"{key}": (-?[0-9.]+)', text)]


def values(found: dict[str, Any], metric: str) -> list[float]:
    return sorted(each["value"] for each in found["measurements"] if each["metric"] == metric)


def test_what_is_stored_is_what_the_scripts_counted_and_what_disk_and_link_allow(
    healthy_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    db, before = tmp_path / "s.db", scratch(healthy_lab)
    ran = benchconsole("run", topology, "--db", db)
    found = report(db)
    assert found["failures"] == [], ran.out + ran.err
    assert found["coverage"]["tested"] == found["coverage"]["planned"] == 5
    assert marked(healthy_lab) == []
    assert scratch(healthy_lab) <= before

    detectors(found, raw(db, "detector-stream"))
    (aggregate,) = raw(db, "aggregate")
    (seconds,) = numbers(aggregate, "seconds")
    assert values(found, "aggregate.images") == [pytest.approx(100 / seconds)]
    assert values(found, "aggregate.rate") == [pytest.approx(100 * 65536 / seconds)]
    skims(found, raw(db, "skim"))
    archives(found, raw(db, "archive"))
    if healthy_lab.disk_throttled:
        assert max(values(found, "detector-stream.throughput")) < most(10 * 2e6)
        assert max(values(found, "aggregate.rate")) < most(100 * 65536)
        assert 2 * 4 * 2**20 / max(values(found, "skim.time")) < most(2 * 4 * 2**20)
        assert min(values(found, "detector-stream.late")) > 0.5  # 40 MB/s are asked of 16
    cached = {dict(each["labels"]).get("cache") for each in found["measurements"]} - {None}
    assert cached == {"dropped"}


def most(size: float) -> float:
    """byte/s that the disk can seem to give to what moves so many bytes."""
    return size / (size / DISK - SPARE)


def detectors(found: dict[str, Any], outputs: list[str]) -> None:
    lateness, rates = [], []
    for text in outputs:
        (times,) = re.findall(r'"finished_us": \[([^]]*)\]', text)
        after = [int(each) for each in times.split(",")]
        assert len(after) == 10
        lateness.append(max(0, *after) / 1e6)
        rates.append(10 * 2e6 / (10 / 20 + max(0, after[-1]) / 1e6))
    assert len(outputs) == 2
    assert values(found, "detector-stream.lateness") == [pytest.approx(each) for each in sorted(lateness)]
    assert values(found, "detector-stream.throughput") == [pytest.approx(each) for each in sorted(rates)]


def skims(found: dict[str, Any], outputs: list[str]) -> None:
    (text,) = outputs
    seconds = numbers(text, "seconds")
    assert numbers(text, "read") == [4 * 2**20] * 2
    assert values(found, "skim.time") == sorted(seconds)
    assert values(found, "skim.read") == [pytest.approx(4 * 2**20 / each) for each in sorted(seconds, reverse=True)]
    assert values(found, "skim.spread") == [pytest.approx(max(seconds) / min(seconds))]


def archives(found: dict[str, Any], outputs: list[str]) -> None:
    (text,) = outputs
    samples = [json.loads(each) for each in re.findall(r'"samples": (\[\[.*?\]\])', text)]
    rates = [(each[-1][1] - each[0][1]) / (each[-1][0] - each[0][0]) * 1e6 for each in samples]
    assert len(rates) == 4
    assert values(found, "archive.transfer") == [pytest.approx(each) for each in sorted(rates)]
    (verdict,) = (each for each in found["verdicts"] if each["probe"] == "archive")
    assert verdict["level"] == "pass"
    assert LINK / 2 <= verdict["value"] <= 1.05 * LINK


def test_hdf5_is_written_where_h5py_is_and_skipped_by_name_where_it_is_not(
    healthy_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    has_h5py = healthy_lab.ssh("n1", "python3 -c 'import h5py'").returncode == 0
    ran = benchconsole("run", topology, "--suite", "hdf5", "--db", tmp_path / "s.db")
    found = report(tmp_path / "s.db")
    if has_h5py:
        assert {each["labels"]["format"] for each in found["measurements"]} == {"hdf5"}, ran.out + ran.err
        assert values(found, "aggregate.images") == [20 / values(found, "aggregate.time")[0]]
    else:
        assert ran.code == 3, ran.out + ran.err
        assert "Debian package python3-h5py" in json.dumps(found)
