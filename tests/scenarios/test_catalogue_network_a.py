"""nuttcp and qperf between real nodes: their stored numbers held against another reading of what was stored."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.scenarios.commands import benchconsole, read_stored_outputs, report

pytestmark = pytest.mark.lab

PAIR = 'design: sample, pairs: 1, nodes: "n[1-2]"'
SUITES = f"""\
suites:
  default:
    - {{probe: nuttcp, {PAIR}, seconds: 1, bitrate: 60 Mb/s}}
    - {{probe: nuttcp, {PAIR}, mode: udp, seconds: 1, bitrate: 40 Mb/s, reverse: 1}}
    - {{probe: nuttcp, {PAIR}, mode: burst, burst: 20, bursts: 1}}
    - {{probe: qperf, {PAIR}, tests: tcp_bw udp_lat, seconds: 1}}
  missing:
    - {{probe: qperf, {PAIR}, tests: tcp_lat, seconds: 1}}
"""
LINK = 100e6 / 8
"""byte/s of a node's link."""


@pytest.fixture
def topology(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory's file with suites of ours."""
    text = healthy_lab.topology.read_text()
    path = healthy_lab.topology.with_name("network_a.yaml")
    path.write_text(text[: text.index("criteria:")] + SUITES)
    yield path
    path.unlink()


def measured(found: dict[str, Any], round_number: int) -> dict[str, float]:
    """Metric to value of one round; the processors and qperf's counts are left out."""
    tests = {each["test"]: each for each in found["measurements"]}
    (own,) = (test for test in tests if test.startswith(f"{round_number:04}/"))
    mine = [each for each in found["measurements"] if each["test"] == own and each["probe"] in ("nuttcp", "qperf")]
    return {each["metric"]: each["value"] for each in mine if each["metric"] not in ("nuttcp.cpu", "qperf.messages")}


def keys(said: str, end: str) -> dict[str, str]:
    """Every word ``key=value`` of the lines of one end, the last of each key."""
    lines = [line for line in said.splitlines() if line.startswith(f"nuttcp-{end}:")]
    return dict(word.split("=", 1) for line in lines for word in line.split() if "=" in word)


def received(lab: Lab, node: str) -> int:
    return int(lab.inside(node, "cat", "/sys/class/net/eth0/statistics/rx_bytes"))


def test_what_is_stored_is_what_the_receivers_said(healthy_lab: Lab, topology: Path, tmp_path: Path) -> None:
    db, before = tmp_path / "s.db", received(healthy_lab, "n2")
    ran = benchconsole("run", topology, "--db", db)
    assert ran.code == 0, ran.out + ran.err
    found, (tcp, udp, burst, qperf) = report(db), read_stored_outputs(db)
    assert found["failures"] == []

    sent = measured(found, 1)
    assert sent["nuttcp.throughput"] == pytest.approx(float(keys(tcp, "r")["rate_KBps"]) * 1024, rel=1e-4)
    assert sent["nuttcp.rtt"] == pytest.approx(float(keys(tcp, "t")["rtt_ms"]) / 1000)
    assert 0.7 * 60e6 / 8 < sent["nuttcp.throughput"] < 1.1 * 60e6 / 8  # of a cable that carries 94

    back = measured(found, 2)
    assert udp.startswith("nuttcp-r")
    counted = keys(udp, "r")  # its percentage is of bytes, some of which were still on the way
    assert back["nuttcp.loss"] == int(counted["drop"]) / int(counted["pkt"])
    assert back["nuttcp.loss"] == pytest.approx(float(counted["data_loss"]) / 100, rel=0.01)
    assert back["nuttcp.throughput"] == pytest.approx(float(keys(udp, "r")["rate_KBps"]) * 1024, rel=1e-4)
    assert {each["target"] for each in found["measurements"] if each["test"].startswith("0002/")} == {"n2>n1"}
    arrived = sum(float(keys(said, "r")["megabytes"]) for said in (tcp, udp)) * 2**20
    assert received(healthy_lab, "n2") - before > 0.9 * arrived

    assert keys(burst, "t")["nbuf"] == keys(burst, "r")["pkt"] == "20"
    assert measured(found, 3) == {"nuttcp.burst_loss": int(keys(burst, "r")["drop"]) / 20}

    last = measured(found, 4)
    (rate,), (latency,) = re.findall(r"\bbw +=\s+(\d+) bytes/sec", qperf), re.findall(r"latency +=\s+(\d+) ns", qperf)
    assert last == pytest.approx({"qperf.throughput": int(rate), "qperf.latency": int(latency) / 1e9})
    assert 0.7 * LINK < last["qperf.throughput"] < 1.05 * LINK


def test_a_server_that_is_missing_is_named(healthy_lab: Lab, topology: Path, tmp_path: Path) -> None:
    healthy_lab.remove_tool("n2", "qperf")
    ran = benchconsole("run", topology, "--suite", "missing", "--db", tmp_path / "s.db")
    assert ran.code == 3, ran.out + ran.err
    ((node, stage, detail),) = (
        (each["node"], each["stage"], each["detail"]) for each in report(tmp_path / "s.db")["failures"]
    )
    assert (node, stage) == ("n2", "tool missing")
    assert "Debian package qperf" in detail
