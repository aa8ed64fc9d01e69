"""Reads ``sysctl`` output (``key = value``) as facts about the kernel's settings that bear on performance.

``sysctl`` ends with 1 (in some versions 255) where it knows one of the keys not; it printed the others.
"""

import re
from collections.abc import Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import fields, whole, whole_lines
from probes.builtin.inventory.facts import once, said, settled, some

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
"""What is asked for and read; the rest of ``sysctl -a`` is passed over."""

_BYTES = frozenset(
    (
        "net.core.rmem_max", "net.core.wmem_max", "net.core.rmem_default", "net.core.wmem_default",
        "net.core.optmem_max",
    )
)  # fmt: skip
_NUMBERS = {
    "net.ipv4.tcp_rmem": 3, "net.ipv4.tcp_wmem": 3, "net.ipv4.tcp_mem": 3, "net.ipv4.udp_mem": 3,
    "net.ipv4.ip_local_port_range": 2,
}  # fmt: skip
"""How many numbers a value has that has several: with fewer it was cut."""

_OWN = re.compile(r"[\w./*-]+ ?= ?|sysctl: |#|$")


def parse(text: str) -> Sequence[Fact]:
    """``sysctl.KEY``: numbers where there is one, else the words with single blanks between them."""
    found: list[Fact] = []
    for key, value in fields(settled(whole_lines(text), _OWN), "="):
        name, number = key.replace("/", "."), whole(value)
        if name not in KEYS or len(value.split()) != _NUMBERS.get(name, len(value.split())):
            continue
        if number is None:
            found += said(f"sysctl.{name}", value)
        else:
            found.append(Fact(f"sysctl.{name}", float(number), Unit.BYTE if name in _BYTES else Unit.ONE))
    return some(once(found), "lines 'key = value' of sysctl")
