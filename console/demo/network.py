"""Owns what the simulated network carries: max-min fair shares over the cabling as it truly is.

Counts streams, not flows: each stream takes one of the shortest paths, in turn, as a good hash
would spread them, and what one damaged path denies it another stream may still get elsewhere.
Written apart from ``topology.expect`` on purpose: the demo must not share the product's
arithmetic, or a mistake there would confirm itself. Refuses to know time (``traffic``).
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from console.demo.scenarios import Fault, FaultKind, Scenario
from topology.model import Direction, Fabric, NodeId

Path = tuple[Direction, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """``streams`` TCP connections that send from ``source`` to ``sink`` as fast as they can."""

    source: NodeId
    sink: NodeId
    streams: int = 1


def noise(*names: object, spread: float = 0.005) -> float:
    """A factor between ``1 - spread`` and 1 that always comes out the same for the same names."""
    seed = zlib.crc32("\0".join(map(str, names)).encode())
    return 1.0 - spread * (seed % 10_007) / 10_007


class Network:
    """The fabric's links with what the scenario left of them; ``shares`` says what flows get."""

    def __init__(self, fabric: Fabric, scenario: Scenario) -> None:
        self.fabric = fabric
        self._capacity = dict(_capacities(fabric, scenario))
        self.paths = lru_cache(maxsize=65_536)(self._paths)

    def _paths(self, source: str, sink: str) -> tuple[Path, ...]:
        """Every shortest path, in the order of the file; nothing is forwarded through a node."""
        reached: dict[str, list[Path]] = {source: [()]}
        seen = {source}
        while reached and sink not in reached:
            further: dict[str, list[Path]] = {}
            for device, so_far in reached.items():
                if device != source and device in self.fabric.nodes:
                    continue
                for link in self.fabric.links_at[device]:
                    if link.other(device) not in seen:
                        step = Direction(link.id, device)
                        further.setdefault(link.other(device), []).extend((*path, step) for path in so_far)
            seen |= further.keys()
            reached = further
        return tuple(reached.get(sink, ()))

    def shares(self, loads: Sequence[Load]) -> tuple[float, ...]:
        """byte/s of payload that each of ``loads`` gets while all of them send."""
        bundles: list[tuple[int, Path, int]] = []
        for index, load in enumerate(loads):
            paths = self.paths(load.source, load.sink)
            first = zlib.crc32(f"{load.source}>{load.sink}".encode())
            for offset in range(min(load.streams, len(paths))):
                streams = len(range(offset, load.streams, len(paths)))
                bundles.append((index, paths[(first + offset) % len(paths)], streams))
        level = self._fill([(path, streams) for _, path, streams in bundles])
        rates = [0.0] * len(loads)
        for (index, _, streams), each in zip(bundles, level, strict=True):
            rates[index] += each * streams
        return tuple(rate * self.fabric.goodput for rate in rates)

    def _fill(self, bundles: Sequence[tuple[Path, int]]) -> list[float]:
        """Progressive filling: the rate of one stream of each bundle when no one can gain but from a poorer one."""
        residual = {step: self._capacity[step] for path, _ in bundles for step in path}
        level = [0.0] * len(bundles)
        waiting = set(range(len(bundles)))
        while waiting:
            weight: dict[Direction, int] = {}
            for index in waiting:
                path, streams = bundles[index]
                for step in path:
                    weight[step] = weight.get(step, 0) + streams
            # Equal levels freeze together, so a symmetric round takes one pass and not one a link.
            lowest = min(residual[step] / count for step, count in weight.items())
            full = {step for step, count in weight.items() if residual[step] / count <= lowest * (1 + 1e-9)}
            frozen = {index for index in waiting if not full.isdisjoint(bundles[index][0])}
            for index in frozen:
                level[index] = lowest
                path, streams = bundles[index]
                for step in path:
                    residual[step] -= lowest * streams
            waiting -= frozen
        return level


def _capacities(fabric: Fabric, scenario: Scenario) -> Iterable[tuple[Direction, float]]:
    cut = scenario.of(FaultKind.MEMBERS_DOWN)
    slow = scenario.of(FaultKind.NIC_SLOW_OUT)
    for link in fabric.links.values():
        left = _share(cut, link.id)
        for source in (link.a, link.b):
            yield Direction(link.id, source), link.capacity * left * _share(slow, source)


def _share(faults: Mapping[str, Fault], element: str) -> float:
    fault = faults.get(element)
    return 1.0 if fault is None else fault.share
