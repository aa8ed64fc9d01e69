"""How far a run has come, in words: its headline, and the counts under it."""

from collections.abc import Set

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import PLAN_HINT, offer
from benchconsole.console.tui.rows.clock import lasting
from benchconsole.console.tui.widgets.headline import clauses
from benchconsole.console.view.events import is_time_stop
from benchconsole.console.view.run_view import Coverage, RunView, State, superseding
from benchconsole.console.view.session_verdict import SessionVerdict
from benchconsole.console.view.time_left import find_overrun
from benchconsole.console.view.totals import TotalsCache
from benchconsole.console.view.wording import tell_reading
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import FailedAt, Round
from benchconsole.topology.units import counted as count

Headline = tuple[State | None, str, str, str]
"""The sign, the bold lead, the rest of the sentence, and what stands at the right."""


def describe_run(
    view: RunView, sums: TotalsCache, now: float, *, is_paused: bool = False, refused: Set[str] = frozenset()
) -> Headline:
    """The run at the moment ``now`` (UTC seconds): what it does, or how it ended. ``is_paused``: no round begins.

    It names no key of the ``refused`` actions.
    """
    current = view.current
    if view.reading is not None:
        stands, how_far = tell_reading(view.reading)
        return None, f"The session is {stands}", how_far, ""
    if view.held:
        lead = "The run waits." if current is None else f"The run waits, round {current.number} is not over."
        return State.HELD, lead, f" {sanitize(view.held)}", ""
    if current is not None:
        return _describe_round(view, current, now)
    if view.ended is not None:
        return _describe_end(view, sums.decide(view), refused)
    if view.live and view.plan:
        return _describe_between(view, refused, is_paused=is_paused)
    planned = f"{count(len(view.plan), 'round')} planned." if view.plan else "Nothing has run on this fabric yet."
    return None, planned, offer("plan", f"  {PLAN_HINT}", refused), ""


def _describe_round(view: RunView, current: Round, now: float) -> Headline:
    place = next((i for i, each in enumerate(view.plan) if each.number == current.number), 0) + 1
    overrun = find_overrun(view, now)
    more = f", {overrun.words}" if overrun is not None else ""
    seconds = f"{max(now - view.current_started, 0):.0f} s of {lasting(current.seconds)}{more}"
    lead = f"Round {place:,} of {len(view.plan):,}, {sanitize(current.stage)}:"
    return State.RUNNING, lead, f" {sanitize(current.because)}", seconds


def _describe_between(view: RunView, refused: Set[str], *, is_paused: bool) -> Headline:
    """No round runs at the moment, and the session goes on or is paused."""
    over, planned = len(view.closed), len(view.plan)
    if over < planned and is_paused:
        go_on = offer("stop", "  S takes up the next one.", refused)
        return State.HELD, f"Paused after {over:,} of {count(planned, 'round')}.", go_on, ""
    if over < planned:
        return State.RUNNING, f"{over:,} of {count(planned, 'round')} over,", " the next one has not begun.", ""
    words = " the findings are gone through and the nodes searched for what is left."
    return State.RUNNING, f"All {count(planned, 'round')} over," if planned > 1 else "The round is over,", words, ""


def _describe_end(view: RunView, verdict: SessionVerdict, refused: Set[str]) -> Headline:
    worst = _name_worst(view)
    if view.complete:
        return verdict.state, "The run is complete.", f" {worst or verdict.sentence}", ""
    is_late = is_time_stop(view.because)
    # "Stopped" says that it was cancelled.
    why = f" {sanitize(view.because)}." if view.because not in ("", FailedAt.CANCELLED) and not is_late else ""
    again = "" if view.sampled else offer("plan", "  R plans what is left.", refused)
    lead = sanitize(view.because).capitalize() if is_late else _describe_stop(view)
    return verdict.state, f"{lead}.", f"{why}{f' {worst}.' if worst else ''}{again}", ""


def _describe_stop(view: RunView) -> str:
    """The rounds or tests that a run left out because it ended early."""
    left = sum(each.number not in view.closed for each in view.plan)
    if left:
        return f"Stopped with {left:,} of {count(len(view.plan), 'round')} not run"
    failures = (result.failure for result in superseding(view).values())
    cut = sum(failure is not None and failure.stage is FailedAt.CANCELLED for failure in failures)
    if cut:
        return f"Stopped with {count(cut, 'test')} not run"
    return "Stopped after the last round, before the nodes were searched for what is left"


def _name_worst(view: RunView) -> str:
    if not view.findings:
        return ""
    first = view.findings[0]
    return f"Worst: {clauses(sanitize(first.where), sanitize(first.what))[0]}"


def count_so_far(view: RunView, covered: Coverage) -> str:
    """Findings and tests in numbers; only what there is any of."""
    if not view.plan:
        return ""
    fails = sum(each.level is Level.FAIL for each in view.findings)
    watches = sum(each.level is Level.WATCH for each in view.findings)
    signs = [f"{sign} {number}" for sign, number in (("✗", fails), ("▲", watches)) if number]
    parts = [f"findings {'  '.join(signs)}"] if signs else []
    # A repeat that has ended stands for a test that is counted already.
    fresh = sum(result.failure is None and test not in view.repeats for test, result in view.fresh.items())
    parts.append(f"{covered.tested + fresh:,} of {count(covered.planned, 'test')} gave a result")
    if covered.unreachable:
        parts.append(f"∅ {covered.unreachable:,} not reached")
    if covered.failed + covered.skipped:
        parts.append(f"? {covered.failed + covered.skipped:,} gave none")
    return "   ".join(parts)
