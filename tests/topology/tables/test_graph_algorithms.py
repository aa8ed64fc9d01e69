from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from benchconsole.topology.tables.graph_algorithms import find_components, search_depth_first
from tests.topology.tables.drawn_graphs import graphs, list_edges


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_components_are_those_of_networkx(drawn: nx.Graph) -> None:
    a, b, _ = list_edges(drawn)
    found = find_components(len(drawn), a, b)
    for part in nx.connected_components(drawn):
        assert len({found[vertex] for vertex in part}) == 1
    assert list(dict.fromkeys(found.tolist())) == list(range(nx.number_connected_components(drawn)))


@pytest.mark.parametrize("seed", range(5))
def test_components_of_long_and_of_large_graphs_are_those_of_networkx(seed: int) -> None:
    """A path whose vertices are in no order takes the most rounds."""
    order = np.random.default_rng(seed).permutation(3000)
    drawn = nx.Graph(
        [*pairwise(order.tolist()), *((a + 3000, b + 3000) for a, b in nx.gnm_random_graph(3000, 2500).edges)]
    )
    edges = np.array(list(drawn.edges), np.intp)
    found = find_components(6000, edges[:, 0], edges[:, 1])
    parts = list(nx.connected_components(drawn))
    assert [len({found[vertex] for vertex in part}) for part in parts] == [1] * len(parts)
    assert len(set(found.tolist())) == len(parts) + 6000 - len(drawn)


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_cut_vertices_and_bridges_are_those_of_networkx(drawn: nx.Graph) -> None:
    a, b, _ = list_edges(drawn)
    found = search_depth_first(len(drawn), a, b)
    children = np.bincount(found.parent[found.apart], minlength=len(drawn))
    points = set(np.flatnonzero(children > (found.parent < 0)).tolist())
    assert points == set(nx.articulation_points(drawn))
    bridges = {frozenset((vertex, int(found.parent[vertex]))) for vertex in np.flatnonzero(found.bridge).tolist()}
    assert bridges == {frozenset(edge) for edge in nx.bridges(drawn)}


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_what_is_apart_is_a_slice_of_the_order(drawn: nx.Graph) -> None:
    a, b, _ = list_edges(drawn)
    found = search_depth_first(len(drawn), a, b)
    for vertex in np.flatnonzero(found.apart).tolist():
        left = drawn.copy()
        left.remove_node(int(found.parent[vertex]))
        below = (found.entry >= found.entry[vertex]) & (found.entry < found.leave[vertex])
        assert nx.node_connected_component(left, vertex) == set(np.flatnonzero(below).tolist())


def test_thinning_keeps_the_answer() -> None:
    """A complete graph of 30 has more edges than two forests; with a tail on it there is one cut vertex."""
    drawn = nx.complete_graph(30)
    drawn.add_edge(29, 30)
    edges = np.array(list(drawn.edges), np.intp)
    found = search_depth_first(31, edges[:, 0], edges[:, 1])
    assert int(found.bridge.sum()) == 1
    assert found.parent[found.bridge].tolist() in ([29], [30])


def test_no_edge_at_all() -> None:
    nothing = np.zeros(0, np.intp)
    assert find_components(3, nothing, nothing).tolist() == [0, 1, 2]
    assert search_depth_first(3, nothing, nothing).parent.tolist() == [-1, -1, -1]
