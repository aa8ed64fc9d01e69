"""Random fabrics: leaves and spines, each perhaps a pair, with LAGs, bonds, standby legs and a split line between sites."""

import random
from typing import Any

from hypothesis import strategies as st

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId

SPEEDS = ("10G", "25G", "40G")


@st.composite
def networks(draw: st.DrawFn) -> Fabric:
    """Two sites or one; every node reaches every other."""
    lines = ["schema: 1", "fabric: drawn", "network: {mtu: 9000}"]
    sites = draw(st.integers(1, 2))
    switches: dict[str, str] = {}
    nodes: dict[str, None] = {}
    links: list[str] = []
    mlags: dict[str, list[str]] = {}
    for site in range(1, sites + 1):
        spines = [f"spine{site}-{i}" for i in range(1, draw(st.integers(1, 3)) + 1)]
        switches.update(dict.fromkeys(spines, "spine"))
        if len(spines) == 2 and draw(st.booleans()):
            mlags[f"top{site}"] = spines
            links.append(f"{{from: {spines[0]}, to: {spines[1]}, speed: 40G, count: 2, lag: peer}}")
        for rack in range(1, draw(st.integers(1, 3)) + 1):
            _rack(draw, f"{site}-{rack}", spines, (switches, nodes, links, mlags))
        links += [
            f"{{from: {spine}, to: core{site}, speed: 40G, count: {draw(st.integers(1, 2))}}}" for spine in spines
        ]
        switches[f"core{site}"] = "core"
    if sites == 2:
        links.append("{from: core1, to: core2, speed: 100G, channels: {1: 50G, 2: 50G}}")
        members = [name for name in nodes if draw(st.booleans())]
        others = [name for name in nodes if name not in members]
        lines.append("vlans: {" + ", ".join(
            f'{vlan}: {{members: "{",".join(names)}"}}' for vlan, names in ((1, members), (2, others)) if names
        ) + "}")  # fmt: skip
    lines.append("switches: {" + ", ".join(f"{name}: {{role: {role}}}" for name, role in switches.items()) + "}")
    lines.append("nodes: {" + ", ".join(f"{name}: {{}}" for name in nodes) + "}")
    if mlags:
        lines.append(
            "mlag: {" + ", ".join(f'{name}: {{switches: "{",".join(two)}"}}' for name, two in mlags.items()) + "}"
        )
    lines.append("links:\n" + "\n".join(f"  - {link}" for link in links))
    return load_text("\n".join(lines) + "\n", "drawn.yaml")


def _rack(draw: st.DrawFn, name: str, spines: list[str], into: tuple[Any, Any, Any, Any]) -> None:
    """One leaf or two, perhaps a pair, with nodes of one kind of bond."""
    switches, nodes, links, mlags = into
    kind = draw(st.sampled_from(("single", "pair", "active-backup", "plain")))
    leaves = [f"leaf{name}-{i}" for i in range(1, 2 if kind == "single" else 3)]
    switches.update(dict.fromkeys(leaves, "leaf"))
    count, speed = draw(st.integers(1, 3)), draw(st.sampled_from(SPEEDS))
    for leaf in leaves:
        for spine in spines:
            links.append(f"{{from: {leaf}, to: {spine}, speed: {speed}, count: {count}, lag: up}}")
            if draw(st.integers(0, 5)) == 0:  # a member of another speed
                links.append(f"{{from: {leaf}, to: {spine}, speed: 1G, lag: up}}")
    if kind == "pair":
        mlags[f"pair{name}"] = leaves
        links.append(f"{{from: {leaves[0]}, to: {leaves[1]}, speed: 40G, lag: peer}}")
    bond = {"pair": ", bond: lacp", "active-backup": ", bond: active-backup"}.get(kind, "")
    for index in range(1, draw(st.integers(2, 4)) + 1):
        nodes[f"n{name}-{index}"] = None
        orphan = kind == "pair" and draw(st.integers(0, 3)) == 0
        homes = leaves[:1] if orphan else leaves
        links.append(f'{{from: n{name}-{index}, to: "{",".join(homes)}", speed: 10G{bond if len(homes) > 1 else ""}}}')


def pairs_of(described: Fabric, chance: Any, count: int) -> list[tuple[NodeId, NodeId]]:
    """``count`` pairs of different nodes."""
    names = list(described.nodes)
    assert isinstance(chance, random.Random)
    return [(one, other) for one, other in (chance.sample(names, 2) for _ in range(count))]


def flows_of(described: Fabric, chance: Any, count: int) -> list[Flow]:
    """``count`` flows, some with a demand, some of them parallel streams of the same ends."""
    found = []
    for source, sink in pairs_of(described, chance, count):
        found += [Flow(source, sink, chance.choice((None, None, 2e8)))] * chance.choice((1, 1, 2))
    return found[:count]
