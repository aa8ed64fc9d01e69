"""Properties of the links of a fabric, in the order of the file: columns of all links, each made when it is first asked
for.
"""

from collections.abc import Mapping
from functools import cached_property
from itertools import chain, count
from operator import attrgetter

import numpy as np

from benchconsole.topology.arrays import Flags, Indices
from benchconsole.topology.model.fabric import Fabric, HashPolicy, Link
from benchconsole.topology.routing.passed_ceilings import PassedBy, find_passed


class LinkColumns:
    """Columns of the links of ``fabric`` by their numbers, or by those of directed links (``Graph.way``)."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._links: tuple[Link, ...] = tuple(fabric.links.values())

    @cached_property
    def device_numbers(self) -> Mapping[str, int]:
        """Every device by name to its number: nodes first, then switches, in the order of the file."""
        return dict(zip(chain(self._fabric.nodes, self._fabric.switches), count(), strict=False))

    @cached_property
    def starts(self) -> Indices:
        """The number of the device that each directed link leaves; it enters that of the same link back."""
        found = np.empty((len(self._links), 2), np.intp)
        for column, end in enumerate(("a", "b")):
            names = map(attrgetter(end), self._links)
            found[:, column] = np.fromiter(map(self.device_numbers.__getitem__, names), np.intp, len(self._links))
        return found.ravel()

    @cached_property
    def networks(self) -> Indices:
        """A number for the network that each belongs to."""
        numbers = {network: number for number, network in enumerate(self._fabric.used_networks)}
        names = map(attrgetter("network"), self._links)
        return np.fromiter(map(numbers.__getitem__, names), np.intp, len(self._links))

    @cached_property
    def preferences(self) -> Indices:
        """How much traffic prefers each directed link to those parallel to it."""
        found = list(map(attrgetter("preference"), self._links))
        if found.count((0, 0)) == len(found):
            return np.zeros(2 * len(found), np.intp)
        return np.fromiter(chain.from_iterable(found), np.intp, 2 * len(found))

    @cached_property
    def counts(self) -> Indices:
        """How many member cables each has."""
        return np.fromiter(map(attrgetter("count"), self._links), np.intp, len(self._links))

    @cached_property
    def is_mixed(self) -> Flags:
        """Whether its members differ in speed."""
        return np.fromiter(map(bool, map(attrgetter("mixed"), self._links)), bool, len(self._links))

    @cached_property
    def is_split(self) -> Flags:
        """Whether it is split into channels of VLANs."""
        return np.fromiter(map(bool, map(attrgetter("channels"), self._links)), bool, len(self._links))

    @cached_property
    def apart(self) -> frozenset[int]:
        """The directed links of which members are told apart: they differ in speed, or there are channels."""
        return _list_directed(self.is_mixed | self.is_split)

    @cached_property
    def channelled(self) -> frozenset[int]:
        """The directed links that are split into channels of VLANs."""
        return _list_directed(self.is_split)

    @cached_property
    def passed(self) -> PassedBy:
        """The ceilings that each directed link passes."""
        return find_passed(self._fabric)

    @cached_property
    def sees_ports(self) -> Flags:
        """Whether its hash puts the streams of a flow on members of their own."""
        sees = {policy: policy.sees_ports for policy in HashPolicy}
        return np.fromiter(map(sees.__getitem__, map(attrgetter("hash"), self._links)), bool, len(self._links))

    @cached_property
    def steered(self) -> Link | None:
        """The first whose members tests use in turn."""
        if HashPolicy.STEERED not in set(map(attrgetter("hash"), self._links)):
            return None
        return next(link for link in self._links if link.hash is HashPolicy.STEERED)


def _list_directed(is_meant: Flags) -> frozenset[int]:
    """Both directions of the links that are meant."""
    return frozenset(np.flatnonzero(np.repeat(is_meant, 2)).tolist())
