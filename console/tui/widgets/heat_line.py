"""The two lines under a heat map: what its signs mean, and the value of the node under the cursor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width, sign, word_tone
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.wording import SIGNS
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.console.tui.queries.heat_values import HeatValues

_NAME = "heat"
_GUTTER = 10
_LONGEST_NAME = 30
HEAT_ROWS = 2
"""Rows that the lines take while a heat map is shown."""


class HeatLine(CellWidget):
    """Nothing while no heat map is shown; until its values are read only its name."""

    DEFAULT_CSS = "HeatLine { height: 0; }"

    def __init__(self) -> None:
        super().__init__()
        self.name_of_choice = ""
        self.heat: HeatValues | None = None
        self.view: RunView | None = None
        self.nodes: Sequence[NodeId] = ()

    def show(self, name: str, heat: "HeatValues | None", view: RunView | None, nodes: Sequence[NodeId]) -> None:
        """The scale of ``heat``, which is called ``name``, and the place of ``nodes``, of the worst without any."""
        self.name_of_choice, self.heat, self.view, self.nodes = name, heat, view, nodes
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        if not self.name_of_choice:
            return []
        first = CellLine(width).to(1).put(_NAME, MUTED).to(_GUTTER)
        room = first.room - 1
        if self.heat is None:
            return [first.put(clip_text(f"{self.name_of_choice} is being read", room), TEXT).row()]
        name = clip_text(self.name_of_choice, min(_LONGEST_NAME, max(room // 3, 1)))
        first.put(name, TEXT).put("   ")
        scales = self.heat.describe_scale()
        first.put(clip_text(_choose(scales, first.room - 1), first.room - 1), MUTED)
        return [first.row(), CellLine(width).extend(self._draw_place(self.heat, width)).row()]

    def _draw_place(self, heat: "HeatValues", width: int) -> Row:
        """``n050      2.97 Gb/s   rank 1 of 128, the lowest first   ✗ fail``."""
        node = heat.find_worst(self.nodes or heat.cells)
        line = CellLine(width).to(1)
        if node is None and not self.nodes:
            return line.row()
        shown = self.nodes[0] if node is None else node
        line.put(sanitize(shown), TEXT)
        line.put("  " if line.at >= _GUTTER else "").to(_GUTTER).put(heat.format_value(shown), TEXT)
        said = "no value" if node is None else heat.describe_place(node)
        if len(self.nodes) > 1 and node is not None:
            said = f"{heat.worst_word} of {counted(len(self.nodes), 'node')} in this cell, {said}"
        state = self._draw_state(shown)
        room = line.room - row_width(state) - 4
        if measure_width(said) > room:
            said = said.split(", ")[0]
        return line.put("   ").put(clip_text(said, max(room, 0)), MUTED).put("   ").extend(state).row()

    def _draw_state(self, node: NodeId) -> Row:
        """The verdict on the node, which the value does not change."""
        seen = None if self.view is None else self.view.nodes.get(node)
        state = State.SKIPPED if seen is None else seen.state
        return (sign(state), CellText(f" {SIGNS[state].word}", word_tone(state)))


def _choose(texts: Sequence[str], room: int) -> str:
    """The first that fits, else the last one."""
    return next((each for each in texts if measure_width(each) <= room), texts[-1])
