"""Colour refinement: small graphs by hand, random ones against the definition and against the slow way."""

import random
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.tables.colour_refinement import Edges, refine

_Edge = tuple[int, int, int]
"""Both ends and the colour."""


def _refine(colours: list[int], edges: list[_Edge]) -> list[int]:
    one, other, colour = np.array(edges, np.intp).reshape(-1, 3).T
    return [int(each) for each in refine(np.array(colours, np.intp), Edges(one, other, colour))]


def _graph(edges: list[_Edge], size: int) -> list[list[tuple[int, int]]]:
    found: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    for one, other, colour in edges:
        found[one].append((colour, other))
        found[other].append((colour, one))
    return found


def _slow(colours: list[int], neighbours: list[list[tuple[int, int]]]) -> list[int]:
    """Round after round, every vertex by its class and what it sees, until nothing splits any more."""
    while True:
        views = [
            (colour, tuple(sorted((edge, colours[other]) for edge, other in seen)))
            for colour, seen in zip(colours, neighbours, strict=True)
        ]
        numbers: dict[object, int] = {}
        fresh = [numbers.setdefault(view, len(numbers)) for view in views]
        if len(set(fresh)) == len(set(colours)):
            return fresh
        colours = fresh


def test_a_path_is_folded_at_its_middle() -> None:
    path = [(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0)]
    assert _refine([0] * 5, path) == [0, 1, 2, 1, 0]


def test_a_ring_is_one_class_and_a_marked_vertex_splits_it() -> None:
    ring = [(i, (i + 1) % 6, 0) for i in range(6)]
    assert _refine([0] * 6, ring) == [0] * 6
    assert _refine([1, 0, 0, 0, 0, 0], ring) == [0, 1, 2, 3, 2, 1]


def test_the_colour_and_the_number_of_edges_count() -> None:
    pairs = [(0, 1, 0), (2, 3, 1), (4, 5, 0), (4, 5, 0)]
    assert _refine([0] * 6, pairs) == [0, 0, 1, 1, 2, 2]


def test_nothing_has_no_class() -> None:
    assert _refine([], []) == []


def test_as_many_edges_are_equal_however_the_others_are_cabled() -> None:
    """Six nodes of one switch that are twins, and six of another of which three have a second leg of another colour."""
    legs = [(n, 12, 0) for n in range(6)] + [(n, 13, 0) for n in range(6, 12)]
    assert _refine([0] * 12 + [1, 1], legs) == [0] * 12 + [1, 1]
    others = [(n, 14, 1) for n in (0, 1, 2)] + [(n, 15, 1) for n in (6, 7)] + [(8, 16, 1)]
    found = _refine([0] * 12 + [1, 1] + [2] * 3, legs + others)
    assert found[12] != found[13]
    shared = [(n, 14 + n % 2, 1) for n in range(12)]
    assert len(set(_refine([0] * 12 + [1, 1] + [2] * 2, legs + shared))) == 3


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9))
def test_it_is_the_coarsest_equitable_partition(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.randint(1, 25)
    edges = [
        (chance.randrange(size), chance.randrange(size), chance.randrange(2))
        for _ in range(chance.randint(0, 2 * size))
    ]
    edges = [edge for edge in edges if edge[0] != edge[1]]
    neighbours = _graph(edges, size)
    colours = [chance.randrange(2) for _ in range(size)]
    found = _refine(colours, edges)
    seen: dict[int, set[tuple[int, frozenset[tuple[tuple[int, int], int]]]]] = {}
    for vertex, own in enumerate(found):
        view = Counter((edge, found[other]) for edge, other in neighbours[vertex])
        seen.setdefault(own, set()).add((colours[vertex], frozenset(view.items())))
    assert all(len(views) == 1 for views in seen.values())
    slow = _slow(colours, neighbours)
    assert len(set(found)) == len(set(slow)) == len(set(zip(found, slow, strict=True)))
