"""Patterns in the matrix of pairs of a session: which rows, columns, blocks or sets of pairs are slow together. Pure.

A cell is the newest flow of one node to another, as a share of what was expected of it. A hypothesis is a set of
cells: a row (a sender), a column (a receiver), both of one node, a block (from one group of nodes to another, or within
one). It holds where nearly all of its cells are slow and clearly fewer of the others. The one that explains most slow
cells is taken first (greedy set cover: V. Chvatal, 1979). A checkerboard is two sets that are fast within and slow
across, or the other way round: the leading eigenvector of the matrix with fast cells +1 and slow ones -1 tells them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from benchconsole.probes.judging.round_flows import SLOW
from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.model.cable import format_cables
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import fold

FEWEST_CELLS, FEWEST_HOSTS = 3, 3
"""Cells of a pattern, and hosts of a matrix, below which nothing is called a pattern."""

PURE = 0.75
"""Share of the cells of a pattern that are slow at least."""

OTHERS = 0.5
"""Share of the cells outside a pattern that may be slow at most."""

GOOD_SHARE = 0.05
"""Share of all cells that may be good where everything is slow."""

GOOD_QUANTILE = 0.75
"""The cell at this share of all, the lowest first, stands for good ones: half are slow in a checkerboard."""

ALIKE = 0.25
"""Share by which cells that are slow alike differ from their median at most, but for ``1 - PURE`` of them."""

DENSE, AGREES = 3, 0.9
"""Cells for each host from which a checkerboard is looked for, and the share of all cells that must agree with it."""

_TURNS = 60
"""Steps of the power iteration: signs settle long before values do."""


VLAN, SWITCH, CABLE = "VLAN", "switch", "cable"
"""Kinds of groups beside those of the file."""


class PatternKind(StrEnum):
    """The named patterns."""

    EVERYTHING = "everything"
    ROW = "row"
    COLUMN = "column"
    BOTH = "row and column"
    BLOCK = "block"
    CHECKERBOARD = "checkerboard"


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """Cells by the numbers of their nodes in ``names``; ``shares`` is measured over expected. No pair comes twice."""

    names: Sequence[str]
    sources: Indices
    sinks: Indices
    shares: Floats


@dataclass(frozen=True, slots=True)
class Pattern:
    """Cells that are slow together.

    ``places`` are one node; one group of nodes, or two; or the two sets of a checkerboard in words. ``grouping`` is the
    kind of group (rack, VLAN), ``within`` whether the slow cells are those inside one group, or inside both sets.
    ``level`` is the median share of the slow cells and ``rest`` that of all others (None without others).
    """

    kind: PatternKind
    places: tuple[str, ...]
    level: float
    rest: float | None
    slow: int
    cells: int
    pairs: frozenset[tuple[str, str]]
    grouping: str = ""
    within: bool = False
    both_ways: bool = False


def group_nodes(fabric: Fabric) -> dict[str, dict[str, str]]:
    """The group of each node by kind: switch, chassis, rack and the like, cable, and VLAN (the first that it is in)."""
    found: dict[str, dict[str, str]] = {SWITCH: {}}
    for node in fabric.nodes:
        ends = sorted({link.other(node) for link in fabric.active_legs(node)} & set(fabric.switches))
        if ends:
            found[SWITCH][node] = " and ".join(ends)
    for group in fabric.groups:
        found.setdefault(group.kind, {}).update(dict.fromkeys(group.members, group.name))
    if any(link.cable for link in fabric.links.values()):
        cables = {node: format_cables(link.cable for link in fabric.active_legs(node)) for node in fabric.nodes}
        found[CABLE] = {node: name for node, name in cables.items() if name}
    if fabric.vlans_of:
        found[VLAN] = {node: f"VLAN {vlans[0]}" for node, vlans in fabric.vlans_of.items() if vlans}
    return found


def find_patterns(matrix: PairMatrix, groupings: Mapping[str, Mapping[str, str]]) -> list[Pattern]:
    """The patterns of ``matrix``; ``groupings`` are the group of each node, by kind of group.

    Where everything is slow alike, that comes first and what else is found is slow beside it.
    """
    found: list[Pattern] = []
    shares = matrix.shares
    everything = _find_everything(matrix)
    if everything is not None:
        found.append(everything)
        shares = shares / everything.level
    if not len(shares):
        return found
    slow = np.asarray(shares < SLOW * min(float(np.quantile(shares, GOOD_QUANTILE)), 1.0), bool)
    open_ = slow.copy()
    hypotheses = list(_list_hypotheses(matrix, groupings, slow))
    while True:
        chosen = _choose(hypotheses, slow, open_)
        if chosen is None:
            break
        cells, form = chosen
        found.append(_make_pattern(matrix, form, cells, slow))
        open_ &= ~cells
    board = _find_checkerboard(matrix, slow) if int(open_.sum()) > PURE * int(slow.sum()) else None
    return [*found, board] if board is not None else found


def _find_everything(matrix: PairMatrix) -> Pattern | None:
    shares = matrix.shares
    if len(shares) < 2 * FEWEST_CELLS or len(matrix.names) < FEWEST_HOSTS:
        return None
    level = float(np.median(shares))
    alike = np.abs(shares - level) <= ALIKE * level
    if (shares >= SLOW).mean() > GOOD_SHARE or alike.mean() < PURE:
        return None
    every = np.ones(len(shares), bool)
    return _make_pattern(matrix, _Form(PatternKind.EVERYTHING, tuple(matrix.names)), every, shares < SLOW)


@dataclass(frozen=True, slots=True)
class _Hypotheses:
    """Hypotheses of one form: ``code`` is the number of the one that a cell is in, -1 for none; ``names`` their places.

    ``further`` is a second code of each cell, where it is in two.
    """

    kind: PatternKind
    code: Indices
    names: Sequence[tuple[str, ...]]
    further: Indices | None = None
    grouping: str = ""
    within: bool = False
    both_ways: bool = False

    def count(self, cells: Flags) -> Floats:
        """How many of ``cells`` are in each."""
        codes = [self.code] if self.further is None else [self.code, self.further]
        size = len(self.names)
        counts = np.zeros(size)
        for code in codes:
            counts += np.bincount(code[cells & (code >= 0)], minlength=size)
        return counts

    def select(self, number: int) -> Flags:
        """The cells of one of them."""
        chosen = self.code == number
        return np.asarray(chosen if self.further is None else chosen | (self.further == number), bool)


@dataclass(frozen=True, slots=True)
class _Form:
    kind: PatternKind
    places: tuple[str, ...]
    grouping: str = ""
    within: bool = False
    both_ways: bool = False


def _list_hypotheses(
    matrix: PairMatrix, groupings: Mapping[str, Mapping[str, str]], slow: Flags
) -> Iterator[_Hypotheses]:
    """Every form of hypothesis; of two that explain the same the first, the smaller, is taken."""
    sources, sinks = matrix.sources, matrix.sinks
    single = [(name,) for name in matrix.names]
    yield _Hypotheses(PatternKind.ROW, sources, single)
    yield _Hypotheses(PatternKind.COLUMN, sinks, single)
    yield _Hypotheses(PatternKind.BOTH, sources, single, sinks)
    for kind, group_of in groupings.items():
        names = sorted({group_of[name] for name in matrix.names if name in group_of})
        place = {name: index for index, name in enumerate(names)}
        own = np.array([place.get(group_of.get(name, ""), -1) for name in matrix.names], np.intp)
        low, high = own[sources], own[sinks]
        known, size = (low >= 0) & (high >= 0), len(names)
        if size < 2:
            continue
        across, groups = known & (low != high), [(name,) for name in names]
        yield _Hypotheses(PatternKind.BLOCK, np.where(known & (low == high), low, -1), groups, None, kind, within=True)
        yield from _list_ways(across & slow, across, (low, high), names, kind)
        yield _Hypotheses(PatternKind.BLOCK, np.where(across, low, -1), [(name, "") for name in names], None, kind)
        yield _Hypotheses(PatternKind.BLOCK, np.where(across, high, -1), [("", name) for name in names], None, kind)


def _list_ways(
    slow: Flags, across: Flags, ends: tuple[Indices, Indices], names: Sequence[str], kind: str
) -> Iterator[_Hypotheses]:
    """Blocks from one group to another, then both ways between two; those only that have a ``slow`` cell."""
    size = len(names)
    for both in (False, True):
        first, second = (np.minimum(*ends), np.maximum(*ends)) if both else ends
        way = np.where(across, first * size + second, -1)
        met = np.unique(way[slow])
        if not len(met):
            continue
        code = np.minimum(np.searchsorted(met, way), len(met) - 1)
        places = [(names[each // size], names[each % size]) for each in met.tolist()]
        yield _Hypotheses(PatternKind.BLOCK, np.where(met[code] == way, code, -1), places, None, kind, both_ways=both)


def _choose(hypotheses: Sequence[_Hypotheses], slow: Flags, open_: Flags) -> tuple[Flags, _Form] | None:
    """The hypothesis that explains most of what is open, with its cells; None where none holds."""
    best: tuple[float, _Hypotheses, int] | None = None
    total, every = int(slow.sum()), np.ones(len(slow), bool)
    for each in hypotheses:
        cells, low, explained = each.count(every), each.count(slow), each.count(open_)
        others, sound = np.maximum(len(slow) - cells, 1), len(slow) - cells - (total - low)
        holds = (cells >= FEWEST_CELLS) & (low >= PURE * cells) & (total - low <= OTHERS * others)
        holds &= (sound >= FEWEST_CELLS) & (explained >= FEWEST_CELLS)
        if each.kind is PatternKind.BLOCK:
            holds &= cells > FEWEST_CELLS
        weight = np.where(holds, explained, 0.0)
        if len(weight) and weight.max() > (best[0] if best else 0.0):
            best = float(weight.max()), each, int(np.argmax(weight))
    if best is None:
        return None
    _, form, number = best
    return form.select(number), _Form(form.kind, form.names[number], form.grouping, form.within, form.both_ways)


def _make_pattern(matrix: PairMatrix, form: _Form, cells: Flags, slow: Flags) -> Pattern:
    low = np.flatnonzero(cells & slow)
    rest = matrix.shares[~cells]
    names = matrix.names
    ends = zip(matrix.sources[low].tolist(), matrix.sinks[low].tolist(), strict=True)
    return Pattern(
        form.kind,
        form.places,
        float(np.median(matrix.shares[low])),
        float(np.median(rest)) if len(rest) else None,
        len(low),
        int(cells.sum()),
        frozenset((names[source], names[sink]) for source, sink in ends),
        form.grouping,
        form.within,
        form.both_ways,
    )


def _find_checkerboard(matrix: PairMatrix, slow: Flags) -> Pattern | None:
    """Two sets of hosts, fast within and slow across or the other way round; None where too few cells agree."""
    size = len(matrix.names)
    if size < 4 or len(slow) < DENSE * size:
        return None
    for within in (False, True):
        sign = np.where(slow, -1.0, 1.0) * (-1.0 if within else 1.0)
        side = _split_hosts(matrix, sign) > 0
        across = np.asarray(side[matrix.sources] != side[matrix.sinks], bool)
        cells = ~across if within else across
        agreeing = float((cells == slow).mean())
        smaller = min(int(side.sum()), size - int(side.sum()))
        if agreeing >= AGREES and smaller > 1 and cells.any() and slow[cells].mean() >= PURE:
            sets = [
                [name for name, own in zip(matrix.names, side.tolist(), strict=True) if own is one]
                for one in (True, False)
            ]
            places = tuple(map(fold, sorted(sets)))
            return _make_pattern(matrix, _Form(PatternKind.CHECKERBOARD, places, within=within), cells, slow)
    return None


def _split_hosts(matrix: PairMatrix, sign: Floats) -> Floats:
    """The leading eigenvector of the matrix with ``sign`` in its cells, made symmetric, by power iteration."""
    size = len(matrix.names)
    degree = np.bincount(matrix.sources, minlength=size) + np.bincount(matrix.sinks, minlength=size)
    # The degrees are added so that the largest eigenvalue is also the largest by its amount.
    vector = np.cos(np.arange(size, dtype=float))
    for _ in range(_TURNS):
        pushed = np.bincount(matrix.sinks, sign * vector[matrix.sources], size)
        pushed += np.bincount(matrix.sources, sign * vector[matrix.sinks], size)
        vector = pushed + degree * vector
        vector /= np.linalg.norm(vector) or 1.0
    return np.asarray(vector, float)
