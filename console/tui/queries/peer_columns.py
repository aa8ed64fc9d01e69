"""The column that holds each node's number against the median of its peers. Pure.

Peers are those of judging: one class, and the same cohorts. The number that the table shows is held against them.
It is no verdict: ``probes.judging.peers`` finds the nodes that deviate.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import name_keys
from benchconsole.console.tui.queries.area import take_finite
from benchconsole.console.tui.queries.node_row import Choice, FollowingColumn, NodeColumn, NodeRow
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.tui.rows.text_rows import CellLine
from benchconsole.console.tui.rows.themes import FAINT, MUTED, TEXT
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.probes.judging.peer_class import PeerClass, find_peer_class
from benchconsole.topology.units import Unit, counted

OF_PEERS = Choice("peers", "of.peers")

FEWEST = 3
"""Nodes of a class, the node itself among them, from which on their median says anything."""

TOO_FEW = "-"
"""In place of a share where there are fewer."""

MEDIAN_0 = "median 0"
"""In place of a share where the median is 0, and the number of the node is not."""


class Peers(NamedTuple):
    """The numbers of the nodes of a class in one column: their median in base units, and how many they are."""

    median: float
    number: int


PeerMedians = Mapping[tuple[str, PeerClass], Peers]
"""By the key of a column, and the class."""


def compute_medians(rows: Iterable[NodeRow], columns: Sequence[NodeColumn]) -> PeerMedians:
    """The medians of every class in each column of numbers. Looks at every row once."""
    found: dict[tuple[str, PeerClass], list[float]] = {}
    numbers = [column for column in columns if column.scale is not None]
    for row in rows:
        peers = find_peer_class(row.view.node)
        for column in numbers:
            number = column.number(row)
            if number is not None and math.isfinite(number):
                found.setdefault((column.key, peers), []).append(number)
    return {key: Peers(median(values), len(values)) for key, values in found.items()}


class PeerShareColumn(FollowingColumn):
    """``of`` is the column of numbers that it holds against peers: on the screen the last one under the cursor."""

    choice = OF_PEERS
    key = OF_PEERS.name
    heading = "of peers"
    scale: Scale = Scale(Unit.ONE, "%", 0.01, 1)

    def __init__(self) -> None:
        self.medians: PeerMedians = {}

    def prepare(self, rows: Collection[NodeRow], beside: Sequence[NodeColumn]) -> None:
        """Compute the medians of all columns of numbers; begin with the one that was named before this one."""
        self.medians = compute_medians(rows, [column for column in beside if column is not self])
        place = next((place for place, column in enumerate(beside) if column is self), len(beside))
        before = [*reversed(beside[:place]), *beside[place:]]
        self.follow(next((column for column in before if column.scale is not None and column is not self), None))

    def follow(self, of: NodeColumn | None) -> None:
        """Hold the numbers of another column against those of peers."""
        super().follow(of)
        self.bound = f"of {of.heading}" if of is not None else ""

    @property
    def title(self) -> str:
        return f"{self.of.heading if self.of is not None else ''} {self.heading} %".lstrip()

    @property
    def width(self) -> int:
        return max(super().width, len("of throughput"))

    def _find(self, row: NodeRow) -> tuple[float | None, Peers | None]:
        if self.of is None:
            return None, None
        number = self.of.number(row)
        known = number is not None and math.isfinite(number)
        return number if known else None, self.medians.get((self.of.key, find_peer_class(row.view.node)))

    def number(self, row: NodeRow) -> float | None:
        """The number of the node / the median of its peers; None with fewer than three.

        Of a median of 0 nothing is a share, None; 0 itself is all of it.
        """
        number, peers = self._find(row)
        if number is None or peers is None or peers.number < FEWEST:
            return None
        if not peers.median:
            return None if number else 1.0
        return number / peers.median

    def words(self, row: NodeRow) -> str:
        share = self.number(row)
        if share is not None:
            return self.scale.shown(share)
        number, peers = self._find(row)
        if number is None or peers is None:
            return NOT_MEASURED
        return TOO_FEW if peers.number < FEWEST else MEDIAN_0

    def draw(self, line: CellLine, row: NodeRow, wide: int, *, quiet: bool) -> None:
        share = self.number(row)
        text = self.words(row) if share is None else self.scale.shown(share)
        line.put(text, FAINT if share is None else MUTED if quiet else TEXT, wide, ">")

    def record(self, row: NodeRow) -> object:
        share, (_, peers) = self.number(row), self._find(row)
        return {
            "of": None if self.of is None else self.of.key, "share": take_finite(share),
            "median": None if peers is None else take_finite(peers.median),
            "peers": 0 if peers is None else peers.number,
        }  # fmt: skip

    def tell(self, row: NodeRow) -> str:
        """How many peers there are, and their median."""
        number, peers = self._find(row)
        if self.of is None or self.of.scale is None:
            return name_keys("of peers: > goes to a column of numbers", "column_right")
        name = " ".join(map(sanitize, (row.view.node.hardware.name, *(name for _, name in row.view.node.cohorts))))
        if peers is None:
            return f"of peers: no number in {self.of.heading}"
        of = f"{counted(peers.number, 'node')} of {name}"
        if peers.number < FEWEST:
            return f"of peers: {of} told {self.of.heading}, at least {FEWEST} are needed"
        middle = f"{self.of.scale.shown(peers.median)} {self.of.scale.symbol}".rstrip()
        none = "; nothing is a share of 0" if number and not peers.median else ""
        return f"of peers: {self.of.heading} median {middle} of {of}{none}"
