"""The fabric: racks, nodes and uplinks as one map, the worst fault above it, the others below."""

import asyncio
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from functools import partial

from textual import on
from textual.geometry import Size
from textual.worker import Worker, WorkerError

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, PLAN_HINT, ZOOM_HINT, name_keys, offer
from benchconsole.console.tui.fabric_map.map_cells import MapMark, MapSpot, find_next_content
from benchconsole.console.tui.fabric_map.map_layout import MOST_ROWS, MapHeight, count_map_lines
from benchconsole.console.tui.fabric_map.shape import FabricShape, read_shape
from benchconsole.console.tui.messages import Copy, OpenFinding, OpenNode, OpenStatic, PlanRun, Remarked
from benchconsole.console.tui.queries import static_findings, view_queries
from benchconsole.console.tui.rows import severity
from benchconsole.console.tui.screens.base.map_filter import MapFilter
from benchconsole.console.tui.screens.base.map_heat import FindMetrics, HeatPage, MapHeat, find_no_metrics
from benchconsole.console.tui.screens.base.page import LOW, OPENING, count_frame_rows
from benchconsole.console.tui.widgets.crumb import tallies
from benchconsole.console.tui.widgets.described_faults import DescribedFaults
from benchconsole.console.tui.widgets.fabric_map import FabricMap
from benchconsole.console.tui.widgets.headline import Headline, clauses
from benchconsole.console.tui.widgets.heat_line import HEAT_ROWS
from benchconsole.console.tui.widgets.legend import Legend
from benchconsole.console.tui.widgets.load_line import LoadLine, count_load_rows
from benchconsole.console.tui.widgets.other_faults import OtherFaults
from benchconsole.console.tui.widgets.remark_lines import RemarkLines
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.view.run_view import RunView, State, tally
from benchconsole.console.view.same_objects import are_same
from benchconsole.console.view.totals import TotalsCache
from benchconsole.console.view.wording import tell_reading
from benchconsole.probes.model.judgement import Finding
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId, SwitchId

_AT_ONCE = 2000
"""Nodes of a fabric that is read as it is painted; more take longer than a frame."""


_HIGH = 36
"""Rows from which on the load of a place and a heat map are set apart from the map."""


class FabricScreen(HeatPage):
    """``n`` walks the faults; enter opens the node or the finding under the cursor."""

    TAB = "Fabric"
    VALID = (
        *MOVES, "left", "right", "next_fault", "previous_fault", "values", "heat", "zoom", "more_detail", "less_detail",
        "finding", "filter", "repeat", "copy", "remark",
    )  # fmt: skip
    KEYS = (
        "enter", "stop", "next_fault", "zoom", "values", "heat", "filter", "command", "help", "freeze",
        ("plan", "plan a run"), "export", "remark",
    )  # fmt: skip
    SILENT = "Choose a node, a switch or a link: a remark is about one of them."

    def __init__(self, sums: TotalsCache | None = None, find_metrics: FindMetrics = find_no_metrics) -> None:
        super().__init__(sums)
        self.headline = Headline()
        self.map = FabricMap()
        self.load_line = LoadLine()
        self.remarks = RemarkLines()
        self.also = OtherFaults()
        self.described = DescribedFaults()
        self.legend = Legend()
        self.faults: tuple[view_queries.Fault, ...] = ()
        self.find_remarked = partial(_find_remarked, self)
        self.fault = 0
        self.walked = False
        self.hears_tests = True
        self._shape: tuple[Fabric, FabricShape] | None = None
        self.reading: tuple[Fabric, Worker[None]] | None = None
        self._judged: tuple[object, ...] = ()
        self._sized = Size(0, 0)
        self.heights = MapHeight()
        self._find_metrics = find_metrics

        def paint_anew() -> None:
            self._sized = Size(0, 0)
            if self.run_view is not None:
                self.paint(self.run_view)

        self._paint_anew = paint_anew
        self.heat = MapHeat(self, find_metrics, paint_anew)
        self.matching = MapFilter(self, paint_anew)
        self.parts = (
            self.headline, self.matching.line, self.map, self.load_line, self.heat.line, self.remarks, self.also,
            self.described, self.legend,
        )  # fmt: skip

    def on_mount(self) -> None:
        super().on_mount()
        self.map.focus()

    def show(self, view: RunView, badges: Badges) -> None:
        hears_tests = not badges.read_only  # what another console drives, or is played again, tells no intervals
        if hears_tests is not self.hears_tests:
            self.hears_tests, self._sized, self.run_view = hears_tests, Size(0, 0), None
        super().show(view, badges)

    def paint(self, view: RunView) -> None:
        shape = self.find_shape(view.fabric)
        site = (sanitize(view.fabric.name), "fabric", sanitize(view.label))
        if shape is None:
            self.crumb.show(site)
            self.headline.show(None, f"{len(view.fabric.nodes):,} nodes:", " the map is being drawn up.")
            return
        judged = (view.nodes, view.links, view.findings, view.current, view.static, view.detectable, view.remarks)
        is_new = self.size != self._sized or not are_same(judged, self._judged)
        heights = [each.styles.height for each in self.parts]
        if is_new:
            self._judged, self._sized = judged, self.size
            self.faults = view_queries.list_faults(view)
            self.fault = min(self.fault, max(len(self.faults) - 1, 0))
            self.crumb.show(site, *tallies(view, tally(view)))
            _share_height(self, view, shape)
        else:
            self.say_headline(view)
        was_live = self.map.loads is not None
        self.matching.follow(view)
        self.map.show(view, shape, is_laid_out=[each.styles.height for each in self.parts] == heights)
        self.load_line.show(view, self.map.loads, self.map.find_spot(self.map.mark))
        self.heat.follow(view)
        if is_new or was_live is not (self.map.loads is not None):
            _explain(self.legend, view, self.map)
        _show_remarks(self, view)

    def find_shape(self, fabric: Fabric) -> FabricShape | None:
        """The rows of the map, worked out once for each fabric; of a large one beside the screen: None until then."""
        if self._shape is not None and _is_cabled_alike(self._shape[0], fabric):
            return self._shape[1]
        if len(fabric.nodes) <= _AT_ONCE:
            self._shape = (fabric, read_shape(fabric))
            return self._shape[1]
        if self.reading is None or not _is_cabled_alike(self.reading[0], fabric):

            async def read() -> None:
                self._shape = (fabric, await asyncio.to_thread(read_shape, fabric))
                if self.run_view is not None:
                    self.paint(self.run_view)

            self.reading = (fabric, self.run_worker(read(), exit_on_error=False, group="shape"))
        return None

    def show_element(self, element: str) -> None:
        """Put the cursor on a node, link or switch; on the nearest end of a link that the map does not draw."""
        if self.run_view is None:
            return
        mark = next(
            (mark for mark in find_marks(self.run_view.fabric, element) if self.map.find_spot(mark) is not None), None
        )
        if mark is not None:
            self.map.go(mark)
        else:
            self.say(f"{element} has no place on the map.")

    def say_headline(self, view: RunView) -> None:
        """The worst, or the fault that was walked to; the others stand under the map."""
        chosen = None if _is_quiet(self) else self.fault
        self.also.show([(place, each) for place, each in enumerate(self.faults) if place != chosen])
        if _is_quiet(self):
            low = self.size.height < LOW  # there the headline has one row
            aside = describe_static(view).split(",")[0] if low else ""
            why = ", ".join(filter(None, (describe_sight(view), describe_static(view))))
            self.headline.show(*make_quiet_headline(view, self.sums, self.refused), why=why, aside=aside)
            return
        fault = self.faults[self.fault]
        where, what = sanitize(fault.where), sanitize(fault.what)
        lead, rest = clauses(where, what) if isinstance(fault, Finding) else (f"{where}:", f" {what}")
        unknown = _is_unknown(fault)
        alike = [each for each in self.faults if _is_unknown(each) is unknown]
        aside = f"{'unknown' if unknown else 'fault'} {alike.index(fault) + 1} of {len(alike)}"
        why = sanitize(fault.means)
        if view.remarks and isinstance(fault, Finding):
            from benchconsole.console.tui.queries.finding_remarks import FindingRemarks

            accepted = FindingRemarks((), view.remarks).tell_acceptance(fault)
            why = f"accepted: {accepted}. {why}" if accepted else why
        self.headline.show(view_queries.state_of_fault(fault), lead, rest, why=why, aside=aside)

    def action_walk(self, step: int) -> None:
        """To the next fault or the one before; the first time to the one in the headline."""
        if self.run_view is None:
            return
        if not self.faults:
            self.say(_say_none(self.run_view))
            return
        if self.walked:
            self.fault = (self.fault + step) % len(self.faults)
        self.walked = True
        self.say_headline(self.run_view)
        place = view_queries.find_place(self.run_view, self.faults[self.fault])
        mark = next(
            (mark for mark in find_marks(self.run_view.fabric, place) if self.map.find_spot(mark) is not None), None
        )
        if mark is not None:
            self.map.go(mark)

    def action_values(self) -> None:
        """Cells as states, as shares of what was expected, or as loads while tests tell them; a heat map is left."""
        was_heat = self.heat.is_shown
        self.map.content = find_next_content(self.map.content, is_live=self.map.loads is not None)
        self.map.redraw()
        if was_heat:
            self._paint_anew()
        elif self.run_view is not None:
            _explain(self.legend, self.run_view, self.map)

    def action_zoom(self) -> None:
        """Draw only the part of the fabric that the cursor stands in; without a cursor that of the headline's fault."""
        if self.map.mark is None and self.faults:
            self.action_walk(1)
        shape = None if self.run_view is None else self.find_shape(self.run_view.fabric)
        if self.run_view is None or shape is None or self.map.mark is None:
            self.say(name_keys(ZOOM_HINT, "zoom"))
            return
        from benchconsole.console.tui.screens.zoom import open_section

        open_section(self, shape, self._find_metrics)

    def action_enter(self) -> None:
        """Open what the cursor stands on; without a cursor, the fault in the headline."""
        if self.map.mark is None:
            self.action_finding()
        else:
            self.map.open()

    def action_finding(self) -> None:
        """The finding that speaks of what the cursor stands on, else the one in the headline."""
        view, mark = self.run_view, self.map.mark or MapMark()
        if view is None:
            return
        index = next((i for i, f in enumerate(self.faults) if _speaks_of(f, mark)), None)
        static = static_findings.find_static_finding(view, [name for name in mark if name]) if any(mark) else None
        if index is None and static is not None:
            self.post_message(OpenStatic(static.where))
            return
        index = index if index is not None else self.fault
        fault = self.faults[index] if index < len(self.faults) else None
        if isinstance(fault, Finding):
            self.post_message(OpenFinding(index))
        elif _is_quiet(self) and view.static:
            self.post_message(OpenStatic(view.static[0].where))
        elif fault is not None:
            self.post_message(OpenNode(fault.nodes_at[0]))

    def action_repeat(self) -> None:
        self.post_message(PlanRun(failed_only=True))

    def action_copy(self) -> None:
        if self.faults:
            fault = self.faults[self.fault]
            self.post_message(
                Copy(f"{sanitize(fault.where)}: {sanitize(fault.what)}\n{sanitize(fault.means)}\n", "the headline")
            )

    @on(FabricMap.Marked)
    def _marked(self) -> None:
        if self.run_view is not None:
            _show_remarks(self, self.run_view)
            self.load_line.show(self.run_view, self.map.loads, self.map.find_spot(self.map.mark))
            self.heat.tell()

    @on(FabricMap.Opened)
    def _opened(self, event: FabricMap.Opened) -> None:
        """A node, or the finding about a link or a switch, measured before described."""
        if event.mark.node is not None:
            self.post_message(OpenNode(event.mark.node))
            return
        if self.run_view is not None:
            found = find_explanation(self.run_view, self.faults, event.mark, event.spot)
            if found is None:
                self.say(f"No finding speaks of this {'link' if event.mark.link else 'switch'}.")
            else:
                self.post_message(found)


def _say_none(view: RunView) -> str:
    """The sentence on a session without a fault so far: one that is still being read may have some."""
    if view.reading is not None:
        return OPENING
    return f"No fault is known.{name_keys(' f shows what the description says.', 'finding') if view.static else ''}"


def find_explanation(
    view: RunView, faults: Sequence[view_queries.Fault], mark: MapMark, spot: MapSpot
) -> OpenFinding | OpenStatic | None:
    """The order to open the finding about a link or a switch, measured before described; None where there is none."""
    links = (mark.link,) if mark.link is not None else spot.links
    index = next((i for i, fault in enumerate(faults) if _about(fault, links, spot.switches)), None)
    if index is not None:
        return OpenFinding(index)
    static = static_findings.find_static_finding(view, [*links, *spot.switches])
    return None if static is None else OpenStatic(static.where)


def _share_height(page: FabricScreen, view: RunView, shape: FabricShape) -> None:
    """The map first; other faults and the legend from what is left; at least the worst where it is tight."""
    line = count_load_rows(view, page.size.width) if page.hears_tests else 0
    gap = int(line and page.size.height >= _HIGH)
    page.load_line.styles.height, page.load_line.styles.margin = line, (gap, 0, 0, 0)
    remarks = int(_has_element_remarks(view))
    page.remarks.styles.height = remarks
    heat = HEAT_ROWS if page.heat.is_shown else 0
    apart = int(bool(heat) and page.size.height >= _HIGH)
    page.heat.line.styles.height, page.heat.line.styles.margin = heat, (apart, 0, 0, 0)
    room = page.size.height - count_frame_rows(page) - line - gap - remarks - heat - apart - page.matching.line.display
    others = len(page.faults) - (not _is_quiet(page))
    spare = room - min(count_map_lines(view.fabric, shape, page.size.width), room)
    if len(shape.racks) > MOST_ROWS:
        spare = max(0, min(room - 36, 8))
    wanted = min(others, 6) + 1 if others else 0
    also = min(wanted, spare) if spare >= 3 else 0
    legend = 2 if spare - also >= 3 else 0
    page.legend.styles.height = legend
    page.say_headline(view)
    page.described.show(view.static or ())
    count_lines = partial(page.heights.count, view.fabric, shape, page.size.width)
    _fill_room(page, also, room - also - legend, count_lines, is_small=len(shape.racks) <= MOST_ROWS)


def _fill_room(page: FabricScreen, also: int, room: int, count_lines: Callable[[int], int], *, is_small: bool) -> None:
    """Share ``room`` between the map and what is said below it, which has the lines that the map leaves.

    ``also`` are the rows that the other faults have in any case; ``count_lines`` tells those of a map in some room.
    """
    has_more = is_small and page.described.wanted and page.size.height >= _HIGH
    wanted = count_lines(room) if also or has_more else room
    left = max(room - wanted, 0)
    more = min(max(page.also.wanted - also, 0), left) if also else 0
    described = min(page.described.wanted, left - more) if has_more else 0
    described = described if described >= DescribedFaults.LEAST else 0
    page.also.styles.height, page.described.styles.height = also + more, described
    page.map.styles.height = wanted if (also or described) and left else "1fr"


async def wait_drawn(page: FabricScreen) -> None:
    """Return when the map of the view that was shown last has been sent to the terminal, or could not be read."""
    if page.reading is not None:
        with suppress(WorkerError):
            await page.reading[1].wait()
    drawn = asyncio.Event()
    page.call_after_refresh(drawn.set)
    await drawn.wait()


def _is_cabled_alike(one: Fabric, other: Fabric) -> bool:
    """Whether two fabrics are one with other criteria or suites: they share nodes, switches and links."""
    return one.nodes is other.nodes and one.switches is other.switches and one.links is other.links


def _find_remarked(page: FabricScreen) -> Remarked | None:
    """The node, the link or the switch under the cursor."""
    from benchconsole.console.tui.queries.fabric_remarks import name_place

    return None if page.run_view is None or page.map.mark is None else name_place(page.run_view, *page.map.mark)


def _show_remarks(page: FabricScreen, view: RunView) -> None:
    """Show the remarks on the place under the cursor; without one there, the places that have some."""
    if view.remarks:
        from benchconsole.console.tui.queries.fabric_remarks import tell_place

        page.remarks.show(tell_place(view, *(page.map.mark or MapMark())))


def _has_element_remarks(view: RunView) -> bool:
    """Whether people said anything of a node, a link or a switch."""
    if not view.remarks:
        return False
    from benchconsole.console.tui.queries.fabric_remarks import list_places

    return bool(list_places(view))


def _explain(legend: Legend, view: RunView, drawn: FabricMap) -> None:
    """Explain the signs on the map."""
    lost, is_live = bool(view_queries.find_lost_members(view)), drawn.loads is not None
    legend.show(tally(view), drawn.content, lost=lost, is_live=is_live, heat=drawn.heat)


def describe_sight(view: RunView) -> str:
    """Whether every kind of fault would have been seen, in a few words; empty where nothing could show one."""
    return view.detectable.brief if view.detectable is not None and view.detectable.kinds else ""


def describe_static(view: RunView) -> str:
    """The findings of the description, in one line; empty until they are worked out."""
    return "" if view.static is None else f"description: {severity.format_severities(view.static)}, see Findings"


def find_marks(fabric: Fabric, element: str) -> Iterator[MapMark]:
    """Where an element may be found on the map, best first."""
    if element in fabric.nodes:
        yield MapMark(node=NodeId(element))
    elif element in fabric.switches:
        yield MapMark(switch=SwitchId(element))
        yield from (MapMark(link=link.id) for link in fabric.links_at[element])
    elif element in fabric.links:
        link = fabric.links[LinkId(element)]
        yield MapMark(link=link.id)
        for end in (link.a, link.b):
            yield MapMark(node=NodeId(end)) if end in fabric.nodes else MapMark(switch=SwitchId(end))


def _about(fault: view_queries.Fault, links: Sequence[LinkId], switches: Sequence[SwitchId]) -> bool:
    return isinstance(fault, Finding) and (any(link in fault.links_at for link in links) or fault.element in switches)


def _is_quiet(page: FabricScreen) -> bool:
    """Whether the headline is the verdict: no fault is known, and nobody walked to what is unknown."""
    return not page.faults or (not page.walked and _is_unknown(page.faults[page.fault]))


def _is_unknown(fault: view_queries.Fault) -> bool:
    """Whether it tells only what could not be judged."""
    return not isinstance(fault, Finding) and fault.state is State.UNKNOWN


def _speaks_of(fault: view_queries.Fault, mark: MapMark) -> bool:
    if not isinstance(fault, Finding):
        return False
    return mark.link in fault.links_at if mark.link else mark.node in fault.nodes


def make_quiet_headline(
    view: RunView, sums: TotalsCache, refused: Set[str] = frozenset()
) -> tuple[State | None, str, str]:
    """The headline while no fault is known; it names no key of the ``refused`` actions."""
    if view.current is not None:
        done = len(view.closed)
        what = f" of {len(view.plan)}, {sanitize(view.current.stage)}: {sanitize(view.current.because)}"
        return State.RUNNING, f"Round {done + 1}", what
    if view.reading is not None:
        stands, how_far = tell_reading(view.reading)
        return None, f"The session is {stands}", how_far
    if not view.results and view.ended is None:
        return None, "Nothing has run on this fabric yet.", offer("plan", f"  {PLAN_HINT}", refused)
    verdict = sums.decide(view)
    lead, colon, rest = verdict.sentence.partition(":")
    return verdict.state, lead + colon, rest
