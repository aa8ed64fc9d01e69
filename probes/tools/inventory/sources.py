"""The sources that can be read alone: the reader of each, and the exit statuses of its tool that are answers."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes.api import Fact, ProbeOutputError
from benchconsole.probes.readers.lines import strip_colours
from benchconsole.probes.tools.inventory.facts import keep_first
from benchconsole.probes.tools.inventory.readers import (
    dmidecode,
    ethtool,
    fibre_channel,
    file_systems,
    infiniband,
    interfaces,
    interrupts,
    ipmitool,
    lldpctl,
    lsblk,
    lshw,
    processors,
    raid,
    smartctl,
    software,
    system,
)
from benchconsole.probes.tools.inventory.readers.line_tables import LINE_TABLES


@dataclass(frozen=True, slots=True)
class Source:
    """How the text of one source, without colour codes, becomes facts; of the same fact the first counts."""

    find_facts: Callable[[str], Iterable[Fact]]
    expected: str
    """The expected content of the text, as an error says it."""
    answered: Container[int] = (0,)
    """Exit statuses with which the tool gave an answer; some of other tools are no failure."""

    def __call__(self, text: str) -> Sequence[Fact]:
        """The facts in ``text``; ProbeOutputError when there are none."""
        facts = keep_first(self.find_facts(strip_colours(text)))
        if not facts:
            raise ProbeOutputError("nothing that could be read", self.expected)
        return facts


_OWN_READERS = {
    "bonding": Source(interfaces.find_bonds, "the lines of /proc/net/bonding"),
    "caches": Source(processors.find_caches, "lines 'path:value' of /sys/devices/system/cpu/cpu0/cache"),
    "cmdline": Source(system.find_command_line, "the one line of /proc/cmdline"),
    "cpuinfo": Source(processors.find_first_processor, "the entries of /proc/cpuinfo"),
    # 1: one file system could not be asked
    "df": Source(file_systems.find_usage, "the table of df -P, whose heading names its blocks", (0, 1)),
    "dmidecode": Source(dmidecode.find_facts, "the tables of dmidecode, which needs root"),
    "ethtool": Source(ethtool.find_facts, "the settings of ethtool"),
    "fibre-channel": Source(fibre_channel.find_ports, "'hosts: NUMBER' and lines 'path:value' of /sys/class/fc_host"),
    "ibstat": Source(infiniband.find_adapters, "the adapters of ibstat, which prints nothing where there is none"),
    "interrupts": Source(interrupts.find_interrupts, "the table of /proc/interrupts"),
    "ip": Source(interfaces.find_interfaces, "the interfaces of ip link"),
    "ipmitool": Source(ipmitool.find_facts, "the rows of ipmitool sdr or sensor"),
    "lldpctl": Source(lldpctl.find_facts, "the JSON of lldpctl -f json0"),
    "lsblk": Source(lsblk.find_facts, "the JSON of lsblk -J, its pairs or its table"),
    "lscpu": Source(processors.find_processors, "lscpu's table"),
    "lshw": Source(lshw.find_facts, "the JSON of lshw -json"),
    "modules": Source(software.find_modules, "lines '/sys/module/NAME/version:VERSION'"),
    "mounts": Source(file_systems.find_mounts, "the lines of /proc/mounts"),
    "omreport": Source(raid.find_omreport, "the blocks or the rows of omreport storage"),
    "os-release": Source(system.find_release, "the lines of /etc/os-release"),
    "perfquery": Source(infiniband.find_counters, "the counters of perfquery"),
    "services": Source(software.find_services, "lines 'irqbalance: yes' of services"),
    "smartctl": Source(
        smartctl.find_facts, "the JSON of smartctl -j, or the text of smartctl -i -H -A", smartctl.ANSWERED
    ),
    "softirqs": Source(interrupts.find_softirqs, "the table of /proc/softirqs"),
    "storcli": Source(raid.find_storcli, "the JSON of storcli /call show J with Status Success"),
    "sysctl": Source(system.find_settings, "lines 'key = value' of sysctl", (0, 1, 255)),  # one key is not known
    "sysfs": Source(system.find_files, "lines 'path:value' of files under /sys"),
    "versions": Source(software.find_versions, "lines 'PROGRAM: what it says of its version'"),
    "virt": Source(system.find_virtualization, "a word of systemd-detect-virt", (0, 1)),  # 1 on bare metal
}

_TABLES = {name: Source(table.find_facts, table.expected) for name, table in LINE_TABLES.items()}
SOURCES: Mapping[str, Source] = MappingProxyType(dict(sorted((_OWN_READERS | _TABLES).items())))
"""Source name to how it is read."""
