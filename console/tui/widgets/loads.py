"""Owns what the open round puts on the links that it means to fill, from what has been measured so far."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from console.tui import wires
from console.tui.drawing import MUTED, TEXT, Line, Row, clip, width_of
from console.tui.widgets.canvas import Canvas
from console.tui.widgets.fabric_rows import gigabits
from console.view import RunView
from console.wording import plain
from topology.units import Unit


@dataclass(frozen=True, slots=True)
class Load:
    """One bundle: byte/s measured so far, what its links carry as built, tests that are in."""

    name: str
    measured: float
    capacity: float
    done: int
    tests: int


def loads(view: RunView) -> tuple[Load, ...]:
    """The bundles of the open round, the emptiest first."""
    if view.current is None:
        return ()
    tests = Counter(test.bundle for test in view.current.tests)
    rates: dict[str, list[float]] = {}
    for result in view.fresh.values():
        found = (m.reading.value for m in result.measurements if m.reading.unit is Unit.BYTE_RATE)
        rates.setdefault(result.test.bundle, []).append(next(found, 0.0))
    made = []
    for bundle in view.current.bundles:
        links = [view.fabric.links[way.link] for way in bundle.elements if way.link in view.fabric.links]
        full = sum(link.capacity * view.fabric.goodput_of(link) for link in links)
        known = rates.get(bundle.name, [])
        made.append(Load(plain(bundle.name), sum(known), full, len(known), tests[bundle.name]))
    return tuple(sorted(made, key=lambda each: each.measured / each.capacity if each.capacity else 0.0))


class Loads(Canvas):
    """One row a bundle."""

    DEFAULT_CSS = "Loads { height: 0; }"

    def __init__(self) -> None:
        super().__init__()
        self.loads: Sequence[Load] = ()

    def show(self, loads: Sequence[Load]) -> None:
        """Other loads."""
        self.loads = loads
        self.redraw()

    @property
    def wanted(self) -> int:
        """Rows that it would fill."""
        return len(self.loads) + 1 if self.loads else 0

    def draw(self, width: int, height: int) -> list[Row]:
        """Heading and bundles; those that do not fit are counted."""
        if not self.loads or height < 2:
            return []
        name = min(max([8, *(width_of(each.name) for each in self.loads)]), max(width // 4, 10))
        wire = 24 if width >= 100 else 12
        rows = [Line(width).to(1).put("load so far, Gb/s of payload", MUTED).row()]
        shown = self.loads if len(self.loads) <= height - 1 else self.loads[: height - 2]
        for each in shown:
            line = Line(width).to(3).put(clip(each.name, name), TEXT, name).put("  ")
            line.extend(wires.wire(wire, each.measured / each.capacity if each.capacity else 0.0)).put(" ")
            line.put(gigabits(each.measured, each.capacity), TEXT, 7, ">")
            line.put(f" of {gigabits(each.capacity, each.capacity)}", MUTED).put("   ")
            rows.append(line.put(f"{each.done} of {each.tests} tests in", MUTED).row())
        if len(shown) < len(self.loads):
            rows.append(Line(width).to(3).put(f"{len(self.loads) - len(shown)} more", MUTED).row())
        return rows
