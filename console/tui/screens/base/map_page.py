"""The base of pages around a map of a fabric: arrows move its cursor, ``+`` and ``-`` fold and unfold its nodes,
``/`` draws those that match alone.
"""

from typing import TYPE_CHECKING

from benchconsole.console.tui.screens.base.page import FAR, Page
from benchconsole.console.tui.widgets.fabric_map import FabricMap

if TYPE_CHECKING:
    from benchconsole.console.tui.screens.base.map_filter import MapFilter


class MapPage(Page):
    """Subclasses put ``map`` and the line of ``matching`` among their parts."""

    filter_area = "nodes"
    map: FabricMap
    matching: "MapFilter"

    def step(self, rows: int) -> None:
        if abs(rows) >= FAR:
            self.map.edge(rows > 0)
        else:
            self.map.move(0, rows)

    def action_shift(self, step: int) -> None:
        self.map.move(step, 0)

    def action_filter(self) -> None:
        self.matching.begin()

    def action_back(self) -> None:
        """Clear the filter first."""
        if self.matching.line.display:
            self.matching.leave()
        else:
            super().action_back()

    def action_detail(self, step: int) -> None:
        """Fewer nodes in a cell, or more."""
        self.map.refold(step)
