"""The path of a test's data, hop by hop: members, load against capacity, the hop that limits it."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.rack_rows import gigabits
from benchconsole.console.tui.queries.node_path import find_binding
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, value_tone
from benchconsole.console.tui.rows.themes import BRIGHT, FAIL, MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import LinkView, State
from benchconsole.console.view.session_control import FlowHop
from benchconsole.topology.model.fabric import LinkId


class PathView(CellWidget):
    """Drawn for the selected result of a pair; says so when there is none."""

    DEFAULT_CSS = "PathView { height: 8; }"

    def __init__(self) -> None:
        super().__init__()
        self.hops: Sequence[FlowHop] = ()
        self.seen: dict[LinkId, LinkView] = {}
        self.value: float | None = None
        self.title = ""

    def show(self, title: str, hops: Sequence[FlowHop], seen: dict[LinkId, LinkView], value: float | None) -> None:
        """``value`` is what was measured over the whole way, byte/s of payload."""
        self.title, self.hops, self.seen, self.value = title, tuple(hops), seen, value
        self.redraw()

    @property
    def wanted(self) -> int:
        return 2 + len(self.hops) if self.hops else 0

    def draw(self, width: int, height: int) -> list[Row]:
        """Title, headings, hops; only the hop that binds where it is tight."""
        if not self.hops or not height:
            return []
        rows = [CellLine(width).to(1).put("path", MUTED).put(f" {self.title}", MUTED).row()]
        name = min(max([4, *(measure_width(sanitize(end)) for hop in self.hops for end in (hop.source, hop.sink))]), 14)
        head = CellLine(width).to(3).put("from", MUTED).to(5 + name).put("to", MUTED).to(7 + 2 * name)
        rows.append(head.put("members", MUTED).to(16 + 2 * name).put("load of capacity, Gb/s", MUTED).row())
        shown, binds = list(self.hops), find_binding(self.hops, self.seen)
        if len(shown) > height - 2:
            binding = binds or shown[0]
            shown = (
                [binding]
                if height <= 3
                else shown[: height - 3] + ([binding] if binding not in shown[: height - 3] else [])
            )
        return rows + [self._hop(hop, name, width, binds=hop is binds) for hop in shown]

    def _hop(self, hop: FlowHop, name: int, width: int, *, binds: bool) -> Row:
        seen = self.seen.get(hop.link, LinkView())
        line = CellLine(width).to(3)
        for end in (hop.source, hop.sink):
            line.put(sanitize(end), TEXT, name).put("  ")
        up = hop.members if hop.members_up is None else hop.members_up
        line.extend(link_glyphs.slots(hop.members, up, seen.state)).to(16 + 2 * name)
        wide = 20 if width >= 110 else 12
        load = hop.load / hop.capacity if hop.capacity else 0.0
        faulty = seen.state in (State.FAIL, State.WATCH)
        short = self.value is not None and hop.limits and hop.expected is not None and self.value < hop.expected * 0.8
        lost = 1 - up / hop.members if up < hop.members else 1 - load if faulty and short else 0.0
        line.extend(link_glyphs.wire(wide, load, lost=lost)).put("  ")
        tone = value_tone(State.FAIL if faulty and short else State.PASS) if faulty else TEXT
        line.put(gigabits(hop.load, hop.capacity), tone, 5, ">")
        line.put(f" of {gigabits(hop.capacity, hop.capacity)}", MUTED).to(16 + 2 * name + wide + 22)
        if binds:
            line.extend((CellText("◆", FAIL if faulty else BRIGHT), CellText(" limits  ", BRIGHT)))
        flows = f"{len(hop.crossing)} flows" if len(hop.crossing) > 1 else ""
        note = ", ".join(filter(None, (flows, sanitize(hop.note))))
        return line.put(clip_text(note, max(line.room - 1, 0)), MUTED).row()
