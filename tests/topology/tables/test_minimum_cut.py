"""Minimum cuts against networkx, on graphs drawn at random and on regular ones, which are merged."""

from fractions import Fraction
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.tables.minimum_cut import find_common_unit, find_minimum_cut
from tests.topology.tables.drawn_graphs import GIGABIT, graphs, list_edges


def compute_peer(drawn: nx.Graph, sources: list[int], sinks: list[int]) -> tuple[float, set[int]]:
    """The maximum flow of networkx between two sets, and the vertices that more could flow to."""
    joined = drawn.to_directed()
    joined.add_edges_from(("source", vertex) for vertex in sources)  # no capacity: no limit
    joined.add_edges_from((vertex, "sink") for vertex in sinks)
    left = nx.algorithms.flow.preflow_push(joined, "source", "sink")
    open_ = nx.DiGraph((a, b) for a, b, edge in left.edges(data=True) if edge["flow"] < edge["capacity"])
    open_.add_node("source")
    return left.graph["flow_value"], nx.descendants(open_, "source") - {"sink"}


def compare(drawn: nx.Graph, sources: list[int], sinks: list[int]) -> None:
    a, b, capacity = list_edges(drawn)
    value, near = find_minimum_cut(len(drawn), a, b, capacity, ends=(np.array(sources), np.array(sinks)))
    flow, reached = compute_peer(drawn, sources, sinks)
    assert value == flow
    assert set(np.flatnonzero(near).tolist()) == reached
    assert capacity[near[a] != near[b]].sum() == value


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_a_minimum_cut_is_the_maximum_flow(drawn: nx.Graph, random: Random) -> None:
    if len(drawn) < 2 or not drawn.edges:
        return
    vertices = random.sample(list(drawn), len(drawn))
    first = random.randint(1, len(drawn) - 1)
    compare(drawn, vertices[:first], vertices[first : first + random.randint(1, len(drawn) - first)])


def make_leaf_spine(leaves: int, spines: int, hosts: int) -> nx.Graph:
    """Spines first, then leaves, then the hosts of each leaf."""
    drawn = nx.Graph()
    for leaf in range(leaves):
        for spine in range(spines):
            drawn.add_edge(spines + leaf, spine, capacity=100 * GIGABIT)
        for host in range(hosts):
            drawn.add_edge(spines + leaves + leaf * hosts + host, spines + leaf, capacity=25 * GIGABIT)
    return nx.relabel_nodes(drawn, {name: name for name in sorted(drawn)})


def test_a_regular_fabric_is_merged_and_has_the_same_cut() -> None:
    drawn = make_leaf_spine(leaves=6, spines=3, hosts=20)
    hosts = list(range(9, 9 + 120))
    a, b, capacity = list_edges(drawn)
    halves = np.array(hosts[:60]), np.array(hosts[60:])
    value, near = find_minimum_cut(len(drawn), a, b, capacity, ends=halves)
    assert value == 3 * 3 * 100 * GIGABIT  # of three leaves every uplink, less than sixty hosts
    assert sorted(np.flatnonzero(near).tolist()) == [3, 4, 5, *hosts[:60]]
    compare(drawn, hosts[:60], hosts[60:])


def test_one_slow_cable_in_a_regular_fabric_is_told_from_the_others() -> None:
    drawn = make_leaf_spine(leaves=4, spines=2, hosts=10)
    drawn[2][0]["capacity"] = 10 * GIGABIT
    compare(drawn, list(range(6, 26)), list(range(26, 46)))


def test_a_way_back_over_what_was_sent_before_is_found() -> None:
    """The shortest way fills the cross edge; the maximum fills it in the other direction."""
    drawn = nx.Graph()
    drawn.add_edges_from([(0, 1), (1, 2), (2, 7)], capacity=GIGABIT)
    drawn.add_edges_from([(0, 3), (3, 4), (4, 2), (1, 5), (5, 6), (6, 7)], capacity=2 * GIGABIT)
    compare(nx.relabel_nodes(drawn, {name: name for name in sorted(drawn)}), [0], [7])


def test_units_are_exact() -> None:
    assert find_common_unit(np.array([1.25e9, 3.125e9, 5e9])) == 625_000_000
    assert find_common_unit(np.array([0.0, 0.75, 2.0])) == Fraction(1, 4)
    assert find_common_unit(np.array([0.0])) == 1


@pytest.mark.parametrize(("rates", "cut"), [([1e9 / 3, 1e9 / 7], 1e9 / 7), ([1e15, 1e9], 1e9), ([0.0, 1e9], 0.0)])
def test_any_capacities_have_a_cut(rates: list[float], cut: float) -> None:
    """However small their common unit and however large their sum."""
    found, near = find_minimum_cut(
        3, np.array([0, 1]), np.array([1, 2]), np.array(rates), ends=(np.array([0]), np.array([2]))
    )
    assert found == cut
    assert near.tolist() == [True, rates[0] > cut, False]


def test_no_edge_at_all() -> None:
    nothing = np.zeros(0, np.intp)
    found, near = find_minimum_cut(2, nothing, nothing, np.zeros(0), ends=(np.array([0]), np.array([1])))
    assert (found, near.tolist()) == (0.0, [True, False])
