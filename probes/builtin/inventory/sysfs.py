"""Reads ``path:value`` lines of files under ``/sys``, which stand in for tools that are missing or need root."""

import re
from collections.abc import Callable, Sequence

from probes.api import Fact, Labels, Unit
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import measured, on, said, some

_DMI = {
    "bios_vendor": "bios.vendor", "bios_version": "bios.version", "bios_date": "bios.date",
    "sys_vendor": "system.vendor", "product_name": "system.product", "product_serial": "system.serial",
}  # fmt: skip
_NET = re.compile(r"/sys/class/net/(?P<nic>[^/\s]+)/(?P<name>speed|duplex|mtu|operstate|carrier)")
_CPU = re.compile(r"/sys/devices/system/cpu/cpu(?P<cpu>[0-9]+)/cpufreq/scaling_governor")


def parse(text: str) -> Sequence[Fact]:
    """The facts that ``ethtool``, ``dmidecode``, ``cpupower`` and ``numactl`` would give, as far as they go."""
    found: list[Fact] = []
    lines = list(fields(whole_lines(text)))
    # some drivers tell a speed without a link: what the port is set to, and nothing that runs
    linked = {path.rpartition("/")[0] for path, value in lines if path.endswith("/carrier") and value == "1"}
    for path, value in lines:
        if net := _NET.fullmatch(path):
            if net["name"] == "speed" and path.rpartition("/")[0] not in linked:
                continue
            found += _net(net["name"], value, on("nic", net["nic"]))
        elif cpu := _CPU.fullmatch(path):
            found += said("cpu.governor", value, on("cpu", cpu["cpu"]))
        elif path.startswith("/sys/class/dmi/id/"):
            name = _DMI.get(path.rpartition("/")[2])
            found += said(name, value) if name else ()
    return some(found, "lines 'path:value' of files under /sys")


def _net(name: str, value: str, marks: Labels) -> list[Fact]:
    read: dict[str, Callable[[], list[Fact]]] = {
        "speed": lambda: measured("nic.speed", f"{value} Mb/s", Unit.BYTE_RATE, marks),
        "mtu": lambda: measured("nic.mtu", f"{value} B", Unit.BYTE, marks),
        "duplex": lambda: said("nic.duplex", value.lower(), marks),
        "carrier": lambda: said("nic.link", {"1": "yes", "0": "no"}.get(value), marks),
        "operstate": lambda: said("nic.state", value.lower(), marks),
    }
    # a link that is down answers -1, or that as an unsigned number
    return [] if name == "speed" and value in ("0", "4294967295") else read[name]()
