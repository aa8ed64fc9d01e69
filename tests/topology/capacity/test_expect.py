"""Expected bandwidth: hand-computed cases of the fluid model (others: ``test_models``, ``test_reference_network``)."""

from pathlib import Path

import pytest

from benchconsole.topology.analysis.oversubscription import analyse_oversubscription
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Direction, Flow, LinkId, NodeId, SwitchId
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric

GOODPUT = 1448 / 1538


def flow(source: str, sink: str) -> Flow:
    return Flow(NodeId(source), NodeId(sink))


def test_a_pair_alone_gets_its_nic(tmp_path: Path) -> None:
    found = expect(fabric(tmp_path), [flow("n1", "n2")])[0]
    assert found.value == pytest.approx(1.25e9 * GOODPUT)
    assert set(found.limiting) == {Direction(LinkId("n1--leaf1"), "n1"), Direction(LinkId("n2--leaf1"), "leaf1")}


def test_four_senders_share_a_trunk(tmp_path: Path) -> None:
    found = expect(fabric(tmp_path), [flow(f"n{i}", "st1") for i in range(1, 5)])
    assert [each.value for each in found] == pytest.approx([0.625e9 * GOODPUT] * 4)
    assert all(each.limiting == (Direction(LinkId("leaf1--spine1"), "leaf1"),) for each in found)


def test_a_known_loss_changes_the_expectation(tmp_path: Path) -> None:
    lost = {Direction(LinkId("leaf1--spine1"), "leaf1"): 1.25e9}
    found = expect(fabric(tmp_path), [flow(f"n{i}", "st1") for i in range(1, 5)], capacity=lost)
    assert sum(each.value for each in found) == pytest.approx(1.25e9 * GOODPUT)


def test_flows_between_leaves_split_over_the_spines(tmp_path: Path) -> None:
    shares = Routes(fabric(tmp_path)).shares("n1", "n5")
    assert shares[Direction(LinkId("leaf1--spine1"), "leaf1")] == pytest.approx(0.5)
    assert shares[Direction(LinkId("leaf2--spine2"), "spine2")] == pytest.approx(0.5)


def test_no_path_is_an_error(tmp_path: Path) -> None:
    island = fabric(
        tmp_path,
        "schema: 1\nfabric: x\nswitches: {a: {}, b: {}}\nnodes: {m: {}, n: {}}\n"
        "links: [{from: m, to: a, speed: 1G}, {from: n, to: b, speed: 1G}]\n",
    )
    with pytest.raises(RoutingError):
        expect(island, [flow("m", "n")])


def test_oversubscription_as_built(tmp_path: Path) -> None:
    found = {each.switch: each for each in analyse_oversubscription(make_tables(fabric(tmp_path)))}
    leaf = found[SwitchId("leaf1")]
    assert (leaf.down, leaf.up, leaf.ratio) == (5e9, 5e9, 1.0)
    assert found[SwitchId("spine1")].ratio is None


def test_no_flows_expect_nothing(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    assert expect(described, []) == ()


def test_a_demand_is_a_limit_of_its_own(tmp_path: Path) -> None:
    asked = Flow(NodeId("n1"), NodeId("st1"), demand=1e8)
    small, large = expect(fabric(tmp_path), [asked, flow("n2", "st1")])
    assert (small.value, small.limiting) == (1e8, ())
    assert large.value == pytest.approx(1.25e9 * GOODPUT)
    assert small.goodput == large.goodput == pytest.approx(GOODPUT)


def test_routes_that_were_computed_are_used_again(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    routes = Routes(described)
    flows = [flow("n1", "n5"), flow("n2", "n6")]
    assert (
        expect(described, flows, routes=routes) == expect(described, flows, routes=routes) == expect(described, flows)
    )
