"""Nodes that tell of themselves when the script of the inventory asks: the texts of its sources, and real SSH for them.

Each node of ``TellingCluster`` has an address of the loopback; ``home`` has an ssh_config that names them all.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.probes.testing.server import Manner, Reply, ScriptedSshd
from tests.topology.importers.sources import heard, told

Sources = Mapping[str, tuple[int, str]]
"""Source of the inventory to the exit status of its tool and what it printed."""

LSCPU = """\
Architecture:        x86_64
CPU(s):              64
Thread(s) per core:  2
Core(s) per socket:  16
Socket(s):           2
Model name:          Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz
"""
BONDED = """\
/proc/net/bonding/bond0:Ethernet Channel Bonding Driver: v6.1.0
/proc/net/bonding/bond0:Bonding Mode: {mode}
/proc/net/bonding/bond0:Currently Active Slave: {active}
/proc/net/bonding/bond0:MII Status: up
"""
MEMBER = """\
/proc/net/bonding/bond0:Slave Interface: {nic}
/proc/net/bonding/bond0:MII Status: up
/proc/net/bonding/bond0:Speed: 25000 Mbps
/proc/net/bonding/bond0:Aggregator ID: {aggregator}
"""


def describe_ports(addresses: Mapping[str, str]) -> str:
    """``ip -j addr`` for ports with an address each; empty for none."""
    ports = [
        {
            "ifname": nic, "flags": ["BROADCAST", "UP", "LOWER_UP"], "mtu": 9000, "operstate": "UP",
            "link_type": "ether", "address": "02:00:00:00:00:01",
            "addr_info": [{"family": "inet", "local": address, "prefixlen": 24}] if address else [],
        }
        for nic, address in addresses.items()
    ]  # fmt: skip
    return json.dumps(ports)


def describe_speeds(speeds: Mapping[str, int]) -> str:
    """``ethtool`` for ports with a speed in Mb/s each."""
    return "".join(
        f"Settings for {nic}:\n\tSpeed: {speed}Mb/s\n\tDuplex: Full\n\tLink detected: yes\n"
        for nic, speed in speeds.items()
    )


def describe_bond(mode: str, nics: Sequence[str], active: str = "None", aggregators: Sequence[int] = ()) -> str:
    """The file of ``bond0`` as the kernel writes it, behind its path."""
    numbers = aggregators or [1] * len(nics)
    members = (MEMBER.format(nic=nic, aggregator=number) for nic, number in zip(nics, numbers, strict=True))
    return BONDED.format(mode=mode, active=active) + "".join(members)


def tell(number: int, *, switch: str = "leaf1") -> dict[str, tuple[int, str]]:
    """The sources of a node with one port of 25 Gb/s at ``switch``."""
    return {
        "kernel": (0, "Linux 6.1.0 x86_64"),
        "lscpu": (0, LSCPU),
        "ip": (0, describe_ports({"eth0": f"10.0.0.{number}"})),
        "ethtool": (0, describe_speeds({"eth0": 25_000})),
        "lldpctl": (0, told(heard("eth0", switch, f"Eth{number}"))),
    }


def format_answer(argv: Sequence[str], sources: Sources) -> str:
    """The output of the inventory's script, with the text and the exit status of each source in ``sources``."""
    word = argv[4]
    return "".join(
        f"benchconsole-{word} begin {name}\n{text}\nbenchconsole-{word} end {name} {status}\n"
        for name, (status, text) in sources.items()
    )


class TellingCluster:
    """Nodes that answer real SSH inside ``with``; ``nodes`` are the sources of each, or how it meets a client."""

    def __init__(self, home: Path, nodes: Mapping[str, Sources | Manner]) -> None:
        self.home = home
        self._told = {f"127.94.7.{number}": each for number, each in enumerate(nodes.values(), 1)}
        self._names = dict(zip(nodes, self._told, strict=True))
        self._thread = LoopThread()
        self._opened = AsyncExitStack()

    def __enter__(self) -> Self:
        manners = {at: each if isinstance(each, Manner) else Manner.ANSWERS for at, each in self._told.items()}
        keys = self.home / ".ssh"
        sshd = ScriptedSshd(self._answer, manners, keys)

        async def open_up() -> None:
            await self._opened.enter_async_context(sshd)

        self._thread.submit(open_up).result(30)
        hosts = "".join(f"Host {name}\n    HostName {address}\n" for name, address in self._names.items())
        (keys / "config").write_text(f"{hosts}{(keys / 'ssh_config').read_text()}")
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(self._opened.aclose).result(30)
        self._thread.close()

    async def _answer(self, address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
        sources = self._told[address]
        assert not isinstance(sources, Manner)
        if "benchconsole-inventory" not in argv:
            return Reply(exit_status=127)
        return Reply(format_answer(argv, sources).encode())
