"""Owns what the record says of a session beside its results: what it is, by which criteria it was judged.

Pure. Refuses to open the store.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from console.care import Care
from probes.planning import suite_named
from store.model import NewSession
from topology.model import Fabric, NodeId
from topology.selection import fold

COHORT = "cohort "
"""Before the dimension, the name of the option that records the cohort of a whole session."""


@dataclass(slots=True)
class Choice:
    """What was chosen for a session: suite, nodes (None: all), label, how carefully; ``options`` are recorded.

    ``typed`` are the serial numbers that somebody typed for disks that may be overwritten.
    """

    suite: str | None = None
    nodes: tuple[NodeId, ...] | None = None
    label: str = ""
    options: Mapping[str, str | int | float] = field(default_factory=dict)
    care: Care = field(default_factory=Care)
    typed: tuple[str, ...] = ()

    @property
    def cohorts(self) -> dict[str, str]:
        """The labels that every result of the session gets, by dimension."""
        found = ((name.removeprefix(COHORT), value) for name, value in self.options.items() if name.startswith(COHORT))
        return {name: str(value) for name, value in found}


def criteria_mark(fabric: Fabric) -> str:
    """Twelve hex digits that change when the criteria or declared hardware do."""
    criteria = [(replace(each, nodes=frozenset()), sorted(each.nodes)) for each in fabric.criteria]
    declared = [(node.id, sorted(node.hardware.facts.items())) for node in fabric.nodes.values()]
    return hashlib.sha256(repr((criteria, declared)).encode()).hexdigest()[:12]


def with_criteria(fabric: Fabric, other: Fabric) -> Fabric:
    """``fabric`` judged by the criteria of ``other``."""
    return replace(fabric, criteria=other.criteria)


def judged_by(fabric: Fabric) -> str:
    """The name of a judgement: the program and the criteria that made it."""
    return f"benchconsole {version('benchconsole')}, criteria {criteria_mark(fabric)}"


def new_session(fabric: Fabric, choice: Choice, now: float) -> NewSession:
    """What the store is told of a session before anything of it has run."""
    return NewSession(
        topology=fabric.text,
        topology_path=str(Path(fabric.file).absolute()),
        fabric=fabric.name,
        suite=choice.suite or suite_named(fabric, None).name,
        started=now,
        label=choice.label,
        selection=fold(choice.nodes) if choice.nodes is not None else "",
        options={**choice.options, **choice.care.options()},
        simulated=fabric.simulated,
        program=version("benchconsole"),
    )
