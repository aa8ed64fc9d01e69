"""The line under a part of the fabric: the node or the link under the cursor, with what gave it its sign."""

from benchconsole.console.text.cells import clip_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.map_cells import MapMark
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.queries.node_numbers import WorstNumbers
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign, value_tone, word_tone
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import NodeView, RunView, State
from benchconsole.console.view.wording import name_state
from benchconsole.probes.model.judgement import Verdict
from benchconsole.topology.model.fabric import LinkId


class NodeLine(CellWidget):
    """One row; blank where the cursor stands on neither."""

    DEFAULT_CSS = "NodeLine { height: 0; }"

    row: Row = ()

    def show(self, view: RunView, mark: MapMark | None, numbers: WorstNumbers | None) -> None:
        """Show the place ``mark``, with the number that ``numbers`` has of a node."""
        seen = None if mark is None or mark.node is None else view.nodes.get(mark.node)
        if seen is not None:
            row = _tell_node(view, seen, numbers)
        else:
            row = () if mark is None or mark.link is None else _tell_link(view, mark.link)
        if row != self.row:
            self.row = row
            self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        line = CellLine(width).to(1)
        for text, tone in self.row:
            line.put(clip_text(text, max(line.room - 1, 0)), tone)
        return [line.row()]


def _tell_node(view: RunView, seen: NodeView, numbers: WorstNumbers | None) -> Row:
    """``n050  ✗ fail   iperf3.throughput 2.97 Gb/s of 9.90 Gb/s, 30 %   iperf3 trunks   why``."""
    state = view_queries.find_shown_state(seen, view_queries.find_busy_nodes(view))
    word = CellText(f" {name_state(state, was_asked=seen.was_asked)}", word_tone(state))
    made = [CellText(f"{sanitize(seen.node.id)}  ", STRONG), sign(state), word]
    if numbers is None:
        return tuple(made)
    found, said = numbers.find(seen), numbers.describe(seen)
    if found is not None:
        made.append(CellText(f"   {sanitize(found.metric)} ", MUTED))
        made.append(CellText(said.value, value_tone(state) if state is not State.PASS else TEXT))
        of = f" of {said.expected}" if said.expected else ""
        made.append(CellText(f"{of}, {said.share}" if said.share else of, MUTED))
    if isinstance(found, Verdict):
        stage = next((each.stage for each in view.plan if each.number == found.round), "")
        made.append(CellText(f"   {sanitize(stage)}", MUTED))
    return (*made, CellText(f"   {said.why}", TEXT)) if said.why else tuple(made)


def _tell_link(view: RunView, name: LinkId) -> Row:
    """``leaf3 to spine1  ✗ fail   1 of 2 members up``."""
    link, seen = view.fabric.links[name], view_queries.find_link(view, name)
    made = (
        CellText(f"{sanitize(link.a)} to {sanitize(link.b)}  ", STRONG), sign(seen.state),
        CellText(f" {name_state(seen.state, was_asked=False)}", word_tone(seen.state)),
    )  # fmt: skip
    return made if seen.finding is None else (*made, CellText(f"   {sanitize(seen.finding.what)}", TEXT))
