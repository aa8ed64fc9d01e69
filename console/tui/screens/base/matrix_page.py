"""The base of every page that is one matrix: its cursor moves by cells, ``n`` walks those that are not well."""

from typing import Any, ClassVar

from benchconsole.console.tui.actions import MOVES
from benchconsole.console.tui.screens.base.page import FAR, Page
from benchconsole.console.tui.widgets.matrix_map import MatrixMap
from benchconsole.console.tui.widgets.status import Status


class MatrixPage(Page):
    """``v`` goes back to the list that the matrix is of. ``nothing_to_walk`` is said where all cells are well."""

    VALID: ClassVar[tuple[str, ...]] = (*MOVES, "left", "right", "next_fault", "previous_fault", "values", "filter")
    DEFAULT_CSS = "MatrixPage MatrixMap { margin-top: 1; } MatrixPage.-low MatrixMap { margin-top: 0; }"

    def __init__(self, matrix_map: MatrixMap[Any], nothing_to_walk: str, *, tab: str, subject: str) -> None:
        super().__init__(tab=tab, subject=subject)
        self.matrix_map = matrix_map
        self.nothing_to_walk = nothing_to_walk
        self.status = Status()
        self.parts = (matrix_map, self.status)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_focus(self.matrix_map)

    def action_move(self, where: str) -> None:
        page = max(self.matrix_map.size.height - 4, 1)
        rows = {"up": -1, "down": 1, "page_up": -page, "page_down": page, "first": -FAR, "last": FAR}[where]
        self.matrix_map.step(rows, 0)

    def action_shift(self, step: int) -> None:
        self.matrix_map.step(0, step)

    def action_walk(self, step: int) -> None:
        """To the next cell that is not well, or the one before."""
        if not self.matrix_map.walk(step):
            self.say(self.nothing_to_walk)

    def action_values(self) -> None:
        """Back to the list."""
        self.action_back()

    def action_filter(self) -> None:
        """Back to the list, to filter it."""
        self.action_values()
        self.app.call_later(self.app.run_action, "filter", self.app.screen)
