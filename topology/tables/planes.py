"""Planes: parts of one network between which there is no cable, and which stand in for each other.

A node with legs of one network in several such parts (two fabrics of a SAN, two planes of a fat tree, a rail for
each NIC) reaches the others by any of them, so the loss of one part takes capacity from it and does not cut it off.
Legs of networks with different names do not stand in for each other.
"""

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices, sum_at
from benchconsole.topology.tables.fabric_tables import Tables


def find_backed(tables: Tables) -> Flags:
    """Per sender: each network of its legs has a leg of the same nodes in another part."""
    uplinks = tables.uplinks
    place = _list_places(tables)
    parts = np.unique(place * (len(uplinks.meet) + 1) + uplinks.network[tables.node_groups.switch])
    several = np.bincount(parts // (len(uplinks.meet) + 1), minlength=int(place.max(initial=0)) + 1) > 1
    alone = np.zeros(len(uplinks.group), bool)
    alone[uplinks.sender[~several[place]]] = True
    return ~alone


def sum_planes(tables: Tables) -> Floats:
    """Per sender byte/s of all usable legs of a node of it in the networks of its legs, in whatever part."""
    groups, uplinks = tables.node_groups, tables.uplinks
    place = _list_places(tables)
    size = int(place.max(initial=0)) + 1
    total = sum_at(groups.capacity, place, size)
    pairs = np.unique(uplinks.sender * size + place)
    return sum_at(total[pairs % size], pairs // size, len(uplinks.group))


def _list_places(tables: Tables) -> Indices:
    """Per leg of the node groups a number for its group and its network."""
    groups = tables.node_groups
    return groups.owner * (int(tables.network.max(initial=0)) + 1) + tables.network[groups.link]
