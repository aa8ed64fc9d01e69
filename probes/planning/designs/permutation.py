"""The design ``permutation``: every node sends to one partner and receives from one."""

import random

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout
from benchconsole.topology.model.fabric import NodeId


def lay_out(request: DesignRequest) -> list[FlowLayout]:
    """Partners ``shift`` further on in the file, or drawn by ``seed``."""
    nodes = list(request.nodes)
    if len(nodes) < 2:
        return []
    shift = request.options.whole("shift", 0, len(nodes) - 1)
    seed = request.options.whole("seed", 0, 2**31)
    if shift and "seed" in request.written:
        raise PlanError(f"found shift {shift} and seed {seed}, expected one of them: either counts on or draws")
    order = nodes[shift:] + nodes[:shift] if shift else draw_cycle(nodes, seed)
    pairs = [pair for pair in zip(nodes, order, strict=True) if request.flow_classes.find_class(*pair) is not None]
    how = f"{shift} further on" if shift else f"drawn with seed {seed}"
    because = f"every node sends to one partner and receives from one, {how}"
    return [FlowLayout(because, pairs=pairs, any_order=True)] if pairs else []


def draw_cycle(nodes: list[NodeId], seed: int) -> list[NodeId]:
    """A random order in which none stands where it stood: one cycle through all (Sattolo 1986)."""
    chance = random.Random(seed)  # noqa: S311 - to be drawn again alike, not to be kept from anyone
    order = list(range(len(nodes)))
    for last in range(len(order) - 1, 0, -1):
        other = chance.randrange(last)
        order[last], order[other] = order[other], order[last]
    return [nodes[index] for index in order]
