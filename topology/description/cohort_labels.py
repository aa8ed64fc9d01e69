"""Resolves the section ``cohorts``: the labels that nodes carry into every result.

Reports a node in two cohorts of one dimension, and a dimension that could be taken for another label.
"""

from collections.abc import Callable, Collection

from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location
from benchconsole.topology.description.problems import ProblemReport
from benchconsole.topology.model.cohorts import DIMENSION_WORDS, VALUE_WORDS, is_dimension, is_value
from benchconsole.topology.model.fabric import NodeId

Chosen = Callable[[str, Location], Collection[NodeId] | None]
Cohorts = dict[NodeId, tuple[tuple[str, str], ...]]


def resolve_cohorts(written: raw.RawTopology, report: ProblemReport, chosen: Chosen) -> Cohorts:
    """Dimension and name of every cohort of each node, sorted; ``chosen`` reads a selection of nodes."""
    stages = (stage for suite in written.suites.values() for stage in suite if stage is not None)
    axes = {axis for stage in stages for axis in stage.sweep or ()}
    found: dict[NodeId, list[tuple[str, str]]] = {}
    for dimension, values in written.cohorts.items():
        here: Location = ("cohorts", dimension)
        if not is_dimension(dimension, axes):
            report.add_key(here, f"the dimension {dimension!r}", DIMENSION_WORDS)
        elif not values:
            report.add(here, "no cohort", "name: nodes")
        taken: dict[NodeId, str] = {}
        for name, text in values.items():
            if not is_value(name):
                report.add_key((*here, name), f"the cohort {name!r}", VALUE_WORDS)
            for node in chosen(text, (*here, name)) or ():
                first = taken.setdefault(node, name)
                if first == name:
                    found.setdefault(node, []).append((dimension, name))
                    continue
                line = report.document.key_at((*here, first)).line
                also = f"{node}, which is in the cohort {first!r} (line {line})"
                report.add((*here, name), also, f"each node in one cohort of {dimension}")
                break
    return {node: tuple(sorted(pairs)) for node, pairs in found.items()}
