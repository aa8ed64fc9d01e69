"""The real ``ipmitool`` against a simulated BMC: what the sensors were planted with is what is read."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator

import pytest

from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.inventory import bmc
from tests.probes.tools.inventory.bmc import Sensor

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("ipmitool", "ipmi_sim"))) and not os.environ.get("CI"),
    reason="NOT TESTED: ipmitool or ipmi_sim (Debian package openipmi) is not installed here (in CI this fails)",
)

SENSORS = [
    Sensor("Inlet Temp", bmc.TEMPERATURE, bmc.DEGREES_C, 23),
    Sensor("Outside", bmc.TEMPERATURE, bmc.DEGREES_C, 20, b=-40),
    Sensor("CPU 1 Temp", bmc.TEMPERATURE, bmc.DEGREES_C, 97, limits=(105, 95, 90, 0, 0, 0)),
    Sensor("Fan1A", bmc.FAN, bmc.RPM, 38, m=120),
    Sensor("Fan2B", bmc.FAN, bmc.RPM, 3, m=120, limits=(255, 254, 253, 2, 5, 7)),
    Sensor("P12V", bmc.VOLTAGE, bmc.VOLTS, 192, m=63, k2=-3),
    Sensor("VBAT", bmc.VOLTAGE, bmc.VOLTS, 100, m=14, b=150, k1=1, k2=-3, limits=(255, 254, 253, 10, 20, 255)),
    Sensor("PSU1 Current", bmc.CURRENT, bmc.AMPS, 4, k2=-1),
    Sensor("Pwr Consumption", bmc.POWER, bmc.WATTS, 56, m=2),
    Sensor("Inlet Temp", bmc.TEMPERATURE, bmc.DEGREES_C, 31),
    Sensor("Exhaust Temp", bmc.TEMPERATURE, bmc.DEGREES_C, None),
]
"""Two of one name, one below zero, one that is not there; of the limits one passed upwards and two downwards."""

UNITS = {bmc.RPM: "RPM", bmc.VOLTS: "Volts", bmc.AMPS: "Amps"}
NAMES = {
    bmc.TEMPERATURE: "sensor.temperature", bmc.FAN: "sensor.fan", bmc.VOLTAGE: "sensor.voltage",
    bmc.CURRENT: "sensor.current", bmc.POWER: "sensor.power",
}  # fmt: skip
PASSED = {"CPU 1 Temp": ("critical", "high"), "Fan2B": ("critical", "low"), "VBAT": ("not critical", "low")}


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The command line of ``ipmitool`` up to what is asked."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    with bmc.simulated(tmp_path_factory.mktemp("bmc"), SENSORS, port=port) as options:
        yield ["ipmitool", *options]


def printed(argv: list[str], *words: str) -> str:
    return subprocess.run([*argv, *words], capture_output=True, check=True, text=True, timeout=60).stdout


def planted(*, digits: int, sides: bool) -> dict[tuple[str, str, str], str | float]:
    """Fact, sensor and number to value, as far as a form of the output tells it."""
    facts: dict[tuple[str, str, str], str | float] = {}
    seen = set[str]()
    for sensor in SENSORS:
        number = "2" if sensor.name in seen else ""
        seen.add(sensor.name)
        if sensor.value is not None:
            value = round(sensor.value, digits)
            told = value if sensor.unit in (bmc.DEGREES_C, bmc.WATTS) else f"{value:g} {UNITS[sensor.unit]}"
            facts[NAMES[sensor.kind], sensor.name, number] = told
    for name, (state, side) in PASSED.items():
        facts["sensor.state", name, ""] = f"{state}, {side}" if sides else state
    return facts


@pytest.mark.parametrize(
    ("words", "digits", "sides"),
    [
        (["sdr"], 2, False),
        (["sdr", "elist"], 2, True),
        (["-c", "sdr"], 3, False),
        (["sensor"], 3, False),
        (["-c", "sensor"], 3, False),
    ],
    ids=["sdr", "elist", "csv of sdr", "sensor", "csv of sensor"],
)  # fmt: skip
def test_every_form_tells_what_was_planted(reached: list[str], words: list[str], digits: int, sides: bool) -> None:
    found = {
        (one.fact, dict(one.labels)["sensor"], dict(one.labels).get("number", "")): one.value
        for one in SOURCES["ipmitool"](printed(reached, *words))
    }
    assert found == planted(digits=digits, sides=sides)


def test_the_controller_tells_its_firmware(reached: list[str]) -> None:
    major, minor = bmc.FIRMWARE
    found = {one.fact: one.value for one in SOURCES["ipmitool"](printed(reached, "mc", "info"))}
    assert found == {"bmc.firmware": f"{major}.{minor:02x}"}
