import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.tables.fabric_tables import make_tables
from benchconsole.topology.tables.uplink_shares import CrossingNodes, compute_uplink_shares
from tests.topology.fabrics import networks
from tests.topology.slowly import Ways, machines
from tests.topology.wild import MAX_SEED, wild


def crossings(described: Fabric, slow: Ways, switch: str, *, lost: bool) -> CrossingNodes:
    """Followed node by node."""
    counted = machines(described)
    network = slow.network[switch]
    found = CrossingNodes()
    for node, number in counted.items():
        if slow.up(node, network):
            part = slow.crossing(node, switch, network)
            found.add(number, 1 - slow.left(node, switch, network) if lost else part)
    return found


def alike(one: CrossingNodes, other: CrossingNodes) -> bool:
    same = (one.nodes, one.entirely) == (other.nodes, other.entirely)
    return same and math.isclose(one.most, other.most, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("lost", [False, True])
@given(networks())
@settings(max_examples=30, deadline=None)
def test_what_crosses_each_switch(lost: bool, described: Fabric) -> None:
    check(described, lost=lost)


@pytest.mark.parametrize("lost", [False, True])
@given(st.integers(0, MAX_SEED))
@settings(max_examples=60, deadline=None)
def test_what_crosses_each_switch_of_wild_fabrics(lost: bool, seed: int) -> None:
    check(wild(seed, 12), lost=lost)


def check(described: Fabric, *, lost: bool) -> None:
    found = make_tables(described)
    slow = Ways(described)
    crossing = compute_uplink_shares(found)
    for name in described.switches:
        mine = (crossing.lost if lost else crossing.over).get(found.index[name], CrossingNodes())
        assert alike(mine, crossings(described, slow, name, lost=lost)), name
