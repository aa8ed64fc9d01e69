"""Stages that run at once: several sets of nodes load what they share together, and their sum is judged.

Two clusters on one file system, each with its own options: no stage by itself could say so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Stage


def list_simultaneous(stages: Sequence[Stage]) -> Iterator[tuple[Stage, ...]]:
    """The stages in order, those that run at once together."""
    for name, group in groupby(stages, key=lambda stage: stage.at_once):
        alike = tuple(group)
        yield from [alike] if name else ((stage,) for stage in alike)


def merge_rounds(stages: Sequence[Stage], planned: Sequence[Sequence[Round]], probe: Probe, most: int) -> list[Round]:
    """The rounds of ``stages``, the first of each in one round, and so on; ``planned`` are those of each stage.

    Their tests are one bundle, named as the stages are. They keep their numbers: whoever plans numbers them anew.
    PlanError for tests between two nodes, for a stage without rounds, for unlike numbers of rounds, and for more than
    ``most`` tests at once.
    """
    name = stages[0].at_once
    if probe.shape is Shape.PAIR:
        raise PlanError(
            f"at_once {name!r}: found {probe.name}, which tests two nodes, expected a probe of nodes or sets "
            "(flows of several clusters at once are one stage with design: one-way)"
        )
    numbers = [len(rounds) for rounds in planned]
    if len(set(numbers)) > 1 or not numbers[0]:
        found = " and ".join(map(str, numbers))
        raise PlanError(
            f"at_once {name!r}: found {found} rounds on the selected nodes, expected as many in each of its stages"
        )
    return [_merge(name, together, most) for together in zip(*planned, strict=True)]


def _merge(name: str, rounds: Sequence[Round], most: int) -> Round:
    tests = [replace(test, bundle=name) for each in rounds for test in each.tests]
    if len(tests) > most:
        raise PlanError(f"at_once {name!r}: found {len(tests):,} tests, expected at most {most:,} at once")
    first = rounds[0]
    shares = (f"{reason} on {sum(len(each.tests) for each in alike)}" if len(alike) > 1 else reason
              for reason, alike in group_by_key((each.because, each) for each in rounds).items())  # fmt: skip
    return replace(
        first,
        stage=f"{first.stage} ({name})",
        tests=tuple(tests),
        seconds=max(each.seconds for each in rounds),
        because=f"at once, their sum is judged: {'; '.join(shares)}",
    )
