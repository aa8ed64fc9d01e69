"""Why something of a session is not judged, as rows and sections: tests without a number, numbers without a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.tui.actions import name_keys
from benchconsole.console.view.run_view import NotJudged, RunView, State, Undecided, state_of_failure, superseding
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.topology.units import counted as count

UnjudgedReason = NotJudged | Undecided
"""Both fold everything that has one and the same reason."""

_AGAIN = "{again}"
_WORDS = {
    True: {"again": "r plans just these tests again", "plan": "R shows"},
    False: {"again": "run just these tests again", "plan": "the plan of a run shows"},
}
"""The words in the sentences below, with keys that run tests and without."""

_DO = {
    FailedAt.MISSING_TOOL: f"install the tool where it is missing, then {_AGAIN}",
    FailedAt.HELD: "{plan} what is held back and which option releases it",
    FailedAt.NO_PASSWORD: f"give the password when the run asks for it, then {_AGAIN}",
    FailedAt.IN_USE: f"wait until the nodes are free, then {_AGAIN}",
    FailedAt.REFUSED: f"the reason says what the node refuses; change that or the suite, then {_AGAIN}",
    FailedAt.CANCELLED: f"the run was ended before; {_AGAIN}",
    FailedAt.SKIPPED: "nothing, if the reason is meant; else change the suite and plan a run anew",
}
_DO_UNREACHABLE = f"benchconsole doctor says what stands in the way of each node; then {_AGAIN}"
_DO_FAILED = f"Enter shows what the tool said; take the cause away, then {_AGAIN}"
_DO_UNDECIDED = f"Enter shows what was measured; the reason says what has to differ, then {_AGAIN}"


@dataclass(frozen=True, slots=True)
class ReasonText:
    """One reason in words: its sign, what it is called, whom it is about, why, and what can be done."""

    state: State
    kind: str
    names: Sequence[str]
    why: str
    counted: str
    do: str

    @property
    def means(self) -> str:
        return f"not counted as passed: {self.counted}"

    def list_sections(self, *, may_run: bool) -> tuple[tuple[str, Sequence[str]], ...]:
        """Everything that is said of it, by name; keys that run tests are named with ``may_run`` alone."""
        about, do = fold_names(self.names), self.advise(may_run=may_run)
        return (("because", [self.why]), ("about", [about]), ("means", [self.means]), ("do", [do]))

    def advise(self, *, may_run: bool) -> str:
        """A sentence on the next step; ``may_run``: by the keys of the console."""
        return name_keys(self.do.format(**_WORDS[may_run]), "repeat", "plan")


def describe_reason(reason: UnjudgedReason) -> ReasonText:
    """The words for one reason."""
    if isinstance(reason, Undecided):
        words = (State.UNKNOWN, "unknown", reason.subjects, reason.because, count(reason.results, "result"))
        return ReasonText(*words, _DO_UNDECIDED)
    stage = reason.stage
    do = _DO_UNREACHABLE if stage.means_unreachable else _DO.get(stage, _DO_FAILED)
    state, why = state_of_failure(stage), reason.detail or stage.value
    return ReasonText(state, "untested", reason.nodes, why, count(reason.tests, "test"), do)


def list_tests(view: RunView, reason: UnjudgedReason) -> tuple[str, ...]:
    """The ids of the tests that a reason is about, as they count now."""
    if isinstance(reason, Undecided):
        return tuple(
            test
            for test in superseding(view)
            if any(v.level is Level.UNKNOWN and v.because == reason.because for v in view.verdicts.get(test, ()))
        )
    key = (reason.stage, reason.detail)
    return tuple(
        test
        for test, result in superseding(view).items()
        if result.failure is not None and (result.failure.stage, result.failure.detail) == key
    )
