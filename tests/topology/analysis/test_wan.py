"""Distance: bytes in flight, windows, streams, and the loss that a rate survives."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.topology.analysis.static_finding import Severity
from benchconsole.topology.analysis.wan import MATHIS, analyse_wan, list_findings, tolerable_loss
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.fabrics import fabric

LINE = """\
schema: 1
fabric: far
network: {{mtu: 9000}}
classes:
  tuned: {{sysctl: {{{sysctl}}}}}
switches: {{west: {{role: core}}, east: {{role: core}}}}
nodes:
  a[1-2]: {{class: tuned}}
  b[1-2]: {{class: tuned}}
links:
  - {{from: "a[1-2]", to: west, speed: 10 Gb/s}}
  - {{from: "b[1-2]", to: east, speed: 10 Gb/s}}
  - {{from: west, to: east, speed: 100 Gb/s, rtt: {rtt}}}
"""
TUNED = "net.ipv4.tcp_rmem: 4096 87380 16777216, net.ipv4.tcp_wmem: 4096 65536 33554432"


def far(folder: Path, sysctl: str = TUNED, rtt: str = "50.5 ms") -> Fabric:
    return fabric(folder, LINE.format(sysctl=sysctl, rtt=rtt))


def test_bytes_in_flight(tmp_path: Path) -> None:
    line = analyse_wan(far(tmp_path))[0]
    assert line.flow_in_flight == pytest.approx(63.125e6)
    assert line.line_in_flight == pytest.approx(631.25e6)
    near = analyse_wan(far(tmp_path, rtt="0.24 ms"))[0]
    assert near.flow_in_flight == pytest.approx(0.3e6)


def test_the_loss_that_one_gigabit_survives() -> None:
    assert tolerable_loss(125e6, 50.5e-3, 9000) == pytest.approx(3.0e-6, rel=5e-3)
    assert tolerable_loss(125e6, 0.24e-3, 9000) == pytest.approx(0.13, rel=2e-2)
    assert tolerable_loss(1.0, 1e-6, 9000) == 1.0


@given(st.floats(1e6, 1e11), st.floats(1e-5, 1.0), st.integers(576, 9000))
def test_the_loss_turned_around_gives_the_rate(rate: float, rtt: float, mtu: int) -> None:
    loss = tolerable_loss(rate, rtt, mtu)
    if loss < 1.0:
        assert (mtu - 52) / rtt * MATHIS / loss**0.5 == pytest.approx(rate)


def test_half_of_the_receive_buffer_is_the_window(tmp_path: Path) -> None:
    window = analyse_wan(far(tmp_path))[0].windows[0]
    assert window.size == 16777216 / 2
    assert window.rate == pytest.approx(16777216 / 2 / 50.5e-3)
    assert window.streams == 76  # 12.5e9 byte/s over 166.1e6
    assert window.basis == "net.ipv4.tcp_rmem and net.ipv4.tcp_wmem of class tuned"


def test_the_send_buffer_counts_whole(tmp_path: Path) -> None:
    window = analyse_wan(far(tmp_path, "net.ipv4.tcp_wmem: 4096 65536 4194304"))[0].windows[0]
    assert window.size == 4194304


def test_buffers_that_programs_ask_for(tmp_path: Path) -> None:
    window = analyse_wan(far(tmp_path, "net.core.rmem_max: 8388608, net.core.wmem_max: 4194304"))[0].windows[0]
    assert window.size == 4194304
    assert "net.core.rmem_max" in window.basis


def test_what_was_measured_replaces_what_is_declared(tmp_path: Path) -> None:
    windows = analyse_wan(far(tmp_path), buffers={NodeId("a1"): 126.25e6})[0].windows
    assert [(each.nodes, each.size) for each in windows] == [("a1", 126.25e6), ("a2,b[1-2]", 8388608)]
    assert windows[0].rate == pytest.approx(1.25e9)  # no more than the NIC
    assert windows[0].streams == 10


@pytest.mark.parametrize("sysctl", ["", "net.ipv4.tcp_rmem: none", "net.ipv4.tcp_rmem: 4096 0 0"])
def test_what_is_not_known_stays_unknown(tmp_path: Path, sysctl: str) -> None:
    described = far(tmp_path, sysctl)
    report = analyse_wan(described)
    assert (report[0].windows[0].size, report[0].windows[0].streams) == (None, None)
    unknown = [finding for finding in list_findings(report) if finding.code == "wan-buffers-unknown"]
    assert [finding.severity for finding in unknown] == [Severity.NOTE]


def test_findings_in_words(tmp_path: Path) -> None:
    described = far(tmp_path)
    texts = {finding.code: finding.text for finding in list_findings(analyse_wan(described))}
    assert texts["wan-window"] == (
        "one 10.0 Gb/s flow over 50.5 ms has 63.1 MB in flight, a[1-2],b[1-2] may have 8.39 MB"
        " (net.ipv4.tcp_rmem and net.ipv4.tcp_wmem of class tuned): 1.33 Gb/s per stream, 76 streams to fill 100 Gb/s"
    )
    assert "1 packet in 33,400,000" in texts["wan-loss"]


def test_large_windows_are_no_finding(tmp_path: Path) -> None:
    described = far(tmp_path, "net.ipv4.tcp_rmem: 4096 87380 167772160, net.ipv4.tcp_wmem: 4096 65536 167772160")
    assert [finding.code for finding in list_findings(analyse_wan(described))] == ["wan-loss"]


def test_links_without_a_round_trip_are_no_lines(tmp_path: Path) -> None:
    assert analyse_wan(fabric(tmp_path)) == ()
