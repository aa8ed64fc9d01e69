"""A simulated machine with two networks: a test goes over the one that its address is in."""

from pathlib import Path

import pytest

from benchconsole.console.simulator.network import SimulatedNetwork, StreamLoad
from benchconsole.console.simulator.scenarios import Scenario
from benchconsole.topology import load
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Flow, NodeId

TEXT = """\
schema: 1
fabric: dual
simulated: true
networks: {ib: {goodput: 98 %}, mgmt: {goodput: 94 %}}
switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}, msw: {role: leaf}}
nodes: {"n[1-2]": {address: "10.0.0.[1-2]", addresses: {ib: "10.2.0.[1-2]"}}}
links:
  - {from: n1, to: leaf1, speed: 200G, network: ib}
  - {from: n2, to: leaf2, speed: 200G, network: ib}
  - {from: "leaf[1-2]", to: spine, speed: 200G, network: ib}
  - {from: "n[1-2]", to: msw, speed: 1G, network: mgmt}
"""


def test_each_network_carries_what_is_described(tmp_path: Path) -> None:
    path = tmp_path / "dual.yaml"
    path.write_text(TEXT)
    network = SimulatedNetwork(load(path), Scenario("dual", "sound", lambda: TEXT))
    ends = NodeId("n1"), NodeId("n2")
    rates = [network.compute_shares([StreamLoad(*ends, 4, name)])[0] for name in ("ib", "mgmt")]
    assert rates == pytest.approx([200e9 / 8 * 0.98, 1e9 / 8 * 0.94])


def test_a_flow_between_the_addresses_of_ports_takes_these_ports() -> None:
    text = (
        "schema: 1\nfabric: rails\nsimulated: true\nnetwork: {goodput: 100 %}\n"
        'switches: {"rail[1-2]": {}, spine: {role: spine}}\n'
        'nodes: {"g[1-2]": {address: "10.0.0.[1-2]", addresses: {"p[1-2]": "10.[1-2].0.[1-2]"}}}\n'
        'links:\n  - {from: "g[1-2]:p1", to: rail1, speed: 100G}\n  - {from: "g[1-2]:p2", to: rail2, speed: 40G}\n'
        '  - {from: "rail[1-2]", to: spine, speed: 25G}\n'
    )
    fabric = load_text(text, "rails.yaml")
    network = SimulatedNetwork(fabric, Scenario("rails", "sound", lambda: text))
    one, other = NodeId("g1"), NodeId("g2")
    for legs, gigabits in ((("p1", "p1"), 100), (("p2", "p2"), 40), (("p1", "p2"), 25)):
        (rate,) = network.compute_shares([StreamLoad(one, other, 4, "", *legs)])
        assert rate == pytest.approx(gigabits * 1.25e8)
        (expected,) = expect(fabric, [Flow(one, other, None, *legs)])
        assert rate == pytest.approx(expected.value)
