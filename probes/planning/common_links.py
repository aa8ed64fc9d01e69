"""The links between switches that lone flows can overload, each named once.

Links that are always loaded alike are one resource. A link that the nodes behind it cannot fill, since each sends
to one partner and receives from one, is left out. A schedule has to heed the rest; on a fabric without
oversubscription that is nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from benchconsole.probes.planning.flow_classes import FlowClass
from benchconsole.probes.planning.packing import FULL_AT

Loads = Iterable[tuple[int, float]]
_Column = tuple[tuple[int, float], ...]


@dataclass(slots=True)
class ClassUsers:
    """Flows of one class: how many, and the machines that send and receive them."""

    count: int = 0
    sources: set[str] = field(default_factory=set)
    sinks: set[str] = field(default_factory=set)

    def add(self, source: str, sink: str) -> None:
        """One more flow."""
        self.count += 1
        self.sources.add(source)
        self.sinks.add(sink)


def find_common_links(
    users: Mapping[FlowClass, ClassUsers], loads_of: Callable[[FlowClass], Loads], *, once: bool
) -> dict[FlowClass, list[tuple[int, float]]]:
    """For each class the links, by the number of a directed one, that can be overloaded, and the load of a flow there.

    ``once``: each machine sends to one partner at a time, and receives from one.
    """
    columns: dict[int, list[tuple[int, float]]] = {}
    for number, flow_class in enumerate(users):
        for way, load in loads_of(flow_class):
            columns.setdefault(way, []).append((number, round(load, 9)))
    first: dict[_Column, int] = {}
    for way, column in columns.items():
        first.setdefault(tuple(column), way)
    each = list(users.values())
    found: list[list[tuple[int, float]]] = [[] for _ in each]
    for loads, way in first.items():
        if _can_fill(loads, each, once=once):
            for number, load in loads:
                found[number].append((way, load))
    return dict(zip(users, found, strict=True))


def _can_fill(column: _Column, users: list[ClassUsers], *, once: bool) -> bool:
    """Whether the flows over a link can load it beyond what it carries when they run at once."""
    if sum(users[number].count * load for number, load in column) <= FULL_AT:
        return False
    return not once or min(_at_once(column, users, "sources"), _at_once(column, users, "sinks")) > FULL_AT


def _at_once(column: _Column, users: list[ClassUsers], side: str) -> float:
    """The most that a link is loaded with when each machine of one side is in one flow."""
    most: dict[str, float] = {}
    for number, load in column:
        machines: set[str] = getattr(users[number], side)
        for machine in machines:
            if load > most.get(machine, 0.0):
                most[machine] = load
    return sum(most.values())
