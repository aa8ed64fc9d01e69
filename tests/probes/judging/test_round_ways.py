"""The links that the flows of a running round cross, their shares there, what is expected of them and what limits them."""

from collections.abc import Mapping

import pytest

from benchconsole.probes.api import Target
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.round_ways import RoundWays
from benchconsole.probes.judging.running_round import RunningRound
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.topology.capacity.limit_names import name_limit
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.fabrics import METRICS
from tests.probes.judging.rounds import RATE, star
from tests.topology.routing.test_path_rules import TORUS

TREE = """\
schema: 1
fabric: tree
networks: {flat: {goodput: 100 %}}
switches: {"spine[1-2]": {role: spine}, "leaf[1-2]": {role: leaf}}
nodes: {"a[1-4]": {}, "b[1-4]": {}}
links:
  - {from: "a[1-4]", to: leaf1, speed: 8 Gb/s, network: flat}
  - {from: "b[1-4]", to: leaf2, speed: 8 Gb/s, network: flat}
  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 8 Gb/s, network: flat}
"""


def tree() -> Fabric:
    return load_text(TREE, "tree.yaml")


def make_test(described: Fabric, name: str, ends: tuple[str, str], sending: Sending = Sending(4)) -> Test:  # noqa: B008 - frozen
    node, peer = (described.nodes[NodeId(end)] for end in ends)
    return Test(name, "iperf3", Target(node, peer), 1, sending=sending)


def find_ways(described: Fabric, *tests: Test) -> RoundWays | None:
    running = RunningRound(JudgingContext(described, METRICS), Round(1, "one", "iperf3", tests, 5.0, "to see"))
    assert running.ways is None
    running.prepare()
    return running.ways


def list_shares(ways: RoundWays, place: int) -> Mapping[str, float]:
    """Directed links by name, with the share of one flow."""
    own = ways.owner == place
    directions = map(ways.graph.direction, ways.way[own].tolist())
    names = (f"{each.source}>{ways.graph.fabric.links[each.link].other(each.source)}" for each in directions)
    return dict(zip(names, ways.share[own].tolist(), strict=True))


def test_a_flow_crosses_its_links_with_its_share_in_its_direction() -> None:
    described = tree()
    ways = find_ways(described, make_test(described, "t", ("a1", "b1")))
    assert ways is not None
    assert list_shares(ways, 0) == {
        "a1>leaf1": 1.0, "leaf1>spine1": 0.5, "leaf1>spine2": 0.5, "spine1>leaf2": 0.5, "spine2>leaf2": 0.5,
        "leaf2>b1": 1.0,
    }  # fmt: skip
    assert dict(ways.places) == {("t", "iperf3.throughput", False): 0}
    assert ways.tests == ("t",)
    assert ways.expected.tolist() == [RATE]


@pytest.mark.parametrize(
    ("directions", "inward"),
    [(Directions.FORWARD, [False]), (Directions.REVERSED, [True]), (Directions.BOTH, [False, True])],
)
def test_each_direction_is_a_flow_of_its_own(directions: Directions, inward: list[bool]) -> None:
    ways = find_ways(star(), make_test(star(), "t", ("n1", "n2"), Sending(4, directions=directions)))
    assert ways is not None
    assert [name[2] for name in ways.places] == inward
    for place, back in enumerate(inward):
        assert set(list_shares(ways, place)) == ({"n2>leaf", "leaf>n1"} if back else {"n1>leaf", "leaf>n2"})


def test_what_limits_flows_that_share_a_link_is_that_link() -> None:
    described = tree()
    tests = [make_test(described, str(number), (f"a{number}", f"b{number}")) for number in range(1, 5)]
    ways = find_ways(described, *tests)
    assert ways is not None
    assert ways.expected.tolist() == pytest.approx([RATE / 2] * 4)
    names = {name_limit(described, limit) for limit in ways.limits[0]}
    assert names == {"leaf1 to spine1", "leaf1 to spine2", "spine1 to leaf2", "spine2 to leaf2"}
    uplink = next(link for link in described.links.values() if {link.a, link.b} == {"leaf1", "spine1"})
    crossings = ways.find_crossings([ways.find_way(uplink, "leaf1")])
    assert ways.owner[crossings].tolist() == [0, 1, 2, 3]
    assert not len(ways.find_crossings([ways.find_way(uplink, "spine1")]))


def test_where_no_routing_is_said_a_flow_crosses_only_what_every_routing_takes() -> None:
    described = load_text(TORUS.replace(", routing: RULE", ""), "torus.yaml")
    names = list(described.nodes)
    ways = find_ways(described, make_test(described, "t", (names[0], names[-1])))
    said = load_text(TORUS.replace("RULE", "dimension-order"), "torus.yaml")
    known = find_ways(said, make_test(said, "t", (names[0], names[-1])))
    assert ways is not None
    assert known is not None
    assert ways.is_free.tolist() == [True]
    assert known.is_free.tolist() == [False]
    assert set(list_shares(ways, 0)) < set(list_shares(known, 0))


def test_a_round_without_flows_has_no_ways() -> None:
    described = star()
    assert find_ways(described, Test("t", "iperf3", Target(described.nodes[NodeId("n1")]), 1)) is None
