"""The inventory of real nodes: stored facts against the kernel's files and what other tools say there."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.lab import Lab
from tests.lab.host import PATH
from tests.probes.tools.inventory import bmc, fabric
from tests.probes.tools.inventory.bmc import Sensor
from tests.probes.tools.inventory.smbios import DDR5, Machine, Module, dump
from tests.scenarios.commands import benchconsole, read_stored_outputs, report

pytestmark = pytest.mark.lab

SUITES = """\
suites:
  default:
    - {probe: inventory}
"""
LARGEST = 64 * 1024
"""Bytes that the answer of one node may have: ten thousand of them are asked."""

DIMMS = [
    Module("DIMM_A1", 64 * 2**30, "P0 CHANNEL A", kind=DDR5, speed=4800, configured=4400),
    Module("DIMM_A2", 0, "P0 CHANNEL A"),
    Module("DIMM_B1", 16 * 2**30, "P0 CHANNEL B"),
]
SENSORS = [
    Sensor("Pwr Consumption", bmc.POWER, bmc.WATTS, 56, m=2),
    Sensor("Fan1A", bmc.FAN, bmc.RPM, 3, m=120, limits=(255, 254, 253, 2, 5, 7)),
]
LED = ("dmidecode", "ipmitool", "ipmi_sim", "ibstat", "perfquery", "ibsim")
PLACES = ("physical id", "core id")

Facts = dict[tuple[str, str], str | float | None]


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
    return [len(text.encode()) for text in read_stored_outputs(db) if text]


def test_what_nodes_tell_is_what_they_are(healthy_lab: Lab, topology: Path, tmp_path: Path) -> None:
    ran = benchconsole("run", topology, "--db", tmp_path / "s.db", "--allow-untested")
    assert ran.code == 0, ran.out + ran.err
    found = facts_of(tmp_path / "s.db", "n1")

    for expected in (_kernel, _network, _memory, _disks, _processors, _file_systems):
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
        ("nic.link", "eth0"): {"1": "yes", "0": "no"}[file("carrier")],
        ("nic.speed", "eth0 yes"): int(file("speed")) * 1e6 / 8,
    }


def _memory(lab: Lab, node: str) -> Facts:
    lines = lab.inside(node, "cat", "/proc/meminfo").splitlines()
    total = next(int(line.split()[1]) for line in lines if line.startswith("MemTotal:"))
    local = lab.inside(node, "sh", "-c", "cat /sys/devices/system/node/node*/meminfo").splitlines()
    sizes = {words[1]: int(words[3]) for words in map(str.split, local) if words[2] == "MemTotal:"}
    nodes: Facts = {("numa.memory", number): size // 1024 * 2.0**20 for number, size in sizes.items()}
    return {("memory.total", ""): total * 1024.0, ("numa.nodes", ""): float(len(nodes)), **nodes}


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
    places = {name: [line.partition(":")[2].strip() for line in lines if line.startswith(name)] for name in PLACES}
    cores = set(zip(*places.values(), strict=True))
    return {
        ("cpu.threads", ""): float(len(models)),
        ("cpu.model", ""): models[0],
        ("cpu.cores", ""): float(len(cores)),
        ("cpu.sockets", ""): float(len({socket for socket, _ in cores})),
    }


def _file_systems(lab: Lab, node: str) -> Facts:
    """The facts of the kernel on the file system below the node's scratch directory."""
    blocks, block = lab.inside(node, "stat", "-f", "-c", "%b %S", "/scratch").split()
    mounts = [line.split() for line in lab.inside(node, "cat", "/proc/self/mountinfo").splitlines()]
    kind = next(words[words.index("-") + 1] for words in mounts if words[4] == "/scratch")
    return {("fs.size", "/scratch"): float(blocks) * float(block), ("fs.type", "/scratch"): kind}


def test_an_ordinary_user_without_sudo_is_told_what_it_may_know(
    healthy_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    topology.write_text(topology.read_text().replace("user: root", "user: bench"))
    ran = benchconsole("run", topology, "--db", tmp_path / "s.db", "-w", "n1", "--allow-untested")
    assert ran.code == 0, ran.out + ran.err
    names = {name for name, _ in facts_of(tmp_path / "s.db", "n1")}
    assert {"kernel.release", "memory.total", "nic.mtu", "disk.size", "fs.options"} <= names
    assert not {"memory.dimms", "sensor.power"} & names


@contextmanager
def server(lab: Lab, node: str, directory: Path) -> Iterator[None]:
    """The node with the memory, the BMC and the adapter that are made here; its real tools are led to them."""
    root = lab.root(node)
    net = root.parent / "ns" / "net"
    table = root / "run" / "smbios.bin"
    with ExitStack() as ends:
        options = ends.enter_context(bmc.simulated(_fresh(directory / "bmc"), SENSORS, port=623, net=net))
        cabled = ends.enter_context(fabric.simulated(_fresh(directory / "fabric"), net=net))
        cabled.activate("n1")
        cabled.count("n1", {"PortCountersExtended.PortXmitData": 2**40, "PortCountersExtended.PortRcvPkts": 2**33})
        adapter = " ".join(f"{name}={value}" for name, value in cabled.environment("n1").items())
        table.write_bytes(dump(Machine(), DIMMS))
        ends.callback(table.unlink)
        leads = {
            "dmidecode": "/usr/sbin/dmidecode --from-dump /run/smbios.bin",
            "ipmitool": f"/usr/bin/ipmitool {' '.join(options)}",
            "ibstat": f"env {adapter} ibsim-run /usr/sbin/ibstat",
            "perfquery": f"env {adapter} ibsim-run /usr/sbin/perfquery",
        }
        scripts = {f"/usr/local/bin/{tool}": f'#!/bin/sh\nexec {lead} "$@"\n' for tool, lead in leads.items()}
        ends.enter_context(lab.play(node, scripts))
        yield


def _fresh(directory: Path) -> Path:
    directory.mkdir()
    return directory


@pytest.mark.skipif(
    not all(shutil.which(tool, path=PATH) for tool in LED) and not os.environ.get("CI"),
    reason=f"NOT TESTED: one of {', '.join(LED)} is not installed here (in CI this fails)",
)
def test_real_tools_of_a_server_are_read_through_the_engine(healthy_lab: Lab, topology: Path, tmp_path: Path) -> None:
    with server(healthy_lab, "n2", tmp_path):
        ran = benchconsole("run", topology, "--db", tmp_path / "s.db", "-w", "n2", "--allow-untested")
    assert ran.code == 0, ran.out + ran.err
    found = facts_of(tmp_path / "s.db", "n2")
    port = f"{fabric.LIDS['n1']} 1"
    expected: Facts = {
        ("system.serial", ""): Machine().serial,
        ("memory.installed", ""): 80 * 2.0**30,
        ("memory.dimms", ""): 2.0,
        ("memory.slots", ""): 3.0,
        ("memory.dimm_size", "P0 CHANNEL A DIMM_A1"): 64 * 2.0**30,
        ("memory.dimm_speed", "P0 CHANNEL A DIMM_A1"): 4.4e9,
        ("memory.dimm_speed", "P0 CHANNEL B DIMM_B1"): None,
        ("board.controller_firmware", ""): "3.7",
        ("bmc.firmware", ""): "2.60",
        ("sensor.power", "Pwr Consumption"): 112.0,
        ("sensor.fan", "Fan1A"): "360 RPM",
        ("sensor.state", "Fan1A"): "critical",
        ("ib.rate", "ibsim0 1"): fabric.RATES["n1"],
        ("ib.state", "ibsim0 1"): "Active",
        ("ib.sent", port): 4 * 2.0**40,
        ("ib.received_packets", port): 2.0**33,
    }
    assert {key: found.get(key) for key in expected} == expected
