"""One part of the fabric drawn alone: a site, a pod, a leaf or a chassis; ``esc`` goes back to what was around it."""

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, ZOOM_HINT, name_keys
from benchconsole.console.tui.fabric_map.map_cells import find_next_content
from benchconsole.console.tui.fabric_map.map_layout import MapHeight, lay_out_map
from benchconsole.console.tui.fabric_map.map_section import MapSection, find_inner_section
from benchconsole.console.tui.fabric_map.section_map import lay_out_section
from benchconsole.console.tui.fabric_map.shape import FabricShape
from benchconsole.console.tui.messages import OpenNode
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.queries.section_state import describe_section, tally_nodes
from benchconsole.console.tui.screens.base.map_filter import MapFilter
from benchconsole.console.tui.screens.base.map_heat import FindMetrics, HeatPage, MapHeat
from benchconsole.console.tui.screens.base.page import OPENING, OpenPage, count_frame_rows
from benchconsole.console.tui.screens.fabric import find_explanation, find_marks
from benchconsole.console.tui.widgets.crumb import tallies
from benchconsole.console.tui.widgets.fabric_map import FabricMap, find_numbers
from benchconsole.console.tui.widgets.finding_detail import FindingDetail
from benchconsole.console.tui.widgets.headline import Headline
from benchconsole.console.tui.widgets.heat_line import HEAT_ROWS
from benchconsole.console.tui.widgets.legend import Legend
from benchconsole.console.tui.widgets.node_line import NodeLine
from benchconsole.console.tui.widgets.other_faults import OtherFaults
from benchconsole.console.tui.widgets.part_numbers import PartNumbers
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.same_objects import are_same
from benchconsole.probes.model.judgement import Finding

_LEGEND_FROM = 28
"""Rows of a screen from which on the signs are explained below the map."""
_HIGH = 36
"""Rows of a screen from which on what the map leaves is for the faults of the part and the numbers of its nodes."""
_LEAST_DETAIL = 8
"""Rows from which on a finding is told in full."""


class ZoomScreen(HeatPage):
    """``section`` of ``shape``, which is that of the whole fabric. Enter opens a node or a finding."""

    VALID = (
        *MOVES, "left", "right", "next_fault", "previous_fault", "values", "heat", "zoom", "more_detail", "less_detail",
        "filter",
    )  # fmt: skip
    KEYS = (
        ("enter", "open"), ("next_fault", "next fault"), ("zoom", "one level in"), "values", "heat", "filter",
        ("back", "one level out"), "command", "help",
    )  # fmt: skip
    DEFAULT_CSS = "ZoomScreen FindingDetail { height: 0; }"

    def __init__(self, section: MapSection, shape: FabricShape, find_metrics: FindMetrics) -> None:
        super().__init__(tab="Fabric", subject=f"zoom {'/'.join(section.path)}")
        self.section = section
        self.shape = shape
        self.headline = Headline()
        lay_out = lay_out_map if section.rack is None else lay_out_section
        self.map = FabricMap(lay_out, folds=False)
        self.heights = MapHeight(lay_out)
        self.node_line = NodeLine()
        self.also = OtherFaults()
        self.numbers = PartNumbers()
        self.detail = FindingDetail()
        self.legend = Legend()
        self.faults: tuple[view_queries.Fault, ...] = ()
        self.counts: dict[State, int] = {}
        self._find_metrics = find_metrics
        self._walked = -1
        self._judged: tuple[object, ...] = (None, None, None)
        self._inside = {
            *section.nodes, *(link.id for link in section.uplinks), *section.shape.top,
            *(switch for rack in section.shape.racks for switch in rack.switches),
            *(switch for group in section.shape.groups for switch in group.switches),
        }  # fmt: skip

        def paint_anew() -> None:
            if self.run_view is not None:
                self.paint(self.run_view)

        self._paint_anew = paint_anew
        self.heat = MapHeat(self, find_metrics, paint_anew)
        self.matching = MapFilter(self, paint_anew)
        self.parts = (
            self.headline, self.matching.line, self.map, self.heat.line, self.node_line, self.also, self.numbers,
            self.detail, self.legend,
        )  # fmt: skip

    def on_mount(self) -> None:
        super().on_mount()
        self.map.focus()

    def paint(self, view: RunView) -> None:
        self._count_up(view)
        path = (sanitize(view.fabric.name), "fabric", *map(sanitize, self.section.path))
        self.crumb.show(path, *tallies(view, self.counts, len(self.section.nodes)))
        _show_numbers(self, view)
        _share_height(self, view)
        _offer_keys(self)
        self.matching.follow(view)
        self.map.show(view, self.section.shape)
        self.node_line.show(view, self.map.mark, find_numbers(self.map))
        self.heat.follow(view)
        lost = {*view_queries.find_lost_members(view)}.intersection(link.id for link in self.section.uplinks)
        is_live = self.map.loads is not None
        self.legend.show(self.counts, self.map.content, lost=bool(lost), is_live=is_live, heat=self.map.heat)

    def _count_up(self, view: RunView) -> None:
        """Its faults and its headline, once for each judgement."""
        judged = (view.nodes, view.links, view.findings)
        if are_same(judged, self._judged):
            return
        self._judged = judged
        self.counts = tally_nodes(view, self.section.nodes)
        every = view_queries.list_faults(view)
        inside = [(at, each) for at, each in enumerate(every) if view_queries.find_place(view, each) in self._inside]
        self.faults = tuple(fault for _, fault in inside)
        self.also.show(inside[1:])
        worst = next(iter(inside), None)
        told = None if worst is None or not isinstance(worst[1], Finding) else worst[1]
        place = "" if worst is None else f"finding {worst[0] + 1} of {len(view.findings)}"
        self.detail.show(view, told, place, may_run=False)
        said = describe_section(view, self.section.name, self.section.nodes, self.section.uplinks)
        first = next(iter(self.faults), None)
        self.headline.show(*said, why="" if first is None else sanitize(f"{first.where}: {first.what}"))

    def action_walk(self, step: int) -> None:
        """To the next fault in this part, or the one before."""
        if self.run_view is None or not self.faults:
            is_read = self.run_view is not None and self.run_view.reading is not None
            self.say(OPENING if is_read else f"No fault is known in {sanitize(self.section.name)}.")
            return
        self._walked = (self._walked + step) % len(self.faults) if self._walked >= 0 else 0
        place = view_queries.find_place(self.run_view, self.faults[self._walked])
        marks = find_marks(self.run_view.fabric, place)
        mark = next((mark for mark in marks if self.map.find_spot(mark) is not None), None)
        if mark is not None:
            self.map.go(mark)

    def action_values(self) -> None:
        """Cells as states, as shares of what was expected, or as loads while tests tell them; a heat map is left."""
        self.map.content = find_next_content(self.map.content, is_live=self.map.loads is not None)
        self.map.redraw()
        self._paint_anew()

    def action_zoom(self) -> None:
        """One level further in; of a node at the innermost level, the node itself."""
        open_section(self, self.shape, self._find_metrics, self.section.path)

    def action_enter(self) -> None:
        """Open what the cursor stands on."""
        self.map.open()

    @on(FabricMap.Marked)
    def _marked(self) -> None:
        self.heat.tell()
        _offer_keys(self)
        if self.run_view is not None:
            self.node_line.show(self.run_view, self.map.mark, find_numbers(self.map))
            _show_numbers(self, self.run_view)

    @on(FabricMap.Opened)
    def _opened(self, event: FabricMap.Opened) -> None:
        """A node, or the finding about a link or a switch."""
        if event.mark.node is not None:
            self.post_message(OpenNode(event.mark.node))
        elif self.run_view is not None:
            every = view_queries.list_faults(self.run_view)
            found = find_explanation(self.run_view, every, event.mark, event.spot)
            if found is None:
                self.say(f"No finding speaks of this {'link' if event.mark.link else 'switch'}.")
            else:
                self.post_message(found)


def _offer_keys(page: ZoomScreen) -> None:
    """The keys of the last row: a level further in only where there is one."""
    is_inmost = page.section.rack is not None and (page.map.mark is None or page.map.mark.node is None)
    page.keys.show([each for each in page.KEYS if each[0] != "zoom" or not is_inmost])


def _show_numbers(page: ZoomScreen, view: RunView) -> None:
    """The numbers of the nodes of the innermost part, on a high screen; that of the cursor stands out."""
    is_wanted = page.section.rack is not None and page.size.height >= _HIGH
    chosen = None if page.map.mark is None else page.map.mark.node
    page.numbers.show(view, page.section.nodes if is_wanted else (), chosen)


def _share_height(page: ZoomScreen, view: RunView) -> None:
    """The map first; what it leaves on a high screen is for other faults, numbers, then the worst fault in full."""
    height = page.size.height
    heat = HEAT_ROWS if page.heat.is_shown else 0
    line, legend = int(not heat), 2 if height >= _LEGEND_FROM else 0
    apart = int(height >= _HIGH)
    room = max(height - count_frame_rows(page) - heat - line - apart - legend - page.matching.line.display, 0)
    wanted = room
    if height >= _HIGH:
        wanted = page.heights.count(view.fabric, page.section.shape, page.size.width, room)
    left = max(room - wanted, 0)
    also = min(page.also.wanted, left)
    also = also if also > 1 else 0
    numbers = page.numbers.wanted if page.numbers.wanted <= left - also else 0
    rest = left - also - numbers
    detail = rest if page.detail.finding is not None and rest >= _LEAST_DETAIL else 0
    page.heat.line.styles.height, page.legend.styles.height = heat, legend
    page.also.styles.height, page.detail.styles.height = also, detail
    page.numbers.styles.height = numbers + rest - detail
    page.node_line.styles.height = line
    page.node_line.styles.margin = (line and apart, 0, 0, 0)
    page.heat.line.styles.margin = (apart if heat else 0, 0, 0, 0)
    page.map.styles.height = wanted if left else "1fr"


def open_section(page: HeatPage, shape: FabricShape, find_metrics: FindMetrics, path: tuple[str, ...] = ()) -> None:
    """Draw alone what is one level in from ``path`` where the cursor of ``page`` stands; say so where nothing is."""
    view, mark = page.run_view, page.map.mark
    if view is None or mark is None:
        page.say(name_keys(ZOOM_HINT, "zoom"))
        return
    section = find_inner_section(view.fabric, shape, mark, path)
    if section is None and mark.node is not None:
        page.post_message(OpenNode(mark.node))
    elif section is None and path:
        page.say("This is the innermost level; enter opens what the cursor stands on.")
    elif section is None:
        page.say(name_keys("It stands above all levels; Z on a node, a leaf or a pod goes one level in.", "zoom"))
    else:
        opened = ZoomScreen(section, shape, find_metrics)
        opened.map.mark = mark
        opened.heat.go_on_from(page.heat)
        opened.matching.go_on_from(page.matching)
        page.post_message(OpenPage(opened))
