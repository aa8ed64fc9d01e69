"""Checks of the stages that a suite runs at once: which of them can share their rounds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby

from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Stage
from benchconsole.topology.selection import fold


def refuse_unlike_stages(here: Location, stages: Mapping[int, Stage], report: ProblemReport) -> None:
    """Report stages that cannot run at once; ``stages`` by their place in the suite that stands at ``here``."""
    known: set[str] = set()
    for name, group in groupby(stages.items(), key=lambda each: each[1].at_once):
        places = dict(group)
        if name:
            where: Location = (*here, next(iter(places)), "at_once")
            for found, expected in _list_problems(list(places.values()), repeated=name in known):
                report.add(where, f"at_once {name!r}: {found}", expected)
        known.add(name)


def _list_problems(stages: list[Stage], *, repeated: bool) -> Iterator[tuple[str, str]]:
    """Words for the found and the expected, for each reason why ``stages`` cannot share rounds."""
    if repeated:
        yield "a second time, with other stages between", "stages that run at once in a row"
    elif len(stages) == 1:
        yield "one stage alone", "two stages or more that follow each other"
    for probe, alike in group_by_key((stage.probe, stage) for stage in stages).items():
        nodes = Counter(node for stage in alike for node in stage.nodes)
        twice = sorted(str(node) for node, number in nodes.items() if number > 1)
        if twice:
            yield f"{fold(twice)} in two stages of {probe}", "each node in one of them: their numbers are added up"
    if any(stage.sweep is not None and stage.sweep.ending is not None for stage in stages):
        yield "a sweep that ends early", "sweeps without stop: no stage can end for the others"
    shapes = [None if each.sweep is None else (each.sweep.axes, each.sweep.repeat, each.sweep.order, each.sweep.seed)
              for each in stages]  # fmt: skip
    if any(shape != shapes[0] for shape in shapes):
        yield "unlike sweeps", "the same axes, values, repetitions and order in each stage"
    if any(stage.sweep is not None and stage.sweep.steps for stage in stages):
        yield "steps that change nodes", "a sweep without steps"
