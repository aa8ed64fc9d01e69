"""The facts from the sources of RAID, worked out by hand."""

import pytest

from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.captures import text
from tests.probes.tools.inventory.cases import Case, check, check_refused

PERC = "PERC H730P Mini (Embedded)"

CASES: list[Case] = [
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
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[name for _, name, _ in CASES])
def test_facts(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("storcli", '{"Controllers":[{"Command Status":{"Controller":0,"Status":"Failure"},"Response Data":{"Product Name":"x"}}]}'),
        ("omreport", "ID : 0:1:0\nCapacity : 3.725,50 GB\n\n"),
        ("omreport", "ID : 0:1:0\nCapacity : 3,725.50 GB (4000 bytes)\n\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_trusted_is_refused(source: str, said: str) -> None:
    check_refused(source, said)


def test_a_volume_whose_controller_tells_no_layout_is_told_with_its_state() -> None:
    whole = text("inventory/omreport-vdisk-7.4.txt")
    bare = "".join(line for line in whole.splitlines(keepends=True) if not line.startswith("Layout"))
    critical = bare.replace(": Ok", ": Critical")
    found = {one.fact: one.value for one in SOURCES["omreport"](critical)}
    assert found["raid.status"] == "Critical"
    assert found["raid.device"] == "/dev/sda"
    assert "raid.layout" not in found
