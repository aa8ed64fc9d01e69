"""The facts from the sources of memory modules and boards, worked out by hand."""

import json

import pytest

from benchconsole.probes.api import Fact, ProbeOutputError, Unit
from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.captures import text
from tests.probes.tools.inventory.cases import Case, Expected, check, parsed

CASES: list[Case] = [
    (
        "dmidecode",
        "dmidecode-2.12.txt",
        {
            ("memory.dimm_size", "DIMM_A1"): 8 * 2.0**30,
            ("memory.dimm_size", "DIMM_A3"): 2.0**29,
            ("memory.dimms", ""): 2.0,
            ("memory.slots", ""): 3.0,
            ("memory.dimm_speed", "DIMM_A1"): 1.333e9,
            ("board.controller_firmware", ""): "3.4",
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
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[name for _, name, _ in CASES])
def test_facts(case: Case) -> None:
    check(case)


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


def test_loose_arrays_of_lshw_have_no_sum() -> None:
    array = '{"id":"memory:%d","class":"memory","description":"System Memory","units":"bytes","size":1024}\n'
    listed = SOURCES["lshw"](f"[{array % 0},{array % 1}]")
    assert [(one.fact, one.value) for one in listed] == [("memory.installed", 2048.0)]
    with pytest.raises(ProbeOutputError):
        SOURCES["lshw"](array % 0)


def test_sizes_of_dmidecode_are_the_same_however_the_version_spells_them() -> None:
    old, new = (parsed("dmidecode", f"dmidecode-{version}.txt") for version in ("2.12", "gib-3.6"))
    assert {key: fact.value for key, fact in old.items()} == {key: fact.value for key, fact in new.items()}


def test_two_runs_of_dmidecode_do_not_count_a_module_twice() -> None:
    once = text("inventory/dmidecode-2.12.txt")
    assert {one.fact: one.value for one in SOURCES["dmidecode"](once + once)}["memory.dimms"] == 2.0


@pytest.mark.parametrize(
    ("old", "new"),
    [("Type: DDR3", "Type: Logical non-volatile device"), ("Size: 8192 MB", "Size: 32767 MB"), ("Size: 8192 MB", "Size: Unknown")],
)  # fmt: skip
def test_what_is_not_known_to_be_main_memory_is_in_no_sum(old: str, new: str) -> None:
    said = text("inventory/dmidecode-flash-2.11.txt").replace(old, new, 1)
    totals = [one.value for one in SOURCES["dmidecode"](said) if one.fact == "memory.installed"]
    assert totals == ([8 * 2.0**30] if "Logical" in new else [])


def test_a_line_within_a_table_of_dmidecode_leaves_no_sum() -> None:
    said = text("inventory/dmidecode-2.12.txt").replace("Handle 0x1102, DMI", "Handle 0x1102, DMIKilled\n")
    assert not {one.fact for one in SOURCES["dmidecode"](said)} & {"memory.dimms", "memory.installed", "memory.slots"}


def test_a_clock_is_no_rate_of_transfers() -> None:
    said = text("inventory/dmidecode-flash-2.11.txt").replace("Clock Speed: 1600", "Clock Speed: 800")
    speeds = [one.value for one in SOURCES["dmidecode"](said) if one.fact == "memory.dimm_speed"]
    assert speeds == [1.333e9]


def test_devices_on_the_board_below_titles_of_their_own_hide_no_module() -> None:
    whole = text("inventory/dmidecode-3.3.txt")
    devices = (
        "Handle 0x000A, DMI type 10, 8 bytes\nOn Board Device 1 Information\n\tType: Video\n\tStatus: Enabled\n"
        "On Board Device 2 Information\n\tType: Ethernet\n\tDescription: LAN\n\n"
    )
    begin = whole.index("Handle 0x")
    full = whole[:begin] + devices + whole[begin:]
    assert SOURCES["dmidecode"](full) == SOURCES["dmidecode"](whole)
    torn = full.replace("On Board Device 2 Information", "On Board Dev")
    assert "memory.dimms" not in {one.fact for one in SOURCES["dmidecode"](torn)}


def test_memory_of_a_virtual_machine_and_devices_of_several_names() -> None:
    machine = {"id": "n1", "class": "system", "children": [
        {"id": "memory", "class": "memory", "description": "System memory", "units": "bytes", "size": 2**34},
        {"id": "disk", "class": "disk", "logicalname": ["/mnt", "/dev/vda"], "units": "bytes", "size": 2**38},
        {"id": "network", "class": "network", "logicalname": ["eth0", "altname0"], "product": "X"},
        {"id": "network:1", "class": "network", "logicalname": [7], "product": "Y"},
    ]}  # fmt: skip
    found = {(one.fact, one.labels): one.value for one in SOURCES["lshw"](json.dumps(machine))}
    assert found["memory.installed", ()] == 2**34
    assert found["disk.size", (("disk", "vda"),)] == 2**38
    assert found["nic.model", (("nic", "eth0"),)] == "X"
    assert "Y" not in found.values()
