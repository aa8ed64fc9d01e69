"""Owns the simulated answer to the inventory script: its marks, its sources, their order.

The script is known by the name it gives itself; its text is not read. Each source is what
``hardware`` and ``upkeep`` say the tool or file would show. Refuses to know faults: the box carries them.
"""

from collections.abc import Callable, Mapping

from console.demo import hardware, upkeep
from console.demo.hardware import Box

_SETTINGS = {
    "net.core.rmem_max": "268435456",
    "net.core.wmem_max": "268435456",
    "net.core.rmem_default": "212992",
    "net.core.wmem_default": "212992",
    "net.core.netdev_max_backlog": "250000",
    "net.core.somaxconn": "4096",
    "net.core.default_qdisc": "fq",
    "net.core.busy_poll": "0",
    "net.ipv4.tcp_rmem": "4096\t87380\t134217728",
    "net.ipv4.tcp_wmem": "4096\t65536\t134217728",
    "net.ipv4.tcp_mem": "1540185\t2053581\t3080370",
    "net.ipv4.tcp_congestion_control": "cubic",
    "net.ipv4.tcp_mtu_probing": "1",
    "net.ipv4.tcp_window_scaling": "1",
    "net.ipv4.tcp_timestamps": "1",
    "net.ipv4.tcp_sack": "1",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_slow_start_after_idle": "0",
    "vm.swappiness": "10",
    "vm.zone_reclaim_mode": "0",
    "vm.nr_hugepages": "0",
    "vm.overcommit_memory": "0",
    "kernel.numa_balancing": "0",
}


def _kernel(box: Box) -> str:
    return f"Linux {box.text('kernel.release', '6.1.0-28-amd64')} x86_64\n"


def _nics(box: Box) -> str:
    return f"Settings for {box.interface}:\n" + hardware.ethtool_driver(box) + hardware.ethtool(box)


def _settings(box: Box) -> str:
    return "".join(f"{key} = {value}\n" for key, value in _SETTINGS.items())


SOURCES: Mapping[str, Callable[[Box], str]] = {
    "kernel": _kernel,
    "os-release": lambda box: hardware.OS_RELEASE,
    "lscpu": hardware.lscpu_json,
    "meminfo": hardware.meminfo,
    "numactl": hardware.numactl,
    "lsblk": hardware.lsblk_json,
    "ip": hardware.links_json,
    "ethtool": _nics,
    "bonding": lambda box: "",
    "lldpctl": lambda box: '{"lldp": [{}]}\n',
    "dmidecode": hardware.dmidecode,
    "sysctl": _settings,
    "sysfs": hardware.governors,
    "cmdline": upkeep.cmdline,
    "mounts": upkeep.mounts,
    "df": upkeep.df,
    "mdstat": upkeep.mdstat,
    "virt": upkeep.virt,
    "hwloc": upkeep.hwloc,
    "interrupts": upkeep.interrupts,
    "softirqs": upkeep.softirqs,
    "irq": upkeep.bindings,
    "smartctl": upkeep.smartctl,
    "ipmitool": upkeep.ipmitool,
}
"""Source name to what a node says there, in the order of the script."""


def answers(box: Box, word: str, spoil: Callable[[bytes], bytes] = bytes) -> bytes:
    """Every source between its marks, which carry ``word``; ``spoil`` may touch what is between them."""
    parts: list[bytes] = []
    for name, source in SOURCES.items():
        parts += [f"benchconsole-{word} begin {name}\n".encode(), spoil(source(box).encode())]
        parts += [f"\nbenchconsole-{word} end {name} 0\n".encode()]
    return b"".join(parts)
