"""The most that each part of a fabric was seen to carry in a session, and how its flows fared.

Whatever a part once carried, it can carry. How a split load divided is an assumption as long as there was room to
divide it otherwise: it proves that a part carried what its equals had no room for.
"""

from collections.abc import Collection, Sequence

import numpy as np

from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.round_flows import WHOLE, MeasuredFlow, RoundFlows, find_margin
from benchconsole.topology.arrays import Flags, Floats, Indices, sum_at
from benchconsole.topology.model.fabric import NodeId

OFFERED = 0.6
"""Share of its payload capacity from which a part was loaded far enough to tell whether it is sound."""

STRAYED = (3, 8)
"""Rounds of streams over a part from which one of them, and two, may have taken another way: a tenth of all does."""

UNSURE = 0.05
"""Share of a load over several equal ways that counts for none of them: what is proven of one is a small difference."""

SOUND = 0.85
"""Share of what it was offered that a sound part carried at least."""


class PartLoads:
    """The most that each part was seen to carry so far (``proven``), and was to carry (``offered``); byte/s of payload.

    ``assumed`` counts also what streams carried whose paths are only assumed, but for the most in so many rounds as
    streams may have taken another way (``STRAYED``): it clears a part of no other observation.
    ``crossed`` counts by their shares the flows over each that it would slow at ``OFFERED`` of its capacity, and
    ``slow`` all that were slow.
    How a split load divided is an assumption as long as there was room to divide it otherwise: it proves that a part
    carried what its equals had no room for.
    """

    def __init__(self, parts: Parts) -> None:
        self.capacity = parts.capacity
        self._parts = parts
        legs = [NodeId(link.a) in parts.graph.fabric.nodes for link in parts.graph.links]
        self._is_leg: Flags = np.repeat(np.array(legs, bool), 2)[parts.ways_of]
        self.proven: Floats = np.zeros(parts.size)
        self.assumed: Floats = np.zeros(parts.size)
        self._most: Floats = np.zeros((len(STRAYED) + 1, parts.size))  # what streams carried in a round, most first
        self._rounds: Floats = np.zeros(parts.size)
        self.offered: Floats = np.zeros(parts.size)
        self.crossed: Floats = np.zeros(parts.size)
        self.slow: Floats = np.zeros(parts.size)
        self.acquitted: Flags = np.zeros(parts.size, bool)

    def add(self, flows: RoundFlows) -> None:
        """Take in what the flows of one more round carried: over a part whole, or what its equals had no room for."""
        if not flows.flows:
            return
        crossed, size = flows.crossings, len(self.proven)
        whole = crossed.share > WHOLE
        part, owner = crossed.part[whole], crossed.owner[whole]
        sums = np.bincount(part, flows.values[owner], minlength=size) * _share_of_time(part, owner, flows, size)
        # Of streams whose paths are only assumed a fast one beside slow ones may be on another member.
        mixed = np.bincount(part, (flows.slow & flows.assumed)[owner], minlength=size) > 0
        sums[mixed] = 0.0
        if flows.assumed.any():
            self._most = -np.sort(-np.vstack((self._most, sums)), axis=0)[:-1]
            self._rounds += np.bincount(part, minlength=size) > 0
        else:
            np.maximum(self.proven, sums, out=self.proven)
            self._add_shared(flows)
        strayed = np.searchsorted(STRAYED, self._rounds, side="right")
        self.assumed = np.maximum(np.take_along_axis(self._most, strayed[None, :], axis=0)[0], self.proven)
        np.maximum(self.offered, flows.offered, out=self.offered)
        slow, loaded = flows.slow[crossed.owner], (flows.offered >= OFFERED * self.capacity)[crossed.part]
        self.crossed += np.bincount(crossed.part, crossed.share * (slow | loaded), minlength=size)
        self.slow += np.bincount(crossed.part, crossed.share * slow, minlength=size)

    def _add_shared(self, flows: RoundFlows) -> None:
        """Add the least that parts with a shared load carried: all of it less what the others can carry at most.

        Only flows that cross such parts with all of themselves count: how much of another one came there is not known.
        """
        crossed, shared = flows.crossings, self._parts.shared
        link = crossed.part < self._parts.ways
        group, owner, share = shared.of[crossed.part[link]], crossed.owner[link], crossed.share[link]
        size = len(shared.capacity)
        keys, at = np.unique(owner * size + group, return_inverse=True)
        whole = (sum_at(share, at, len(keys)) > WHOLE)[at]
        group, owner, share = group[whole], owner[whole], share[whole]
        load = sum_at(share * flows.values[owner], group, size)
        load *= _share_of_time(group, owner, flows, size)
        ways = self.proven[: self._parts.ways]
        np.maximum(
            ways,
            (1 - UNSURE) * load[shared.of] - shared.capacity[shared.of] + self.capacity[: self._parts.ways],
            out=ways,
        )
        members = self._parts.members
        rest = self.capacity[members.way] - self.capacity[members.part]
        self.proven[members.part] = np.maximum(self.proven[members.part], self.proven[members.way] - rest)

    def clear(self) -> None:
        """Forget every round."""
        for each in (self.proven, self.assumed, self._most, self._rounds, self.offered, self.crossed, self.slow):
            each[:] = 0
        self.acquitted[:] = False

    def read_state(self, parts: Indices) -> bytes:
        """All that is known of these parts, to see whether it changed."""
        known = (self.proven, self.assumed, self.offered, self.crossed, self.slow, self.acquitted)
        return b"".join(each[parts].tobytes() for each in known)

    def acquit(self, flows: RoundFlows, passed: Sequence[MeasuredFlow]) -> None:
        """Take in flows that ``passed`` when they loaded a suspect alone: the NICs that they filled are sound."""
        for each in passed:
            filled = flows.offered[each.parts] >= SOUND * self.capacity[each.parts]
            self.acquitted[each.parts[filled & self._is_leg[each.parts]]] = True

    def find_proven(self, part: int) -> float:
        """byte/s that it was seen to carry."""
        return float(self.proven[part])

    def compute_slow_share(self, parts: Collection[int]) -> float:
        """The share of the flows over these parts that were slow; 0 where none crossed them."""
        chosen = np.fromiter(parts, np.intp)
        crossed = float(self.crossed[chosen].sum())
        return float(self.slow[chosen].sum()) / crossed if crossed else 0.0

    def is_sound(self, part: int) -> bool:
        """Whether it was loaded far enough to tell, and carried what it should."""
        offered = min(float(self.offered[part]), float(self.capacity[part]))
        return offered >= OFFERED * float(self.capacity[part]) and float(self.assumed[part]) >= SOUND * offered


def _share_of_time(part: Indices, owner: Indices, flows: RoundFlows, size: int) -> Floats:
    """The least share of their time that the flows over each part ran together (``capacity.overlap``)."""
    ends = np.array([group[0].at for group in flows.measurements])[owner]
    lengths = np.array([result.ran for result in flows.results])[owner]
    margins = np.array([find_margin(group[0]) for group in flows.measurements])[owner]
    last, (first, shortest, margin) = np.full(size, -np.inf), np.full((3, size), np.inf)
    np.maximum.at(last, part, ends)
    np.minimum.at(first, part, ends)
    np.minimum.at(shortest, part, lengths)
    np.minimum.at(margin, part, margins)
    used = np.isfinite(shortest) & (shortest > 0)
    shares = np.ones(size)
    apart = np.maximum(last[used] - first[used] - margin[used], 0.0)
    shares[used] = shortest[used] / (shortest[used] + apart)
    return shares
