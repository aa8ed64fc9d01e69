"""The specification of a laboratory, in numbers that a person chooses.

Owned here: sizes, rates and names that are parameters, and their limits.
Refused here: addresses and interface names (`plan.py` derives them) and anything running.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchconsole.topology.copying import replace
from tests.lab.host import LabError

# Linux cuts interface names at 15 characters; "-st250" and the bridge must still fit.
_PREFIX = re.compile(r"[a-z][a-z0-9]{0,7}")
_NETWORK = re.compile(r"10\.(\d{1,3})")
_MOST_PER_SEGMENT = 240  # hosts .11 to .250 of a /24


@dataclass(frozen=True)
class StorageServer:
    """A file server on one spine, numbered from 1."""

    name: str
    spine: int


@dataclass(frozen=True)
class LabSpec:
    """A spine/leaf fabric; rates are Mbit/s and stand for 100 times as much.

    `slurm`: a Slurm cluster runs on it, its controller on n1. Without that no node has a configuration.
    """

    leaves: int = 2
    spines: int = 2
    nodes_per_leaf: int = 4
    members: int = 2
    node_mbit: int = 100
    member_mbit: int = 100
    storage_mbit: int = 400
    management_mbit: int = 200
    storage: tuple[StorageServer, ...] = field(default=(StorageServer("st1", 1), StorageServer("st2", 2)))
    scratch_mib: int = 256
    disk_mb_per_second: int = 16
    prefix: str = "bl"
    bridge: str = "benchlab0"
    management: str = "10.213"
    data: str = "10.214"
    slurm: bool = False

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise LabError("this laboratory cannot be built: " + "; ".join(problems))

    def _problems(self) -> list[str]:
        checks = [
            (1 <= self.leaves <= 150, "leaves must be 1 to 150"),
            (1 <= self.spines <= 30, "spines must be 1 to 30"),
            (1 <= self.nodes_per_leaf <= _MOST_PER_SEGMENT, "nodes_per_leaf must be 1 to 240"),
            (1 <= self.members <= 8, "members must be 1 to 8"),
            (self.leaves * self.spines * self.members <= 1500, "too many trunk members"),
            (min(self._rates()) >= 1, "every rate must be at least 1 Mbit/s"),
            (self.scratch_mib >= 16, "scratch_mib must be at least 16"),
            (len(self.storage) <= _MOST_PER_SEGMENT, "at most 240 storage servers"),
            (_PREFIX.fullmatch(self.prefix) is not None, "prefix: up to 8 lower-case letters"),
            (len(self.bridge) <= 15, "bridge: at most 15 characters"),
            (self.management != self.data, "management and data must differ"),
        ]
        found = [text for holds, text in checks if not holds]
        found += [f"network {n} is not like 10.213" for n in self._bad_networks()]
        return found + self._storage_problems()

    def _rates(self) -> tuple[int, ...]:
        return (self.node_mbit, self.member_mbit, self.storage_mbit, self.management_mbit)

    def _bad_networks(self) -> list[str]:
        def bad(network: str) -> bool:
            match = _NETWORK.fullmatch(network)
            return match is None or int(match[1]) > 255

        return [network for network in (self.management, self.data) if bad(network)]

    def _storage_problems(self) -> list[str]:
        names = [server.name for server in self.storage]
        found = [
            f"{server.name} sits on spine{server.spine}, which is not there"
            for server in self.storage
            if not 1 <= server.spine <= self.spines
        ]
        if len(set(names)) != len(names):
            found.append("two storage servers share a name")
        if not all(re.fullmatch(r"st\d{1,3}", name) for name in names):
            found.append("storage servers are named st1, st2 and so on")
        return found


def in_slot(spec: LabSpec, slot: int) -> LabSpec:
    """The same laboratory under other names, so that several can exist at once."""
    if slot == 0:
        return spec
    return replace(spec, prefix=f"bl{slot}", bridge=f"benchlab{slot}", management=f"10.{213 + 2 * slot}")


SPECS: dict[str, LabSpec] = {
    # 4 nodes of 100 against 4 uplinks of 100: nothing is oversubscribed.
    "small": LabSpec(),
    # 8 nodes of 100 against 4 uplinks of 100: two to one.
    "jet": LabSpec(leaves=4, nodes_per_leaf=8),
    # Eight nodes in two leaves, and Slurm on them.
    "slurm": LabSpec(slurm=True, storage=()),
    # 264 nodes, for what only shows in a crowd; logins alone take most of a minute.
    "big": LabSpec(leaves=8, spines=4, nodes_per_leaf=33, scratch_mib=64),
}
