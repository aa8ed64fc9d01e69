"""Load of the open round on the links that it fills: results so far, and the last intervals of tests that run.

Under them stands the load that the running tests put on uplinks now, in and out beside what is expected.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.rack_rows import gigabits
from benchconsole.console.tui.queries.uplink_loads import UplinkLoad, count_through, list_uplink_loads
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.interval_rates import find_moved
from benchconsole.console.view.latest_loads import LatestLoads
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.topology.units import Unit

if TYPE_CHECKING:
    from benchconsole.console.view.link_loads import LinkLoads, WayLoad


@dataclass(frozen=True, slots=True)
class TargetLoad:
    """One bundle: byte/s measured so far, what its links carry as built, tests that are in.

    ``running`` tests told byte/s of their last interval, which are among those that are ``measured`` so far.
    """

    name: str
    measured: float
    capacity: float
    done: int
    tests: int
    running: int = 0


def loads(view: RunView) -> tuple[TargetLoad, ...]:
    """The bundles of the open round, the emptiest first."""
    if view.current is None or not view.current.bundles:
        return ()
    tests = Counter(test.bundle for test in view.current.tests)
    rates: dict[str, list[float]] = {}
    for result in view.fresh.values():
        found = (m.value for m in result.measurements if m.unit is Unit.BYTE_RATE)
        rates.setdefault(result.test.bundle, []).append(next(found, 0.0))
    now: dict[str, list[float]] = {}
    for test in view.current.tests if view.intervals else ():
        if test.id not in view.fresh and test.id in view.intervals:
            moved = find_moved(view.intervals[test.id]).values()
            now.setdefault(test.bundle, []).append(next((each.smoothed for each in moved), 0.0))
    made = []
    for bundle in view.current.bundles:
        links = [view.fabric.links[way.link] for way in bundle.elements if way.link in view.fabric.links]
        full = sum(view.fabric.payload(link) for link in links)
        known, moving = rates.get(bundle.name, []), now.get(bundle.name, [])
        load = sum(known) + sum(moving)
        made.append(TargetLoad(sanitize(bundle.name), load, full, len(known), tests[bundle.name], running=len(moving)))
    return tuple(sorted(made, key=lambda each: each.measured / each.capacity if each.capacity else 0.0))


def _count_tests(load: TargetLoad) -> str:
    """How many results there are, and of how many tests only an interval."""
    running = f", interval of {load.running}" if load.running else ""
    return f"{load.done} of {load.tests} tests in{running}"


_NUMBER = 10
"""Cells of a number of the uplinks."""


def _format_carried(way: "WayLoad") -> str:
    """The rate that is carried, ``≥`` where a test that crosses tells nothing; ``–`` where none tells."""
    if way.carried is None:
        return NOT_MEASURED
    return f"{'≥ ' if way.is_partial else ''}{gigabits(way.carried, way.capacity)}"


class LoadsView(CellWidget):
    """One row a bundle, then one row a switch with uplinks that running flows cross."""

    DEFAULT_CSS = "LoadsView { height: 0; }"

    loads: Sequence[TargetLoad] = ()
    uplinks: Sequence[UplinkLoad] = ()

    def __init__(self) -> None:
        super().__init__()
        self._latest = LatestLoads()
        self._made_of: LinkLoads | None = None

    def show(self, view: RunView) -> None:
        """Bundles of the round, and uplinks as often as tests have told something."""
        self.loads = loads(view)
        now = self._latest.update(view)
        if now is not self._made_of:
            self._made_of, self.uplinks = now, list_uplink_loads(view, now)
        self.redraw()

    @property
    def wanted(self) -> int:
        return sum(len(each) + 1 for each in (self.loads, self.uplinks) if each)

    def draw(self, width: int, height: int) -> list[Row]:
        """Both parts under their headings; what does not fit is counted."""
        least = min(len(self.uplinks) + 1, 4) if self.uplinks else 0
        bundles = self._draw_bundles(width, max(height - least, height // 2) if least else height)
        return bundles + self._draw_uplinks(width, height - len(bundles))

    def _draw_uplinks(self, width: int, height: int) -> list[Row]:
        """Out and in of the uplinks of each switch, the fullest first, beside what is expected there."""
        if not self.uplinks or height < 2:
            return []
        name = min(max([8, *(measure_width(each.name) for each in self.uplinks)]), max(width // 4, 10))
        head = CellLine(width).to(1).put("uplinks now, Gb/s", MUTED).to(name + 5)
        for word in ("out", "expected", "in", "expected"):
            head.put(word, MUTED, _NUMBER, ">")
        rows = [head.put("   through", MUTED).row()]
        shown = self.uplinks if len(self.uplinks) <= height - 1 else self.uplinks[: height - 2]
        for each in shown:
            line = CellLine(width).to(3).put(clip_text(each.name, name), TEXT, name).put("  ")
            for way in (each.outward, each.inward):
                line.put(_format_carried(way), TEXT, _NUMBER, ">")
                line.put(gigabits(way.expected, way.capacity), MUTED, _NUMBER, ">")
            rows.append(line.put(f"   {count_through(each)}", MUTED).row())
        if len(shown) < len(self.uplinks):
            rows.append(CellLine(width).to(3).put(f"{len(self.uplinks) - len(shown)} more", MUTED).row())
        return rows

    def _draw_bundles(self, width: int, height: int) -> list[Row]:
        if not self.loads or height < 2:
            return []
        name = min(max([8, *(measure_width(each.name) for each in self.loads)]), max(width // 4, 10))
        wire = 24 if width >= 100 else 12
        rows = [CellLine(width).to(1).put("load so far, Gb/s of payload", MUTED).row()]
        shown = self.loads if len(self.loads) <= height - 1 else self.loads[: height - 2]
        for each in shown:
            line = CellLine(width).to(3).put(clip_text(each.name, name), TEXT, name).put("  ")
            line.extend(link_glyphs.wire(wire, each.measured / each.capacity if each.capacity else 0.0)).put(" ")
            line.put(gigabits(each.measured, each.capacity), TEXT, 7, ">")
            line.put(f" of {gigabits(each.capacity, each.capacity)}", MUTED).put("   ")
            rows.append(line.put(_count_tests(each), MUTED).row())
        if len(shown) < len(self.loads):
            rows.append(CellLine(width).to(3).put(f"{len(self.loads) - len(shown)} more", MUTED).row())
        return rows
