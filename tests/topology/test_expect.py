"""Expected bandwidth: hand-computed cases, the certificate on random fabrics, and an LP as referee."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.fabrics import fabric
from topology.analysis.oversubscription import oversubscription
from topology.errors import RoutingError
from topology.expect import Usage, certify, expect, max_min, usage
from topology.model import Direction, Flow, LinkId, NodeId, SwitchId
from topology.routing import Routes

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
    found = {each.switch: each for each in oversubscription(fabric(tmp_path))}
    leaf = found[SwitchId("leaf1")]
    assert (leaf.down, leaf.up, leaf.ratio) == (5e9, 5e9, 1.0)
    assert found[SwitchId("spine1")].ratio is None


@st.composite
def cases(draw: st.DrawFn) -> tuple[Usage, np.ndarray, np.ndarray]:
    links = draw(st.integers(1, 6))
    flows = draw(st.integers(1, 8))
    capacity = np.array(draw(st.lists(st.integers(1, 100), min_size=links, max_size=links)), float)
    rows, columns, shares = [], [], []
    for index in range(flows):
        for link in sorted(draw(st.sets(st.integers(0, links - 1), min_size=1))):
            rows.append(index)
            columns.append(link)
            shares.append(draw(st.sampled_from([1.0, 0.5, 0.25])))
    demand = np.array(draw(st.lists(st.sampled_from([np.inf, 1.0, 7.0, 30.0]), min_size=flows, max_size=flows)))
    return Usage(np.array(rows, np.intp), np.array(columns, np.intp), np.array(shares)), capacity, demand


@given(cases())
@settings(max_examples=200, deadline=None)
def test_max_min_holds_its_certificate(case: tuple[Usage, np.ndarray, np.ndarray]) -> None:
    used, capacity, demand = case
    assert certify(used, capacity, demand, max_min(used, capacity, demand))


@given(cases())
@settings(max_examples=60, deadline=None)
def test_the_lowest_rate_agrees_with_a_linear_program(case: tuple[Usage, np.ndarray, np.ndarray]) -> None:
    used, capacity, demand = case
    rate = max_min(used, capacity, demand)
    flows = len(demand)
    load = np.zeros((len(capacity), flows + 1))
    load[used.link, used.flow] = used.share
    lowest = np.hstack([-np.eye(flows), np.ones((flows, 1))])
    capped = [None if np.isinf(limit) else float(limit) for limit in demand]
    answer = linprog(
        c=[*([0.0] * flows), -1.0],
        A_ub=np.vstack([load, lowest]),
        b_ub=[*capacity, *([0.0] * flows)],
        bounds=[*((0, limit) for limit in capped), (0, None)],
    )
    assert rate.min() == pytest.approx(answer.x[-1], rel=1e-6)


def test_usage_numbers_every_link_once(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    used, ways = usage(Routes(described), [flow("n1", "n5"), flow("n2", "n6")])
    assert len(set(ways)) == len(ways) == int(used.link.max()) + 1
