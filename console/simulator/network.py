"""The simulated network: max-min fair shares over the cabling as it truly is.

Counts streams, not flows: each stream takes one of the shortest paths, in turn, as a good hash
would spread them, and what one damaged path denies it another stream may still get elsewhere.
Written apart from ``topology.capacity.expect`` on purpose: the demo must not share the product's
arithmetic, or a mistake there would confirm itself. ``traffic`` adds time.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchconsole.console.simulator.scenarios import FaultKind, Scenario
from benchconsole.topology.model.fabric import Direction, Fabric, Link, NodeId

_NETWORK_FAULTS = (FaultKind.MEMBERS_DOWN, FaultKind.NIC_SLOW_OUT)

Path = tuple[int, ...]
"""Directed links by number: twice the place of the link in the file, one more from its second end."""


@dataclass(frozen=True, slots=True)
class StreamLoad:
    """``streams`` TCP connections that send from ``source`` to ``sink`` as fast as they can, or at ``most``.

    ``most`` is byte/s of payload of each stream; 0 bounds none. ``network`` is that of the address that they go to;
    empty where the machine has one only. ``leg`` and ``last_leg`` are the ports of the addresses at both ends, where
    these are of ports.
    """

    source: NodeId
    sink: NodeId
    streams: int = 1
    network: str = ""
    leg: str = ""
    last_leg: str = ""
    most: float = 0.0


def noise(*names: object, spread: float = 0.005) -> float:
    """A factor between ``1 - spread`` and 1 that always comes out the same for the same names."""
    seed = zlib.crc32("\0".join(map(str, names)).encode())
    return 1.0 - spread * (seed % 10_007) / 10_007


class SimulatedNetwork:
    """The fabric's links with what the scenario left of them; ``compute_shares`` says what flows get."""

    def __init__(self, fabric: Fabric, scenario: Scenario) -> None:
        self.fabric = fabric
        self._directions = [Direction(link.id, end) for link in fabric.links.values() for end in (link.a, link.b)]
        self._number = {direction: number for number, direction in enumerate(self._directions)}
        self._capacity = np.fromiter(_list_capacities(fabric, scenario), float, 2 * len(fabric.links))
        self._between = lru_cache(maxsize=65_536)(self._search)

    def find_paths(
        self, source: str, sink: str, network: str = "", legs: tuple[str, str] = ("", "")
    ) -> tuple[Path, ...]:
        """Paths of nodes on one switch each differ from those of their switches by the cables at both ends.

        With ``network`` over its links alone, with ``legs`` between these ports.
        """
        first, last = (
            self._find_only_cable(node, network, leg) for node, leg in zip((source, sink), legs, strict=True)
        )
        if first is None or last is None or source == sink:
            return self._between(source, sink, network)
        if first[1] == last[1]:
            return ((first[0], last[0] ^ 1),)
        return tuple((first[0], *middle, last[0] ^ 1) for middle in self._between(first[1], last[1], network))

    def _list_links(self, device: str, network: str) -> Sequence[Link]:
        links = self.fabric.links_at[device]
        return [link for link in links if link.network == network] if network else links

    def _find_only_cable(self, node: str, network: str, leg: str) -> tuple[int, str] | None:
        """The directed link out of a node that has one (or of its port), to a switch, and that switch."""
        links = self._list_links(node, network) if node in self.fabric.nodes else ()
        links = [link for link in links if leg in (link.ports_a if link.a == node else link.ports_b)] if leg else links
        if len(links) != 1 or links[0].other(node) in self.fabric.nodes:
            return None
        return self._number[Direction(links[0].id, node)], links[0].other(node)

    def _search(self, source: str, sink: str, network: str) -> tuple[Path, ...]:
        reached: dict[str, list[Path]] = {source: [()]}
        seen = {source}
        while reached and sink not in reached:
            further: dict[str, list[Path]] = {}
            for device, so_far in reached.items():
                if device != source and device in self.fabric.nodes:
                    continue
                for link in self._list_links(device, network):
                    other = link.other(device)
                    if other not in seen and (other == sink or other not in self.fabric.nodes):
                        step = self._number[Direction(link.id, device)]
                        further.setdefault(other, []).extend((*path, step) for path in so_far)
            seen |= further.keys()
            reached = further
        return tuple(reached.get(sink, ()))

    def compute_shares(self, loads: Sequence[StreamLoad]) -> tuple[float, ...]:
        """byte/s of payload that each of ``loads`` gets while all of them send."""
        owners: list[int] = []
        taken: list[Path] = []
        counts: list[int] = []
        bounds: list[float] = []
        for index, load in enumerate(loads):
            paths = self.find_paths(load.source, load.sink, load.network, (load.leg, load.last_leg))
            first = zlib.crc32(f"{load.source}>{load.sink}".encode())
            for offset in range(min(load.streams, len(paths))):
                owners.append(index)
                counts.append(len(range(offset, load.streams, len(paths))))
                path = paths[(first + offset) % len(paths)]
                if load.most:  # a link of its own, which nobody else crosses
                    path = (*path, len(self._capacity) + len(bounds))
                    bounds.append(load.most * counts[-1])
                taken.append(path)
        if not owners:
            return (0.0,) * len(loads)
        streams = np.array(counts, float)
        levels = _fill(np.append(self._capacity, bounds), taken, streams)
        rates = np.bincount(owners, levels * streams, minlength=len(loads))
        return tuple(rates.tolist())


def _fill(capacity: NDArray[np.float64], taken: Sequence[Path], streams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Progressive filling: the rate of one stream of each bundle when no one can gain but from a poorer one."""
    bundle = np.repeat(np.arange(len(taken)), [len(path) for path in taken])
    ways, way = np.unique(np.fromiter((step for path in taken for step in path), np.intp), return_inverse=True)
    left = capacity[ways]
    level = np.zeros(len(taken))
    done = np.zeros(len(taken), bool)
    while len(bundle):
        crossing = np.bincount(way, streams[bundle], minlength=len(ways))
        fair = np.divide(left, crossing, out=np.full(len(ways), np.inf), where=crossing > 0)
        # Equal levels freeze together, so a symmetric round takes one pass and not one a link.
        frozen = np.unique(bundle[(fair <= fair.min() * (1 + 1e-9))[way]])
        level[frozen] = fair.min()
        done[frozen] = True
        gone = done[bundle]
        left = left - np.bincount(way[gone], fair.min() * streams[bundle[gone]], minlength=len(ways))
        bundle, way = bundle[~gone], way[~gone]
    return level


def _list_capacities(fabric: Fabric, scenario: Scenario) -> Iterable[float]:
    """byte/s of payload of every directed link, by its number."""
    shares = {element: fault.share for element, fault in scenario.select(*_NETWORK_FAULTS).items()}
    for link in fabric.links.values():
        for source in (link.a, link.b):
            yield link.capacity * fabric.goodput_of(link) * shares.get(link.id, 1.0) * shares.get(source, 1.0)
