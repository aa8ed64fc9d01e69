"""Fabrics made by hand for the screens: a mini of eight leaves, a chassis machine, ten thousand nodes."""

from types import MappingProxyType

from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import (
    Fabric,
    Hardware,
    Link,
    LinkId,
    Node,
    NodeId,
    NodeRole,
    Stage,
    Suite,
    Switch,
    SwitchId,
    SwitchRole,
)

G = 1e9 / 8.0
BLADE = Hardware("m630", MappingProxyType({"memory.total": 128 * 2**30, "cpu.model": "E5-2680v3"}), 960e9, "AVX2")
SERVER = Hardware("r730", MappingProxyType({"memory.total": 64 * 2**30}))


class Builder:
    """Collects the parts of a fabric in file order."""

    def __init__(self, name: str, *, simulated: bool = True) -> None:
        self.name = name
        self.simulated = simulated
        self.nodes: dict[NodeId, Node] = {}
        self.switches: dict[SwitchId, Switch] = {}
        self.links: dict[LinkId, Link] = {}

    def switch(self, name: str, role: SwitchRole, model: str | None = None) -> None:
        """Add a switch."""
        self.switches[SwitchId(name)] = Switch(SwitchId(name), role, model)

    def node(self, name: str, role: NodeRole = NodeRole.COMPUTE) -> None:
        """Add a node."""
        hardware = BLADE if role is NodeRole.COMPUTE else SERVER
        self.nodes[NodeId(name)] = Node(NodeId(name), role, hardware, f"{name}.mgmt", f"{name}.data")

    def link(self, a: str, b: str, gigabits: float, count: int = 1) -> None:
        """Add a link or LAG; ``a`` is the lower end."""
        link = Link(LinkId(f"{a}--{b}"), a, b, gigabits * G, count=count)
        self.links[link.id] = link

    def build(self) -> Fabric:
        """The finished fabric."""
        everyone = tuple(self.nodes)
        suite = Suite("acceptance", (Stage("inventory", everyone, MappingProxyType({})),))
        return Fabric(
            name=self.name,
            nodes=MappingProxyType(self.nodes),
            switches=MappingProxyType(self.switches),
            links=MappingProxyType(self.links),
            criteria=(),
            suites=MappingProxyType({"acceptance": suite}),
            access=Access(),
            mtu=9000,
            text="",
            simulated=self.simulated,
        )


def mini(leaves: int = 8, per_leaf: int = 16, *, simulated: bool = True) -> Fabric:
    """Two spines, ``leaves`` leaves of ``per_leaf`` nodes, storage on both spines, management on one."""
    made = Builder("mini", simulated=simulated)
    for spine in ("spine1", "spine2"):
        made.switch(spine, SwitchRole.SPINE, "S6000")
    made.link("spine1", "spine2", 40, 3)
    number = 0
    for leaf in range(1, leaves + 1):
        made.switch(f"leaf{leaf}", SwitchRole.LEAF, "S4048")
        for spine in ("spine1", "spine2"):
            made.link(f"leaf{leaf}", spine, 40, 2)
        for _ in range(per_leaf):
            number += 1
            made.node(f"n{number:03d}")
            made.link(f"n{number:03d}", f"leaf{leaf}", 10, 2)
    for index in range(1, 5):
        made.node(f"st{index}", NodeRole.STORAGE)
        for spine in ("spine1", "spine2"):
            made.link(f"st{index}", spine, 10, 2)
    for index in (1, 2):
        made.node(f"m{index}", NodeRole.MANAGEMENT)
        made.link(f"m{index}", "spine1", 1)
    return made.build()


def chassis() -> Fabric:
    """Five top-of-rack switches of four chassis, each with two switches, sixteen blades on both."""
    made = Builder("jetstream")
    for spine in ("sp1", "sp2"):
        made.switch(spine, SwitchRole.SPINE, "S6000")
    made.link("sp1", "sp2", 40, 3)
    for tor in range(1, 6):
        made.switch(f"t{tor}", SwitchRole.LEAF, "S6000")
        for spine in ("sp1", "sp2"):
            made.link(f"t{tor}", spine, 40, 2)
        for box in range(tor * 4 - 3, tor * 4 + 1):
            for side in "ab":
                made.switch(f"c{box:02d}{side}", SwitchRole.CHASSIS, "MXL")
                made.link(f"c{box:02d}{side}", f"t{tor}", 40, 2)
            for blade in range(1, 17):
                made.node(f"c{box:02d}n{blade:02d}")
                for side in "ab":
                    made.link(f"c{box:02d}n{blade:02d}", f"c{box:02d}{side}", 10)
    for index in range(1, 21):
        made.node(f"st{index:02d}", NodeRole.STORAGE)
        for spine in ("sp1", "sp2"):
            made.link(f"st{index:02d}", spine, 10)
    for index in range(1, 8):
        made.node(f"m{index}", NodeRole.MANAGEMENT)
        made.link(f"m{index}", "sp1", 1)
    return made.build()


def ten_thousand(pods: int = 10, leaves: int = 32, per_leaf: int = 32) -> Fabric:
    """Pods of leaves under two pod switches each, and four cores."""
    made = Builder("meridian")
    cores = [f"core{index}" for index in range(1, 5)]
    for core in cores:
        made.switch(core, SwitchRole.CORE)
    for pod in range(1, pods + 1):
        for side in "ab":
            made.switch(f"p{pod:02d}{side}", SwitchRole.SPINE)
            for core in cores:
                made.link(f"p{pod:02d}{side}", core, 100, 32)
        for leaf in range(1, leaves + 1):
            name = f"p{pod:02d}l{leaf:02d}"
            made.switch(name, SwitchRole.LEAF)
            for side in "ab":
                made.link(name, f"p{pod:02d}{side}", 100, 4)
            for index in range(1, per_leaf + 1):
                made.node(f"{name}n{index:02d}")
                made.link(f"{name}n{index:02d}", name, 50)
    return made.build()
