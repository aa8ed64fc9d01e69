"""The 64-bit words of flows and devices that hashed choices are drawn by: pure functions of names."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import starmap
from operator import attrgetter, concat
from typing import NamedTuple

import numpy as np

from benchconsole.topology.arrays import Words
from benchconsole.topology.model.fabric import Flow

WORD = (1 << 64) - 1


class FlowHashes(NamedTuple):
    """The words that the hashes of a flow are made of, mixed already: its two ends, and these with its stream."""

    ends: int
    stream: int


def hash_flows(flows: Sequence[Flow]) -> list[FlowHashes]:
    """One key for each flow. Flows of the same two ends are parallel streams, numbered in order.

    Ports that flows name have addresses of their own.
    """
    words = FlowWords(flows)
    return list(map(FlowHashes, words.ends.tolist(), words.streams.tolist()))


@lru_cache(maxsize=1 << 17)
def hash_text(*names: str) -> int:
    """64 bits that always come out the same for the same names."""
    return int.from_bytes(blake2b("\0".join(names).encode(), digest_size=8).digest(), "little")


def mix_bits(value: int) -> int:
    """64 bits, each of which depends on each of ``value``.

    SplitMix64: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    value = (value + 0x9E3779B97F4A7C15) & WORD
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & WORD
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & WORD
    return value ^ value >> 31


class FlowWords:
    """The words of ``hash_flows`` as arrays, each made when it is first asked for: few fabrics need both."""

    def __init__(self, flows: Sequence[Flow]) -> None:
        sources, sinks = map(attrgetter("source"), flows), map(attrgetter("sink"), flows)
        first, last = list(map(attrgetter("leg"), flows)), list(map(attrgetter("last_leg"), flows))
        self._names: list[tuple[str, ...]] = list(zip(sources, sinks, strict=True))
        if min(first.count(None), last.count(None)) < len(flows):
            self._names = [
                names if ports == (None, None) else (*names, ports[0] or "", ports[1] or "")
                for names, ports in zip(self._names, zip(first, last, strict=True), strict=True)
            ]

    @cached_property
    def ends(self) -> Words:
        """The words of hashes that see no ports."""
        return np.fromiter(starmap(hash_text, self._names), np.uint64, len(self._names))

    @cached_property
    def streams(self) -> Words:
        """The words of hashes that see ports: each stream of the same two ends has a word of its own."""
        named = map(concat, self._names, zip(number_streams(self._names)))
        return np.fromiter(starmap(hash_text, named), np.uint64, len(self._names))


def number_streams(names: Sequence[tuple[str, ...]]) -> list[str]:
    """Which of the equal ones each is, counted from 1."""
    if len(set(names)) == len(names):
        return ["1"] * len(names)
    met: dict[tuple[str, ...], int] = {}
    found = []
    for each in names:
        met[each] = met.get(each, 0) + 1
        found.append(str(met[each]))
    return found
