"""Obvious bottlenecks in words: less leads on than comes in. Also the tests that could not show one.

In order of cost: what a node's share is divided by there. First what lies between nodes, then the
ways out of the fabric, then tests that would miss a bottleneck. Equal switches are one sentence.
Byte/s on the wire inside, bits on the screen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.folded_names import fold_names
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.model.fabric import Fabric, SwitchId
from benchconsole.topology.tables.fabric_tables import Tables, make_tables, sum_at
from benchconsole.topology.units import counted, network_rate
from benchconsole.topology.units import ratio as shown

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
class FabricExit:
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
class BottleneckReport:
    """Each kind in order of cost."""

    narrow: tuple[Narrow, ...]
    exits: tuple[FabricExit, ...]
    hidden: tuple[Hidden, ...]


def find_bottlenecks(fabric: Fabric, *, cabled: Tables | None = None) -> BottleneckReport:
    """The obvious bottlenecks of ``fabric``."""
    cabled = cabled or make_tables(fabric)
    return BottleneckReport(
        narrow=tuple(sorted(_find_narrow(cabled), key=lambda each: -each.cost)),
        exits=tuple(sorted(_find_exits(cabled), key=lambda each: -each.cost)),
        hidden=tuple(sorted(_find_hidden(cabled), key=lambda each: -each.offered / each.up)),
    )


def _find_narrow(cabled: Tables) -> Iterator[Narrow]:
    uplinks = cabled.uplinks
    upward = np.flatnonzero((uplinks.up > 0) & (uplinks.down > uplinks.up))
    yield from _group_equal(cabled, upward, (uplinks.down, uplinks.up), aside=False)
    only = _find_joined_aside(cabled)
    yield from _group_equal(
        cabled, only[uplinks.down[only] > cabled.side[only]], (uplinks.down, cabled.side), aside=True
    )


def _find_joined_aside(cabled: Tables) -> Indices:
    """The top switches that nothing but cables of their own tier joins to the other top switches."""
    uplinks = cabled.uplinks
    beside = np.flatnonzero(uplinks.top & (cabled.side > 0))
    below = np.zeros(len(uplinks.top), bool)
    # Who is reached from below by a switch or node with a second way up needs no cable aside.
    several = np.bincount(uplinks.low, minlength=len(uplinks.top))[uplinks.low] > 1
    below[uplinks.high[several]] = True
    legs = np.bincount(uplinks.sender, minlength=len(uplinks.group))[uplinks.sender] > 1
    below[cabled.node_groups.switch[legs]] = True
    return beside[(beside >= cabled.nodes) & ~below[beside]]


def _group_equal(cabled: Tables, devices: Indices, rates: tuple[Floats, Floats], *, aside: bool) -> Iterator[Narrow]:
    """Fold switches with the same model and role and the same numbers."""
    alike: dict[tuple[str, float, float], list[str]] = {}
    for device in devices.tolist():
        name = cabled.names[device]
        switch = cabled.fabric.switches[SwitchId(name)]
        what = switch.model or f"{switch.role} switch"
        alike.setdefault((what, float(rates[0][device]), float(rates[1][device])), []).append(name)
    for (what, offered, passed), names in alike.items():
        yield Narrow(tuple(names), what, offered, passed, aside)


def _find_exits(cabled: Tables) -> Iterator[FabricExit]:
    uplinks, groups = cabled.uplinks, cabled.node_groups
    size = len(uplinks.meet)
    network = uplinks.network[cabled.trunks.low[uplinks.exits]]
    passed = sum_at(cabled.trunks.capacity[uplinks.exits], network, size)
    legs = groups.capacity * groups.size[groups.owner]
    offered = sum_at(legs, uplinks.network[groups.switch], size)
    nodes = sum_at(groups.nodes[uplinks.group], uplinks.inside, size)
    for each in np.flatnonzero((passed > 0) & (offered > passed)).tolist():
        top = np.unique(cabled.trunks.low[uplinks.exits][network == each])
        yield FabricExit(cabled.devices(top), int(nodes[each]), float(offered[each]), float(passed[each]))


def _find_hidden(cabled: Tables) -> Iterator[Hidden]:
    """Places: switches whose only traffic from below is that of nodes with legs on all of them and nowhere else.

    Arrays have one entry for each group of nodes cabled alike, but for ``legs``, ``owner``, ``switch`` and ``once``.
    """
    uplinks, groups, size = cabled.uplinks, cabled.node_groups, len(cabled.node_groups)
    legs = np.flatnonzero(groups.capacity > 0)
    owner, switch = groups.owner[legs], groups.switch[legs]
    # Legs of a group are in the order of their switches: each switch counts once.
    once = np.append(True, (owner[1:] != owner[:-1]) | (switch[1:] != switch[:-1]))[: len(legs)]
    switches = np.bincount(owner[once], minlength=size)
    up, down = (
        sum_at(uplinks.up[switch[once]], owner[once], size),
        sum_at(uplinks.down[switch[once]], owner[once], size),
    )
    offered = sum_at(groups.capacity[legs], owner, size) * groups.size
    # One stream of a node is on one cable only, so its fastest member bounds it.
    speed = np.zeros(size)
    np.maximum.at(speed, owner, np.array([kind.speed for kind in cabled.kinds], float)[groups.kind[legs]])
    # Blind: all legs together overload the uplinks, one stream of each node does not.
    blind = (switches > 1) & (up > 0) & (offered > up * _MORE) & (groups.size * speed <= up * _MORE)
    # Where ``down`` is more than the group offers, others send through these switches too, and streams of theirs count.
    start = np.searchsorted(owner, np.arange(size + 1)).tolist()
    alike: dict[tuple[int, int, float, float, float], list[Indices]] = {}
    for group in np.flatnonzero(blind & (np.abs(down - offered) < offered * (_MORE - 1))).tolist():
        numbers = (int(groups.size[group]), int(switches[group]), float(speed[group]), float(offered[group]))
        alike.setdefault((*numbers, float(up[group])), []).append(switch[start[group] : start[group + 1]])
    for (nodes, legs_each, one, taken, passed), places in alike.items():
        devices = np.unique(np.concatenate(places))
        streams = int(passed * _MORE // (nodes * one)) + 1
        yield Hidden(cabled.devices(devices), len(places), nodes, legs_each, one, taken, passed, streams)


def list_findings(report: BottleneckReport) -> list[StaticFinding]:
    """One sentence for each bottleneck, the costliest first."""
    return [
        *(_describe_narrow(each) for each in report.narrow),
        *(_describe_exit(each) for each in report.exits),
        *(_describe_hidden(each) for each in report.hidden),
    ]


def _name_switches(names: Sequence[str], what: str) -> str:
    if len(names) == 1:
        return f"{names[0]} ({what})"
    return f"Each of {len(names):,} {what}{'es' if what.endswith(' switch') else ''} ({fold_names(names)})"


def _describe_narrow(each: Narrow) -> StaticFinding:
    onward = "has for the other switches of its tier" if each.aside else "passes on"
    text = (
        f"{_name_switches(each.switches, each.what)} takes {network_rate(each.offered)} from below and {onward} "
        f"{network_rate(each.passed)}: {shown(each.cost)}"
    )
    return StaticFinding(Severity.WARNING, "bottleneck", fold_names(each.switches), text)


def _describe_exit(each: FabricExit) -> StaticFinding:
    text = (
        f"{counted(each.nodes, 'node')} can send {network_rate(each.offered)}, and {network_rate(each.passed)} "
        f"lead out of the fabric above {fold_names(each.top)}: {shown(each.cost)}"
    )
    return StaticFinding(Severity.NOTE, "way-out", fold_names(each.top), text)


def _describe_hidden(each: Hidden) -> StaticFinding:
    where = fold_names(each.switches)
    much = "as much as" if np.isclose(each.single, each.up) else f"not more than the {network_rate(each.up)} of"
    legs = "both legs" if each.legs == 2 else f"all {each.legs} legs"
    places = "" if each.places == 1 else f" in each of {each.places} places"
    text = (
        f"A single stream of {network_rate(each.speed)} per node offers {each.nodes} x {network_rate(each.speed)} = "
        f"{network_rate(each.single)}{places}, {much} the uplinks of {where}: it cannot show the "
        f"{shown(each.offered / each.up)}; {each.streams} streams per node on {legs} are needed"
    )
    return StaticFinding(Severity.NOTE, "single-stream", where, text)
