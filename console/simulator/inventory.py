"""The simulated answer to the inventory script: every source between its marks, in the order of the script.

The script is known by the name it gives itself; its text is not read. Each source is a template with the text of the
real tool or file. Its values derive from the hardware that the topology declares for the node's class, less the DIMMs
that the scenario took away, so that the demo shows a difference only where one was planted.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from benchconsole.console.simulator.network import noise
from benchconsole.console.simulator.templates import render_template
from benchconsole.topology.model.fabric import Node

SOURCES = (
    "kernel", "os-release", "lscpu", "meminfo", "numactl", "lsblk", "ip", "ethtool", "bonding", "lldpctl", "dmidecode",
    "sysctl", "sysfs", "cmdline", "mounts", "df", "mdstat", "virt", "hwloc", "interrupts", "softirqs", "irq",
    "caches", "fibre-channel", "modules", "services", "versions", "smartctl", "ipmitool",
)  # fmt: skip
"""The sources in the order of the script."""

_DEFAULTS: Mapping[str, str | float] = MappingProxyType(
    {
        "bios.version": "2.13.0",
        "cpu.cores": 24.0,
        "cpu.governor": "performance",
        "cpu.model": "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz",
        "cpu.sockets": 2.0,
        "disk.count": 2.0,
        "kernel.release": "6.1.0-28-amd64",
        "memory.dimms": 8.0,
        "memory.total": 64.0 * 2**30,
        "nic.driver": "mlx5_core",
        "nic.firmware": "14.32.1010",
        "nic.mtu": 1500.0,
        "nic.speed": 1.25e9,
    }
)
"""Facts that a class does not declare, in base units."""

_SYSTEM_DISKS = 2


class NodeHardware:
    """The hardware of one simulated node; with ``dimm_share`` only so much of its DIMM slots is filled."""

    def __init__(self, node: Node, dimm_share: float = 1.0) -> None:
        facts = {**_DEFAULTS, **node.hardware.facts}
        slots = int(facts["memory.dimms"])
        dimm = int(facts["memory.total"]) // slots
        dimms = round(slots * dimm_share)
        vary = partial(noise, node.id)
        serial = f"{int((1 - vary('serial', spread=1.0)) * 36**4):07X}"
        address = [*(int(part) for part in node.address.split(".") if part.isdigit()), 0, 0, 0, 0][:4]
        disks = int(facts["disk.count"])
        self._values: Mapping[str, object] = {
            "facts": facts,
            "vary": vary,
            "cores": int(facts["cpu.cores"]),
            "sockets": int(facts["cpu.sockets"]),
            "slots": slots,
            "dimms": dimms,
            "dimm": dimm,
            "memory": dimm * dimms,
            "disks": [_describe_disk(index, serial) for index in range(disks)],
            "data_disks": max(disks - _SYSTEM_DISKS, 0),
            "array_disk": 3_998_614_552_576,
            "serial": serial,
            "interface": "ens1f0",
            "mac": "02:5d:" + ":".join(f"{part:02x}" for part in address),
            "queues": 24,
        }

    def answer(self, word: str, spoil: Callable[[bytes], bytes] = bytes) -> bytes:
        """Every source between its marks, which carry ``word``; ``spoil`` may change the text between them."""
        parts: list[bytes] = []
        for source in SOURCES:
            text = render_template(f"{source}.txt", self._values)
            parts += [f"benchconsole-{word} begin {source}\n".encode(), spoil(text.encode())]
            parts += [f"\nbenchconsole-{word} end {source} 0\n".encode()]
        return b"".join(parts)


def _describe_disk(index: int, serial: str) -> Mapping[str, object]:
    """A disk as the templates want it: the first two are solid and hold the system, the others are of one array."""
    system = index < _SYSTEM_DISKS
    return {
        "name": f"sd{'abcdefghijklmnopqrstuvwxyz'[index % 26]}",
        "system": system,
        "size": 400_088_457_216 if system else 4_000_787_030_016,
        "model": "INTEL SSDSC2BX400G4R" if system else "ST4000NM0023",
        "serial": f"{serial}{index:02d}",
    }
