"""Reads ``sysctl`` output (``key = value``) as facts about the kernel's settings that bear on performance."""

from collections.abc import Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import fields, whole, whole_lines
from probes.builtin.inventory.facts import said, some

KEYS = (
    "net.core.rmem_max", "net.core.wmem_max", "net.core.rmem_default", "net.core.wmem_default",
    "net.core.netdev_max_backlog", "net.core.somaxconn", "net.core.default_qdisc", "net.core.busy_poll",
    "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mem", "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mtu_probing", "net.ipv4.tcp_window_scaling", "net.ipv4.tcp_timestamps", "net.ipv4.tcp_sack",
    "net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_low_latency",
    "vm.swappiness", "vm.zone_reclaim_mode", "vm.nr_hugepages", "vm.overcommit_memory", "kernel.numa_balancing",
)  # fmt: skip
"""What is asked for and read; the rest of ``sysctl -a`` is passed over."""

_BYTES = frozenset(("net.core.rmem_max", "net.core.wmem_max", "net.core.rmem_default", "net.core.wmem_default"))


def parse(text: str) -> Sequence[Fact]:
    """``sysctl.KEY``: numbers where there is one, else the words with single blanks between them."""
    found: list[Fact] = []
    for key, value in fields(whole_lines(text), "="):
        number = whole(value)
        if key not in KEYS:
            continue
        if number is None:
            found += said(f"sysctl.{key}", value)
        else:
            found.append(Fact(f"sysctl.{key}", float(number), Unit.BYTE if key in _BYTES else Unit.ONE))
    return some(found, "lines 'key = value' of sysctl")
