"""Rounds that confirm go over the network whose tests accused the component."""

import pytest

from benchconsole.probes.judging.confirmation import plan_confirmation
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.model.sending import Sending
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.description.resolve import load_text
from tests.fabrics import METRICS
from tests.probes.judging.rounds import Sent, close
from tests.probes.judging.test_confirmation import find_link

DUAL = load_text(
    """\
schema: 1
fabric: dual
networks: {ib: {goodput: 98 %}, mgmt: {goodput: 94 %}}
switches: {leaf1: {role: leaf}, msw: {role: leaf}}
nodes: {"n[1-4]": {address: "10.0.0.[1-4]", addresses: {ib: "10.2.0.[1-4]"}}}
links:
  - {from: "n[1-4]", to: leaf1, speed: 200G, network: ib}
  - {from: "n[1-4]", to: msw, speed: 1G, network: mgmt}
""",
    "dual.yaml",
)


@pytest.mark.parametrize(
    ("used", "found"),
    [
        (("ib",), {"ib": "10.2.0."}),
        (("mgmt",), {"mgmt": "10.0.0."}),
        (("ib", "mgmt"), {"ib": "10.2.0.", "mgmt": "10.0.0."}),
    ],
)
def test_a_suspect_is_tested_over_its_own_network(used: tuple[str, ...], found: dict[str, str]) -> None:
    sent = [Sent("n1", "n2", (("out", 1e6),), sending=Sending(network=name)) for name in used]
    suspected = [find_link(DUAL, "n2--leaf1"), find_link(DUAL, "n2--msw")]
    context = JudgingContext(DUAL, METRICS)
    rounds = plan_confirmation(
        context, {"iperf3": Iperf3()}, suspected, (close(DUAL, 1, *sent),), tuple(DUAL.nodes), first=2
    )
    tests = [test for each in rounds for test in each.tests]
    assert {test.sending.network for test in tests} == found.keys()
    for test in tests:
        assert all(node.data_address.startswith(found[test.sending.network]) for node in test.target.nodes)


RAILS = load_text(
    """\
schema: 1
fabric: rails
network: {goodput: 98 %}
switches: {"rail[1-3]": {role: leaf}, spine: {role: spine}}
nodes: {"g[1-4]": {address: "10.0.0.[1-4]", addresses: {"p[1-3]": "10.[1-3].0.[1-4]"}}}
links:
  - {from: "g[1-4]:p[1-3]", to: "rail[1-3]", speed: 200G}
  - {from: "rail[1-3]", to: spine, speed: 800G}
""",
    "rails.yaml",
)


@pytest.mark.parametrize(("leg", "peer"), [("p2", "p2"), ("p2", "p3")])
def test_a_suspect_of_a_rail_is_tested_between_the_ports_that_accused_it(leg: str, peer: str) -> None:
    sent = [
        Sent("g1", "g2", (("out", 1e6),), sending=Sending(leg=leg, peer_leg=peer)),
        Sent("g3", "g4", (("out", 1e6),), sending=Sending(leg="p1", peer_leg="p1")),
    ]
    suspected = [find_link(RAILS, "g1--rail2")]
    context = JudgingContext(RAILS, METRICS)
    rounds = plan_confirmation(
        context, {"iperf3": Iperf3()}, suspected, (close(RAILS, 1, *sent),), tuple(RAILS.nodes), first=2
    )
    tests = [test for each in rounds for test in each.tests]
    assert tests
    assert {(test.sending.leg, test.sending.peer_leg) for test in tests} == {(leg, peer)}
    for test in tests:
        assert test.target.peer is not None
        ends = (test.target.node.data_address, test.target.peer.data_address)
        assert [each.split(".")[1] for each in ends] == [leg[1:], peer[1:]]
