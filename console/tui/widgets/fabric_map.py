"""The map of the fabric as a widget: its drawing, its cursor, and the part of it that is in sight."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from benchconsole.console.tui.fabric_map.blocks import FOLDS, describe_fold
from benchconsole.console.tui.fabric_map.map_cells import (
    CellContent,
    MapLine,
    MapMark,
    MapPicture,
    MapSpot,
    MarkIds,
    find_places,
)
from benchconsole.console.tui.fabric_map.map_layout import MOST_ROWS, count_map_lines, is_passed, lay_out_map
from benchconsole.console.tui.fabric_map.shape import FabricShape
from benchconsole.console.tui.queries.view_queries import LowestShares, find_busy_nodes
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.latest_loads import LatestLoads
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.same_objects import are_same
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId

if TYPE_CHECKING:
    from benchconsole.console.tui.queries.heat_values import HeatValues
    from benchconsole.console.tui.queries.node_numbers import WorstNumbers
    from benchconsole.console.view.link_loads import LinkLoads


_SIDE_BY_SIDE = 4
"""Cells between two racks of a line."""


class FabricMap(CellWidget, can_focus=True):
    """Racks, nodes and uplinks. ``show`` gives it a view; it tells what the cursor opens.

    ``lay_out`` makes its lines: those of a whole map, or of one part of it that is drawn large. ``folds``: racks that
    pass go into one line where there is not room for all.
    """

    @dataclass
    class Opened(Message):
        """Enter was pressed on a node, a link or a switch."""

        mark: MapMark
        spot: MapSpot

    @dataclass
    class Marked(Message):
        """The cursor went somewhere else."""

        mark: MapMark

    def __init__(self, lay_out: Callable[..., list[MapLine]] = lay_out_map, *, folds: bool = True) -> None:
        super().__init__()
        self._make_lines = lay_out
        self._folds = folds
        self.shape: FabricShape | None = None
        self.view: RunView | None = None
        self.mark: MapMark | None = None
        self.content = CellContent.STATES
        self.loads: LinkLoads | None = None
        self.heat: HeatValues | None = None
        self.numbers: WorstNumbers | None = None
        self.matched: frozenset[NodeId] | None = None
        """The nodes that a filter keeps; None without one."""
        self._latest = LatestLoads()
        self.fold = 0
        self.top = 0
        self._shares = LowestShares(Blame())
        self.spots_in_sight: Sequence[tuple[int, MapSpot]] = ()
        self._lines: Sequence[MapLine] = ()
        self._laid_out: tuple[object, ...] = ()
        self._counted: tuple[FabricShape | None, int, int] = (None, 0, 0)
        self._places: Mapping[MarkIds, tuple[int, int]] = {}
        self._kept: dict[tuple[int, CellContent], Row] = {}
        self._kept_loads: LinkLoads | None = None
        self._kept_heat: HeatValues | None = None
        self._kept_for: tuple[object, ...] = ()
        self._busy: frozenset[NodeId] = frozenset()

    def show(self, view: RunView, shape: FabricShape, *, is_laid_out: bool = True) -> None:
        """Show a view; it is drawn at once where the page ``is_laid_out``, else when the map has its new size."""
        if self.view is None or self.view.findings is not view.findings:
            self._shares, self.numbers = LowestShares(Blame(view.findings)), None
        self.view, self.shape, self.loads = view, shape, self._latest.update(view)
        if is_laid_out:
            self.redraw()
        else:
            self.repaint()

    def draw(self, width: int, height: int) -> list[Row]:
        if self.view is None or self.shape is None:
            return []
        self._lay_out(width, height)
        self._follow(height)
        faint = len(self.shape.racks) > MOST_ROWS
        busy = find_busy_nodes(self.view)
        numbers = find_numbers(self) if any(line.has_numbers for line in self._lines) else None
        picture = MapPicture(
            self.view, self.mark, self.content, faint, self._shares, busy, self.loads, self.heat, numbers, self.matched
        )
        self._forget(picture)
        in_sight = range(self.top, min(self.top + height, len(self._lines)))
        rows = [self._row(index, picture, width) for index in in_sight]
        self.spots_in_sight = [
            (y, spot) for y, index in enumerate(in_sight) for spot in _find_groups(self._lines[index].spots)
        ]
        head = self._head_above(self.top)
        if head is not None and rows:
            rows[0] = head.draw(picture, width)
        hidden = len(self._lines) - self.top - height
        if hidden > 0 and rows:
            last = self._lines[-1]
            cells = f"{describe_fold(last.fold, picture)}   " if last.fold else ""
            rows[-1] = CellLine(width).to(1).put(f"{cells}{hidden + 1:,} lines more, down shows them", MUTED).row()
        return rows

    def _row(self, index: int, picture: MapPicture, width: int) -> Row:
        """A line of the map; one without the cursor is drawn once for everything that it shows, with states or values.

        Names of blocks are the same with both.
        """
        line = self._lines[index]
        place = self._places.get(picture.mark) if picture.mark else None
        if place is not None and place[0] == index:
            return line.draw(picture, width)
        key = index, CellContent.STATES if line.heads else picture.content
        if key not in self._kept:
            self._kept[key] = line.draw(replace(picture, mark=None), width)
        return self._kept[key]

    def _forget(self, picture: MapPicture) -> None:
        """Drop kept lines that would look another way now: all, or those of other loads, of nodes with other tests."""
        view = picture.view
        shown = (view.nodes, view.links, view.findings, self._laid_out, picture.matched)
        if not are_same(shown, self._kept_for):
            self._kept, self._kept_for = {}, shown
        for node in picture.busy ^ self._busy:
            for content in CellContent:
                self._kept.pop((self._places.get(MapMark(node=node), (-1, 0))[0], content), None)
        if picture.loads is not self._kept_loads:
            self._kept_loads = picture.loads
            for key in [key for key in self._kept if key[1] is CellContent.LOADS or self._lines[key[0]].is_live]:
                del self._kept[key]
        if picture.heat is not self._kept_heat:
            self._kept_heat = picture.heat
            for key in [key for key in self._kept if key[1] is CellContent.HEAT]:
                del self._kept[key]
        if picture.busy != self._busy:
            for key in [key for key in self._kept if self._lines[key[0]].heads]:
                del self._kept[key]
        self._busy = picture.busy

    def _head_above(self, top: int) -> MapLine | None:
        """The names of the blocks in sight, when they have scrolled away."""
        for index in range(min(top, len(self._lines) - 1), -1, -1):
            if self._lines[index].heads:
                return self._lines[index] if index < top else None
        return None

    def go(self, mark: MapMark) -> None:
        self.mark = mark
        self.redraw()
        self.post_message(self.Marked(mark))

    def find_spot(self, mark: MapMark | None) -> MapSpot | None:
        """The place of ``mark`` on the map; None where it has none."""
        if mark is None:
            return None
        self._lay_out(*self.size)
        place = self._places.get(mark)
        return self._lines[place[0]].spots[place[1]] if place is not None else None

    def move(self, across: int, down: int) -> None:
        """One step; up and down keep the column as well as they can."""
        self._lay_out(*self.size)
        place = self._places.get(self.mark) if self.mark else None
        if place is None:
            first = next((spot for line in self._lines for spot in line.spots if spot.nodes), None)
            if first is not None:
                self.go(_mark(first))
            return
        line, index = place
        if across:
            spots = self._lines[line].spots
            self.go(_mark(spots[max(0, min(index + across, len(spots) - 1))]))
        else:
            self._move_down(line, self._lines[line].spots[index].x, down)

    def edge(self, last: bool) -> None:
        """First or last of what can be chosen, names of switches left out."""
        self._lay_out(*self.size)
        spots = [spot for line in self._lines for spot in line.spots if not spot.switches]
        if spots:
            self.go(_mark(spots[-1 if last else 0]))

    def refold(self, step: int) -> None:
        """More or fewer nodes in a cell, where cells fold."""
        grid = next((line for line in self._lines if line.fold), None)
        if grid is not None:
            index = FOLDS.index(grid.fold) - step
            self.fold = FOLDS[max(0, min(index, len(FOLDS) - 1))]
            self.redraw()

    def open(self) -> None:
        """Say what the cursor stands on."""
        spot = self.find_spot(self.mark)
        if self.mark is not None and spot is not None:
            self.post_message(self.Opened(self.mark, spot))

    def on_click(self, event: events.Click) -> None:
        """Mark what was clicked; open it the second time."""
        index = self.top + event.y
        if index >= len(self._lines):
            return
        spot = next((s for s in self._lines[index].spots if s.x - 1 <= event.x <= s.x + s.width), None)
        if spot is None:
            return
        if event.chain > 1:
            self.open()
        else:
            self.go(_mark(spot))

    def on_mouse_scroll_down(self) -> None:
        self.move(0, 1)

    def on_mouse_scroll_up(self) -> None:
        self.move(0, -1)

    def _move_down(self, line: int, x: int, down: int) -> None:
        step = 1 if down > 0 else -1
        target, left = line, abs(down)
        for candidate in range(line + step, len(self._lines) if step > 0 else -1, step):
            if self._lines[candidate].spots:
                target, left = candidate, left - 1
                if not left:
                    break
        if target != line:
            nearest = min(self._lines[target].spots, key=lambda spot: abs(spot.x - x))
            self.go(_mark(nearest))

    def _follow(self, height: int) -> None:
        """Scroll so that the cursor is in sight; at the top show the heading too."""
        last = max(len(self._lines) - height, 0)
        place = self._places.get(self.mark) if self.mark else None
        if place is not None:
            line = place[0]
            # The last line in sight may carry the count of what is hidden: keep the cursor off it.
            low = line - height + (2 if last else 1)
            self.top = min(max(self.top, low), max(line - 1, 0))
            if line <= next((index for index, each in enumerate(self._lines) if each.spots), 0):
                self.top = 0
        self.top = max(0, min(self.top, last))

    def _lay_out(self, width: int, height: int) -> None:
        if self.view is None or self.shape is None:
            return
        folded = self._foldable(self.view, self.shape, width, height)
        key = (self.shape, width, height, self.fold, folded)
        if key == self._laid_out:
            return
        self._laid_out = key
        self._lines = self._make_lines(self.view.fabric, self.shape, width, height, fold=self.fold, passing=folded)
        self._places = find_places(self._lines)

    def _foldable(self, view: RunView, shape: FabricShape, width: int, height: int) -> frozenset[str]:
        """Names of racks that pass, when there is not room for all of them."""
        if self._counted[:2] != (shape, width):
            self._counted = (shape, width, count_map_lines(view.fabric, shape, width))
        if not self._folds or not height < self._counted[2] < 1000:
            return frozenset()
        marked = self.mark or MapMark()
        return frozenset(
            rack.name
            for rack in shape.racks
            if is_passed(view, rack) and marked.node not in rack.nodes and marked.switch not in rack.switches
            and (self.matched is None or self.matched.isdisjoint(rack.nodes))
            and all(link.id != marked.link for link in (*rack.uplinks, *rack.peers))
        )  # fmt: skip


def find_numbers(drawn: FabricMap) -> "WorstNumbers | None":
    """The worst number of each node as a map shows it; None before it shows a view."""
    if drawn.numbers is None and drawn.view is not None:
        from benchconsole.console.tui.queries.node_numbers import WorstNumbers  # here: few maps have room for numbers

        drawn.numbers = WorstNumbers(Blame(drawn.view.findings))
    return drawn.numbers


def _find_groups(spots: Sequence[MapSpot]) -> list[MapSpot]:
    """The first of the spots of a line, and of those behind a gap: racks side by side."""
    ends = [-_SIDE_BY_SIDE, *(spot.x + spot.width for spot in spots)]
    return [spot for spot, end in zip(spots, ends, strict=False) if spot.x - end >= _SIDE_BY_SIDE and not spot.switches]


def _mark(spot: MapSpot) -> MapMark:
    """The mark of the cursor when it stands there: a switch before its links."""
    if spot.switches:
        return MapMark(switch=spot.switches[0])
    return MapMark(link=spot.links[0]) if spot.links else MapMark(node=spot.nodes[0])
