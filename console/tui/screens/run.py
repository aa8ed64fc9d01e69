"""The run: stages with time and time left, the tests of the round slowest first, what is held back, what happened."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from textual import on

from benchconsole.console.curves.sweep_series import is_swept
from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES
from benchconsole.console.tui.messages import Copy, OpenNode, OpenSweeps, PlanRun, ReadInFull
from benchconsole.console.tui.queries.held_back import is_held, list_held_back
from benchconsole.console.tui.rows.clock import hour, lasting
from benchconsole.console.tui.rows.text_rows import CellText, Row, sign
from benchconsole.console.tui.rows.themes import BOLD, MUTED, RUNNING
from benchconsole.console.tui.screens import run_progress
from benchconsole.console.tui.screens.base.page import OpenPage, Page, count_frame_rows
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.events import EventLog
from benchconsole.console.tui.widgets.footer import Shown
from benchconsole.console.tui.widgets.headline import Headline
from benchconsole.console.tui.widgets.held_back import HeldBackList
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.loads import LoadsView
from benchconsole.console.tui.widgets.proofs import Proofs
from benchconsole.console.tui.widgets.round_tests import RoundRows, RoundTests, round_of
from benchconsole.console.tui.widgets.run_safety import RunSafety
from benchconsole.console.tui.widgets.stages import Stages
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.tui.widgets.unjudged import Unjudged
from benchconsole.console.view.run_view import RunView, State, state_of
from benchconsole.console.view.same_objects import are_same
from benchconsole.console.view.time_left import Overrun, advance_stages, compute_worked, eta, find_overrun
from benchconsole.console.view.totals import SessionTotals, TotalsCache
from benchconsole.console.view.wording import format_share
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.units import Unit, counted


@dataclass(frozen=True, slots=True)
class RunDigest:
    """Sums over all tests, and words for each stage."""

    sums: SessionTotals
    because: Mapping[str, str]
    results: Mapping[str, str]


class RunScreen(Page):
    """``R`` plans, ``S`` asks how to stop, ``tab`` goes to what is held back."""

    TAB = "Run"
    VALID = (*MOVES, "pane", "pane_back", "repeat", "copy", "sweeps", "filter")
    KEYS = ("plan", ("repeat", "repeat failed"), ("enter", "raw"), "freeze", "export", "command", "help")
    KEYS_RUNNING = ("stop", "freeze", ("enter", "open"), "findings", "command", "help")

    def __init__(self, now: Callable[[], float] = time.time, sums: TotalsCache | None = None) -> None:
        super().__init__(sums)
        self.now = now
        self.headline = Headline()
        self.safety = RunSafety()
        self.stages = Stages()
        self.loads = LoadsView()
        self.tests = RoundTests()
        self.held = HeldBackList()
        self.unjudged = Unjudged()
        self.proofs = Proofs()
        self.events = EventLog()
        self.frozen = False
        self.paused = False
        self._digested: tuple[tuple[object, ...], RunDigest] | None = None
        self._rows = RoundRows()
        self._told: tuple[object, ...] = ()
        self.parts = (
            self.headline, self.safety, self.stages, self.loads, self.tests, self.held, self.unjudged, self.proofs,
            self.events,
        )  # fmt: skip

    def on_mount(self) -> None:
        """Times go on once a second, also when nothing happens."""
        super().on_mount()
        self.set_interval(1.0, self._second)

    def _second(self) -> None:
        view = self.run_view
        if view is not None and view.is_going and self.is_current and not self.frozen:
            self._say_time(view)

    def show(self, view: RunView, badges: Badges) -> None:
        """As every page; a pause between two rounds comes without another view."""
        changed = badges.paused is not self.paused
        self.paused, self.frozen = badges.paused, badges.frozen is not None
        super().show(view, badges)
        if changed and self.is_mounted and self.run_view is view:
            self._say_time(view)

    def paint(self, view: RunView) -> None:
        self._say_time(view)
        self.safety.show(view)
        self.loads.show(view)
        self._show_tests(view)
        sums = self._digest(view).sums
        self.held.show(list_held_back(view, sums.reasons, may_run="plan" not in self.refused))
        if self.held.has_focus and not self.held.items:
            self.tests.focus()
        self.keys.show(self._offered(view))
        self.unjudged.show([each for each in sums.reasons if not is_held(each)], sums.undecided)
        self.proofs.show(() if view.current is not None else view.proofs)
        self.events.show(view.log)
        self._share_height()

    def _offered(self, view: RunView) -> tuple[Shown, ...]:
        """The keys; that of the sweeps only where there are any."""
        found: tuple[Shown, ...] = self.KEYS_RUNNING if view.is_going else self.KEYS
        held: tuple[Shown, ...] = (("pane", "held back"),) if self.held.items else ()
        sweeps: tuple[Shown, ...] = ("sweeps",) if is_swept(view) else ()
        return (*found[:2], *sweeps, *held, *found[2:])

    def _say_time(self, view: RunView) -> None:
        """Everything that changes by the second."""
        now = self.now() if view.live else view.ended or self.now()
        is_paused = self.paused and view.current is None
        tallies = _tallies(view, now, is_paused=is_paused)
        self.crumb.show((sanitize(view.fabric.name), sanitize(view.label or "run")), *tallies)
        state, lead, what, aside = run_progress.describe_run(
            view, self.sums, now, is_paused=is_paused, refused=self.refused
        )
        digest = self._digest(view)
        so_far = run_progress.count_so_far(view, digest.sums.covered)
        self.headline.show(state, lead, what, why=so_far, aside=aside)
        self.stages.show(advance_stages(view, digest.sums.stages, now), digest.because, digest.results)

    def _digest(self, view: RunView) -> RunDigest:
        """The values that change only when a round is judged or planned; worked out once for each."""
        known, basis = self._digested, (view.results, view.current, view.plan)
        if known is None or not are_same(basis, known[0]):
            because = {each.stage: sanitize(each.because) for each in reversed(view.plan)}
            sums = self.sums.compute(view)
            digest = RunDigest(sums, because, results_of(sums, view.stopped, view.plan))
            known = self._digested = (basis, digest)
        return known[1]

    def _show_tests(self, view: RunView) -> None:
        """The round that runs or ran last; only when something of it is new."""
        told = (view.current, view.fresh, view.running, view.results, view.intervals, view.loads)
        current = round_of(view)
        if are_same(told, self._told):
            return
        self._told = told
        if current is None:  # also where a replay goes back to its beginning
            self.tests.show("", (), network=False)
            return
        network = any(test.target.peer is not None for test in current.tests)
        rows, noun = self._rows.list(view, current), "flow" if current.bundles else "test"
        named = f"{len(rows):,} of {counted(len(current.tests), noun)}" if len(rows) < len(current.tests) else noun
        self.tests.show(f"{named}, slowest first", rows, network)

    def _share_height(self) -> None:
        """Stages first, then the tests, what is not judged, events; loads when there is plenty of room."""
        room = self.size.height - count_frame_rows(self)
        events = 1 if self.size.height < 24 else 3 if self.size.height < 32 else 5
        unjudged = min(self.unjudged.wanted, 1 if self.size.height < 32 else 3)
        proofs = min(self.proofs.wanted, 1 if self.size.height < 32 else 4)
        held = min(self.held.wanted, 1 if self.size.height < 32 else 3)
        safety = 0 if self.size.height < 15 else self.safety.wanted
        self.held.styles.height, self.safety.styles.height = held, safety
        under = 1 if safety and self.size.height >= 32 else 0
        self.safety.styles.margin = (0, 0, under, 0)
        room -= held + safety + under
        stage_rows = min(self.stages.wanted, max(room - events - unjudged - proofs - 4, 2))
        left = room - events - unjudged - proofs - stage_rows
        load = min(self.loads.wanted, 9, max(left - 8, 0)) if left > 10 else 0
        gap = 1 if left - load >= 8 else 0
        # A round of few tests, with one row of headings, leaves its room to the events.
        gaps = (2 + sum(map(bool, (load, unjudged, proofs)))) * gap
        events += max(left - load - gaps - self.tests.count - 1, 0)
        for widget, height in ((self.stages, stage_rows), (self.loads, load), (self.unjudged, unjudged)):
            widget.styles.height = height
            widget.styles.margin = (0, 0, gap if height else 0, 0)
        self.proofs.styles.height, self.proofs.styles.margin = proofs, (0, 0, gap if proofs else 0, 0)
        self.tests.styles.margin = (0, 0, gap, 0)
        self.events.styles.height = events

    @on(Listing.Chosen)
    def _chosen(self, event: Listing.Chosen) -> None:
        held = self.held.chosen if event.listing is self.held else None
        if held is not None:
            self.post_message(ReadInFull("held back", held.list_sections()))
            return
        chosen, view = self.tests.chosen, self.run_view
        if chosen is None or view is None:
            return
        if chosen.test.id in view.results:
            self.post_message(OpenPage(RawScreen(chosen.test.id, tab=self.tab)))
        else:
            self.post_message(OpenNode(chosen.test.target.node.id))

    def action_pane(self, _step: int) -> None:
        """From the tests to what is held back, and back."""
        if not self.held.items:
            self.say("Nothing is held back.")
        else:
            (self.tests if self.held.has_focus else self.held).focus()

    def action_repeat(self) -> None:
        self.post_message(PlanRun(failed_only=True))

    def action_filter(self) -> None:
        """List all results, and take what they are filtered by."""
        from benchconsole.console.tui.screens.area import begin_filter  # not to look at a run

        begin_filter(self, "results")

    def action_sweeps(self) -> None:
        """The curves of what was swept, where anything is."""
        if self.run_view is not None and is_swept(self.run_view):
            self.post_message(OpenSweeps())
        else:
            self.say("Nothing of this session was swept: a suite may vary clients, tasks, streams or sizes.")

    def action_copy(self) -> None:
        chosen = self.tests.chosen
        if chosen is not None:
            self.post_message(Copy(f"{chosen.test.target.key}\t{chosen.value}\t{chosen.expected}\n", "the test"))


def _tallies(view: RunView, now: float, *, is_paused: bool) -> tuple[Row, ...]:
    """Running or not, elapsed of about how much, and when it ends; a run that waits or is paused has no known end."""
    if view.reading is not None:
        return ((CellText("reading", MUTED),),)
    if view.ended is not None or not view.live:
        words = "not started" if view.ended is None else "complete" if view.complete else "stopped"
        took = "" if view.ended is None else f"   {_format_work(view, view.ended)}"
        return ((CellText(words + took, MUTED),), (CellText(words, MUTED),))
    if view.current is None and (view.held or is_paused):
        return ((sign(State.HELD), CellText(" waits" if view.held else " paused", MUTED)),)
    elapsed = compute_worked(view, now)
    head: Row = (sign(State.RUNNING), CellText(" running", RUNNING._replace(bold=True)))
    left, overrun = eta(view, now), find_overrun(view, now)
    if overrun is not None:
        return _tally_overrun(head, elapsed, left, overrun)
    if left is None:
        return ((*head, CellText(f"  {lasting(elapsed)}", BOLD)),)
    middle, spread = (left[0] + left[1]) / 2, (left[1] - left[0]) / 2
    ends = hour(now + middle)
    more = f", ± {lasting(spread)}" if spread >= 30 else ""
    about = (*head, CellText(f"  {lasting(elapsed)}", BOLD), CellText(f" of about {lasting(elapsed + middle)}", MUTED))
    return (
        (*about, CellText(f"   ends {ends}{more}", MUTED)),
        (*head, CellText(f"  {lasting(middle)}", BOLD), CellText(f" left, ends {ends}", MUTED)),
        (*head, CellText(f"  {lasting(middle)} left", BOLD)),
    )


def _format_work(view: RunView, ended: float) -> str:
    """``0:18 of work in 0:22``: the rounds of the run that went last, and that run from begin to end.

    ``0:18 of work`` where it is not known when that run began: the rounds of all runs of the session.
    """
    work, whole = lasting(compute_worked(view, ended)), lasting(max(ended - view.begun, 0.0))
    if not view.is_one_run:
        return f"{work} of work"
    return work if work == whole else f"{work} of work in {whole}"


def _tally_overrun(head: Row, elapsed: float, left: tuple[float, float] | None, overrun: Overrun) -> tuple[Row, ...]:
    """The time that is left after a round that takes longer than foreseen, and how long that round may still take."""
    time = (*head, CellText(f"  {lasting(elapsed)}", BOLD))
    after = f" {lasting(sum(left) / 2)} left," if left is not None and sum(left) >= 1 else ""
    named = f": {sanitize(overrun.waits_for)}" if overrun.waits_for else ""
    words = f"{after} {overrun.words}"
    return (
        (*time, CellText(f"  {words} for this round{named}", MUTED)),
        (*time, CellText(f" {words}{named}", MUTED)),
        (*head, CellText(f" {words}", BOLD)),
    )


def results_of(sums: SessionTotals, stopped: Mapping[int, str], plan: Sequence[Round]) -> Mapping[str, str]:
    """The worst of each stage in a few words; before it, that a rule stopped a round of it."""
    made = {stage: _stage_words(low) for stage, low in sums.low.items()}
    for each in plan:
        if each.number in stopped:
            words = f"round {each.number} stopped: {sanitize(stopped[each.number])}"
            made[each.stage] = f"{words}; {made[each.stage]}" if made[each.stage] else words
    return made


def _stage_words(found: Sequence[Verdict]) -> str:
    if not found:
        return ""
    worst = min(found, key=lambda each: (state_of(each).rank, each.share or 0.0))
    subject = sanitize(worst.subject).replace(">", " → ")
    subject = subject.split(" → ")[0] if measure_width(subject) > 20 else subject
    if len({each.metric for each in found}) > 1:  # else the stage says which number it is
        subject = f"{subject} {sanitize(worst.metric)}"
    low = (
        f"{subject} at {format_share(worst.share)}"
        if worst.share is not None and worst.unit is not Unit.SECOND
        else subject
    )
    others = len({each.subject for each in found}) - 1
    return f"{low}, {others} more" if others else low
