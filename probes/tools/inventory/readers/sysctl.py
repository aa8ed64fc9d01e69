"""``sysctl`` output (``key = value``) as facts about the kernel's settings that bear on performance.

``sysctl`` ends with 1 (in some versions 255) where it does not know one of the keys; it printed the others.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Unit
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.readers.numbers import parse_count
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, make_text

EXPECTED = "lines 'key = value' of sysctl"

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

_IN_BYTES = re.compile(r"net\.core\.(?:[rw]mem_(?:max|default)|optmem_max)")
_NUMBERS = {
    "net.ipv4.tcp_rmem": 3, "net.ipv4.tcp_wmem": 3, "net.ipv4.tcp_mem": 3, "net.ipv4.udp_mem": 3,
    "net.ipv4.ip_local_port_range": 2,
}  # fmt: skip
"""How many numbers a value has that has several: with fewer it was cut."""

_OWN = re.compile(r"[\w./*-]+ ?= ?|sysctl: |#|$")


def find_facts(text: str) -> Iterator[Fact]:
    """``sysctl.KEY``: numbers where there is one, else the words with single blanks between them."""
    for key, value in split_fields(keep_whole_lines(read_lines(text), _OWN), "="):
        name, number, words = key.replace("/", "."), parse_count(value), len(value.split())
        if name not in KEYS or words != _NUMBERS.get(name, words):
            continue
        if number is None:
            yield from make_text(f"sysctl.{name}", value)
        else:
            unit = Unit.BYTE if _IN_BYTES.fullmatch(name) else Unit.ONE
            yield Fact(f"sysctl.{name}", float(number), unit)
