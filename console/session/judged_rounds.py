"""The closed rounds of a session: judged, with the findings over all of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.probes.model.measuring import Metric
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe


def make_judging_context(fabric: Fabric, probes: Mapping[str, "Probe"]) -> JudgingContext:
    """What rounds of ``probes`` on ``fabric`` are judged with."""
    metrics: dict[str, Metric] = {metric.name: metric for probe in probes.values() for metric in probe.metrics}
    return JudgingContext(fabric, metrics)


class JudgedRounds:
    """Judged rounds by number, and the findings over all of them.

    Findings are computed when they are asked for, and only where no known ones cover all rounds.
    """

    def __init__(self, fabric: Fabric, probes: Mapping[str, "Probe"]) -> None:
        self.by_number: dict[int, ClosedRound] = {}
        self._context = make_judging_context(fabric, probes)
        self._findings = Findings(self._context)
        self._unread: list[ClosedRound] = []
        self._known: tuple[Finding, ...] | None = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings over all rounds so far."""
        if self._known is None:
            for judged in self._unread:
                self._findings.add_round(judged)
            self._unread.clear()
            self._known = self._findings.rank()
        return self._known

    @property
    def known_findings(self) -> tuple[Finding, ...] | None:
        """``findings`` where they were computed or restored since the last round was added, else None."""
        return self._known

    def judge(self, closed: ClosedRound) -> ClosedRound:
        """The round with its verdicts; it is not added."""
        return replace(closed, verdicts=judge_round(self._context, closed))

    def restore(self, judged: ClosedRound) -> None:
        """Add a judged round without computing findings: cheap for many rounds."""
        self.by_number[judged.round.number] = judged
        self._unread.append(judged)
        self._known = None

    def restore_findings(self, findings: tuple[Finding, ...]) -> None:
        """Take stored findings, which cover all rounds so far."""
        self._known = findings

    def add(self, judged: ClosedRound) -> ClosedRound:
        """Add a judged round; the same with the findings over all rounds so far."""
        self.restore(judged)
        return replace(judged, findings=self.findings)
