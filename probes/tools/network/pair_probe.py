"""Probes between two nodes: the peer, and the dice for ports."""

import random

from benchconsole.probes.api import Node, PlanError, Probe, Safety, Shape, Target


class PairProbe(Probe):
    """A probe that sends from a node to its peer. ``ports`` draws the ports of its servers."""

    safety = Safety.LOADS
    shape = Shape.PAIR
    timeout = 60.0

    def __init__(self, ports: random.Random | None = None) -> None:
        self._ports = ports or random.SystemRandom()

    def peer(self, target: Target) -> Node:
        """The far end of the test; PlanError where there is none."""
        if target.peer is None:
            raise PlanError(f"{self.name} needs a pair of nodes")
        return target.peer
