"""Names the elements that were swapped: switches, nodes or cables, each once.

The largest thing that explains the ends is named: two switches rather than all of their nodes,
two nodes rather than each of their cables.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.topology.selection import fold
from benchconsole.topology.wire.cabling import CableOutcome, CableState
from benchconsole.topology.wire.swaps import find_exchanges

End = tuple[str, str]
"""Device and port; the port is empty where ports are not described."""

_EACH = ": each node cabled to one is found at the other"
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
    found = [_make_swap(group, why=_EACH) for group in _find_groups(_list_switch_moves(states, described))]
    found += [_make_swap(group) for group in _find_groups(_list_node_moves(_list_rest(states, found)))]
    return found + [
        _make_swap(group, cables=True) for group in _find_groups(_list_cable_moves(_list_rest(states, found)))
    ]


def _list_rest(states: Iterable[CableState], found: Iterable[Swap]) -> list[CableState]:
    explained = {state.cable for swap in found for state in swap.states}
    return [state for state in states if state.cable not in explained]


def _find_groups(movers: Iterator[_Mover]) -> list[tuple[_Mover, ...]]:
    return find_exchanges({mover: (mover.home, mover.here) for mover in movers})


def _list_switch_moves(states: Iterable[CableState], described: Mapping[str, int]) -> Iterator[_Mover]:
    """Switches all of whose cables, to two nodes at least, were found at one other; ports do not count."""
    at: dict[str, list[CableState]] = {}
    for state in states:
        at.setdefault(state.cable.device, []).append(state)
    for device, those in at.items():
        seen = {state.here[0] if state.here else "" for state in those}
        several = len({state.cable.node for state in those}) > 1
        if several and len(those) == described[device] and len(seen) == 1 and "" not in seen:
            yield _Mover(device, ((device, ""),), ((seen.pop(), ""),), tuple(those))


def _list_node_moves(states: Iterable[CableState]) -> Iterator[_Mover]:
    """Nodes with a cable at a wrong place, and none whose end is not known."""
    of: dict[str, list[CableState]] = {}
    for state in states:
        of.setdefault(state.cable.node, []).append(state)
    for node, those in of.items():
        here = [state.here for state in those if state.here is not None]
        if len(here) == len(those) and any(state.kind in _WRONG for state in those):
            yield _Mover(node, tuple(sorted(state.home for state in those)), tuple(sorted(here)), tuple(those))


def _list_cable_moves(states: Iterable[CableState]) -> Iterator[_Mover]:
    for state in states:
        if state.kind in _WRONG and state.here is not None:
            yield _Mover(state.cable.node, (state.home,), (state.here,), (state,))


def _make_swap(group: Sequence[_Mover], *, cables: bool = False, why: str = "") -> Swap:
    """An exchange in words: two parties are swapped, more stand in each other's places."""
    parties: dict[tuple[End, ...], list[str]] = {}
    there: dict[tuple[End, ...], list[str]] = {}
    for mover in group:
        parties.setdefault(mover.home, []).append(mover.name)
        there.setdefault(mover.here, []).append(mover.name)
    pair = len(parties) == 2
    who = fold(mover.name for mover in group)
    if cables:
        who = f"cables of {who}"
    elif pair:
        who = " and ".join(fold(names) for names in parties.values())
    text = f"{who} are {'swapped' if pair else 'in the places of each other'}{why}"
    return Swap(
        text, _format_places(parties), _format_places(there), tuple(state for mover in group for state in mover.states)
    )


def _format_places(names: Mapping[tuple[End, ...], Sequence[str]]) -> str:
    """``n3 at leaf1; n7 at leaf2:Eth4``."""
    return "; ".join(f"{fold(those)} at {format_ends(place)}" for place, those in names.items())


def format_ends(place: Iterable[End]) -> str:
    """Ends as ``leaf1:Eth3, leaf2``."""
    return ", ".join(f"{device}:{port}" if port else device for device, port in place)
