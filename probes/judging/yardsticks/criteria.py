"""Judges measurements against the fixed numbers of the file: absolute ones, and shares of a stated peak."""

from collections.abc import Iterator

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.grading import grade, matching, rounded
from benchconsole.probes.judging.physical_limits import Impossible, find_impossible
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Reading, Result
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion
from benchconsole.topology.units import percent, show


def give_verdicts(context: JudgingContext, closed: ClosedRound) -> Iterator[Verdict]:
    """One verdict for each measurement and each criterion that speaks of it."""
    own = f"{closed.round.probe}."
    asked = [each for each in context.criteria if each.basis is not Basis.CAPACITY and each.metric.startswith(own)]
    impossible = {name: find_impossible(context, closed, name) for name in dict.fromkeys(each.metric for each in asked)}
    for result in closed.results:
        for criterion in asked:
            for measurement in matching(criterion, result):
                yield _judge(context, criterion, result, measurement, impossible[criterion.metric])


def _judge(
    context: JudgingContext, criterion: Criterion, result: Result, measurement: Reading, impossible: Impossible
) -> Verdict:
    level, required, because = _grade(context, criterion, result, measurement.value)
    alone, together = (why.get(measurement.id, "") for why in (impossible.alone, impossible.together))
    if alone:
        level, because = Level.UNKNOWN, alone
    elif together and level in (Level.PASS, Level.WATCH):
        level, because = Level.UNKNOWN, f"{because}, but with the others of its bundle {together}"
    test = result.test
    return Verdict(
        test=test.id,
        round=test.round,
        probe=test.probe,
        subject=test.target.key,
        nodes=tuple(node.id for node in test.target.nodes),
        metric=measurement.metric,
        labels=measurement.labels,
        level=level,
        kind=Yardstick.CRITERION,
        because=because,
        unit=measurement.unit,
        shown=context.shown(measurement.metric),
        value=measurement.value,
        expected=required,
        required=required,
        source=criterion.source or "criterion",
        evidence=(measurement.id,),
    )


def _grade(
    context: JudgingContext, criterion: Criterion, result: Result, value: float
) -> tuple[Level, float | None, str]:
    """The level of a value, the bound that decided (None: none could), and the reason."""
    scale, basis = 1.0, ""
    if criterion.basis is Basis.PEAK:
        nodes = result.test.target.nodes
        known = [node.hardware.peak for node in nodes if node.hardware.peak is not None]
        if len(known) < len(nodes):
            return Level.UNKNOWN, None, "no peak is declared"
        bases = "; ".join(dict.fromkeys(node.hardware.peak_basis or "basis not stated" for node in nodes))
        whose = f"the peaks of {len(nodes)} nodes" if len(nodes) > 1 else "peak"
        scale, basis = sum(known), f" of {whose} ({bases})"
    required = criterion.required * scale
    target = None if criterion.target is None else criterion.target * scale
    level = grade(value, required, comparator=criterion.comparator, target=target, step=criterion.step(scale))
    return level, required, _because(context, criterion, value, level, scale) + basis


def _because(context: JudgingContext, criterion: Criterion, value: float, level: Level, scale: float) -> str:
    shown = context.shown(criterion.metric)
    unit = context.metrics[criterion.metric].unit if criterion.metric in context.metrics else criterion.unit
    least = criterion.comparator is Comparator.AT_LEAST
    bound = criterion.target if level is Level.WATCH and criterion.target is not None else criterion.required
    words = percent(bound) if criterion.basis is Basis.PEAK else show(bound * scale, unit, shown)
    note = ""
    if criterion.rounding:
        near = rounded(value, criterion.step(scale))
        note = f", rounded to {percent(near / scale) if criterion.rounds_share else show(near, unit, shown)}"
    if level is Level.PASS:
        return f"{'at least' if least else 'at most'} {words}{note}"
    which = "target" if level is Level.WATCH else "required"
    return f"{'below' if least else 'above'} the {which} {words}{note}"
