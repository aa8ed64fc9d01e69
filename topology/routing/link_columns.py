"""What the links of a fabric are like, in the order of the file: columns of them all, each made when it is first asked
for.
"""

from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter

import numpy as np

from benchconsole.topology.arrays import Flags, Indices
from benchconsole.topology.model.fabric import HashPolicy, Link


class LinkColumns:
    """Columns of ``links``, by their numbers."""

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = links

    @cached_property
    def counts(self) -> Indices:
        """How many member cables each has."""
        return np.fromiter(map(attrgetter("count"), self._links), np.intp, len(self._links))

    @cached_property
    def is_mixed(self) -> Flags:
        """Whether its members differ in speed."""
        return np.fromiter(map(bool, map(attrgetter("mixed"), self._links)), bool, len(self._links))

    @cached_property
    def apart(self) -> frozenset[int]:
        """The directed links of which members are told apart: they differ in speed, or there are channels."""
        apart = (number for number, link in enumerate(self._links) if link.mixed or link.channels)
        return frozenset(2 * number + back for number in apart for back in (0, 1))

    @cached_property
    def sees_ports(self) -> Flags:
        """Whether its hash puts the streams of a flow on members of their own."""
        sees = {policy: policy.sees_ports for policy in HashPolicy}
        return np.fromiter(map(sees.__getitem__, map(attrgetter("hash"), self._links)), bool, len(self._links))

    @cached_property
    def has_channels(self) -> bool:
        """Whether any is split into channels of VLANs."""
        return any(map(attrgetter("channels"), self._links))

    @cached_property
    def steered(self) -> Link | None:
        """The first whose members tests use in turn."""
        return next((link for link in self._links if link.hash is HashPolicy.STEERED), None)
