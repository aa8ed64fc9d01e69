"""Loads of links and sums of nodes: what goes into a switch comes out, and nothing carries more than it can."""

import random
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.link_loads import compute_loads, sum_nodes
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import fabric
from tests.topology.fabrics import flows_of, networks

GOODPUT = 1448 / 1538


@given(networks(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=20)
def test_what_comes_in_goes_out_and_fits(described: Fabric, chance: random.Random) -> None:
    flows = flows_of(described, chance, 8)
    rated = list(zip(flows, expect(described, flows), strict=True))
    balance: dict[str, float] = defaultdict(float)
    for each in compute_loads(Routes(described), rated):
        assert each.share <= 1 + 1e-6
        balance[each.way.source] -= each.load
        balance[described.links[each.way.link].other(each.way.source)] += each.load
    sums = {each.node: each for each in sum_nodes(rated)}
    assert sum(each.sent for each in sums.values()) == pytest.approx(sum(rate.value for _, rate in rated))
    for device, left in balance.items():
        node = sums.get(NodeId(device))
        assert left == pytest.approx(node.received - node.sent if node else 0.0, abs=1.0)


def test_a_trunk_of_two_is_filled_by_four(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    flows = [Flow(NodeId(f"n{i}"), NodeId("st1")) for i in range(1, 5)]
    rated = list(zip(flows, expect(described, flows), strict=True))
    first, *others = compute_loads(Routes(described), rated)
    assert (first.way.link, first.way.source) == ("leaf1--spine1", "leaf1")
    assert first.share == pytest.approx(1.0)
    assert [each.share for each in others] == pytest.approx([2.5e9 / 5e9] + [0.5] * 4)
    last = sum_nodes(rated)[-1]
    assert (last.node, last.sent) == ("st1", 0.0)
    assert last.received == pytest.approx(2.5e9 * GOODPUT)


def test_loads_of_other_models_are_refused(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    flows = [Flow(NodeId("n1"), NodeId("n5"))]
    rated = zip(flows, expect(described, flows, model=Model.HASH), strict=True)
    with pytest.raises(RoutingError, match="of the model hash"):
        compute_loads(Routes(described), rated)
