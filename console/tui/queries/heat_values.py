"""The values of a heat map: numbers of nodes as tenths between the lowest and the highest, facts as letters. Pure.

A heat map is no verdict: nothing here has a level, and nothing judged is changed by it.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median
from string import ascii_uppercase
from typing import NamedTuple

from benchconsole.console.tui.queries.heat_choices import HeatChoice
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.topology.model.fabric import Comparator, NodeId
from benchconsole.topology.natural_order import make_natural_key
from benchconsole.topology.units import counted

OTHERS = "*"
"""In place of a letter where a fact has more values than there are letters."""
MOST_CHANGES = 500
"""Changes of shade from node to node up to which each shade is drawn; a terminal takes some 40 bytes for each."""
_MERGED = ((0, 1, 2, 3, 4), (0, 0, 2, 2, 4), (0, 0, 0, 4, 4), (0, 0, 0, 0, 4))
"""Shades that are drawn in place of each, from all of them to two."""


class HeatCell(NamedTuple):
    """One node: its ``sign``, its ``shade`` (0 calm to 4), and how ``odd`` it is: the highest is the worst."""

    sign: str
    shade: int
    odd: float


@dataclass(frozen=True)
class HeatValues(ABC):
    """``cells`` of the nodes that have a value, of ``total`` nodes. Made once for each change of what is known.

    ``severe`` are nodes that fail or could not be asked: their verdict stays in sight.
    """

    choice: HeatChoice
    total: int
    severe: Mapping[NodeId, State]
    cells: Mapping[NodeId, HeatCell]

    @property
    @abstractmethod
    def worst_word(self) -> str:
        """How the worst of several nodes is called: ``the lowest``."""

    @abstractmethod
    def format_value(self, node: NodeId) -> str:
        """The value of a node for people, with its unit; the sign for none."""

    @abstractmethod
    def make_record(self, node: NodeId) -> dict[str, object]:
        """The value of a node for machines; empty where it has none."""

    @abstractmethod
    def explain(self) -> Sequence[tuple[str, str]]:
        """Kinds of signs with what they mean."""

    @abstractmethod
    def describe_scale(self) -> tuple[str, ...]:
        """The meaning of the signs, in one line at falling length."""

    @abstractmethod
    def describe_place(self, node: NodeId) -> str:
        """Where a node that has a value stands among all."""

    @property
    def missing(self) -> int:
        """How many nodes have no value."""
        return self.total - len(self.cells)

    def find_worst(self, nodes: Iterable[NodeId]) -> NodeId | None:
        """The node that several are drawn as; None where none of them has a value."""
        known = [node for node in nodes if node in self.cells]
        return max(known, key=lambda node: self.cells[node].odd, default=None)

    def find_rank(self, node: NodeId) -> int:
        """1 for the worst; nodes that are alike share a rank."""
        return bisect_left(self._order, -self.cells[node].odd) + 1

    @cached_property
    def _order(self) -> list[float]:
        return sorted(-cell.odd for cell in self.cells.values())

    def _describe_missing(self) -> str:
        return f"{self.missing:,} of {counted(self.total, 'node')} without ({NOT_MEASURED})" if self.missing else ""


@dataclass(frozen=True)
class NumberHeat(HeatValues):
    """Numbers in base units. ``sense`` is the bound that means something: AT_LEAST where more is better."""

    numbers: Mapping[NodeId, float]
    scale: Scale
    sense: Comparator | None

    @cached_property
    def lowest(self) -> float:
        return min(self.numbers.values())

    @cached_property
    def highest(self) -> float:
        return max(self.numbers.values())

    @cached_property
    def middle(self) -> float:
        """The median."""
        return 2 * _compute_half_median(self.numbers.values())

    @property
    def worst_word(self) -> str:
        if self.sense is None:
            return "the furthest from the median"
        return "the lowest" if self.sense is Comparator.AT_LEAST else "the highest"

    def format_value(self, node: NodeId) -> str:
        value = self.numbers.get(node)
        return NOT_MEASURED if value is None else f"{self.scale.shown(value)} {self.scale.symbol}".rstrip()

    def make_record(self, node: NodeId) -> dict[str, object]:
        value = self.numbers.get(node)
        return {} if value is None else {"value": value, "unit": self.scale.unit.value}

    def explain(self) -> Sequence[tuple[str, str]]:
        return (("0-9", "tenths from the lowest to the highest"),)

    def describe_scale(self) -> tuple[str, ...]:
        if not self.numbers:
            return (f"none of {counted(self.total, 'node')} has a number",)
        low, high, middle = map(self.scale.shown, (self.lowest, self.highest, self.middle))
        unit = f" {self.scale.symbol}".rstrip()
        if self.lowest == self.highest:
            ends = f"0 = {low}{unit}, all that have a number"
            return (_join(ends, self._describe_missing()), _join(f"0 = {low}{unit}", self._describe_missing()))
        worse = {
            Comparator.AT_LEAST: "low is worse", Comparator.AT_MOST: "high is worse", None: "bright is far from it",
        }[self.sense]  # fmt: skip
        ends = f"0 = {low}   9 = {high}{unit}"
        return (
            _join(f"0 = {low}{unit}   9 = {high}{unit}", f"median {middle}{unit}", worse, self._describe_missing()),
            _join(ends, f"median {middle}", worse, self._describe_missing()),
            _join(ends, f"median {middle}", f"{self.missing:,} without" if self.missing else ""),
            ends,
        )

    def describe_place(self, node: NodeId) -> str:
        return f"rank {self.find_rank(node):,} of {len(self.cells):,}, {self.worst_word} first"


@dataclass(frozen=True)
class FactHeat(HeatValues):
    """The facts that nodes told; ``letters`` is each value with its sign and its nodes, the most frequent first."""

    texts: Mapping[NodeId, str]
    letters: Sequence[tuple[str, str, int]]

    @property
    def worst_word(self) -> str:
        return "the rarest"

    def format_value(self, node: NodeId) -> str:
        return self.texts.get(node, NOT_MEASURED)

    def make_record(self, node: NodeId) -> dict[str, object]:
        return {"value": self.texts[node]} if node in self.texts else {}

    def explain(self) -> Sequence[tuple[str, str]]:
        last = self.letters[-1][0] if self.letters else ""
        others = ((OTHERS, "every rarer one"),) if last == OTHERS else ()
        return (("A", "the most frequent value, then B"), *others)

    def describe_scale(self) -> tuple[str, ...]:
        """As many values as there are, then fewer, each with how many more there are."""
        if not self.letters:
            return (f"none of {counted(self.total, 'node')} told it",)
        named = [each for each in self.letters if each[0] != OTHERS]
        missing = self._describe_missing(), f"{self.missing:,} without" if self.missing else ""
        return tuple(
            _join(self._name_letters(named[:most]), words) for most in range(len(named), 0, -1) for words in missing
        )

    def _name_letters(self, named: Sequence[tuple[str, str, int]]) -> str:
        said = "   ".join(f"{letter} = {value} ({nodes:,})" for letter, value, nodes in named)
        left = self.letters[len(named) :]
        more = f"{counted(len(left), 'more value')} ({sum(each[2] for each in left):,})" if left else ""
        return _join(said, more)

    def describe_place(self, node: NodeId) -> str:
        value, values = self.texts[node], len(self.letters)
        nodes = next(nodes for _, each, nodes in self.letters if each == value)
        said = f"{nodes:,} of {counted(len(self.cells), 'node')} told it"
        rank = 1 + sum(each[2] < nodes for each in self.letters)
        return said if values == 1 else f"{said}, rank {rank:,} of {values:,} values, the rarest first"


@dataclass(frozen=True, slots=True)
class HeatNodes:
    """The nodes of a view: how many there are, and those whose state stays in sight."""

    total: int
    severe: Mapping[NodeId, State]


def make_number_heat(
    choice: HeatChoice, nodes: HeatNodes, numbers: Mapping[NodeId, float], scale: Scale, sense: Comparator | None
) -> NumberHeat:
    """The heat of finite ``numbers`` in base units."""
    if not numbers:
        return NumberHeat(choice, nodes.total, nodes.severe, {}, numbers, scale, sense)
    low, high, half = min(numbers.values()), max(numbers.values()), _compute_half_median(numbers.values())
    farthest = max(high / 2 - half, half - low / 2)
    made = {}
    for node, value in numbers.items():
        tenth = _find_tenth(value, low, high)
        if sense is Comparator.AT_LEAST:
            odd, bad = -value, 9 - tenth
        elif sense is Comparator.AT_MOST:
            odd, bad = value, tenth
        else:
            odd = abs(value / 2 - half)
            bad = _find_tenth(odd, 0.0, farthest)
        made[node] = HeatCell(str(tenth), bad // 2 if low < high else 0, odd)
    return NumberHeat(choice, nodes.total, nodes.severe, _merge_shades(made), numbers, scale, sense)


def make_fact_heat(choice: HeatChoice, nodes: HeatNodes, texts: Mapping[NodeId, str]) -> FactHeat:
    """The heat of what nodes told, safe for a terminal; values that are alike have one letter."""
    counts = sorted(Counter(texts.values()).items(), key=lambda pair: (-pair[1], make_natural_key(pair[0])))
    signs = [*ascii_uppercase, *OTHERS * max(len(counts) - len(ascii_uppercase), 0)]
    letters = [(signs[place], value, number) for place, (value, number) in enumerate(counts)]
    cells = {text: HeatCell(sign, min(place, 4), -float(many)) for place, (sign, text, many) in enumerate(letters)}
    made = {node: cells[text] for node, text in texts.items()}
    return FactHeat(choice, nodes.total, nodes.severe, _merge_shades(made), texts, letters)


def _compute_half_median(numbers: Iterable[float]) -> float:
    """Half of the median. Halves keep sums and differences finite."""
    return median(number / 2 for number in numbers)


def _find_tenth(value: float, low: float, high: float) -> int:
    """0 to 9: the tenth of the range from ``low`` to ``high`` that ``value`` is in."""
    span = high / 2 - low / 2
    return min(int(10 * ((value / 2 - low / 2) / span)), 9) if span > 0 else 0


def _merge_shades(cells: dict[NodeId, HeatCell]) -> dict[NodeId, HeatCell]:
    """Fewer shades where neighbours differ so often that a terminal would take too long; the signs stay.

    Where two shades are still too many, the worst nodes alone are bright.
    """
    for drawn in _MERGED:
        shades = [drawn[cell.shade] for cell in cells.values()]
        if sum(one != other for one, other in pairwise(shades)) <= MOST_CHANGES:
            break
    else:
        bound = sorted(cell.odd for cell in cells.values())[-MOST_CHANGES // 2]
        shades = [4 if cell.odd > bound else 0 for cell in cells.values()]
    if drawn is _MERGED[0]:
        return cells
    return {node: cell._replace(shade=shade) for (node, cell), shade in zip(cells.items(), shades, strict=True)}


def _join(*parts: str) -> str:
    return "   ".join(filter(None, parts))
