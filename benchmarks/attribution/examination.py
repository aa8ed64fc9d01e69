"""The product, examined: its plan, what a simulated run measures, and the findings that it makes of that."""

from collections.abc import Sequence
from typing import NamedTuple

from benchconsole.console.session.round_judging import make_judging_context
from benchconsole.probes.judging.confirmation import plan_confirmation
from benchconsole.probes.judging.detectable_loss import DetectableLosses
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchmarks.attribution.cable_simulator import CableSimulator, SimulatedRun, Truth
from benchmarks.attribution.described import SUITES, find_stages, load_fabric
from benchmarks.attribution.faults import Fault, FaultDraw, make_damage

PROBES = {"iperf3": Iperf3()}


class Outcome(NamedTuple):
    """The findings of a run, the losses that it says it could have shown, and the seconds that it was to take."""

    findings: tuple[Finding, ...]
    losses: tuple[DetectableLoss, ...]
    seconds: float


class Examination:
    """One suite on one fabric, planned once; with ``confirm`` the product adds rounds that confirm its findings."""

    def __init__(self, fabric: str, suite: str, *, confirm: bool = True) -> None:
        self.fabric = load_fabric(fabric, steered=SUITES[suite].steered)
        self.rounds = plan(self.fabric, find_stages(self.fabric, suite), PROBES)
        self.simulator = CableSimulator(self.fabric)
        self.faults = FaultDraw(self.simulator.cabling)
        self._context = make_judging_context(self.fabric, PROBES)
        self._confirm = confirm

    def run(self, truth: Truth, faults: Sequence[Fault], seed: int) -> Outcome:
        """Measure and judge the planned rounds, then those that the product asks for, until it asks for none."""
        simulated = SimulatedRun(self.simulator, truth, make_damage(faults), seed)
        findings, losses = Findings(self._context), DetectableLosses(self._context)
        judged: list[ClosedRound] = []
        waiting: Sequence[Round] = self.rounds
        while waiting:
            for planned in waiting:
                closed = simulated.measure(planned)
                judged.append(replace(closed, verdicts=judge_round(self._context, closed)))
                findings.add_round(judged[-1])
                losses.add_round(judged[-1])
            findings.rank()
            waiting = self._plan_further(findings, judged) if self._confirm else ()
        seconds = sum(each.round.seconds for each in judged)
        return Outcome(findings.rank(), losses.sum_up(steers=findings.steers), seconds)

    def _plan_further(self, findings: Findings, judged: Sequence[ClosedRound]) -> Sequence[Round]:
        suspected, nodes, steers = findings.suspected, tuple(self.fabric.nodes), findings.steers
        first = len(judged) + 1
        return plan_confirmation(self._context, PROBES, suspected, judged, nodes, steers=steers, first=first)
