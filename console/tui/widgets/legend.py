"""The line that explains the signs of the map, where there is room for it."""

from collections.abc import Container
from typing import TYPE_CHECKING

from benchconsole.console.tui.fabric_map.map_cells import CellContent
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width, sign
from benchconsole.console.tui.rows.themes import FAIL, FAIL_CELL, FAINT, LOAD, MUTED, SLOT, TEXT, TRACK, WATCH
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import State

if TYPE_CHECKING:
    from benchconsole.console.tui.queries.heat_values import HeatValues

_WORDS = {
    State.PASS: "pass",
    State.WATCH: "watch",
    State.FAIL: "fail",
    State.AFFECTED: "affected by a fault elsewhere",
    State.UNREACHABLE: "unreachable",
    State.UNKNOWN: "cannot be judged",
    State.HELD: "held back",
    State.RUNNING: "running",
    State.MEASURED: "not judged",
    State.SKIPPED: "not tested",
}
_LOAD: Row = (CellText("━━", LOAD), CellText("──", TRACK), CellText(" load, free", MUTED))
_STEPS = (
    (1.0, "97 % or more"),
    (0.95, "94"),
    (0.91, "90"),
    (0.86, "85"),
    (0.8, "75"),
    (0.7, "60"),
    (0.5, "40"),
    (0.1, "less"),
)


class Legend(CellWidget):
    """Only the signs that are on the map: a healthy fabric explains no fault."""

    DEFAULT_CSS = "Legend { height: 0; }"

    content = CellContent.STATES
    is_live = False
    lost = False
    states: Container[State] = ()
    heat: "HeatValues | None" = None

    def show(
        self, states: Container[State], content: CellContent, *, lost: bool, is_live: bool,
        heat: "HeatValues | None" = None,
    ) -> None:  # fmt: skip
        """Explain ``states``, or what else cells show; members that are down where some are ``lost``.

        ``is_live``: wires show the load of running tests in both directions. ``heat``: what a heat map shows.
        """
        self.states, self.content, self.lost, self.is_live, self.heat = states, content, lost, is_live, heat
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        line = CellLine(width).to(1).put("legend", MUTED).to(10)
        groups = {
            CellContent.STATES: self._states, CellContent.SHARES: self._steps, CellContent.LOADS: self._tenths,
            CellContent.HEAT: self._signs_of_heat,
        }[self.content]()  # fmt: skip
        gap = ""
        for group in (*groups, *self._links()):
            if len(gap) + row_width(group) + 1 > line.room:
                break
            line.put(gap, TEXT).extend(group)
            gap = "   "
        return [(), line.row()]

    def _states(self) -> list[Row]:
        return [(sign(state), CellText(f" {word}", MUTED)) for state, word in _WORDS.items() if state in self.states]

    def _steps(self) -> list[Row]:
        steps: list[Row] = [(link_glyphs.ramp(share), CellText(f" {word}", MUTED)) for share, word in _STEPS]
        return [*steps, (CellText("of what was expected", MUTED),)]

    def _tenths(self) -> list[Row]:
        return [
            (CellText("0-9", TEXT), CellText(" tenths of the fullest link", MUTED)),
            (CellText("F", TEXT), CellText(" full", MUTED)),
            (CellText("–", FAINT), CellText(" nobody tells", MUTED)),
        ]

    def _signs_of_heat(self) -> list[Row]:
        """The signs of the values, and how a verdict still shows."""
        if self.heat is None:
            return []
        made: list[Row] = [(CellText(sign, TEXT), CellText(f" {words}", MUTED)) for sign, words in self.heat.explain()]
        if State.FAIL in self.states:
            some = next((cell.sign for cell in self.heat.cells.values()), "0")
            made.append((CellText(some, FAIL_CELL), CellText(" the node fails", MUTED)))
        if State.UNREACHABLE in self.states:
            made.append((sign(State.UNREACHABLE), CellText(" unreachable", MUTED)))
        if self.heat.missing:
            made.append((CellText("–", FAINT), CellText(" no value", MUTED)))
        return made

    def _links(self) -> list[Row]:
        lost: list[Row] = [
            (CellText("▯", WATCH), CellText(" down", MUTED)),
            (CellText("××", FAIL), CellText(" capacity lost", MUTED)),
        ]
        return [
            (CellText("▮", SLOT), CellText(" member", MUTED)),
            *(self._live() if self.is_live else []),
            *(lost if self.lost else []),
            *([] if self.is_live else [_LOAD]),
            (CellText("┄┄", FAINT), CellText(" oversubscribed as built", MUTED)),
        ]

    def _live(self) -> list[Row]:
        return [
            (CellText("━", LOAD), CellText("│", MUTED), CellText("━", LOAD), CellText(" in, out now", MUTED)),
            (CellText("+", TEXT), CellText(" at least, not all tell", MUTED)),
        ]
