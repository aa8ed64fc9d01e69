"""The generated cluster equator, of 16 to 10,240 nodes: its topology file, and what is wrong with it.

Leaves of equal nodes under up to sixteen spines, with storage servers on the spines, so that each
LAG between a leaf and a spine has flows that no other path can take. Faults are planted by rule,
far apart from each other, so many per thousand nodes. It exists nowhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from benchconsole.console.simulator.faults import FaultKind, PlantedFault, Scenario
from benchconsole.console.simulator.templates import render_template
from benchconsole.probes.model.judgement import Suspect

LEAST, MOST = 16, 10_240
MOST_ROUND = 10_000
"""Nodes of the scenario ``large``."""

_LAG_SPEED = {(8, 2): 25, (16, 2): 50, (16, 4): 25, (40, 4): 100, (40, 8): 50, (40, 16): 25}
"""Gb/s of each of the two members of a LAG from a leaf to a spine, by nodes of a leaf and number of spines."""


@dataclass(frozen=True, slots=True)
class ClusterSize:
    """How many of everything. ``nodes`` counts storage servers too; the last leaf may be part full."""

    nodes: int

    def __post_init__(self) -> None:
        if not LEAST <= self.nodes <= MOST:
            raise ValueError(f"found {self.nodes:,} nodes, expected {LEAST} to {MOST:,}")

    @property
    def per_leaf(self) -> int:
        """Compute nodes of a full leaf."""
        return 40 if self.nodes >= 400 else 16 if self.nodes >= 64 else 8

    @property
    def spines(self) -> int:
        if self.nodes < 100:
            return 2
        return 4 if self.nodes < 800 else 8 if self.nodes < 2500 else 16

    @property
    def storage(self) -> int:
        """Storage servers, alike on every spine."""
        return self.spines * (1 if self.nodes < 64 else 2 if self.nodes < 2500 else 4)

    @property
    def leaves(self) -> tuple[tuple[int, int], ...]:
        """The first and last compute node of each leaf; nodes count from 1."""
        compute = self.nodes - self.storage
        return tuple((first, min(first + self.per_leaf - 1, compute)) for first in range(1, compute + 1, self.per_leaf))


def describe_cluster(nodes: int) -> str:
    """The topology file, with a port that stands in for the one that will be free."""
    size = ClusterSize(nodes)
    each = size.storage // size.spines
    values = {
        "nodes": nodes,
        "spines": size.spines,
        "storage": size.storage,
        "lag_speed": _LAG_SPEED[size.per_leaf, size.spines],
        "leaves": [_describe_leaf(leaf, first, last) for leaf, (first, last) in enumerate(size.leaves)],
        "spine_servers": [_format_range("st", 2, spine * each + 1, (spine + 1) * each) for spine in range(size.spines)],
    }
    return render_template("equator.yaml", values)


def _describe_leaf(leaf: int, first: int, last: int) -> dict[str, object]:
    network, row = divmod(leaf, 250)
    address = f"127.{100 + network}.{row + 1}"
    return {"nodes": _format_range("n", 5, first, last), "address": address, "count": last - first + 1}


def _format_range(name: str, digits: int, first: int, last: int) -> str:
    low, high = f"{first:0{digits}d}", f"{last:0{digits}d}"
    return f"{name}[{low}-{high}]" if last > first else f"{name}{low}"


def make_scenario(nodes: int) -> Scenario:
    """Equator with ``nodes`` nodes and its planted faults; ValueError for a size that is not offered."""
    faults = tuple(_plant_faults(ClusterSize(nodes)))
    summary = f"{nodes:,} nodes, {len(faults)} planted faults; --nodes gives another size"
    return Scenario("large", summary, partial(describe_cluster, nodes), faults, fabric="equator")


def _plant_faults(size: ClusterSize) -> Iterator[PlantedFault]:
    """Faults in places that are far apart: what one drags down, another does not touch."""
    places = _list_places(size)
    large = size.nodes >= 64
    for number, kind, words, share, suspect in (
        (_count(size, 1000), FaultKind.NIC_SLOW_OUT, "the NIC of {} sends at 30 % of its speed", 0.3, Suspect.NIC),
        (_count(size, 2000), FaultKind.DIMM_MISSING, "{} has 7 of 8 DIMMs, 112 of 128 GiB", 7 / 8, Suspect.NODE),
        (large, FaultKind.HOSTILE, "{} answers with escape sequences, markup, NaN and broken UTF-8", 0.0, Suspect.NODE),
        (large * _count(size, 2500), FaultKind.REFUSES, "{} lets nobody in over SSH", 1.0, None),
        (large, FaultKind.SILENT, "{} accepts connections and never says a word", 1.0, None),
        (large, FaultKind.HOST_KEY_CHANGED, "{} shows another host key than is known", 1.0, None),
    ):
        for name in islice(places, number):
            yield PlantedFault(kind, name, words.format(name), share, suspect)
    server = f"st{size.storage // 2 + 1:02d}"
    words = f"one of the twelve disks of {server} is slow and holds back the rest"
    yield PlantedFault(FaultKind.DISK_SLOW, server, words, 0.42, Suspect.STORAGE)
    for number in range(_count(size, 4000)):
        leaf = f"leaf{len(size.leaves) - 1 - 2 * number:03d}"
        spine = f"spine{1 + number % size.spines:02d}"
        words = f"1 of 2 members of the LAG from {leaf} to {spine} is up"
        yield PlantedFault(FaultKind.MEMBERS_DOWN, f"{leaf}--{spine}", words, 0.5, Suspect.LAG)


def _count(size: ClusterSize, nodes_of_each: int) -> int:
    return max(1, round(size.nodes / nodes_of_each))


def _list_places(size: ClusterSize) -> Iterator[str]:
    """Compute nodes for faults of their own: one a leaf where there are leaves enough, the last leaves left out."""
    usable = size.leaves[: max(len(size.leaves) - 7, 1)]
    for turn in range(size.per_leaf):
        for first, last in usable[:: max(len(usable) // 24, 1)]:
            yield f"n{first + (3 + 5 * turn) % (last - first + 1):05d}"
