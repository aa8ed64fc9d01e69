"""Parts of an outline: boxes with their multiplicity, the edges between them, and both in words.

Rates are byte/s of one direction on the wire, as cabled.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from operator import eq
from string import digits
from typing import Self

from benchconsole.topology.selection import NAME, fold
from benchconsole.topology.units import network_rate, ratio

FOLDED_WHOLE = 1_000
"""Names that ClusterShell folds at once; its time grows faster than their number."""
_NUMBER = re.compile(r"(\d+)")


class Join(StrEnum):
    """The meaning of an edge: cables, a virtual machine on its host, or a storage system on its servers."""

    CABLE = "cable"
    HOST = "host"
    STORAGE = "storage"


@dataclass(frozen=True, slots=True)
class Span:
    """A number that is the same for every device of a box, or lies between ``low`` and ``high``."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """The span of ``values``; 0 of none."""
        found = list(values) or [0]
        return cls(min(found), max(found))

    @property
    def even(self) -> bool:
        """Whether there is only one value."""
        return self.low == self.high

    def __str__(self) -> str:
        return f"{self.low:,.0f}" if self.even else f"{self.low:,.0f}-{self.high:,.0f}"


def format_nominal(quantity: str) -> str:
    """A quantity of ``topology.units`` as people name it: ``40.0 Gb/s`` is 40 Gb/s."""
    number, unit = quantity.split(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def rate_text(value: float) -> str:
    """byte/s as a nominal speed: ``40 Gb/s``, ``1.6 Tb/s``."""
    return format_nominal(network_rate(value))


def rates_text(span: Span) -> str:
    """A span of byte/s: ``40 Gb/s``, ``10-40 Gb/s``, ``100 Mb/s to 1 Gb/s``."""
    low, high = rate_text(span.low), rate_text(span.high)
    if low == high:
        return low
    if not span.low:
        return f"0-{high}"
    number, unit = low.split(" ")
    return f"{number}-{high}" if high.endswith(f" {unit}") else f"{low} to {high}"


def fold_names(names: Sequence[str]) -> str:
    """Names as one short node set (``topology.selection.fold``); what is no device name is listed as it is.

    Many names are folded number by number where they are all the combinations of some; many
    that are not are given by their first and last.
    """
    stem = names[0].rstrip(digits)
    run = _fold_run(names, stem) if len(names) > FOLDED_WHOLE else ""
    if run:
        return run
    ends = _find_numbers(names, stem) if len(names) > FOLDED_WHOLE else set()
    ranges = _fold_ranges(ends) if ends else ""
    if ranges:
        return stem + ranges
    if not all(map(NAME.fullmatch, names)):
        return ", ".join(names)
    if len(names) <= FOLDED_WHOLE:
        return fold(names)
    parts = [_NUMBER.split(name) for name in names]
    texts = {tuple(each[::2]) for each in parts}
    numbers = [set(column) for column in zip(*(each[1::2] for each in parts), strict=False)]
    folded = list(map(_fold_ranges, numbers))
    if len(texts) > 1 or prod(map(len, numbers)) != len(names) or not all(folded):
        return f"{names[0]} ... {names[-1]}"
    (text,) = texts
    return text[0] + "".join(map("".join, zip(folded, text[1:], strict=True)))


def _fold_run(names: Sequence[str], stem: str) -> str:
    """``stem`` and all numbers from that of the first name on, the commonest set there is; empty for any other."""
    first, last = names[0][len(stem) :], names[-1][len(stem) :]
    if not first or first[0] == "0" or last != str(int(first) + len(names) - 1) or not NAME.fullmatch(names[-1]):
        return ""
    is_run = all(map(eq, names, (f"{stem}{number}" for number in range(int(first), int(last) + 1))))
    return f"{stem}[{first}-{last}]" if is_run else ""


def _find_numbers(names: Sequence[str], stem: str) -> set[str]:
    """The numbers of names that are ``stem`` and a number, the commonest there are; empty for any others."""
    ends = {name.removeprefix(stem) for name in names}
    number = "".join(ends)
    are_numbers = "" not in ends and number.isascii() and number.isdecimal()
    are_whole = len(ends) == len(names) and sum(map(len, names)) == len(number) + len(stem) * len(names)
    # The longest tells for all.
    return ends if are_numbers and are_whole and NAME.fullmatch(max(names, key=len)) else set()


def _fold_ranges(numbers: set[str]) -> str:
    """Numbers as written in names: ``[001-128]``; a single one as it is; empty where they are no one set."""
    if len(numbers) == 1:
        return next(iter(numbers))
    values = sorted(map(int, numbers))
    widths = set(map(len, numbers)) if any(number.startswith("0") for number in numbers) else {0}
    if values[-1] - values[0] + 1 == len(numbers) and len(widths) == 1:
        width = min(widths)
        return f"[{values[0]:0{width}}-{values[-1]:0{width}}]"
    folded = fold(f"x{number}" for number in numbers)[1:]
    return "" if "x" in folded else folded


@dataclass(frozen=True, slots=True)
class Box:
    """``count`` devices drawn as one. ``id`` is made up and safe in any language; ``name`` is their folded set.

    ``kind`` is the model, the class, or how many of them there are. ``down`` and ``up`` are sums
    over the box, but for those in ``unknown``, whose cables nobody counted; ``worst`` is the highest ratio of one
    switch. ``each`` is what one device can send
    away from the nodes. ``exact`` tells whether the members are equal; else they are only alike, and
    the spans of the edges say how far they differ. ``place`` is their site, or the number of their
    island, where these are told apart. ``notes`` are places, pairs and layers in words.
    """

    id: str
    name: str
    kind: str
    role: str
    what: str
    tier: int
    place: str
    members: tuple[str, ...]
    down: float = 0.0
    up: float = 0.0
    worst: float | None = None
    unknown: tuple[str, ...] = ()
    each: Span = Span(0, 0)
    exact: bool = True
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many devices, or storage systems."""
        return len(self.members)

    @property
    def ratio(self) -> float | None:
        """Down over up of all of them together; None without a way up."""
        return self.down / self.up if self.up else None

    @property
    def sort(self) -> str:
        """The kind of its devices, in words: ``leaf switches, S6000``."""
        many = self.count > 1
        noun = {
            "switch": f"{self.role} switch{'es' if many else ''}",
            "node": f"{self.role} node{'s' if many else ''}",
            "virtual": f"{self.role}, virtual machine{'s' if many else ''}",
        }.get(self.what, f"{self.role}{'s' if many else ''}")
        return f"{noun}, {self.kind}" if self.kind not in ("", self.role) else noun

    @property
    def carried(self) -> tuple[str, ...]:
        """Its capacity in words: of a node what it is cabled with, of switches the sums and their ratio."""
        if self.what == "node":
            return (f"{rates_text(self.each)} each" if self.each.high else "no cable",)
        if self.what != "switch":
            return ()
        ways = (("down", self.down), ("up", self.up))
        said = (f"{way} {'not known' if way in self.unknown else rate_text(rate)}" for way, rate in ways if rate)
        sums = ", ".join(said)
        if not self.down or self.ratio is None or self.worst is None:
            return (sums or "no cable up or down",)
        highest = f", highest {ratio(self.worst)}" if ratio(self.worst) != ratio(self.ratio) else ""
        return (sums, f"{ratio(self.ratio)} down:up{highest}")


@dataclass(frozen=True, slots=True)
class Edge:
    """The links between the devices of two boxes; ``lower`` and ``upper`` are ids, the same one for links inside a box.

    Each lower device is joined to ``uppers`` of the ``upper_count`` upper ones, by ``each``
    cables of ``speed`` to one of them, in LAGs of ``members``; one upper device has ``lowers``
    of the ``lower_count`` lower ones. ``cables`` and ``capacity`` are totals. A standby leg has its
    capacity too; ``standby`` tells that it carries nothing while the active one is up.
    """

    join: Join
    lower: str
    upper: str
    uppers: Span
    upper_count: int
    lowers: Span
    lower_count: int
    each: Span = Span(0, 0)
    members: Span = Span(1, 1)
    speed: Span = Span(0, 0)
    cables: int = 0
    capacity: float = 0.0
    counted: bool = True
    standby: bool = False
    notes: tuple[str, ...] = ()

    @property
    def inside(self) -> bool:
        """Whether it joins devices of one box with each other."""
        return self.lower == self.upper

    @property
    def cabling(self) -> str:
        """The cables of one lower device: ``2 x 40 Gb/s LAG to each of 2``, ``10 Gb/s to 1 of 8``."""
        if self.join is Join.HOST:
            return f"{self.lowers} on {'each' if self.upper_count > 1 else 'it'}"
        if self.join is Join.STORAGE:
            if self.uppers == Span(self.upper_count, self.upper_count):
                return f"over all {self.upper_count:,}" if self.upper_count > 1 else "over one"
            return f"over {self.uppers} of {self.upper_count:,}"
        speed = rates_text(self.speed)
        cables = speed if self.each == Span(1, 1) else f"{self.each} x {speed}"
        cables = cables if self.counted else f"? x {speed}"
        if self.members.high == 1:
            lag = ""
        elif self.members == self.each:
            lag = " LAG"
        else:
            lags = f" in LAGs of {self.members}"
            lag = lags if self.members.low > 1 else f", LAGs of up to {self.members.high:.0f}"
        return f"{cables}{lag}{self._fan_out}"

    @property
    def _fan_out(self) -> str:
        if self.inside and self.uppers == Span(1, 1):
            return " between the two" if self.upper_count == 2 else " in pairs"
        if self.inside:
            return f" to {self.uppers} others"
        if self.uppers == Span(self.upper_count, self.upper_count):
            return f" to each of {self.upper_count:,}" if self.upper_count > 1 else ""
        return f" to {self.uppers} of {self.upper_count:,}"

    @property
    def fan_in(self) -> str:
        """How many lower devices an upper one has: ``16 on each``; empty where every one is on every one."""
        everyone = self.lowers == Span(self.lower_count, self.lower_count)
        return "" if self.inside or everyone or self.join is not Join.CABLE else f"{self.lowers} on each"

    @property
    def totals(self) -> str:
        """All of its cables together: ``128 cables, 3.2 Tb/s``; empty where one cable, or none, is all there is."""
        if not self.counted:
            return "cables not counted"
        return f"{self.cables:,} cables, {rate_text(self.capacity)}" if self.cables > 1 else ""

    @property
    def words(self) -> tuple[str, ...]:
        """Everything that is known of it, in lines."""
        return tuple(line for line in (self.cabling, self.fan_in, self.totals, *self.notes) if line)


@dataclass(frozen=True, slots=True)
class Outline:
    """Boxes from the core down and the edges between them. ``islands``: parts that no cable joins."""

    name: str
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    islands: int

    @property
    def worst(self) -> float | None:
        """The highest ratio of a device; None where nothing is oversubscribed."""
        return max((box.worst for box in self.boxes if box.worst is not None and box.worst > 1), default=None)
