"""The history of numbers over sessions: which value of a session stands for it, and how it changed. Pure.

Changes are told and not judged: whether one is more than chance is what a comparison of two sessions says.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from benchconsole.console.view.run_view import State, state_of_level
from benchconsole.probes.model.measuring import Labels
from benchconsole.store.model import HistorySession, HistoryValue
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import Shown, Unit

_MORE_IS_BETTER = (Unit.BYTE_RATE, Unit.FLOP_RATE, Unit.PER_SECOND, Unit.BYTE)
_SAME = 1e-6
"""Shares of a value up to which two expected values are the same."""


class HistoryPoint(NamedTuple):
    """The value that stands for a session, one of ``number``; ``test`` is the id of its test in that session.

    ``state`` is measured where nothing judged it. ``differs``: it is expected otherwise than in the last session.
    """

    value: float
    expected: float | None
    state: State
    test: str
    number: int
    differs: bool = False


class HistoryKey(NamedTuple):
    """The number that a history is of; ``labels`` are empty where those of all labels are put together."""

    node: str
    stage: str
    metric: str
    labels: Labels


@dataclass(frozen=True, slots=True)
class NumberHistory:
    """One number over sessions: a point for each of them, None where it has none; at least one has."""

    key: HistoryKey
    unit: Unit
    shown: Shown
    points: tuple[HistoryPoint | None, ...]

    @property
    def measured(self) -> list[tuple[int, HistoryPoint]]:
        """The points that there are, each with the place of its session."""
        return [(place, point) for place, point in enumerate(self.points) if point is not None]

    @property
    def change(self) -> float | None:
        """The change from the first value to the last as a share of the first; None where there is no such share."""
        found = self.measured
        first, last = found[0][1].value, found[-1][1].value
        share = (last - first) / abs(first) if len(found) > 1 and first else math.nan
        return share if math.isfinite(share) else None

    @property
    def lowest(self) -> tuple[int, HistoryPoint]:
        """The lowest value with the place of its session, the first of several."""
        return min(self._finite, key=lambda each: each[1].value)

    @property
    def highest(self) -> tuple[int, HistoryPoint]:
        """The highest value with the place of its session, the first of several."""
        return max(self._finite, key=lambda each: each[1].value)

    @property
    def _finite(self) -> list[tuple[int, HistoryPoint]]:
        return [each for each in self.measured if math.isfinite(each[1].value)] or self.measured


@dataclass(frozen=True, slots=True)
class SessionHistory:
    """Numbers over ``sessions``, the oldest first; ``older`` is how many sessions before these are left out."""

    sessions: tuple[HistorySession, ...]
    older: int
    numbers: tuple[NumberHistory, ...]


def list_numbers_of_node(node: str, values: Sequence[Sequence[HistoryValue]]) -> tuple[NumberHistory, ...]:
    """The history of every number of ``node``, by stage, metric and labels; ``values`` are of one session each."""
    return _join(values, lambda value: ((node, value.labels),))


def list_numbers_of_metric(
    values: Sequence[Sequence[HistoryValue]], *, by_labels: bool = True
) -> tuple[NumberHistory, ...]:
    """The history of a metric for every node that a test of it is of; ``values`` are of one session each."""
    return _join(values, lambda value: ((name, value.labels if by_labels else ()) for name in list_nodes(value)))


def list_nodes(value: HistoryValue) -> tuple[str, ...]:
    """The nodes that a number is of."""
    return value.members or tuple(dict.fromkeys(filter(None, (value.node, value.peer))))


def _join(
    values: Sequence[Sequence[HistoryValue]], keys_of: Callable[[HistoryValue], Iterable[tuple[str, Labels]]]
) -> tuple[NumberHistory, ...]:
    """Histories in the order of the plan of the last session, those that were ever judged before the others."""
    every: dict[HistoryKey, dict[int, list[HistoryValue]]] = {}
    for place in reversed(range(len(values))):
        for value in sorted(values[place], key=lambda each: each.round):
            for node, labels in keys_of(value):
                key = HistoryKey(node, value.stage, value.metric, labels)
                every.setdefault(key, {}).setdefault(place, []).append(value)
    made = (_make_history(key, found, len(values)) for key, found in every.items())
    found = [each for each in made if each is not None]
    return tuple(sorted(found, key=lambda each: all(point.state is State.MEASURED for _, point in each.measured)))


def _make_history(key: HistoryKey, values: dict[int, list[HistoryValue]], number: int) -> NumberHistory | None:
    chosen = {place: point for place, own in values.items() if (point := choose_point(key.node, own)) is not None}
    if not chosen:
        return None
    last = next((chosen[place].expected for place in sorted(chosen, reverse=True) if chosen[place].expected), None)
    points = (
        point._replace(differs=_differs(point.expected, last)) if (point := chosen.get(place)) is not None else None
        for place in range(number)
    )
    every = list(chain.from_iterable(values.values()))
    judged = (each.verdict.shown for each in every if each.verdict is not None)
    return NumberHistory(key, every[0].unit, next(judged, _find_shown(every[0])), tuple(points))


def _find_shown(value: HistoryValue) -> Shown:
    """How a number that nobody judged is shown: a rate between nodes is that of a network."""
    return Shown.NETWORK if value.unit is Unit.BYTE_RATE and value.peer is not None else Shown.PLAIN


def _differs(expected: float | None, last: float | None) -> bool:
    return expected is not None and last is not None and abs(expected - last) > _SAME * max(abs(expected), abs(last))


def choose_point(node: str, values: Sequence[HistoryValue]) -> HistoryPoint | None:
    """The value of ``node`` that stands for a session: the worst that was judged, else the middle one.

    Of a sum that was judged it is the part that the node sent by all its flows, against as many equal parts; None
    where it sent nothing of the only sums.
    """
    shared = [each for each in values if each.verdict is not None and each.verdict.numbers > 1]
    sums = group_by_key(((each.round, each.bundle, each.labels), each) for each in shared if each.node == node)
    alone = [_make_point(each) for each in values if each.verdict is None or each.verdict.numbers == 1]
    found = [*alone, *(_sum_part(own) for own in sums.values())]
    if not found:
        return None
    judged = [each for each in found if each.state is not State.MEASURED]
    if not judged:
        middle = sorted(found, key=lambda each: each.value)[(len(found) - 1) // 2]
        return middle._replace(number=len(found))
    unit = values[0].unit
    return min(judged, key=lambda each: (each.state.rank, _find_badness(each, unit)))._replace(number=len(found))


def _make_point(value: HistoryValue) -> HistoryPoint:
    verdict = value.verdict
    state = State.MEASURED if verdict is None else state_of_level(verdict.level)
    return HistoryPoint(value.value, None if verdict is None else verdict.expected, state, value.test, 1)


def _sum_part(own: Sequence[HistoryValue]) -> HistoryPoint:
    """The part of a sum that a node sent, against as many equal parts of the expected sum."""
    point, verdict = _make_point(own[0]), own[0].verdict
    if verdict is None or verdict.expected is None:
        return point._replace(value=sum(each.value for each in own))
    expected = verdict.expected * len(own) / verdict.numbers
    return point._replace(value=sum(each.value for each in own), expected=expected)


def _find_badness(point: HistoryPoint, unit: Unit) -> float:
    """The number that finds the worst of one level: the lowest share where more is better, the longest of times."""
    if unit is Unit.SECOND:
        return -point.value
    return point.value / point.expected if unit in _MORE_IS_BETTER and point.expected else 1.0
