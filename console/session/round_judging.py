"""The judging of rounds on one fabric: the verdicts of each, and what is known over all that were taken in.

Nothing of it is imported where a stored session is only looked at.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from benchconsole.probes.judging.confirmation import plan_confirmation
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.detectable_loss import DetectableLosses
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import JudgedTable, find_plain, judge_round, judge_table
from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.probes.model.kept_readings import hold_readings, release_readings
from benchconsole.probes.model.measurement_table import MeasurementTable
from benchconsole.probes.model.measuring import Metric, Round
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.probes.model.repeats import find_repeats
from benchconsole.probes.model.round_bounds import ConfirmationBounds
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe


def make_judging_context(fabric: Fabric, probes: Mapping[str, "Probe"]) -> JudgingContext:
    """The context in which rounds of ``probes`` on ``fabric`` are judged."""
    metrics: dict[str, Metric] = {metric.name: metric for probe in probes.values() for metric in probe.metrics}
    return JudgingContext(fabric, metrics)


class RoundJudging:
    """Judges rounds, and finds the causes of what is low in those that it took in."""

    def __init__(self, fabric: Fabric, probes: Mapping[str, "Probe"]) -> None:
        self._context = make_judging_context(fabric, probes)
        self._probes = probes
        self._held: list[ClosedRound] = []

    @cached_property
    def _findings(self) -> Findings:
        # They know something of each element: memory that a session needs only once it is judged.
        return Findings(self._context)

    @cached_property
    def _losses(self) -> DetectableLosses:
        return DetectableLosses(self._context)

    def judge(self, closed: ClosedRound) -> ClosedRound:
        """The round with its verdicts; it is not taken in."""
        return replace(closed, verdicts=judge_round(self._context, closed))

    def judge_table(self, closed: ClosedRound, table: MeasurementTable) -> JudgedTable:
        """The verdicts on a plain round; it is not taken in."""
        return judge_table(self._context, closed, table)

    def find_plain(self, plan: Sequence[Round]) -> frozenset[int]:
        """The rounds of ``plan``, by number, whose measurements can be judged in a table."""
        return find_plain(self._context, plan)

    def find_columns(self, plan: Sequence[Round], closed: Iterable[int]) -> frozenset[int]:
        """The rounds of ``plan``, by number, whose passes may stand in columns; ``closed`` are all that were closed.

        Those that were closed several times, or repeat tests, or are repeated, are told verdict by verdict; so is what
        belongs to a sweep.
        """
        repeats = find_repeats(plan)
        repeated = {*repeats, *chain.from_iterable(repeats.values())}
        attempts, plain = Counter(closed), self.find_plain(plan)
        return frozenset(
            each.number
            for each in plan
            if attempts[each.number] == 1
            and each.swept is None
            and each.probe in self._in_columns
            and each.number in plain
            and repeated.isdisjoint(test.id for test in each.tests)
        )

    @cached_property
    def _in_columns(self) -> frozenset[str]:
        """The probes whose values are only counted where they passed, and written in one way whatever their metric is.

        The facts of a node are compared one by one; the numbers of a document, with every single value.
        """
        fabric = self._context.fabric
        reported = {each.metric.partition(".")[0] for each in fabric.reported} | {INVENTORY}
        return frozenset(
            name
            for name, probe in self._probes.items()
            if name not in reported
            and len({(each.unit, each.shown) for each in probe.metrics}) == len({each.unit for each in probe.metrics})
        )

    def add_round(self, judged: ClosedRound, measured: MeasurementTable | None = None) -> None:
        """Take in a judged round: its flows are read, once for all that asks for them.

        ``measured`` are its measurements where its results lack some.
        """
        hold_readings(judged.results)
        self._findings.add_round(judged, measured)
        self._losses.add_round(judged)
        self._held.append(judged)

    def rank_findings(self) -> tuple[Finding, ...]:
        """The findings over what was taken in; after that it is known whether source ports mean what the file says."""
        found = self._findings.rank()
        for judged in self._held:
            release_readings(judged.results)
        self._held.clear()
        return found

    def sum_up_losses(self) -> tuple[DetectableLoss, ...]:
        """The smallest loss that what was taken in could have shown, by kind of element; findings are ranked before."""
        return self._losses.sum_up(steers=self._findings.steers)

    def plan_confirmation(
        self, judged: Sequence[ClosedRound], nodes: Collection[NodeId], bounds: ConfirmationBounds, *, first: int
    ) -> tuple[Round, ...]:
        """The rounds on ``nodes``, numbered from ``first``, that confirm what is suspected, be it a finding or not.

        ``judged`` are all rounds so far; findings are ranked before.
        """
        suspected, steers = self._findings.suspected, self._findings.steers
        return plan_confirmation(
            self._context, self._probes, suspected, judged, nodes, steers=steers, bounds=bounds, first=first
        )
