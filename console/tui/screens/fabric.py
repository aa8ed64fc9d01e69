"""The fabric: racks, nodes and uplinks as one map, the worst fault above it, the others below."""

import asyncio
import operator
from collections.abc import Iterator, Sequence

from textual import on
from textual.geometry import Size
from textual.widget import Widget

from console.sums import Sums
from console.tui import description, reading, severity
from console.tui.actions import MOVES
from console.tui.messages import Copy, OpenFinding, OpenNode, OpenStatic, Plan
from console.tui.screens.frame import Frame
from console.tui.shape import Shape
from console.tui.shaping import shape_of
from console.tui.widgets.also import Also
from console.tui.widgets.crumb import tallies
from console.tui.widgets.fabric_layout import lines_needed, lines_of
from console.tui.widgets.fabric_map import FabricMap
from console.tui.widgets.headline import Headline, clauses
from console.tui.widgets.legend import Legend
from console.tui.widgets.spots import Mark, Spot
from console.view import RunView, State, tally
from console.wording import plain
from topology.model import Fabric, LinkId, NodeId, SwitchId

_AT_ONCE = 2000
"""Nodes of a fabric that is read as it is painted; more take longer than a frame."""


class FabricScreen(Frame):
    """``n`` walks the faults; enter opens the node or the finding under the cursor."""

    TAB = "Fabric"
    VALID = (
        *MOVES, "left", "right", "next_fault", "previous_fault", "values", "more_detail", "less_detail",
        "finding", "repeat", "copy",
    )  # fmt: skip
    KEYS = (
        "enter", "next_fault", "values", "command", "help", "freeze", ("plan", "plan a run"), "export",
    )  # fmt: skip

    def __init__(self, sums: Sums | None = None) -> None:
        super().__init__(sums)
        self.headline = Headline()
        self.map = FabricMap()
        self.also = Also()
        self.legend = Legend()
        self.faults: tuple[reading.Fault, ...] = ()
        self.fault = 0
        self.walked = False
        self._shape: tuple[Fabric, Shape] | None = None
        self._reading: Fabric | None = None
        self._judged: tuple[object, ...] = (None, None, None, None, None)
        self._sized = Size(0, 0)
        self._laid_out: tuple[tuple[Shape, int, int], int] | None = None

    def parts(self) -> Sequence[Widget]:
        """Headline, map, the other faults, legend."""
        return (self.headline, self.map, self.also, self.legend)

    def on_mount(self) -> None:
        """The map has the keys."""
        super().on_mount()
        self.map.focus()

    def paint(self, view: RunView) -> None:
        """Everything anew."""
        shape = self.shape_of(view.fabric)
        if shape is None:
            site = [plain(view.fabric.name), "fabric", plain(view.label)]
            self.crumb.show([part for part in site if part])
            self.headline.show(None, f"{len(view.fabric.nodes):,} nodes:", " the map is being drawn up.")
            return
        judged = (view.nodes, view.links, view.findings, view.current, view.static)
        if self.size == self._sized and all(map(operator.is_, judged, self._judged)):
            self._say_headline(view)
            self.map.show(view, shape)
            return
        self._judged, self._sized = judged, self.size
        self.faults = reading.faults(view)
        self.fault = min(self.fault, max(len(self.faults) - 1, 0))
        site = [plain(view.fabric.name), "fabric", plain(view.label)]
        self.crumb.show([part for part in site if part], *tallies(view, tally(view)))
        self._say_headline(view)
        self._share_height(view, shape)
        self.map.show(view, shape)

    def shape_of(self, fabric: Fabric) -> Shape | None:
        """The rows of the map, worked out once for each fabric; of a large one beside the screen: None until then."""
        if self._shape is not None and self._shape[0] is fabric:
            return self._shape[1]
        if len(fabric.nodes) <= _AT_ONCE:
            self._shape = (fabric, shape_of(fabric))
            return self._shape[1]
        if self._reading is not fabric:
            self._reading = fabric
            self.run_worker(self._read(fabric), exit_on_error=False, group="shape")
        return None

    async def _read(self, fabric: Fabric) -> None:
        self._shape = (fabric, await asyncio.to_thread(shape_of, fabric))
        if self.run_view is not None:
            self.paint(self.run_view)

    def show_element(self, element: str) -> None:
        """Put the cursor on a node, link or switch; on the nearest end of a link that the map does not draw."""
        if self.run_view is None:
            return
        mark = next((mark for mark in _marks(self.run_view.fabric, element) if self.map.shows(mark)), None)
        if mark is not None:
            self.map.go(mark)
        else:
            self.say(f"{element} has no place on the map.")

    def _share_height(self, view: RunView, shape: Shape) -> None:
        """The map first; other faults and the legend from what is left; at least the worst where it is tight."""
        low = self.size.height < 20
        room = self.size.height - (4 if low else 7)
        others = max(len(self.faults) - 1, 0)
        spare = room - min(lines_needed(view.fabric, shape, self.size.width), room)
        if len(shape.racks) > 48:
            spare = max(0, min(room - 36, 8))
        wanted = min(others, 6) + 1 if others else 0
        also = min(wanted, spare) if spare >= 3 else 0
        self.also.styles.height = also
        legend = 2 if spare - also >= 3 else 0
        self.legend.styles.height = legend
        wanted = self._lines(view.fabric, shape, self.size.width, room - also - legend) if also else 0
        self.map.styles.height = wanted if also and wanted < room - also - legend else "1fr"
        _explain(self.legend, view, values=self.map.values)
        self.also.show(self.faults, self.fault)

    def _lines(self, fabric: Fabric, shape: Shape, width: int, height: int) -> int:
        """How many lines the map takes; laid out once for each size."""
        key = (shape, width, height)
        if self._laid_out is None or self._laid_out[0] != key:
            self._laid_out = (key, len(lines_of(fabric, shape, width, height)))
        return self._laid_out[1]

    def _say_headline(self, view: RunView) -> None:
        if not self.faults:
            low = self.size.height < 20  # there the headline has one row
            aside = described(view).split(",")[0] if low else ""
            self.headline.show(*quiet_headline(view, self.sums), why=described(view), aside=aside)
            return
        fault = self.faults[self.fault]
        lead, rest = clauses(fault.where, fault.what)
        aside = f"finding {self.fault + 1} of {len(self.faults)}"
        self.headline.show(fault.state, lead, rest, why=fault.reason, aside=aside)

    def step(self, rows: int) -> None:
        """Up and down on the map."""
        if abs(rows) >= 10**9:
            self.map.edge(rows > 0)
        else:
            self.map.move(0, rows)

    def action_left(self) -> None:
        """One cell to the left."""
        self.map.move(-1, 0)

    def action_right(self) -> None:
        """One cell to the right."""
        self.map.move(1, 0)

    def action_next_fault(self) -> None:
        """The next fault; the first time the one in the headline."""
        self._walk(1)

    def action_previous_fault(self) -> None:
        """The fault before."""
        self._walk(-1)

    def _walk(self, step: int) -> None:
        if self.run_view is None:
            return
        if not self.faults:
            self.say("No fault is known." + (" f shows what the description says." if self.run_view.static else ""))
            return
        if self.walked:
            self.fault = (self.fault + step) % len(self.faults)
        self.walked = True
        self._say_headline(self.run_view)
        self.also.show(self.faults, self.fault)
        fault = self.faults[self.fault]
        if fault.links:
            self.map.go(Mark(link=fault.links[0]))
        elif fault.nodes:
            self.map.go(Mark(node=fault.nodes[0]))

    def action_values(self) -> None:
        """Cells as states or as values."""
        self.map.values = not self.map.values
        self.map.redraw()
        if self.run_view is not None:
            _explain(self.legend, self.run_view, values=self.map.values)

    def action_more_detail(self) -> None:
        """Fewer nodes in a cell."""
        self.map.refold(1)

    def action_less_detail(self) -> None:
        """More nodes in a cell."""
        self.map.refold(-1)

    def action_enter(self) -> None:
        """Open what the cursor stands on; without a cursor, the fault in the headline."""
        if self.map.mark is None:
            self.action_finding()
        else:
            self.map.open()

    def action_finding(self) -> None:
        """The finding that speaks of what the cursor stands on, else the one in the headline."""
        view, mark = self.run_view, self.map.mark or Mark()
        if view is None:
            return
        index = next((i for i, f in enumerate(self.faults) if f.finding and _speaks_of(f, mark)), None)
        static = description.speaks_of(view, [name for name in mark if name]) if any(mark) else None
        if index is None and static is not None:
            self.post_message(OpenStatic(static.where))
            return
        index = index if index is not None else self.fault
        if index < len(self.faults) and self.faults[index].finding is not None:
            self.post_message(OpenFinding(index))
        elif not self.faults and view.static:
            self.post_message(OpenStatic(view.static[0].where))

    def action_repeat(self) -> None:
        """Repeat what failed."""
        self.post_message(Plan(failed_only=True))

    def action_copy(self) -> None:
        """Copy the headline."""
        if self.faults:
            fault = self.faults[self.fault]
            self.post_message(Copy(f"{fault.where}: {fault.what}\n{fault.reason}\n", "the headline"))

    @on(FabricMap.Opened)
    def _opened(self, event: FabricMap.Opened) -> None:
        if event.mark.node is not None:
            self.post_message(OpenNode(event.mark.node))
        elif self.run_view is not None:
            self._open_links(self.run_view, event.mark, event.spot)

    def _open_links(self, view: RunView, mark: Mark, spot: Spot) -> None:
        """The finding about a link or a switch, measured before described."""
        links = (mark.link,) if mark.link is not None else spot.links
        index = next((i for i, f in enumerate(self.faults) if f.finding and _about(f, links, spot.switches)), None)
        static = description.speaks_of(view, [*links, *spot.switches])
        if index is not None:
            self.post_message(OpenFinding(index))
        elif static is not None:
            self.post_message(OpenStatic(static.where))
        else:
            self.say(f"No finding speaks of this {'link' if mark.link else 'switch'}.")


def _explain(legend: Legend, view: RunView, *, values: bool) -> None:
    """What the signs on the map mean."""
    legend.show(tally(view), lost=bool(reading.members(view)), values=values)


def described(view: RunView) -> str:
    """What the description shows, in one line; empty until it is worked out."""
    return "" if view.static is None else f"description: {severity.in_words(view.static)}, see Findings"


def _marks(fabric: Fabric, element: str) -> Iterator[Mark]:
    """Where an element may be found on the map, best first."""
    if element in fabric.nodes:
        yield Mark(node=NodeId(element))
    elif element in fabric.switches:
        yield Mark(switch=SwitchId(element))
        yield from (Mark(link=link.id) for link in fabric.links_at[element])
    elif element in fabric.links:
        link = fabric.links[LinkId(element)]
        yield Mark(link=link.id)
        for end in (link.a, link.b):
            yield Mark(node=NodeId(end)) if end in fabric.nodes else Mark(switch=SwitchId(end))


def _about(fault: reading.Fault, links: Sequence[LinkId], switches: Sequence[SwitchId]) -> bool:
    named = fault.finding.element if fault.finding is not None else ""
    return any(link in fault.links for link in links) or named in switches


def _speaks_of(fault: reading.Fault, mark: Mark) -> bool:
    if fault.finding is None:
        return False
    return mark.link in fault.links if mark.link else mark.node in fault.finding.nodes


def quiet_headline(view: RunView, sums: Sums) -> tuple[State | None, str, str]:
    """What the headline says when no fault is known."""
    if view.current is not None:
        done = len(view.closed)
        what = f" of {len(view.plan)}, {plain(view.current.stage)}: {plain(view.current.because)}"
        return State.RUNNING, f"Round {done + 1}", what
    if not view.results:
        return None, "Nothing has run on this fabric yet.", "  R plans a run and shows it before anything is sent."
    covered = sums.of(view).covered
    if covered.complete:
        return State.PASS, "Everything that was planned was tested, and no fault was found.", ""
    tested = f"{covered.tested:,} of {covered.planned:,} tests gave a number."
    return State.UNKNOWN, "No fault was found,", f" but only {tested}"
