"""Owns the design ``permutation``: every node sends to one partner and receives from one."""

import random

from probes.errors import PlanError
from probes.planning.layout import Layout, Pair, Request
from probes.planning.options import whole
from topology.model import NodeId


def lay_out(request: Request) -> list[Layout]:
    """Partners ``shift`` further on in the file, or drawn by ``seed``."""
    nodes = list(request.nodes)
    if len(nodes) < 2:
        return []
    shift = whole(request.options, "shift", least=0, most=len(nodes) - 1)
    seed = whole(request.options, "seed", least=0, most=2**31)
    if shift and "seed" in request.given:
        raise PlanError(f"found shift {shift} and seed {seed}, expected one of them: either counts on or draws")
    order = nodes[shift:] + nodes[:shift] if shift else drawn(nodes, seed)
    kinds = request.kinds
    pairs: list[Pair] = [pair for pair in zip(nodes, order, strict=True) if kinds.kind(*pair) is not None]
    how = f"{shift} further on" if shift else f"drawn with seed {seed}"
    because = f"every node sends to one partner and receives from one, {how}"
    return [Layout(because, pairs=pairs, any_order=True)] if pairs else []


def drawn(nodes: list[NodeId], seed: int) -> list[NodeId]:
    """A random order in which none stands where it stood: one cycle through all (Sattolo 1986)."""
    chance = random.Random(seed)  # noqa: S311 - to be drawn again alike, not to be kept from anyone
    order = list(range(len(nodes)))
    for last in range(len(order) - 1, 0, -1):
        other = chance.randrange(last)
        order[last], order[other] = order[other], order[last]
    return [nodes[index] for index in order]
