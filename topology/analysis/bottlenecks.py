"""Owns the obvious bottlenecks in words: where less leads on than comes in, and which test could not show it.

In order of cost: what a node's share is divided by there. First what lies between nodes, then the
ways out of the fabric, then tests that would miss a bottleneck. Equal switches are one sentence.
Byte/s on the wire inside, bits on the screen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from topology.analysis.finding import Finding, Severity
from topology.analysis.wording import named
from topology.maxmin import Floats, Indices
from topology.model import Fabric, SwitchId
from topology.tables import Tables, summed, tables
from topology.units import counted, network_rate
from topology.units import ratio as shown

_MORE = 1 + 1e-9
"""From this quotient on one rate is more than another; below it is rounding."""


@dataclass(frozen=True, slots=True)
class Narrow:
    """Equal ``switches``, each with ``offered`` byte/s coming in and ``passed`` leading on.

    ``aside``: it leads to switches of the same tier, which alone join what is below them.
    """

    switches: tuple[str, ...]
    what: str
    offered: float
    passed: float
    aside: bool

    @property
    def cost(self) -> float:
        """What a share is divided by."""
        return self.offered / self.passed


@dataclass(frozen=True, slots=True)
class Exit:
    """All that leads out above the ``top`` of a network, against what its ``nodes`` can send."""

    top: tuple[str, ...]
    nodes: int
    offered: float
    passed: float

    @property
    def cost(self) -> float:
        """What a share is divided by."""
        return self.offered / self.passed


@dataclass(frozen=True, slots=True)
class Hidden:
    """A bottleneck that one stream per node cannot show, since each fills one leg only.

    Equal places of ``nodes`` nodes with ``legs`` legs each of which one cable is ``speed``;
    ``switches`` are those of all places, ``up`` leads up from each. ``streams`` are needed per
    node, spread over its legs, to offer more than ``up``.
    """

    switches: tuple[str, ...]
    places: int
    nodes: int
    legs: int
    speed: float
    offered: float
    up: float
    streams: int

    @property
    def single(self) -> float:
        """What one stream of each node offers, byte/s."""
        return self.nodes * self.speed


@dataclass(frozen=True, slots=True)
class Report:
    """Each kind in order of cost."""

    narrow: tuple[Narrow, ...]
    exits: tuple[Exit, ...]
    hidden: tuple[Hidden, ...]


def bottlenecks(fabric: Fabric, *, cabled: Tables | None = None) -> Report:
    """The obvious bottlenecks of ``fabric``."""
    cabled = cabled or tables(fabric)
    return Report(
        narrow=tuple(sorted(_narrow(cabled), key=lambda each: -each.cost)),
        exits=tuple(sorted(_exits(cabled), key=lambda each: -each.cost)),
        hidden=tuple(sorted(_hidden(cabled), key=lambda each: -each.offered / each.up)),
    )


def _narrow(cabled: Tables) -> Iterator[Narrow]:
    climb = cabled.climb
    upward = np.flatnonzero((climb.up > 0) & (climb.down > climb.up))
    yield from _equal(cabled, upward, (climb.down, climb.up), aside=False)
    only = _joined_aside(cabled)
    yield from _equal(cabled, only[climb.down[only] > cabled.side[only]], (climb.down, cabled.side), aside=True)


def _joined_aside(cabled: Tables) -> Indices:
    """The top switches that nothing but cables of their own tier joins to the other top switches."""
    climb = cabled.climb
    beside = np.flatnonzero(climb.top & (cabled.side > 0))
    below = np.zeros(len(climb.top), bool)
    # Who is reached from below by a switch or node with a second way up needs no cable aside.
    several = np.bincount(climb.low, minlength=len(climb.top))[climb.low] > 1
    below[climb.high[several]] = True
    legs = np.bincount(climb.sender, minlength=len(climb.group))[climb.sender] > 1
    below[cabled.node_groups.switch[legs]] = True
    return beside[(beside >= cabled.nodes) & ~below[beside]]


def _equal(cabled: Tables, devices: Indices, rates: tuple[Floats, Floats], *, aside: bool) -> Iterator[Narrow]:
    """Fold switches with the same model and role and the same numbers."""
    alike: dict[tuple[str, float, float], list[str]] = {}
    for device in devices.tolist():
        name = cabled.names[device]
        switch = cabled.fabric.switches[SwitchId(name)]
        what = switch.model or f"{switch.role} switch"
        alike.setdefault((what, float(rates[0][device]), float(rates[1][device])), []).append(name)
    for (what, offered, passed), names in alike.items():
        yield Narrow(tuple(names), what, offered, passed, aside)


def _exits(cabled: Tables) -> Iterator[Exit]:
    climb, groups = cabled.climb, cabled.node_groups
    size = len(climb.meet)
    network = climb.network[cabled.trunks.low[climb.exits]]
    passed = summed(cabled.trunks.capacity[climb.exits], network, size)
    legs = groups.capacity * groups.size[groups.owner]
    offered = summed(legs, climb.network[groups.switch], size)
    nodes = summed(groups.nodes[climb.group], climb.inside, size)
    for each in np.flatnonzero((passed > 0) & (offered > passed)).tolist():
        top = np.unique(cabled.trunks.low[climb.exits][network == each])
        yield Exit(cabled.devices(top), int(nodes[each]), float(offered[each]), float(passed[each]))


def _hidden(cabled: Tables) -> Iterator[Hidden]:
    """Places: switches whose only traffic from below is that of nodes with legs on all of them and nowhere else."""
    climb, groups, size = cabled.climb, cabled.node_groups, len(cabled.node_groups)
    legs = np.flatnonzero(groups.capacity > 0)
    owner, switch = groups.owner[legs], groups.switch[legs]
    # Legs of a group are in the order of their switches: each switch counts once.
    once = np.append(True, (owner[1:] != owner[:-1]) | (switch[1:] != switch[:-1]))[: len(legs)]
    switches = np.bincount(owner[once], minlength=size)
    up, down = summed(climb.up[switch[once]], owner[once], size), summed(climb.down[switch[once]], owner[once], size)
    offered = summed(groups.capacity[legs], owner, size) * groups.size
    speed = np.zeros(size)
    np.maximum.at(speed, owner, np.array([kind.speed for kind in cabled.kinds], float)[groups.kind[legs]])
    blind = (switches > 1) & (up > 0) & (offered > up * _MORE) & (groups.size * speed <= up * _MORE)
    start = np.searchsorted(owner, np.arange(size + 1)).tolist()
    alike: dict[tuple[int, int, float, float, float], list[Indices]] = {}
    for group in np.flatnonzero(blind & (np.abs(down - offered) < offered * (_MORE - 1))).tolist():
        numbers = (int(groups.size[group]), int(switches[group]), float(speed[group]), float(offered[group]))
        alike.setdefault((*numbers, float(up[group])), []).append(switch[start[group] : start[group + 1]])
    for (nodes, legs_each, one, taken, passed), places in alike.items():
        devices = np.unique(np.concatenate(places))
        streams = int(passed * _MORE // (nodes * one)) + 1
        yield Hidden(cabled.devices(devices), len(places), nodes, legs_each, one, taken, passed, streams)


def findings(fabric: Fabric, report: Report) -> list[Finding]:
    """One sentence for each bottleneck, the costliest first."""
    del fabric
    return [
        *(_said_of_narrow(each) for each in report.narrow),
        *(_said_of_exit(each) for each in report.exits),
        *(_said_of_hidden(each) for each in report.hidden),
    ]


def _each(names: Sequence[str], what: str) -> str:
    if len(names) == 1:
        return f"{names[0]} ({what})"
    return f"Each of {len(names):,} {what}{'es' if what.endswith(' switch') else ''} ({named(names)})"


def _said_of_narrow(each: Narrow) -> Finding:
    onward = "has for the other switches of its tier" if each.aside else "passes on"
    text = (
        f"{_each(each.switches, each.what)} takes {network_rate(each.offered)} from below and {onward} "
        f"{network_rate(each.passed)}: {shown(each.cost)}"
    )
    return Finding(Severity.WARNING, "bottleneck", named(each.switches), text)


def _said_of_exit(each: Exit) -> Finding:
    text = (
        f"{counted(each.nodes, 'node')} can send {network_rate(each.offered)}, and {network_rate(each.passed)} "
        f"lead out of the fabric above {named(each.top)}: {shown(each.cost)}"
    )
    return Finding(Severity.NOTE, "way-out", named(each.top), text)


def _said_of_hidden(each: Hidden) -> Finding:
    where = named(each.switches)
    much = "as much as" if np.isclose(each.single, each.up) else f"not more than the {network_rate(each.up)} of"
    legs = "both legs" if each.legs == 2 else f"all {each.legs} legs"
    places = "" if each.places == 1 else f" in each of {each.places} places"
    text = (
        f"A single stream of {network_rate(each.speed)} per node offers {each.nodes} x {network_rate(each.speed)} = "
        f"{network_rate(each.single)}{places}, {much} the uplinks of {where}: it cannot show the "
        f"{shown(each.offered / each.up)}; {each.streams} streams per node on {legs} are needed"
    )
    return Finding(Severity.NOTE, "single-stream", where, text)
