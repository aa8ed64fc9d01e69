"""Elements of a fabric whose loss does the same, told from each other by the fabric as it is seen from each.

For each element its devices are marked, and the colours of all devices are refined from there: a device is coloured by
its colour and by the colours of its neighbours, over each kind of cable (colour refinement, B. Weisfeiler and A. Leman,
1968; here in 64-bit sums of hashes). Elements after which the whole fabric is coloured alike are one class. Names and
the order of the file have no part in it.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchconsole.topology.arrays import Words, mix_words
from benchconsole.topology.capacity.flow_groups import Nodes, describe_link
from benchconsole.topology.model.fabric import Fabric

Marks = tuple[str, tuple[str, ...]]
"""The kind of an element, and its devices."""

_ROUNDS = 24
"""As far as a mark is seen: more links than any two devices of a fabric of this size are apart, rings aside."""
_AT_ONCE = 4_000_000
"""Colours of all marked fabrics that are held at once, times cables."""


def find_classes(fabric: Fabric, groups: Sequence[Nodes], elements: Sequence[Marks]) -> list[int]:
    """Per element the number of its class; the devices of an element are switches and nodes of ``groups``."""
    if not elements:
        return []
    vertex, colours, edges = _make_graph(fabric, groups)
    starts, ends, kinds = edges
    rows = max(1, _AT_ONCE // (len(starts) + len(colours)))
    keys: list[tuple[str, int]] = []
    for first in range(0, len(elements), rows):
        some = elements[first : first + rows]
        table = np.tile(colours, (len(some), 1))
        for row, (_, devices) in enumerate(some):
            for device in devices:
                table[row, [vertex[device]]] += np.uint64(0x51ED270B3F9A2C1D)
        keys += zip((kind for kind, _ in some), _refine(table, starts, ends, kinds), strict=True)
    numbers: dict[tuple[str, int], int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _refine(table: Words, starts: NDArray[np.intp], ends: NDArray[np.intp], kinds: Words) -> list[int]:
    """Per row one word for all colours after the last round; edges are in the order of their ends."""
    if len(ends):
        first = np.flatnonzero(np.concatenate(([True], ends[1:] != ends[:-1])))
        for _ in range(min(_ROUNDS, table.shape[1] + 1)):
            seen = mix_words(table[:, starts] + kinds)
            table = mix_words(table)
            table[:, ends[first]] += np.add.reduceat(seen, first, axis=1)
    found: list[int] = mix_words(table).sum(axis=1, dtype=np.uint64).tolist()
    return found


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _make_graph(
    fabric: Fabric, groups: Sequence[Nodes]
) -> tuple[dict[str, int], Words, tuple[NDArray[np.intp], NDArray[np.intp], Words]]:
    """Device to vertex (nodes of a group have one together), a colour of each vertex, and every edge both ways."""
    vertex: dict[str, int] = {name: number for number, name in enumerate(fabric.switches)}
    colours = [_hash(f"switch {switch.role.tier}") for switch in fabric.switches.values()]
    for group in groups:
        vertex.update(dict.fromkeys(group, len(colours)))
        node = fabric.nodes[group[0]]
        colours.append(_hash(f"node {len(group)} {node.forwards} {fabric.vlans_of.get(node.id, ())}"))
    routed = {group[0] for group in groups}
    edges: list[tuple[int, int, int]] = []
    for link in fabric.links.values():
        if all(end in fabric.switches or end in routed for end in (link.a, link.b)):
            kind = _hash(repr(describe_link(link)))
            edges += [(vertex[link.b], vertex[link.a], kind), (vertex[link.a], vertex[link.b], kind)]
    for pair in fabric.mlags:
        one, other = (vertex[switch] for switch in pair.switches)
        edges += [(one, other, _hash("mlag")), (other, one, _hash("mlag"))]
    edges.sort()
    ends, starts, kinds = (list(column) for column in zip(*edges, strict=True)) if edges else ([], [], [])
    return vertex, np.array(colours, np.uint64), (
        np.array(starts, np.intp), np.array(ends, np.intp), np.array(kinds, np.uint64),
    )  # fmt: skip
