"""The output of this machine's own tools, source by source, against another reading of the same thing."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from benchconsole.probes.api import Output, Target
from benchconsole.probes.testing import a_node
from benchconsole.probes.tools.inventory.probe import Inventory
from benchconsole.probes.tools.inventory.script import find_answers
from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.captures import or_nothing

CPUS = Path("/sys/devices/system/cpu")
NETS = Path("/sys/class/net")
SOFTIRQS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")
"""The order of the columns behind the total in ``/proc/stat``."""

Told = dict[tuple[str, str], str | float]


def told(source: str, text: str) -> Told:
    """Name and labels, joined in their order, to value; nothing where the source refuses."""
    found = or_nothing(partial(SOURCES[source], text))
    return {(name, " ".join(label for _, label in marks)): value for name, value, marks in found}


def installed(tool: str) -> bool:
    return shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is not None


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not installed(tool) and not os.environ.get("CI"), reason=f"NOT TESTED: {tool} is not here (in CI this fails)"
    )


def read(path: Path) -> str:
    return path.read_text().strip()


def counted() -> dict[str, list[int]]:
    """The lines of ``/proc/stat``."""
    lines = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
    return {words[0]: list(map(int, words[1:])) for words in lines}


@pytest.fixture(scope="module")
def before() -> dict[str, list[int]]:
    """The counters of the kernel before it was asked."""
    return counted()


@pytest.fixture(scope="module")
def asked(before: Mapping[str, list[int]]) -> Output:
    """The output of the inventory's script here."""
    argv = Inventory().command(Target(a_node()))
    done = subprocess.run(argv, capture_output=True, check=True, timeout=60)
    return Output(tuple(argv), done.stdout, done.stderr, done.returncode)


@pytest.fixture(scope="module")
def said(asked: Output) -> dict[str, Told]:
    """Source to its facts: what the inventory's script gets here, and what is read alone."""
    found = {
        one.source: told(one.source, one.text)
        for one in find_answers(asked.text, asked.argv[4])
        if one.status in SOURCES[one.source].answered
    }
    alone = {"lshw": ["lshw", "-json"], "cpupower": ["cpupower", "-c", "all", "frequency-info"]}
    alone |= {"cpuinfo": ["cat", "/proc/cpuinfo"], "sysfs": ["grep", "-sH", ".", *_files()]}
    for source, command in alone.items():
        environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin", "LC_ALL": "C"}
        if installed(command[0]):
            run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
            found[source] = told(source, run.stdout)
    return found


def _files() -> list[str]:
    """The files that stand in for ``ip`` and ``ethtool`` where they are missing."""
    names = ("mtu", "operstate", "speed", "duplex", "carrier")
    return [str(path.parent / name) for path in NETS.glob("*/device") for name in names]


def test_the_probe_tells_what_its_sources_tell(asked: Output) -> None:
    found = {one.fact: one.value for one in Inventory().parse(asked)}
    assert found["kernel.release"] == platform.release()
    assert found["memory.total"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert found["sysctl.vm.swappiness"] == float(read(Path("/proc/sys/vm/swappiness")))
    assert len(asked.stdout) < 256 * 1024


def test_the_kernel_and_the_distribution(said: dict[str, Told]) -> None:
    assert said["kernel"] == {("kernel.release", ""): platform.release(), ("kernel.machine", ""): platform.machine()}
    release = platform.freedesktop_os_release()
    names = {"os.name": "PRETTY_NAME", "os.id": "ID", "os.version": "VERSION_ID"}
    assert said["os-release"] == {(name, ""): release[key] for name, key in names.items() if key in release}
    assert said["cmdline"]["kernel.command_line", ""] == " ".join(read(Path("/proc/cmdline")).split())[:1000]


def distinct(pattern: str) -> int:
    return len({read(path) for path in CPUS.glob(pattern)})


def processors() -> Told:
    """Counted from what the kernel says of every processor that is on-line."""
    threads = list(CPUS.glob("cpu[0-9]*/topology"))
    last = {read(cache / "shared_cpu_list") for cache in CPUS.glob("cpu*/cache/index*") if read(cache / "level") == "3"}
    return {
        ("cpu.sockets", ""): distinct("cpu[0-9]*/topology/physical_package_id"),
        ("cpu.cores", ""): distinct("cpu[0-9]*/topology/thread_siblings_list"),
        ("cpu.threads", ""): len(threads),
        ("cpu.l3_caches", ""): len(last),
        ("numa.nodes", ""): len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))),
    }


@pytest.mark.parametrize(
    ("source", "without"),
    [
        ("lscpu", {"cpu.l3_caches"}),
        pytest.param("hwloc", set(), marks=needs("hwloc-info")),
    ],
)
def test_processors_are_those_of_the_kernel(said: dict[str, Told], source: str, without: set[str]) -> None:
    expected = {key: value for key, value in processors().items() if key[0] not in without and value}
    assert {key: said[source].get(key) for key in expected} == expected


def test_files_tell_what_the_tools_tell(said: dict[str, Told]) -> None:
    """The sources that stand in for others, against these."""
    assert said["cpuinfo"]["cpu.model", ""] == said["lscpu"]["cpu.model", ""]
    both = {**said["ip"], **said["ethtool"]}
    assert {key for key in said["sysfs"] if key[0] == "nic.mtu"}
    made_up = {key for key in said["sysfs"] if (key[0], f"{key[1]} yes") in both}
    assert {key: both.get(key) for key in said["sysfs"] if key not in made_up} == {
        key: value for key, value in said["sysfs"].items() if key not in made_up
    }


@needs("numactl")
def test_memory_is_that_of_the_kernel(said: dict[str, Told]) -> None:
    assert said["meminfo"]["memory.total", ""] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    nodes: Told = {}
    for node in Path("/sys/devices/system/node").glob("node[0-9]*"):
        size = re.search(r"MemTotal:\s+([0-9]+) kB", read(node / "meminfo"))
        nodes["numa.memory", node.name.removeprefix("node")] = int(size[1]) // 1024 * 2.0**20 if size else 0
    assert said["numactl"] == {("numa.nodes", ""): float(len(nodes)), **nodes}


def test_disks_have_the_sectors_that_the_kernel_counts(said: dict[str, Told]) -> None:
    sizes = {name: value for (fact, name), value in said["lsblk"].items() if fact == "disk.size"}
    assert sizes == {name: int(read(Path("/sys/class/block", name, "size"))) * 512 for name in sizes}
    kinds = {name: value for (fact, name), value in said["lsblk"].items() if fact == "disk.kind"}
    turns = {"1": "rotating", "0": "solid state"}
    assert kinds == {name: turns[read(Path("/sys/block", name, "queue/rotational"))] for name in kinds}
    real = {path.parent.name for path in Path("/sys/block").glob("*/device") if int(read(path.parent / "size"))}
    assert {name for name in real if re.match(r"sd|vd|nvme|xvd", name)} <= sizes.keys()


def test_interfaces_are_those_of_the_kernel(said: dict[str, Told]) -> None:
    ports = [path.parent for path in NETS.glob("*/device") if read(path.parent / "operstate") == "up"]
    for port in ports:
        found = {fact: value for (fact, name), value in said["ip"].items() if name == port.name}
        files = {"nic.mac": "address", "nic.state": "operstate", "nic.mtu": "mtu", "nic.txqueuelen": "tx_queue_len"}
        expected = {fact: read(port / name) for fact, name in files.items()}
        plain = {fact: value if isinstance(value, str) else f"{value:.0f}" for fact, value in found.items()}
        assert {fact: plain[fact] for fact in expected} == expected
        driver = (port / "device" / "driver").resolve().name
        asked = said["ethtool"]
        assert asked["nic.driver", port.name] == driver
        assert asked["nic.link", port.name] == {"1": "yes", "0": "no"}[read(port / "carrier")]
        speeds = [value for (fact, name), value in asked.items() if fact == "nic.speed" and name.startswith(port.name)]
        assert speeds in ([], [_rate(port)])


def _rate(port: Path) -> float:
    return int(read(port / "speed")) * 1e6 / 8


def test_settings_are_those_of_the_kernel(said: dict[str, Told]) -> None:
    for (name, _), value in said["sysctl"].items():
        now = read(Path("/proc/sys", *name.removeprefix("sysctl.").split("."))).split()
        assert (value if isinstance(value, str) else f"{value:.0f}") == " ".join(now), name
    assert len(said["sysctl"]) > 25


def test_file_systems_are_those_that_are_mounted(said: dict[str, Told]) -> None:
    root = os.statvfs("/")
    rows = [line.partition(" - ") for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    own, behind = next((first.split(), last.split()) for first, _, last in rows if first.split()[4] == "/")
    if ("fs.size", "/") in said["df"]:
        assert said["df"]["fs.size", "/"] == root.f_blocks * root.f_frsize
        assert said["df"]["fs.type", "/"] == behind[0]
    if ("fs.options", "/") in said["mounts"]:
        assert set(str(said["mounts"]["fs.options", "/"]).split(",")) == {*own[5].split(","), *behind[2].split(",")}


def test_counters_grow_between_two_readings_of_the_kernel(
    said: dict[str, Told], before: Mapping[str, list[int]]
) -> None:
    after = counted()
    for kind, first, last in zip(SOFTIRQS, before["softirq"][1:], after["softirq"][1:], strict=True):
        assert first <= float(said["softirqs"].get(("softirq.total", kind), 0)) <= last
    for (fact, marks), value in said["interrupts"].items():
        irq = marks.rpartition(" ")[2]
        if fact == "irq.total" and irq.isdigit():
            assert before["intr"][int(irq) + 1] <= float(value) <= after["intr"][int(irq) + 1]


def test_interrupts_are_bound_where_the_mask_says(said: dict[str, Told]) -> None:
    for (fact, marks), value in said.get("irq", {}).items():
        mask = int(read(Path("/proc/irq", marks.split()[0], "smp_affinity")).replace(",", ""), 16)
        assert fact == "irq.affinity"
        assert set(_expanded(str(value))) == {cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1}


def _expanded(cpus: str) -> list[int]:
    ends = [list(map(int, part.split("-"))) for part in cpus.split(",")]
    return [cpu for pair in ends for cpu in range(pair[0], pair[-1] + 1)]


@needs("systemd-detect-virt")
def test_a_machine_is_bare_where_the_processor_says_so(said: dict[str, Told]) -> None:
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    if flags is not None:
        hosted = "hypervisor" in flags[1].split()
        assert (said["virt"]["virt.machine", ""] != "bare metal") == hosted


@needs("cpupower")
def test_governors_are_those_of_the_kernel(said: dict[str, Told]) -> None:
    files = CPUS.glob("cpu[0-9]*/cpufreq/scaling_governor")
    expected = {path.parts[-3].removeprefix("cpu"): read(path) for path in files}
    assert {cpu: value for (fact, cpu), value in said["cpupower"].items() if fact == "cpu.governor"} == expected


@needs("lshw")
def test_what_lshw_finds_is_what_the_kernel_has(said: dict[str, Told]) -> None:
    for (fact, name), value in said["lshw"].items():
        if fact == "disk.size":
            assert value == int(read(Path("/sys/class/block", name, "size"))) * 512
        elif fact == "nic.mac" and (NETS / name).exists():
            assert value == read(NETS / name / "address")
    assert any(fact == "nic.mac" for fact, _ in said["lshw"])


def test_caches_are_those_that_lscpu_lists(said: dict[str, Told]) -> None:
    command = ["lscpu", "-B", "-C=NAME,ONE-SIZE"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()[1:]
    told = {cache: value for (fact, cache), value in said.get("caches", {}).items() if fact == "cpu.cache_size"}
    assert told == {name: float(size) for name, size in map(str.split, listed)}


def test_modules_tell_the_versions_that_modinfo_would(said: dict[str, Told]) -> None:
    files = {path.parent.name: read(path) for path in Path("/sys/module").glob("*/version")}
    found = {module: value for (_, module), value in said.get("modules", {}).items()}
    assert found == {module: " ".join(value.split()) for module, value in files.items()}


def test_ports_of_fibre_channel_are_counted(said: dict[str, Told]) -> None:
    assert said["fibre-channel"]["fc.ports", ""] == len(list(Path("/sys/class/fc_host").glob("host*")))


def test_services_run_where_the_kernel_has_their_process(said: dict[str, Told]) -> None:
    running = {read(path) for path in Path("/proc").glob("[0-9]*/comm") if path.exists()}
    for service in ("irqbalance", "tuned"):
        assert said["services"][f"{service}.running", ""] == ("yes" if service in running else "no")


PACKAGES = {"mpi": "openmpi-bin", "gcc": "gcc-12", "ceph": "ceph-common", "slurm": "slurmd"}


@needs("dpkg-query")
def test_versions_are_those_of_the_packages(said: dict[str, Told]) -> None:
    command = ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES.values()]
    listed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout.splitlines()
    versions = {package: version.partition(":")[2] or version for package, version in map(str.split, listed)}
    told = {program: str(version) for (program, _), version in said.get("versions", {}).items()}
    for program, package in PACKAGES.items():
        if f"{program}.version" in told and package in versions:
            assert versions[package].startswith(told[f"{program}.version"].removeprefix("Open MPI "))
