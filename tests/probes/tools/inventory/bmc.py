"""Owns a simulated BMC: ``ipmi_sim`` of OpenIPMI with sensors that are planted here.

Sensors are described by full sensor records (Intelligent Platform Management Interface Specification 2.0,
43.1), and a reading is ``(m * raw + b * 10^k1) * 10^k2`` (36.3). Refuses to know what ``ipmitool`` prints.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.probes.tools.inventory.simulators import entered, listens, running

USER, PASSWORD = "bench", "simulated"
FIRMWARE = (2, 0x60)
"""Major, and minor as two decimal digits in its hexadecimal ones (20.1)."""

_GUID = "a123456789abcdefa123456789abcdef"
"""Without one there is no session of IPMI 2.0."""

TEMPERATURE, VOLTAGE, CURRENT, FAN, POWER = 1, 2, 3, 4, 0x0B
DEGREES_C, VOLTS, AMPS, WATTS, RPM = 1, 4, 5, 6, 18

_UNREACHED = (0xFF, 0xFE, 0xFD, 0, 0, 0)
_EVENTS = "000111111111111"


@dataclass(frozen=True, slots=True)
class Sensor:
    """A threshold sensor; one without ``raw`` is described and not there.

    ``limits`` are raw: upper not recoverable, critical, not critical, then the lower ones in that order.
    """

    name: str
    kind: int
    unit: int
    raw: int | None
    m: int = 1
    b: int = 0
    k1: int = 0
    k2: int = 0
    limits: tuple[int, int, int, int, int, int] = _UNREACHED

    @property
    def value(self) -> float | None:
        """The reading in its unit."""
        if self.raw is None:
            return None
        return (self.m * self.raw + self.b * 10.0**self.k1) * 10.0**self.k2


def record(number: int, sensor: Sensor) -> bytes:
    """The full sensor record; its own number is given by the repository."""
    name = sensor.name.encode("ascii")
    upper, lower = sensor.limits[:3], sensor.limits[3:]
    body = bytes(
        (
            0x20, 0, number, 7, 1, 0x7F, 0x68, sensor.kind, 1, 0, 0, 0, 0, 0x3F, 0x3F, 0, sensor.unit, 0, 0,
            sensor.m & 0xFF, (sensor.m >> 8 & 3) << 6, sensor.b & 0xFF, (sensor.b >> 8 & 3) << 6, 0,
            (sensor.k2 & 0xF) << 4 | sensor.k1 & 0xF, 0, 0, 0, 0, 0xFF, 0, *upper, *lower, 0, 0, 0, 0, 0,
            0xC0 | len(name),
        )
    )  # fmt: skip
    return bytes((0, 0, 0x51, 1, len(body) + len(name))) + body + name


def commands(sensors: Sequence[Sensor]) -> str:
    """The commands for ``ipmi_sim``: one management controller with these sensors."""
    major, minor = FIRMWARE
    lines = ["mc_setbmc 0x20", f"mc_add 0x20 0 no-device-sdrs 0x23 {major} {minor:#x} 0x9f 0x1291 0xf02"]
    for number, sensor in enumerate(sensors, 1):
        at = f"0x20 0 {number}"
        if sensor.raw is not None:
            lines += [
                f"sensor_add {at} {sensor.kind} 1",
                f"sensor_set_threshold {at} settable 111111 {' '.join(map(str, sensor.limits))}",
                f"sensor_set_event_support {at} enable scanning per-state {' '.join([_EVENTS] * 4)}",
                f"sensor_set_value {at} {sensor.raw} 0",
            ]
        lines.append("main_sdr_add 0x20 " + " ".join(f"{byte:#04x}" for byte in record(number, sensor)))
    return "\n".join([*lines, "mc_enable 0x20", ""])


def _configuration(port: int) -> str:
    auths = "".join(f"    allowed_auths_{level} md5\n" for level in ("user", "operator", "admin"))
    return (
        f'name "simulated"\nset_working_mc 0x20\n  startlan 1\n    addr 127.0.0.1 {port}\n    priv_limit admin\n{auths}'
        f'    guid {_GUID}\n  endlan\n  user 2 true "{USER}" "{PASSWORD}" admin 10 md5\n'
    )


@contextmanager
def simulated(directory: Path, sensors: Sequence[Sensor], *, port: int, net: Path | None = None) -> Iterator[list[str]]:
    """The options of ``ipmitool`` that reach the BMC, on ``port`` of loopback in the network namespace ``net``."""
    state = directory / "state"
    state.mkdir()
    (directory / "lan.conf").write_text(_configuration(port))
    (directory / "sensors").write_text(commands(sensors))
    argv = [*entered(net), "ipmi_sim", "-n", "-c", f"{directory}/lan.conf", "-f", f"{directory}/sensors"]
    ready = listens(net, "udp", f"0100007F:{port:04X}")
    with running([*argv, "-s", str(state)], directory / "ipmi_sim.log", is_ready=ready):
        # the suite is named, for asking which ones there are takes the simulator a second
        yield ["-I", "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", str(port), "-U", USER, "-P", PASSWORD]
