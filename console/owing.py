"""Owns which rounds a session would run next: a suite, what failed, or what an earlier run still owes. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from console.record import Choice
from console.view import TestKey, test_key
from probes.api import Safety
from probes.hygiene.devices import confirmed
from probes.judging.findings import Judged
from probes.judging.verdict import Level
from probes.model import FailedAt, Round, Test
from probes.planning import in_waves, plan, rerun, suite_named
from probes.planning.ending import was_spared
from topology.model import Fabric, Stage, Suite

if TYPE_CHECKING:
    from probes.api import Probe


def planned(
    fabric: Fabric, choice: Choice, probes: "Mapping[str, Probe]", suite: str | None, *, first: int
) -> tuple[Round, ...]:
    """The rounds of a suite (None: the chosen one) on the chosen nodes, in waves where others may be harmed."""
    wanted = confirmed(_sparing(suite_named(fabric, suite or choice.suite), fabric, choice, probes), choice.typed)
    rounds = plan(fabric, wanted, probes, nodes=choice.nodes, first=first, cohorts=choice.cohorts)
    return in_waves(rounds) if choice.care.needed(fabric) else rounds


def again(judged: Iterable[Judged], *, only: Collection[str], first: int) -> tuple[Round, ...]:
    """The tests with the ids ``only``, or without any those that failed, to be run once more; no rule ends them."""
    judged = tuple(judged)
    closed = [each.round for each, _ in judged]
    wanted = [test for each in closed for test in each.tests if test.id in only] if only else failed_tests(judged)
    found = rerun(wanted, closed, first=first)
    return tuple(
        each if each.swept is None else replace(each, swept=replace(each.swept, ending=None)) for each in found
    )


def owed(plan: Sequence[Round], judged: Mapping[int, Judged]) -> tuple[Round, ...]:
    """Rounds of ``plan`` that are not closed, and in waves what a stopped round left out."""
    left = tuple(each for each in plan if each.number not in judged)
    first = max((each.number for each in plan), default=0) + 1
    closed = [each.round for each, _ in judged.values()]
    return (*left, *in_waves(rerun(cut_short(judged.values()), closed, first=first)))


def _sparing(suite: Suite, fabric: Fabric, choice: Choice, probes: "Mapping[str, Probe]") -> Suite:
    """The suite without nodes in use in the stages that load, where the session is to leave them out."""
    spared = choice.care.spared(fabric)

    def without(stage: Stage) -> Stage:
        if stage.probe in probes and probes[stage.probe].safety is Safety.READS:
            return stage
        return replace(stage, nodes=tuple(node for node in stage.nodes if node not in spared))

    return replace(suite, stages=tuple(map(without, suite.stages))) if spared else suite


def cut_short(judged: Iterable[Judged]) -> list[Test]:
    """Tests that a stop left out, and that no later round has taken up."""
    newest: dict[TestKey, Test | None] = {}
    for closed, _ in judged:
        stages = {closed.round.number: closed.round.stage}
        for result in closed.results:
            cut = result.failure is not None and result.failure.stage is FailedAt.CANCELLED
            newest[test_key(result.test, stages)] = result.test if cut else None
    return [test for test in newest.values() if test is not None]


def failed_tests(judged: Iterable[Judged]) -> list[Test]:
    """Tests without a number or with a verdict that is no pass, each in its newest round only; none that was spared."""
    bad: dict[TestKey, Test | None] = {}
    for closed, verdicts in judged:
        stages = {closed.round.number: closed.round.stage}
        low = {verdict.test for verdict in verdicts if verdict.level is not Level.PASS}
        bundles = {result.test.bundle for result in closed.results if result.test.id in low and result.test.bundle}
        for result in closed.results:
            test = result.test
            wrong = result.failure is not None or test.id in low or test.bundle in bundles
            bad[test_key(test, stages)] = test if wrong and not was_spared(result) else None
    return [test for test in bad.values() if test is not None]
