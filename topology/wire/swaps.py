"""Finds elements that only changed places: swapped pairs, and rings of three and more.

Pure and of no kind: what moves (switches, nodes, cables) and what a place is, the caller says.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
P = TypeVar("P", bound=Hashable)


def find_exchanges(moves: Mapping[T, tuple[P, P]]) -> list[tuple[T, ...]]:
    """Groups of movers that stand in each other's places; ``moves`` gives where each belongs and where it is.

    Of several movers between the same two places, as many must have gone as have come. What is
    left over in no group has no counterpart. Who stands where it belongs did not move.
    """
    ways: dict[tuple[P, P], list[T]] = {}
    for mover, (home, here) in moves.items():
        if home != here:
            ways.setdefault((home, here), []).append(mover)
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
