"""Elements down: what is left, what is refused, and that nothing fails upward."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.errors import RoutingError, SelectionError
from benchconsole.topology.model.fabric import Fabric, Flow, LinkId, NodeId, SwitchId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import are_connected, fabric
from tests.topology.fabrics import networks, pairs_of

PAIR = """\
schema: 1
fabric: pair
switches: {"m[1-2]": {role: chassis, ports: {"p[1-4]": 40G, "q[1-4]": 10G}}, leaf: {role: leaf}}
mlag: {vlt: {switches: "m[1-2]"}}
nodes: {"n[1-2]": {}, far: {}}
links:
  - {from: "n[1-2]", to: "m[1-2]", speed: 10G, bond: lacp}
  - {from: "m1:p1", to: "m2:p1", speed: 40G, lag: peer}
  - {from: "m1:p[2-3]", to: leaf, speed: 40G, count: 2, lag: up}
  - {from: "m1:q1", to: leaf, speed: 10G, lag: up}
  - {from: "m2:p[2-3]", to: leaf, speed: 40G, count: 2}
  - {from: far, to: leaf, speed: 100G}
"""


def shares(described: Fabric, source: str, sink: str) -> dict[str, float]:
    found = Routes(described).shares(source, sink)
    return {f"{way.source}>{described.links[way.link].other(way.source)}": share for way, share in found.items()}


def test_a_pair_with_a_dead_switch_works(tmp_path: Path) -> None:
    left = remove_elements(fabric(tmp_path, PAIR), switches=["m1"])
    assert SwitchId("m1") in left.switches
    assert not left.links_at["m1"]
    assert left.mlags[0].peer == ()
    assert shares(left, "n1", "far") == {"n1>m2": 1, "m2>leaf": 1, "leaf>far": 1}
    assert shares(left, "far", "n1") == {"far>leaf": 1, "leaf>m2": 1, "m2>n1": 1}


def test_lost_uplinks_and_peer_links(tmp_path: Path) -> None:
    described = fabric(tmp_path, PAIR)
    over = shares(remove_elements(described, links=["m1--leaf"]), "n1", "far")
    assert over == {"n1>m1": 0.5, "n1>m2": 0.5, "m1>m2": 0.5, "m2>leaf": 1, "leaf>far": 1}
    with pytest.raises(RoutingError, match="no peer link"):
        shares(remove_elements(described, links=["m1--leaf", "m1--m2"]), "n1", "far")


def test_members_that_are_lost_are_the_fastest(tmp_path: Path) -> None:
    described = fabric(tmp_path, PAIR)
    whole = described.links[LinkId("m1--leaf")]
    assert (whole.members, whole.ports_a) == ((5e9, 5e9, 1.25e9), ("p2", "p3", "q1"))
    one = remove_elements(described, members={"m1--leaf": 1}).links[whole.id]
    assert (one.count, one.members, one.ports_a, one.speed) == (2, (5e9, 1.25e9), ("p2", "q1"), 1.25e9)
    two = remove_elements(described, members={"m1--leaf": 2}).links[whole.id]
    assert (two.count, two.mixed, two.speed, two.ports_a) == (1, (), 1.25e9, ("q1",))
    assert whole.id not in remove_elements(described, members={"m1--leaf": 3}).links
    assert remove_elements(described, members={"m1--leaf": 0}).links == described.links


def test_dead_nodes_and_legs(tmp_path: Path) -> None:
    described = fabric(tmp_path, PAIR)
    assert not are_connected(Routes(remove_elements(described, nodes=["n1"])), "n1", "far")
    left = remove_elements(described, legs=["m1"])
    assert [link.id for link in left.links_at["m1"]] == ["m1--m2", "m1--leaf"]
    assert shares(left, "n1", "far") == {"n1>m2": 1, "m2>leaf": 1, "leaf>far": 1}


def test_every_unknown_element_is_named(tmp_path: Path) -> None:
    with pytest.raises(SelectionError) as caught:
        remove_elements(
            fabric(tmp_path, PAIR),
            switches=["leafs"],
            nodes=["n9"],
            links=["x"],
            legs=["q"],
            members={"m1--leaf": 4, "y": 1},
        )
    words = str(caught.value)
    for name in (
        "unknown switch 'leafs', did you mean leaf?",
        "'n9'",
        "link 'x'",
        "switch 'q'",
        "link 'y'",
        "4 members down of m1--leaf, which has 3",
    ):
        assert name in words


def test_the_fabric_itself_is_not_touched(tmp_path: Path) -> None:
    described = fabric(tmp_path, PAIR)
    before = dict(described.links)
    remove_elements(described, switches=["leaf"], members={"m2--leaf": 1})
    assert dict(described.links) == before


def most(described: Fabric, source: str, sink: str) -> int:
    """The maximum flow between two nodes in Mb/s, over links in both directions, nodes forwarding nothing."""
    names = [source, sink, *described.switches]
    number = {name: index for index, name in enumerate(names)}
    edges = [
        (number[a], number[b], round(link.capacity * 8 / 1e6))
        for link in described.links.values()
        for a, b in ((link.a, link.b), (link.b, link.a))
        if a in number and b in number
    ]
    rows, columns, capacity = (np.array(each, np.int32) for each in zip(*edges, strict=True))
    graph = coo_array((capacity, (rows, columns)), shape=(len(names), len(names))).tocsr()
    graph.sum_duplicates()
    return int(maximum_flow(graph.astype(np.int32), 0, 1).flow_value)


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_what_is_taken_away_never_raises_the_maximum_flow(described: Fabric, chance: object) -> None:
    """And so: adding capacity never lowers it. No routing gives one flow more than the maximum."""
    for source, sink in pairs_of(described, chance, 3):
        link = chance.choice(list(described.links.values()))  # type: ignore[attr-defined]
        left = remove_elements(described, members={link.id: 1})
        assert most(left, source, sink) <= most(described, source, sink)
        rate = expect(described, [Flow(NodeId(source), NodeId(sink))])[0].value / described.goodput * 8 / 1e6
        assert rate <= most(described, source, sink) * (1 + 1e-9)
