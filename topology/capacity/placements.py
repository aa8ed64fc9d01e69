"""Rates of streams when hashes put each of them on one way at every fork: the unluckiest likely placement of all.

Two models, both of numbers only. ``Paths`` follows the streams of one flow fork by fork and shares every way fairly
(max-min); ``Spread`` throws the streams of many flows on parallel ways, as balls into bins, and gives each what it is
offered until its way is full. Draws have a fixed seed, so that the same question has the same answer; where all
placements of a fork are few, they are counted instead.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.capacity.maxmin import Usage, max_min

UNLUCKY = 0.01
"""Share of placements that are left out as too unlucky to count with: 99 of 100 give more."""

MOST_COUNTED = 4096
"""Up to so many placements all are counted; more are drawn."""

_DRAWS = 1000
_LEAST_DRAWS = 200
_MOST_USES = 100_000
"""Ways that are filled in one go: with very many streams fewer placements are drawn, for they differ less."""

_SEED = 20_251


@dataclass(frozen=True, slots=True)
class Fork:
    """Where one of several ways is taken. ``capacity`` and ``chance`` of each, and the place of the fork ``after`` it.

    ``chance`` adds up to 1; ``after`` is later in the list, or beyond its end. ``by_stream``: each stream takes a way
    of its own; otherwise the hash sees addresses only, and all take the same.
    """

    capacity: tuple[float, ...]
    chance: tuple[float, ...]
    after: tuple[int, ...]
    by_stream: bool = True


@dataclass(frozen=True, slots=True)
class Paths:
    """The ways that ``streams`` of one flow may take, from the first of ``forks`` on; ``most`` is their sum at most."""

    streams: int
    most: float
    forks: tuple[Fork, ...]


@dataclass(frozen=True, slots=True)
class RateRange:
    """byte/s of payload over placements: of the unluckiest likely one, the mean, and of the luckiest."""

    least: float
    mean: float
    most: float


@lru_cache(maxsize=4096)
def compute_paths(paths: Paths) -> RateRange:
    """The sum of the streams of one flow over placements. ValueError without streams."""
    if paths.streams < 1:
        raise ValueError(f"{paths.streams} streams, expected at least one")
    if all(max(fork.chance) > 1 - 1e-9 for fork in paths.forks):
        return RateRange(paths.most, paths.most, paths.most)
    taken, chance = _place(paths)
    rates = np.minimum(_fill(paths, taken), paths.most)
    return _summarise(rates, chance, UNLUCKY)


def _place(paths: Paths) -> tuple[Indices, Floats]:
    """Placements: the way that each stream takes at each fork (-1: it does not come there), and their chances."""
    shape = [(len(fork.chance), paths.streams if fork.by_stream else 1) for fork in paths.forks]
    placements = math.prod(ways**streams for ways, streams in shape)
    if placements <= MOST_COUNTED:
        picks, chance = _count_picks(paths)
    else:
        ways = sum(each > 1 for each, _ in shape)
        draws = max(_LEAST_DRAWS, min(_DRAWS, _MOST_USES // (paths.streams * ways)))
        picks, chance = _draw_picks(paths, draws), np.full(draws, 1.0 / draws)
    here = np.zeros(picks.shape[:2], np.intp)  # the fork that each stream stands at
    taken = np.full(picks.shape, -1, np.intp)
    for place, fork in enumerate(paths.forks):
        there = here == place
        taken[:, :, place][there] = picks[:, :, place][there]
        here[there] = np.array(fork.after, np.intp)[picks[:, :, place][there]]
    return taken, chance


def _count_picks(paths: Paths) -> tuple[Indices, Floats]:
    """Every combination of ways, with its chance: placement by stream by fork."""
    choices = [
        (place, fork, stream)
        for place, fork in enumerate(paths.forks)
        for stream in (range(paths.streams) if fork.by_stream else (slice(None),))
    ]
    combinations = list(product(*(range(len(fork.chance)) for _, fork, _ in choices)))
    picks = np.zeros((len(combinations), paths.streams, len(paths.forks)), np.intp)
    chance = np.ones(len(combinations))
    for column, (place, fork, stream) in enumerate(choices):
        picked = np.array([combination[column] for combination in combinations], np.intp)
        picks[:, stream, place] = picked[:, None] if isinstance(stream, slice) else picked
        chance *= np.array(fork.chance)[picked]
    return picks, chance


def _draw_picks(paths: Paths, draws: int) -> Indices:
    random = np.random.default_rng(_SEED)
    picks = np.zeros((draws, paths.streams, len(paths.forks)), np.intp)
    for place, fork in enumerate(paths.forks):
        if len(fork.chance) > 1:
            size = (draws, paths.streams if fork.by_stream else 1)
            picks[:, :, place] = np.searchsorted(np.cumsum(fork.chance)[:-1], random.random(size), side="right")
    return picks


def _fill(paths: Paths, taken: Indices) -> Floats:
    """The sum of the max-min fair rates of the streams in each placement; no two placements share a way."""
    placements, streams, _ = taken.shape
    first = np.cumsum([0, *(len(fork.chance) for fork in paths.forks)])
    ways = int(first[-1]) + 1
    placement, stream, fork = np.nonzero(taken >= 0)
    flow = placement * streams + stream
    link = placement * ways + first[fork] + taken[placement, stream, fork]
    # The last way of each placement is what all streams share.
    every = np.arange(placements * streams)
    flow = np.concatenate((flow, every))
    link = np.concatenate((link, every // streams * ways + ways - 1))
    capacity = np.tile(np.concatenate([*(fork.capacity for fork in paths.forks), [paths.most]]), placements)
    rates = max_min(Usage(flow, link, np.ones(len(flow))), capacity, np.full(len(every), np.inf))
    return np.add.reduceat(rates, np.arange(0, len(rates), streams))


@dataclass(frozen=True, slots=True)
class Spread:
    """``streams`` that are ``offered`` so many byte/s each, over parallel ways of this ``capacity`` and ``chance``.

    ``unlucky`` is the share of placements that are left out.
    """

    streams: int
    offered: float
    capacity: tuple[float, ...]
    chance: tuple[float, ...]
    unlucky: float = UNLUCKY


@lru_cache(maxsize=4096)
def compute_spread(spread: Spread) -> RateRange:
    """The sum over the ways of what each carries, the lower of its capacity and of what its streams are offered."""
    if spread.streams < 1:
        raise ValueError(f"{spread.streams} streams, expected at least one")
    if len(spread.chance) ** spread.streams <= MOST_COUNTED:
        loads, chance = _count_loads(spread)
    else:
        draws = max(_LEAST_DRAWS, round(_DRAWS * UNLUCKY / spread.unlucky))
        loads = np.random.default_rng(_SEED).multinomial(spread.streams, spread.chance, size=draws)
        chance = np.full(draws, 1.0 / draws)
    rates = np.minimum(loads * spread.offered, np.array(spread.capacity)).sum(axis=1)
    return _summarise(rates, chance, spread.unlucky)


def _count_loads(spread: Spread) -> tuple[Indices, Floats]:
    """Every way to share the streams out, with its chance (the multinomial distribution)."""
    loads = np.array(list(_share_out(spread.streams, len(spread.chance))), np.intp)
    ways = math.factorial(spread.streams)
    counted = np.array([ways / math.prod(math.factorial(each) for each in row) for row in loads.tolist()])
    return loads, counted * np.prod(np.array(spread.chance) ** loads, axis=1)


def _share_out(streams: int, ways: int) -> Iterator[tuple[int, ...]]:
    if ways == 1:
        yield (streams,)
        return
    for own in range(streams + 1):
        for others in _share_out(streams - own, ways - 1):
            yield (own, *others)


def _summarise(rates: Floats, chance: Floats, unlucky: float) -> RateRange:
    """The lowest rate that no more than ``unlucky`` of the placements stay below, the mean, and the highest."""
    order = np.argsort(rates, kind="stable")
    reached = np.cumsum(chance[order])
    place = min(int(np.searchsorted(reached, unlucky + 1e-12, side="right")), len(order) - 1)
    return RateRange(float(rates[order[place]]), float(rates @ chance), float(rates.max()))
