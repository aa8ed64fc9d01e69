"""``ipmitool sdr``, ``sdr elist``, ``sensor`` (and these with ``-c``), ``mc info`` and ``dcmi power reading``.

Turns, volts, amperes and air have no base unit here: such a reading is text with its unit behind it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Fact, Labels, Unit, labels
from benchconsole.probes.readers.lines import read_lines, shorten
from benchconsole.probes.readers.numbers import ABSURD
from benchconsole.probes.readers.readings import known_labels
from benchconsole.probes.tools.inventory.facts import make_measure, make_text, read_first_fields

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
_NODE = re.compile(r"[\w.-]{1,80}: +(?=[^|]*\|)")
_POWER = re.compile(r"(?P<number>[1-9][0-9]*) Watts")
"""The power that a node draws; a controller that cannot measure it says 0."""


def find_facts(text: str) -> Iterator[Fact]:
    """``sensor.temperature``, ``sensor.fan``, ``sensor.power`` ... and, where it is not well, ``sensor.state``,
    with the labels ``sensor`` and, of ``elist``, ``entity``; a second one of the same names has ``number`` too.
    ``bmc.firmware``.
    """
    times = Counter[tuple[str, str]]()
    lines = _strip_prefix(read_lines(text))
    for name, entity, reading, state in filter(None, map(_read_row, lines)):
        times[name, entity] += 1
        also = {"number": times[name, entity] if times[name, entity] > 1 else None, "entity": entity}
        marks = known_labels(sensor=shorten(name, 60), **also)
        if match := _READING.fullmatch(reading):
            yield from _tell(match["number"], match["unit"], marks)
        yield from make_text("sensor.state", _STATES[state], marks)
    fields = read_first_fields(lines)
    # the line behind the revision says that its number was whole
    if "IPMI Version" in fields:
        yield from make_text("bmc.firmware", fields.get("Firmware Revision"))
    if power := _POWER.fullmatch(fields.get("Instantaneous power reading", "")):
        yield from _tell(power["number"], "Watts", labels(sensor="dcmi"))


def _tell(number: str, unit: str, marks: Labels) -> list[Fact]:
    """A reading in its base unit, where it has one; Fahrenheit is told as Celsius."""
    name, value = _UNITS[unit], float(number)
    if abs(value) >= ABSURD:
        return []
    if name == "sensor.temperature":
        return [Fact(name, value if unit == "degrees C" else (value - 32) / 1.8, Unit.DEGREE_CELSIUS, marks)]
    if name == "sensor.power":
        return [Fact(name, value, Unit.WATT, marks)]
    return (
        [Fact(name, value / 100, Unit.ONE, marks)]
        if name == "sensor.percent"
        else make_measure(name, number, unit, marks)
    )


def _strip_prefix(lines: Sequence[str]) -> Sequence[str]:
    """``lines`` without the name of the node that a parallel shell puts before each."""
    found = {match[0] if (match := _NODE.match(line)) else "" for line in lines if "|" in line}
    prefix = found.pop() if len(found) == 1 else ""
    return [line.removeprefix(prefix) for line in lines] if prefix else lines


def _read_row(line: str) -> tuple[str, str, str, str] | None:
    """Sensor, entity where it is told, reading, state of a row.

    The number of columns tells which: 3 of sdr, 5 of elist, 10 of sensor, 4 of CSV.
    """
    bars = "|" in line
    cells = [cell.strip() for cell in line.split("|" if bars else ",")]
    entity = ""
    if bars and len(cells) == 3:
        name, reading, state = cells
    elif bars and len(cells) == 5:
        name, _, state, entity, reading = cells
    elif len(cells) == 10 if bars else len(cells) >= 4:
        name, reading, state = cells[0], f"{cells[1]} {cells[2]}", cells[3]
    else:
        return None
    return (name, entity, reading, state) if name and state in _STATES else None
