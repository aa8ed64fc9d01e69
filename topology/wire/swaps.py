"""Names the elements that were swapped: switches, nodes or cables, each once.

The largest thing that explains the ends is named: two switches rather than all of their nodes,
two nodes rather than each of their cables. Rings of three and more are found too.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.selection import fold
from benchconsole.topology.wire.cabling import CableOutcome, CableState

T = TypeVar("T", bound=Hashable)
P = TypeVar("P", bound=Hashable)

End = tuple[str, str]
"""Device and port; the port is empty where ports are not described."""

_WRONG = (CableOutcome.WRONG_SWITCH, CableOutcome.WRONG_LEG, CableOutcome.WRONG_PORT)


@dataclass(frozen=True, slots=True)
class Swap:
    """Things that stand in each other's places, in words, and the cables that this explains."""

    text: str
    described: str
    seen: str
    states: tuple[CableState, ...]


@dataclass(frozen=True, slots=True)
class _Mover:
    """Something that may have changed places as a whole: where it should be, and where it is."""

    name: str
    home: tuple[End, ...]
    here: tuple[End, ...]
    states: tuple[CableState, ...]


def find_swaps(states: Sequence[CableState], described: Mapping[str, int]) -> list[Swap]:
    """Every exchange among ``states``; ``described`` counts the cables to nodes that each device should have."""
    found: list[Swap] = []
    for list_moves, prefix, why in (
        (_list_switch_moves, "", ": each node cabled to one is found at the other"),
        (_list_node_moves, "", ""),
        (_list_cable_moves, "cables of ", ""),
    ):
        explained = {state.cable for swap in found for state in swap.states}
        movers = list_moves([state for state in states if state.cable not in explained], described)
        groups = find_exchanges({mover: (mover.home, mover.here) for mover in movers})
        found += [_make_swap(group, prefix, why) for group in groups]
    return found


def _list_switch_moves(states: Iterable[CableState], described: Mapping[str, int]) -> Iterator[_Mover]:
    """Switches all of whose cables, to two nodes at least, were found at one other; ports do not count."""
    for device, those in group_by_key((state.cable.device, state) for state in states).items():
        seen = {state.here[0] if state.here else "" for state in those}
        several = len({state.cable.node for state in those}) > 1
        if several and len(those) == described[device] and len(seen) == 1 and "" not in seen:
            yield _Mover(device, ((device, ""),), ((seen.pop(), ""),), tuple(those))


def _list_node_moves(states: Iterable[CableState], _described: Mapping[str, int]) -> Iterator[_Mover]:
    """Nodes with a cable at a wrong place, and none whose end is not known."""
    for node, those in group_by_key((state.cable.node, state) for state in states).items():
        here = [state.here for state in those if state.here is not None]
        if len(here) == len(those) and any(state.kind in _WRONG for state in those):
            yield _Mover(node, tuple(sorted(state.home for state in those)), tuple(sorted(here)), tuple(those))


def _list_cable_moves(states: Iterable[CableState], _described: Mapping[str, int]) -> Iterator[_Mover]:
    for state in states:
        if state.kind in _WRONG and state.here is not None:
            yield _Mover(state.cable.node, (state.home,), (state.here,), (state,))


def _make_swap(group: Sequence[_Mover], prefix: str, why: str) -> Swap:
    """An exchange in words: two parties are swapped, more stand in each other's places."""
    parties = group_by_key((mover.home, mover.name) for mover in group)
    there = group_by_key((mover.here, mover.name) for mover in group)
    pair = len(parties) == 2
    if pair and not prefix:
        who = " and ".join(fold(names) for names in parties.values())
    else:
        who = f"{prefix}{fold(mover.name for mover in group)}"
    text = f"{who} are {'swapped' if pair else 'in the places of each other'}{why}"
    states = tuple(state for mover in group for state in mover.states)
    return Swap(text, _format_places(parties), _format_places(there), states)


def _format_places(names: Mapping[tuple[End, ...], Sequence[str]]) -> str:
    """``n3 at leaf1; n7 at leaf2:Eth4``."""
    return "; ".join(f"{fold(those)} at {format_ends(place)}" for place, those in names.items())


def format_ends(place: Iterable[End]) -> str:
    """Ends as ``leaf1:Eth3, leaf2``."""
    return ", ".join(f"{device}:{port}" if port else device for device, port in place)


def find_exchanges(moves: Mapping[T, tuple[P, P]]) -> list[tuple[T, ...]]:
    """Groups of movers that stand in each other's places; ``moves`` gives where each belongs and where it is.

    Of several movers between the same two places, as many must have gone as have come. A mover
    that is left over in no group has no counterpart. Who stands where it belongs did not move.
    """
    ways = group_by_key((way, mover) for mover, way in moves.items() if way[0] != way[1])
    groups: list[tuple[T, ...]] = []
    for home, here in list(ways):
        away, back = ways.get((home, here), []), ways.get((here, home), [])
        if away and len(away) == len(back):
            groups.append((*away, *back))
            del ways[home, here], ways[here, home]
    return [*groups, *_find_rings(ways)]


def _find_rings(ways: Mapping[tuple[P, P], list[T]]) -> Iterable[tuple[T, ...]]:
    """The movers of every set of connected places where as many came as went."""
    for places in _find_connected(ways):
        inside = {way: movers for way, movers in ways.items() if way[0] in places}
        gone, come = Counter[P](), Counter[P]()
        for (home, here), movers in inside.items():
            gone[home] += len(movers)
            come[here] += len(movers)
        if gone == come:
            yield tuple(mover for movers in inside.values() for mover in movers)


def _find_connected(ways: Iterable[tuple[P, P]]) -> list[set[P]]:
    """Places that are joined by moves, each set once, in the order of ``ways``."""
    sets: list[set[P]] = []
    for way in ways:
        touched = [each for each in sets if not each.isdisjoint(way)]
        first = touched[0] if touched else set[P]()
        first.update(*touched, way)
        sets = [each for each in sets if each is first or each not in touched]
        if not touched:
            sets.append(first)
    return sets
