"""The nodes that may not be loaded because somebody else needs them, and the override that loads them all the same.

Pure: whether a job runs on a node is handed in. Reading a node in use is allowed, and so is traffic that only
crosses links of its switch, which caps bound. An override names each node; there is none for all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchconsole.probes.api import Probe, Safety
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Node, NodeId


class InUse(StrEnum):
    """Why a node may not be loaded."""

    PRODUCTION = "production"
    BUSY = "busy"


class OverrideError(ProbeError):
    """An override that names a node which it cannot mean."""


@dataclass(frozen=True, slots=True)
class InUseRefusal:
    """A node that somebody else needs and that tests would load.

    ``loaded`` are the chosen nodes on the same machine (usually ``node`` itself; else virtual machines
    or their host), ``probes`` what would load them, ``detail`` what keeps the node, in words.
    """

    node: NodeId
    why: InUse
    detail: str
    loaded: tuple[NodeId, ...]
    probes: tuple[str, ...]

    def __str__(self) -> str:
        others = [name for name in self.loaded if name != self.node]
        through = f" (the machine of {', '.join(others)})" if others else ""
        return f"{self.node}{through}: {self.detail}; it would be loaded by {', '.join(self.probes)}"


@dataclass(frozen=True, slots=True)
class InUseOverride:
    """The nodes that ``who`` means to load all the same, each by its name."""

    production: frozenset[NodeId] = frozenset()
    busy: frozenset[NodeId] = frozenset()
    who: str = ""

    def covers(self, node: NodeId, why: InUse) -> bool:
        return node in (self.production if why is InUse.PRODUCTION else self.busy)


def find_refusals(
    fabric: Fabric,
    rounds: Sequence[Round],
    probes: Mapping[str, Probe],
    occupied: Mapping[str, str],
    override: InUseOverride = InUseOverride(),
) -> tuple[InUseRefusal, ...]:
    """The nodes that keep ``rounds`` from running, in the order of the file; empty when there is none.

    ``occupied`` maps a node to the job on it, in words (``job 4711 of alice, 3 h left``); names that the
    fabric does not have are passed over. A probe that is not in ``probes`` is taken to load.
    Raises OverrideError for a name that the fabric does not have, for one overridden as production
    that is not tagged so, and for an override without ``who``.
    """
    _check_override(fabric, override)
    tests = (test for each in rounds for test in each.tests)
    loads = (test for test in tests if test.probe not in probes or probes[test.probe].safety is not Safety.READS)
    loading = group_by_key((node.id, test.probe) for test in loads for node in test.target.nodes)
    machines = group_by_key((_find_machine(node), name) for name, node in fabric.nodes.items() if name in loading)
    return tuple(
        InUseRefusal(
            node.id, why, detail, tuple(chosen), tuple(sorted({probe for name in chosen for probe in loading[name]}))
        )
        for node in fabric.nodes.values()
        if (chosen := machines.get(_find_machine(node)))
        for why, detail in _list_claims(node, occupied)
        if not override.covers(node.id, why)
    )


def format_override(override: InUseOverride) -> dict[str, str]:
    """The override as options of the session, so that it is kept with the results; empty where none was given."""
    from benchconsole.topology.selection import fold

    named = {"override.production": override.production, "override.busy": override.busy}
    found = {key: fold(sorted(nodes)) for key, nodes in named.items() if nodes}
    return {**found, "override.by": override.who} if found else {}


def _find_machine(node: Node) -> NodeId:
    return node.host or node.id


def _list_claims(node: Node, occupied: Mapping[str, str]) -> Iterable[tuple[InUse, str]]:
    if node.production:
        yield InUse.PRODUCTION, "tagged production in the topology file"
    if node.id in occupied:
        yield InUse.BUSY, occupied[node.id] or "in use by others"


def _check_override(fabric: Fabric, override: InUseOverride) -> None:
    from benchconsole.topology.errors import find_near
    from benchconsole.topology.selection import fold

    if (override.production or override.busy) and not override.who.strip():
        raise OverrideError("an override without a name, expected who answers for it")
    unknown = sorted((override.production | override.busy) - fabric.nodes.keys())
    if unknown:
        hint = find_near(unknown[0], fabric.nodes)
        raise OverrideError(
            f"unknown node {fold(unknown)} in an override" + (f", did you mean {hint}?" if hint else "")
        )
    untagged = sorted(name for name in override.production if not fabric.nodes[name].production)
    if untagged:
        raise OverrideError(f"{fold(untagged)} in an override: not tagged production, expected nodes that are")
