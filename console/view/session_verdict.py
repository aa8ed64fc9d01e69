"""The verdict on a session: the one that exit codes, headlines, lists and reports give. Pure.

A session passes where something was judged, every criterion of its file was held against every subject of its scope,
every planned test gave its number and every verdict is known. Each obstacle to that is named in its own sentence.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize, shorten_text
from benchconsole.console.view.events import LEFT_OUT
from benchconsole.console.view.run_view import INGESTED, Coverage, RunView, State, superseding
from benchconsole.console.view.session_judgements import list_session_judgements
from benchconsole.console.view.stored_verdict import Outcome, shorten_gap
from benchconsole.probes.judging.criterion_scope import CriterionScope, find_session_scope, list_scopes
from benchconsole.probes.model.checklist import CheckedList, StepState
from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Result, Test, TestOutcome
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.conditions import format_condition
from benchconsole.topology.model.fabric import Basis, Criterion
from benchconsole.topology.units import counted as count

if TYPE_CHECKING:
    from benchconsole.probes.judging.session_criteria import SessionJudgement

SAMPLES = "what the samples of a watch add up to is said by: benchconsole availability"
NAMED = 3
"""Gaps that the sentence names; ``missing`` has them all."""

_LOW = (Level.FAIL, Level.WATCH)

_REASON = 160
"""Characters of the reason why a number could not be judged, in a gap."""


STATES: Mapping[Outcome, State] = {
    Outcome.FAIL: State.FAIL,
    Outcome.INCOMPLETE: State.UNKNOWN,
    Outcome.NOT_JUDGED: State.MEASURED,
    Outcome.RUNNING: State.RUNNING,
    Outcome.WATCH: State.WATCH,
    Outcome.PASS: State.PASS,
}
"""How each verdict is drawn: its sign and its colour."""


class SessionVerdict(Struct, frozen=True):
    """The verdict in a word, in a sentence, and ``missing``: what was not tested or judged, one sentence each.

    ``strays`` counts steered streams that were slow by no cause that was found, ``fails`` and ``watches`` results that
    are low, ``covered`` the tests that were not planned again.
    All text is sanitized. ``missing`` may stand beside any outcome but pass and watch, and is never cut: the sentence
    names the first gaps, long ones in part.
    """

    outcome: Outcome
    sentence: str
    covered: Coverage
    missing: tuple[str, ...] = ()
    strays: int = 0
    fails: int = 0
    watches: int = 0

    @property
    def is_brief(self) -> bool:
        """Whether the sentence leaves out a gap or a part of one."""
        return len(self.missing) > NAMED or any(shorten_gap(gap) != gap for gap in self.missing)

    @property
    def state(self) -> State:
        """How it is drawn."""
        return STATES[self.outcome]

    def exit_code(self, *, allow_untested: bool = False) -> int:
        """0 passed, 1 something is below its threshold, 3 not everything was tested and judged."""
        if self.outcome is Outcome.FAIL:
            return 1
        if self.outcome in (Outcome.PASS, Outcome.WATCH):
            return 0
        # Slow streams were tested: they are no gap that may be allowed.
        return 0 if allow_untested and self.outcome is not Outcome.RUNNING and not self.strays else 3


class _Judged(Struct, frozen=True):
    """The results that count in a session: the newest one of each test, and the verdicts on those.

    ``strays`` are apart: steered streams that were slow, and no finding says why. ``has_passes``: also in columns.
    ``together`` is what was judged of all numbers together.
    """

    results: Mapping[str, Result]
    verdicts: Sequence[Verdict]
    strays: Sequence[Verdict]
    covered: Coverage
    has_passes: bool = False
    together: "Sequence[SessionJudgement]" = ()

    @property
    def has_verdicts(self) -> bool:
        return self.has_passes or bool(self.verdicts) or any(each.level is not Level.UNKNOWN for each in self.together)

    @property
    def unknown(self) -> list[Verdict]:
        """The results that could not be judged."""
        return [verdict for verdict in self.verdicts if verdict.level is Level.UNKNOWN]

    @property
    def kinds_unjudged(self) -> int:
        """How many gaps are of results that were measured and not judged."""
        return bool(self.unknown) + bool(self.strays)


def decide(view: RunView) -> SessionVerdict:
    """The verdict on a session as it stands."""
    results = superseding(view)
    outcomes = Counter(result.outcome.value for result in results.values())
    planned = sum(len(each.tests) for each in view.plan) - len(view.repeats)
    every = [verdict for test in results for verdict in view.verdicts.get(test, ())]
    named = {test for each in view.findings if each.level in _LOW for test in each.tests}
    strays = [verdict for verdict in every if _is_stray(verdict) and verdict.test not in named]
    apart = set(map(id, strays))
    verdicts = [verdict for verdict in every if id(verdict) not in apart] if apart else every
    together = list_session_judgements(view)
    judged = _Judged(results, verdicts, strays, Coverage(planned, **outcomes), bool(view.passed), together)
    if view.session and view.ended is None:
        low = sum(verdict.level is Level.FAIL for verdict in verdicts)
        below = f" {count(low, 'result')} below the threshold." if low else ""
        told = f"Running: {_format_tested(judged.covered)} so far.{below}"
        return SessionVerdict(Outcome.RUNNING, told, judged.covered)
    missing = tuple(_list_missing(view, judged))
    outcome = _find_outcome(view, judged, missing)
    parts = [
        _describe_outcome(view, judged, outcome, missing),
        _describe_together(judged.together),
        _name_gaps(missing),
        _format_checklists(view.checklists),
    ]
    levels = Counter(verdict.level for verdict in verdicts)
    return SessionVerdict(
        outcome,
        " ".join(filter(None, parts)),
        judged.covered,
        missing,
        len(strays),
        fails=levels[Level.FAIL],
        watches=levels[Level.WATCH],
    )


def _is_stray(verdict: Verdict) -> bool:
    """Whether it is of a slow stream on a path that is only assumed, by its source port: it may have taken another."""
    if verdict.kind is not Yardstick.CAPACITY or verdict.level not in _LOW:
        return False
    return verdict.source.endswith(f"({Model.STEERED.value})")


def _find_outcome(view: RunView, judged: _Judged, missing: Sequence[str]) -> Outcome:
    levels = {verdict.level for verdict in judged.verdicts} | {finding.level for finding in view.findings}
    levels |= {each.level for each in judged.together}
    steps = {step.state for each in view.checklists for step in each.steps}
    if Level.FAIL in levels or StepState.FAIL in steps:
        return Outcome.FAIL
    if not judged.has_verdicts and not steps & {StepState.PASS}:
        return Outcome.NOT_JUDGED
    if missing:
        return Outcome.INCOMPLETE
    return Outcome.WATCH if Level.WATCH in levels else Outcome.PASS


def _describe_outcome(view: RunView, judged: _Judged, outcome: Outcome, missing: Sequence[str]) -> str:
    tested = _format_tested(judged.covered)
    found, low = _count_level(view, judged, Level.FAIL)
    if outcome is Outcome.FAIL:
        return f"Below its threshold: {count(low, found)}; {tested}." if low else f"A check failed; {tested}."
    if outcome is Outcome.NOT_JUDGED:
        why = "nothing was held against a threshold" if judged.covered.tested else "nothing was measured"
        return f"Not judged, neither passed nor failed: {why}; {tested}."
    if outcome is Outcome.INCOMPLETE:
        good = "Nothing that was judged is below its threshold" if judged.has_verdicts else "No value was judged"
        done = "judged" if len(missing) == judged.kinds_unjudged else "tested and judged"
        return f"Not everything was {done}: {tested}. {good}."
    if outcome is Outcome.WATCH:
        found, watched = _count_level(view, judged, Level.WATCH)
        return f"Everything is above its threshold, {count(watched, found)} to watch: {tested}."
    return f"Everything was judged and passed: {tested}."


def _describe_together(judgements: "Sequence[SessionJudgement]") -> str:
    """The statistics that miss their bound, each by its number: they are no node's."""
    low = [each for each in judgements if each.level in _LOW and each.criterion.statistic]
    told = [f"{_name_criterion(each.criterion)}, {each.subject}: {sanitize(each.because)}" for each in low[:NAMED]]
    more = f"; and {len(low) - NAMED:,} more" if len(low) > NAMED else ""
    return f"Of all numbers together: {'; '.join(told)}{more}." if told else ""


def _count_level(view: RunView, judged: _Judged, level: Level) -> tuple[str, int]:
    """How many causes are at ``level``, or else how many results, with the noun for them."""
    findings = sum(finding.level is level for finding in view.findings)
    if findings:
        return "finding", findings
    return "result", sum(verdict.level is level for verdict in judged.verdicts)


def _format_tested(covered: Coverage) -> str:
    if not covered.planned:
        return "no test was planned"
    return f"{covered.tested:,} of {count(covered.planned, 'planned test')} gave a result"


def _name_gaps(missing: Sequence[str]) -> str:
    if not missing:
        return ""
    more = f"; and {count(len(missing) - NAMED, 'more gap')}" if len(missing) > NAMED else ""
    return f"Missing: {'; '.join(map(shorten_gap, missing[:NAMED]))}{more}."


def _format_checklists(checklists: Sequence[CheckedList]) -> str:
    if not checklists:
        return ""
    return f"Checked by hand or by script: {'; '.join(map(_format_checklist, checklists))}."


def _format_checklist(each: CheckedList) -> str:
    return f"{sanitize(each.name)}, {format_steps(each)}"


_WORST_FIRST = (StepState.FAIL, StepState.NOT_DONE, StepState.PASS, StepState.NOT_APPLICABLE)


def format_steps(checklist: CheckedList) -> str:
    """``14 steps: 1 fail, 10 not done, 3 pass``."""
    parts = [f"{number:,} {state}" for state in _WORST_FIRST if (number := checklist.count(state))]
    return f"{count(len(checklist.steps), 'step')}: {', '.join(parts)}"


# -- what is missing


def _list_missing(view: RunView, judged: _Judged) -> Iterator[str]:
    yield from _list_unmeasured(view, judged)
    yield from map(sanitize, _list_left_nodes(view))
    yield from map(sanitize, _list_criteria(view, judged))
    unknown = judged.unknown
    if unknown:
        such = ", such as" if len({(each.subject, each.because) for each in unknown}) > 1 else ":"
        # Not the first that ended: the sentence is the same whether it is told by a run or from the store.
        least = min(unknown, key=lambda each: (each.subject, each.metric, each.because))
        first = f"{sanitize(least.subject)}, {shorten_text(least.because, _REASON)}"
        yield f"{count(len(unknown), 'result')} could not be judged{such} {first}"
    if judged.strays:
        first = sanitize(min(each.subject for each in judged.strays))
        slow = count(len(judged.strays), "steered stream")
        yield f"{slow} slow by no cause that was found, such as {first}: their ports may mean other ways than described"
    yield from (sanitize(f"{LEFT_OUT}: {each.words}") for each in view.left_out)
    for each in view.checklists:
        if each.count(StepState.NOT_DONE):
            yield f"checklist {sanitize(each.name)}: {count(each.count(StepState.NOT_DONE), 'step')} not done"
        elif not each.count(StepState.PASS) and not each.count(StepState.FAIL):
            yield f"checklist {sanitize(each.name)}: no step passed"
    if view.sampled:
        yield SAMPLES
    if view.ended is not None and not view.complete:
        because = f": {sanitize(view.because)}" if view.because else ""
        yield f"the session did not come to its end{because}"


_WITHOUT_NUMBER: Mapping[TestOutcome, str] = {
    TestOutcome.UNREACHABLE: "could not reach the node",
    TestOutcome.FAILED: "ran and gave no result",
    TestOutcome.SKIPPED: "not started",
}


def _list_unmeasured(view: RunView, judged: _Judged) -> Iterator[str]:
    """Planned tests without a number, by what became of them, with their nodes."""
    failed = [(result, result.failure) for result in judged.results.values() if result.failure is not None]
    for outcome, words in _WITHOUT_NUMBER.items():
        alike = group_by_key((_explain_skip(each), why.node) for each, why in failed if why.stage.outcome is outcome)
        for reason, nodes in sorted(alike.items()):
            yield f"{count(len(nodes), 'test')} {words}{reason}: {_fold(nodes)}"
    left = judged.covered.planned - len(judged.results)
    if left > 0:
        owed = [
            node.id
            for each in view.plan
            for test in each.tests
            if test.id not in view.results and test.id not in view.replaced
            for node in test.target.nodes
        ]
        yield f"{count(left, 'test')} not run: {_fold(owed)}"


def _explain_skip(result: Result) -> str:
    """Why a test was not started, and by which probe; empty for one that was."""
    if result.failure is None or result.outcome is not TestOutcome.SKIPPED:
        return ""
    return f", {result.failure.stage.value} ({sanitize(result.test.probe)})"


def _list_left_nodes(view: RunView) -> Iterator[str]:
    """Nodes that the file asks for and no test is of, where nobody has planned: outputs that were brought in."""
    tests = [test for each in view.plan for test in each.tests]
    if not tests or not all(each.stage.endswith(INGESTED) for each in view.plan):
        return
    if all(test.target.members for test in tests):
        return  # A set stands for the storage or the machine that it loads, not for its members.
    criteria = view.fabric.criteria
    named = {node for criterion in criteria for node in criterion.nodes}
    asked = named if criteria and all(criterion.nodes for criterion in criteria) else set(view.fabric.nodes)
    left = asked - {node.id for test in tests for node in test.target.nodes}
    if left:
        yield f"no test of {_fold(sorted(left))} ({count(len(left), 'node')} of the file)"


def _list_criteria(view: RunView, judged: _Judged) -> Iterator[str]:
    """Criteria of the file that were held against nothing, or not against all that they are asked of."""
    # A repeat has taken the place of what it repeats, also where it gave fewer numbers.
    tests = [test for each in view.plan for test in each.tests if test.id not in view.replaced]
    verdicts = [*judged.verdicts, *judged.strays]
    alone = [each for each in view.fabric.criteria if not each.is_of_session]
    yield from _list_session_gaps(view, judged, tests)
    for scope in list_scopes(alone, tests, judged.results, verdicts, view.passed):
        name = _name_criterion(scope.criterion)
        if not scope.met:
            yield f"{name}: not tested, {_explain_untested(scope)}"
        elif scope.missed:
            yield f"{name}: not held against {_fold(scope.missed)}"


def _list_session_gaps(view: RunView, judged: _Judged, tests: Sequence[Test]) -> Iterator[str]:
    """Criteria of all numbers together that were not measured, not everywhere, or could not be judged."""
    for criterion in view.fabric.criteria:
        own = [each for each in judged.together if each.criterion is criterion]
        unknown = [each for each in own if each.level is Level.UNKNOWN]
        if criterion.is_of_session and not own:
            yield f"{_name_criterion(criterion)}: not tested, no value has these labels and nodes"
        if unknown:
            whom = _fold([each.subject for each in unknown])
            yield f"{_name_criterion(criterion)}: not held against {whom}, {unknown[0].because}"
        if own and (missed := find_session_scope(criterion, tests, judged.results).missed):
            yield f"{_name_criterion(criterion)}: not held against {_fold(missed)}, which gave no such value"


def _name_criterion(criterion: Criterion) -> str:
    where = " ".join(format_condition(name, value) for name, value in criterion.where)
    metric = " ".join(filter(None, (criterion.statistic, criterion.metric, where)))
    return f"criterion {criterion.source}, {metric}" if criterion.source else f"criterion {metric}"


def _explain_untested(scope: CriterionScope) -> str:
    criterion = scope.criterion
    if not scope.planned:
        return "no test that measures it was planned"
    if not scope.measured:
        return "no test gave such a value"
    if criterion.where:
        return "no value has these labels"
    if criterion.basis is Basis.CAPACITY:
        return "no value could be held against the capacity of links"
    if criterion.nodes:
        return "it speaks of no node that was measured; of a pair it means the one that sends"
    return "no verdict on it is stored: `benchconsole judge` makes them again"


def _fold(names: Sequence[str]) -> str:
    """Nodes as a set; pairs and bundles counted beyond the first."""
    known = list(dict.fromkeys(names))
    if any(">" in name or " " in name for name in known):
        more = f" and {len(known) - 1:,} more" if len(known) > 1 else ""
        return f"{sanitize(known[0])}{more}"
    return sanitize(fold_names(known))
