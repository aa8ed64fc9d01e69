"""The load on the uplinks of every switch that flows of the running round cross, both ways; none of it is judged."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.model.fabric import Fabric, Link, SwitchId
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.console.view.link_loads import LinkLoads, WayLoad


@dataclass(frozen=True, slots=True)
class UplinkLoad:
    """The links of one switch to the tiers above it, together: what leaves it, and what comes to it."""

    name: str
    outward: "WayLoad"
    inward: "WayLoad"

    @property
    def fuller(self) -> float:
        """The higher share of capacity, by what is told; -1 where nothing is."""
        return max((each.share for each in (self.outward, self.inward) if each.share is not None), default=-1.0)


def count_through(each: UplinkLoad) -> str:
    """How many flows cross the uplinks out and in, and how many of them tell a number."""
    telling = each.outward.telling + each.inward.telling
    flows = each.outward.tests + each.inward.tests
    silent = "" if telling == flows else f", {telling:,} tell"
    return f"{counted(each.outward.tests, 'flow')} out, {each.inward.tests:,} in{silent}"


def find_uplinks(fabric: Fabric) -> dict[SwitchId, tuple[Link, ...]]:
    """The links of each switch to the tiers above, of those that have any."""
    found = {}
    for switch in fabric.switches:
        tier = fabric.tier(switch)
        up = tuple(link for link in fabric.links_at[switch] if fabric.tier(link.other(switch)) > tier)
        if up:
            found[switch] = up
    return found


def list_uplink_loads(view: RunView, loads: "LinkLoads | None") -> tuple[UplinkLoad, ...]:
    """The uplinks that flows of the round cross now, the fullest first; none where no test tells a number."""
    if loads is None:
        return ()
    made = []
    for switch, links in find_uplinks(view.fabric).items():
        inward, outward = loads.find_both(links, (switch,))
        if inward.tests + outward.tests:
            made.append(UplinkLoad(sanitize(switch), outward, inward))
    return tuple(sorted(made, key=lambda each: -each.fuller))
