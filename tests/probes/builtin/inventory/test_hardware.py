"""What the sources of disks, RAID, InfiniBand, sensors, interrupts and file systems say, worked out by hand."""

import pytest

from probes.api import Fact, ProbeOutputError, Unit
from probes.builtin.inventory import SOURCES
from tests.probes.builtin.captures import text

Expected = dict[tuple[str, str], str | float | None]

PERC = "PERC H730P Mini (Embedded)"


def parsed(source: str, name: str) -> dict[tuple[str, str], Fact]:
    """Name and labels, joined in their order, to the fact."""
    found = SOURCES[source](text(f"inventory/{name}"))
    return {(one.fact, " ".join(value for _, value in one.labels)): one for one in found}


CASES: list[tuple[str, str, Expected]] = [
    (
        "smartctl",
        "smartctl-ata-7.3.json",
        {
            ("disk.size", "sda"): 4000787030016.0,
            ("disk.health", "sda"): "passed",
            ("disk.power_on_time", "sda"): 31234 * 3600.0,
            ("disk.reallocated_sectors", "sda"): 8.0,
            ("disk.pending_sectors", "sda"): 2.0,
            ("disk.temperature", "sda"): "34 degrees C",
            ("disk.rotation", "sda"): "7200 RPM",
            ("disk.protocol", "sda"): "SATA",
        },
    ),
    (
        "smartctl",
        "smartctl-sas-7.2.json",
        {
            ("disk.health", "bus/0 megaraid_disk_03"): "failed",
            ("disk.grown_defects", "bus/0 megaraid_disk_03"): 17.0,
            ("disk.protocol", "bus/0 megaraid_disk_03"): "SAS",
            ("disk.model", "bus/0 megaraid_disk_03"): "SEAGATE ST600MM0006",
        },
    ),
    (
        "smartctl",
        "smartctl-nvme-7.4.json",
        {
            ("disk.wear", "nvme0n1"): 0.03,
            ("disk.written", "nvme0n1"): 2_000_000 * 512_000.0,
            ("disk.media_errors", "nvme0n1"): 0.0,
            ("disk.size", "nvme1n1"): None,
        },
    ),
    (
        "smartctl",
        "smartctl-ata-6.2.txt",
        {
            ("disk.size", "9VS0EEEE"): 1500301910016.0,
            ("disk.health", "9VS0EEEE"): "failed",
            ("disk.reallocated_sectors", "9VS0EEEE"): 4095.0,
            ("disk.power_on_time", "9VS0EEEE"): 31234 * 3600.0,
        },
    ),
    ("smartctl", "smartctl-german-6.2.txt", {("disk.size", "sda"): 1500301910016.0}),
    (
        "smartctl",
        "smartctl-sas-6.5.txt",
        {
            ("disk.size", "6SL0FFFF"): 600127266816.0,
            ("disk.grown_defects", "6SL0FFFF"): 5.0,
            ("disk.power_on_time", "6SL0FFFF"): 12345 * 3600.0 + 30 * 60,
            ("disk.temperature", "6SL0FFFF"): "41 degrees C",
        },
    ),
    (
        "smartctl",
        "smartctl-clock-6.6.txt",
        {
            ("disk.power_on_time", "ZFL0GGGG"): 23282 * 3600.0 + 35 * 60 + 49.427,
            ("disk.reallocated_sectors", "ZFL0GGGG"): 6792.0,
            ("disk.uncorrectable_sectors", "ZFL0GGGG"): 16.0,
        },
    ),
    (
        "smartctl",
        "smartctl-brief-7.1.txt",
        {
            ("disk.reallocated_sectors", "S16LHHHH"): 3.0,
            ("disk.crc_errors", "S16LHHHH"): 7.0,
            ("disk.power_on_time", "S16LHHHH"): None,
            ("disk.rotation", "S16LHHHH"): None,
        },
    ),
    (
        "smartctl",
        "smartctl-sas-failing-7.2.txt",
        {("disk.health", "S0M0JJJJ"): "failed", ("disk.grown_defects", "S0M0JJJJ"): 411.0},
    ),
    (
        "smartctl",
        "smartctl-sorted-7.4.json",
        {
            ("disk.size", "bus/0 megaraid_disk_00"): 2400476553216.0,
            ("disk.power_on_time", "bus/0 megaraid_disk_00"): 12437 * 3600.0 + 29 * 60,
        },
    ),
    (
        "smartctl",
        "smartctl-nvme-7.3.txt",
        {
            ("disk.wear", "nvme0n1"): 0.03,
            ("disk.media_errors", "nvme0n1"): 1024.0,
            ("disk.written", "nvme0n1"): 2_000_000 * 512_000.0,
            ("disk.power_on_time", "nvme0n1"): 8760 * 3600.0,
        },
    ),
    (
        "omreport",
        "omreport-pdisk-8.5.txt",
        {
            ("raid.disk_size", f"{PERC} 0:1:0"): 4000225165312.0,
            ("raid.disk_speed", f"{PERC} 0:1:0"): 6e9 / 8,
            ("raid.disk_state", f"{PERC} 0:1:1"): "Failed",
            ("raid.disk_size", f"{PERC} 0:1:1"): 1862.5 * 2**30,
            ("raid.disk_speed", f"{PERC} 0:1:1"): None,
        },
    ),
    (
        "omreport",
        "omreport-vdisk-7.4.txt",
        {
            ("raid.layout", "PERC H710 Mini (Embedded) 0"): "RAID-6",
            ("raid.size", "PERC H710 Mini (Embedded) 0"): 20001125826560.0,
            ("raid.stripe", "PERC H710 Mini (Embedded) 0"): 65536.0,
        },
    ),
    (
        "omreport",
        "omreport-vdisk-ssv-9.1.txt",
        {
            ("raid.size", "PERC H730 Mini (Slot Embedded) 0"): 797790175232.0,
            ("raid.size", "PERC H730 Mini (Slot Embedded) 1"): 1199638052864.0,
            ("raid.state", "PERC H730 Mini (Slot Embedded) 1"): "Degraded",
        },
    ),
    (
        "omreport",
        "omreport-controller-8.5.txt",
        {
            ("raid.cache_size", "PERC H730P Mini"): 2.0**31,
            ("raid.firmware", "PERC H730P Mini"): "25.5.5.0005",
        },
    ),
    (
        "omreport",
        "omreport-ssv-8.5.txt",
        {
            ("raid.disk_size", "PERC H330 Mini (Embedded) 0:1:1"): 399431958528.0,
            ("raid.disk_serial", "PERC H330 Mini (Embedded) 0:1:0"): "BTHC000AAAA",
        },
    ),
    (
        "storcli",
        "storcli-7.1.json",
        {
            ("raid.model", "0"): "PERC H730P Mini",
            ("raid.size", "0 0/0"): 32.743 * 2**40,
            ("raid.layout", "0 0/0"): "RAID6",
            ("raid.disk_size", "0 32:1"): 558.375 * 2**30,
            ("raid.disk_state", "0 32:1"): "Failed",
            ("raid.model", "1"): None,
        },
    ),
    ("storcli", "storcli-all-8.0.json", {("raid.cache_size", "0"): 2.0**33, ("raid.size", "0 0/239"): 446.625 * 2**30}),
    (
        "mdstat",
        "mdstat-5.14.txt",
        {("raid.size", "md127"): 15627540480 * 1024.0, ("raid.members", "md127"): "6/5 UU_UUU", ("raid.layout", "md0"): "raid1"},
    ),
    (
        "perfquery",
        "perfquery-1.6.txt",
        {
            ("ib.received", "12 1"): 123456789 * 4.0,
            ("ib.sent", "12 1"): None,
            ("ib.counter", "SymbolErrorCounter 12 1"): None,
            ("ib.counter", "LocalLinkIntegrityErrors 12 1"): None,
            ("ib.counter", "PortXmitDiscards 12 1"): 7.0,
        },
    ),
    (
        "perfquery",
        "perfquery-extended-5.x.txt",
        {("ib.sent", "12 1"): 4711000000000 * 4.0, ("ib.sent_packets", "12 1"): 9223372036.0},
    ),
    (
        "perfquery",
        "perfquery-wide-1.5.txt",
        {
            ("ib.sent", "214 35"): 196508288843 * 4.0,
            ("ib.received", "214 35"): 550793773496 * 4.0,
            ("ib.sent_packets", "214 35"): 6618992385.0,
            ("ib.received_packets", "214 35"): 2242117286.0,
        },
    ),
    (
        "ibstat",
        "ibstat-28.0.txt",
        {
            ("ib.rate", "mlx5_0 1"): 100e9 / 8,
            ("ib.rate", "mlx4_1 1"): 40e9 / 8,
            ("ib.rate", "mlx4_1 2"): None,
            ("ib.state", "mlx4_1 2"): "Down",
        },
    ),
    (
        "ipmitool",
        "ipmitool-sdr-1.8.txt",
        {
            ("sensor.temperature", "Temp"): "41 degrees C",
            ("sensor.temperature", "2 Temp"): "87 degrees C",
            ("sensor.state", "2 Temp"): "not critical",
            ("sensor.state", "Fan2A"): "critical",
            ("sensor.power", "Pwr Consumption"): "112 Watts",
            ("sensor.temperature", "Exhaust Temp"): None,
        },
    ),
    ("ipmitool", "ipmitool-elist-1.8.txt", {("sensor.fan", "Fan1A"): "4560 RPM", ("sensor.temperature", "2 Temp"): None}),
    (
        "ipmitool",
        "ipmitool-sensor-1.8.txt",
        {("sensor.voltage", "12V"): "12.096 Volts", ("sensor.state", "FAN1"): "not recoverable, low"},
    ),
    ("ipmitool", "ipmitool-mc-1.8.txt", {("bmc.firmware", ""): "2.60", ("sensor.power", "dcmi"): "220 Watts"}),
    ("ipmitool", "ipmitool-csv-1.8.txt", {("sensor.temperature", "Inlet Temp"): "23 degrees C"}),
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
    (
        "ethtool",
        "ethtool-flow-control-3.5.txt",
        {
            ("nic.pause_rx", "eth2"): "off",
            ("nic.pause_tx", "eth2"): "on",
            ("nic.ring_rx", "eth2"): 512.0,
            ("nic.ring_rx_max", "eth2"): 4096.0,
            ("nic.channels_combined", "eth2"): 12.0,
            ("nic.coalesce_rx", "eth2"): 8e-6,
            ("nic.lro", "eth2"): "off",
            ("nic.counter", "rx_missed_errors eth2"): 3456.0,
            ("nic.counter", "rx_packets eth2"): None,
            ("nic.speed", "eth3"): None,
        },
    ),
    (
        "dmidecode",
        "dmidecode-2.12.txt",
        {
            ("memory.dimm_size", "Not Specified DIMM_A1"): 8 * 2.0**30,
            ("memory.dimm_size", "Not Specified DIMM_A3"): 2.0**29,
            ("memory.dimms", ""): 2.0,
            ("memory.slots", ""): 3.0,
            ("memory.dimm_speed", "Not Specified DIMM_A1"): 1.333e9,
            ("bmc.firmware", ""): "3.4",
        },
    ),
    (
        "dmidecode",
        "dmidecode-flash-2.11.txt",
        {
            ("memory.installed", ""): 16 * 2.0**30,
            ("memory.dimms", ""): 2.0,
            ("memory.slots", ""): 2.0,
            ("memory.dimm_speed", "P2-CH-H P2-DimmH1"): 1.333e9,
        },
    ),
    (
        "lshw",
        "lshw-two-arrays-B.02.18.json",
        {
            ("memory.installed", ""): 48 * 2.0**30,
            ("memory.dimm_size", "DIMM_A4"): 16 * 2.0**30,
            ("memory.dimm_size", "SPI"): None,
        },
    ),
    ("lsblk", "lsblk-typeless-2.34.json", {("disk.count", ""): None, ("disk.size", "sda"): 20 * 2.0**30, ("disk.size", "sda1"): None}),
    (
        "lsblk",
        "lsblk-bytes-2.34.txt",
        {("disk.size", "sda"): 500107862016.0, ("disk.size", "sdb"): 1.8 * 2**40, ("disk.size", "sda1"): None},
    ),
    (
        "lsblk",
        "lsblk-mountpoints-2.39.json",
        {("disk.count", ""): 2.0, ("disk.transport", "sdb"): "sas", ("raid.layout", "md0"): "raid1"},
    ),
    ("lsblk", "lsblk-table-2.23.txt", {("disk.size", "sda"): 465.8 * 2**30, ("disk.size", "sr0"): None}),
    ("lsblk", "lsblk-pairs-2.23.txt", {("disk.size", "nvme0n1"): 1920383410176.0, ("disk.kind", "nvme0n1"): "solid state"}),
    ("sysctl", "sysctl-sc11.txt", {("sysctl.net.core.rmem_max", ""): 167772160.0, ("sysctl.net.ipv4.tcp_congestion_control", ""): "bic"}),
    ("os-release", "os-release-scientific-6.txt", {("os.name", ""): "Scientific Linux release 6.3 (Carbon)"}),
    ("ip", "ip-addr-6.1.txt", {("nic.address", "eth0"): "192.0.2.2", ("nic.address", "eth0 2"): "fd00::2"}),
    ("ip", "ip-statistics-6.1.json", {("nic.txqueuelen", "eth0"): 1000.0, ("nic.rx_errors", "eth0"): 0.0}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "name", "expected"), CASES, ids=[name for _, name, _ in CASES])
def test_facts(source: str, name: str, expected: Expected) -> None:
    found = parsed(source, name)
    assert {key: found[key].value if key in found else None for key in expected} == expected


LSHW: Expected = {
    ("disk.size", "sda"): 400088457216.0,
    ("nic.speed", "eth2"): 10e9 / 8,
    ("nic.driver", "eth2"): "ixgbe",
    ("nic.mac", "eth2"): "02:5d:0a:00:00:01",
}


@pytest.mark.parametrize("name", ["B.02.19", "no-commas-B.02.18", "list-B.02.19", "objects-B.02.17"])
def test_every_shape_of_lshw_says_the_same(name: str) -> None:
    found = parsed("lshw", f"lshw-{name}.json")
    assert {key: found[key].value for key in LSHW} == LSHW
    if "list" not in name and "objects" not in name:
        assert found["memory.installed", ""].value == 32 * 2.0**30
        assert found["memory.dimm_size", "A2"] == Fact("memory.dimm_size", 2.0**34, Unit.BYTE, (("slot", "A2"),))
        assert found["bios.version", ""].value == "2.13.0"


def test_sizes_of_dmidecode_are_the_same_however_the_version_spells_them() -> None:
    old, new = (parsed("dmidecode", f"dmidecode-{version}.txt") for version in ("2.12", "gib-3.6"))
    assert {key: fact.value for key, fact in old.items()} == {key: fact.value for key, fact in new.items()}


def test_two_runs_of_dmidecode_do_not_count_a_module_twice() -> None:
    once = text("inventory/dmidecode-2.12.txt")
    assert {one.fact: one.value for one in SOURCES["dmidecode"](once + once)}["memory.dimms"] == 2.0


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ibstat", ""),
        ("df", "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        50G   12G   35G  26% /\n"),
        ("df", "Filesystem     1024-blocks  Used Available Capacity Mounted on\n/dev/sda1 100 90 80 53% /\n"),
        ("df", "Filesystem     1MB-blocks  Used Available Capacity Mounted on\n/dev/sda1 100 40 60 40% /\n"),
        ("storcli", '{"Controllers":[{"Command Status":{"Controller":0,"Status":"Failure"},"Response Data":{"Product Name":"x"}}]}'),
        ("smartctl", '{"json_format_version":[1,0],"smartctl":{"exit_status":2},"device":{"name":"/dev/sda"},"model_name":"x"}'),
        ("smartctl", "smartctl 7.3 2022-02-28 r5338\n\nSmartctl open device: /dev/sda failed: Permission denied\n"),
        ("smartctl", "smartctl 6.2 x\nUser Capacity:    1,500,301,910,016 bytes [1.50 TB]\n"),
        ("omreport", "ID : 0:1:0\nCapacity : 3.725,50 GB\n\n"),
        ("omreport", "ID : 0:1:0\nCapacity : 3,725.50 GB (4000 bytes)\n\n"),
        ("ipmitool", "Inlet Temp       | 23 degrees C      | o\n"),
        ("ipmitool", "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory\n"),
        ("perfquery", "PortXmitData:....................4711\n"),
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
    with pytest.raises(ProbeOutputError):
        SOURCES[source](said)


PACKED = (
    '{"json_format_version":[1,0],"smartctl":{"exit_status":0},"device":{"name":"/dev/sda"},'
    '"ata_smart_attributes":{"table":[{"id":5,"raw":{"value":51539607560,"string":"8 (0 12)"}}]}}'
)


def test_of_a_packed_attribute_the_number_that_smartctl_prints_first_counts() -> None:
    assert [(one.fact, one.value) for one in SOURCES["smartctl"](PACKED)] == [("disk.reallocated_sectors", 8.0)]


@pytest.mark.parametrize(
    ("old", "new"),
    [("Type: DDR3", "Type: Logical non-volatile device"), ("Size: 8192 MB", "Size: 32767 MB"), ("Size: 8192 MB", "Size: Unknown")],
)  # fmt: skip
def test_what_is_not_known_to_be_main_memory_is_in_no_sum(old: str, new: str) -> None:
    said = text("inventory/dmidecode-flash-2.11.txt").replace(old, new, 1)
    totals = [one.value for one in SOURCES["dmidecode"](said) if one.fact == "memory.installed"]
    assert totals == ([8 * 2.0**30] if "Logical" in new else [])


def columns(*lines: str) -> dict[tuple[str, str], str | float]:
    found = SOURCES["lsblk"]("".join(f"{line}\n" for line in lines))
    return {(one.fact, dict(one.labels)["disk"]): one.value for one in found}


def test_columns_that_were_asked_for_are_read_up_to_the_first_that_may_be_empty() -> None:
    found = columns(
        "NAME      SIZE ROTA TYPE MODEL",
        "sda     931.5G    1 disk Samsung SSD 860",
        "├─sda1      1G    1 part ",
        "sr0      1024M    1 rom  DVD",
        "nvme0n1   1.8T    0 disk",
    )
    assert found == {
        ("disk.size", "sda"): 931.5 * 2**30,
        ("disk.kind", "sda"): "rotating",
        ("disk.model", "sda"): "Samsung SSD 860",
        ("disk.size", "nvme0n1"): 1.8 * 2**40,
        ("disk.kind", "nvme0n1"): "solid state",
    }
    assert columns("NAME MODEL SIZE", "sda  Disk 4 4G", "NAME SIZE MODEL ROTA", "sdb 4G 1") == {
        ("disk.size", "sdb"): 4 * 2.0**30
    }


def test_what_is_set_does_not_pass_for_the_most_that_is_possible() -> None:
    said = text("inventory/ethtool-flow-control-3.5.txt").replace("Current hardware", "Curren\nt hardware")
    assert not {one.fact for one in SOURCES["ethtool"](said)} & {"nic.ring_tx", "nic.ring_tx_max", "nic.ring_rx_max"}


def test_a_line_within_a_table_of_dmidecode_leaves_no_sum() -> None:
    said = text("inventory/dmidecode-2.12.txt").replace("Handle 0x1102, DMI", "Handle 0x1102, DMIKilled\n")
    assert not {one.fact for one in SOURCES["dmidecode"](said)} & {"memory.dimms", "memory.installed", "memory.slots"}


def test_the_heading_of_a_member_that_was_torn_gives_its_state_to_no_other() -> None:
    said = text("inventory/bonding-lacp-5.14.txt").replace("Slave Interface: ens1f1", "Slave Int\nerface: ens1f1")
    found = {(one.fact, one.labels) for one in SOURCES["bonding"](said)}
    assert ("bond.member_state", (("bond", "bond0"), ("nic", "ens1f0"))) in found
    assert not any(fact == "bond.member_churn" for fact, _ in found)


def test_a_counter_with_a_notice_behind_it_may_have_been_cut() -> None:
    said = "Settings for eth2:\nNIC statistics:\n     rx_errors: 34\n     rx_crc_errors: 1\n"
    for notice in ("WARNING: you should run this as root\n", "slurmstepd: error: *** JOB 17 CANCELLED ***\n"):
        assert [one.value for one in SOURCES["ethtool"](said + notice)] == [34.0]


def test_a_clock_is_no_rate_of_transfers() -> None:
    said = text("inventory/dmidecode-flash-2.11.txt").replace("Clock Speed: 1600", "Clock Speed: 800")
    speeds = [one.value for one in SOURCES["dmidecode"](said) if one.fact == "memory.dimm_speed"]
    assert speeds == [1.333e9]


def test_loose_arrays_of_lshw_have_no_sum() -> None:
    array = '{"id":"memory:%d","class":"memory","description":"System Memory","units":"bytes","size":1024}\n'
    listed = SOURCES["lshw"](f"[{array % 0},{array % 1}]")
    assert [(one.fact, one.value) for one in listed] == [("memory.installed", 2048.0)]
    with pytest.raises(ProbeOutputError):
        SOURCES["lshw"](array % 0)


def test_a_link_that_is_down_for_a_reason_is_down() -> None:
    said = "Settings for eth2:\n\tSpeed: Unknown!\n\tLink detected: no (No cable)\n"
    assert [(one.fact, one.value) for one in SOURCES["ethtool"](said)] == [("nic.link", "no")]


def test_a_foreign_line_behind_a_bare_number_takes_it_away() -> None:
    cut = "vm.swappiness = 60\nvm.nr_hugepages = 10\nslurmstepd: error: *** JOB 17 CANCELLED ***\n"
    assert [one.fact for one in SOURCES["sysctl"](cut)] == ["sysctl.vm.swappiness"]


def test_a_made_up_speed_stays_marked_when_a_notice_stands_behind_its_driver() -> None:
    said = text("inventory/ethtool-veth-6.1.txt").replace("driver: veth\n", "driver: veth\nnotice from the login\n")
    assert [one.labels for one in SOURCES["ethtool"](said) if one.fact == "nic.speed"] == [
        (("nic", "data0"), ("nominal", "yes"))
    ]


def test_counters_that_stand_below_another_part_are_nobodys() -> None:
    said = text("inventory/ethtool-flow-control-3.5.txt").replace(
        "Settings for eth2:\nNIC statistics", "NIC statistics"
    )
    names = {one.fact for one in SOURCES["ethtool"](said)}
    assert "nic.counter" not in names
    assert "nic.ring_rx" in names


def test_colours_change_nothing() -> None:
    said = text("inventory/ipmitool-sdr-1.8.txt")
    coloured = "".join(f"\x1b[1;32m{line}\x1b[0m\n" for line in said.splitlines())
    assert SOURCES["ipmitool"](coloured) == SOURCES["ipmitool"](said)
