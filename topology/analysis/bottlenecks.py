"""Obvious bottlenecks in words: less leads on than comes in. Also the tests that could not show one.

In order of cost: what a node's share is divided by there. First what lies between nodes, then the
ways out of the fabric, then tests that would miss a bottleneck. Equal switches are one sentence.
Byte/s on the wire inside, bits on the screen.
"""

from collections.abc import Iterator

import numpy as np

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.arrays import Indices, sum_at
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import SwitchId
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.units import counted, network_rate, ratio

_MORE = 1 + 1e-9
"""From this quotient on one rate is more than another; below it is rounding."""

_Costly = Iterator[tuple[float, StaticFinding]]
"""Findings, each with its cost."""


def find_bottlenecks(cabled: Tables) -> list[StaticFinding]:
    """One sentence for each bottleneck, of each kind the costliest first."""
    kinds = (_find_narrow(cabled), _find_exits(cabled), _find_hidden(cabled))
    return [finding for kind in kinds for _, finding in sorted(kind, key=lambda each: -each[0])]


def _find_narrow(cabled: Tables) -> _Costly:
    """Switches that pass on less than they take from below, and those that only cables of their own tier join."""
    uplinks, switches = cabled.uplinks, cabled.fabric.switches
    upward = np.flatnonzero((uplinks.up > 0) & (uplinks.down > uplinks.up))
    aside = find_joined_aside(cabled)
    aside = aside[uplinks.down[aside] > cabled.side[aside]]
    for devices, onward, verb in (
        (upward, uplinks.up, "passes on"),
        (aside, cabled.side, "has for the other switches of its tier"),
    ):
        ids = cabled.devices(devices)
        models = (switches[SwitchId(each)] for each in ids)
        rates = zip(uplinks.down[devices].tolist(), onward[devices].tolist(), strict=True)
        keys = ((switch.model or f"{switch.role} switch", *each) for switch, each in zip(models, rates, strict=True))
        alike = group_by_key(zip(keys, ids, strict=True))
        for (model, offered, passed), names in alike.items():
            where = fold_names(names)
            who = f"{where} ({model})"
            if len(names) > 1:
                who = f"Each of {len(names):,} {model}{'es' if model.endswith(' switch') else ''} ({where})"
            text = (
                f"{who} takes {network_rate(offered)} from below and {verb} {network_rate(passed)}: "
                f"{ratio(offered / passed)}"
            )
            yield offered / passed, StaticFinding(Severity.WARNING, "bottleneck", where, text)


def find_joined_aside(cabled: Tables) -> Indices:
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


def _find_exits(cabled: Tables) -> _Costly:
    """Networks whose nodes can send more than leads out above their top."""
    uplinks, groups = cabled.uplinks, cabled.node_groups
    size = len(uplinks.meet)
    network = uplinks.network[cabled.trunks.low[uplinks.exits]]
    passed = sum_at(cabled.trunks.capacity[uplinks.exits], network, size)
    legs = groups.capacity * groups.size[groups.owner]
    offered = sum_at(legs, uplinks.network[groups.switch], size)
    nodes = sum_at(groups.nodes[uplinks.group], uplinks.inside, size)
    for each in np.flatnonzero((passed > 0) & (offered > passed)).tolist():
        top = fold_names(cabled.devices(np.unique(cabled.trunks.low[uplinks.exits][network == each])))
        cost = float(offered[each] / passed[each])
        text = (
            f"{counted(int(nodes[each]), 'node')} can send {network_rate(offered[each])}, and "
            f"{network_rate(passed[each])} lead out of the fabric above {top}: {ratio(cost)}"
        )
        yield cost, StaticFinding(Severity.NOTE, "way-out", top, text)


def _find_hidden(cabled: Tables) -> _Costly:
    """Bottlenecks that one stream per node cannot show, since each fills one leg only.

    Their places: switches whose only traffic from below is that of nodes with legs on all of them and nowhere else.
    Arrays have one entry for each group of nodes cabled alike, but for ``legs``, ``owner``, ``switch`` and ``once``.
    """
    uplinks, groups, size = cabled.uplinks, cabled.node_groups, len(cabled.node_groups)
    legs = np.flatnonzero(groups.capacity > 0)
    owner, switch = groups.owner[legs], groups.switch[legs]
    # Legs of a group are in the order of their switches: each switch counts once.
    once = np.append(True, (owner[1:] != owner[:-1]) | (switch[1:] != switch[:-1]))[: len(legs)]
    switches = np.bincount(owner[once], minlength=size)
    up, down = (sum_at(rates[switch[once]], owner[once], size) for rates in (uplinks.up, uplinks.down))
    offered = sum_at(groups.capacity[legs], owner, size) * groups.size
    # One stream of a node is on one cable only, so its fastest member bounds it.
    speed = np.zeros(size)
    np.maximum.at(speed, owner, cabled.speed[groups.link[legs]])
    # Blind: all legs together overload the uplinks, one stream of each node does not.
    blind = (switches > 1) & (up > 0) & (offered > up * _MORE) & (groups.size * speed <= up * _MORE)
    # Where ``down`` is more than the group offers, others send through these switches too, and streams of theirs count.
    start = np.searchsorted(owner, np.arange(size + 1)).tolist()
    hidden = np.flatnonzero(blind & (np.abs(down - offered) < offered * (_MORE - 1)))
    numbers = np.column_stack((groups.size, switches, speed, offered, up))[hidden].tolist()
    alike = group_by_key(
        (tuple(row), switch[start[group] : start[group + 1]])
        for row, group in zip(numbers, hidden.tolist(), strict=True)
    )
    for (nodes, legs_each, speed_each, offer, passed), places in alike.items():
        where = fold_names(cabled.devices(np.unique(np.concatenate(places))))
        single = nodes * speed_each
        streams = int(passed * _MORE // single) + 1
        much = "as much as" if np.isclose(single, passed) else f"not more than the {network_rate(passed)} of"
        on = "both legs" if legs_each == 2 else f"all {legs_each:.0f} legs"
        several = "" if len(places) == 1 else f" in each of {len(places)} places"
        text = (
            f"A single stream of {network_rate(speed_each)} per node offers {nodes:.0f} x {network_rate(speed_each)} = "
            f"{network_rate(single)}{several}, {much} the uplinks of {where}: it cannot show the "
            f"{ratio(offer / passed)}; {streams} streams per node on {on} are needed"
        )
        yield offer / passed, StaticFinding(Severity.NOTE, "single-stream", where, text)
