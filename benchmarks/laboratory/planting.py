"""Kinds of faults that are planted in the laboratory, and what a true report says of each."""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes.model.detectable_loss import Fault
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeRole
from benchmarks.attribution import faults as cables
from tests.lab import LabSpec, StorageServer, faults

SUITE = """\
criteria:
  - {{metric: iperf3.throughput, at_least: 80 %, of: capacity}}
suites:
  default:
    - {{probe: inventory}}
    - {{probe: iperf3, design: neighbours, streams: 8, seconds: 3, congestion: "{congestion}"}}
    - {{probe: iperf3, design: trunks, streams: {streams}, seconds: 3, congestion: "{congestion}"}}
"""
"""The stages of the suite that comes with the console, shorter, and its usual bound."""


@dataclass(frozen=True, slots=True)
class TestedFabric:
    """A laboratory, and the streams that fill its widest way."""

    spec: LabSpec
    streams: int


FABRICS: Mapping[str, TestedFabric] = MappingProxyType(
    {
        "small": TestedFabric(LabSpec(), 8),
        # 2:1, 18 nodes. Both servers hang on one spine: the cables to the other are filled with three equal ones only.
        "lag": TestedFabric(
            LabSpec(
                leaves=4,
                member_mbit=50,
                storage_mbit=200,
                storage=(StorageServer("st1", 1), StorageServer("st2", 1)),
            ),
            16,
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Expected:
    """A fault as findings should tell it: its element and cables, and the ``words`` that an exact finding has of it."""

    cables: cables.Fault
    words: str = ""


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """Faults of the laboratory, and what a true report says of them.

    ``is_late``: planted when the ``node`` first sends, not before the run. ``node`` gives no numbers then: its
    failures, with ``words``, are what a report must name, and no failure of another node. ``as_detectable`` is the kind
    of fault by which a report tells whether it would have been seen.
    """

    injected: tuple[faults.Fault, ...]
    expected: tuple[Expected, ...] = ()
    node: str = ""
    words: str = ""
    is_late: bool = False
    as_detectable: Fault | None = None

    @property
    def harmed(self) -> frozenset[str]:
        """The nodes whose own fault it is."""
        return frozenset({self.node, *(each.cables.element for each in self.expected)})


def plant_slow_nic(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """30 % of a compute node's rate, one way."""
    return _slow_nic(fabric, _draw_node(fabric, chance), chance)


def plant_member_down(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """One member of a LAG pulled, and routed round."""
    return _pull_member(fabric, _draw_trunk(fabric, chance), chance)


def plant_member_half(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """Half of one member's rate, both ways."""
    return _slow_member(fabric, chance, 50)


def plant_member_slow(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """10 % of one member's rate, both ways."""
    return _slow_member(fabric, chance, 10)


def plant_slow_leaf(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """Half of the rate of every port of a leaf, both ways."""
    leaf = chance.choice(sorted(name for name in fabric.switches if name.startswith("leaf")))
    fault = cables.Fault(cables.FaultKind.SWITCH, leaf, _list_cables(fabric, leaf), {})
    return PlantedFault((faults.SlowSwitch(leaf, 50),), (Expected(fault),), as_detectable=Fault.SWITCH_HALF)


def plant_loss(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """2 % of packets lost on a compute node's cable, both ways."""
    node = _draw_node(fabric, chance)
    fault = cables.Fault(cables.FaultKind.NIC, node, _list_cables(fabric, node), {})
    return PlantedFault((faults.CableLoss(node, 2),), (Expected(fault, r"\blos[st]|\bloses|\bretransmi|sent again"),))


def plant_nic_down(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """A compute node's data cable pulled; management reaches it."""
    node = _draw_node(fabric, chance)
    return PlantedFault((faults.NicDown(node),), node=node, words="no link")


def plant_dead_node(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """A compute node without power, from when it first sends."""
    node = _draw_node(fabric, chance)
    return PlantedFault((faults.KillNode(node),), node=node, words="no answer|lost", is_late=True)


def plant_dead_sshd(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """A compute node whose sshd ends with all its sessions when the node first sends, and does not come back."""
    node = _draw_node(fabric, chance)
    return PlantedFault((faults.DeadSshd(node),), node=node, words="refused|lost", is_late=True)


def plant_storage_and_lag(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """30 % of a storage server's rate, one way, and a member pulled of a LAG to its switch."""
    servers = sorted(node.id for node in fabric.nodes.values() if node.role is NodeRole.STORAGE)
    server = chance.choice(servers)
    (cable,) = fabric.links_at[server]
    slow = _slow_nic(fabric, server, chance)
    spine = cable.other(server)
    trunk = chance.choice(sorted(link.id for link in fabric.links_at[spine] if link.other(spine) in fabric.switches))
    pulled = _pull_member(fabric, trunk, chance)
    return PlantedFault((*slow.injected, *pulled.injected), (*slow.expected, *pulled.expected))


KINDS: Mapping[str, Callable[[Fabric, random.Random], PlantedFault]] = MappingProxyType(
    {
        "slow-nic": plant_slow_nic,
        "member-down": plant_member_down,
        "member-half": plant_member_half,
        "member-slow": plant_member_slow,
        "slow-leaf": plant_slow_leaf,
        "loss": plant_loss,
        "nic-down": plant_nic_down,
        "dead-node": plant_dead_node,
        "dead-sshd": plant_dead_sshd,
        "storage-and-lag": plant_storage_and_lag,
    }
)


def _draw_node(fabric: Fabric, chance: random.Random) -> str:
    return chance.choice(sorted(node.id for node in fabric.nodes.values() if node.role is NodeRole.COMPUTE))


def _draw_trunk(fabric: Fabric, chance: random.Random) -> str:
    return chance.choice(sorted(link.id for link in fabric.links.values() if link.a in fabric.switches))


def _slow_nic(fabric: Fabric, node: str, chance: random.Random) -> PlantedFault:
    way = chance.choice((faults.OUT, faults.IN))
    fault = cables.Fault(cables.FaultKind.NIC_ONE_WAY, node, _list_cables(fabric, node), {})
    expected = Expected(fault, rf"\b{way} only\b")
    return PlantedFault((faults.SlowNic(node, 30, way),), (expected,), as_detectable=Fault.NIC)


def _pull_member(fabric: Fabric, trunk: str, chance: random.Random) -> PlantedFault:
    link, member = fabric.links[LinkId(trunk)], _draw_member(fabric, trunk, chance)
    fault = cables.Fault(cables.FaultKind.MEMBER_LOST, trunk, frozenset({(trunk, member - 1)}), {})
    pulled = faults.MemberDown(link.a, link.b, member)
    return PlantedFault((pulled,), (Expected(fault),), as_detectable=Fault.MEMBER_LOST)


def _slow_member(fabric: Fabric, chance: random.Random, percent: int) -> PlantedFault:
    trunk = _draw_trunk(fabric, chance)
    link, member = fabric.links[LinkId(trunk)], _draw_member(fabric, trunk, chance)
    fault = cables.Fault(cables.FaultKind.CABLE, trunk, frozenset({(trunk, member - 1)}), {})
    slow = faults.MemberSlow(link.a, link.b, member, percent)
    detectable = Fault.MEMBER_HALF if percent >= 50 else Fault.MEMBER_LOST
    return PlantedFault((slow,), (Expected(fault),), as_detectable=detectable)


def _draw_member(fabric: Fabric, trunk: str, chance: random.Random) -> int:
    """The number of a member, from 1."""
    return chance.randrange(fabric.links[LinkId(trunk)].count) + 1


def _list_cables(fabric: Fabric, device: str) -> frozenset[cables.Member]:
    return frozenset((link.id, member) for link in fabric.links_at[device] for member in range(link.count))


def describe_faults(planted: Iterable[faults.Fault]) -> str:
    """Faults of the laboratory as they are printed."""
    return ", ".join(map(str, planted))
