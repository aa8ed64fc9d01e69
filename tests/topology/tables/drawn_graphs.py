"""Graphs of networkx drawn by hypothesis, and the same as arrays."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from benchconsole.topology.arrays import Floats, Indices

GIGABIT = 1.25e8


@st.composite
def graphs(draw: st.DrawFn) -> nx.Graph:
    number, seed = draw(st.integers(1, 14)), draw(st.integers(0, 10**6))
    drawn = nx.gnp_random_graph(number, draw(st.sampled_from([0.1, 0.2, 0.4, 0.8])), seed=seed)
    rates = [GIGABIT * speed for speed in (1, 10, 25, 40, 10.3125)]
    for one, other in drawn.edges:
        drawn[one][other]["capacity"] = draw(st.sampled_from(rates))
    return drawn


def list_edges(drawn: nx.Graph) -> tuple[Indices, Indices, Floats]:
    """Both ends of each edge, and its capacity."""
    edges = np.array(list(drawn.edges), np.intp).reshape(-1, 2)
    return edges[:, 0], edges[:, 1], np.array([drawn[a][b]["capacity"] for a, b in drawn.edges], float)
