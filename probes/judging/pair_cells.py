"""The matrix of pairs of a session, kept in arrays as its rounds come: the newest flow of one node to another."""

from collections.abc import Iterable, Sequence

import numpy as np

from benchconsole.probes.judging.patterns import PairMatrix
from benchconsole.topology.arrays import NO_FLOATS, Floats, Indices

PairShares = tuple[Sequence[tuple[str, str]], Floats]
"""The ends of some flows, and what each gave as a share of what was expected."""

NO_SHARES: PairShares = ((), NO_FLOATS)

_SINKS = 32
"""Bits of the number of a sink in the number of a pair."""

_Block = tuple[Indices, Floats]
"""Numbers of pairs, and the share of each."""


class PairCells:
    """The flows that ``add`` was given, by round and metric: of one pair the newest counts.

    Flows of datagrams count of pairs that have no other: UDP fills a way on which TCP is slow.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: tuple[str, ...] = ()
        self._rank: Indices = np.empty(0, np.intp)
        self._rounds: dict[tuple[int, str], _Block] = {}
        self._datagrams: dict[tuple[int, str], _Block] = {}

    def add(self, key: tuple[int, str], shares: PairShares, datagrams: PairShares = NO_SHARES) -> None:
        """Take in the flows of a round and metric, and those of datagrams; in place of what it had before."""
        self._rounds[key] = self._number(shares)
        self._datagrams[key] = self._number(datagrams)

    def clear(self) -> None:
        """Forget every flow."""
        self._numbers.clear()
        self._names = ()
        self._rounds.clear()
        self._datagrams.clear()

    def make_matrix(self) -> PairMatrix:
        """The cells of all rounds, in the order of their pairs."""
        blocks = [*_list_in_order(self._datagrams), *_list_in_order(self._rounds)][::-1]
        pairs = np.concatenate([np.empty(0, np.int64), *(pairs[::-1] for pairs, _ in blocks)])
        shares = np.concatenate([NO_FLOATS, *(shares[::-1] for _, shares in blocks)])
        met, newest = np.unique(pairs, return_index=True)  # the first of each, and the newest come first
        self._rank_names()
        sources, sinks = self._rank[met >> _SINKS], self._rank[met & ((1 << _SINKS) - 1)]
        return PairMatrix(self._names, sources, sinks, shares[newest])

    def _number(self, shares: PairShares) -> _Block:
        pairs, values = shares
        numbers = self._numbers
        ends = [numbers.setdefault(name, len(numbers)) for pair in pairs for name in pair]
        source, sink = np.array(ends, np.int64).reshape(-1, 2).T
        return source << _SINKS | sink, np.array(values, float)

    def _rank_names(self) -> None:
        """Sort the names of nodes where there are others than before."""
        if len(self._names) != len(self._numbers):
            self._names = tuple(sorted(self._numbers))
            self._rank = np.empty(len(self._names), np.intp)
            self._rank[[self._numbers[name] for name in self._names]] = np.arange(len(self._names))


def _list_in_order(blocks: dict[tuple[int, str], _Block]) -> Iterable[_Block]:
    """Blocks in the order of their rounds."""
    return [blocks[key] for key in sorted(blocks)]
