"""Fabrics as nobody would build them: any device cabled to any, pairs, chassis, sites, virtual machines, storage."""

import random
from collections.abc import Mapping
from types import MappingProxyType

from benchconsole.topology.model.access import Access
from benchconsole.topology.model.cable import Wan
from benchconsole.topology.model.device_group import Group
from benchconsole.topology.model.fabric import (
    Bond,
    Fabric,
    Hardware,
    HashPolicy,
    Link,
    LinkId,
    Mlag,
    Node,
    NodeId,
    NodeRole,
    Switch,
    SwitchId,
    SwitchRole,
)
from benchconsole.topology.model.storage import Clients, Layer, Rates, Storage

MAX_SEED = 10**6


def wild(seed: int, most: int = 40) -> Fabric:
    """The fabric of ``seed`` with at most ``most`` nodes."""
    chance = random.Random(seed)
    kinds = [Hardware(f"class{number}") for number in range(chance.randint(1, 3))]
    nodes: dict[NodeId, Node] = {}
    for number in range(chance.randint(1, most)):
        name = NodeId(f"n{number}")
        host = None
        if nodes and chance.random() < 0.1:
            hosts = [each.id for each in nodes.values() if each.host is None]
            host = chance.choice(hosts)
        role = chance.choice([NodeRole.COMPUTE, NodeRole.COMPUTE, NodeRole.STORAGE, NodeRole.GATEWAY])
        nodes[name] = Node(name, role, chance.choice(kinds), name, name, host, role is NodeRole.GATEWAY)
    switches = {
        SwitchId(f"s{number}"): Switch(
            SwitchId(f"s{number}"), chance.choice(list(SwitchRole)), chance.choice([None, "A", "B"])
        )
        for number in range(chance.randint(0, 14))
    }
    links = _links(chance, [name for name, node in nodes.items() if node.host is None], switches)
    devices: list[str] = [*nodes, *switches]
    free = list(switches)
    mlags: list[Mlag] = []
    while len(free) > 1 and chance.random() < 0.5:
        two = (free.pop(), free.pop())
        peer = tuple(link.id for link in links.values() if {link.a, link.b} == set(two))
        mlags.append(Mlag(f"pair{len(mlags)}", two, peer))
    servers = [name for name, node in nodes.items() if node.role is NodeRole.STORAGE]
    storage = {}
    if servers and chance.random() < 0.5:
        clients = (Clients("all", tuple(devices[:2])),)
        layer = Layer("disk", 2, Rates(1e8, 2e8))
        storage = {f"fs{i}": Storage(f"fs{i}", tuple(servers[i::2]), (layer,), clients) for i in range(2)}
    return Fabric(
        "wild",
        MappingProxyType(nodes),
        MappingProxyType(switches),
        MappingProxyType(links),
        (),
        MappingProxyType({}),
        Access(),
        9000,
        "",
        groups=(*_groups(chance, "chassis", devices), *_groups(chance, "site", devices)),
        mlags=tuple(mlags),
        storage=MappingProxyType(storage),
    )


def _links(chance: random.Random, nodes: list[NodeId], switches: Mapping[SwitchId, Switch]) -> dict[LinkId, Link]:
    tier: dict[str, int] = dict.fromkeys(nodes, 0)
    tier.update((name, switch.role.tier) for name, switch in switches.items())
    devices = list(tier)
    found: dict[LinkId, Link] = {}
    for name in devices:
        for other in chance.sample(devices, min(len(devices), chance.choice([0, 1, 1, 2, 3]))):
            a, b = (name, other) if tier[name] <= tier[other] else (other, name)
            if a == b or LinkId(f"{b}--{a}") in found:
                continue
            count = chance.choice([1, 1, 2])
            found[LinkId(f"{a}--{b}")] = Link(
                LinkId(f"{a}--{b}"), a, b, chance.choice([1.25e9, 5e9]), count=count,
                mixed=(1.25e9, 5e9) if count == 2 and chance.random() < 0.1 else (),
                hash=chance.choice([HashPolicy.UNKNOWN, HashPolicy.L3L4]),
                bond=chance.choice([None, None, Bond.LACP]),
                standby=chance.random() < 0.1,
                network=chance.choice(["data", "data", "other"]),
                wan=Wan(0.05) if chance.random() < 0.05 else None,
            )  # fmt: skip
    return found


def _groups(chance: random.Random, kind: str, devices: list[str]) -> list[Group]:
    if chance.random() < 0.5:
        return []
    number = chance.randint(1, 3)
    inside = [device for device in devices if chance.random() < 0.8]
    return [Group(kind, f"{kind}{i}", tuple(inside[i::number])) for i in range(number)]
