"""The scenarios of the simulator: the cluster meridian with its faults, and the generated cluster equator.

A fault says what is damaged, how much, and which suspect a finding about it should name, so that a test can compare
the findings with the faults. ``network``, ``fio``, ``inventory`` and ``nodes`` play them. Equator has 16 to 10,240
nodes: leaves of equal nodes under up to sixteen spines, with storage servers on the spines, so that each LAG between
a leaf and a spine has flows that no other path can take. Neither exists anywhere.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from benchconsole.console.simulator.templates import render_template
from benchconsole.probes.model.judgement import Suspect

FABRIC = Path(__file__).with_name("fabric.yaml")
"""The topology of meridian, with a port that stands in for the one that will be free."""

_LEAST, _MOST = 16, 10_240
_ROUND = 10_000
"""Nodes of the scenario ``large``."""

_LAG_SPEED = {(8, 2): 25, (16, 2): 50, (16, 4): 25, (40, 4): 100, (40, 8): 50, (40, 16): 25}
"""Gb/s of each of the two members of a LAG from a leaf to a spine, by nodes of a leaf and number of spines."""

REAL_TIME = "real-time"
"""The word for a simulation whose tests take as long as on real nodes."""


class FaultKind(StrEnum):
    """The fault of an element."""

    MEMBERS_DOWN = "LAG members down"
    NIC_SLOW_OUT = "NIC slow when sending"
    DIMM_MISSING = "DIMM missing"
    DISK_SLOW = "one slow disk"
    REFUSES = "SSH refused"
    SILENT = "SSH never answers"
    HOST_KEY_CHANGED = "host key changed"
    HOSTILE = "hostile answers"


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """One planted fault. ``element`` is a node, or a link as ``lower--upper``.

    ``share`` is what is left of the damaged part (0.5: one of two members); ``suspect`` is the
    kind of element that a finding should name, None where nothing is measured.
    """

    kind: FaultKind
    element: str
    words: str
    share: float
    suspect: Suspect | None


_DAMAGE: Mapping[FaultKind, tuple[str, float, Suspect | None]] = {
    FaultKind.MEMBERS_DOWN: ("1 of 2 members of the LAG from {} to {} is up", 0.5, Suspect.LAG),
    FaultKind.NIC_SLOW_OUT: ("the NIC of {} sends at 30 % of its speed", 0.3, Suspect.NIC),
    FaultKind.DIMM_MISSING: ("{} has 7 of 8 DIMMs, 112 of 128 GiB", 7 / 8, Suspect.NODE),
    FaultKind.DISK_SLOW: ("one of the twelve disks of {} is slow and holds back the rest", 0.42, Suspect.STORAGE),
    FaultKind.REFUSES: ("{} refuses SSH connections", 1.0, None),
    FaultKind.SILENT: ("{} accepts connections and never says a word", 1.0, None),
    FaultKind.HOST_KEY_CHANGED: ("{} shows another host key than is known", 1.0, None),
    FaultKind.HOSTILE: ("{} answers with escape sequences, markup, NaN and broken UTF-8", 0.0, Suspect.NODE),
}


def _plant(kind: FaultKind, *names: str) -> PlantedFault:
    """A fault at a node, or at the link between two switches."""
    words, share, suspect = _DAMAGE[kind]
    return PlantedFault(kind, "--".join(names), words.format(*names), share, suspect)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A named state of a simulated cluster. ``describe`` gives the text of its topology file."""

    name: str
    summary: str
    describe: Callable[[], str]
    faults: tuple[PlantedFault, ...] = ()
    fabric: str = "meridian"

    def select(self, *kinds: FaultKind) -> Mapping[str, PlantedFault]:
        return MappingProxyType({fault.element: fault for fault in self.faults if fault.kind in kinds})

    def find_share(self, kind: FaultKind, element: str) -> float:
        """How much of ``element`` a fault of this kind leaves; 1 where there is none."""
        fault = self.select(kind).get(element)
        return 1.0 if fault is None else fault.share


@dataclass(frozen=True, slots=True)
class ClusterSize:
    """How many of everything. ``nodes`` counts storage servers too; the last leaf may be part full."""

    nodes: int

    def __post_init__(self) -> None:
        if not _LEAST <= self.nodes <= _MOST:
            raise ValueError(f"found {self.nodes:,} nodes, expected {_LEAST} to {_MOST:,}")

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


def make_large(nodes: int) -> Scenario:
    """Equator with ``nodes`` nodes and its planted faults; ValueError for a size that is not offered."""
    faults = tuple(_plant_faults(ClusterSize(nodes)))
    summary = f"{nodes:,} nodes, {len(faults)} planted faults; --nodes gives another size"
    return Scenario("large", summary, partial(describe_cluster, nodes), faults, fabric="equator")


def _plant_faults(size: ClusterSize) -> Iterator[PlantedFault]:
    """Faults in places that are far apart: what one drags down, another does not touch."""
    places = _list_places(size)
    large = size.nodes >= 64
    for number, kind in (
        (_count(size, 1000), FaultKind.NIC_SLOW_OUT),
        (_count(size, 2000), FaultKind.DIMM_MISSING),
        (large, FaultKind.HOSTILE),
        (large * _count(size, 2500), FaultKind.REFUSES),
        (large, FaultKind.SILENT),
        (large, FaultKind.HOST_KEY_CHANGED),
    ):
        for name in islice(places, number):
            yield _plant(kind, name)
    yield _plant(FaultKind.DISK_SLOW, f"st{size.storage // 2 + 1:02d}")
    for number in range(_count(size, 4000)):
        leaf = f"leaf{len(size.leaves) - 1 - 2 * number:03d}"
        yield _plant(FaultKind.MEMBERS_DOWN, leaf, f"spine{1 + number % size.spines:02d}")


def _count(size: ClusterSize, nodes_of_each: int) -> int:
    return max(1, round(size.nodes / nodes_of_each))


def _list_places(size: ClusterSize) -> Iterator[str]:
    """Compute nodes for faults of their own: one a leaf where there are leaves enough, the last leaves left out."""
    usable = size.leaves[: max(len(size.leaves) - 7, 1)]
    for turn in range(size.per_leaf):
        for first, last in usable[:: max(len(usable) // 24, 1)]:
            yield f"n{first + (3 + 5 * turn) % (last - first + 1):05d}"


def _damage(name: str, summary: str, *faults: PlantedFault) -> Scenario:
    return Scenario(name, summary, FABRIC.read_text, faults)


_LAG = _plant(FaultKind.MEMBERS_DOWN, "leaf3", "spine1")
_NIC = _plant(FaultKind.NIC_SLOW_OUT, "n090")
_DIMM = _plant(FaultKind.DIMM_MISSING, "n021")
_DISK = _plant(FaultKind.DISK_SLOW, "st3")
_REFUSES = _plant(FaultKind.REFUSES, "n066")  # not silent: that costs every first run the full login timeout
_SILENT = _plant(FaultKind.SILENT, "n067")
_CHANGED = _plant(FaultKind.HOST_KEY_CHANGED, "n068")

SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        scenario.name: scenario
        for scenario in (
            _damage("default", "five planted faults, one of each kind", _LAG, _NIC, _DIMM, _DISK, _REFUSES),
            _damage("healthy", "nothing is wrong"),
            _damage("lag", "half of one LAG between a leaf and a spine is down", _LAG),
            _damage("access", "three nodes cannot be asked, each for another reason", _REFUSES, _SILENT, _CHANGED),
            _damage("hostile", "one node answers things that no screen should obey", _plant(FaultKind.HOSTILE, "n005")),
            make_large(_ROUND),
        )
    }
)
"""Every scenario by name, in the order in which they are offered."""


def find_scenario(name: str, nodes: int | None = None) -> Scenario:
    """A scenario by name; with ``nodes`` one of that size, whatever it is called.

    KeyError for an unknown name, ValueError for a size that is not offered.
    """
    return SCENARIOS[name] if nodes is None else make_large(nodes)
