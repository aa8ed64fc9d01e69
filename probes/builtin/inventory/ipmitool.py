"""Reads ``ipmitool sdr``, ``sdr elist``, ``sensor`` (and these with ``-c``), ``mc info`` and ``dcmi power reading``.

Degrees, turns, watts and volts have no base unit here: such a reading is text with its unit behind it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from probes.api import Fact, labels
from probes.builtin.captured import fields, one_line, whole_lines
from probes.builtin.inventory.facts import said, some, worded

_UNITS = {
    "degrees C": "sensor.temperature", "degrees F": "sensor.temperature", "RPM": "sensor.fan", "Watts": "sensor.power",
    "Volts": "sensor.voltage", "Amps": "sensor.current", "percent": "sensor.percent", "CFM": "sensor.airflow",
}  # fmt: skip
_STATES = {
    "ok": "", "ns": "", "na": "", "nc": "not critical", "cr": "critical", "nr": "not recoverable",
    "lnc": "not critical, low", "lcr": "critical, low", "lnr": "not recoverable, low",
    "unc": "not critical, high", "ucr": "critical, high", "unr": "not recoverable, high",
}  # fmt: skip
_READING = re.compile(r"(?P<number>-?[0-9]+(?:\.[0-9]+)?) (?P<unit>degrees [CF]|RPM|Watts|Volts|Amps|percent|CFM)")
_POWER = re.compile(r"(?P<number>[1-9][0-9]*) Watts")
"""What a node draws; a controller that cannot measure it says 0."""

_SDR, _ELIST, _SENSOR = 3, 5, 10
_CSV_SDR = 4

Row = tuple[str, str, str]
"""Sensor, its reading with the unit, its state."""


def parse(text: str) -> Sequence[Fact]:
    """``sensor.temperature``, ``sensor.fan``, ``sensor.power`` ... and, where it is not well, ``sensor.state``,

    with the label ``sensor``; a second sensor of the same name has ``number`` too. ``bmc.firmware``.
    """
    lines = whole_lines(text)
    return some([*_sensors(lines), *_controller(lines)], "the rows of ipmitool sdr or sensor")


def _sensors(lines: Sequence[str]) -> Iterator[Fact]:
    times = Counter[str]()
    for name, reading, state in filter(None, map(_row, lines)):
        times[name] += 1
        also = {"number": times[name]} if times[name] > 1 else {}
        marks = labels(sensor=one_line(name, 60), **also)
        if read := _READING.fullmatch(reading):
            yield from worded(_UNITS[read["unit"]], read["number"], read["unit"], marks)
        yield from said("sensor.state", _STATES[state], marks)


def _row(line: str) -> Row | None:
    """A row with all its columns; which they are is told by how many."""
    bars = "|" in line
    cells = [cell.strip() for cell in line.split("|" if bars else ",")]
    if bars and len(cells) == _SDR:
        row = (cells[0], cells[1], cells[2])
    elif bars and len(cells) == _ELIST:
        row = (cells[0], cells[4], cells[2])
    elif bars and len(cells) == _SENSOR:
        row = (cells[0], f"{cells[1]} {cells[2]}", cells[3])
    elif not bars and len(cells) >= _CSV_SDR:
        row = (cells[0], f"{cells[1]} {cells[2]}", cells[3])
    else:
        return None
    return row if row[0] and row[2] in _STATES else None


def _controller(lines: Sequence[str]) -> Iterator[Fact]:
    told: dict[str, str] = {}
    for key, value in fields(lines):
        told.setdefault(key, value)
    # the line behind the revision says that its number was whole
    if "IPMI Version" in told:
        yield from said("bmc.firmware", told.get("Firmware Revision"))
    if power := _POWER.fullmatch(told.get("Instantaneous power reading", "")):
        yield from worded("sensor.power", power["number"], "Watts", labels(sensor="dcmi"))
