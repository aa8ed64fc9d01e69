"""The facts from the sources of disks, worked out by hand."""

import pytest

from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.inventory.cases import Case, check, check_refused

CASES: list[Case] = [
    (
        "smartctl",
        "smartctl-ata-7.3.json",
        {
            ("disk.size", "sda"): 4000787030016.0,
            ("disk.health", "sda"): "passed",
            ("disk.power_on_time", "sda"): 31234 * 3600.0,
            ("disk.reallocated_sectors", "sda"): 8.0,
            ("disk.pending_sectors", "sda"): 2.0,
            ("disk.temperature", "sda"): 34.0,
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
            ("disk.temperature", "6SL0FFFF"): 41.0,
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
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[name for _, name, _ in CASES])
def test_facts(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("smartctl", '{"json_format_version":[1,0],"smartctl":{"exit_status":2},"device":{"name":"/dev/sda"},"model_name":"x"}'),
        ("smartctl", "smartctl 7.3 2022-02-28 r5338\n\nSmartctl open device: /dev/sda failed: Permission denied\n"),
        ("smartctl", "smartctl 6.2 x\nUser Capacity:    1,500,301,910,016 bytes [1.50 TB]\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_trusted_is_refused(source: str, said: str) -> None:
    check_refused(source, said)


PACKED = (
    '{"json_format_version":[1,0],"smartctl":{"exit_status":0},"device":{"name":"/dev/sda"},'
    '"ata_smart_attributes":{"table":[{"id":5,"name":"Reallocated_Sector_Ct","raw":{"value":51539607560,"string":"8 (0 12)"}}]}}'
)


def test_of_a_packed_attribute_the_number_that_smartctl_prints_first_counts() -> None:
    assert [(one.fact, one.value) for one in SOURCES["smartctl"](PACKED)] == [("disk.reallocated_sectors", 8.0)]


BEHIND_RAID = (
    '{"json_format_version":[1,0],"smartctl":{"exit_status":4},"power_on_time":{"hours":7},'
    '"device":{"name":"/dev/bus/0","info_name":"/dev/bus/0 [megaraid_disk_07] [SAT]","protocol":"ATA"}}'
)


def test_a_sata_disk_behind_a_controller_has_the_name_that_the_controller_gives_it() -> None:
    assert [one.labels for one in SOURCES["smartctl"](BEHIND_RAID) if one.fact == "disk.power_on_time"] == [
        (("disk", "bus/0 megaraid_disk_07"),)
    ]


OTHER_COUNTS = """\
smartctl 7.3 2022-02-28 r5338
Serial Number:    AB12
{}
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocate_NAND_Blk_Cnt 0x0032   100   100   010    Old_age   Always       -       12
197 Read_Failure_Blk_Ct     0x0000   ---   ---   ---    Old_age   Offline      -       3
198 Read_Sectors_Tot_Ct     0x0000   ---   ---   ---    Old_age   Offline      -       2290894141
199 Write_Sectors_Tot_Ct    0x0000   ---   ---   ---    Old_age   Offline      -       3359684033

"""


def told(capacity: str) -> dict[str, str | float]:
    return {one.fact: one.value for one in SOURCES["smartctl"](OTHER_COUNTS.format(capacity))}


def test_what_a_disk_counts_besides_under_these_numbers_is_no_bad_sector() -> None:
    assert told("") == {"disk.serial": "AB12"}


def test_the_size_of_a_disk_is_that_of_its_name_space() -> None:
    both = "Total NVM Capacity: 1,920,383,410,176 [1.92 TB]\nNamespace 1 Size/Capacity: 960,197,124,096 [960 GB]"
    assert told(both)["disk.size"] == 960197124096.0
    assert "disk.size" not in told("User Capacity:    0 bytes [0 B]")


def test_a_disk_without_a_sensor_has_no_temperature() -> None:
    assert "disk.temperature" not in told("Current Drive Temperature:     0 C")
    assert told("Current Drive Temperature:     28 C")["disk.temperature"] == 28.0
    json = BEHIND_RAID.replace('"device"', '"temperature":{"current":0,"drive_trip":0},"device"')
    assert "disk.temperature" not in {one.fact for one in SOURCES["smartctl"](json)}


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
