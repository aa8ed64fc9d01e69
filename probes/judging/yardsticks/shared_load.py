"""Judges the sum of tests that load a storage system together against its ceiling.

Each of them gets a part of what the system gives: the number of one says nothing about the system.
"""

from collections.abc import Iterator, Sequence

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.criterion_match import matching, speaks_of_test
from benchconsole.probes.judging.grading import POSSIBLE, grade, rounded
from benchconsole.probes.judging.summed_rates import SummedRates, sum_rates
from benchconsole.probes.judging.yardsticks.criteria import Scale, describe_level, find_ceiling
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.measurement_table import MeasurementKind
from benchconsole.probes.model.measuring import Labels, Reading, Result, Test
from benchconsole.probes.model.plausible_numbers import describe_implausible
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Comparator, Criterion
from benchconsole.topology.units import Shown, counted, percent, show

_Number = tuple[Result, Reading]


def give_verdicts(context: JudgingContext, closed: ClosedRound) -> Iterator[Verdict]:
    """One verdict for each bundle, each criterion on a ceiling that speaks of it, and each sum that it has."""
    asked = context.ceiling_criteria(closed.round.probe)
    bundles = group_by_key((result.test.bundle, result) for result in closed.results if result.test.bundle)
    for name, results in bundles.items() if asked else ():
        tests = [test for test in closed.round.tests if test.bundle == name]
        for criterion in asked:
            for labels, numbers in _list_sums(criterion, results).items():
                yield _judge(context, criterion, name, tests, labels, numbers)


def _list_sums(criterion: Criterion, results: Sequence[Result]) -> dict[Labels, list[_Number]]:
    """The numbers that are added up, by the labels that they share."""
    found = [(result, each) for result in results for each in matching(criterion, result)]
    apart = _find_telling_tests(found)
    return group_by_key(
        (tuple(pair for pair in each.labels if pair[0] not in apart), (result, each)) for result, each in found
    )


def _find_telling_tests(found: Sequence[_Number]) -> frozenset[str]:
    """Labels that tell tests apart, as their number of tasks: one value in each test, and not in all the same."""
    values: dict[str, dict[str, set[str]]] = {}
    for result, each in found:
        for name, value in each.labels:
            values.setdefault(name, {}).setdefault(result.test.id, set()).add(value)
    return frozenset(
        name
        for name, own in values.items()
        if all(len(each) == 1 for each in own.values()) and len(set().union(*own.values())) > 1
    )


def _judge(
    context: JudgingContext, criterion: Criterion, name: str, tests: Sequence[Test], labels: Labels,
    numbers: Sequence[_Number],
) -> Verdict:  # fmt: skip
    first, reading = numbers[0][0].test, numbers[0][1]
    measured = {result.test.id: result.test for result, _ in numbers}.values()
    scale = find_ceiling(context, tests, MeasurementKind(reading.metric, reading.unit, labels))
    summed = sum_rates(numbers)
    level, because = _grade(context, criterion, scale, (tests, numbers), summed)
    required = None if scale.value is None else criterion.required * scale.value
    return Verdict(
        test=first.id,
        round=first.round,
        probe=first.probe,
        subject=name,
        nodes=tuple(dict.fromkeys(node.id for test in measured for node in test.target.nodes)),
        metric=reading.metric,
        labels=labels,
        level=level,
        kind=Yardstick.CRITERION,
        because=because,
        unit=reading.unit,
        shown=context.shown(reading.metric),
        value=summed.value,
        expected=required,
        required=required,
        source=criterion.source or "criterion",
        evidence=tuple(each.id for _, each in numbers),
    )


def _grade(
    context: JudgingContext, criterion: Criterion, scale: Scale, load: tuple[Sequence[Test], Sequence[_Number]],
    summed: SummedRates,
) -> tuple[Level, str]:  # fmt: skip
    """The level of a sum, and why; ``load`` are the tests that were meant to run at once, and their numbers."""
    tests, numbers = load
    told = f"sum of {counted(len(numbers), 'number')}"
    unit, shown = numbers[0][1].unit, context.shown(criterion.metric)
    apart = summed.describe(lambda value: show(value, unit, shown))
    why = _find_obstacle(criterion, scale, load, shown)
    if why or scale.value is None:
        return Level.UNKNOWN, f"{told}: {why}"
    if summed.value > POSSIBLE * scale.value:
        above = f"above the ceiling {show(scale.value, unit, shown)}"
        return Level.UNKNOWN, f"{told}: {above}: a cache, or the number or the description is wrong{apart}"
    target = None if criterion.target is None else criterion.target * scale.value
    step, required = criterion.step(scale.value), criterion.required * scale.value
    level, amount = summed.grade(
        lambda value: grade(value, required, comparator=criterion.comparator, target=target, step=step)
    )
    near = rounded(amount, step) if step else amount
    words = f"{told}: {_describe(context, criterion, level, near, scale)}{apart}"
    is_proven = level is Level.PASS and criterion.comparator is Comparator.AT_LEAST
    if len(numbers) < len(tests) and not is_proven:
        return Level.UNKNOWN, f"{words}; {len(tests) - len(numbers)} of {counted(len(tests), 'test')} gave none"
    return level, words


def _find_obstacle(
    criterion: Criterion, scale: Scale, load: tuple[Sequence[Test], Sequence[_Number]], shown: Shown
) -> str:
    """Why a sum cannot be held against its ceiling; empty where it can."""
    tests, numbers = load
    meant = sum(speaks_of_test(criterion, test) for test in tests)
    if meant < len(tests):
        return f"the criterion speaks of {meant} of {len(tests)} tests that ran at once"
    if scale.value is None:
        return scale.why
    if len({result.test.id for result, _ in numbers}) < len(numbers):
        return "tests with several numbers each, of which none is their sum"
    return next(filter(None, (describe_implausible(each, shown) for _, each in numbers)), "")


def _describe(context: JudgingContext, criterion: Criterion, level: Level, near: float, scale: Scale) -> str:
    """The bound that a level is told by; where it is not known whether the sum meets it, what is asked."""
    if level is Level.UNKNOWN:
        least = criterion.comparator is Comparator.AT_LEAST
        return f"{'at least' if least else 'at most'} {percent(criterion.required)}{scale.basis} asked"
    return f"{describe_level(context, criterion, level, near, scale.value or 0.0)}{scale.basis}"
