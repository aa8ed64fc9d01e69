"""An independent solver: shares by walking, rates by filling with rational numbers, optima by a plain linear program.

It reads the links of a fabric as data and shares no code with what it judges.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_array

from benchconsole.topology.model.fabric import Fabric

Way = tuple[str, str, str]
"""A link by its name, from one device to another."""
Shares = dict[Way, Fraction]


def cables_of(described: Fabric) -> dict[tuple[str, str], list[tuple[str, int]]]:
    """From device to device: the links with their numbers of cables."""
    found: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for link in described.links.values():
        found[link.a, link.b].append((link.id, link.count))
        found[link.b, link.a].append((link.id, link.count))
    return found


def rates_of(described: Fabric) -> dict[Way, Fraction]:
    """The capacity of each directed link: all of its cables, or what is left of a shared line."""
    return {
        (link.id, a, b): Fraction(int(speed * 8), 8)
        for link in described.links.values()
        for cabled in [sum(link.mixed) or link.speed * link.count]
        for speed in [min(cabled, link.wan.available or cabled) if link.wan else cabled]
        for a, b in ((link.a, link.b), (link.b, link.a))
    }


def walk(described: Fabric, paths: Iterable[tuple[Fraction, Sequence[str]]], weighted: bool = False) -> Shares:
    """Shares of a flow over device paths, each with its part; parallel links by cables, or by capacity."""
    cables, speed = cables_of(described), rates_of(described)
    found: Shares = defaultdict(Fraction)
    for part, path in paths:
        for here, there in itertools.pairwise(path):
            links = cables[here, there]
            weights = [speed[link, here, there] if weighted else Fraction(count) for link, count in links]
            for (link, _), weight in zip(links, weights, strict=True):
                found[link, here, there] += part * weight / sum(weights)
    return found


def least_hops(described: Fabric, source: str, sink: str, weighted: bool = False) -> list[tuple[Fraction, list[str]]]:
    """Every path of least hops with its part: even over the next devices at each, or by the capacity of the cables."""
    cables, speed = cables_of(described), rates_of(described)
    beside: dict[str, list[str]] = defaultdict(list)
    for here, there in cables:
        if there in described.switches or there in (source, sink):
            beside[here].append(there)
    left = {sink: 0}
    waiting = [sink]
    for device in waiting:
        for other in beside[device]:
            if other not in left and (other in described.switches or other == source):
                left[other] = left[device] + 1
                waiting.append(other)

    def room(here: str, there: str) -> Fraction:
        return sum((speed[link, here, there] for link, _ in cables[here, there]), Fraction())

    def legs(here: str, there: str) -> Fraction:
        return Fraction(sum(count for _, count in cables[here, there]))

    def go(path: list[str], part: Fraction) -> Iterable[tuple[Fraction, list[str]]]:
        here = path[-1]
        if here == sink:
            yield part, path
            return
        nexts = [there for there in beside[here] if left.get(there) == left[here] - 1]
        weigh = room if weighted else legs if here == source else lambda _here, _there: Fraction(1)
        total = sum((weigh(here, there) for there in nexts), Fraction())
        for there in nexts:
            yield from go([*path, there], part * weigh(here, there) / total)

    return list(go([source], Fraction(1)))


def minimal(described: Fabric, source: str, sink: str) -> list[tuple[Fraction, list[str]]]:
    """Local, global, local on a dragonfly: ``r{group}-{number}`` are its switches, each node has one leg."""
    cables = cables_of(described)
    first, last = (next(there for here, there in cables if here == node) for node in (source, sink))
    return [(part, [source, *path, sink]) for part, path in _minimal_between(described, first, last)]


def _minimal_between(described: Fabric, first: str, last: str) -> list[tuple[Fraction, list[str]]]:
    if first == last:
        return [(Fraction(1), [first])]
    ours, theirs = (name.split("-")[0] for name in (first, last))
    if ours == theirs:
        return [(Fraction(1), [first, last])]
    doors = [
        (here, there) for here, there in cables_of(described)
        if here.startswith(f"{ours}-") and there.startswith(f"{theirs}-")
    ]  # fmt: skip
    ways = [[first] * (first != out) + [out, into] + [last] * (last != into) for out, into in doors]
    return [(Fraction(1, len(ways)), way) for way in ways]


def valiant(described: Fabric, source: str, sink: str) -> list[tuple[Fraction, list[str]]]:
    """By each third group evenly."""
    cables = cables_of(described)
    first, last = (next(there for here, there in cables if here == node) for node in (source, sink))
    groups = {name.split("-")[0] for name in described.switches} - {first.split("-")[0], last.split("-")[0]}
    found = []
    for group in groups:
        entries = [each for each in described.switches if each.startswith(f"{group}-")]
        ours = first.split("-")[0]
        doors = [(out, into) for out, into in cables if out.startswith(f"{ours}-") and into in entries]
        for out, into in doors:
            for part, rest in _minimal_between(described, into, last):
                head = [first] * (first != out) + [out]
                found.append((part / len(doors) / len(groups), [source, *head, *rest, sink]))
    return found


def dimension_order(source: str, sink: str, size: int) -> list[tuple[Fraction, list[str]]]:
    """Around the first ring, then around the second; ``n{x}-{y}`` is below ``r{x}-{y}``, half way round is split."""
    (x, y), (u, v) = (tuple(map(int, re.findall(r"\d+", name))) for name in (source, sink))

    def ring(start: int, end: int) -> list[list[int]]:
        up, down = (end - start) % size, (start - end) % size
        ways = [[(start + step) % size for step in range(1, up + 1)]] if up <= down else []
        return ways + ([[(start - step) % size for step in range(1, down + 1)]] if down < up or 0 < down == up else [])

    found = []
    for first, second in itertools.product(ring(x, u), ring(y, v)):
        path = [source, f"r{x}-{y}", *(f"r{each}-{y}" for each in first), *(f"r{u}-{each}" for each in second), sink]
        found.append(path)
    return [(Fraction(1, len(found)), path) for path in found]


def hyperx_minimal(source: str, sink: str) -> list[tuple[Fraction, list[str]]]:
    """Two dimensions, one cable in each that differs, in either order; ``n{x}-{y}`` is below ``r{x}-{y}``."""
    (x, y), (u, v) = (tuple(map(int, re.findall(r"\d+", name))) for name in (source, sink))
    corners = {((u, y),), ((x, v),)} if x != u and y != v else {()}
    found = [[f"r{x}-{y}", *(f"r{a}-{b}" for a, b in corner), f"r{u}-{v}"] for corner in corners]
    return [(Fraction(1, len(found)), [source, *dict.fromkeys(path), sink]) for path in found]


def hyperx_valiant(source: str, sink: str, switches: Iterable[str]) -> list[tuple[Fraction, list[str]]]:
    """By each other switch evenly: the first dimension, then the second, and from there again."""

    def cross(here: str, there: str) -> list[str]:
        (_x, y), (u, v) = (re.findall(r"\d+", name) for name in (here, there))
        return list(dict.fromkeys([here, f"r{u}-{y}", f"r{u}-{v}"]))

    first, last = (f"r{name[1:]}" for name in (source, sink))
    between = sorted(set(switches) - {first, last})
    return [
        (Fraction(1, len(between)), [source, *cross(first, middle), *cross(middle, last)[1:], sink])
        for middle in between
    ]


def fill(capacity: Mapping[Way, Fraction], flows: Sequence[Shares]) -> list[Fraction]:
    """Max-min fair rates, one level after the other (Bertsekas and Gallager), in rational numbers."""
    left = dict(capacity)
    rate: list[Fraction | None] = [None] * len(flows)
    while None in rate:
        load: dict[Way, Fraction] = defaultdict(Fraction)
        for shares, known in zip(flows, rate, strict=True):
            for way, share in shares.items() if known is None else ():
                load[way] += share
        level = min(left[way] / weight for way, weight in load.items())
        full = {way for way, weight in load.items() if left[way] / weight == level}
        held = [index for index, shares in enumerate(flows) if rate[index] is None and full & shares.keys()]
        for index in held:
            rate[index] = level
            for way, share in flows[index].items():
                left[way] -= share * level
    return [each for each in rate if each is not None]


def optimum(capacity: Mapping[Way, Fraction], pairs: Sequence[tuple[str, str]], through: Iterable[str]) -> float:
    """The maximum concurrent flow: a variable for each pair and directed link, none of them merged."""
    ways, passed = list(capacity), set(through)
    devices = {device: number for number, device in enumerate({end for _, a, b in ways for end in (a, b)})}
    size, width = len(ways), len(ways) * len(pairs) + 1
    balance, shares = lil_array((len(devices) * len(pairs), width)), lil_array((size, width))
    bounds: list[tuple[int, int | None]] = []
    for index, (source, sink) in enumerate(pairs):
        for column, (_, a, b) in enumerate(ways):
            at = index * size + column
            shares[column, at] = 1.0
            for end, sign in ((b, 1.0), (a, -1.0)):
                if end != source:
                    balance[index * len(devices) + devices[end], at] = sign
            open_ = (a == source or a in passed) and (b == sink or b in passed)
            bounds.append((0, None if open_ else 0))
        balance[index * len(devices) + devices[sink], width - 1] = -1.0
    scale = float(max(capacity.values()))
    gain = np.zeros(width)
    gain[-1] = -1.0
    found = linprog(
        gain, A_eq=balance.tocsr(), b_eq=np.zeros(balance.shape[0]), A_ub=shares.tocsr(),
        b_ub=[float(each) / scale for each in capacity.values()], bounds=[*bounds, (0, None)],
    )  # fmt: skip
    return float(-found.fun) * scale
