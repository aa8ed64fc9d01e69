"""Links whose number of cables nobody knows, descriptions without a node, and the conclusions that these do not allow.

A ratio, a share, a cut or what is left after a loss is a quotient of capacities. Where one of them is not known there
is none, and none is given: neither a good one nor a bad one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchconsole.topology.analysis.bisection import BisectionReport
from benchconsole.topology.analysis.oversubscription import OversubscriptionReport
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Link

_SHOWN = 6
_NOT_CONCLUDED = "ratios, shares, bisection and what a loss leaves are not concluded"


@dataclass(frozen=True, slots=True)
class Uncounted:
    """The links of a fabric whose cables are not counted; ``nodes`` is whether it has any node."""

    links: tuple[Link, ...]
    nodes: bool

    def __bool__(self) -> bool:
        """Whether something is missing that conclusions about the whole fabric need."""
        return bool(self.links) or not self.nodes

    @property
    def why(self) -> str:
        """The missing part of the description, in words; empty where nothing is missing."""
        if not self.nodes:
            return "no node is described"
        return f"nobody counted the cables of {format_links(self.links)}" if self.links else ""


def find_uncounted(fabric: Fabric) -> Uncounted:
    """The links of ``fabric`` without a count, and whether it has nodes."""
    return Uncounted(tuple(link for link in fabric.links.values() if not link.counted), bool(fabric.nodes))


def format_links(links: Sequence[Link]) -> str:
    """``leaf[1-4] to spine1``; the first few of many."""
    above = group_by_key((link.a, link.b) for link in links)
    beside = group_by_key((tuple(uppers), lower) for lower, uppers in above.items())
    found = [f"{fold_names(lowers)} to {fold_names(uppers)}" for uppers, lowers in beside.items()]
    more = f"; and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more


def list_findings(fabric: Fabric, uncounted: Uncounted) -> Iterator[StaticFinding]:
    """Missing nodes and counts, the conclusions that cannot be drawn, and the remedy."""
    if not uncounted.nodes:
        text = f"no node is described, so {_NOT_CONCLUDED}; add nodes, and links from them to their switches"
        yield StaticFinding(Severity.WARNING, "no-node", fabric.name, text)
    if uncounted.links:
        where = format_links(uncounted.links)
        text = f"{where}: the number of cables is not known, so {_NOT_CONCLUDED}; write it as count"
        yield StaticFinding(Severity.WARNING, "uncounted-cables", where, text)


def keep_known(fabric: Fabric, uncounted: Uncounted, found: OversubscriptionReport) -> OversubscriptionReport:
    """The ratios that rest on counted cables only."""
    if not uncounted.nodes:
        return replace(found, switches=(), tiers=(), groups=())
    ends = {device for link in uncounted.links for device in (link.a, link.b)}
    roles = {switch.role for name, switch in fabric.switches.items() if name in ends}
    groups = {(group.kind, group.name): set(group.members) for group in fabric.groups}
    groups |= {("mlag", pair.name): set(pair.switches) for pair in fabric.mlags}
    return replace(
        found,
        switches=tuple(each for each in found.switches if each.switch not in ends),
        tiers=tuple(each for each in found.tiers if each.role not in roles),
        groups=tuple(each for each in found.groups if not groups[each.kind, each.name] & ends),
    )


def leave_bisection_open(fabric: Fabric, uncounted: Uncounted) -> BisectionReport:
    """The report on cuts that says why there is none."""
    return BisectionReport(fabric.name, None, uncounted.why, ())
