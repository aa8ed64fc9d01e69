"""The most that each directed link was seen to carry over the rounds of a session.

Flat arrays over the directed links, by the numbers of the routing graph, so that a round of ten
thousand flows costs a few passes. How a split load divided is an assumption as long as there was room to
divide it otherwise: it proves nothing unless it filled the link.
"""

import numpy as np
from numpy.typing import NDArray

from benchconsole.probes.judging.round_flows import RoundFlows
from benchconsole.probes.model.measuring import FULL
from benchconsole.topology.routing.graph import Graph

_WHOLE = 1 - 1e-9
_Numbers = NDArray[np.intp]
_Floats = NDArray[np.float64]


class LinkLoads:
    """What each directed link is known to have carried so far: ``proven``, byte/s of payload, by its number."""

    def __init__(self, graph: Graph) -> None:
        self.capacity = graph.payload
        self.proven: _Floats = np.zeros(len(self.capacity))

    def add(self, flows: RoundFlows) -> None:
        """Take in what the flows of one more round carried: those that cross a link whole, or a load that filled it."""
        if not flows.flows:
            return
        crossed, size = flows.crossings, len(self.proven)
        whole = crossed.share > _WHOLE
        way, owner = crossed.way[whole], crossed.owner[whole]
        sums = np.bincount(way, flows.values[owner], minlength=size) * _share_of_time(way, owner, flows, size)
        filled = np.where(flows.loads >= FULL * self.capacity, flows.loads, 0.0)
        np.maximum(self.proven, np.maximum(sums, filled), out=self.proven)


def _share_of_time(way: _Numbers, owner: _Numbers, flows: RoundFlows, size: int) -> _Floats:
    """The least share of their time that the flows over each link ran together (``capacity.overlap``)."""
    ends = np.array([group[0].at for group in flows.measurements])[owner]
    lengths = np.array([result.ran for result in flows.results])[owner]
    last, first, shortest = np.full(size, -np.inf), np.full(size, np.inf), np.full(size, np.inf)
    np.maximum.at(last, way, ends)
    np.minimum.at(first, way, ends)
    np.minimum.at(shortest, way, lengths)
    used = np.isfinite(shortest) & (shortest > 0)
    shares = np.ones(size)
    shares[used] = shortest[used] / (shortest[used] + last[used] - first[used])
    return shares
