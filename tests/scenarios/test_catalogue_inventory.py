"""The inventory of real nodes: stored facts against the kernel's files and what other tools say there."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.lab import Lab
from tests.scenarios.commands import benchconsole, report

pytestmark = pytest.mark.lab

SUITES = """\
suites:
  default:
    - {probe: inventory}
"""
LARGEST = 64 * 1024
"""Bytes that the answer of one node may have: ten thousand of them are asked."""

PLAYED = """\
#!/bin/sh
[ "$*" = "{arguments}" ] && cat <<'END'
{text}END
exit 0
"""

Facts = dict[tuple[str, str], str | float]


@pytest.fixture
def topology(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory's file with a suite of the inventory alone, beside the SSH files that it names."""
    text = healthy_lab.topology.read_text()
    path = healthy_lab.topology.with_name("inventory.yaml")
    path.write_text(text[: text.index("criteria:")] + SUITES)
    yield path
    path.unlink()


def facts_of(db: Path, node: str) -> Facts:
    """Name and labels (without their names) to value, of one node of the stored session."""
    return {
        (each["fact"], " ".join(each["labels"].values())): each["value"]
        for each in report(db)["facts"]
        if each["node"] == node
    }


def sizes(db: Path) -> list[int]:
    with closing(sqlite3.connect(db)) as connection:
        return [int(row[0]) for row in connection.execute("SELECT length(stdout) FROM output WHERE length(stdout) > 0")]


def test_what_nodes_tell_is_what_they_are(healthy_lab: Lab, topology: Path, tmp_path: Path) -> None:
    ran = benchconsole("run", topology, "--db", tmp_path / "s.db", "--allow-untested")
    assert ran.code == 0, ran.out + ran.err
    found = facts_of(tmp_path / "s.db", "n1")

    for expected in (_kernel, _network, _memory, _disks, _processors):
        for key, value in expected(healthy_lab, "n1").items():
            assert found.get(key) == value, f"{key}: found {found.get(key)!r}, expected {value!r}"
    assert max(sizes(tmp_path / "s.db")) < LARGEST


def _kernel(lab: Lab, node: str) -> Facts:
    release, line = (lab.inside(node, "cat", path).strip() for path in ("/proc/sys/kernel/osrelease", "/proc/cmdline"))
    settings = ("net.ipv4.tcp_congestion_control", "net.ipv4.tcp_rmem", "vm.swappiness")
    told = {key: lab.inside(node, "cat", f"/proc/sys/{key.replace('.', '/')}").split() for key in settings}
    return {
        ("kernel.release", ""): release,
        ("kernel.command_line", ""): " ".join(line.split())[:1000],
        ("sysctl.net.ipv4.tcp_congestion_control", ""): told["net.ipv4.tcp_congestion_control"][0],
        ("sysctl.net.ipv4.tcp_rmem", ""): " ".join(told["net.ipv4.tcp_rmem"]),
        ("sysctl.vm.swappiness", ""): float(told["vm.swappiness"][0]),
    }


def _network(lab: Lab, node: str) -> Facts:
    def file(name: str) -> str:
        return lab.inside(node, "cat", f"/sys/class/net/eth0/{name}").strip()

    return {
        ("nic.mtu", "eth0"): float(file("mtu")),
        ("nic.txqueuelen", "eth0"): float(file("tx_queue_len")),
        ("nic.mac", "eth0"): file("address"),
        ("nic.state", "eth0"): file("operstate"),
        ("nic.driver", "eth0"): "veth",
    }


def _memory(lab: Lab, node: str) -> Facts:
    lines = lab.inside(node, "cat", "/proc/meminfo").splitlines()
    total = next(int(line.split()[1]) for line in lines if line.startswith("MemTotal:"))
    return {("memory.total", ""): total * 1024.0}


def _disks(lab: Lab, node: str) -> Facts:
    """Sizes as the kernel counts them, in sectors of 512 bytes; and what a file system says of itself."""
    told = json.loads(lab.inside(node, "lsblk", "-J", "-d", "-o", "NAME,TYPE"))["blockdevices"]
    disks = [each["name"] for each in told if each["type"] == "disk" and not each["name"].startswith("zram")]
    sectors = {name: int(lab.inside(node, "cat", f"/sys/class/block/{name}/size")) for name in disks}
    facts: Facts = {("disk.size", name): count * 512.0 for name, count in sectors.items() if count}
    return {**facts, ("disk.count", ""): float(len(facts))}


def _processors(lab: Lab, node: str) -> Facts:
    lines = lab.inside(node, "cat", "/proc/cpuinfo").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {("cpu.threads", ""): float(len(models)), ("cpu.model", ""): models[0]}


def test_an_ordinary_user_without_sudo_is_told_what_it_may_know(
    healthy_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    topology.write_text(topology.read_text().replace("user: root", "user: bench"))
    ran = benchconsole("run", topology, "--db", tmp_path / "s.db", "-w", "n1", "--allow-untested")
    assert ran.code == 0, ran.out + ran.err
    names = {name for name, _ in facts_of(tmp_path / "s.db", "n1")}
    assert {"kernel.release", "memory.total", "nic.mtu", "disk.size", "fs.options"} <= names
    assert not {"memory.dimms", "sensor.power"} & names


def test_tools_that_a_server_has_are_read_through_the_engine(healthy_lab: Lab, topology: Path, tmp_path: Path) -> None:
    """Played tools on one node: their transcripts are those of the parsers' tests, and sudo is not asked."""
    transcripts = Path(__file__).parents[1] / "probes" / "builtin" / "transcripts" / "inventory"
    shown = {"ipmitool sdr": "ipmitool-sdr-1.8.txt", "ibstat": "ibstat-28.0.txt", "perfquery -x": "perfquery-1.6.txt"}
    scripts = {
        words.split()[0]: PLAYED.format(arguments=words.partition(" ")[2], text=(transcripts / name).read_text())
        for words, name in shown.items()
    }
    with healthy_lab.play("n2", scripts):
        ran = benchconsole("run", topology, "--db", tmp_path / "s.db", "-w", "n2", "--allow-untested")
    assert ran.code == 0, ran.out + ran.err
    found = facts_of(tmp_path / "s.db", "n2")
    assert found["sensor.power", "Pwr Consumption"] == "112 Watts"
    assert found["ib.rate", "mlx5_0 1"] == 100e9 / 8
    assert found["ib.received", "12 1"] == 123456789 * 4.0
