"""The findings: every cause once, the worst first, what is not judged, then the description; the chosen one in full."""

from collections.abc import Sequence
from functools import partial

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, PLAN_HINT, TypedCommand, name_keys, offer
from benchconsole.console.tui.messages import Copy, OpenNode, PlanRun, ReadInFull, Remarked, ShowInFabric
from benchconsole.console.tui.queries import raw_output, static_findings
from benchconsole.console.tui.queries.area import Row as AreaRow
from benchconsole.console.tui.queries.filtering import EVERYTHING, FilterError, compile_filter
from benchconsole.console.tui.queries.finding_remarks import FindingRemarks
from benchconsole.console.tui.queries.finding_rows import COLUMNS, keep_findings
from benchconsole.console.tui.queries.result_areas import list_evidence
from benchconsole.console.tui.queries.static_findings import AlikeFindings
from benchconsole.console.tui.queries.unjudged_reasons import UnjudgedReason, describe_reason, list_tests
from benchconsole.console.tui.queries.view_queries import find_place
from benchconsole.console.tui.rows import severity
from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import FAIL, KEY, MUTED, WATCH
from benchconsole.console.tui.screens.base.filtered_page import tell_refused, tell_slow
from benchconsole.console.tui.screens.base.page import OpenPage, Page, PlotWish
from benchconsole.console.tui.screens.base.saved_filter import complete_saved, find_saved
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.area_table import AreaTable, tell_row
from benchconsole.console.tui.widgets.finding_detail import (
    FindingDetail,
    list_sections,
    list_static_sections,
    list_verdict_sections,
)
from benchconsole.console.tui.widgets.finding_text import format_findings
from benchconsole.console.tui.widgets.findings_list import FindingsList
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.result_rows import ResultRow
from benchconsole.console.view.run_view import Coverage, DetectableFaults, NotJudged, RunView, Undecided
from benchconsole.console.view.same_objects import are_same
from benchconsole.console.view.totals import TotalsCache
from benchconsole.console.view.wording import tell_reading
from benchconsole.probes.model.judgement import Finding, Level
from benchconsole.probes.model.remark import About, RemarkSubject
from benchconsole.topology.analysis.static_finding import StaticFinding
from benchconsole.topology.model.fabric import NodeId

_MANY = 24
"""From this many static findings on, those that are alike start in one row."""

_HINT = "text, !text, n[1-4], ~expression, where~text, @saved, joined by &"
_HINT_OVER_TESTS = "findings, not the tests of one: text, !text, n[1-4], where~text, @saved, joined by &"

NO_TEST = "No test was run for this finding: it is computed from the description."

_BESIDE = 6
"""Rows of the description beside measured findings; the others scroll."""
_DETAIL = 24
"""Rows that a finding in full takes; with more than these left the description has them, too."""


class FindingsScreen(Page):
    """Enter opens the raw output that the finding rests on, or the element that a static finding is about.

    The line of the filter takes its row while somebody types there, and while there is a filter.
    """

    TAB = "Findings"
    filter_area = "findings"
    VALID = (
        *MOVES, "filter", "next_fault", "previous_fault", "in_full", "in_fabric", "fold", "repeat",
        "copy", "copy_all", "pane", "pane_back", "remark", "accept",
    )  # fmt: skip
    KEYS = (
        ("enter", "evidence"), "stop", ("pane", "tests"), "in_full", ("next_fault", "next"), "accept", "remark",
        "filter", ("in_fabric", "in fabric"), "repeat", "fold", "copy", "export", "command", "help",
    )  # fmt: skip
    TEST_KEYS = (
        ("enter", "raw"), "stop", ("pane", "back"), "in_full", ("next_fault", "next"), "accept", "remark", "copy",
        "export", "command", "help",
    )  # fmt: skip
    STATIC_KEYS = (
        ("enter", "open"), "stop", "in_full", ("next_fault", "next"), ("in_fabric", "in fabric"), "filter", "fold",
        "copy", ("plan", "plan a run"), "export", "command", "help",
    )  # fmt: skip
    DEFAULT_CSS = """
    FindingsScreen FindingsList { margin-top: 1; }
    FindingsScreen.-low FindingsList { margin-top: 0; }
    """

    def __init__(self, sums: TotalsCache | None = None) -> None:
        super().__init__(sums)
        self.list = FindingsList()
        self.detail = FindingDetail()
        self.folded: bool | None = None
        self.filter = EVERYTHING
        self.slow: FilterError | None = None
        self.prompt = LineInput("/")
        self.prompt.display = False
        self.tests = AreaTable(NO_TEST, is_alone=True)
        self.tests.display = False
        self.said = FindingRemarks()
        self.commands["filter"] = TypedCommand(self.filter_by, tuple)
        self.find_remarked = partial(_find_remarked, self.list)
        self._tested: tuple[object, ...] = ()
        self._shown: tuple[object, ...] = ()
        self.wish_plot = partial(_wish_plot, self)
        self.parts = (self.prompt, self.list, self.detail, self.tests)

    def paint(self, view: RunView) -> None:
        shown = (
            view.results, view.ended, view.static, view.detectable, self.folded, self.refused, self.filter,
            view.remarks,
        )  # fmt: skip
        if not are_same(shown, self._shown):
            self._shown = shown
            sums = self.sums.compute(view)
            covered = sums.covered
            self.said = FindingRemarks(view.findings, view.remarks)
            tallies = _tallies(view, covered, self.said)
            self.crumb.show((sanitize(view.fabric.name), "findings", sanitize(view.label)), *tallies)
            nothing = "Nothing was measured yet." + offer("plan", f"  {PLAN_HINT}", self.refused)
            state = None
            if view.reading is not None:
                nothing = f"The session is {''.join(tell_reading(view.reading))}"
            elif view.results or view.ended is not None:
                verdict = self.sums.decide(view)
                nothing, state = verdict.sentence, verdict.state
            static = _fold_static(view, self.folded)
            every: list[UnjudgedReason] = [*sums.reasons, *sums.undecided]
            faults: Sequence[Finding] = view.findings
            reasons: Sequence[UnjudgedReason] = every
            described: Sequence[AlikeFindings] = static
            try:
                faults, reasons, described = (
                    keep_findings(self.filter, faults, self.said), keep_findings(self.filter, reasons, self.said),
                    keep_findings(self.filter, described, self.said),
                )  # fmt: skip
            except FilterError as error:
                self.slow, self.filter = error, EVERYTHING
            title = _title(view.static, len(static))
            sight = None if self.filter.text else view.detectable
            self.list.show(faults, nothing, reasons, described, title, sight, state, self.said)
            self._annotate(len(view.findings) + len(every) + len(static))
        self._select()
        self._share_height()

    def _annotate(self, total: int) -> None:
        """Say in the line of the filter how many rows are shown of ``total``."""
        if self.slow is not None:
            tell_slow(self.prompt, self.slow)
        elif self.filter.text:
            shown = len(self.list.faults) + len(self.list.reasons) + len(self.list.static)
            words = CellText(f"{shown:,} of {total:,} shown   ", MUTED)
            self.prompt.show(note=(words, CellText("esc", KEY), CellText(" clears", MUTED)))
        else:
            self.prompt.show(note=(CellText(_HINT_OVER_TESTS if self.tests.display else _HINT, MUTED),))
        self.prompt.display = self.prompt.has_focus or bool(self.prompt.text)

    def filter_by(self, text: str) -> None:
        """Show the rows that ``text`` keeps; a word that is not understood is named, and changes nothing."""
        if text != self.prompt.text:
            self.prompt.fill(text)
        self.prompt.display = self.prompt.has_focus or bool(text)
        try:
            chosen = compile_filter(text, COLUMNS, find_saved(self, text)) if text.strip() else EVERYTHING
        except FilterError as error:
            tell_refused(self.prompt, error)
            return
        self.filter, self.slow = chosen, None
        self._shown = ()
        if self.run_view is not None:
            self.paint(self.run_view)

    def action_filter(self) -> None:
        self.prompt.display = True
        self.prompt.show(note=(CellText(_HINT_OVER_TESTS if self.tests.display else _HINT, MUTED),))
        self.set_focus(self.prompt)  # now: what is typed next is for it

    def action_back(self) -> None:
        """Out of the tests first, then clear the filter."""
        if self.tests.display:
            self.action_pane()
        elif self.prompt.text:
            self.filter_by("")
        else:
            super().action_back()

    @on(LineInput.Changed)
    @on(LineInput.Entered)
    @on(LineInput.Asked)
    @on(LineInput.Left)
    def _typed(self, event: LineInput.Changed | LineInput.Entered | LineInput.Asked | LineInput.Left) -> None:
        """A letter filters, enter goes to the list, up and down move in it, escape clears."""
        event.stop()
        if isinstance(event, LineInput.Asked):
            if event.key == "tab" and complete_saved(self, self.prompt):
                self.filter_by(self.prompt.text)
            self.list.move({"up": -1, "down": 1}.get(event.key, 0))
            return
        if not isinstance(event, LineInput.Changed):
            self.list.focus()
        self.filter_by("" if isinstance(event, LineInput.Left) else event.text)

    @on(Listing.Moved)
    def _moved(self, event: Listing.Moved) -> None:
        if event.listing is self.list:
            self._select()

    def _select(self) -> None:
        view, chosen = self.run_view, self.list.chosen
        if view is None:
            return
        if self.tests.display and isinstance(chosen, Finding):
            tested = (chosen, view.results, view.verdicts)
            if not are_same(tested, self._tested):
                self._tested = tested
                self.tests.show(list_evidence(view, chosen))
        elif self.tests.display:
            self.action_pane()
        place = ""
        if isinstance(chosen, AlikeFindings):
            place = f"{self.list.static.index(chosen) + 1} of {len(self.list.static)} from the description"
        elif isinstance(chosen, Finding):
            place = f"finding {self.list.faults.index(chosen) + 1} of {len(self.list.faults)}"
        elif isinstance(chosen, NotJudged | Undecided):
            place = f"{self.list.reasons.index(chosen) + 1} of {len(self.list.reasons)} not judged"
        is_measured = isinstance(chosen, Finding | NotJudged | Undecided)
        self.keys.show(self.TEST_KEYS if self.tests.display else self.KEYS if is_measured else self.STATIC_KEYS)
        self.detail.show(view, chosen, place, may_run="repeat" not in self.refused, said=self.said)

    def _share_height(self) -> None:
        """The list takes what it needs, but leaves the detail half."""
        low = self.size.height < 20
        room = self.size.height - (3 if low else 4)
        gap = 0 if low else 1
        room -= self.prompt.display
        wanted = self.list.count + 1
        measured = len(self.list.faults) + len(self.list.reasons)
        if measured:  # what was measured is shown in full before what the description shows
            beside = measured + (self.list.sight is not None) + _BESIDE + 1
            wanted = min(wanted, max(beside, room - gap - _DETAIL))
        listed = min(wanted, max((room - gap) // 2, 3))
        self.list.styles.height = max(min(listed, room), 1)
        self.list.styles.margin = (gap, 0, gap, 0)

    def choose(self, index: int) -> None:
        """Put the cursor on a measured finding; on the first of the description where there is none."""
        if self.prompt.text:
            self.filter_by("")
        self.list.go(index)
        self._select()

    def choose_static(self, where: str) -> None:
        """Put the cursor on the static finding about ``where``, out of its fold."""
        if self.prompt.text:
            self.filter_by("")
        if self.run_view is not None and not any(each.first.where == where for each in self.list.static):
            self.folded = False
            self.paint(self.run_view)
        index = next(
            (i for i, e in enumerate(self.list.items) if isinstance(e, AlikeFindings) and e.first.where == where), 0
        )
        self.choose(index)

    def action_pane(self, _step: int = 1) -> None:
        """From the words of a finding to the tests that it rests on, and back."""
        if not self.tests.display and not isinstance(self.list.chosen, Finding):
            self.say("Only a finding that was measured rests on tests.")
            return
        self.tests.display = not self.tests.display
        self.detail.display = not self.tests.display
        (self.tests if self.tests.display else self.list).focus()
        self._select()

    @on(Listing.Chosen)
    def _chosen(self, event: Listing.Chosen) -> None:
        chosen, view = self.list.chosen, self.run_view
        if event.listing is self.tests:
            raw = None if view is None or self.tests.chosen is None else _open_row(view, self.tests.chosen, self.tab)
            if raw is not None:
                self.post_message(raw)
            else:
                self.say("Nothing was run for this row.")
        elif isinstance(chosen, AlikeFindings):
            _lead_to(self, chosen)
        elif isinstance(chosen, DetectableFaults):
            self.action_in_full()
        elif isinstance(chosen, NotJudged | Undecided) and view is not None:
            opened = _open_unjudged(view, chosen, self.tab)
            if opened is not None:
                self.post_message(opened)
            else:
                self.say("None of these tests said anything.")
        elif isinstance(chosen, Finding) and view is not None:
            shown = _open_evidence(view, chosen, self.tab)
            if shown is not None:
                self.post_message(shown)
            else:
                self.say("This finding is computed from the description; nothing was run for it.")

    def action_in_full(self) -> None:
        """Everything that the row stands for; where it stands on the sight, the whole verdict with it."""
        view, chosen = self.run_view, self.list.chosen
        if view is None or (chosen is None and not view.results):
            self.say("There is nothing to read yet.")
        elif self.tests.has_focus and self.tests.chosen is not None:
            self.post_message(ReadInFull("test", tell_row(self.tests, self.tests.chosen)))
        elif isinstance(chosen, Finding):
            self.post_message(ReadInFull("finding", list_sections(view, chosen, self.said)))
        elif isinstance(chosen, AlikeFindings):
            self.post_message(ReadInFull("from the description", list_static_sections(chosen, view)))
        elif isinstance(chosen, NotJudged | Undecided):
            said = describe_reason(chosen).list_sections(may_run="repeat" not in self.refused)
            self.post_message(ReadInFull("not judged", said))
        else:
            verdict = self.sums.decide(view)
            self.post_message(ReadInFull("verdict", list_verdict_sections(verdict, chosen, self.said)))

    def action_walk(self, step: int) -> None:
        places = self.list.places
        if places:
            here = places.index(self.list.cursor) if self.list.cursor in places else 0
            self.list.go(places[(here + step) % len(places)])

    def action_fold(self) -> None:
        """Static findings of one kind in one row, or each in its own."""
        if self.run_view is not None and self.run_view.static:
            here = self.list.chosen
            self.folded = len(_fold_static(self.run_view, self.folded)) == len(self.run_view.static)
            self.paint(self.run_view)
            if isinstance(here, AlikeFindings):
                rows = ((i, each) for i, each in enumerate(self.list.items) if isinstance(each, AlikeFindings))
                self.choose(next((i for i, each in rows if here.first in each.findings), self.list.cursor))

    def action_in_fabric(self) -> None:
        chosen = self.list.chosen
        if isinstance(chosen, AlikeFindings):
            _show_in_fabric(self, _list_elements(self.run_view, chosen))
        elif isinstance(chosen, Finding) and self.run_view is not None:
            place = find_place(self.run_view, chosen)
            _show_in_fabric(self, (place,) if place else ())
        elif isinstance(chosen, NotJudged | Undecided) and self.run_view is not None:
            view = self.run_view
            _show_in_fabric(self, [name for name in describe_reason(chosen).names if name in view.nodes][:1])

    def action_repeat(self) -> None:
        chosen = self.list.chosen
        if isinstance(chosen, AlikeFindings | DetectableFaults):
            self.say("Nothing was run for it." + offer("plan", " R plans a run.", self.refused))
        elif isinstance(chosen, NotJudged | Undecided) and self.run_view is not None:
            self.post_message(PlanRun(only=list_tests(self.run_view, chosen)))
        elif isinstance(chosen, Finding):
            self.post_message(PlanRun(only=chosen.tests))

    def action_copy(self) -> None:
        if self.tests.has_focus and self.tests.chosen is not None:
            self.post_message(Copy(self.tests.as_text(only=[self.tests.chosen]), "the test"))
        elif self.list.chosen is not None and self.run_view is not None:
            self.post_message(Copy(format_findings(self.run_view.fabric, [self.list.chosen]), "the finding"))

    def action_copy_all(self) -> None:
        if self.run_view is not None:
            every = [each for each in self.list.items if not isinstance(each, tuple)]
            described = sum(len(each.findings) for each in self.list.static)
            number = len(self.list.faults) + len(self.list.reasons) + described
            self.post_message(Copy(format_findings(self.run_view.fabric, every), f"{number} findings"))


def _find_remarked(listed: FindingsList) -> Remarked | None:
    """The measured finding under the cursor."""
    chosen = listed.chosen
    if not isinstance(chosen, Finding):
        return None
    return Remarked(RemarkSubject(About.FINDING, chosen.element), f"the finding on {sanitize(chosen.where)}")


def _lead_to(page: FindingsScreen, alike: AlikeFindings) -> None:
    """To a node itself, to anything else on the map; a folded row opens first."""
    if len(alike.findings) > 1:
        page.action_fold()
        return
    found = _list_elements(page.run_view, alike)
    if len(found) == 1 and page.run_view is not None and found[0] in page.run_view.nodes:
        page.post_message(OpenNode(NodeId(found[0])))
    else:
        _show_in_fabric(page, found)


def _show_in_fabric(page: FindingsScreen, found: Sequence[str]) -> None:
    if found:
        page.post_message(ShowInFabric(found[0]))
    else:
        page.say("It is about no single element of the map.")


def _wish_plot(page: FindingsScreen) -> PlotWish:
    """The metric that the finding under the cursor rests on, with the value of its first test."""
    view, chosen = page.run_view, page.list.chosen
    if view is None or not isinstance(chosen, Finding):
        return PlotWish()
    found = raw_output.find_measurement(view, chosen.evidence, next(iter(chosen.tests), ""))
    if found is None:
        return PlotWish()
    result, reading = found
    stage = next((each.stage for each in view.plan if each.number == result.test.round), "")
    return PlotWish(reading.metric, stage, result.test.id)


def _fold_static(view: RunView, folded: bool | None) -> tuple[AlikeFindings, ...]:
    found = view.static or ()
    return static_findings.fold_findings(found, folded=folded if folded is not None else len(found) > _MANY)


def _list_elements(view: RunView | None, alike: AlikeFindings) -> tuple[str, ...]:
    return () if view is None else static_findings.list_elements(view.fabric, alike.first.where)


def _title(found: Sequence[StaticFinding] | None, rows: int) -> Row:
    """The findings of the description, in numbers; that they are not known yet; that there are none."""
    head = CellText("from the description  ", MUTED)
    if found is None:
        return (head, CellText("is being worked out", MUTED))
    if not found:
        return (head, CellText("nothing stands out", MUTED))
    more = name_keys(f"{len(found) - rows:,} alike folded, z shows them", "fold") if rows < len(found) else ""
    return (head, *severity.draw_severities(found), CellText(more, MUTED))


def _tallies(view: RunView, covered: Coverage, said: FindingRemarks) -> tuple[Row, ...]:
    """Measured findings by level, who accepts which, and how much was tested, at falling length."""
    if not view.plan:
        return ((CellText("no test is planned", MUTED),),)
    made: list[CellText] = []
    for level, sign, tone in ((Level.FAIL, "✗", FAIL), (Level.WATCH, "▲", WATCH)):
        number = sum(each.level is level for each in view.findings)
        made += [CellText(f"{sign} {number}", tone._replace(bold=True)), CellText("  ")] if number else []
    tested, planned = f"{covered.tested:,}", f"{covered.planned:,}"
    long = (*made, CellText(" tests ", MUTED), CellText(tested), CellText(f" of {planned} gave a result", MUTED))
    brief = (*made, CellText(f"{tested} of {planned} tested", MUTED))
    if not said.sentence:
        return (long, brief, tuple(made))
    told, number = CellText(f"{said.sentence}  ", MUTED), len(said.acceptances.found)
    counted_only = CellText(f"{number:,} accepted  " if number else "accepted earlier  ", MUTED)
    return ((told, *long), (told, *brief), (told, *made), (counted_only, *brief), (counted_only, *made), tuple(made))


def _open_row(view: RunView, row: AreaRow, tab: str) -> OpenPage | None:
    """The output that a number of a test was read from, else that of the test; None where nothing was run for it."""
    source = row.source
    verdict, test = (source.verdict, source.test) if isinstance(source, ResultRow) else (None, "")
    found = None if verdict is None else raw_output.find_measurement(view, verdict.evidence, test)
    if found is not None:
        return OpenPage(RawScreen(found[0].test.id, found[1], tab=tab))
    return OpenPage(RawScreen(test, verdict=verdict, tab=tab)) if test in view.results else None


def _open_evidence(view: RunView, finding: Finding, tab: str) -> OpenPage | OpenNode | None:
    """The output that it rests on; else the node that it is about."""
    found = raw_output.find_measurement(view, finding.evidence, next(iter(finding.tests), ""))
    if found is not None:
        return OpenPage(RawScreen(found[0].test.id, found[1], tab=tab))
    if finding.tests and finding.tests[0] in view.results:
        return OpenPage(RawScreen(finding.tests[0], tab=tab))
    place = find_place(view, finding)
    return OpenNode(NodeId(place)) if place in view.nodes else None


def _open_unjudged(view: RunView, reason: UnjudgedReason, tab: str) -> OpenPage | OpenNode | None:
    """The output of the first of its tests that has one; the node where none of them has."""
    test = next((each for each in list_tests(view, reason) if len(view.results[each].outputs)), None)
    if test is not None:
        return OpenPage(RawScreen(test, tab=tab))
    place = next((name for name in describe_reason(reason).names if name in view.nodes), None)
    return OpenNode(NodeId(place)) if place is not None else None
