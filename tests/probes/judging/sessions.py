"""Rounds taken in as findings take them in, for those who test one step of attribution by itself."""

from benchconsole.probes.judging.components import Component, Components
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import Place
from benchconsole.probes.judging.flow_evidence import FlowEvidence
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.low_verdicts import LowVerdicts
from benchconsole.probes.judging.part_loads import PartLoads
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.probes.judging.set_cover import LowVerdict, SetCover
from benchconsole.probes.model.judgement import ClosedRound, Yardstick
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.named_parts import NamedParts

METRIC = "iperf3.throughput"


class Session:
    """The knowledge of judging after ``rounds``: the loads of parts, all flows, and the low throughputs."""

    def __init__(self, described: Fabric, *rounds: ClosedRound) -> None:
        self.context = JudgingContext(described, METRICS)
        self.parts = self.context.parts
        self.components = Components(self.parts)
        self.named = NamedParts(self.parts, self.components)
        self.loads = PartLoads(self.parts)
        self.evidence = FlowEvidence(self.parts)
        low = LowVerdicts()
        flows_of: dict[int, tuple[MeasuredFlow, ...]] = {}
        for closed in rounds:
            judged = replace(closed, verdicts=judge_round(self.context, closed))
            flows = self.context.flows.read(judged, METRIC)
            self.loads.add(flows)
            self.evidence.add(flows, judged.round)
            low.add_round(judged)
            flows_of.update((id(each), flows.find_measured(each.evidence)) for each in judged.verdicts)
        self.low: list[LowVerdict] = [
            (each, flows_of[id(each)]) for each in low.list_by_kind().get(Yardstick.CAPACITY, ())
        ]

    def where(self, component: Component) -> str:
        """A component as a finding names it."""
        return Place(self.context, component).where

    def cover(self) -> list[str]:
        """The components of every cover of what is low, in order."""
        covers = SetCover(self.parts, self.components, self.low, self.loads).covers
        return [" or ".join(map(self.where, cover.components)) for cover in covers]
