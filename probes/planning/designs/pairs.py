"""The designs ``all-pairs`` and ``sample``: every two nodes in both directions, or an even part of them.

A sample is taken in layers, each of which is a permutation of the nodes: in layer t the node in
place p of a group of nodes cabled alike sends to the group d = p * step + t further on. So after
a few layers each node has met as many partners as any other, and each group each group as often.
"""

import random
from collections.abc import Iterator

import numpy as np

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout, Pair
from benchconsole.topology.arrays import Indices
from benchconsole.topology.model.fabric import NodeId

MOST_PAIRS = 250_000
"""Tests of one stage; who wants more is shown a plan that nobody would wait for."""


def lay_out_all(request: DesignRequest) -> list[FlowLayout]:
    """Both directions of every pair, in the order of cyclic shifts. PlanError where that is too many."""
    count = len(request.nodes)
    if count * (count - 1) > MOST_PAIRS:
        raise PlanError(f"all pairs of {count:,} nodes: found {count * (count - 1):,} tests, {_LESS}")
    nodes, classes = list(request.nodes), request.flow_classes
    shifted = (pair for shift in range(1, count) for pair in zip(nodes, nodes[shift:] + nodes[:shift], strict=True))
    pairs = [pair for pair in shifted if classes.find_class(*pair) is not None]
    return [FlowLayout("both directions of every pair", pairs=pairs, any_order=True)] if pairs else []


_LESS = f"expected at most {MOST_PAIRS:,}; take design sample, or fewer nodes"


def lay_out_sample(request: DesignRequest) -> list[FlowLayout]:
    """A part of all directed pairs, spread evenly over nodes and over groups of nodes cabled alike."""
    count = len(request.nodes)
    every = count * (count - 1)
    if count < 2:
        return []
    fraction, asked = request.options.number("fraction", 0.0, 1.0), request.options.whole("pairs", 0, 10**12)
    if bool(fraction) is bool(asked):
        raise PlanError(f"found fraction {fraction:g} and pairs {asked}, expected one of them above 0")
    if asked > every:
        limit = f"expected at most the {every:,} directed pairs of the selection"
        raise PlanError(f"option pairs: found {asked:,}, {limit}")
    wanted = asked or max(round(fraction * every), 1)
    if wanted > MOST_PAIRS:
        raise PlanError(f"a sample of {wanted:,} pairs, {_LESS}")
    seed = request.options.whole("seed", 0, 2**31)
    pairs, groups = choose_pairs(request, wanted, seed)
    met = len({(groups[source], groups[sink]) for source, sink in pairs})
    because = (
        f"{len(pairs):,} of {every:,} directed pairs ({len(pairs) / every:.2%}), seed {seed}; "
        f"{met:,} of {len(set(groups.values())) ** 2:,} pairs of groups of nodes cabled alike are met"
    )
    return [FlowLayout(because, pairs=pairs, any_order=True)] if pairs else []


def choose_pairs(request: DesignRequest, wanted: int, seed: int) -> tuple[list[Pair], dict[NodeId, int]]:
    """``wanted`` directed pairs with a path, as evenly as can be, and the group of each node."""
    classes = request.flow_classes
    chance = random.Random(seed)  # noqa: S311 - to be drawn again alike, not to be kept from anyone
    members = classes.group_nodes(request.nodes)
    groups = {node: number for number, group in members.items() for node in group}
    rows = [chance.sample(group, len(group)) for group in chance.sample(list(members.values()), len(members))]
    nodes = [node for row in rows for node in row]
    found: dict[Pair, None] = {}
    if len(nodes) < 2:
        return [], groups
    sent, received = np.zeros(len(nodes), np.intp), np.zeros(len(nodes), np.intp)
    for quota in _list_quotas(-(-wanted // len(nodes)), len(nodes) - 1):
        for source, sink in _layers([len(row) for row in rows]):
            good = (sent[source] < quota) & (received[sink] < quota)
            for one, other in zip(source[good].tolist(), sink[good].tolist(), strict=True):
                pair = (nodes[one], nodes[other])
                if pair not in found and classes.find_class(*pair) is not None:
                    sent[one] += 1
                    received[other] += 1
                    found[pair] = None
            if len(found) >= wanted:
                return list(found)[:wanted], groups
    return list(found), groups


def _list_quotas(least: int, most: int) -> Iterator[int]:
    """How many partners a node may have, from ``least`` up to ``most``.

    Where groups differ in size, the last pairs cannot be even: each pass allows a quarter more.
    """
    quota = min(least, most)
    while quota < most:
        yield quota
        quota = min(quota + max(quota // 4, 1), most)
    yield most


def _layers(sizes: list[int]) -> Iterator[tuple[Indices, Indices]]:
    """Permutations that together hold every directed pair once: senders and receivers by number, group after group.

    Groups are filled up to one size; who would meet one who is not there sits this layer out.
    """
    groups, places = len(sizes), max(sizes, default=0)
    start = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.intp)
    size = np.array(sizes, np.intp)
    place = np.concatenate([np.arange(each) for each in sizes])
    group = np.repeat(np.arange(groups), sizes)
    step = max(groups // places, 1)
    for turn in range(groups * places):
        there = (group + place * step + turn) % groups
        further = (place + turn // groups) % places
        other = start[there] + further
        met = (further < size[there]) & ((there != group) | (further != place))
        yield np.flatnonzero(met), other[met]
