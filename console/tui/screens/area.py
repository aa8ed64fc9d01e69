"""An area as a page: pairs, results, links, rounds or criteria, each row opens what it is of."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.messages import PlanRun, Remarked, ShowInFabric
from benchconsole.console.tui.queries.area import Area, Record
from benchconsole.console.tui.queries.area import Row as AreaRow
from benchconsole.console.tui.queries.areas import AREAS, OF_PROBES
from benchconsole.console.tui.queries.result_areas import list_pairs, list_results
from benchconsole.console.tui.screens.base.area_page import AreaPage
from benchconsole.console.tui.screens.base.page import OpenPage, Page, PlotWish
from benchconsole.console.tui.screens.base.table_page import TABLE_ACTIONS
from benchconsole.console.tui.screens.pair_map import PairMapScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.crumb import tallies
from benchconsole.console.tui.widgets.footer import Shown
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.run_view import RunView, tally
from benchconsole.console.view.same_objects import are_same
from benchconsole.console.view.session_control import NO_PROBES
from benchconsole.console.view.wording import tell_reading
from benchconsole.probes.model.remark import About, RemarkSubject

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe

WORST_FIRST = ("results", "criteria", "links")
"""Those that are sorted by state until somebody asks otherwise; the others have an order of their own."""

MOST_ROWS = 50_000
"""Rows from which on those that pass are not listed; 2 kB each."""

MAPPED = "pairs"
"""The area that has a map."""

_OF_NO_ELEMENT = ("remark", "plot")
SPARED = {
    "pairs": ("remark",), "links": ("plot",), "rounds": ("next_fault", *_OF_NO_ELEMENT), "logs": _OF_NO_ELEMENT,
    "suites": ("next_fault", *_OF_NO_ELEMENT), "probes": ("next_fault", *_OF_NO_ELEMENT),
}  # fmt: skip
"""Actions that the last row does not offer, by area: its rows have no state, no metric, or are of no one element."""

PLANNED = {"suites": "plan it", "probes": "results", "logs": "in full"}
"""The word for enter on areas whose rows are opened in a way of their own."""

LIMITED = {"results": partial(list_results, most=MOST_ROWS), "pairs": partial(list_pairs, most=MOST_ROWS)}


class AreaScreen(AreaPage):
    """``subject`` names the area. Rows come in as rounds are judged; ``text`` is the filter that it begins with."""

    VALID: ClassVar[tuple[str, ...]] = (*TABLE_ACTIONS, "in_full", "values", "remark")
    KEYS: ClassVar[tuple[Shown, ...]] = (
        ("enter", "open"), "filter", "sort", ("column_left", "and > column"), ("next_fault", "next fault"), "in_full",
        "remark", "copy", "plot", ("back", "back"), "command", "help",
    )  # fmt: skip

    def __init__(
        self, name: str, *, tab: str = "Run", text: str = "",
        find_probes: "Callable[[], Mapping[str, Probe]]" = lambda: NO_PROBES, begins: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(tab=tab, subject=f"area {name} {text}")
        self.name_of_area = self.filter_area = name
        self._text = text
        self._begins = begins
        self._find_probes = find_probes
        self._known: tuple[object, ...] = ()
        self._is_making = False
        self.find_remarked = partial(_find_remarked, self)
        self.wish_plot = partial(_wish_plot, self)
        self.keys.show(list_keys(self.KEYS, name))
        self.planning = frozenset(("enter",)) if name == "suites" else frozenset()
        if name in WORST_FIRST:
            self.table.sorts = [("state", False)]

    def on_mount(self) -> None:
        if self._begins:
            self.set_focus(self.prompt)  # first: else the list would take what is typed
        super().on_mount()
        if self._text:
            self.prompt.fill(self._text)
            self.filter_by(self._text)

    def paint(self, view: RunView) -> None:
        """Take what is new; an area is made anew when a round was judged, not with every result."""
        reading = "".join(tell_reading(view.reading)) if view.reading is not None else ""
        path = (sanitize(view.fabric.name), sanitize(view.label or "run"), self.name_of_area, reading)
        self.crumb.show(tuple(filter(None, path)), *tallies(view, tally(view)))
        probes = self._find_probes()
        known: tuple[object, ...] = (
            view.fabric, view.closed, view.verdicts, view.findings, view.current, view.plan, view.remarks,
            view.log if self.name_of_area == "logs" else None, probes if self.name_of_area in OF_PROBES else None,
        )  # fmt: skip
        is_new = not are_same(known, self._known)
        if view.reading is None and is_new and not self._is_making:
            self._known, self._is_making = known, True
            self.run_worker(self._make(view), exit_on_error=True)
        self.annotate()

    async def _make(self, view: RunView) -> None:
        """Make the area beside the screen: ten thousand nodes take seconds."""
        try:
            area = await asyncio.to_thread(_make_area, self.name_of_area, view, self._find_probes())
        finally:
            self._is_making = False
        self.show_area(area)
        if self.run_view is not None:
            self.paint(self.run_view)  # a round may have been judged meanwhile, and no other view may come

    def name_chosen(self) -> str:
        return super().name_chosen() or self.name_of_area

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        """The raw output of a test, a link in the fabric, or the results that a row sums up."""
        row, view = self.table.chosen, self.run_view
        if row is None or view is None:
            return
        test, link = row.record.get("test"), row.record.get("link")
        if test in view.results:
            self.post_message(OpenPage(RawScreen(str(test), tab=self.tab)))
        elif link is not None:
            self.post_message(ShowInFabric(str(link)))
        elif self.name_of_area == "criteria":
            self._open_results(f"metric={row.words('metric')}")
        elif self.name_of_area == "rounds":
            self._open_results(f"round={row.record['round']}")
        elif self.name_of_area == "suites":
            self.post_message(PlanRun(str(row.record["suite"])))
        elif self.name_of_area == "probes" and row.record["planned"]:
            self._open_results(f"metric~{row.record['probe']}.")
        elif self.name_of_area == "logs":
            self.action_in_full()
        else:
            self.say("Nothing was run for this row.")

    def _open_results(self, text: str) -> None:
        self.post_message(OpenPage(AreaScreen("results", tab=self.tab, text=text)))

    def action_in_fabric(self) -> None:
        row = self.table.chosen
        record: Record = {} if row is None else row.record
        nodes = record.get("nodes")
        element = record.get("link") or (nodes[0] if isinstance(nodes, list) and nodes else None)
        if element is None:
            self.say("This row is of no element of the fabric.")
        else:
            self.post_message(ShowInFabric(str(element)))

    def action_values(self) -> None:
        """Pairs as a map."""
        if self.name_of_area == MAPPED:
            self.post_message(OpenPage(PairMapScreen(tab=self.tab)))
        else:
            self.say("Pairs alone have a map.")

    def action_repeat(self) -> None:
        view, row = self.run_view, self.table.chosen
        tests = () if view is None or row is None else _list_tests(view, self.name_of_area, row)
        if tests:
            self.post_message(PlanRun(only=tests))
        else:
            self.say("Nothing was run for this row.")


def begin_filter(page: Page, name: str, text: str = "") -> None:
    """Open an area over ``page`` with a filter that begins with ``text``, and have the rest typed."""
    page.post_message(OpenPage(AreaScreen(name, tab=page.tab, text=text, begins=True)))


def _make_area(name: str, view: RunView, probes: "Mapping[str, Probe]") -> Area:
    if name in OF_PROBES:
        return OF_PROBES[name](view, probes)
    return LIMITED.get(name, AREAS[name])(view)


def list_keys(every: Sequence[Shown], area: str) -> tuple[Shown, ...]:
    """The keys that the last row offers on an area."""
    every = tuple((each[0], PLANNED.get(area, each[1])) if each[0] == "enter" else each for each in every)
    own = [each for each in every if (each if isinstance(each, str) else each[0]) not in SPARED.get(area, ())]
    return (own[0], ("values", "as a map"), *own[1:]) if area == MAPPED else tuple(own)


def _find_remarked(page: AreaScreen) -> Remarked | None:
    """The link of the row, or the node that it is of."""
    row = page.table.chosen
    record: Record = {} if row is None else row.record
    link, nodes = record.get("link"), record.get("nodes")
    if link is not None and row is not None:
        return Remarked(RemarkSubject(About.LINK, str(link)), f"the link {row.words('link')}")
    if isinstance(nodes, list) and len(nodes) == 1:
        return Remarked(RemarkSubject(About.NODE, str(nodes[0])), f"node {sanitize(str(nodes[0]))}")
    return None


def _wish_plot(page: AreaScreen) -> PlotWish:
    """The metric of the row under the cursor, with the value of its test where it is of one."""
    record: Record = {} if page.table.chosen is None else page.table.chosen.record
    metric, stage, test = (record.get(name) for name in ("metric", "stage", "test"))
    return PlotWish(str(metric or ""), str(stage or ""), str(test or ""))


def _list_tests(view: RunView, area: str, row: AreaRow) -> tuple[str, ...]:
    """The tests that were run for a row: one, or those of a round."""
    if row.record.get("test") in view.results:
        return (str(row.record["test"]),)
    of = [each for each in view.plan if each.number == row.record.get("round")] if area == "rounds" else []
    return tuple(test.id for each in of for test in each.tests if test.id in view.results)
