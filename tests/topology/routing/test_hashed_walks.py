"""Walks of many flows at once: each is the path that the flow takes when it is walked alone."""

from itertools import groupby
from operator import itemgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.routing.flow_hashes import hash_flows
from benchconsole.topology.routing.hashed_paths import Hashed, Walker
from benchconsole.topology.routing.hashed_walks import CannotWalkError, HashedWalks
from benchconsole.topology.routing.routes import Routes
from tests.topology.fabrics import flows_of, networks

SEEDS = (0, 1, 2**63 + 5)


def walk_alone(described: Fabric, flows: list[Flow], *, polarised: bool) -> list[list[tuple[int, int]]]:
    """The cables of each flow under each seed, by the walker of single flows."""
    found = []
    for seed in SEEDS:
        walker = Walker(Routes(described), Hashed(seed, polarised=polarised))
        for flow, key in zip(flows, hash_flows(flows), strict=True):
            found.append([(step.way, step.member) for step in walker.path(flow, key)])
    return found


def walk_together(described: Fabric, flows: list[Flow], *, polarised: bool) -> list[list[tuple[int, int]]]:
    walks = HashedWalks(Routes(described), flows, polarised=polarised)
    found = walks.walk(SEEDS)
    crossed = zip(found.walk.tolist(), found.cable.tolist(), strict=True)
    return [[walks.cables[cable] for _, cable in each] for _, each in groupby(crossed, itemgetter(0))]


@given(networks(), st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=80, deadline=None)
def test_each_walk_is_the_path_of_its_flow(described: Fabric, chance: object, polarised: bool) -> None:
    flows = flows_of(described, chance, 12)
    if any(link.channels for link in described.links.values()):
        with pytest.raises(CannotWalkError, match="VLAN"):
            HashedWalks(Routes(described), flows)
        return
    together = walk_together(described, flows, polarised=polarised)
    assert together == walk_alone(described, flows, polarised=polarised)


FLAT = """\
schema: 1
fabric: flat
network: {routing: %s}
switches: {"a[1-4]": {role: leaf}}
nodes: {"n[1-8]": {}}
links:
  - {from: "n[1-2]", to: a1, speed: 10G, count: 2, hash: %s}
  - {from: "n[3-4]", to: a2, speed: 10G}
  - {from: "n[5-6]", to: a3, speed: 10G}
  - {from: "n[7-8]", to: a4, speed: 10G, hash: l2}
  - {from: a1, to: "a[2-3]", speed: 40G, count: 3}
  - {from: "a[2-3]", to: a4, speed: 10G}
  - {from: a1, to: a4, speed: 100G}
"""
NODES = [NodeId(f"n{number}") for number in range(1, 9)]


@pytest.mark.parametrize("routing", ["shortest", "weighted"])
def test_streams_and_weights_are_walked_as_alone(routing: str) -> None:
    described = load_text(FLAT % (routing, "l3"), "flat.yaml")
    flows = [Flow(one, other) for one in NODES for other in NODES if one != other for _ in range(3)]
    together = walk_together(described, flows, polarised=False)
    assert together == walk_alone(described, flows, polarised=False)


def test_members_in_turn_are_not_walked_together() -> None:
    described = load_text(FLAT % ("shortest", "steered"), "flat.yaml")
    with pytest.raises(CannotWalkError, match="choices at n1 are taken in turn"):
        HashedWalks(Routes(described), [Flow(NODES[0], NODES[2])])


def test_a_node_that_forwards_is_walked_alone() -> None:
    text = (FLAT % ("shortest", "l3")).replace('"n[1-8]": {}', '"n[1-7]": {}, n8: {forwards: true}')
    with pytest.raises(CannotWalkError, match="n8 forwards"):
        HashedWalks(Routes(load_text(text, "flat.yaml")), [Flow(NODES[0], NODES[7])])


def test_a_flow_without_a_path_is_refused() -> None:
    text = (FLAT % ("shortest", "l3")).replace('"n[1-8]": {}', '"n[1-8]": {}, x: {}').replace("a[1-4]", "a[1-5]")
    described = load_text(text + "  - {from: x, to: a5, speed: 1G}\n", "flat.yaml")
    with pytest.raises(RoutingError, match="no path from n1 to x"):
        HashedWalks(Routes(described), [Flow(NODES[0], NodeId("x"))])
