"""Owns the list of sources that can be read alone, and which exit statuses of theirs are answers all the same."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from probes.api import Fact
from probes.builtin.inventory import (
    bonding,
    cmdline,
    cpuinfo,
    cpupower,
    df,
    dmidecode,
    ethtool,
    hwloc,
    ibstat,
    interrupts,
    ip,
    ipmitool,
    kernel,
    lldpctl,
    lsblk,
    lscpu,
    lshw,
    mdstat,
    meminfo,
    mounts,
    numactl,
    omreport,
    os_release,
    perfquery,
    smartctl,
    softirqs,
    storcli,
    sysctl,
    sysfs,
    virt,
)

Read = Callable[[str], Sequence[Fact]]

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

_PARSERS: Mapping[str, Read] = {
    "bonding": bonding.parse,
    "cmdline": cmdline.parse,
    "cpuinfo": cpuinfo.parse,
    "cpupower": cpupower.parse,
    "df": df.parse,
    "dmidecode": dmidecode.parse,
    "ethtool": ethtool.parse,
    "hwloc": hwloc.parse,
    "ibstat": ibstat.parse,
    "interrupts": interrupts.parse,
    "ip": ip.parse,
    "ipmitool": ipmitool.parse,
    "irq": interrupts.parse_bindings,
    "kernel": kernel.parse,
    "lldpctl": lldpctl.parse,
    "lsblk": lsblk.parse,
    "lscpu": lscpu.parse,
    "lshw": lshw.parse,
    "mdstat": mdstat.parse,
    "meminfo": meminfo.parse,
    "mounts": mounts.parse,
    "numactl": numactl.parse,
    "omreport": omreport.parse,
    "os-release": os_release.parse,
    "perfquery": perfquery.parse,
    "smartctl": smartctl.parse,
    "softirqs": softirqs.parse,
    "storcli": storcli.parse,
    "sysctl": sysctl.parse,
    "sysfs": sysfs.parse,
    "virt": virt.parse,
}

_ANSWERED: Mapping[str, Callable[[int], bool]] = {
    "df": lambda status: status == 1,  # one file system could not be asked
    "smartctl": lambda status: not status & smartctl.NOT_READ,
    "sysctl": lambda status: status in (1, 255),  # one key is not known
    "virt": lambda status: status == 1,  # what systemd-detect-virt says on bare metal
}


def answered(source: str, status: int) -> bool:
    """Whether ``source`` gave an answer although it ended with ``status``; for some tools that is no failure."""
    return status == 0 or (source in _ANSWERED and _ANSWERED[source](status))


def _without_colours(parse: Read) -> Read:
    """``parse`` on a text whose colour codes are taken out first, wherever they stand."""
    return lambda text: parse(_COLOUR.sub("", text.removeprefix("\ufeff")))


SOURCES: Mapping[str, Read] = MappingProxyType({name: _without_colours(parse) for name, parse in _PARSERS.items()})
"""Source name to its parser: text in, facts out, ProbeOutputError when there are none."""
