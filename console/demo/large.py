"""Owns the generated cluster equator, of 16 to 10,240 nodes: its topology file, and what is wrong with it.

Leaves of equal nodes under up to sixteen spines, with storage servers on the spines, so that each
LAG between a leaf and a spine has flows that no other path can take. Faults are planted by rule,
far apart from each other, so many per thousand nodes. It exists nowhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from console.demo.faults import Fault, FaultKind, Scenario
from probes.judging.verdict import Suspect

LEAST, MOST = 16, 10_240
MOST_ROUND = 10_000
"""Nodes of the scenario ``large``."""

_LEAF_SPEED = {(8, 2): 25, (16, 2): 50, (16, 4): 25, (40, 4): 100, (40, 8): 50, (40, 16): 25}
"""Gb/s of each of the two members of a LAG from a leaf to a spine, by nodes of a leaf and number of spines."""


@dataclass(frozen=True, slots=True)
class Size:
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
        """Spine switches."""
        if self.nodes < 100:
            return 2
        return 4 if self.nodes < 800 else 8 if self.nodes < 2500 else 16

    @property
    def storage(self) -> int:
        """Storage servers, alike on every spine."""
        return self.spines * (1 if self.nodes < 64 else 2 if self.nodes < 2500 else 4)

    @property
    def leaves(self) -> tuple[int, ...]:
        """Compute nodes of each leaf."""
        full, rest = divmod(self.nodes - self.storage, self.per_leaf)
        return (self.per_leaf,) * full + ((rest,) if rest else ())


def node(number: int) -> str:
    """The name of a compute node; they count from 1."""
    return f"n{number:05d}"


def describe(nodes: int) -> str:
    """The topology file, with a port that stands in for the one that will be free."""
    size = Size(nodes)
    leaves = len(size.leaves)
    return _HEAD.format(nodes=nodes, last_spine=f"{size.spines:02d}", last_leaf=f"{leaves:03d}") + "".join(
        (*_nodes(size), "\nlinks:\n", *_links(size), _TAIL)
    )


def _runs(size: Size) -> Iterator[tuple[int, int, int]]:
    """For each leaf, from 1: its first and last compute node."""
    first = 1
    for leaf, count in enumerate(size.leaves, 1):
        yield leaf, first, first + count - 1
        first += count


def _nodes(size: Size) -> Iterator[str]:
    yield "nodes:\n"
    for leaf, first, last in _runs(size):
        network, row = divmod(leaf - 1, 250)
        address = f"127.{100 + network}.{row + 1}.[1-{last - first + 1}]"
        yield f'  {_span(first, last)}: {{class: compute, role: compute, address: "{address}"}}\n'
    address = f"127.99.1.[1-{size.storage}]"
    yield f'  st[01-{size.storage:02d}]: {{class: storage, role: storage, address: "{address}"}}\n'


def _span(first: int, last: int) -> str:
    return f"n[{first:05d}-{last:05d}]" if last > first else node(first)


def _links(size: Size) -> Iterator[str]:
    for leaf, first, last in _runs(size):
        yield f'  - {{from: "{_span(first, last)}", to: leaf{leaf:03d}, speed: 25 Gb/s}}\n'
    speed = _LEAF_SPEED[size.per_leaf, size.spines]
    yield (
        f'  - {{from: "leaf[001-{len(size.leaves):03d}]", to: "spine[01-{size.spines:02d}]", '
        f"speed: {speed} Gb/s, count: 2}}\n"
    )
    each = size.storage // size.spines
    for spine in range(1, size.spines + 1):
        first, last = (spine - 1) * each + 1, spine * each
        names = f"st[{first:02d}-{last:02d}]" if last > first else f"st{first:02d}"
        yield f'  - {{from: "{names}", to: spine{spine:02d}, speed: 100 Gb/s}}\n'


def scenario(nodes: int) -> Scenario:
    """Equator with ``nodes`` nodes and its planted faults; ValueError for a size that is not offered."""
    faults = tuple(_faults(Size(nodes)))
    summary = f"{nodes:,} nodes, {len(faults)} planted faults; --nodes gives another size"
    return Scenario("large", summary, partial(describe, nodes), faults, fabric="equator")


def _faults(size: Size) -> Iterator[Fault]:
    """Faults in places that are far apart: what one drags down, another does not touch."""
    places = _places(size)
    for name in islice(places, _count(size, 1000)):
        words = f"the NIC of {name} sends at 30 % of its speed"
        yield Fault(FaultKind.NIC_SLOW_OUT, name, words, 0.3, Suspect.NIC)
    for name in islice(places, _count(size, 2000)):
        words = f"{name} has 7 of 8 DIMMs, 112 of 128 GiB"
        yield Fault(FaultKind.DIMM_MISSING, name, words, 7 / 8, Suspect.NODE)
    for name in islice(places, 1 if size.nodes >= 64 else 0):
        words = f"{name} answers with escape sequences, markup, NaN and broken UTF-8"
        yield Fault(FaultKind.HOSTILE, name, words, 0.0, Suspect.NODE)
    if size.nodes >= 64:
        yield from _silences(places, size)
    server = f"st{size.storage // 2 + 1:02d}"
    words = f"one of the twelve disks of {server} is slow and holds back the rest"
    yield Fault(FaultKind.DISK_SLOW, server, words, 0.42, Suspect.STORAGE)
    for number in range(_count(size, 4000)):
        leaf = f"leaf{len(size.leaves) - 1 - 2 * number:03d}"
        spine = f"spine{1 + number % size.spines:02d}"
        words = f"1 of 2 members of the LAG from {leaf} to {spine} is up"
        yield Fault(FaultKind.MEMBERS_DOWN, f"{leaf}--{spine}", words, 0.5, Suspect.LAG)


def _silences(places: Iterator[str], size: Size) -> Iterator[Fault]:
    for name in islice(places, _count(size, 2500)):
        yield Fault(FaultKind.REFUSES, name, f"{name} lets nobody in over SSH")
    for name in islice(places, 1):
        yield Fault(FaultKind.SILENT, name, f"{name} accepts connections and never says a word")
    for name in islice(places, 1):
        yield Fault(FaultKind.HOST_KEY_CHANGED, name, f"{name} shows another host key than is known")


def _count(size: Size, nodes_of_each: int) -> int:
    return max(1, round(size.nodes / nodes_of_each))


def _places(size: Size) -> Iterator[str]:
    """Compute nodes for faults of their own: one a leaf where there are leaves enough, the last leaves left out."""
    runs = list(_runs(size))
    usable: Sequence[tuple[int, int, int]] = runs[: max(len(runs) - 7, 1)]
    step = max(len(usable) // 24, 1)
    starts = [*usable[::step]]
    for turn in range(size.per_leaf):
        for _, first, last in starts:
            place = first + (3 + 5 * turn) % (last - first + 1)
            yield node(place)


_HEAD = """\
# equator: a generated cluster of {nodes} nodes that `benchconsole demo` simulates. It exists nowhere.

schema: 1
fabric: equator
simulated: true

# The demo writes the files named here beside this one and puts in the port it was given.
ssh: {{user: bench, port: 2222, config: ssh_config, known_hosts: known_hosts, identity: id_ed25519}}

network: {{mtu: 9000}}

classes:
  compute:
    cpu: {{model: "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", sockets: 2, cores: 24, governor: performance}}
    memory: {{total: 128 GiB, dimms: 8}}
    nic: {{speed: 25 Gb/s, mtu: 9000, driver: mlx5_core, firmware: "14.32.1010"}}
    disk: {{count: 2}}
    kernel: {{release: 6.1.0-28-amd64}}
    bios: {{version: "2.13.0"}}
  storage:
    cpu: {{model: "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", sockets: 2, cores: 24, governor: performance}}
    memory: {{total: 64 GiB, dimms: 8}}
    nic: {{speed: 100 Gb/s, mtu: 9000, driver: mlx5_core, firmware: "16.32.1010"}}
    disk: {{count: 14}}
    kernel: {{release: 6.1.0-28-amd64}}
    bios: {{version: "2.13.0"}}

switches:
  "spine[01-{last_spine}]": {{role: spine, model: S5232F-ON}}
  "leaf[001-{last_leaf}]": {{role: leaf, model: S5248F-ON}}

# All addresses are of the loopback: the simulated nodes listen on this machine.
"""

_TAIL = """
criteria:
  - {metric: iperf3.throughput, at_least: 80 %, of: capacity, source: "contract 3.1.9"}
  - {metric: fio.read, where: {pattern: sequential}, nodes: "@storage", at_least: 1.5 GB/s, source: "contract 4.1.2"}
  - {metric: fio.write, where: {pattern: sequential}, nodes: "@storage", at_least: 1.2 GB/s, source: "contract 4.1.2"}

suites:
  default:
    - {probe: inventory}
    - {probe: iperf3, design: neighbours, streams: 4, seconds: 5}
    - {probe: iperf3, design: trunks, streams: 8, seconds: 5}
    - {probe: fio, nodes: "@storage", scratch: /scratch, size: 1 GiB, seconds: 5}
"""
