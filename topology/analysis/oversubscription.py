"""Owns how far each switch is oversubscribed as built: what its lower ports offer against what goes up.

Definition (vendor design guides): the sum of capacity toward the nodes over the sum of
capacity toward the core, connected ports only, in one direction, written ``2.00:1``.
"""

from dataclasses import dataclass

from topology.model import Fabric, SwitchId


@dataclass(frozen=True, slots=True)
class Oversubscription:
    """One switch. ``down`` and ``up`` are byte/s on the wire; ``ratio`` is None without a way up."""

    switch: SwitchId
    down: float
    up: float
    side: float

    @property
    def ratio(self) -> float | None:
        """down : up, None for a switch at the top."""
        return self.down / self.up if self.up else None


def oversubscription(fabric: Fabric) -> tuple[Oversubscription, ...]:
    """Every switch, in file order. ``side`` is the capacity to switches of the same tier."""
    found = []
    for switch in fabric.switches:
        sums = {-1: 0.0, 0: 0.0, 1: 0.0}
        own = fabric.tier(switch)
        for link in fabric.links_at[switch]:
            other = fabric.tier(link.other(switch))
            sums[(other > own) - (other < own)] += link.capacity
        found.append(Oversubscription(switch, sums[-1], sums[1], sums[0]))
    return tuple(found)
