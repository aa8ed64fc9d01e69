from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity.maxmin import Usage, certify, max_min
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.tables.fabric_tables import Tables, make_tables
from benchconsole.topology.tables.fair_shares import compute_fair_shares, split_evenly
from tests.fabrics import fabric
from tests.topology.fabrics import networks
from tests.topology.wild import MAX_SEED, wild

UNEVEN = """\
schema: 1
fabric: uneven
switches: {"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}}
nodes: {"n[1-4]": {}, slow: {}, "m[1-2]": {}}
links:
  - {from: "n[1-4]", to: leaf1, speed: 10 Gb/s}
  - {from: slow, to: leaf1, speed: 1 Gb/s}
  - {from: "m[1-2]", to: leaf2, speed: 10 Gb/s}
  - {from: leaf1, to: spine1, speed: 10 Gb/s}
  - {from: leaf1, to: spine2, speed: 10 Gb/s}
  - {from: leaf2, to: "spine[1-2]", speed: 40 Gb/s}
"""
GIGABIT = 1.25e8


def test_a_slow_node_takes_little_and_the_others_share_the_rest(tmp_path: Path) -> None:
    found = make_tables(fabric(tmp_path, UNEVEN))
    shares = compute_fair_shares(found)
    assert (shares.rate / GIGABIT).tolist() == pytest.approx([4.75, 1, 10])
    assert (shares.own / GIGABIT).tolist() == pytest.approx([10, 1, 10])


def test_hops_share_evenly_and_cables_within_a_hop() -> None:
    found = split_evenly(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 5]), np.array([3.0, 1.0, 9.0, 2.0]), 10)
    assert found.tolist() == [0.375, 0.125, 0.5, 1.0]


def listed(found: Tables) -> tuple[Usage, np.ndarray, np.ndarray]:
    """Every node as a flow over every leg and way, as ``topology.capacity.maxmin`` wants it."""
    uplinks, groups = found.uplinks, found.node_groups
    ways: dict[int, list[tuple[int, float]]] = {}
    split = split_evenly(
        uplinks.low, found.logical[uplinks.high], found.trunks.cables[uplinks.trunk].astype(float), len(found.names)
    )
    for way, (low, part) in enumerate(zip(uplinks.low.tolist(), split.tolist(), strict=True)):
        ways.setdefault(low, []).append((way, part))
    flows, links, parts, capacity = [], [], [], list(uplinks.capacity)
    flow = 0
    for sender, group in enumerate(uplinks.group.tolist()):
        legs = np.flatnonzero((uplinks.sender == sender) & (groups.capacity > 0))
        cables = found.members[groups.link[legs]].astype(float)
        share = split_evenly(np.zeros(len(legs), np.intp), found.logical[groups.switch[legs]], cables, len(found.names))
        for _ in range(int(groups.size[group])):
            load: dict[int, float] = {}
            waiting = []
            for leg, part in zip(legs.tolist(), share.tolist(), strict=True):
                load[len(capacity)] = part
                capacity.append(float(groups.capacity[leg]))
                waiting.append((int(groups.switch[leg]), part))
            while waiting:
                here, part = waiting.pop()
                for way, share_of in ways.get(here, []):
                    load[way] = load.get(way, 0.0) + part * share_of
                    waiting.append((int(uplinks.high[way]), part * share_of))
            for link, part in load.items():
                flows.append(flow)
                links.append(link)
                parts.append(part)
            flow += 1
    return (
        Usage(np.array(flows, np.intp), np.array(links, np.intp), np.array(parts)),
        np.array(capacity),
        np.full(flow, np.inf),
    )


def check(described: Fabric) -> None:
    found = make_tables(described)
    shares = compute_fair_shares(found)
    sizes = found.node_groups.size[found.uplinks.group]
    sends = shares.own > 0
    mine = np.repeat(shares.rate, sizes)
    used, capacity, demand = listed(found)
    used_flows = np.unique(used.flow)
    assert used_flows.tolist() == np.flatnonzero(np.repeat(sends, sizes)).tolist()
    if not len(used_flows):
        return
    keep = np.searchsorted(used_flows, used.flow)
    used = Usage(keep, used.link, used.share)
    rate = mine[used_flows]
    assert rate.tolist() == pytest.approx(max_min(used, capacity, demand[used_flows]).tolist(), rel=1e-6)
    assert certify(used, capacity, demand[used_flows], rate)


@given(networks())
@settings(max_examples=30, deadline=None)
def test_shares_are_those_of_the_flows_listed(described: Fabric) -> None:
    check(described)


@given(st.integers(0, MAX_SEED))
@settings(max_examples=60, deadline=None)
def test_shares_in_wild_fabrics(seed: int) -> None:
    check(wild(seed, 12))
