"""The base of pages around a map of a fabric: arrows move its cursor, ``+`` and ``-`` fold and unfold its nodes."""

from benchconsole.console.tui.screens.base.page import FAR, Page
from benchconsole.console.tui.widgets.fabric_map import FabricMap


class MapPage(Page):
    """Subclasses put ``map`` among their parts."""

    map: FabricMap

    def step(self, rows: int) -> None:
        if abs(rows) >= FAR:
            self.map.edge(rows > 0)
        else:
            self.map.move(0, rows)

    def action_shift(self, step: int) -> None:
        self.map.move(step, 0)

    def action_detail(self, step: int) -> None:
        """Fewer nodes in a cell, or more."""
        self.map.refold(step)
