"""The facts from ``ipmitool``, worked out by hand."""

import pytest

from benchconsole.probes.api import Unit
from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.captures import text
from tests.probes.tools.inventory.cases import Case, check, check_refused

CASES: list[Case] = [
    (
        "ipmitool",
        "ipmitool-sdr-1.8.txt",
        {
            ("sensor.temperature", "Temp"): 41.0,
            ("sensor.temperature", "2 Temp"): 87.0,
            ("sensor.state", "2 Temp"): "not critical",
            ("sensor.state", "Fan2A"): "critical",
            ("sensor.power", "Pwr Consumption"): 112.0,
            ("sensor.temperature", "Exhaust Temp"): None,
        },
    ),
    (
        "ipmitool",
        "ipmitool-elist-1.8.txt",
        {("sensor.fan", "7.1 Fan1A"): "4560 RPM", ("sensor.temperature", "3.1 Temp"): 41.0},
    ),
    (
        "ipmitool",
        "ipmitool-sensor-1.8.txt",
        {("sensor.voltage", "12V"): "12.096 Volts", ("sensor.state", "FAN1"): "not recoverable, low"},
    ),
    ("ipmitool", "ipmitool-mc-1.8.txt", {("bmc.firmware", ""): "2.60", ("sensor.power", "dcmi"): 220.0}),
    ("ipmitool", "ipmitool-csv-1.8.txt", {("sensor.temperature", "Inlet Temp"): 23.0}),
]  # fmt: skip


def test_readings_have_their_units_and_fahrenheit_is_celsius() -> None:
    text = "Inlet | 23 degrees C | ok\nOutlet | 104 degrees F | ok\nPower | 350 Watts | ok\nLoad | 12 percent | ok\n"
    found = {dict(fact.labels)["sensor"]: (fact.value, fact.unit) for fact in SOURCES["ipmitool"](text)}
    assert found == {
        "Inlet": (23.0, Unit.DEGREE_CELSIUS), "Outlet": (40.0, Unit.DEGREE_CELSIUS), "Power": (350.0, Unit.WATT),
        "Load": (0.12, Unit.ONE),
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[name for _, name, _ in CASES])
def test_facts(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ipmitool", "Inlet Temp       | 23 degrees C      | o\n"),
        ("ipmitool", "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_trusted_is_refused(source: str, said: str) -> None:
    check_refused(source, said)


def test_colours_change_nothing() -> None:
    said = text("inventory/ipmitool-sdr-1.8.txt")
    coloured = "".join(f"\x1b[1;32m{line}\x1b[0m\n" for line in said.splitlines())
    assert SOURCES["ipmitool"](coloured) == SOURCES["ipmitool"](said)


def test_a_node_that_draws_nothing_was_not_measured() -> None:
    said = "    Instantaneous power reading:                   {} Watts\n"
    assert [one.value for one in SOURCES["ipmitool"](said.format(220))] == [220.0]
    check_refused("ipmitool", said.format(0))


def test_the_name_of_the_node_before_every_row_is_no_part_of_the_sensor() -> None:
    whole = text("inventory/ipmitool-elist-1.8.txt")
    before = "".join(f"n01: {line}\n" for line in whole.splitlines())
    assert SOURCES["ipmitool"](before) == SOURCES["ipmitool"](whole)
    first = f"n01: {whole}"
    assert any(dict(one.labels)["sensor"].startswith("n01: ") for one in SOURCES["ipmitool"](first))
