"""The rounds that a session would run next: those of a suite, repeats of tests, or what an earlier run still owes.

Pure. Every part of a suite that is left out is named in a sentence, with the reason as data.
"""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from benchconsole.console.session.metadata import CHANGE_NODES, SessionChoice
from benchconsole.console.session.proposed_rounds import ProposedRounds
from benchconsole.probes.api import Safety
from benchconsole.probes.blank_devices import confirm_disks, list_confirmations
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound, Level
from benchconsole.probes.model.measuring import FailedAt, Round, Test
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.probes.model.repeats import TestKey, make_test_key
from benchconsole.probes.planning.caps import withhold
from benchconsole.probes.planning.plan_rounds import plan_parts, rerun, split_into_waves
from benchconsole.probes.planning.single_test import read_single_test
from benchconsole.probes.planning.stage_choice import choose_stages
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.planning.sweeps import was_skipped
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage, Suite
from benchconsole.topology.model.sweep import Step
from benchconsole.topology.selection import fold

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe


def plan_suite(
    fabric: Fabric, choice: SessionChoice, probes: "Mapping[str, Probe]", suite: str | None, *, first: int
) -> ProposedRounds:
    """A suite (None: the chosen one) on the chosen nodes, in waves where others may be harmed; one test where that is
    chosen.

    Disks that nobody has confirmed are left out, and so is what no cap could hold, and what needs more tests at once
    than there may be. There are no rounds where nothing but such disks was asked for; PlanError for what cannot be
    planned otherwise.
    """
    wanted = choose_suite(fabric, choice, probes, suite)
    wanted, spared = _leave_out_used(wanted, fabric, choice, probes)
    wanted = confirm_disks(wanted, choice.typed)
    wanted, unchanged = _leave_out_steps(wanted, choice)
    if unchanged and not wanted.stages:
        raise PlanError(f"suite {wanted.name!r} has nothing to run: {'; '.join(map(str, unchanged))}")
    asked = list_confirmations(fabric, wanted, probes, nodes=choice.nodes)
    wanted, left = _leave_out_disks(fabric, wanted, probes, choice.nodes) if asked else (wanted, ())
    wanted, withheld = withhold(fabric, wanted, probes, nodes=choice.nodes)
    left += (*unchanged, *(each.omission for each in withheld))
    if asked and not any(choice.nodes is None or node in choice.nodes for each in wanted.stages for node in each.nodes):
        return ProposedRounds((), left, asked, spared, is_suite=True)
    rounds, wide = plan_parts(
        fabric, wanted, probes, nodes=choice.nodes, first=first, most=choice.tests_at_once, cohorts=choice.cohorts
    )
    rounds = read_single_test(fabric, probes, choice.test).keep(rounds) if choice.test else rounds
    in_waves = choice.policy.needed(fabric)
    rounds = split_into_waves(rounds) if in_waves else rounds
    return ProposedRounds(rounds, (*left, *wide), asked, spared, is_suite=True, in_waves=in_waves)


def choose_suite(
    fabric: Fabric, choice: SessionChoice, probes: "Mapping[str, Probe]", suite: str | None = None
) -> Suite:
    """The stages that are asked for: those of a suite (None: the chosen one) that are taken, or one test by itself."""
    if choice.test:
        return read_single_test(fabric, probes, choice.test).suite
    return choose_stages(find_suite(fabric, suite or choice.suite or None), probes, choice.only, choice.without)


def _leave_out_steps(suite: Suite, choice: SessionChoice) -> tuple[Suite, tuple[Omission, ...]]:
    """``suite`` without the stages that change nodes, unless that is allowed, and what is said of each."""
    changing = [stage for stage in suite.stages if stage.sweep is not None and stage.sweep.steps]
    if not changing or choice.options.get(CHANGE_NODES):
        return suite, ()
    kept = tuple(stage for stage in suite.stages if stage not in changing)
    commands = [(stage, "; ".join(shlex.join(step.run) for step in _list_steps(stage))) for stage in changing]
    return replace(suite, stages=kept), tuple(
        Omission(
            f"{stage.probe} over {', '.join(step.axis for step in _list_steps(stage))} is not run: it changes nodes "
            f"({words}); benchconsole run --change-nodes allows it",
            OmissionReason.CHANGES_NODES,
        )
        for stage, words in commands
    )


def _list_steps(stage: Stage) -> tuple[Step, ...]:
    return () if stage.sweep is None else stage.sweep.steps


def _leave_out_disks(
    fabric: Fabric, suite: Suite, probes: "Mapping[str, Probe]", nodes: Collection[NodeId] | None
) -> tuple[Suite, tuple[Omission, ...]]:
    """``suite`` without the disks that somebody must still confirm, and what is said of each stage on one of them."""
    left: list[Omission] = []
    stages: list[Stage] = []
    for stage in suite.stages:
        alone = replace(suite, stages=(stage,))
        own = {each.node: each for each in list_confirmations(fabric, alone, probes, nodes=nodes)}
        stages.append(replace(stage, nodes=tuple(node for node in stage.nodes if node not in own)))
        words = (f"{stage.probe} is not run: {each.lost} would be lost; nobody confirmed it" for each in own.values())
        left += (Omission(each, OmissionReason.NOT_CONFIRMED) for each in words)
    return replace(suite, stages=tuple(stages)), tuple(left)


def plan_repeats(judged: Iterable[ClosedRound], *, only: Collection[str], first: int, in_waves: bool) -> ProposedRounds:
    """The tests with the ids ``only``, or without any those that failed, to be run once more; no rule ends them.

    ``in_waves`` as in ``plan_suite``: where others may be harmed, a repeat harms them as well.
    """
    judged = tuple(judged)
    closed = [each.round for each in judged]
    wanted = [test for each in closed for test in each.tests if test.id in only] if only else list_failed_tests(judged)
    found = rerun(wanted, closed, first=first)
    rounds = tuple(
        each if each.swept is None else replace(each, swept=replace(each.swept, ending=None)) for each in found
    )
    return ProposedRounds(split_into_waves(rounds) if in_waves else rounds, in_waves=in_waves)


def list_remaining_rounds(plan: Sequence[Round], judged: Mapping[int, ClosedRound]) -> tuple[Round, ...]:
    """Rounds of ``plan`` that are not closed, and in waves what a stopped round left out."""
    left = tuple(each for each in plan if each.number not in judged)
    first = max((each.number for each in plan), default=0) + 1
    closed = [each.round for each in judged.values()]
    return (*left, *split_into_waves(rerun(list_cut_tests(judged.values()), closed, first=first)))


def _leave_out_used(
    suite: Suite, fabric: Fabric, choice: SessionChoice, probes: "Mapping[str, Probe]"
) -> tuple[Suite, tuple[Omission, ...]]:
    """The suite without nodes in use in the stages that load, where the session is to leave them out, and why."""
    spared = choice.policy.spared(fabric)
    if not spared:
        return suite, ()
    reading = {name for name, probe in probes.items() if probe.safety is Safety.READS}
    loading = [stage for stage in suite.stages if stage.probe not in reading]
    meant = {node for stage in loading for node in stage.nodes if choice.nodes is None or node in choice.nodes}
    stages = tuple(
        replace(stage, nodes=tuple(node for node in stage.nodes if node not in spared)) if stage in loading else stage
        for stage in suite.stages
    )
    alike = group_by_key((why, node) for node, why in spared.items() if node in meant)
    return replace(suite, stages=stages), tuple(
        replace(why, words=f"{fold(nodes)}: {why.words}; not loaded") for why, nodes in alike.items()
    )


def list_cut_tests(judged: Iterable[ClosedRound]) -> list[Test]:
    """Tests that a stop left out, and that no later round has taken up."""
    newest: dict[TestKey, Test | None] = {}
    for closed in judged:
        for result in closed.results:
            cut = result.failure is not None and result.failure.stage is FailedAt.CANCELLED
            newest[make_test_key(result.test, closed.round.stage)] = result.test if cut else None
    return [test for test in newest.values() if test is not None]


def list_failed_tests(judged: Iterable[ClosedRound]) -> list[Test]:
    """Tests without a number or with a verdict that is no pass, each in its newest round only; none that was spared."""
    bad: dict[TestKey, Test | None] = {}
    for closed in judged:
        low = {verdict.test for verdict in closed.verdicts if verdict.level is not Level.PASS}
        bundles = {result.test.bundle for result in closed.results if result.test.id in low and result.test.bundle}
        for result in closed.results:
            test = result.test
            wrong = result.failure is not None or test.id in low or test.bundle in bundles
            bad[make_test_key(test, closed.round.stage)] = test if wrong and not was_skipped(result) else None
    return [test for test in bad.values() if test is not None]
