"""Owns what a simulated node's own tools and files say of its hardware, in the shapes of the real ones.

Everything is derived from the hardware that the topology declares for the node's class, less
what the scenario took away; so the demo shows a difference only where one was planted.
Refuses to know how it is asked (``machine`` and ``survey`` do).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from console.demo.network import noise
from topology.model import Node

_GIB = 2**30
_INTERFACE = "ens1f0"
_CPU_FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ss ht syscall "
    "nx pdpe1gb rdtscp lm constant_tsc arch_perfmon rep_good nopl xtopology nonstop_tsc cpuid aperfmperf pni pclmulqdq "
    "vmx ssse3 fma cx16 pcid sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx f16c rdrand lahf_lm abm avx2 bmi1 bmi2"
)


@dataclass(frozen=True, slots=True)
class Box:
    """One machine's hardware. ``missing`` DIMMs are slots that report no module."""

    node: Node
    missing: int = 0

    def text(self, fact: str, default: str = "") -> str:
        """A declared fact as words."""
        return str(self.node.hardware.facts.get(fact, default))

    def number(self, fact: str, default: float) -> float:
        """A declared fact as a number in its base unit."""
        value = self.node.hardware.facts.get(fact, default)
        return value if isinstance(value, float) else default

    @property
    def interface(self) -> str:
        """The name of the port that the data network is plugged into."""
        return _INTERFACE

    @property
    def slots(self) -> int:
        """DIMM slots that should be filled."""
        return int(self.number("memory.dimms", 8))

    @property
    def dimm(self) -> int:
        """Bytes of one DIMM."""
        return int(self.number("memory.total", 64 * _GIB)) // self.slots

    @property
    def disks(self) -> int:
        """Disks, of which two are the system's."""
        return int(self.number("disk.count", 2))

    @property
    def serial(self) -> str:
        """A service tag that is the same every time."""
        return f"{int((1 - noise(self.node.id, 'serial', spread=1.0)) * 36**4):07X}"

    @property
    def mac(self) -> str:
        """A locally administered address made of the node's own."""
        parts = [*(int(part) for part in self.node.address.split(".") if part.isdigit()), 0, 0, 0, 0][:4]
        return "02:5d:" + ":".join(f"{part:02x}" for part in parts)


def lscpu(box: Box) -> list[tuple[str, str]]:
    """``lscpu``, field by field."""
    sockets, cores = int(box.number("cpu.sockets", 2)), int(box.number("cpu.cores", 24))
    # Hyper-threading is off, as on most machines that run tightly coupled jobs.
    half = cores // 2
    return [
        ("Architecture:", "x86_64"),
        ("CPU op-mode(s):", "32-bit, 64-bit"),
        ("Address sizes:", "46 bits physical, 48 bits virtual"),
        ("Byte Order:", "Little Endian"),
        ("CPU(s):", str(cores)),
        ("On-line CPU(s) list:", f"0-{cores - 1}"),
        ("Vendor ID:", "GenuineIntel"),
        ("Model name:", box.text("cpu.model", "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz")),
        ("CPU family:", "6"),
        ("Model:", "63"),
        ("Thread(s) per core:", "1"),
        ("Core(s) per socket:", str(cores // sockets)),
        ("Socket(s):", str(sockets)),
        ("Stepping:", "2"),
        ("CPU(s) scaling MHz:", "99%"),
        ("CPU max MHz:", "3300.0000"),
        ("CPU min MHz:", "1200.0000"),
        ("BogoMIPS:", "4988.54"),
        ("Flags:", _CPU_FLAGS),
        ("Virtualization:", "VT-x"),
        ("L1d cache:", f"{cores * 32} KiB ({cores} instances)"),
        ("L1i cache:", f"{cores * 32} KiB ({cores} instances)"),
        ("L2 cache:", f"{cores * 256 // 1024} MiB ({cores} instances)"),
        ("L3 cache:", f"{sockets * 30} MiB ({sockets} instances)"),
        ("NUMA node(s):", "2"),
        ("NUMA node0 CPU(s):", f"0-{half - 1}"),
        ("NUMA node1 CPU(s):", f"{half}-{cores - 1}"),
    ]


def lscpu_json(box: Box) -> str:
    """``lscpu -J``."""
    return _json({"lscpu": [{"field": field, "data": data} for field, data in lscpu(box)]})


def meminfo(box: Box) -> str:
    """``/proc/meminfo``: what the kernel and the firmware leave of the modules."""
    total = int(box.dimm * (box.slots - box.missing) * 0.9825) // 1024
    rows = {
        "MemTotal": total,
        "MemFree": int(total * 0.955),
        "MemAvailable": int(total * 0.971),
        "Buffers": 41_232,
        "Cached": 1_803_424,
        "SwapCached": 0,
        "SwapTotal": 0,
        "SwapFree": 0,
    }
    lines = "".join(f"{name + ':':<16}{value:>8} kB\n" for name, value in rows.items())
    return lines + "HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n"


def bios(box: Box) -> dict[str, str]:
    """The firmware's fields, as dmidecode and ``/sys/class/dmi/id`` give them."""
    return {"Vendor": "Dell Inc.", "Version": box.text("bios.version", "2.13.0"), "Release Date": "05/14/2021"}


def dmidecode(box: Box) -> str:
    """``dmidecode -t 0 -t 1 -t 17 -t 127``, asked as root."""
    found = ["# dmidecode 3.4", "Getting SMBIOS data from sysfs.", "SMBIOS 2.8 present.", ""]
    found += ["Handle 0x0000, DMI type 0, 24 bytes", "BIOS Information" + _indented(bios(box)), ""]
    system = {"Manufacturer": "Dell Inc.", "Product Name": "PowerEdge M630", "Serial Number": box.serial}
    found += ["Handle 0x0100, DMI type 1, 27 bytes", "System Information" + _indented(system), ""]
    for slot in range(box.slots):
        found += [f"Handle 0x{0x1100 + slot:04X}, DMI type 17, 40 bytes", _module(box, slot), ""]
    found += ["Handle 0x7F00, DMI type 127, 4 bytes", "End Of Table", ""]
    return "\n".join(found) + "\n"


def _module(box: Box, slot: int) -> str:
    # The last slots are the empty ones: "A8" reads more like a seating fault than "A1".
    there = slot < box.slots - box.missing
    size = f"{box.dimm // 2**20} MB" if box.dimm % _GIB else f"{box.dimm // _GIB} GB"
    known = {
        "Total Width": "72 bits" if there else "Unknown",
        "Data Width": "64 bits" if there else "Unknown",
        "Size": size if there else "No Module Installed",
        "Form Factor": "DIMM",
        "Set": str(slot // 4 + 1),
        "Locator": f"A{slot + 1}",
        "Bank Locator": "Not Specified",
        "Type": "DDR4" if there else "Unknown",
        "Type Detail": "Synchronous Registered (Buffered)" if there else "Unknown",
        "Speed": "2133 MT/s" if there else "Unknown",
        "Manufacturer": "00AD00B300AD" if there else "Not Specified",
        "Serial Number": f"{int(noise(box.node.id, slot, spread=1.0) * 2**32):08X}" if there else "Not Specified",
        "Part Number": "HMA42GR7MFR4N-TF" if there else "Not Specified",
        "Rank": "2" if there else "Unknown",
        "Configured Memory Speed": "2133 MT/s" if there else "Unknown",
    }
    return "Memory Device" + _indented(known)


def _indented(fields: Mapping[str, object]) -> str:
    return "".join(f"\n\t{name}: {value}" for name, value in fields.items())


def lsblk_json(box: Box) -> str:
    """``lsblk -J -b -d -o NAME,SIZE,MODEL,SERIAL,VENDOR,TYPE,ROTA``."""
    devices = [_disk(box, index, system=index < 2) for index in range(box.disks)]
    return _json({"blockdevices": devices})


def _disk(box: Box, index: int, *, system: bool) -> dict[str, object]:
    letter = "abcdefghijklmnopqrstuvwxyz"[index % 26]
    name = f"sd{letter}"
    return {
        "name": name,
        "size": 400_088_457_216 if system else 4_000_787_030_016,
        "model": "INTEL SSDSC2BX400G4R" if system else "ST4000NM0023",
        "serial": f"{box.serial}{index:02d}",
        "vendor": "ATA     " if system else "SEAGATE ",
        "type": "disk",
        "rota": not system,
    }


def _json(document: object) -> str:
    return json.dumps(document, indent=3) + "\n"


def links_json(box: Box) -> str:
    """``ip -j -d link``: loopback and the data port."""
    mtu = int(box.number("nic.mtu", 1500))
    ether: dict[str, object] = {
        "qdisc": "mq",
        "linkmode": "DEFAULT",
        "group": "default",
        "txqlen": 1000,
        "link_type": "ether",
    }
    ether["operstate"], up = "UP", ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"]
    local = {"qdisc": "noqueue", "operstate": "UNKNOWN", "link_type": "loopback", "address": "00:00:00:00:00:00"}
    found = [
        {"ifindex": 1, "ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "mtu": 65536, **local},
        {"ifindex": 2, "ifname": box.interface, "flags": up, "mtu": mtu, **ether, "address": box.mac},
    ]
    return json.dumps(found, separators=(",", ":")) + "\n"


def numactl(box: Box) -> str:
    """``numactl --hardware``: half of everything in each of two nodes."""
    cores, total = int(box.number("cpu.cores", 24)), box.dimm * (box.slots - box.missing) // 2**20
    lines = ["available: 2 nodes (0-1)"]
    for number in (0, 1):
        cpus = " ".join(str(cpu) for cpu in range(number * cores // 2, (number + 1) * cores // 2))
        size = int(total * 0.49)
        lines += [
            f"node {number} cpus: {cpus}",
            f"node {number} size: {size} MB",
            f"node {number} free: {size - 2100} MB",
        ]
    return "\n".join([*lines, "node distances:", "node   0   1 ", "  0:  10  21 ", "  1:  21  10 "]) + "\n"


def governors(box: Box) -> str:
    """What each processor's ``scaling_governor`` holds, as ``grep -H`` shows it."""
    path, governor = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", box.text("cpu.governor", "performance")
    return "".join(f"{path.format(cpu)}:{governor}\n" for cpu in range(int(box.number("cpu.cores", 24))))


def ethtool(box: Box) -> str:
    """``ethtool INTERFACE``."""
    speed = int(box.number("nic.speed", 1.25e9) * 8 / 1e6)
    return (
        f"Settings for {box.interface}:\n"
        "\tSupported ports: [ FIBRE ]\n"
        f"\tSupported link modes:   {speed}baseCR/Full\n"
        "\tSupported pause frame use: Symmetric\n"
        "\tSupports auto-negotiation: Yes\n"
        "\tSupported FEC modes: None RS BASER\n"
        f"\tAdvertised link modes:  {speed}baseCR/Full\n"
        f"\tSpeed: {speed}Mb/s\n"
        "\tDuplex: Full\n"
        "\tAuto-negotiation: on\n"
        "\tPort: Direct Attach Copper\n"
        "\tPHYAD: 0\n"
        "\tTransceiver: internal\n"
        "\tLink detected: yes\n"
    )


def ethtool_driver(box: Box) -> str:
    """``ethtool -i INTERFACE``."""
    return (
        f"driver: {box.text('nic.driver', 'mlx5_core')}\n"
        f"version: {box.text('kernel.release', '6.1.0-28-amd64')}\n"
        f"firmware-version: {box.text('nic.firmware', '14.32.1010')}\n"
        "expansion-rom-version: \nbus-info: 0000:03:00.0\nsupports-statistics: yes\nsupports-test: yes\n"
        "supports-eeprom-access: no\nsupports-register-dump: no\nsupports-priv-flags: yes\n"
    )


OS_RELEASE = (
    'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\n'
    'VERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\nHOME_URL="https://www.debian.org/"\n'
)
"""``/etc/os-release`` of every node."""
