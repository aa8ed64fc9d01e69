"""Facts that a running system tells of itself: the distribution, the machine, the kernel's start and settings.

``sysctl`` ends with 1 (in some versions 255) where it does not know one of the keys; it printed the others. Files under
``/sys`` stand in for tools that are missing or need root. ``systemd-detect-virt`` ends with 1 where it prints ``none``:
that is its answer. Alone it names only the innermost of a container in a virtual machine; our script asks for both.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.lines import find_match, find_matches, read_lines, shorten, split_fields
from benchconsole.probes.readers.numbers import parse_count
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, label_part, make_quantity, make_text

_RELEASE_NAMES = {"PRETTY_NAME": "os.name", "ID": "os.id", "VERSION_ID": "os.version"}
_ESCAPED = re.compile(r"\\([\"$`\\])")
_RELEASE = re.compile(r"[A-Z][\w ]+ release [0-9]+(?:\.[0-9]+)* \([^()]+\)\s*", re.ASCII)
"""``Scientific Linux release 6.3 (Carbon)``; systems of that age have nothing else."""

_MACHINES = frozenset(
    (
        "kvm", "qemu", "amazon", "zvm", "vmware", "microsoft", "oracle", "powervm", "xen", "bochs", "uml", "parallels",
        "bhyve", "qnx", "acrn", "apple", "sre", "google", "vm-other", "hyperv", "virtualbox", "aws", "xen-hvm",
        "xen-domU",
    )
)  # fmt: skip
_CONTAINERS = frozenset(
    ("openvz", "lxc", "lxc-libvirt", "systemd-nspawn", "docker", "podman", "rkt", "wsl", "proot", "pouch")
)
_VIRTUAL = re.compile(r"\s*(?:(?P<kind>vm|container): )?(?P<word>[A-Za-z0-9-]+)\s*")

_COMMAND_LINE = re.compile(r"(?:^|\s)(?:BOOT_IMAGE|root|console|init|rdinit|initrd|boot|nfsroot|ip)=\S")
_BEARING = frozenset(
    (
        "mitigations", "spectre_v2", "isolcpus", "nohz_full", "rcu_nocbs", "nosmt", "maxcpus",
        "intel_idle.max_cstate", "processor.max_cstate", "intel_pstate", "amd_pstate", "cpufreq.default_governor",
        "idle", "iommu", "intel_iommu", "amd_iommu", "hugepages", "hugepagesz",
        "default_hugepagesz", "transparent_hugepage", "numa_balancing", "numa",
        "mem", "pcie_aspm", "audit", "selinux", "tsc", "clocksource", "nopti", "nospectre_v2", "elevator", "noht",
        "skew_tick",
    )
)  # fmt: skip

KEYS = (
    "net.core.rmem_max", "net.core.wmem_max", "net.core.rmem_default", "net.core.wmem_default",
    "net.core.netdev_max_backlog", "net.core.somaxconn", "net.core.default_qdisc", "net.core.busy_poll",
    "net.core.busy_read", "net.core.netdev_budget", "net.core.optmem_max", "net.core.rps_sock_flow_entries",
    "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mem", "net.ipv4.udp_mem",
    "net.ipv4.tcp_congestion_control", "net.ipv4.tcp_available_congestion_control", "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_mtu_probing", "net.ipv4.tcp_window_scaling", "net.ipv4.tcp_timestamps", "net.ipv4.tcp_sack",
    "net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_low_latency",
    "net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_max_syn_backlog", "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_no_pmtu_disc", "net.ipv4.conf.all.arp_filter", "net.ipv4.conf.all.rp_filter",
    "vm.swappiness", "vm.zone_reclaim_mode", "vm.nr_hugepages", "vm.overcommit_memory", "vm.dirty_ratio",
    "vm.dirty_background_ratio", "kernel.numa_balancing", "kernel.sched_autogroup_enabled", "kernel.nmi_watchdog",
)  # fmt: skip
"""The settings that are asked for and read; the rest of ``sysctl -a`` is passed over."""

_IN_BYTES = re.compile(r"net\.core\.(?:[rw]mem_(?:max|default)|optmem_max)")
_NUMBERS = {
    "net.ipv4.tcp_rmem": 3, "net.ipv4.tcp_wmem": 3, "net.ipv4.tcp_mem": 3, "net.ipv4.udp_mem": 3,
    "net.ipv4.ip_local_port_range": 2,
}  # fmt: skip
"""How many numbers a value has that has several: with fewer it was cut."""
_OF_SYSCTL = re.compile(r"[\w./*-]+ ?= ?|sysctl: |#|$")

_DMI = "/sys/class/dmi/id/"
_DMI_NAMES = {
    f"{_DMI}bios_vendor": "bios.vendor", f"{_DMI}bios_version": "bios.version", f"{_DMI}bios_date": "bios.date",
    f"{_DMI}sys_vendor": "system.vendor", f"{_DMI}product_name": "system.product",
    f"{_DMI}product_serial": "system.serial",
}  # fmt: skip
_NET = re.compile(r"(?P<place>/sys/class/net/(?P<nic>[^/\s]+)/)(?P<name>speed|duplex|mtu|operstate|carrier)")
_CPU = re.compile(r"/sys/devices/system/cpu/cpu(?P<cpu>[0-9]+)/cpufreq/scaling_governor")
_UNKNOWN_SPEEDS = ("0", "4294967295")
"""Speeds that a link that is down answers besides -1."""


def find_release(text: str) -> list[Fact]:
    """``os.name``, ``os.id`` and ``os.version``; values are unquoted and never evaluated."""
    lines = read_lines(text)
    fields = [(key, _unquote(value)) for key, value in split_fields(lines, "=") if key in _RELEASE_NAMES]
    release = find_match(_RELEASE, lines)
    # the other form only where nothing is told in this one
    return [fact for key, value in fields for fact in make_text(_RELEASE_NAMES[key], value)] or make_text(
        "os.name", release and release[0]
    )


def _unquote(value: str) -> str:
    """The text that a shell would read; none where a quotation does not end."""
    if value[:1] not in ('"', "'"):
        return value
    return _ESCAPED.sub(r"\1", value[1:-1]) if len(value) >= 2 and value.endswith(value[0]) else ""


def find_virtualization(text: str) -> Iterator[Fact]:
    """``virt.machine`` (``bare metal``, ``kvm`` ...) and ``virt.container`` (``no``, ``docker`` ...)."""
    for line in find_matches(_VIRTUAL, read_lines(text)):
        kind, word = line["kind"], line["word"]
        if kind != "container" and (word in _MACHINES or word == "none"):
            yield Fact("virt.machine", "bare metal" if word == "none" else word)
        elif (kind != "vm" and word in _CONTAINERS) or (kind == "container" and word == "none"):
            yield Fact("virt.container", "no" if word == "none" else word)


def find_command_line(text: str) -> Iterator[Fact]:
    """``kernel.command_line``, and ``kernel.parameter`` with the label ``parameter`` of those that bear on performance.

    A parameter without a value is ``yes``. Text with two such lines is refused: which one was it?
    """
    lines = [line.strip() for line in read_lines(text) if _COMMAND_LINE.search(line)]
    if len(set(lines)) != 1:
        return
    yield Fact("kernel.command_line", shorten(lines[0], 1000))
    for word in lines[0].partition(" -- ")[0].split():
        name, is_set, value = word.partition("=")
        if name in _BEARING:
            yield from make_text("kernel.parameter", value if is_set else "yes", label_part("parameter", name))


def find_settings(text: str) -> Iterator[Fact]:
    """``sysctl.KEY``: numbers where there is one, else the words with single blanks between them."""
    for key, value in split_fields(keep_whole_lines(read_lines(text), _OF_SYSCTL), "="):
        name, number, words = key.replace("/", "."), parse_count(value), len(value.split())
        if name not in KEYS or words != _NUMBERS.get(name, words):
            continue
        if number is None:
            yield from make_text(f"sysctl.{name}", value)
        else:
            unit = Unit.BYTE if _IN_BYTES.fullmatch(name) else Unit.ONE
            yield Fact(f"sysctl.{name}", float(number), unit)


def find_files(text: str) -> Iterator[Fact]:
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
        elif path in _DMI_NAMES:
            yield from make_text(_DMI_NAMES[path], value)


def _read_net(name: str, value: str, marks: Labels) -> list[Fact]:
    if name == "speed":
        return make_quantity("nic.speed", f"{value} Mb/s", Unit.BYTE_RATE, marks)
    if name == "mtu":
        return make_quantity("nic.mtu", f"{value} B", Unit.BYTE, marks)
    if name == "carrier":
        return make_text("nic.link", {"1": "yes", "0": "no"}.get(value), marks)
    return make_text("nic.duplex" if name == "duplex" else "nic.state", value.lower(), marks)
