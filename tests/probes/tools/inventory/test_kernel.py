"""The facts from the sources of processors, interrupts, file systems and settings, worked out by hand."""

import pytest

from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.inventory.cases import Case, check, check_refused

CASES: list[Case] = [
    (
        "interrupts",
        "interrupts-3.10.txt",
        {
            ("irq.total", "eth0-TxRx-0 100"): 10000006.0,
            ("irq.total", "ehci_hcd:usb1, ahci 16"): 30.0,
            ("irq.total", "Local timer interrupts LOC"): 3600000010.0,
        },
    ),
    ("interrupts", "interrupts-6.18.txt", {("irq.total", "virtio1-req.0 36"): 3795273.0}),
    ("irq", "irq-nic-6.1.txt", {("irq.affinity", "103 ens1f0"): "0-23"}),
    ("softirqs", "softirqs-threads-6.18.txt", {("softirq.total", "NET_RX"): 36656959.0 + 34704985, ("softirq.ksoftirqd_time", "0"): 77.0}),
    (
        "df",
        "df-posix-8.4.txt",
        {("fs.size", "/"): 51474912 * 1024.0, ("fs.used", "/scratch"): 976757292 * 1024.0, ("fs.type", "/"): None},
    ),
    ("df", "df-9.1.txt", {("fs.size", "/"): 270553174016.0, ("fs.type", "/"): "ext4"}),
    (
        "mounts",
        "mounts-6.1.txt",
        {
            ("fs.options", "/scratch"): "rw,flock,lazystatfs",
            ("fs.device", "/data of rack 3"): "/dev/sdb1",
            ("fs.type", "/proc"): None,
        },
    ),
    ("mounts", "mounts-command-2.23.txt", {("fs.type", "/beegfs"): "beegfs"}),
    ("cmdline", "cmdline-6.1.txt", {("kernel.parameter", "isolcpus"): "2-23", ("kernel.parameter", "nosmt"): "yes"}),
    ("virt", "virt-none-252.txt", {("virt.machine", ""): "bare metal"}),
    ("virt", "virt-kvm-in-docker-252.txt", {("virt.machine", ""): "kvm", ("virt.container", ""): "docker"}),
    ("hwloc", "hwloc-2.9.txt", {("cpu.cores", ""): 2.0, ("cpu.l3_caches", ""): 1.0, ("numa.nodes", ""): 1.0}),
    ("sysctl", "sysctl-sc11.txt", {("sysctl.net.core.rmem_max", ""): 167772160.0, ("sysctl.net.ipv4.tcp_congestion_control", ""): "bic"}),
    ("caches", "caches-6.18.txt", {("cpu.cache_size", "L1d"): 32768.0, ("cpu.cache_size", "L2"): 524288.0, ("cpu.cache_size", "L3"): 33554432.0, ("cpu.cache_cpus", "L3"): 2.0}),
    ("modules", "modules-6.18.txt", {("module.version", "vxlan"): "0.1"}),
    ("services", "services-debian-12.txt", {("irqbalance.running", ""): "yes", ("tuned.running", ""): "no", ("tuned.profile", ""): "throughput-performance"}),
    (
        "versions",
        "versions-debian-12.txt",
        {
            ("mpi.version", ""): "Open MPI 4.1.4", ("gcc.version", ""): "12.2.0", ("gfortran.version", ""): "12.2.0",
            ("clang.version", ""): "14.0.6", ("ceph.version", ""): "16.2.15", ("qemu.version", ""): "7.2.22",
            ("slurm.version", ""): "22.05.8",
        },
    ),
    (
        "versions",
        "versions-others.txt",
        {
            ("mpi.version", ""): "Hydra 4.0.2", ("gcc.version", ""): "8.5.0", ("icx.version", ""): "2023.2.0",
            ("nvc.version", ""): "22.11-0", ("lustre.version", ""): "2.15.1", ("beegfs.version", ""): "7.3.2",
            ("gpfs.version", ""): "5.1.2.1", ("openstack.version", ""): "6.2.0", ("apptainer.version", ""): "1.1.6",
            ("slurm.version", ""): None,
        },
    ),
    ("versions", "versions-intel-2021.txt", {("mpi.version", ""): "Intel MPI 2021.8"}),
    ("os-release", "os-release-scientific-6.txt", {("os.name", ""): "Scientific Linux release 6.3 (Carbon)"}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[name for _, name, _ in CASES])
def test_facts(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("df", "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        50G   12G   35G  26% /\n"),
        ("df", "Filesystem     1024-blocks  Used Available Capacity Mounted on\n/dev/sda1 100 90 80 53% /\n"),
        ("df", "Filesystem     1MB-blocks  Used Available Capacity Mounted on\n/dev/sda1 100 40 60 40% /\n"),
        ("cmdline", "root=/dev/sda1 ro\nroot=/dev/sdb1 ro\n"),
        ("virt", "welcome\n"),
        ("lscpu", "CPU(s):                0\nSocket(s):             0\n"),
        ("meminfo", "MemTotal:              0 kB\n"),
        ("sysctl", "net.ipv4.tcp_rmem = 4096 65536\n"),
        ("interrupts", "           CPU0       CPU1\n 38:          7\n"),
        ("softirqs", "                    CPU0       CPU1\n          HI:          0\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_trusted_is_refused(source: str, said: str) -> None:
    check_refused(source, said)


def test_a_foreign_line_behind_a_bare_number_takes_it_away() -> None:
    cut = "vm.swappiness = 60\nvm.nr_hugepages = 10\nslurmstepd: error: *** JOB 17 CANCELLED ***\n"
    assert [one.fact for one in SOURCES["sysctl"](cut)] == ["sysctl.vm.swappiness"]


LSCPU = """\
CPU(s):                88
On-line CPU(s) list:   {online}
Off-line CPU(s) list:  {offline}
Thread(s) per core:    {threads}
Core(s) per socket:    22
Socket(s):             2
NUMA node(s):          2
"""


@pytest.mark.parametrize(
    ("online", "offline", "threads", "expected"),
    [
        ("0-43", "44-87", 1, {"cpu.threads": 44.0, "cpu.cores": 44.0}),
        ("0-3,8", "4-7,9-87", 0, {"cpu.threads": 5.0, "cpu.cores": None}),
        ("0x0fffffffffff", "44-87", 1, {"cpu.threads": None, "cpu.cores": None}),
        ("0-22,22-43", "44-87", 1, {"cpu.threads": None, "cpu.cores": None}),
        ("8-3", "0-2,4-87", 1, {"cpu.threads": None, "cpu.cores": None}),
    ],
)
def test_processors_that_are_off_line_are_not_counted(
    online: str, offline: str, threads: int, expected: dict[str, float | None]
) -> None:
    said = LSCPU.format(online=online, offline=offline, threads=threads)
    found = {one.fact: one.value for one in SOURCES["lscpu"](said)}
    assert {name: found.get(name) for name in expected} == expected
    assert found["cpu.sockets"] == 2.0
