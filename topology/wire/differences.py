"""State of each described cable, and one row for each thing that is not as described, for all nodes alike."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Bond, Fabric
from benchconsole.topology.selection import fold
from benchconsole.topology.units import network_rate
from benchconsole.topology.wire.cabling import (
    CableOutcome,
    CableState,
    Cabling,
    DescribedCable,
    Ends,
    Plug,
    Spare,
    find_end,
    is_same_speed,
    list_cables,
    matches_far_port,
)
from benchconsole.topology.wire.observations import BondSeen, Observed, SysNames
from benchconsole.topology.wire.swaps import find_swaps, format_ends

UP = (CableOutcome.CONFIRMED, CableOutcome.SLOWER, CableOutcome.FASTER)
"""Cables that end where they should and carry data."""

_MODES = {Bond.LACP: "802.3ad", Bond.XOR: "balance-xor", Bond.BACKUP: "active-backup"}
_FEW = 4
"""Nodes that are named as those whose place it may be; more would be guessing."""


@dataclass(frozen=True, slots=True)
class CablingDifference:
    """One thing that is not as described, for all nodes that it is alike for.

    ``places`` are the described ends (``leaf1:Eth3``); ``described`` and ``seen`` say in words
    what differs, ``text`` what else is known of it.
    """

    kind: CableOutcome
    nodes: tuple[str, ...]
    places: tuple[str, ...] = ()
    described: str = ""
    seen: str = ""
    text: str = ""


def find_states(cabling: Cabling, known: Ends) -> tuple[CableState, ...]:
    """The state of every described cable of one node."""
    idle = find_idle_ports(cabling.observed.bonds)
    confirmed = {cable.bundle for cable, plug in cabling.found.items() if plug.device == cable.device}
    found = []
    for cable in cabling.described:
        plug = cabling.found.get(cable)
        if plug is not None:
            found.append(CableState(cable, _find_outcome(cable, plug, idle), plug, find_end(plug, known)))
            continue
        fewer = cable.bundle and cable.bundle in confirmed
        silent = CableOutcome.FEWER if fewer else CableOutcome.MISSING
        found.append(CableState(cable, CableOutcome.UNHEARD if cable in cabling.unheard else silent))
    return tuple(found)


def _find_outcome(cable: DescribedCable, plug: Plug, idle: Mapping[str, str]) -> CableOutcome:
    if plug.device is None:
        return CableOutcome.UNKNOWN_SWITCH
    if plug.device != cable.device:
        return CableOutcome.WRONG_LEG if plug.device in cable.mates else CableOutcome.WRONG_SWITCH
    if matches_far_port(cable, plug) is False or cable.own_port.casefold() not in ("", plug.port.name.casefold()):
        return CableOutcome.WRONG_PORT
    if plug.port.name in idle:
        return CableOutcome.FEWER
    speed = plug.port.speed
    if speed is None or is_same_speed(cable, speed):
        return CableOutcome.CONFIRMED
    return CableOutcome.SLOWER if speed < cable.speed else CableOutcome.FASTER


def find_idle_ports(bonds: Iterable[BondSeen]) -> dict[str, str]:
    """Members of bonds that carry nothing, each with the reason in words.

    LACP forwards on one aggregate only; where it is not told which (the kernel tells root), the
    largest is taken for it, and of equal ones the first.
    """
    found: dict[str, str] = {}
    for bond in bonds:
        sizes = Counter(member.aggregate for member in bond.members if member.up and member.aggregate)
        active = bond.aggregate or next((name for name, _ in sizes.most_common(1)), "")
        those = [member.port for member in bond.members if member.up and member.aggregate == active]
        name = bond.name or "its bond"
        for member in bond.members:
            if not member.up:
                found[member.port] = f"{member.port} is down in {name}"
            elif bond.mode == "802.3ad" and member.aggregate and member.aggregate != active:
                than = f" than {', '.join(those)}" if those else ""
                found[member.port] = f"{member.port} is in another aggregate of {name}{than}"
    return found


class Differences:
    """Collects what differs, row by row. ``found`` are the states of all nodes that were heard."""

    def __init__(self, fabric: Fabric, found: Sequence[CableState], known: Ends, names: SysNames) -> None:
        self._fabric = fabric
        self._known = known
        self._names = names
        self._rows: list[CablingDifference] = []
        self._of = group_by_key((state.cable.node, state) for state in found)
        every = (cable for node in fabric.nodes for cable in list_cables(fabric, node))
        self._at = group_by_key((cable.device, cable.node) for cable in every)
        self._lost = group_by_key((state.cable.device, state.cable.node) for state in found if state.kind not in UP)
        self._swapped: set[DescribedCable] = set()
        for swap in find_swaps(found, {device: len(nodes) for device, nodes in self._at.items()}):
            self._swapped |= {state.cable for state in swap.states}
            nodes = tuple(dict.fromkeys(state.cable.node for state in swap.states))
            self._rows.append(CablingDifference(CableOutcome.SWAPPED, nodes, (), swap.described, swap.seen, swap.text))

    def add_heard(self, node: str, cabling: Cabling, beside: Spare) -> None:
        """Everything of a node whose neighbours are known."""
        own = self._of.get(node, [])
        idle = find_idle_ports(cabling.observed.bonds)
        lost = {port: f"no carrier on {port}" for port in cabling.down(beside)} | idle
        why = "; ".join(text for port, text in lost.items() if port not in cabling.taken) or "no neighbour seen"
        for state in own:
            if state.kind in (CableOutcome.CONFIRMED, CableOutcome.UNHEARD) or state.cable in self._swapped:
                continue
            place = (state.cable.place,)
            if state.plug is not None and state.kind is not CableOutcome.FEWER:
                described, seen, text = self._words(state, state.plug, own)
                self._rows.append(CablingDifference(state.kind, (node,), place, described, seen, text))
            else:
                text = why if state.plug is None else idle[state.plug.port.name]
                up = [each.kind in UP for each in own if each.cable.bundle == state.cable.bundle]
                seen = "" if state.kind is CableOutcome.MISSING else f"{sum(up)} of {len(up)} members up"
                self._rows.append(CablingDifference(state.kind, (node,), place, "", seen, text))
        for plug in cabling.free:
            if plug.device is not None and plug.alone:
                seen = format_ends([find_end(plug, self._known) or (plug.device, "")])
                self._rows.append(
                    CablingDifference(CableOutcome.EXTRA, (node,), seen=seen, text=f"on {plug.port.name}")
                )
        self._add_mode(node, cabling.observed, {state.plug.port.name for state in own if state.plug})

    def add_deaf(self, node: str, observed: Observed) -> None:
        """Add the differences that bonds tell of a node whose neighbours are not known."""
        described = [cable for cable in list_cables(self._fabric, node) if cable.bundle]
        if described:
            places = tuple(dict.fromkeys(cable.place for cable in described))
            for text in find_idle_ports(observed.bonds).values():
                self._rows.append(CablingDifference(CableOutcome.FEWER, (node,), places, text=text))
            self._add_mode(node, observed, {member.port for bond in observed.bonds for member in bond.members})

    def _add_mode(self, node: str, observed: Observed, ports: set[str]) -> None:
        """Another mode of the bond on ``ports`` than the one that is described for the node's legs."""
        wanted = {_MODES[link.bond] for link in self._fabric.links_at[node] if link.bond}
        for bond in observed.bonds if len(wanted) == 1 else ():
            if bond.mode and bond.mode not in wanted and not ports.isdisjoint(member.port for member in bond.members):
                self._rows.append(
                    CablingDifference(CableOutcome.MODE, (node,), (), "".join(wanted), bond.mode, bond.name)
                )

    def _words(self, state: CableState, plug: Plug, own: Sequence[CableState]) -> tuple[str, str, str]:
        """``described``, ``seen`` and ``text`` of a cable that was found, and not as it should be."""
        cable = state.cable
        if state.kind in (CableOutcome.SLOWER, CableOutcome.FASTER):
            return network_rate(cable.speed), network_rate(plug.port.speed or 0.0), ""
        if state.here is None:
            near = self._names.near(plug.neighbour.device)
            return "", plug.neighbour.device, f"not in the file, which has {near}" if near else "not in the file"
        if state.kind is CableOutcome.WRONG_PORT and matches_far_port(cable, plug) is not False:
            return f"on {cable.own_port}", f"on {plug.port.name}", ""
        if state.kind is CableOutcome.WRONG_LEG and any(other.cable.device == state.here[0] for other in own):
            return "", format_ends([state.here]), f"a second leg there, and none at {cable.device}"
        return "", format_ends([state.here]), self._whose(*state.here, cable.node)

    def _whose(self, device: str, port: str, node: str) -> str:
        """Whose place an end of ``node`` is, as far as that is known."""
        owner = self._known.get(device, {}).get(port)
        if owner is not None:
            return f"the place of {owner}" if owner != node else "the place of another of its cables"
        lost = {*self._lost.get(device, ())} - {node}
        return f"where {fold(sorted(lost))} should be" if 0 < len(lost) <= _FEW else ""

    def folded(self) -> tuple[CablingDifference, ...]:
        """The rows, those alike put together, in the order of ``CableOutcome``."""
        alike = group_by_key(
            ((row.kind, tuple(map(_name_device, row.places)), row.described, row.seen, row.text), row)
            for row in self._rows
        )
        order = list(CableOutcome)
        rows = [self._put_together(those) for those in alike.values()]
        return tuple(sorted(rows, key=lambda row: order.index(row.kind)))

    def _put_together(self, rows: Sequence[CablingDifference]) -> CablingDifference:
        nodes = tuple(dict.fromkeys(node for row in rows for node in row.nodes))
        places = tuple(dict.fromkeys(place for row in rows for place in row.places))
        text = rows[0].text
        if rows[0].kind is CableOutcome.UNKNOWN_SWITCH and len(nodes) > 1:
            device = _name_device(places[0])
            if set(self._at[device]) == set(nodes):
                text += f"; seen by each node of {device}: the same switch under another name?"
        return replace(rows[0], nodes=nodes, places=places, text=text)


def _name_device(place: str) -> str:
    return place.partition(":")[0]
