"""The state of links by verdicts: only verdicts against the fabric tell a share of what a link carries."""

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.link_state import read_links
from benchconsole.probes.model.judgement import Yardstick
from benchconsole.probes.model.measuring import Bundle
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Direction, LinkId
from tests.fabrics import METRICS
from tests.probes.judging.rounds import STAR, Sent, close, flow


def test_a_fixed_number_of_the_file_tells_nothing_of_a_link() -> None:
    described = load_text(f"{STAR}criteria: [{{metric: iperf3.throughput, at_least: 1 GB/s}}]\n", "star.yaml")
    closed = close(described, 1, flow("n1", "n2", 0.9))
    (result,) = closed.results
    links = {
        verdict.kind: list(read_links(described, {}, result, verdict)[0])
        for verdict in judge_round(JudgingContext(described, METRICS), closed)
    }
    own = [link.id for node in ("n1", "n2") for link in described.links_at[node]]
    assert links == {Yardstick.CRITERION: [], Yardstick.CAPACITY: own}


NETWORKS = """\
schema: 1
fabric: networks
networks: {mgmt: {role: management}, ib: {type: InfiniBand, mtu: 4096}, disks: {role: storage}}
switches: {msw: {}, leaf: {}, ibl: {}, disk: {}}
nodes: {"n[1-2]": {}, "d[1-2]": {}}
links:
  - {from: "n[1-2],d[1-2]", to: msw, speed: 1G, network: mgmt}
  - {from: "n[1-2]", to: leaf, speed: 25G}
  - {from: "n[1-2]", to: ibl, speed: 400G, network: ib}
  - {from: "n[1-2],d[1-2]", to: disk, speed: 10G, network: disks}
"""
RAILS = """\
schema: 1
fabric: rails
switches: {"rail[1-3]": {role: leaf}, spine: {role: spine}}
nodes: {"g[1-2]": {addresses: {"p[1-3]": "10.[1-3].0.[1-2]"}}, login: {}}
links:
  - {from: "g[1-2]:p[1-3]", to: "rail[1-3]", speed: 100G}
  - {from: login, to: rail1, speed: 100G}
  - {from: "rail[1-3]", to: spine, speed: 400G}
"""
PLANES = RAILS.replace("rail", "leaf").replace('  - {from: "leaf[1-3]", to: spine, speed: 400G}\n', "")
ONE_FABRIC = """\
schema: 1
fabric: joined
switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}
nodes: {"n[1-4]": {}, "v[1-2]": {host: n2}}
links:
  - {from: "n[1-2]", to: "leaf[1-2]", speed: 10G}
  - {from: "n[3-4]", to: leaf1, speed: 10G}
  - {from: "leaf[1-2]", to: spine, speed: 40G}
"""
BONDED = """\
schema: 1
fabric: bonded
switches: {"leaf[1-2]": {role: leaf}}
nodes: {"n[1-2]": {}}
mlag: {pair: {switches: "leaf[1-2]"}}
links:
  - {from: "n[1-2]:eth[0-1]", to: "leaf[1-2]", speed: 10G, bond: lacp}
  - {from: leaf1, to: leaf2, speed: 40G}
"""


@pytest.mark.parametrize(
    ("text", "ends", "sending", "links"),
    [
        (NETWORKS, "n1 n2", Sending(), {"n1--leaf", "n2--leaf"}),
        (NETWORKS, "n1 n2", Sending(network="ib"), {"n1--ibl", "n2--ibl"}),
        (NETWORKS, "n1 n2", Sending(network="mgmt"), {"n1--msw", "n2--msw"}),
        (NETWORKS, "n1 n2", Sending(network="disks"), {"n1--disk", "n2--disk"}),
        (NETWORKS, "n1 d2", Sending(), {"n1--disk", "d2--disk"}),  # never that for management
        (RAILS, "g1 g2", Sending(leg="p1", peer_leg="p1"), {"g1--rail1", "g2--rail1"}),
        (RAILS, "g1 g2", Sending(leg="p2", peer_leg="p3"), {"g1--rail2", "g2--rail3"}),
        (
            RAILS, "g1 g2", Sending(directions=Directions.REVERSED, leg="p2", peer_leg="p3"),
            {"g1--rail2", "g2--rail3"},
        ),
        (RAILS, "g1 g2", Sending(), set()),  # one of the three ports, and nobody knows which
        (RAILS, "login g2", Sending(), {"login--rail1"}),
        (RAILS, "g1 login", Sending(), {"login--rail1"}),
        (PLANES, "g1 g2", Sending(), set()),
        (PLANES, "g1 g2", Sending(leg="p3", peer_leg="p3"), {"g1--leaf3", "g2--leaf3"}),
        (ONE_FABRIC, "n1 n2", Sending(2), {"n1--leaf1", "n1--leaf2", "n2--leaf1", "n2--leaf2"}),
        (ONE_FABRIC, "n1 n2", Sending(), set()),  # one stream goes over one of the two
        (ONE_FABRIC, "n1 n3", Sending(), {"n1--leaf1", "n3--leaf1"}),  # from leaf2 it is farther: nothing goes there
        (ONE_FABRIC, "n3 v1", Sending(), {"n3--leaf1"}),  # the cables of its host are wider than it
        (BONDED, "n1 n2", Sending(2), {"n1--leaf1", "n1--leaf2", "n2--leaf1", "n2--leaf2"}),
        (BONDED, "n1 n2", Sending(4), {"n1--leaf1", "n1--leaf2", "n2--leaf1", "n2--leaf2"}),
        (BONDED, "n1 n2", Sending(), set()),  # one stream goes over one member of the bond
    ],
)  # fmt: skip
def test_a_lone_flow_speaks_of_the_legs_that_it_used(text: str, ends: str, sending: Sending, links: set[str]) -> None:
    described = load_text(text, "fabric.yaml")
    way = "in" if sending.directions is Directions.REVERSED else "out"
    source, sink = ends.split()
    closed = close(described, 1, Sent(source, sink, ((way, 1e8),), sending=sending))
    (verdict,) = judge_round(JudgingContext(described, METRICS), closed)
    found, _ = read_links(described, {}, closed.results[0], verdict)
    assert set(found) == links
    assert len(found) == len(links)


FAT = """\
schema: 1
fabric: fat
switches: {"rail[1-2]": {role: leaf}, "brail[1-2]": {role: leaf}, spine: {role: spine}}
nodes: {"g[1-4]": {addresses: {"p[1-2]": "10.[1-2].0.[1-4]"}}, login: {}}
links:
  - {from: "g[1-2]:p[1-2]", to: "rail[1-2]", speed: 100G}
  - {from: "g[3-4]:p[1-2]", to: "brail[1-2]", speed: 100G}
  - {from: login, to: rail1, speed: 100G}
  - {from: "rail[1-2],brail[1-2]", to: spine, speed: 200G}
"""


@pytest.mark.parametrize(
    ("source", "element", "sending", "is_known"),
    [
        ("g1", ("rail1--spine", "rail1"), Sending(leg="p1", peer_leg="p1"), True),
        ("g1", ("rail1--spine", "rail1"), Sending(), False),  # by one of two rails
        ("login", ("login--rail1", "login"), Sending(), True),  # it has one port only
        ("login", ("brail2--spine", "spine"), Sending(), False),
    ],
)
def test_a_bundle_over_ports_that_nobody_names_tells_nothing_of_what_lies_beyond(
    source: str, element: tuple[str, str], sending: Sending, *, is_known: bool
) -> None:
    described = load_text(FAT, "fat.yaml")
    link = LinkId(element[0])
    bundle = Bundle("b", (Direction(link, element[1]),))
    closed = close(described, 1, Sent(source, "g3", (("out", 1e9),), "b", sending=sending), bundles=(bundle,))
    (verdict,) = judge_round(JudgingContext(described, METRICS), closed)
    found, _ = read_links(described, {"b": bundle}, closed.results[0], verdict)
    assert list(found) == ([link] if is_known else [])
