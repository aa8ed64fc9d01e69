"""The points of a sweep: which there are, in which order they run, what they are called, and their labels."""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchconsole.probes.model.measuring import Round, Swept, Target
from benchconsole.probes.planning.design_options import Options
from benchconsole.topology.model.cohorts import name_cohort
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.model.sweep import CLIENTS, Order, Sweep, Value

REPETITION = "repetition"
"""The label that tells repetitions of one point apart, so that none hides another."""

Point = tuple[tuple[str, Value], ...]
"""Axes and values, in the order of the file."""


@dataclass(frozen=True, slots=True)
class SweepTurn:
    """One repetition of one point."""

    point: Point
    repetition: int

    def options(self, probe: Options) -> Options:
        """What the point gives the probe; ``clients`` only where that is an option of its own."""
        return {name: value for name, value in self.point if name != CLIENTS or CLIENTS in probe}

    def clients(self, probe: Options) -> int | None:
        """How many nodes or flows run at once; None where the sweep does not say so."""
        found = dict(self.point).get(CLIENTS) if CLIENTS not in probe else None
        return None if found is None else int(found)


def list_turns(sweep: Sweep) -> Iterator[SweepTurn]:
    """Every repetition of every point, in the order in which they run.

    Points upward or downward with their repetitions one after the other; shuffled, each repetition goes
    through all points in an order of its own, so that what drifts meanwhile meets all alike.
    """
    points: list[Point] = [
        tuple(zip((axis.name for axis in sweep.axes), values, strict=True))
        for values in itertools.product(*(axis.values for axis in sweep.axes))
    ]
    if sweep.order is Order.SHUFFLED:
        chance = random.Random(sweep.seed)  # noqa: S311 - no secret
        for repetition in range(1, sweep.repeat + 1):
            yield from (SweepTurn(point, repetition) for point in chance.sample(points, len(points)))
        return
    for point in points if sweep.order is Order.UP else reversed(points):
        yield from (SweepTurn(point, repetition) for repetition in range(1, sweep.repeat + 1))


def make_swept(sweep: Sweep, turn: SweepTurn, first: int) -> Swept:
    """What the rounds of one turn are told; ``first`` is the number of the first round of the sweep."""
    order = f"shuffled with seed {sweep.seed}" if sweep.order is Order.SHUFFLED else sweep.order.value
    point = tuple((name, str(value)) for name, value in turn.point)
    return Swept(first, point, turn.repetition, sweep.repeat, order, sweep.ending)


def format_point(found: Swept) -> str:
    """A point with its repetition: ``tasks=4 block=1 MiB, 2 of 3``."""
    point = " ".join(f"{name}={value}" for name, value in found.point)
    times = f"{found.repetition} of {found.repeat}" if found.repeat > 1 else ""
    return ", ".join(filter(None, (point, times)))


def format_stage_name(base: str, sweep: Sweep) -> str:
    """What the rounds of a sweep are called together."""
    axes = ", ".join(axis.name for axis in sweep.axes)
    return f"{base} over {axes}" if axes else f"{base} repeated"


# -- labels


def label_tests(rounds: Sequence[Round], phase: Mapping[str, str]) -> tuple[Round, ...]:
    """``rounds`` with the labels of their tests: cohorts of nodes, those of the session (``phase``), the point."""
    made: dict[tuple[NodeId, ...], dict[str, str]] = {}

    def find_cohorts(target: Target) -> dict[str, str]:
        key = tuple(node.id for node in target.nodes)
        if key not in made:
            cohorts = [dict(node.cohorts) for node in target.nodes]
            named = {
                name: name_cohort([own.get(name) for own in cohorts], ordered=target.peer is not None)
                for name in dict.fromkeys(name for own in cohorts for name in own)
            }
            made[key] = {name: value for name, value in named.items() if value is not None}
        return made[key]

    found = []
    for each in rounds:
        common = {**phase, **dict(each.swept.point if each.swept is not None else ())}
        if each.swept is not None and each.swept.repeat > 1:
            common[REPETITION] = str(each.swept.repetition)
        if common or any(node.cohorts for test in each.tests for node in test.target.nodes):
            tests = []
            for test in each.tests:
                labels = tuple(sorted({**find_cohorts(test.target), **common}.items()))
                tests.append(replace(test, target=replace(test.target, labels=labels)))
            each = replace(each, tests=tuple(tests))  # noqa: PLW2901 - the round with its labels
        found.append(each)
    return tuple(found)
