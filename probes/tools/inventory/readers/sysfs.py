"""``path:value`` lines of files under ``/sys``, which stand in for tools that are missing or need root."""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.tools.inventory.facts import label_part, make_quantity, make_text

EXPECTED = "lines 'path:value' of files under /sys"

_DMI = "/sys/class/dmi/id/"
_NAMES = {
    f"{_DMI}bios_vendor": "bios.vendor", f"{_DMI}bios_version": "bios.version", f"{_DMI}bios_date": "bios.date",
    f"{_DMI}sys_vendor": "system.vendor", f"{_DMI}product_name": "system.product",
    f"{_DMI}product_serial": "system.serial",
}  # fmt: skip
_NET = re.compile(r"(?P<place>/sys/class/net/(?P<nic>[^/\s]+)/)(?P<name>speed|duplex|mtu|operstate|carrier)")
_CPU = re.compile(r"/sys/devices/system/cpu/cpu(?P<cpu>[0-9]+)/cpufreq/scaling_governor")
_UNKNOWN_SPEEDS = ("0", "4294967295")
"""What a link that is down answers besides -1."""


def find_facts(text: str) -> Iterator[Fact]:
    """The facts that ``ethtool``, ``dmidecode``, ``cpupower`` and ``numactl`` would give, as far as they go."""
    lines = list(split_fields(read_lines(text)))
    for path, value in lines:
        if net := _NET.fullmatch(path):
            # some drivers tell a speed without a link: what the port is set to, and nothing that runs
            linked = (f"{net['place']}carrier", "1") in lines
            if net["name"] != "speed" or (linked and value not in _UNKNOWN_SPEEDS):
                yield from _read_net(net["name"], value, label_part("nic", net["nic"]))
        elif cpu := _CPU.fullmatch(path):
            yield from make_text("cpu.governor", value, label_part("cpu", cpu["cpu"]))
        elif path in _NAMES:
            yield from make_text(_NAMES[path], value)


def _read_net(name: str, value: str, marks: Labels) -> list[Fact]:
    if name == "speed":
        return make_quantity("nic.speed", f"{value} Mb/s", Unit.BYTE_RATE, marks)
    if name == "mtu":
        return make_quantity("nic.mtu", f"{value} B", Unit.BYTE, marks)
    if name == "carrier":
        return make_text("nic.link", {"1": "yes", "0": "no"}.get(value), marks)
    return make_text("nic.duplex" if name == "duplex" else "nic.state", value.lower(), marks)
