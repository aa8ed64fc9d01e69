"""The tables of a fabric, built in one pass and shared by every question of ``topology.analysis``."""

from collections import defaultdict
from functools import cached_property
from itertools import count
from operator import attrgetter

import numpy as np

from benchconsole.topology.model.cable import Wan
from benchconsole.topology.model.fabric import Fabric, SwitchRole
from benchconsole.topology.tables.cable_tables import CableTables, LinkKind
from benchconsole.topology.tables.uplink_paths import UplinkPaths, find_uplink_paths

_KIND = attrgetter("speed", "count", "mixed", "standby", "network", "wan")
_Key = tuple[float, int, tuple[float, ...], bool, str, Wan | None]


class Tables(CableTables):
    """The tables of one fabric, its ways up among them."""

    @cached_property
    def uplinks(self) -> UplinkPaths:
        """The ways up."""
        return find_uplink_paths(self)


def make_tables(fabric: Fabric) -> Tables:
    """The tables of ``fabric``."""
    names: tuple[str, ...] = (*fabric.nodes, *fabric.switches)
    nodes = len(fabric.nodes)
    index = dict(zip(names, range(len(names)), strict=True))
    links = list(fabric.links.values())
    a = np.fromiter(map(index.__getitem__, map(attrgetter("a"), links)), np.intp, len(links))
    b = np.fromiter(map(index.__getitem__, map(attrgetter("b"), links)), np.intp, len(links))
    numbers: defaultdict[_Key, int] = defaultdict(count().__next__)
    kind = np.fromiter(map(numbers.__getitem__, map(_KIND, links)), np.intp, len(links))
    tiers = {role: role.tier for role in SwitchRole}
    tier, forwards, machines = np.zeros(len(names), np.intp), np.ones(len(names), bool), np.zeros(len(names), np.intp)
    tier[nodes:] = [tiers[switch.role] for switch in fabric.switches.values()]
    forwards[:nodes] = list(map(attrgetter("forwards"), fabric.nodes.values()))
    # A host counts its virtual machines.
    hosts = list(map(attrgetter("host"), fabric.nodes.values()))
    machines[:nodes] = [host is None for host in hosts]
    np.add.at(machines, np.array([index[host] for host in hosts if host is not None], np.intp), 1)
    swapped = (tier[a] > tier[b]) | ((tier[a] == tier[b]) & (a > b))
    return Tables(
        fabric=fabric,
        names=names,
        nodes=nodes,
        tier=tier,
        forwards=forwards,
        machines=machines,
        ids=tuple(fabric.links),
        low=np.where(swapped, b, a),
        high=np.where(swapped, a, b),
        kind=kind,
        kinds=tuple(map(_make_kind, numbers)),
    )


def _make_kind(key: _Key) -> LinkKind:
    speed, count, mixed, standby, network, wan = key
    cabled = sum(mixed) if mixed else speed * count
    limit = cabled if wan is None or wan.available is None else wan.available
    capacity = min(cabled, limit)
    fastest = capacity - min(cabled - max(mixed, default=speed), limit)
    return LinkKind(speed, count, mixed, standby, network, capacity, fastest)
