"""The routes of the fabric: shortest paths, all equal ones at once.

Owned here: from the cables that are up to the `ip route` lines of every switch, as a
link-state routing protocol would install them: each parallel member is one next hop.
Refused here: running anything; the kernel has no routing protocol, so `network.py`
installs these again after every change of a link.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

from tests.lab.plan import Member, Plan


def routes(plan: Plan, up: Collection[Member]) -> dict[str, list[str]]:
    """For every switch, one `route replace` line per subnet behind another switch."""
    lines: dict[str, list[str]] = {name: [] for name in plan.switches}
    cables = _by_switch(up)
    for owner in plan.switches.values():
        if not owner.subnet:
            continue
        distance = _distances(owner.name, cables)
        for name in plan.switches:
            if name != owner.name:
                lines[name].append(_line(owner.subnet, name, cables.get(name, []), distance))
    return lines


def _by_switch(up: Collection[Member]) -> dict[str, list[Member]]:
    found: dict[str, list[Member]] = {}
    for cable in up:
        found.setdefault(cable.leaf, []).append(cable)
        found.setdefault(cable.spine, []).append(cable)
    return found


def _distances(goal: str, cables: dict[str, list[Member]]) -> dict[str, int]:
    distance, waiting = {goal: 0}, deque([goal])
    while waiting:
        here = waiting.popleft()
        for cable in cables.get(here, []):
            far = cable.far(here)
            if far not in distance:
                distance[far] = distance[here] + 1
                waiting.append(far)
    return distance


def _line(subnet: str, here: str, cables: list[Member], distance: dict[str, int]) -> str:
    if here not in distance:
        # Replacing, not deleting, keeps the line the same whether or not a route was there.
        return f"route replace unreachable {subnet}"
    closer = [c for c in cables if distance.get(c.far(here)) == distance[here] - 1]
    hops = " ".join(f"nexthop via {cable.address(cable.far(here))} dev {cable.port(here)}" for cable in closer)
    return f"route replace {subnet} {hops}"
