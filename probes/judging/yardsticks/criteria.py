"""Judges measurements against the fixed numbers of the file: absolute ones, and shares of a stated peak."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.grading import grade, matching, rounded
from benchconsole.probes.judging.physical_limits import Impossible, find_impossible
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Reading, Test
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion
from benchconsole.topology.units import percent, show


def give_verdicts(context: JudgingContext, closed: ClosedRound) -> Iterator[Verdict]:
    """One verdict for each measurement and each criterion that speaks of it."""
    own = f"{closed.round.probe}."
    asked = [each for each in context.criteria if each.basis is not Basis.CAPACITY and each.metric.startswith(own)]
    impossible = {name: find_impossible(context, closed, name) for name in dict.fromkeys(each.metric for each in asked)}
    bounds = [_Bound(context, each, impossible[each.metric]) for each in asked]
    for result in closed.results:
        subject = result.test.target.key if bounds else ""
        for bound in bounds:
            for measurement in matching(bound.criterion, result):
                yield bound.judge(subject, result.test, measurement)


@dataclass(slots=True, eq=False)
class _Bound:
    """A criterion with what is the same for all measurements of a round that are held against it.

    ``reasons`` are those that were worded: a reason depends on a value by its level and what it is rounded to alone.
    """

    context: JudgingContext
    criterion: Criterion
    impossible: Impossible
    reasons: dict[tuple[Level, float, float], str] = field(default_factory=dict)

    def judge(self, subject: str, test: Test, measurement: Reading) -> Verdict:
        level, required, because = self._grade(test, measurement.value)
        alone, together = self.impossible.find(measurement)
        if alone:
            level, because = Level.UNKNOWN, alone
        elif together and level in (Level.PASS, Level.WATCH):
            level, because = Level.UNKNOWN, f"{because}, but with the others of its bundle {together}"
        return Verdict(
            test=test.id,
            round=test.round,
            probe=test.probe,
            subject=subject,
            nodes=tuple([node.id for node in test.target.nodes]),
            metric=measurement.metric,
            labels=measurement.labels,
            level=level,
            kind=Yardstick.CRITERION,
            because=because,
            unit=measurement.unit,
            shown=self.context.shown(measurement.metric),
            value=measurement.value,
            expected=required,
            required=required,
            source=self.criterion.source or "criterion",
            evidence=(measurement.id,),
        )

    def _grade(self, test: Test, value: float) -> tuple[Level, float | None, str]:
        """The level of a value, the bound that decided (None: none could), and the reason."""
        criterion, scale, basis = self.criterion, 1.0, ""
        if criterion.basis is Basis.PEAK:
            nodes = test.target.nodes
            known = [node.hardware.peak for node in nodes if node.hardware.peak is not None]
            if len(known) < len(nodes):
                return Level.UNKNOWN, None, "no peak is declared"
            bases = "; ".join(dict.fromkeys(node.hardware.peak_basis or "basis not stated" for node in nodes))
            whose = f"the peaks of {len(nodes)} nodes" if len(nodes) > 1 else "peak"
            scale, basis = sum(known), f" of {whose} ({bases})"
        required = criterion.required * scale
        target = None if criterion.target is None else criterion.target * scale
        step = criterion.step(scale)
        level = grade(value, required, comparator=criterion.comparator, target=target, step=step)
        near = rounded(value, step) if criterion.rounding else 0.0
        key = (level, near, scale)
        if key not in self.reasons:
            self.reasons[key] = self._word(level, near, scale)
        return level, required, self.reasons[key] + basis

    def _word(self, level: Level, near: float, scale: float) -> str:
        """The reason of a level; ``near`` is the value as it was rounded, where the criterion rounds."""
        context, criterion = self.context, self.criterion
        shown = context.shown(criterion.metric)
        unit = context.metrics[criterion.metric].unit if criterion.metric in context.metrics else criterion.unit
        least = criterion.comparator is Comparator.AT_LEAST
        bound = criterion.target if level is Level.WATCH and criterion.target is not None else criterion.required
        words = percent(bound) if criterion.basis is Basis.PEAK else show(bound * scale, unit, shown)
        note = ""
        if criterion.rounding:
            note = f", rounded to {percent(near / scale) if criterion.rounds_share else show(near, unit, shown)}"
        if level is Level.PASS:
            return f"{'at least' if least else 'at most'} {words}{note}"
        which = "target" if level is Level.WATCH else "required"
        return f"{'below' if least else 'above'} the {which} {words}{note}"
