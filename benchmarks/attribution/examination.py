"""The product, examined: its plan, what a simulated run measures, and the findings that it makes of that."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from benchconsole.console.session.judged_rounds import make_judging_context
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchmarks.attribution.cable_simulator import CableSimulator, SimulatedRun, Truth
from benchmarks.attribution.described import SUITES, find_stages, load_fabric
from benchmarks.attribution.faults import Fault, FaultDraw, make_damage

PROBES = {"iperf3": Iperf3()}

FurtherRounds = Callable[[Sequence[ClosedRound], Sequence[Finding]], Sequence[Round]]
"""Given all judged rounds and the findings, the rounds that the product would run next to confirm them; none to end."""


class Outcome(NamedTuple):
    """The findings of a run, and how many seconds its rounds were planned to take."""

    findings: tuple[Finding, ...]
    seconds: float


class Examination:
    """One suite on one fabric, planned once; ``further`` asks the product for rounds that confirm findings."""

    def __init__(self, fabric: str, suite: str, further: FurtherRounds | None = None) -> None:
        self.fabric = load_fabric(fabric, steered=SUITES[suite].steered)
        self.rounds = plan(self.fabric, find_stages(self.fabric, suite), PROBES)
        self.simulator = CableSimulator(self.fabric)
        self.faults = FaultDraw(self.simulator.cabling)
        self._context = make_judging_context(self.fabric, PROBES)
        self._further = further

    def run(self, truth: Truth, faults: Sequence[Fault], seed: int) -> Outcome:
        """Measure and judge the planned rounds, then those that the product asks for, until it asks for none."""
        simulated = SimulatedRun(self.simulator, truth, make_damage(faults), seed)
        findings = Findings(self._context)
        judged: list[ClosedRound] = []
        waiting: Sequence[Round] = self.rounds
        while waiting:
            for planned in waiting:
                closed = simulated.measure(planned)
                judged.append(replace(closed, verdicts=judge_round(self._context, closed)))
                findings.add_round(judged[-1])
            waiting = () if self._further is None else self._further(judged, findings.rank())
        return Outcome(findings.rank(), sum(each.round.seconds for each in judged))
