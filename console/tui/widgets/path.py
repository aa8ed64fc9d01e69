"""Owns the way that a test's data takes, hop by hop: members, load against capacity, the hop that binds."""

from collections.abc import Sequence

from console.tui import wires
from console.tui.bridge import Hop
from console.tui.drawing import BRIGHT, FAIL, MUTED, TEXT, Line, Piece, Row, clip, value_tone, width_of
from console.tui.quantities import quantity
from console.tui.widgets.canvas import Canvas
from console.view import LinkView, State
from console.wording import plain
from topology.model import LinkId
from topology.units import Shown, Unit, network_rate


class Path(Canvas):
    """Drawn for the selected result of a pair; says so when there is none."""

    DEFAULT_CSS = "Path { height: 8; }"

    def __init__(self) -> None:
        super().__init__()
        self.hops: Sequence[Hop] = ()
        self.seen: dict[LinkId, LinkView] = {}
        self.value: float | None = None
        self.title = ""

    def show(self, title: str, hops: Sequence[Hop], seen: dict[LinkId, LinkView], value: float | None) -> None:
        """``value`` is what was measured over the whole way, byte/s of payload."""
        self.title, self.hops, self.seen, self.value = title, tuple(hops), seen, value
        self.redraw()

    @property
    def wanted(self) -> int:
        """Rows that it would fill."""
        return 2 + len(self.hops) if self.hops else 0

    def draw(self, width: int, height: int) -> list[Row]:
        """Title, headings, hops; only the hop that binds where it is tight."""
        if not self.hops or not height:
            return []
        rows = [Line(width).to(1).put("path", MUTED).put(f" {self.title}", MUTED).row()]
        name = min(max([4, *(width_of(plain(end)) for hop in self.hops for end in (hop.source, hop.sink))]), 14)
        head = Line(width).to(3).put("from", MUTED).to(5 + name).put("to", MUTED).to(7 + 2 * name)
        rows.append(head.put("members", MUTED).to(16 + 2 * name).put("load of capacity, Gb/s", MUTED).row())
        shown = list(self.hops)
        if len(shown) > height - 2:
            binding = self._binding() or shown[0]
            shown = (
                [binding]
                if height <= 3
                else shown[: height - 3] + ([binding] if binding not in shown[: height - 3] else [])
            )
        binds = self._binding()
        return rows + [self._hop(hop, name, width, binds=hop is binds) for hop in shown]

    def _binding(self) -> Hop | None:
        """The hop that binds; of several the one with a fault, else the first: at most one is marked."""
        ties = [hop for hop in self.hops if hop.limits]
        bad = (State.FAIL, State.WATCH)
        faulty = (hop for hop in ties if self.seen.get(hop.link, LinkView()).state in bad)
        return next(faulty, ties[0] if ties else None)

    def _hop(self, hop: Hop, name: int, width: int, *, binds: bool) -> Row:
        seen = self.seen.get(hop.link, LinkView())
        line = Line(width).to(3).put(plain(hop.source), TEXT, name).put("  ").put(plain(hop.sink), TEXT, name).put("  ")
        up = hop.members if hop.members_up is None else hop.members_up
        line.extend(wires.slots(hop.members, up, seen.state)).to(16 + 2 * name)
        wide = 20 if width >= 110 else 12
        load = self.value / hop.capacity if self.value is not None and hop.capacity else 0.0
        faulty = seen.state in (State.FAIL, State.WATCH)
        short = self.value is not None and hop.limits and hop.expected is not None and self.value < hop.expected * 0.8
        lost = 1 - up / hop.members if up < hop.members else 1 - load if faulty and short else 0.0
        line.extend(wires.wire(wide, load, lost=lost)).put("  ")
        value = quantity(self.value, Unit.BYTE_RATE, Shown.NETWORK).split()[0]
        line.put(f"{value:>5}", value_tone(State.FAIL if faulty and short else State.PASS) if faulty else TEXT)
        line.put(f" of {network_rate(hop.capacity)}", MUTED).to(16 + 2 * name + wide + 22)
        if binds:
            line.extend((Piece("◆", FAIL if faulty else BRIGHT), Piece(" limits ", BRIGHT)))
        return line.put(clip(plain(hop.note), max(line.room - 1, 0)), MUTED).row()
