"""Owns the question which nodes may not be loaded, because somebody else needs them, and the word that overrides it.

Pure: whether a job runs on a node is handed in. Reading a node in use is allowed, and so is traffic that only
crosses links of its switch, which caps bound. Refuses blanket overrides: who means a node names it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from probes.api import Probe, Safety
from probes.errors import ProbeError
from probes.model import Round
from topology.model import Fabric, Node, NodeId


class InUse(StrEnum):
    """Why a node is not ours to load."""

    PRODUCTION = "production"
    BUSY = "busy"


class OverrideError(ProbeError):
    """An override that names a node which it cannot mean."""


@dataclass(frozen=True, slots=True)
class Refusal:
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
class Override:
    """The nodes that ``who`` means to load all the same, each by its name."""

    production: frozenset[NodeId] = frozenset()
    busy: frozenset[NodeId] = frozenset()
    who: str = ""

    def covers(self, node: NodeId, why: InUse) -> bool:
        """Whether ``node`` was named for this reason."""
        return node in (self.production if why is InUse.PRODUCTION else self.busy)


def refusals(
    fabric: Fabric,
    rounds: Sequence[Round],
    probes: Mapping[str, Probe],
    occupied: Mapping[str, str],
    override: Override = Override(),
) -> tuple[Refusal, ...]:
    """What stands against running ``rounds``, in the order of the file; empty when nothing does.

    ``occupied`` maps a node to what runs on it, in words (``job 4711 of alice, 3 h left``); names that the
    fabric does not have are no concern of ours. A probe that is not in ``probes`` is taken to load.
    Raises OverrideError for a name that the fabric does not have, for one overridden as production
    that is not tagged so, and for an override that nobody answers for.
    """
    _refuse_wrong_names(fabric, override)
    loading = _loading(rounds, probes)
    machines: dict[NodeId, list[NodeId]] = {}
    for name in fabric.nodes:
        if name in loading:
            machines.setdefault(_machine(fabric.nodes[name]), []).append(name)
    return tuple(
        Refusal(
            node.id, why, detail, tuple(chosen), tuple(sorted({probe for name in chosen for probe in loading[name]}))
        )
        for node in fabric.nodes.values()
        if (chosen := machines.get(_machine(node)))
        for why, detail in _claims(node, occupied)
        if not override.covers(node.id, why)
    )


def recorded(override: Override) -> dict[str, str]:
    """The override as options of the session, so that it is kept with the results; empty where none was given."""
    from topology.selection import fold

    named = {"override.production": override.production, "override.busy": override.busy}
    found = {key: fold(sorted(nodes)) for key, nodes in named.items() if nodes}
    return {**found, "override.by": override.who} if found else {}


def _machine(node: Node) -> NodeId:
    return node.host or node.id


def _claims(node: Node, occupied: Mapping[str, str]) -> Iterable[tuple[InUse, str]]:
    if node.production:
        yield InUse.PRODUCTION, "tagged production in the topology file"
    if node.id in occupied:
        yield InUse.BUSY, occupied[node.id] or "in use by others"


def _loading(rounds: Sequence[Round], probes: Mapping[str, Probe]) -> dict[NodeId, set[str]]:
    """The nodes that tests would load, each with the probes that would."""
    found: dict[NodeId, set[str]] = {}
    for each in rounds:
        for test in each.tests:
            probe = probes.get(test.probe)
            if probe is None or probe.safety is not Safety.READS:
                for node in test.target.nodes:
                    found.setdefault(node.id, set()).add(test.probe)
    return found


def _refuse_wrong_names(fabric: Fabric, override: Override) -> None:
    from topology.selection import fold, near

    if (override.production or override.busy) and not override.who.strip():
        raise OverrideError("an override without a name, expected who answers for it")
    unknown = sorted((override.production | override.busy) - fabric.nodes.keys())
    if unknown:
        hint = near(unknown[0], fabric.nodes)
        raise OverrideError(
            f"unknown node {fold(unknown)} in an override" + (f", did you mean {hint}?" if hint else "")
        )
    untagged = sorted(name for name in override.production if not fabric.nodes[name].production)
    if untagged:
        raise OverrideError(f"{fold(untagged)} in an override: not tagged production, expected nodes that are")
