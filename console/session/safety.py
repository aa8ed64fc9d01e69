"""The safety policy of a session: nodes in use that may be loaded all the same, and when waves and a canary are needed.

``probes.running.guards.in_use`` says which nodes are in use, ``probes.reach.slurm`` asks Slurm.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchconsole.probes.api import Safety
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.probes.running.guards.in_use import InUseOverride, find_refusals, format_override
from benchconsole.topology.model.fabric import Fabric, NodeId

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.probes.model.remote import Reach
    from benchconsole.probes.running.guards.guard import Guard


CAREFUL = "careful"
"""The name of the option that records that rounds began small, and that a canary pair was watched."""


class InUseError(PlanError):
    """Nodes that somebody else needs would be loaded; nothing was started."""


@dataclass(frozen=True, slots=True)
class SafetyPolicy:
    """``override`` names the nodes in use that are meant all the same; ``occupied`` says what runs on a node.

    ``careful`` asks for waves and a canary even where no node is in use and nothing is capped.
    ``sparing`` leaves nodes in use out of what loads, instead of refusing the whole plan. ``ask`` says anew
    what runs on the nodes (None: nobody can be asked); a job that begins meanwhile ends the run.
    ``patient`` is for a watch: nodes that do not answer are what it is there to see, and never a reason to stop.
    """

    override: InUseOverride = field(default_factory=InUseOverride)
    occupied: Mapping[str, str] = field(default_factory=dict)
    careful: bool = False
    sparing: bool = False
    patient: bool = False
    ask: Callable[[], Awaitable[Mapping[str, str]]] | None = None

    def needed(self, fabric: Fabric) -> bool:
        """Whether others may be harmed: somebody said so, loads are capped, or nodes in use were overridden."""
        return self.careful or _is_capped(fabric) or bool(self.override.production or self.override.busy)

    def refuse(self, fabric: Fabric, rounds: Sequence[Round], probes: "Mapping[str, Probe]") -> None:
        """InUseError when ``rounds`` would load a node in use that was not named; OverrideError for a wrong name."""
        found = find_refusals(fabric, rounds, probes, self.occupied, self.override)
        if found:
            raise InUseError("\n".join(map(str, found)))

    async def taken(self, fabric: Fabric, each: Round, probes: "Mapping[str, Probe]") -> str:
        """Who has begun to use nodes that ``each`` would load, in words; empty while nobody has."""
        if self.ask is None or not _loads(each, probes):
            return ""
        found = find_refusals(fabric, (each,), probes, await self.ask(), self.override)
        return "; ".join(str(refusal) for refusal in found[:3])

    def spared(self, fabric: Fabric) -> dict[NodeId, Omission]:
        """Nodes in use that were not named and are to be left out, with what keeps them."""
        found: dict[NodeId, Omission] = {}
        for node in fabric.nodes.values() if self.sparing else ():
            if node.production and node.id not in self.override.production:
                found[node.id] = Omission("tagged production in the topology file", OmissionReason.PRODUCTION)
            elif node.id in self.occupied and node.id not in self.override.busy:
                found[node.id] = Omission(self.occupied[node.id], OmissionReason.IN_USE)
        return found

    def options(self) -> dict[str, str | int | float]:
        return {**format_override(self.override), **({CAREFUL: 1} if self.careful else {})}

    async def guard(
        self,
        fabric: Fabric,
        rounds: Sequence[Round],
        probes: "Mapping[str, Probe]",
        reach: "Reach",
        told: Callable[[str], None],
    ) -> "Guard":
        """The guard of a run: the stop rule always, a canary where others may be harmed and something is loaded.

        ``told`` hears why a canary keeps still.
        """
        from benchconsole.probes.running.guards.canary import Canary, CanaryLimits, choose_pairs
        from benchconsole.probes.running.guards.guard import Guard, StopRule

        if self.patient:
            return Guard(StopRule(share=1.0, least=sum(len(each.tests) for each in rounds) + 1))
        loading = [each for each in rounds if _loads(each, probes)]
        if not self.needed(fabric):
            return Guard(StopRule(share=0.5, least=40))
        pairs = await asyncio.to_thread(choose_pairs, fabric, loading) if loading else ()
        limits = CanaryLimits.of(fabric)
        canaries = [Canary(reach, here, there, limits=limits, on_notice=told) for here, there in pairs]
        return Guard(StopRule(), canaries, wants_canary=bool(loading))


def _is_capped(fabric: Fabric) -> bool:
    return fabric.caps.link is not None or bool(fabric.caps.storage)


def _loads(each: Round, probes: "Mapping[str, Probe]") -> bool:
    return any(probes[name].safety is not Safety.READS for name in each.probes)
