"""Stages that run at once: several sets of nodes or several probes load what they share together.

Two clusters on one file system, each with its own options: their sum is judged. Or reading from disks while the network
is loaded: each probe is judged by itself. No stage by itself could say either.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round, join_probes
from benchconsole.probes.planning.resource_use import WidthError
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Stage


def list_simultaneous(stages: Sequence[Stage]) -> Iterator[tuple[Stage, ...]]:
    """The stages in order, those that run at once together."""
    for name, group in groupby(stages, key=lambda stage: stage.at_once):
        alike = tuple(group)
        yield from [alike] if name else ((stage,) for stage in alike)


def merge_rounds(
    stages: Sequence[Stage], planned: Sequence[Sequence[Round]], probes: Mapping[str, Probe], most: int
) -> list[Round]:
    """The rounds of ``stages``, the first of each in one round, and so on; ``planned`` are those of each stage.

    Tests of several stages of one probe are one bundle, named as the stages are; those of other probes stay as they
    are. They keep their numbers: whoever plans numbers them anew. PlanError for several stages of tests between two
    nodes, for a stage without rounds, for unlike numbers of rounds, and for more than ``most`` tests at once.
    """
    name = stages[0].at_once
    for probe, alike in group_by_key((stage.probe, stage) for stage in stages).items():
        if len(alike) > 1 and probes[probe].shape is Shape.PAIR:
            raise PlanError(
                f"at_once {name!r}: found {probe}, which tests two nodes, in {len(alike)} stages, expected probes of "
                "nodes or sets (flows of several clusters at once are one stage with design: one-way)"
            )
    numbers = [len(rounds) for rounds in planned]
    if len(set(numbers)) > 1 or not numbers[0]:
        found = " and ".join(map(str, numbers))
        raise PlanError(
            f"at_once {name!r}: found {found} rounds on the selected nodes, expected as many in each of its stages"
        )
    return [_merge(name, together, most) for together in zip(*planned, strict=True)]


def _merge(name: str, rounds: Sequence[Round], most: int) -> Round:
    """One round of all; of each probe the tests of ``rounds`` are judged by their sum where several rounds have it."""
    tests = sum(len(each.tests) for each in rounds)
    if tests > most:
        raise WidthError(f"at_once {name!r}: found {tests:,} tests, expected at most {most:,} at once")
    parts = [_bundle(name, alike) for alike in group_by_key((each.probe, each) for each in rounds).values()]
    if len(parts) == 1:
        return replace(parts[0], stage=f"{parts[0].stage} ({name})")
    return replace(
        parts[0],
        stage=f"{' + '.join(each.stage for each in parts)} ({name})",
        probe=join_probes(each.probe for each in parts),
        tests=tuple(test for each in parts for test in each.tests),
        seconds=max(each.seconds for each in parts),
        because=f"at once, each beside the others: {'; '.join(f'{each.probe}: {each.because}' for each in parts)}",
        bundles=tuple(bundle for each in parts for bundle in each.bundles),
    )


def _bundle(name: str, rounds: Sequence[Round]) -> Round:
    """Rounds of one probe as one round; several are a bundle."""
    first = rounds[0]
    if len(rounds) == 1:
        return first
    shares = (f"{reason} on {sum(len(each.tests) for each in alike)}" if len(alike) > 1 else reason
              for reason, alike in group_by_key((each.because, each) for each in rounds).items())  # fmt: skip
    return replace(
        first,
        tests=tuple(replace(test, bundle=name) for each in rounds for test in each.tests),
        seconds=max(each.seconds for each in rounds),
        because=f"at once, their sum is judged: {'; '.join(shares)}",
    )
