"""The next hops of all devices at once are those that the graph finds for each."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.errors import NoPeerLinkError
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.routing.graph import Graph
from benchconsole.topology.routing.hop_table import HopTable
from tests.topology.routing.test_all_routes import KINDS, SHAPES, fabrics
from tests.topology.wild import MAX_SEED


def find_hops(graph: Graph, device: str, egress: str) -> dict[int, float] | None:
    """The directed links on from a device to an egress, with their parts; None where nothing leads on."""
    if graph.vertex[device] not in graph.distances(egress):
        return None
    try:
        hops = graph.onward(device, egress)
    except NoPeerLinkError:
        return None
    parts = zip(hops, graph.weigh(hops), strict=True)
    return {way: part * own for hop, part in parts for way, own in zip(hop.ways, hop.parts, strict=True)}


def check_pairs(described: Fabric, chance: random.Random) -> None:
    """All pairs in a few steps, so that some meet what others have found."""
    graph = Graph(described)
    table = HopTable(graph)
    pairs = [(device, egress) for device in graph.devices for egress in sorted(set(graph.vertex.values()))]
    pairs = [(device, egress) for device, egress in pairs if graph.vertex[device] != egress]
    chance.shuffle(pairs)
    while pairs:
        step, pairs = pairs[: 1 + len(pairs) // 3], pairs[1 + len(pairs) // 3 :]
        numbers = np.array([(graph.number[device], graph.number[egress]) for device, egress in step])
        for fan, (device, egress) in zip(table.find_fans(*numbers.T).tolist(), step, strict=True):
            hops = find_hops(graph, device, egress)
            if hops is None:
                assert fan == -1
                continue
            ways, parts, ends = (column[table.fans.find(np.array([fan]))].tolist() for column in table.fans.columns)
            assert dict(zip(ways, parts, strict=True)) == pytest.approx(hops, rel=1e-12)
            assert [graph.devices[end] for end in ends] == [graph.direction(way ^ 1).source for way in ways]


@pytest.mark.parametrize("kind", SHAPES)
def test_hops_of_every_kind_of_fabric_are_those_of_the_graph(kind: str) -> None:
    for seed in range(3):
        check_pairs(KINDS[kind](), random.Random(seed))


@given(fabrics(), st.integers(0, MAX_SEED))
@settings(max_examples=100, deadline=None)
def test_hops_of_any_fabric_are_those_of_the_graph(described: Fabric, seed: int) -> None:
    check_pairs(described, random.Random(seed))
