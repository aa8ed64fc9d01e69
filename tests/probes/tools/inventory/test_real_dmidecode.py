"""The real ``dmidecode`` over tables that are written here: what was put in is what is read, to the byte."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Fact, Unit, labels
from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.inventory.smbios import DDR3, DDR4, DDR5, FLASH, KIB, LASTING, MIB, Machine, Module, dump

GIB = 2**30

pytestmark = pytest.mark.skipif(
    shutil.which("dmidecode", path=f"{os.environ['PATH']}:/usr/sbin") is None and not os.environ.get("CI"),
    reason="NOT TESTED: dmidecode is not installed here (in CI this fails)",
)


def printed(directory: Path, machine: Machine, modules: list[Module], *options: str) -> str:
    """The output of ``dmidecode`` for a machine with these modules."""
    file = directory / "smbios.bin"
    file.write_bytes(dump(machine, modules))
    argv = ["dmidecode", *options, "--from-dump", str(file)]
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    return subprocess.run(argv, env=environment, capture_output=True, check=True, text=True, timeout=60).stdout


def told(text: str) -> dict[tuple[str, str], str | float]:
    return {(one.fact, " ".join(label for _, label in one.labels)): one.value for one in SOURCES["dmidecode"](text)}


SERVER = [
    Module("DIMM_A1", 64 * GIB, "P0 CHANNEL A", speed=4800, configured=4400, kind=DDR5),
    Module("DIMM_A2", 0, "P0 CHANNEL A"),
    Module("DIMM_B1", 32 * GIB - MIB, "P0 CHANNEL B", speed=3200),
    Module("DIMM_B2", 512 * MIB, "P0 CHANNEL B", speed=1600, configured=800, kind=DDR3),
    Module("SPI", 16 * MIB, "Board", kind=FLASH),
    Module("NVDIMM", 512 * GIB, "P1 CHANNEL A", kind=LASTING),
]
"""More than 32 GiB in one module, an empty slot, the largest size of the old field, a clock for a rate; and no memory."""


def test_a_server_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = told(printed(tmp_path, Machine(), SERVER, "-t", "0", "-t", "1", "-t", "2", "-t", "17", "-t", "127"))
    a1 = "P0 CHANNEL A DIMM_A1"
    assert found.pop(("memory.dimm_size", a1)) == 64.0 * GIB
    assert found.pop(("memory.dimm_speed", a1)) == 4.4e9
    assert found.pop(("memory.dimm_type", a1)) == "DDR5"
    machine = {
        "bios.vendor": "Example BIOS Inc.", "bios.version": "2.14.3", "bios.date": "03/21/2024",
        "bios.revision": "2.14", "system.vendor": "Example Systems", "system.product": "Blade 640",
        "system.serial": "SN0004711", "board.product": "0XYZ12", "board.version": "A05",
        "board.controller_firmware": "3.7",
    }  # fmt: skip
    assert {name: found.pop((name, "")) for name in machine} == machine
    sizes = {slot: value for (name, slot), value in found.items() if name == "memory.dimm_size"}
    # 32767 MB is what a table before SMBIOS 2.7 says of anything larger: it may be that, so it is not told
    assert sizes == {"P0 CHANNEL B DIMM_B2": 512.0 * MIB}
    assert not {name for name, _ in found} & {"memory.installed", "memory.dimms", "memory.dimm_speed"}


def test_the_sum_is_of_main_memory_alone(tmp_path: Path) -> None:
    found = told(printed(tmp_path, Machine(), [module for module in SERVER if module.size != 32 * GIB - MIB]))
    totals = {name: found[name, ""] for name in ("memory.installed", "memory.dimms", "memory.slots")}
    assert totals == {"memory.installed": 64.5 * GIB, "memory.dimms": 2.0, "memory.slots": 3.0}
    assert found["memory.dimm_sizes", ""] == "1 x 64 GiB, 1 x 0.5 GiB"


def test_one_module_of_unknown_size_leaves_no_sum(tmp_path: Path) -> None:
    found = told(printed(tmp_path, Machine(), [*SERVER[:2], Module("DIMM_C1", None)]))
    assert not {name for name, _ in found} & {"memory.installed", "memory.dimms", "memory.slots"}


def test_firmware_without_releases_tells_none(tmp_path: Path) -> None:
    found = told(printed(tmp_path, Machine(bios_release=(0, 0), controller_release=(255, 255)), []))
    assert not {name for name, _ in found} & {"bios.revision", "board.controller_firmware"}
    assert found["bios.version", ""] == "2.14.3"


def test_a_table_without_memory_has_no_module(tmp_path: Path) -> None:
    assert not {name for name, _ in told(printed(tmp_path, Machine(), [])) if name.startswith("memory")}


_SIZES = (
    st.sampled_from([0, 0, None])
    | st.integers(1, 32766).map(lambda size: size * MIB)
    | st.integers(32768, 2**26).map(lambda size: size * MIB)
    | st.integers(0, 10).map(lambda power: 2**power * GIB)
    | st.integers(1, 32766).filter(lambda size: size % KIB).map(lambda size: size * KIB)
)
_RATES = st.just(0) | st.integers(200, 9600) | st.integers(65535, 99999)
_WORDS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef0123456789_-#/:.", min_size=2, max_size=20)


def _modules(slots: list[str]) -> st.SearchStrategy[list[Module]]:
    return st.tuples(
        *(
            st.builds(
                Module,
                locator=st.just(slot),
                bank=st.just(f"BANK {number}"),
                size=_SIZES,
                kind=st.sampled_from([DDR3, DDR4, DDR5, FLASH, LASTING]),
                speed=_RATES,
                configured=_RATES,
                vendor=st.just("Micron"),
            )
            for number, slot in enumerate(slots)
        )
    ).map(list)


def expected(modules: list[Module]) -> set[Fact]:
    """The facts that should be read of these modules."""
    main = [module for module in modules if module.kind not in (FLASH, LASTING)]
    facts = set[Fact]()
    for module in main:
        slot = labels(slot=f"{module.bank} {module.locator}")
        if module.size:
            facts.add(Fact("memory.dimm_size", float(module.size), Unit.BYTE, slot))
        # half of what it can do, give or take what rounding makes of it, may be a clock
        is_clock = module.speed and abs(2 * module.configured - module.speed) <= 2
        if module.size and module.configured and not is_clock:
            facts.add(Fact("memory.dimm_speed", module.configured * 1e6, Unit.PER_SECOND, slot))
    sizes = [module.size for module in main if module.size]
    if sizes and all(module.size is not None for module in modules):
        facts.add(Fact("memory.installed", float(sum(sizes)), Unit.BYTE))
        facts.add(Fact("memory.dimms", float(len(sizes)), Unit.ONE))
        facts.add(Fact("memory.slots", float(len(main)), Unit.ONE))
    return facts


_COMPARED = ("memory.dimm_size", "memory.dimm_speed", "memory.installed", "memory.dimms", "memory.slots")


@given(st.lists(_WORDS, max_size=12).flatmap(_modules))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_gives_its_own_numbers(tmp_path: Path, modules: list[Module]) -> None:
    found = SOURCES["dmidecode"](printed(tmp_path, Machine(), modules))
    assert {fact for fact in found if fact.fact in _COMPARED} == expected(modules)
